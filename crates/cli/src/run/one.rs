//! A run on one target: start, trials, end, report.

use std::path::PathBuf;

use kgauge_scenario::Plan;

use super::close::close;
use super::output;
use super::question::Question;
use super::repeat::Ended;
use super::session::Session;
use super::start::{self, Order};
use super::targets::NamedTarget;
use super::trial;
use crate::args::Run;
use crate::exit::ExitStatus;
use crate::interrupt::Stopping;

/// A run that began: where its folder is, and how it ended.
pub(super) struct Finished {
    pub(super) dir: PathBuf,
    /// Why it did not come to its end.
    pub(super) ended: anyhow::Result<Ended>,
}

/// Runs on one target, and prints its report.
pub(super) fn run(
    arguments: &Run,
    question: &Question,
    target: &NamedTarget,
    stopping: Stopping,
) -> anyhow::Result<ExitStatus> {
    let order = Order {
        arguments,
        question,
        target,
        dir: arguments.out.clone(),
        seed: arguments.seed,
        beside: None,
    };
    let finished = measure(&order, stopping)?;
    let reported = output::report(&finished.dir, arguments.json);
    // The first thing that went wrong is what is said; the report has been written all the same.
    match finished.ended? {
        Ended::Interrupted => reported.map(|_| ExitStatus::Interrupted),
        Ended::Complete => reported,
    }
}

/// Runs on one target. An error means that nothing began, and that there is no folder.
pub(super) fn measure(order: &Order<'_>, stopping: Stopping) -> anyhow::Result<Finished> {
    let (mut session, plan) = start::start(order, stopping)?;
    let ended = run_all(&mut session, &plan);
    let dir = session.folder.dir().to_owned();
    let closed = close(session, &ended);
    let ended = ended.and_then(|ended| closed.map(|()| ended));
    Ok(Finished { dir, ended })
}

fn run_all(session: &mut Session, plan: &Plan) -> anyhow::Result<Ended> {
    for trial in &plan.trials {
        if trial::run_trial(session, plan, trial)? == Ended::Interrupted {
            return Ok(Ended::Interrupted);
        }
    }
    Ok(Ended::Complete)
}
