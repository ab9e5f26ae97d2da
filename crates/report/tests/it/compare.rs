//! Runs side by side: the terminal's text against golden files, and what must hold for any.

use std::path::Path;

use kgauge_analyze::compare::Choices;
use kgauge_analyze::summary::Factor;
use kgauge_analyze::{Comparison, RunToCompare, Summary, compare_sides};
use kgauge_report::{
    TerminalDetail, TerminalStyle, render_comparison_html, render_comparison_markdown,
    render_comparison_terminal,
};
use kgauge_results::run::{RunHead, TargetKind};
use kgauge_results::{RunFolder, RunRead};

use crate::compared::{Compared, SEVEN, comparison, killed, of, releases};
use crate::hostile::spoil;
use crate::shared::complete;
use crate::tags::assert_balanced;

fn text(runs: &[Compared], width: usize) -> String {
    let style = TerminalStyle {
        width,
        ..TerminalStyle::default()
    };
    render_comparison_terminal(&comparison(runs), style)
}

fn assert_golden(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden");
    let path = folder.join(name);
    if std::env::var_os("KGAUGE_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == golden,
        "look at the change, then set KGAUGE_UPDATE_GOLDEN=1\n{text}"
    );
}

#[test]
fn three_runs_match_the_golden_file() {
    let folder = &complete().run;
    let mut runs = releases(folder, &[("0.8.2.2", 1.0), ("4.3.1", 1.3)]);
    runs.push(of(folder, TargetKind::Embedded, None, 9.0));
    assert_golden("compare-three.txt", &text(&runs, 80));
}

#[test]
fn seven_releases_match_the_golden_file() {
    assert_golden(
        "compare-seven.txt",
        &text(&releases(&complete().run, &SEVEN), 100),
    );
}

/// Two releases, three runs of each, of which one of each is some hundredths faster and one slower.
fn two_sides() -> Comparison {
    let side = |version: &str, factor: f64| {
        let speeds = [1.0, 1.02, 0.97].into_iter().enumerate();
        let run = |(index, speed): (usize, f64)| {
            let mut one = of(
                &complete().run,
                TargetKind::Kafka,
                Some(version),
                factor * speed,
            );
            let id = format!("20260301-12{index}000-{}{index}", version.replace('.', ""));
            one.summary.run.run_id = id;
            one
        };
        speeds.map(run).collect::<Vec<_>>()
    };
    let mut sides = [side("3.9.1", 1.0), side("4.3.1", 1.3)];
    sides[1][2].summary.run.kgauge.version = "0.0.9".to_owned();
    let mut read: Vec<Vec<RunToCompare<'_>>> = Vec::new();
    for side in &sides {
        let runs = side.iter().map(|one| RunToCompare {
            run: &one.run,
            summary: &one.summary,
        });
        read.push(runs.collect());
    }
    compare_sides(&read, Choices::default()).unwrap()
}

#[test]
fn two_sides_of_three_runs_match_the_golden_file() {
    let comparison = two_sides();
    let style = TerminalStyle::default();
    let text = render_comparison_terminal(&comparison, style);
    assert_golden("compare-sides.txt", &text);
    let page = render_comparison_html(&comparison);
    assert_balanced(&page);
    let comment = render_comparison_markdown(&comparison);
    for form in [&text.replace('\n', " "), &page, &comment] {
        assert!(form.contains("Run-to-run spread is measured"), "{form}");
        assert!(form.contains("Kafka 4.3.1 (3 runs)"), "{form}");
    }
    assert!(page.contains("20260301-120000-4310, 20260301-121000-4311"));
}

