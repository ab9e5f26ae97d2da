//! `kgauge compare`: compares runs.

use std::path::{Path, PathBuf};

use kgauge_analyze::Comparison;
use kgauge_analyze::compare::{BetweenRuns, GateChoice, GateRequest, GateVerdict};
use kgauge_report::{
    TerminalStyle, comparison_json, gate_lines, render_comparison_html, render_comparison_markdown,
    render_comparison_terminal,
};
use kgauge_runner::{ComparisonRequest, write_comparison};

use crate::args::{Compare, CompareForm};
use crate::exit::ExitStatus;
use crate::print;
use crate::report::write_text;
use crate::style::DetailArgs;

/// Compares run folders.
pub(crate) fn folders(arguments: &Compare) -> anyhow::Result<ExitStatus> {
    let request = ComparisonRequest {
        sides: sides(arguments),
        baseline: arguments.baseline.saturating_sub(1),
        between_runs: match arguments.between_runs {
            Some(part) => BetweenRuns::Part(part),
            None => BetweenRuns::Usual,
        },
        allows_unlike: arguments.allow_unlike,
    };
    let comparison = request.compare()?;
    match arguments.form {
        Some(form) => write_text(arguments.out.as_deref(), arguments.detail, |style| {
            text(form, &comparison, style)
        })?,
        None => match &arguments.out {
            Some(dir) => keep(&comparison, dir, arguments.json, arguments.detail)?,
            None => show(&comparison, arguments.json, arguments.detail)?,
        },
    }
    match arguments.fail_if_worse {
        Some(allowed) => Ok(gate(&comparison, allowed, &arguments.metric)),
        None => Ok(ExitStatus::Good),
    }
}

/// Each folder is a side. With `--with`, the folders before it are the first side.
fn sides(arguments: &Compare) -> Vec<Vec<PathBuf>> {
    if arguments.with.sides.is_empty() {
        let dirs = arguments.dirs.iter();
        return dirs.map(|dir| vec![dir.clone()]).collect();
    }
    let mut sides = vec![arguments.dirs.clone()];
    sides.extend(arguments.with.sides.iter().cloned());
    sides
}

/// A form that is one text; the table has the style.
fn text(
    form: CompareForm,
    comparison: &Comparison,
    style: TerminalStyle,
) -> anyhow::Result<String> {
    Ok(match form {
        CompareForm::Table => render_comparison_terminal(comparison, style),
        CompareForm::Html => render_comparison_html(comparison),
        CompareForm::Json => serde_json::to_string_pretty(&comparison_json(comparison)?)? + "\n",
        CompareForm::Markdown => render_comparison_markdown(comparison),
    })
}

/// Writes page and JSON to a folder, and prints the table or the JSON.
pub(crate) fn keep(
    comparison: &Comparison,
    dir: &Path,
    json: bool,
    detail: DetailArgs,
) -> anyhow::Result<()> {
    let page = write_comparison(comparison, dir)?;
    show(comparison, json, detail)?;
    if !json && !detail.quiet {
        print::line(&format!("\nreport: {}", page.display()));
    }
    Ok(())
}

fn show(comparison: &Comparison, json: bool, detail: DetailArgs) -> anyhow::Result<()> {
    if json {
        return print::json(&comparison_json(comparison)?);
    }
    print::result(&render_comparison_terminal(comparison, detail.style()));
    Ok(())
}

/// The exit status of the gate. An undecided gate does not pass.
fn gate(comparison: &Comparison, allowed: f64, figures: &[Vec<GateChoice>]) -> ExitStatus {
    let request = GateRequest {
        allowed,
        figures: figures.concat(),
    };
    let gate = comparison.gate(&request);
    for line in gate_lines(&gate) {
        // Names come from run folders and must not control the terminal.
        print::remark(&kgauge_report::one_line(&line));
    }
    match gate.word() {
        GateVerdict::Passed => ExitStatus::Good,
        GateVerdict::Worse => ExitStatus::Failed,
        GateVerdict::Undecided => ExitStatus::BadInput,
    }
}
