//! The terminal's text, against a golden file, and what must hold for any.

use std::path::Path;

use kgauge_analyze::Summary;
use kgauge_analyze::statistics::Interval;
use kgauge_analyze::summary::{BrokerSkew, FlowSteadiness, Warning, WarningFinding};
use kgauge_report::{TerminalDetail, TerminalStyle, render_html, render_markdown, render_terminal};
use kgauge_results::run::TargetKind;
use kgauge_results::{Quantile, RunRead, TimeKind};
use kgauge_scenario::{BuiltIn, BuiltInOptions, Scenario, Studies};

use crate::hostile::spoil;
use crate::made::{CALM, End, make};
use crate::scenarios;
use crate::shared::{Made, complete, killed};

const PLAIN: TerminalStyle = TerminalStyle {
    color: false,
    width: 80,
    detail: TerminalDetail::Usual,
};

/// The same with all figures and evidence.
const FULL: TerminalStyle = TerminalStyle {
    detail: TerminalDetail::Full,
    ..PLAIN
};

/// The text of a made-up run; its folder's name is replaced, since it differs each time.
fn text(style: TerminalStyle, made: &Made) -> String {
    let text = render_terminal(&made.run, &made.summary, style);
    text.replace(&made.run.dir.display().to_string(), "RUNS/run")
}

#[test]
fn the_texts_match_the_golden_files() {
    let brief = TerminalStyle {
        width: 100,
        detail: TerminalDetail::Brief,
        ..PLAIN
    };
    for (name, style) in [
        ("terminal.txt", PLAIN),
        ("terminal-full.txt", FULL),
        ("terminal-brief.txt", brief),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden");
        let path = folder.join(name);
        let text = text(style, complete());
        if std::env::var_os("KGAUGE_UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            text, golden,
            "{name}: look at the change, then set KGAUGE_UPDATE_GOLDEN=1"
        );
    }
}