#[test]
fn a_comparison_opens_with_what_it_decides_and_shows_a_ratio_with_its_interval() {
    let comparison = comparison(&releases(
        &complete().run,
        &[("3.9.1", 1.0), ("4.3.1", 1.3)],
    ));
    let text = |detail| {
        let style = TerminalStyle {
            width: 100,
            detail,
            ..TerminalStyle::default()
        };
        render_comparison_terminal(&comparison, style)
    };
    let usual = text(TerminalDetail::Usual);
    let decision = usual.lines().nth(2).unwrap();
    let start = "Kafka 4.3.1 is better than Kafka 3.9.1: records/s 1.30× (1.24 to 1.36) in 5 of 6.";
    assert!(decision.starts_with(start), "{usual}");
    let row = usual.lines().find(|line| line.starts_with("  records/s "));
    assert!(row.unwrap().contains("1.30× + 1.24–1.36"), "{usual}");
    assert!(usual.contains("pass several runs per side"), "{usual}");
    let (brief, full) = (text(TerminalDetail::Brief), text(TerminalDetail::Full));
    for rest in ["latency p99.9", "wire B/record", "Holm's method"] {
        assert!(
            !usual.contains(rest) && full.contains(rest),
            "{rest}: {full}"
        );
    }
    assert!(brief.lines().count() < usual.lines().count());
    assert!(brief.contains(start), "{brief}");
}

#[test]
fn every_form_says_what_was_assumed_between_runs() {
    let comparison = comparison(&releases(&complete().run, &SEVEN));
    let style = TerminalStyle::default();
    let text = render_comparison_terminal(&comparison, style).replace('\n', " ");
    for form in [
        text,
        render_comparison_html(&comparison),
        render_comparison_markdown(&comparison),
    ] {
        assert!(form.contains("Back-to-back runs differ slightly"), "{form}");
        assert!(form.contains("1.5 % of rates"), "{form}");
    }
}

