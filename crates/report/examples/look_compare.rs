//! Makes a comparison to look at while working on it: made-up runs, or run folders.
//!
//! `cargo run -p kgauge-report --example look_compare -- OUT [RUN-FOLDER...]` writes
//! `OUT/compare.html` and prints the terminal's text.
#![allow(clippy::unwrap_used, clippy::print_stdout, dead_code, unreachable_pub)]

#[path = "../tests/it/compared.rs"]
mod compared;
#[path = "../tests/it/made.rs"]
mod made;
#[path = "../tests/it/scenarios.rs"]
mod scenarios;

use std::path::Path;

use compared::{Compared, SEVEN, comparison, releases};
use kgauge_analyze::Summary;
use kgauge_report::{TerminalStyle, render_comparison_html, render_comparison_terminal};
use kgauge_results::RunRead;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (out, folders) = arguments.split_first().unwrap();
    std::fs::create_dir_all(out).unwrap();
    let keep = tempfile::tempdir().unwrap();
    let runs: Vec<Compared> = match folders {
        [] => {
            let dir = keep.path().join("run");
            let study = Some(scenarios::study());
            let end = made::End::Complete;
            let (run, _) = made::make(&dir, study, &scenarios::all(), &made::CALM, end);
            let mut runs = releases(&run, &SEVEN);
            let embedded = kgauge_results::run::TargetKind::Embedded;
            runs.push(compared::killed(compared::of(&run, embedded, None, 9.0)));
            runs
        }
        folders => {
            let read = folders.iter().map(|folder| {
                let run = RunRead::open(Path::new(folder)).unwrap();
                let summary = Summary::of(&run);
                Compared { run, summary }
            });
            read.collect()
        }
    };
    let comparison = comparison(&runs);
    let page = render_comparison_html(&comparison);
    std::fs::write(Path::new(out).join("compare.html"), page).unwrap();
    let style = TerminalStyle {
        color: true,
        width: 100,
        ..TerminalStyle::default()
    };
    print!("{}", render_comparison_terminal(&comparison, style));
}
