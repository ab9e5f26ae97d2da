//! What is said of a run before it begins: how much there is to do, and how long that takes.

use std::collections::BTreeSet;
use std::time::Duration;

use kgauge_scenario::{FlowPlan, Plan, Step, Trial};

use crate::progress::seconds;

/// What a flow at full speed is taken to write or read a second, where only its count of records ends it: less than
/// most do, so that nobody waits longer than was said.
const RECORDS_PER_S: f64 = 500e3;
const BYTES_PER_S: f64 = 150e6;

/// What the stages take together; a flow that ends by count is taken to need its whole hold, if there is one.
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
            None => trial.stages.hold_ns.unwrap_or_else(|| counted_ns(trial)),
        };
        preload_ns + trial.stages.warm_up_ns + hold_ns + BETWEEN_NS
    };
    Duration::from_nanos(steps.iter().enumerate().map(of_step).sum())
}

/// How long the flows of a trial take for their counts of records.
fn counted_ns(trial: &Trial) -> u64 {
    let writes = trial.flows.iter().filter_map(FlowPlan::produces);
    let seconds = writes.map(|flow| {
        let records = flow.records_max.unwrap_or(0) as f64;
        let rate = flow.shape.per_second_max().unwrap_or_else(|| {
            let bytes = flow.record.value_bytes_mean().max(1.0);
            RECORDS_PER_S.min(BYTES_PER_S / bytes)
        });
        records / rate.max(1e-9)
    });
    (seconds.fold(0.0, f64::max) * 1e9) as u64
}

/// What is done to the target, each once.
pub(super) fn faults(plan: &Plan, steps: &[Step]) -> Vec<String> {
    let mut faults = Vec::new();
    let runs = |trial: &&Trial| steps.iter().any(|step| step.trial == trial.index);
    for fault in plan
        .trials
        .iter()
        .filter(runs)
        .flat_map(|trial| &trial.faults)
    {
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