#[test]
fn no_line_is_wider_than_asked() {
    let runs = releases(&complete().run, &SEVEN);
    for width in [40, 60, 80, 100, 200] {
        for line in text(&runs, width).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn seven_releases_stand_in_one_block_where_they_fit() {
    let runs = releases(&complete().run, &SEVEN);
    let blocks = |width| {
        let text = text(&runs, width);
        text.lines().filter(|line| line.starts_with('─')).count()
    };
    assert_eq!((blocks(100), blocks(80), blocks(40)), (1, 2, 7));
}

#[test]
fn a_killed_run_says_so_before_its_figures() {
    let folder = &complete().run;
    let mut runs = releases(folder, &[("0.8.2.2", 1.0), ("4.3.1", 1.3)]);
    runs.push(killed(of(folder, TargetKind::Kafka, Some("3.9.1"), 1.0)));
    let text = text(&runs, 80);
    let notice = text
        .find("IMPORTANT: Kafka 3.9.1: the run is incomplete (cut short")
        .unwrap();
    assert!(notice < text.find("records/s").unwrap());
    assert!(
        text.contains("not run"),
        "its last trial has empty cells: {text}"
    );
}

#[test]
fn the_page_is_whole_without_script_and_network() {
    let page = render_comparison_html(&comparison(&releases(&complete().run, &SEVEN)));
    assert_balanced(&page);
    assert!(
        page.contains("script-src &#39;none&#39;"),
        "the policy allows no script"
    );
    assert!(!page.contains("<script") && !page.contains("<link") && !page.contains("src="));
    for (version, _) in SEVEN {
        assert!(
            page.contains(&format!("data-column=\"Kafka {version}\"")),
            "{version}"
        );
    }
    assert!(page.contains("6.40× faster"));
    assert!(page.contains("0.800× slower"));
    assert!(page.len() < 600_000, "{} bytes", page.len());
}

#[test]
fn the_same_runs_give_the_same_page_wherever_they_stand() {
    let folder = &complete().run;
    let page = || render_comparison_html(&comparison(&releases(folder, &SEVEN)));
    assert_eq!(page(), page());
    assert!(!page().contains(&*folder.dir.parent().unwrap().to_string_lossy()));
}

#[test]
fn every_form_shows_whether_the_acked_records_are_on_the_brokers() {
    let mut runs = releases(&complete().run, &[("3.9.1", 1.0), ("4.3.1", 1.0)]);
    let forms = |runs: &[Compared]| {
        let comparison = comparison(runs);
        let forms = [
            render_comparison_terminal(&comparison, TerminalStyle::default()),
            render_comparison_html(&comparison),
            render_comparison_markdown(&comparison),
        ];
        let style = TerminalStyle {
            detail: TerminalDetail::Brief,
            ..TerminalStyle::default()
        };
        (forms, render_comparison_terminal(&comparison, style))
    };
    // Each run has 24,005,738 of them.
    let (good, brief) = forms(&runs);
    for form in good {
        let words = "All 48,011,476 acked records of both runs are on the brokers.";
        assert!(form.contains(words), "{form}");
    }
    assert!(!brief.contains("on the brokers"), "{brief}");

    let counted = &mut runs[1].summary.trials[0].counted[0];
    counted.on_broker = Some(counted.acked - 12);
    counted.agrees = Some(false);
    let (bad, brief) = forms(&runs);
    for form in bad.iter().chain([&brief]) {
        let form = form.replace("\n  ", " ");
        let words = "Kafka 4.3.1: 12 of 24,005,738 acked records are missing on the brokers.";
        assert!(form.contains(words), "{form}");
        assert!(!form.contains("Kafka 3.9.1: all"), "its count is proven");
    }
}

#[test]
fn runs_of_one_morning_are_told_apart_in_every_table() {
    let mut runs = releases(&complete().run, &[("4.3.1", 1.0); 3]);
    let names = ["013100-7f3a", "013215-09bc", "013330-11de"];
    let names = names.map(|end| format!("linkedin-2014-20261128-{end}"));
    let text = |runs: &[Compared], width| {
        let sides = runs.iter().map(|one| RunToCompare {
            run: &one.run,
            summary: &one.summary,
        });
        let sides: Vec<_> = sides.map(|side| vec![side]).collect();
        let choices = Choices {
            names: &names[..runs.len()],
            ..Choices::default()
        };
        let style = TerminalStyle {
            width,
            ..TerminalStyle::default()
        };
        render_comparison_terminal(&compare_sides(&sides, choices).unwrap(), style)
    };
    let check = |text: &str, width: usize, ends: &[&str]| {
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        let lines: Vec<&str> = text.lines().collect();
        let rules = (2..lines.len()).filter(|at| lines[*at].starts_with('─'));
        let heads: String = rules
            .flat_map(|at| [lines[at - 2], lines[at - 1]])
            .collect();
        assert!(ends.iter().all(|end| heads.contains(*end)), "{text}");
    };
    for width in [60, 80, 100] {
        check(&text(&runs, width), width, &["7f3a", "09bc", "11de"]);
    }
    runs.pop();
    for width in [60, 80, 100] {
        check(&text(&runs, width), width, &["0-7f3a", "5-09bc"]);
    }
    assert!(text(&runs, 80).contains("linkedin-201…013100-7f3a"));
}

#[test]
fn published_figures_have_no_ratio_of_the_embedded_cluster() {
    let folder = &complete().run;
    let kafka = of(folder, TargetKind::Kafka, Some("4.3.1"), 1.0);
    let mut runs = vec![kafka, of(folder, TargetKind::Embedded, None, 9.0)];
    // 5,537,181 and nine times as much, of 795,064.
    let page = render_comparison_html(&comparison(&runs));
    assert!(page.contains("6.96× published"), "of Kafka");
    assert!(!page.contains("62.7× published"));
    runs[0] = of(folder, TargetKind::Embedded, None, 1.0);
    let page = render_comparison_html(&comparison(&runs));
    let has = |text: &str| page.contains(text);
    assert!(!has("× published") && !has(">published<"), "{page}");
}

#[test]
fn the_embedded_cluster_gets_no_ratio_to_kafka() {
    let folder = &complete().run;
    let mut runs = releases(folder, &[("4.3.1", 1.0)]);
    runs.push(of(folder, TargetKind::Embedded, None, 9.0));
    let comparison = comparison(&runs);
    let page = render_comparison_html(&comparison);
    assert!(!page.contains("9.00×"), "no ratio");
    assert!(page.contains("embedded and Kafka 4.3.1 are not comparable"));
    let text = text(&runs, 80);
    let mut rows = text.lines().filter(|line| line.starts_with("  records/s "));
    assert!(rows.all(|line| line.contains(" n/c")), "{text}");
    assert!(!text.contains("9.00×"), "{text}");
}

#[test]
fn no_name_becomes_markup_or_commands_the_terminal() {
    let evil = "<script>alert(1)</script>\"'\u{1b}]0;owned\u{7}\u{202e}";
    let spoiled = |version: &str| {
        let mut one = of(&complete().run, TargetKind::Kafka, Some(version), 1.0);
        spoil(&mut one.run, &mut one.summary, evil);
        for trial in &mut one.summary.trials {
            for published in &mut trial.published {
                published.figure = format!("{evil}.throughput");
                published.source = Some(evil.to_owned());
            }
        }
        one.summary.run.size = Some(version.to_owned() + evil);
        one
    };
    let comparison = comparison(&[spoiled("1.0.2"), spoiled("4.3.1")]);
    let page = render_comparison_html(&comparison);
    assert_balanced(&page);
    assert!(!page.contains("<script"), "escaped");
    assert!(page.contains("&lt;script&gt;"), "and shown all the same");
    let style = TerminalStyle::default();
    let text = render_comparison_terminal(&comparison, style);
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
    assert!(!page.contains(['\u{1b}', '\u{7}', '\u{202e}']));
    let comment = render_comparison_markdown(&comparison);
    assert!(!comment.contains("<script"), "{comment}");
    assert!(!comment.contains(['\u{1b}', '\u{7}', '\u{202e}']));
}

#[test]
fn the_comment_says_what_differs_before_the_figures() {
    let folder = &complete().run;
    let mut runs = releases(folder, &[("0.8.2.2", 1.0), ("4.3.1", 1.3)]);
    runs.push(of(folder, TargetKind::Embedded, None, 9.0));
    let comment = render_comparison_markdown(&comparison(&runs));
    let place = |text: &str| {
        comment
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {comment}"))
    };
    assert!(
        place("are not comparable") < place("records/s"),
        "{comment}"
    );
    assert!(place("| | Kafka 0.8.2.2, baseline | Kafka 4.3.1 |") < place("**1.30× faster**"));
    assert!(
        !comment.contains("9.00×"),
        "no ratio of the embedded cluster"
    );
}

#[test]
fn a_comment_of_very_many_figures_stays_short() {
    let mut runs = releases(&complete().run, &SEVEN);
    for one in &mut runs {
        let first = one.summary.trials[0].clone();
        one.summary.trials = (0..300)
            .map(|index| {
                let mut trial = first.clone();
                trial.name = format!("trial={index}");
                trial.factors = vec![Factor {
                    path: "trial".to_owned(),
                    value: index.to_string(),
                }];
                trial
            })
            .collect();
    }
    let comment = render_comparison_markdown(&comparison(&runs));
    assert!(comment.len() <= 60_000, "{} bytes", comment.len());
    assert!(comment.contains("more figures in `comparison.html`"));
}

#[test]
fn a_page_of_very_many_trials_says_what_it_left_out() {
    let mut runs = releases(&complete().run, &SEVEN);
    for one in &mut runs {
        let first = one.summary.trials[0].clone();
        one.summary.trials = (0..300)
            .map(|index| {
                let mut trial = first.clone();
                trial.name = format!("trial={index}");
                trial.factors = vec![Factor {
                    path: "trial".to_owned(),
                    value: index.to_string(),
                }];
                trial
            })
            .collect();
    }
    let page = render_comparison_html(&comparison(&runs));
    assert_balanced(&page);
    assert!(page.len() < 4 << 20, "{} bytes", page.len());
    assert!(page.contains("omitted to keep the page small"));
}

#[test]
fn runs_without_any_figure_give_a_page_all_the_same() {
    let empty = |id: &str| {
        let keep = tempfile::tempdir().unwrap();
        let head = RunHead::starting(id.to_owned(), Vec::new(), 1_772_366_400_000);
        drop(RunFolder::create(keep.path(), head).unwrap());
        let run = RunRead::open(keep.path()).unwrap();
        let summary = Summary::of(&run);
        Compared { run, summary }
    };
    let runs = [empty("r1"), empty("r2")];
    assert_balanced(&render_comparison_html(&comparison(&runs)));
    let text = text(&runs, 80);
    assert!(
        text.contains("IMPORTANT") && text.contains("no comparable figures"),
        "{text}"
    );
}