#[test]
fn no_line_is_wider_than_asked_but_paths_and_commands() {
    for (width, detail) in [60, 80, 100].into_iter().flat_map(|width| {
        let details = [TerminalDetail::Usual, TerminalDetail::Full];
        details.map(|detail| (width, detail))
    }) {
        let style = TerminalStyle {
            width,
            detail,
            ..PLAIN
        };
        let text = text(style, complete());
        let last = text.find("\nReport ").unwrap();
        for line in text[..last].lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

/// How many lines a run takes.
fn lines(run: &RunRead, summary: &Summary, width: usize) -> usize {
    let style = TerminalStyle { width, ..PLAIN };
    let text = render_terminal(run, summary, style);
    let folder = run.dir.display().to_string();
    for line in text.lines().filter(|line| !line.contains(&folder)) {
        assert!(line.chars().count() <= width, "{width}: {line}");
    }
    text.lines().count()
}

#[test]
fn a_study_of_fifteen_trials_takes_about_sixty_lines_and_a_scenario_twenty() {
    let study = Studies::get("linkedin-2014").unwrap();
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let reference = Some(study.about.clone());
    let (run, summary) = make(&dir, reference, &study.scenarios, &CALM, End::Complete);
    assert!(summary.trials.len() >= 15, "{}", summary.trials.len());
    for (width, lines_max) in [(80, 80), (100, 66)] {
        let lines = lines(&run, &summary, width);
        assert!(lines <= lines_max, "{width}: {lines}");
    }
    let dir = keep.path().join("scenario");
    let (run, summary) = make(&dir, None, &scenarios::paced_often(), &CALM, End::Complete);
    for width in [80, 100] {
        let lines = lines(&run, &summary, width);
        assert!(lines <= 20, "{width}: {lines}");
    }
}

#[test]
fn the_figures_of_a_column_line_up_however_long_their_intervals_are() {
    let mut summary = complete().summary.clone();
    let flow = &mut summary.trials[0].flows[0];
    let rate = &mut flow.throughput.as_mut().unwrap().records_per_s;
    rate.ci95 = Some(Interval {
        low: 1.0,
        high: rate.mean * 2.13,
    });
    for width in [80, 100] {
        let style = TerminalStyle { width, ..PLAIN };
        let text = render_terminal(&complete().run, &summary, style);
        assert!(text.contains("±113 %"), "{text}");
        let column = |start: &str| {
            let mut lines = text.lines();
            let line = lines.find(|line| line.contains(start) && line.contains('±'));
            let (before, _) = line.unwrap().split_once('±').unwrap();
            before.chars().count()
        };
        assert_eq!(column("writers"), column("100 B"), "{text}");
        assert_eq!(column("readers"), column("100 B"), "{text}");
    }
}

#[test]
fn quiet_leaves_the_result_and_what_makes_it_wrong() {
    let brief = TerminalStyle {
        detail: TerminalDetail::Brief,
        ..PLAIN
    };
    let usual = text(PLAIN, killed());
    let text = text(brief, killed());
    assert!(
        text.starts_with("IMPORTANT: this run did not finish"),
        "{text}"
    );
    assert!(
        text.contains("records/s") && usual.contains("\n! "),
        "{text}"
    );
    assert!(
        !text.contains("\n! ") && !text.contains("report.html"),
        "{text}"
    );
}

#[test]
fn colour_comes_only_when_asked_for_and_says_nothing_new() {
    let plain = text(PLAIN, complete());
    assert!(!plain.contains('\u{1b}'));
    let colored = text(
        TerminalStyle {
            color: true,
            ..PLAIN
        },
        complete(),
    );
    let mut stripped = String::new();
    for (index, part) in colored.split("\u{1b}[").enumerate() {
        let text = if index == 0 {
            part
        } else {
            part.split_once('m').unwrap().1
        };
        stripped.push_str(text);
    }
    assert_eq!(stripped, plain);
}

#[test]
fn a_killed_run_says_so_before_its_figures() {
    let text = text(FULL, killed());
    let notice = text
        .find("IMPORTANT: this run did not finish: finish it with --resume")
        .expect("the notice");
    let figures = text.find("records/s").unwrap();
    let why = text.find("This run did not finish (").expect("and why");
    assert!(notice < figures && figures < why);
}

#[test]
fn caveats_name_the_flags_of_the_command_that_ran() {
    let style = TerminalStyle {
        width: 200,
        ..PLAIN
    };
    let held = "\n! held for only 2 s per repeat: hold longer with ";
    let mut summary = complete().summary.clone();
    summary.run.size = None;
    let text = render_terminal(&complete().run, &summary, style);
    assert!(
        text.contains(&format!("{held}--set stages.hold\n")),
        "{text}"
    );

    let options = BuiltInOptions {
        rate: Some("1k/s".to_owned()),
        duration: Some("2 s".to_owned()),
        ..BuiltInOptions::default()
    };
    let built_in = BuiltIn::Latency.text(&options).unwrap();
    let scenario = Scenario::parse("latency", &built_in).unwrap();
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (mut run, mut summary) = make(&dir, None, &[scenario], &CALM, End::Complete);
    run.head.command = ["kgauge", "run", "latency"].map(str::to_owned).to_vec();
    summary.run.size = None;
    summary.trials[0].warnings.push(Warning {
        flow: None,
        finding: WarningFinding::RepeatsMissing {
            measured: 2,
            planned: 3,
        },
    });
    let text = render_terminal(&run, &summary, style);
    assert!(text.contains(&format!("{held}--duration\n")), "{text}");
    let resume = format!("use kgauge run --resume {}\n", dir.display());
    assert!(text.contains(&resume), "{text}");
}

#[test]
fn no_name_commands_the_terminal() {
    let bell = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}";
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (mut run, mut summary) = make(&dir, None, &scenarios::all(), &CALM, End::Killed);
    spoil(&mut run, &mut summary, bell);
    for style in [PLAIN, FULL] {
        let text = render_terminal(&run, &summary, style);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
        assert!(
            text.contains("]0;owned"),
            "the names are shown all the same"
        );
    }
}

#[test]
fn the_percentiles_of_a_closed_loop_carry_their_mark_and_residual() {
    let wide = TerminalStyle { width: 120, ..FULL };
    let glance = text(PLAIN, complete());
    assert!(
        !glance.contains('*'),
        "no latency of a closed loop: {glance}"
    );
    let text = text(wide, complete());
    let latency = &text[text.find("\nlatency ").unwrap()..];
    let writers = latency
        .lines()
        .find(|line| line.trim_start().starts_with("writers"))
        .unwrap();
    assert_eq!(writers.matches('*').count(), 4, "{writers}");
    assert!(writers.contains(" %"), "{writers}");
    let paced = latency
        .lines()
        .find(|line| line.starts_with("paced-producer"))
        .unwrap();
    assert!(!paced.contains('*'), "{paced}");
}

/// The answer to the only question, in one line.
fn answer(scenarios: &[kgauge_scenario::Scenario]) -> String {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(&dir, None, scenarios, &CALM, End::Complete);
    let text = render_terminal(&run, &summary, PLAIN);
    let (_, text) = text.split_once("records/s?").unwrap();
    let (answer, _) = text.split_once("\n\n").unwrap();
    answer.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_setting_that_makes_a_broker_hot_is_part_of_the_answer() {
    let made = complete();
    let mut summary = made.summary.clone();
    let mut trials = summary.trials.iter_mut();
    let smallest = trials.find(|trial| trial.scenario == "message-size");
    let skew = BrokerSkew {
        broker: 2,
        part: 1.0,
        brokers: 3,
        idle: 2,
        partitions: Some(1),
        replication: Some(1),
    };
    smallest.unwrap().warnings.push(Warning {
        flow: None,
        finding: WarningFinding::BrokerSkew { skew },
    });
    let text = render_terminal(&made.run, &summary, PLAIN);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let answer = "to 39,140 at 10000 B (−97 %). One broker led far more than its share with \
                  writers.record.size = 100 B, and only there.";
    assert!(words.contains(answer), "{words}");
}

#[test]
fn one_repeat_of_each_trial_answers_nothing_and_says_what_to_do() {
    let several = answer(&scenarios::paced_with_batches());
    let start = "Inconclusive, one repeat each (use --repeat 5): ";
    assert!(several.starts_with(&format!("{start}p99 ")), "{several}");
    assert!(several.contains(" over 3 values of linger.ms"), "{several}");
    assert!(!several.contains("o difference"), "{several}");
    let two = answer(&scenarios::paced_twice());
    let start = format!("{start}linger.ms 10 ms against 1 ms: p99 ");
    assert!(two.starts_with(&start), "{two}");
}

#[test]
fn where_nothing_differs_the_answer_says_what_would_have_shown() {
    let answer = answer(&scenarios::paced_twice_often());
    let start = "linger.ms 10 ms against 1 ms: no difference found in p99, ";
    assert!(answer.starts_with(start), "{answer}");
    assert!(
        answer.contains(" or more would have been detected"),
        "{answer}"
    );
}

#[test]
fn only_of_apache_kafka_a_figure_stands_beside_what_others_published() {
    let made = complete();
    let text = |kind: TargetKind| {
        let mut summary = made.summary.clone();
        summary.target.kind = Some(kind);
        render_terminal(&made.run, &summary, PLAIN)
    };
    let kafka = text(TargetKind::Kafka);
    assert!(kafka.contains(" vs. published"), "{kafka}");
    assert!(kafka.contains(" 6.96×"), "{kafka}");
    let own = text(TargetKind::ExistingEmbedded);
    assert!(!own.contains("published"), "{own}");
    let embedded = text(TargetKind::Embedded);
    assert!(!embedded.contains("published"), "{embedded}");
    assert!(embedded.contains("kgauge's embedded cluster, 1 broker (not Apache Kafka)"));
    for (kind, has_ratio) in [(TargetKind::Kafka, true), (TargetKind::Embedded, false)] {
        let mut summary = made.summary.clone();
        summary.target.kind = Some(kind);
        for form in [
            render_terminal(&made.run, &summary, FULL),
            render_markdown(&made.run, &summary),
            render_html(&made.run, &summary),
        ] {
            let ratio = ["6.96×", "6.96 ×"]
                .iter()
                .any(|ratio| form.contains(*ratio));
            assert_eq!(ratio, has_ratio, "{kind:?}: {form}");
            assert!(form.contains("795,064"), "{form}");
        }
    }
}

#[test]
fn every_form_shows_the_interval_of_a_latency() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(&dir, None, &scenarios::paced_often(), &CALM, End::Complete);
    let interval = summary.trials[0].flows[0]
        .latencies
        .get(TimeKind::Response)
        .unwrap();
    let interval = interval
        .percentile(Quantile::P99)
        .unwrap()
        .interval()
        .unwrap();
    assert!(0.0 < interval.low && interval.low < interval.high);
    let glance = render_terminal(&run, &summary, PLAIN);
    let mut rows = glance.lines().filter(|line| line.starts_with("writers "));
    assert_eq!(rows.next().unwrap().matches('±').count(), 2, "{glance}");
    let text = render_terminal(&run, &summary, FULL);
    let latency = text.split_once("\nlatency ").unwrap().1;
    let row = latency
        .lines()
        .find(|line| line.starts_with("paced"))
        .unwrap();
    assert_eq!(row.matches('±').count(), 3, "{row}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, answer) = words.split_once("records/s, p99 ").unwrap();
    let (answer, _) = answer.split_once(" ms), p50").unwrap();
    assert!(
        answer.contains(" ms (") && answer.contains(" to "),
        "{answer}"
    );
    let comment = kgauge_report::render_markdown(&run, &summary);
    let row = comment
        .lines()
        .rfind(|line| line.starts_with("| paced"))
        .unwrap();
    assert_eq!(row.matches('±').count(), 3, "{row}");
    let page = kgauge_report::render_html(&run, &summary);
    let mut small = page.split("small spread block\">").skip(1);
    assert!(
        small.any(|text| text
            .split('<')
            .next()
            .is_some_and(|text| text.contains(" to "))),
        "low to high below a percentile"
    );
}

#[test]
fn a_figure_of_a_target_that_was_not_steady_is_marked_in_every_form_and_answers_nothing() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, mut summary) = make(&dir, None, &scenarios::paced_often(), &CALM, End::Complete);
    summary.trials[0].flows[0].steadiness = Some(
        FlowSteadiness {
            throughput_over_repeats: Some(0.4),
            ..FlowSteadiness::default()
        }
        .judged(),
    );
    let text = render_terminal(&run, &summary, FULL);
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("paced"))
        .collect();
    // The title; the rate in the first table; three percentiles and the largest in the second; the settings.
    let marks: Vec<usize> = rows.iter().map(|row| row.matches('?').count()).collect();
    assert_eq!(marks, [0, 1, 4, 0], "{rows:?}");
    assert!(text.contains("? the target was not steady"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let answer = "Inconclusive, the target was still warming up (drop --quick): ";
    assert!(words.contains(answer), "{words}");
    let comment = kgauge_report::render_markdown(&run, &summary);
    assert!(comment.contains("the target was not steady"), "{comment}");
    let page = kgauge_report::render_html(&run, &summary);
    // Beside its rate, and beside its times.
    assert_eq!(page.matches(">not steady</span>").count(), 2);

    // If the reason is known, no longer warm-up is recommended.
    summary.trials[0].warnings.push(Warning {
        flow: None,
        finding: WarningFinding::BrokerOutage {
            repeat: 1,
            broker: 0,
            address: "127.0.0.1:9092".to_owned(),
            since_ns: 4_000_000_000,
            length_ns: None,
        },
    });
    let text = render_terminal(&run, &summary, FULL);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let answer = "Inconclusive, a broker stopped responding (check it, then rerun): ";
    assert!(words.contains(answer), "{words}");
    assert!(!words.contains("still warming up"), "{words}");
}

#[test]
fn questions_that_are_open_for_one_reason_share_it() {
    let study = Studies::get("linkedin-2014").unwrap();
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let reference = Some(study.about.clone());
    let (run, mut summary) = make(&dir, reference, &study.scenarios, &CALM, End::Complete);
    for trial in &mut summary.trials {
        trial.flows[0].steadiness = Some(
            FlowSteadiness {
                throughput_over_repeats: Some(0.4),
                ..FlowSteadiness::default()
            }
            .judged(),
        );
    }
    let text = render_terminal(&run, &summary, PLAIN);
    let head = "\nInconclusive because the target was not steady (the table has the figures):\n";
    let (before, after) = text.split_once(head).unwrap();
    assert!(!before.contains("Inconclusive, "), "{text}");
    assert!(after.starts_with("  single-producer, "), "{text}");
    assert!(text.lines().count() <= 66, "{text}");
    let page = kgauge_report::render_html(&run, &summary);
    let head = "Inconclusive because the target was not steady:";
    assert_eq!(page.matches(head).count(), 1);
    // Each question is there, and figures carry the mark of the table.
    let (_, first_screen) = page.split_once(head).unwrap();
    let (first_screen, _) = first_screen.split_once("</section>").unwrap();
    let questions = study.scenarios.iter().map(|scenario| scenario.question());
    let mut questions = questions.filter(|question| first_screen.contains(*question));
    assert!(questions.nth(5).is_some(), "{first_screen}");
    assert!(first_screen.contains("? ±"), "{first_screen}");
}
