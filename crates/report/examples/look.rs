//! Makes a report to look at while working on it: the shipped study with made-up loads, or a run
//! folder.
//!
//! `cargo run -p kgauge-report --example look -- OUT [RUN-FOLDER]` writes `OUT/report.html` and
//! prints the terminal's text.
#![allow(clippy::unwrap_used, clippy::print_stdout, dead_code, unreachable_pub)]

#[path = "../tests/it/made.rs"]
mod made;

use std::path::Path;

use kgauge_analyze::Summary;
use kgauge_report::{TerminalStyle, render_html, render_terminal};
use kgauge_results::RunRead;
use kgauge_scenario::{Scenario, Studies};

/// A scenario with a schedule, a goal and a published latency, which the study has not.
const PACED: &str = "\
kgauge: 1
name: paced-producer
question: What does a caller wait for an ack at 2,000 records/s?
target: {brokers: 1}
topic: {partitions: 6, replication: 1}
flows:
  - name: writers
    kind: produce
    producers: 1
    shape: {constant: 2000/s}
    record: {size: 100 B}
    settings: {acks: all}
stages: {warm-up: 2 s, hold: 8 s, drain: 5 s}
repeats: 3
goals:
  - writers.latency.p99 <= 20 ms
  - writers.throughput >= 5000/s
";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(out) = arguments.first().map(Path::new) else {
        println!("give OUT [RUN-FOLDER]");
        return;
    };
    std::fs::create_dir_all(out).unwrap();
    let (run, summary) = match arguments.get(1) {
        Some(folder) => {
            let run = RunRead::open(Path::new(folder)).unwrap();
            let summary = Summary::of(&run);
            (run, summary)
        }
        None => {
            let study = Studies::get("linkedin-2014").unwrap();
            let mut scenarios = study.scenarios.clone();
            scenarios.push(Scenario::parse("paced.yaml", PACED).unwrap());
            let keep = tempfile::tempdir().unwrap();
            let dir = keep.path().join("run");
            made::make(
                &dir,
                Some(study.reference()),
                &scenarios,
                &made::CALM,
                made::End::Complete,
            )
        }
    };
    std::fs::write(out.join("report.html"), render_html(&run, &summary)).unwrap();
    print!(
        "{}",
        render_terminal(
            &run,
            &summary,
            TerminalStyle {
                color: true,
                width: 80
            }
        )
    );
}
