//! Writes the pages that `cargo xtask browser` looks at beside real ones: a report and a comparison whose every
//! name is hostile, and a comparison of eight runs.
//!
//! `cargo run -p kgauge-report --example browser -- OUT`.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

#[path = "../tests/it/compared.rs"]
mod compared;
#[path = "../tests/it/hostile.rs"]
mod hostile;
#[path = "../tests/it/made.rs"]
mod made;
#[path = "../tests/it/scenarios.rs"]
mod scenarios;

use std::path::Path;

use compared::{SEVEN, comparison, releases};
use kgauge_analyze::Summary;
use kgauge_analyze::summary::{AbSummary, ab_of_record};
use kgauge_report::{render_comparison_html, render_html};
use kgauge_results::RunRead;
use kgauge_results::run::{AbBlock, AbEnd, AbRecord, TargetKind, VoidCause};
use kgauge_scenario::{AbKind, AbMetric, AbPlan, AbSide, AbSidePlan, FigureName};

/// Markup, a way out of attributes and scripts, words from right to left, and no place to break a line.
const EVIL: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'</style></script>]]>-->\u{202e}\u{1b}[31m";

fn main() {
    let argument = std::env::args().nth(1).unwrap();
    let out = Path::new(&argument);
    std::fs::create_dir_all(out).unwrap();
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let study = Some(scenarios::study());
    let end = made::End::Complete;
    let (run, _) = made::make(&dir, study, &scenarios::all(), &made::CALM, end);

    let evil = format!("{EVIL}{}", "wide".repeat(60));
    let spoiled = |version: &str| {
        let mut one = compared::of(&run, TargetKind::Kafka, Some(version), 1.0);
        hostile::spoil(&mut one.run, &mut one.summary, &evil);
        one
    };
    let one = spoiled("1.0.2");
    write(out, "hostile.html", &render_html(&one.run, &one.summary));
    let both = comparison(&[one, spoiled("4.3.1")]);
    write(
        out,
        "hostile-comparison.html",
        &render_comparison_html(&both),
    );

    let mut runs = releases(&run, &SEVEN);
    runs.push(compared::killed(compared::of(
        &run,
        TargetKind::Embedded,
        None,
        9.0,
    )));
    let page = render_comparison_html(&comparison(&runs));
    write(out, "comparison.html", &page);
    let read = RunRead::open(&dir).unwrap();
    let mut summary = Summary::of(&read);
    write(out, "made.html", &render_html(&read, &summary));
    summary.ab = Some(test());
    write(out, "ab.html", &render_html(&read, &summary));
}

/// An A/B test with a hostile name, a void pair and intervals that close in.
fn test() -> AbSummary {
    let side = |name: &str, trial| AbSidePlan {
        name: name.to_owned(),
        trial: Some(trial),
        folder: None,
    };
    let plan = AbPlan {
        kind: AbKind::Settings,
        sides: [side(EVIL, 0), side("linger.ms=5, batch.size=64 KiB", 1)],
        metric: AbMetric::OfFlow(FigureName::parse("writers.throughput").unwrap()),
        width: 0.03,
        budget_ns: None,
        blocks_max: 200,
        is_duet: false,
    };
    let ratios = [
        1.06, 1.02, 1.09, 1.04, 0.99, 1.05, 1.07, 1.03, 1.06, 1.05, 1.02, 1.08, 1.04, 1.05,
    ];
    let blocks = (0..).zip(ratios).map(|(repeat, ratio)| AbBlock {
        repeat,
        first: AbSide::BOTH[(repeat % 2) as usize],
        a: Some(400_000.0 - 1_000.0 * f64::from(repeat)),
        b: Some((400_000.0 - 1_000.0 * f64::from(repeat)) * ratio),
        void: (repeat == 4).then_some(VoidCause::LeadersMoved { partitions: 2 }),
    });
    let record = AbRecord {
        blocks: blocks.collect(),
        end: Some(AbEnd::Decided),
        took_ns: 400_000_000_000,
    };
    ab_of_record(&plan, &record, 1)
}

fn write(out: &Path, name: &str, page: &str) {
    std::fs::write(out.join(name), page).unwrap();
}
