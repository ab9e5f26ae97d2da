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
use std::time::Duration;

use kgauge_client::{ClientConfig, Cluster};
use kgauge_report::TerminalStyle;
use kgauge_results::folder::{write_histogram_logs, write_report, write_summary};
use kgauge_results::run::{EventKind, RunStatus};
use kgauge_results::{RunRead, Summary};
use kgauge_scenario::Plan;
use kgauge_target::{Target, TopicGuard};

use crate::args::Run;
use crate::exit::{ExitStatus, OrStop, with_cure};
use crate::interrupt;
use crate::place::unix_ms;
use crate::progress::ProgressLine;
use question::Question;
use repeat::Ended;
use session::Session;

/// How long cleaning up on somebody's cluster may take.
const CLEANING_TIME_MAX: Duration = Duration::from_secs(10);

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
        cluster,
        mut folder,
        topics,
        stopping: _,
        progress,
        keep,
        target_pids: _,
    } = session;
    drop(cluster);
    if keep {
        for topic in topics.keep() {
            progress.remark(&format!("kgauge: kept topic {topic}"));
        }
    } else if matches!(target, Target::Embedded(_)) {
        // Its data goes as a whole, with every topic in it.
        topics.keep();
    } else {
        delete_topics(topics, &target, &progress);
    }
    let (status, why) = match ended {
        Ok(Ended::Complete) => (RunStatus::Complete, None),
        Ok(Ended::Interrupted) => (
            RunStatus::Interrupted,
            Some("stopped by the user".to_owned()),
        ),
        Err(error) => (RunStatus::Failed, Some(error.to_string())),
    };
    let stopped = target.stop();
    folder.end(status, why, unix_ms()).or_failed()?;
    stopped.or_target_failed("")
}

/// Deletes what is left of the run's topics. It is tried whatever the user has pressed, for a bounded
/// time, on a connection of its own; a third signal ends the process.
fn delete_topics(topics: TopicGuard, target: &Target, progress: &ProgressLine) {
    if topics.topics().is_empty() {
        return;
    }
    let config = ClientConfig {
        api_timeout: CLEANING_TIME_MAX,
        ..target.config().clone()
    };
    match Cluster::bootstrap(config) {
        Ok(mut cluster) => {
            for left in topics.delete_all(&mut cluster) {
                progress.remark(&format!("kgauge: {}", with_cure(&left, left.cure())));
            }
        }
        Err(error) => {
            let names = topics.keep().join(", ");
            let words = format!("cannot delete topic {names}: {error}");
            progress.remark(&format!(
                "kgauge: {}",
                with_cure(&words, "delete it by hand")
            ));
        }
    }
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
