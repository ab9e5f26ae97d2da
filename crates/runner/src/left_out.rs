//! Trials of a plan that a target cannot serve, or not well enough for a figure.

use kgauge_scenario::{Size, Trial};
use kgauge_target::TargetSpec;

use crate::observer::{Observer, RunEvent};
use crate::question::Question;
use crate::run_target::RunTarget;

/// Trials that the target cannot serve, and why.
pub(crate) fn left_out(
    question: &Question,
    target: &RunTarget,
    observer: &mut dyn Observer,
) -> Vec<(u32, String)> {
    let mut left: Vec<(u32, String)> = Vec::new();
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for trial in &question.trials {
        let cannot_serve = target.can_serve(trial).err().map(|error| error.to_string());
        let Some(why) = cannot_serve.or_else(|| too_many_brokers(trial, target, question.size))
        else {
            continue;
        };
        let reason = format!("of {}: {why}", trial.scenario);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
        left.push((trial.index, why));
    }
    for (words, count) in reasons {
        let plural = if count == 1 { "" } else { "s" };
        let message = format!("skipped {count} trial{plural} {words}");
        observer.observe(&RunEvent::Remark(&message));
    }
    left
}

/// With more Java brokers per core than this, a short run mostly measures how they start.
const BROKERS_PER_CORE_QUICK: u32 = 2;

/// Why `--quick` leaves out a trial that starts more brokers than this machine's cores can run.
fn too_many_brokers(trial: &Trial, target: &RunTarget, size: Size) -> Option<String> {
    let is_ours = matches!(target.spec, TargetSpec::Kafka(_));
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let brokers = trial.cluster.brokers_min();
    (is_ours && size == Size::Quick && brokers > cores.saturating_mul(BROKERS_PER_CORE_QUICK)).then(|| {
        format!(
            "{brokers} brokers would share {cores} cores, and --quick is too short for that; run it without --quick, \
             or on a larger machine"
        )
    })
}
