//! Makes a report to look at while working on it: the shipped study with made-up loads, or a run
//! folder.
//!
//! `cargo run -p kgauge-report --example look -- OUT [RUN-FOLDER [plain]]` writes `OUT/report.html` and
//! prints the terminal's texts.
#![allow(clippy::unwrap_used, clippy::print_stdout, dead_code, unreachable_pub)]

#[path = "../tests/it/made.rs"]
mod made;
#[path = "../tests/it/scenarios.rs"]
mod scenarios;

use std::path::Path;

use kgauge_analyze::Summary;
use kgauge_report::{TerminalDetail, TerminalStyle, render_html, render_terminal};
use kgauge_results::RunRead;
use kgauge_scenario::Studies;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(out) = arguments.first().map(Path::new) else {
        println!("give OUT [RUN-FOLDER [plain]]");
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
            // The study has neither a schedule nor a goal.
            scenarios.extend(scenarios::paced_often());
            let keep = tempfile::tempdir().unwrap();
            let dir = keep.path().join("run");
            made::make(
                &dir,
                Some(study.about.clone()),
                &scenarios,
                &made::CALM,
                made::End::Complete,
            )
        }
    };
    std::fs::write(out.join("report.html"), render_html(&run, &summary)).unwrap();
    for (width, detail) in [
        (80, TerminalDetail::Usual),
        (100, TerminalDetail::Usual),
        (100, TerminalDetail::Brief),
        (100, TerminalDetail::Full),
    ] {
        let style = TerminalStyle {
            color: arguments.len() < 3,
            width,
            detail,
        };
        println!("\n===== {width} columns, {detail:?}\n");
        print!("{}", render_terminal(&run, &summary, style));
    }
}
