//! The terminal's text, against a golden file, and what must hold for any.

use std::path::Path;

use kgauge_analyze::statistics::Steadiness;
use kgauge_analyze::summary::FlowSteadiness;
use kgauge_report::{TerminalStyle, render_terminal};
use kgauge_results::run::TargetKind;
use kgauge_results::{Quantile, TimeKind};

use crate::hostile::spoil;
use crate::made::{CALM, End, make};
use crate::scenarios;
use crate::shared::{Made, complete, killed};

const PLAIN: TerminalStyle = TerminalStyle {
    color: false,
    width: 80,
};

/// The text of a made-up run; its folder's name is replaced, since it differs each time.
fn text(style: TerminalStyle, made: &Made) -> String {
    let text = render_terminal(&made.run, &made.summary, style);
    text.replace(&made.run.dir.display().to_string(), "RUNS/run")
}

#[test]
fn the_text_matches_the_golden_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/terminal.txt");
    let text = text(PLAIN, complete());
    if std::env::var_os("KGAUGE_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        text, golden,
        "look at the change, then set KGAUGE_UPDATE_GOLDEN=1"
    );
}

#[test]
fn no_line_is_wider_than_asked_but_paths_and_commands() {
    for width in [60, 80, 120] {
        let text = text(
            TerminalStyle {
                color: false,
                width,
            },
            complete(),
        );
        let last = text.find("\nReport ").unwrap();
        for line in text[..last].lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn colour_comes_only_when_asked_for_and_says_nothing_new() {
    let plain = text(PLAIN, complete());
    assert!(!plain.contains('\u{1b}'));
    let colored = text(
        TerminalStyle {
            color: true,
            width: 80,
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
    let text = text(PLAIN, killed());
    let notice = text
        .find("IMPORTANT: This run did not finish.")
        .expect("the notice");
    let figures = text.find("records/s").unwrap();
    let why = text.find("This run did not finish (").expect("and why");
    assert!(notice < figures && figures < why);
}

#[test]
fn no_name_commands_the_terminal() {
    let bell = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}";
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (mut run, mut summary) = make(&dir, None, &scenarios::all(), &CALM, End::Killed);
    spoil(&mut run, &mut summary, bell);
    let text = render_terminal(&run, &summary, PLAIN);
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
    assert!(
        text.contains("]0;owned"),
        "the names are shown all the same"
    );
}

#[test]
fn the_percentiles_of_a_closed_loop_carry_their_mark_and_residual() {
    let wide = TerminalStyle {
        color: false,
        width: 120,
    };
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
    let (answer, _) = text.split_once("\nthroughput").unwrap();
    answer.split_whitespace().collect::<Vec<_>>().join(" ")
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
fn only_of_apache_kafka_an_answer_names_what_others_published() {
    let made = complete();
    let answer = |kind: TargetKind| {
        let mut summary = made.summary.clone();
        summary.target.kind = Some(kind);
        let text = render_terminal(&made.run, &summary, PLAIN);
        let (answers, tables) = text.split_once("measured/published").unwrap();
        assert!(
            tables.contains("6.96×"),
            "the table has the ratio: {tables}"
        );
        answers.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let kafka = answer(TargetKind::Kafka);
    assert!(
        kafka.contains("6.96 times the published 795,064"),
        "{kafka}"
    );
    let embedded = answer(TargetKind::Embedded);
    assert!(!embedded.contains("the published"), "{embedded}");
    assert!(embedded.contains("kgauge's embedded cluster, not Apache Kafka"));
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
    let text = render_terminal(&run, &summary, PLAIN);
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
    summary.trials[0].flows[0].steadiness = Some(FlowSteadiness {
        verdict: Steadiness::Warming,
        repeats: Vec::new(),
        throughput_over_repeats: Some(0.4),
        latency_over_repeats: None,
    });
    let text = render_terminal(&run, &summary, PLAIN);
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("paced"))
        .collect();
    // The title; the rate in the first table; three percentiles and the largest in the second.
    let marks: Vec<usize> = rows.iter().map(|row| row.matches('?').count()).collect();
    assert_eq!(marks, [0, 1, 4], "{rows:?}");
    assert!(text.contains("? the target was not steady"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let answer = "Inconclusive, the target was still warming up (use a longer warm-up";
    assert!(words.contains(answer), "{words}");
    let comment = kgauge_report::render_markdown(&run, &summary);
    assert!(comment.contains("the target was not steady"), "{comment}");
    let page = kgauge_report::render_html(&run, &summary);
    // Beside its rate, and beside its times.
    assert_eq!(page.matches(">not steady</span>").count(), 2);
}
