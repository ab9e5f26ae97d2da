//! `kgauge compare`: runs side by side.

use std::path::{Path, PathBuf};

use anyhow::Context;
use kgauge_report::{render_comparison_html, render_comparison_terminal};
use kgauge_results::{FolderError, RunRead, RunToCompare, Summary};

use crate::args::Compare;
use crate::exit::{ExitStatus, OrStop};
use crate::place::{fresh_number, run_dir, run_id, unix_ms};
use crate::run::{print_json, terminal_style};

/// The page of a comparison.
pub(crate) const COMPARISON: &str = "comparison.html";

/// A run to compare.
pub(crate) struct Compared {
    pub(crate) read: RunRead,
    pub(crate) summary: Summary,
}

/// Compares run folders.
pub(crate) fn folders(arguments: &Compare) -> anyhow::Result<ExitStatus> {
    let read = |dir: &PathBuf| {
        let read = RunRead::open(dir)?;
        let summary = Summary::of(&read);
        Ok(Compared { read, summary })
    };
    let runs: Result<Vec<Compared>, FolderError> = arguments.dirs.iter().map(read).collect();
    let id = run_id(unix_ms(), fresh_number());
    let dir = run_dir(arguments.out.as_deref(), "compare", &id);
    let runs = runs.or_bad_input()?;
    compare(&runs, arguments.baseline, &dir, arguments.json)?;
    Ok(ExitStatus::Good)
}

/// Compares runs, keeps page and JSON in a folder, and prints the table or the JSON. The baseline
/// is counted from 1.
#[allow(clippy::print_stdout)]
pub(crate) fn compare(
    runs: &[Compared],
    baseline: usize,
    dir: &Path,
    json: bool,
) -> anyhow::Result<()> {
    let runs: Vec<RunToCompare<'_>> = runs
        .iter()
        .map(|one| RunToCompare {
            run: &one.read,
            summary: &one.summary,
        })
        .collect();
    let index = baseline.saturating_sub(1);
    let comparison = kgauge_results::compare(&runs, index).or_bad_input()?;
    let page = dir.join(COMPARISON);
    let write = || -> anyhow::Result<()> {
        std::fs::create_dir_all(dir)?;
        std::fs::write(&page, render_comparison_html(&comparison))?;
        let text = serde_json::to_string_pretty(&comparison)? + "\n";
        std::fs::write(dir.join("comparison.json"), text)?;
        Ok(())
    };
    write()
        .with_context(|| format!("cannot write {}", page.display()))
        .or_failed()?;
    if json {
        return print_json(&comparison);
    }
    print!(
        "{}",
        render_comparison_terminal(&comparison, terminal_style())
    );
    println!("\nreport: {}", page.display());
    Ok(())
}
