//! Writes summary, histogram logs and report from a run folder.

use std::path::Path;

use kgauge_analyze::Summary;
use kgauge_report::summary_json;
use kgauge_results::RunRead;
use kgauge_results::folder::{write_histogram_logs, write_report, write_summary};

use crate::error::{OrRunError, RunError};

/// Summarises a run folder and writes summary, histogram logs and report into it.
pub fn write_results(dir: &Path) -> Result<(RunRead, Summary), RunError> {
    let read = RunRead::open(dir).or_bad_input()?;
    let summary = Summary::of(&read);
    write_summary(dir, &summary_json(&summary).or_unwritable()?).or_unwritable()?;
    write_histogram_logs(&read).or_unwritable()?;
    write_report(dir, &kgauge_report::render_html(&read, &summary)).or_unwritable()?;
    Ok((read, summary))
}
