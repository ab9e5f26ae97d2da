//! Out of a run folder: summary, report, table.

use std::io::IsTerminal;
use std::path::Path;

use kgauge_analyze::Summary;
use kgauge_report::{TerminalStyle, summary_json};
use kgauge_results::RunRead;
use kgauge_results::folder::{write_histogram_logs, write_report, write_summary};

use crate::exit::{ExitStatus, OrStop};
use crate::print;

/// Makes summary and report out of a run folder, and prints the one or the other.
pub(crate) fn report(dir: &Path, json: bool) -> anyhow::Result<ExitStatus> {
    let (read, summary) = make(dir)?;
    if json {
        print::json(&summary_json(&summary)?)?;
    } else {
        print::result(&kgauge_report::render_terminal(
            &read,
            &summary,
            terminal_style(),
        ));
    }
    Ok(status(&summary))
}

/// Makes summary and report out of a run folder.
pub(super) fn make(dir: &Path) -> anyhow::Result<(RunRead, Summary)> {
    let read = RunRead::open(dir).or_bad_input()?;
    let summary = Summary::of(&read);
    write_summary(dir, &summary_json(&summary)?).or_unwritable()?;
    write_histogram_logs(&read).or_unwritable()?;
    write_report(dir, &kgauge_report::render_html(&read, &summary)).or_unwritable()?;
    Ok((read, summary))
}

/// The exit status that a summary stands for.
pub(crate) fn status(summary: &Summary) -> ExitStatus {
    match summary.exit_status {
        0 => ExitStatus::Good,
        2 => ExitStatus::BadInput,
        130 => ExitStatus::Interrupted,
        3 => ExitStatus::TargetFailed,
        _ => ExitStatus::Failed,
    }
}

/// How tables look on this standard output.
pub(crate) fn terminal_style() -> TerminalStyle {
    TerminalStyle {
        color: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        width: terminal_width(),
    }
}

/// The terminal's width, between what a table needs and what an eye follows.
fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let columns = size.filter(|size| size.ws_col > 0);
    usize::from(columns.map_or(80, |size| size.ws_col)).clamp(60, 120)
}
