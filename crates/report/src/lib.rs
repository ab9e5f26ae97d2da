//! Crate `report`: from a run folder and its summary to what people read: terminal tables, HTML pages, Markdown, CSV.
//!
//! **Goals.** A report gives the answer first and the evidence after it. Each figure has its spread and its marks. The
//! same folder gives the same bytes. Pages need no network and are complete without script. No text from outside can
//! become markup or a command to a terminal.
//!
//! **Non-goals.** Measuring (`load`), statistics and verdicts (`analyze`), printing (`cli`). Nothing here reads a
//! clock, the environment or a file.
//!
//! **Where to start.** `text` makes all sentences. `view` is what a report shows, in order; `view/fill` takes it from
//! the run folder. `terminal`, `html` and `markdown` write it. `curves` decides which charts exist, and `chart` draws
//! them.

mod ceiling;
mod chart;
mod clean;
mod compare;
mod csv;
mod curves;
mod format;
mod guide;
mod html;
mod json;
mod live;
mod markdown;
mod markup;
mod run_list;
mod study_list;
mod terminal;
pub mod text;
mod view;

use std::path::Path;

use kgauge_analyze::compare::Gate;
use kgauge_analyze::sizing::SizeAnswer;
use kgauge_analyze::summary::RunHeadline;
use kgauge_analyze::{Comparison, Summary};
use kgauge_results::RunRead;
use kgauge_results::folder::ListedRun;
use kgauge_scenario::Study;
use run_list::RunListing;
use serde::Serialize;
use study_list::StudyListing;

pub use ceiling::{CeilingReport, CeilingRow};
pub use clean::{one_line, printable};
pub use json::{JsonTree, comparison_json, comparison_schema, summary_json, summary_schema};
pub use live::{
    FlowMetrics, InterfaceMetrics, LiveFlowView, LiveMetrics, LiveNow, LivePage, LivePhase,
    LiveReport, LiveStage, LiveTrial, MetricsForm, ProcessMetrics, RunMetrics, live_policy,
    render_live_page, render_live_page_around, render_live_part, render_metrics,
    render_served_report,
};
pub use markup::SafeMarkup;
pub use terminal::{TerminalDetail, TerminalStyle};

/// The report as text for a terminal, ending with a line break.
///
/// One line of conditions, the answers, one table, and a line for each caveat; `style.detail` decides whether less or
/// more. Fits `style.width` columns. Colours only when asked for, and they only repeat the text.
pub fn render_terminal(run: &RunRead, summary: &Summary, style: TerminalStyle) -> String {
    terminal::text(&view::fill::view(run, summary), style)
}

/// The report as one HTML page that needs no network and is complete without script.
///
/// A pure function of the folder's content, not of its path.
pub fn render_html(run: &RunRead, summary: &Summary) -> String {
    html::page(&view::fill::view(run, summary))
}

/// What the report opens with, as Markdown for a pull request's comment, ending with a line break.
///
/// A pure function of the folder's content, below 60,000 bytes whatever the run was; GitHub takes
/// 65,536 characters.
pub fn render_markdown(run: &RunRead, summary: &Summary) -> String {
    markdown::text(&view::fill::view(run, summary))
}

/// The figures of every trial and repeat as CSV with a head, its lines ended by CR LF.
///
/// The names of the columns contain the units, and each varied setting has a separate column.
pub fn render_csv(run: &RunRead, summary: &Summary) -> String {
    csv::text(run, summary)
}

/// Several runs side by side as text for a terminal, ending with a line break.
///
/// A deciding sentence per run, then the figures, with a column per run. Columns that do not fit into `style.width` are
/// in further blocks, each with the baseline. Below them are the figures that are not comparable, with the reasons.
pub fn render_comparison_terminal(comparison: &Comparison, style: TerminalStyle) -> String {
    terminal::compare::text(&compare::view(comparison), style)
}

/// The result of a gate: a line for each figure, the most severe first, and a last line for the whole gate.
///
/// Names in them are as they came from the run folders.
pub fn gate_lines(gate: &Gate) -> Vec<String> {
    text::gate::lines(gate)
}

/// Several runs side by side as Markdown for a pull request's comment, ending with a line break.
///
/// A pure function of the runs' content, below 60,000 bytes whatever the runs were.
pub fn render_comparison_markdown(comparison: &Comparison) -> String {
    markdown::compare::text(&compare::view(comparison))
}

/// Several runs side by side as one HTML page that needs no network and has no script.
///
/// A pure function of the runs' content, not of their paths.
pub fn render_comparison_html(comparison: &Comparison) -> String {
    html::compare::page(&compare::view(comparison))
}

/// The size of a cluster as text for a terminal, ending with a line break.
pub fn render_size_terminal(answer: &SizeAnswer, style: TerminalStyle) -> String {
    terminal::size::text(answer, style)
}

/// The size of a cluster as one HTML page that needs no network and has no script.
pub fn render_size_html(answer: &SizeAnswer) -> String {
    html::size::page(answer)
}

/// The ceilings of a machine as text for a terminal, ending with a line break.
pub fn render_ceiling_terminal(ceilings: &CeilingReport) -> String {
    ceiling::text(ceilings)
}

/// The runs below a folder as text for a terminal, ending with a line break.
pub fn render_run_list(parent: &Path, runs: &[(&ListedRun, Option<RunHeadline>)]) -> String {
    run_list::text(parent, runs)
}

/// The runs with their figures, for other programs.
pub fn run_list_json(runs: &[(&ListedRun, Option<RunHeadline>)]) -> impl Serialize {
    let listed = runs.iter().map(RunListing::of);
    listed.collect::<Vec<_>>()
}

/// The built-in scenarios and these studies as text for a terminal, ending with a line break.
pub fn render_study_list(studies: &[Study]) -> String {
    study_list::text(studies)
}

/// Studies with the questions that they answer, for other programs.
pub fn study_list_json(studies: &[Study]) -> impl Serialize {
    let listed = studies.iter().map(StudyListing::of);
    listed.collect::<Vec<_>>()
}

/// A page of the guide, which is Markdown, as plain text of this width, ending with a line break. Examples keep their
/// width.
pub fn render_guide(markdown: &str, width: usize) -> String {
    guide::text(markdown, width)
}
