//! `kgauge report`: regenerates the report of a run folder, or writes it in another form.

use std::path::Path;

use anyhow::{Context, ensure};
use kgauge_analyze::Summary;
use kgauge_report::{
    TerminalStyle, render_csv, render_html, render_markdown, render_terminal, summary_json,
};
use kgauge_results::RunRead;
use kgauge_results::folder::write_interval_logs;
use kgauge_runner::OrRunError;

use crate::args::{ReportArgs, ReportForm};
use crate::exit::ExitStatus;
use crate::print;
use crate::run::status;
use crate::style::DetailArgs;

/// Regenerates summary and report from the folder, or writes another form of them.
pub(crate) fn report(arguments: &ReportArgs) -> anyhow::Result<ExitStatus> {
    let Some(form) = arguments.form else {
        return crate::run::report(&arguments.dir, arguments.json, arguments.detail);
    };
    let out = out_file(arguments.out.as_deref());
    ensure!(
        form != ReportForm::Hdr || out.is_some(),
        "`--as hdr` writes a folder of files: name it with --out DIR"
    );
    let run = RunRead::open(&arguments.dir).or_bad_input()?;
    let summary = Summary::of(&run);
    match (form, out) {
        (ReportForm::Hdr, Some(dir)) => write_logs(&run, &summary, dir)?,
        _ => write_text(out, arguments.detail, |style| {
            text(form, &run, &summary, style)
        })?,
    }
    Ok(status(&summary))
}

/// A form that is one text; the table has the style.
fn text(
    form: ReportForm,
    run: &RunRead,
    summary: &Summary,
    style: TerminalStyle,
) -> anyhow::Result<String> {
    Ok(match form {
        ReportForm::Table | ReportForm::Hdr => render_terminal(run, summary, style),
        ReportForm::Html => render_html(run, summary),
        ReportForm::Json => serde_json::to_string_pretty(&summary_json(summary)?)? + "\n",
        ReportForm::Markdown => render_markdown(run, summary),
        ReportForm::Csv => render_csv(run, summary),
    })
}

/// The file of `--out`; `-` is stdout.
fn out_file(out: Option<&Path>) -> Option<&Path> {
    out.filter(|out| *out != Path::new("-"))
}

/// Writes a text to the file of `--out`, or prints it.
pub(crate) fn write_text(
    out: Option<&Path>,
    detail: DetailArgs,
    text: impl FnOnce(TerminalStyle) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    match out_file(out) {
        Some(file) => write_file(file, &text(detail.file_style())?)?,
        None => print::result(&text(detail.style())?),
    }
    Ok(())
}

pub(crate) fn write_file(file: &Path, text: &str) -> anyhow::Result<()> {
    ensure!(
        !file.is_dir(),
        "{} is a folder: name a file with --out",
        file.display()
    );
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn write_logs(run: &RunRead, summary: &Summary, dir: &Path) -> anyhow::Result<()> {
    ensure!(
        !dir.is_file(),
        "{} is a file: name a folder with --out",
        dir.display()
    );
    let logs = write_interval_logs(run, &summary.logged_trials(), dir).or_unwritable()?;
    for log in &logs {
        print::remark(&format!(
            "{}: intervals {}, times {}",
            log.path.display(),
            log.intervals,
            log.count
        ));
    }
    if logs.is_empty() {
        print::remark("this run measured nothing, so it has no log");
    }
    Ok(())
}
