//! What is said of a run before it begins: how much there is to do, and how long that takes.

use std::collections::BTreeSet;
use std::time::Duration;

use kgauge_scenario::{Plan, Step};

use crate::progress::seconds;

/// What the stages take together; a flow that ends by count is taken to need its whole hold.
pub(super) fn planned_time(plan: &Plan, steps: &[Step]) -> Duration {
    /// Creating and deleting a topic, connecting, the last answers.
    const BETWEEN_NS: u64 = 300_000_000;
    let of_step = |(index, step): (usize, &Step)| {
        let Some(trial) = plan.trials.get(step.trial as usize) else {
            return 0;
        };
        // A preload is made once for repeats that share it, and these follow each other.
        let is_first = index == 0
            || steps
                .get(index - 1)
                .is_none_or(|one| one.trial != step.trial);
        let preload = trial.topic.preload.as_ref();
        let preload_ns = preload
            .filter(|_| is_first || !trial.only_reads())
            .map_or(0, |preload| preload.records * 400);
        let hold_ns = match preload {
            Some(preload) => (preload.records * 300).min(trial.stages.hold_ns.unwrap_or(u64::MAX)),
            None => trial.stages.hold_ns.unwrap_or(60_000_000_000),
        };
        preload_ns + trial.stages.warm_up_ns + hold_ns + BETWEEN_NS
    };
    Duration::from_nanos(steps.iter().enumerate().map(of_step).sum())
}

/// What is done to the target, each once.
pub(super) fn faults(plan: &Plan) -> Vec<String> {
    let mut faults = Vec::new();
    for fault in plan.trials.iter().flat_map(|trial| &trial.faults) {
        let words = fault.to_string();
        if !faults.contains(&words) {
            faults.push(words);
        }
    }
    faults
}

pub(super) fn announcement(
    plan: &Plan,
    steps: &[Step],
    (dir, is_resumed): (&str, bool),
    planned: Duration,
) -> String {
    let what = match &plan.study {
        Some(study) => format!("study {}", study.name),
        None => plan
            .trials
            .first()
            .map_or_else(String::new, |trial| trial.scenario.clone()),
    };
    let trials: BTreeSet<u32> = steps.iter().map(|step| step.trial).collect();
    let left = if is_resumed { "left to do" } else { "in all" };
    format!(
        "kgauge: {what}, {} trials, {} repeats {left}, about {}; seed {}; results in {dir}",
        trials.len(),
        steps.len(),
        seconds(planned),
        plan.seed
    )
}
