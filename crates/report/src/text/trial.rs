//! What trials and settings are called, and why a trial has no figures.

use kgauge_analyze::summary::{Factor, Summary, TrialSummary};
use kgauge_results::run::RepeatOutcome;
use kgauge_scenario::{LISTED, ONE_AT_A_TIME};

/// Whether the values of a factor are names by themselves: of single changes and of listed combinations.
pub(crate) fn has_a_name(path: &str) -> bool {
    [ONE_AT_A_TIME, LISTED].contains(&path)
}

/// A trial's name in the report.
pub(crate) fn name(trial: &TrialSummary) -> String {
    if trial.factors.is_empty() {
        return if trial.name.is_empty() {
            &trial.scenario
        } else {
            &trial.name
        }
        .clone();
    }
    named(&trial.factors, |factor| {
        format!("{} = {}", factor.path, value(factor))
    })
}

/// The same next to the scenario's name and factor: `10 B`.
pub(crate) fn short(trial: &TrialSummary) -> String {
    match trial.factors.as_slice() {
        [factor] => value(factor).to_owned(),
        _ => name(trial),
    }
}

/// The same in a sentence: `10 B`, `batch.size 64 KiB, linger.ms 5`.
pub(crate) fn label(trial: &TrialSummary) -> String {
    match trial.factors.as_slice() {
        [] => trial.scenario.clone(),
        [factor] => value(factor).to_owned(),
        factors => settings(factors, &flows(std::slice::from_ref(&trial))),
    }
}

/// Settings with their values in a sentence: `batch.size 64 KiB, linger.ms 5`.
pub(crate) fn settings(factors: &[Factor], flows: &[&str]) -> String {
    named(factors, |factor| {
        format!("{} {}", setting(&factor.path, flows), value(factor))
    })
}

/// A value as written, of a constant shape its rate: `5k/s`.
pub(crate) fn value(factor: &Factor) -> &str {
    let shape = factor.value.strip_prefix("{constant: ");
    let rate = shape.filter(|_| factor.path.ends_with(".shape"));
    let rate = rate.and_then(|rate| rate.strip_suffix('}'));
    rate.unwrap_or(&factor.value)
}

fn named(factors: &[Factor], name: impl Fn(&Factor) -> String) -> String {
    let parts = factors.iter().map(|factor| match has_a_name(&factor.path) {
        true => factor.value.clone(),
        false => name(factor),
    });
    parts.collect::<Vec<String>>().join(", ")
}

/// The names of the flows of some trials, each once.
pub(crate) fn flows<'a>(trials: &[&'a TrialSummary]) -> Vec<&'a str> {
    let flows = trials.iter().flat_map(|trial| &trial.flows);
    let mut flows: Vec<&str> = flows.map(|flow| flow.name.as_str()).collect();
    flows.sort_unstable();
    flows.dedup();
    flows
}

/// `batch.size` for `writers.settings.batch.size`, `rate` for `writers.shape.constant`: the setting, as Kafka's
/// documentation or the user calls it.
pub(crate) fn setting(path: &str, flows: &[&str]) -> String {
    let of_flow = |name: &&str| path.strip_prefix(*name)?.strip_prefix('.');
    let path = flows.iter().find_map(of_flow).unwrap_or(path);
    let prefixes = ["settings.", "target."];
    let path = prefixes
        .iter()
        .find_map(|prefix| path.strip_prefix(*prefix))
        .unwrap_or(path);
    match path {
        "shape.constant" | "shape.poisson" => "rate".to_owned(),
        path => path.to_owned(),
    }
}

/// Why a trial has no figures.
pub(crate) fn missing(trial: &TrialSummary, summary: &Summary) -> String {
    if let Some(why) = &trial.not_measured {
        return format!("Not measured: {why}");
    }
    let failed = trial
        .repeats
        .iter()
        .find_map(|repeat| match &repeat.outcome {
            Some(RepeatOutcome::Failed { why }) => Some(format!("Not measured: {why}")),
            Some(RepeatOutcome::Interrupted) => Some("Not measured: interrupted.".to_owned()),
            _ => None,
        });
    failed.unwrap_or_else(|| match trial.repeats.is_empty() {
        true => format!(
            "Not started: the run was {} first.",
            summary.run.status.as_str()
        ),
        false => "Not measured: ended before the hold stage.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_called_what_its_user_calls_it() {
        let name = |path| setting(path, &["readers", "writers"]);
        assert_eq!(name("writers.settings.linger.ms"), "linger.ms");
        assert_eq!(name("writers.shape.constant"), "rate");
        assert_eq!(name("topic.partitions"), "topic.partitions");
        assert_eq!(name("target.memory"), "memory");
    }

    #[test]
    fn a_constant_shape_is_called_by_its_rate() {
        let factor = |path: &str, value: &str| Factor {
            path: path.to_owned(),
            value: value.to_owned(),
        };
        assert_eq!(value(&factor("writers.shape", "{constant: 5k/s}")), "5k/s");
        for (path, written) in [("writers.shape", "max"), ("listed", "{constant: 5k/s}")] {
            assert_eq!(value(&factor(path, written)), written);
        }
    }
}
