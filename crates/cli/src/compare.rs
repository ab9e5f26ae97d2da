//! `kgauge compare`: runs side by side.

use std::path::{Path, PathBuf};

use anyhow::Context;
use kgauge_report::{
    TerminalStyle, render_comparison_html, render_comparison_markdown, render_comparison_terminal,
};
use kgauge_results::compare::{BetweenRuns, Choices};
use kgauge_results::{Comparison, FolderError, RunRead, RunToCompare, Summary, compare_sides};

use crate::args::{Compare, CompareForm};
use crate::exit::{ExitStatus, OrStop, stop};
use crate::place::{fresh_number, run_dir, run_id, unix_ms};
use crate::report::{print, write_file};
use crate::run::{print_json, terminal_style};

/// The page of a comparison.
pub(crate) const COMPARISON: &str = "comparison.html";
/// Worse figures that are named on stderr before the others are only counted.
const WORSE_SHOWN: usize = 20;

/// A run to compare.
pub(crate) struct Compared {
    pub(crate) read: RunRead,
    pub(crate) summary: Summary,
}

impl Compared {
    fn to_compare(&self) -> RunToCompare<'_> {
        RunToCompare {
            run: &self.read,
            summary: &self.summary,
        }
    }
}

/// Compares run folders.
pub(crate) fn folders(arguments: &Compare) -> anyhow::Result<ExitStatus> {
    let read = |dir: &PathBuf| {
        let read = RunRead::open(dir)?;
        let summary = Summary::of(&read);
        Ok(Compared { read, summary })
    };
    let sides: Result<Vec<Vec<Compared>>, FolderError> = sides(arguments)
        .iter()
        .map(|side| side.iter().map(read).collect())
        .collect();
    let between_runs = match arguments.between_runs {
        Some(part) => BetweenRuns::Part(part),
        None => BetweenRuns::Usual,
    };
    let comparison = compared(&sides.or_bad_input()?, arguments.baseline, between_runs)?;
    if let Some(words) = comparison.unlike().filter(|_| !arguments.allow_unlike) {
        let words = format!(
            "these runs cannot be compared: {words}\n  `--allow-unlike` sets their figures side by side all \
             the same, without ratios"
        );
        return Err(stop(ExitStatus::BadInput, words));
    }
    match arguments.form {
        Some(form) => {
            let out = arguments.out.as_deref();
            match out.filter(|out| *out != Path::new("-")) {
                Some(file) => write_file(file, &text(form, &comparison, None)?)?,
                None => print(&text(form, &comparison, Some(terminal_style()))?)?,
            }
        }
        None => {
            let id = run_id(unix_ms(), fresh_number());
            let dir = run_dir(arguments.out.as_deref(), "compare", &id);
            keep(&comparison, &dir, arguments.json)?;
        }
    }
    match arguments.fail_if_worse {
        Some(least) => gate(&comparison, least),
        None => Ok(ExitStatus::Good),
    }
}

/// Each folder is a side, unless there is `--with`: then those before it are the first one.
fn sides(arguments: &Compare) -> Vec<Vec<PathBuf>> {
    if arguments.with.sides.is_empty() {
        return arguments.dirs.iter().map(|dir| vec![dir.clone()]).collect();
    }
    let mut sides = vec![arguments.dirs.clone()];
    sides.extend(arguments.with.sides.iter().cloned());
    sides
}

/// Compares runs, keeps page and JSON in a folder, and prints the table or the JSON. The baseline
/// is counted from 1.
pub(crate) fn compare(
    runs: Vec<Compared>,
    baseline: usize,
    dir: &Path,
    json: bool,
) -> anyhow::Result<()> {
    let sides: Vec<Vec<Compared>> = runs.into_iter().map(|run| vec![run]).collect();
    keep(&compared(&sides, baseline, BetweenRuns::Usual)?, dir, json)
}

fn compared(
    sides: &[Vec<Compared>],
    baseline: usize,
    between_runs: BetweenRuns,
) -> anyhow::Result<Comparison> {
    let sides: Vec<Vec<RunToCompare<'_>>> = sides
        .iter()
        .map(|side| side.iter().map(Compared::to_compare).collect())
        .collect();
    let choices = Choices {
        baseline: baseline.saturating_sub(1),
        between_runs,
    };
    compare_sides(&sides, choices).or_bad_input()
}

/// A form that is one text; `style` is that of the terminal, where there is one.
fn text(
    form: CompareForm,
    comparison: &Comparison,
    style: Option<TerminalStyle>,
) -> anyhow::Result<String> {
    Ok(match form {
        CompareForm::Table => render_comparison_terminal(comparison, style.unwrap_or_default()),
        CompareForm::Html => render_comparison_html(comparison),
        CompareForm::Json => serde_json::to_string_pretty(comparison)? + "\n",
        CompareForm::Markdown => render_comparison_markdown(comparison),
    })
}

#[allow(clippy::print_stdout)]
fn keep(comparison: &Comparison, dir: &Path, json: bool) -> anyhow::Result<()> {
    let page = dir.join(COMPARISON);
    let write = || -> anyhow::Result<()> {
        std::fs::create_dir_all(dir)?;
        std::fs::write(&page, render_comparison_html(comparison))?;
        let text = serde_json::to_string_pretty(comparison)? + "\n";
        std::fs::write(dir.join("comparison.json"), text)?;
        Ok(())
    };
    write()
        .with_context(|| format!("cannot write {}", page.display()))
        .or_failed()?;
    if json {
        return print_json(comparison);
    }
    print!(
        "{}",
        render_comparison_terminal(comparison, terminal_style())
    );
    println!("\nreport: {}", page.display());
    Ok(())
}

/// The status for who builds automatically. A gate that judged nothing must not stand open.
#[allow(clippy::print_stderr)]
fn gate(comparison: &Comparison, least: f64) -> anyhow::Result<ExitStatus> {
    let gate = comparison.gate(least);
    if gate.worse.is_empty() && !gate.unjudged.is_empty() {
        let words = format!(
            "--fail-if-worse: no rate and no time of {} could be judged, so nothing is known; see why in the comparison \
             (two or more repeats are needed: --repeat 5)",
            kgauge_report::one_line(&gate.unjudged.join(", "))
        );
        return Err(stop(ExitStatus::BadInput, words));
    }
    if gate.worse.is_empty() && !gate.missing.is_empty() {
        let words = format!(
            "--fail-if-worse: {} of the baseline's figures were not measured, so nothing is known of them, such as {}",
            gate.missing.len(),
            kgauge_report::one_line(&gate.missing[0])
        );
        return Err(stop(ExitStatus::BadInput, words));
    }
    for worse in gate.worse.iter().take(WORSE_SHOWN) {
        // Names come from run folders, and may not command the terminal.
        eprintln!("kgauge: worse: {}", kgauge_report::one_line(worse));
    }
    let more = gate.worse.len().saturating_sub(WORSE_SHOWN);
    if more > 0 {
        eprintln!("kgauge: and {more} more");
    }
    Ok(match gate.worse.is_empty() {
        true => ExitStatus::Good,
        false => ExitStatus::Failed,
    })
}
