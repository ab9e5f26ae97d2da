//! `kgauge run`: the whole way from a question to a report.

mod cpu;
mod environment;
mod question;
mod repeat;
mod room;
mod session;
mod start;
mod trial;

use std::io::IsTerminal;
use std::path::Path;

use kgauge_report::TerminalStyle;
use kgauge_results::folder::{write_histogram_logs, write_report, write_summary};
use kgauge_results::run::{EventKind, RunStatus};
use kgauge_results::{RunRead, Summary};
use kgauge_scenario::Plan;

use crate::args::Run;
use crate::exit::{ExitStatus, OrStop, with_cure};
use crate::interrupt;
use crate::place::unix_ms;
use question::Question;
use repeat::Ended;
use session::Session;

/// Runs what the arguments name, keeps everything in a run folder, and reports.
pub(crate) fn run(arguments: &Run) -> anyhow::Result<ExitStatus> {
    let question = Question::read(arguments)?;
    let stopping = interrupt::listen("stopping; topics are deleted, then the report is written")?;
    let (mut session, plan) = start::start(arguments, &question, stopping)?;
    let ended = run_all(&mut session, &plan);
    let dir = session.folder.dir().to_owned();
    let closed = close(session, &ended);
    let reported = report(&dir, arguments.json);
    // The first thing that went wrong is what is said; the report has been written all the same.
    let ended = ended?;
    closed?;
    match ended {
        Ended::Interrupted => reported.map(|_| ExitStatus::Interrupted),
        Ended::Complete => reported,
    }
}

fn run_all(session: &mut Session, plan: &Plan) -> anyhow::Result<Ended> {
    for trial in &plan.trials {
        if trial::run_trial(session, plan, trial)? == Ended::Interrupted {
            return Ok(Ended::Interrupted);
        }
    }
    Ok(Ended::Complete)
}

/// Deletes what was made, stops what was started, and says how it ended.
fn close(session: Session, ended: &anyhow::Result<Ended>) -> anyhow::Result<()> {
    session.progress.end();
    if session.stopping.is_wanted() {
        session.event(None, EventKind::Interrupted);
    }
    let Session {
        target,
        mut cluster,
        mut folder,
        topics,
        stopping,
        progress,
        keep,
        target_pids: _,
    } = session;
    // The user's first signal ends the load, not the cleaning up after it.
    cluster.set_interrupt(stopping.all.clone());
    if keep {
        for topic in topics.keep() {
            progress.remark(&format!("kgauge: kept topic {topic}"));
        }
    } else {
        for left in topics.delete_all(&mut cluster) {
            progress.remark(&format!("kgauge: {}", with_cure(&left, left.cure())));
        }
    }
    let (status, why) = match ended {
        Ok(Ended::Complete) => (RunStatus::Complete, None),
        Ok(Ended::Interrupted) => (
            RunStatus::Interrupted,
            Some("stopped by the user".to_owned()),
        ),
        Err(error) => (RunStatus::Failed, Some(error.to_string())),
    };
    drop(cluster);
    let stopped = target.stop();
    folder.end(status, why, unix_ms()).or_failed()?;
    stopped.or_target_failed("")
}

/// Makes summary and report out of a run folder, and prints the one or the other.
#[allow(clippy::print_stdout)]
pub(crate) fn report(dir: &Path, json: bool) -> anyhow::Result<ExitStatus> {
    let read = RunRead::open(dir).or_bad_input()?;
    let summary = Summary::of(&read);
    write_summary(dir, &summary).or_failed()?;
    write_histogram_logs(&read).or_failed()?;
    write_report(dir, &kgauge_report::render_html(&read, &summary)).or_failed()?;
    if json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let style = TerminalStyle {
            color,
            width: terminal_width(),
        };
        print!("{}", kgauge_report::render_terminal(&read, &summary, style));
    }
    Ok(match summary.exit_status {
        0 => ExitStatus::Good,
        130 => ExitStatus::Interrupted,
        3 => ExitStatus::TargetFailed,
        _ => ExitStatus::Failed,
    })
}

/// The terminal's width, between what a table needs and what an eye follows.
fn terminal_width() -> usize {
    let (_, columns) = console_size().unwrap_or((24, 80));
    usize::from(columns).clamp(60, 120)
}

fn console_size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some((size.ws_row, size.ws_col))
}
