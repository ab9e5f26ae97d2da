//! The frame of a run: the part of its folder that does not grow.

use kgauge_results::RunRead;
use kgauge_results::run::RunStatus;

/// A copy of the frame with only one trial.
pub(crate) fn of_trial(frame: &RunRead, trial: u32) -> RunRead {
    let mut run = frame.clone();
    run.status = RunStatus::Running;
    if let Some(plan) = &mut run.plan {
        plan.trials.retain(|planned| planned.index == trial);
    }
    run
}
