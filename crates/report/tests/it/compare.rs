//! Runs side by side: the terminal's text against golden files, and what must hold for any.

use std::path::Path;

use kgauge_report::{TerminalStyle, render_comparison_terminal};
use kgauge_results::run::TargetKind;

use crate::compared::{Compared, SEVEN, comparison, killed, of, releases};
use crate::shared::complete;

fn text(runs: &[Compared], width: usize) -> String {
    let style = TerminalStyle {
        color: false,
        width,
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
fn three_runs_are_as_they_were_looked_at() {
    let folder = &complete().run;
    let mut runs = releases(folder, &[("0.8.2.2", 1.0), ("4.3.1", 1.3)]);
    runs.push(of(folder, TargetKind::Embedded, None, 9.0));
    assert_golden("compare-three.txt", &text(&runs, 80));
}

#[test]
fn seven_releases_are_as_they_were_looked_at() {
    assert_golden(
        "compare-seven.txt",
        &text(&releases(&complete().run, &SEVEN), 100),
    );
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
    let said = text
        .find("IMPORTANT: Kafka 3.9.1: the run is not whole (cut short")
        .unwrap();
    assert!(said < text.find("records/s").unwrap());
    assert!(
        text.contains("not run"),
        "its last trial has empty cells: {text}"
    );
}
