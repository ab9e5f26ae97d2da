//! The partition formula of a study, with what was measured.

use kgauge_scenario::PartitionFormula;

use crate::statistics::Spread;
use crate::summary::partitions::{PartitionsNeeded, PartitionsOfRate};
use crate::summary::{GeneratorState, TrialSummary};
use kgauge_results::folder::RunRead;

/// What the study's formula comes to; none without a formula, or when one of its figures was not measured.
pub(super) fn needed(run: &RunRead, trials: &[TrialSummary]) -> Option<PartitionsNeeded> {
    let study = run.plan.as_ref()?.study.as_ref()?;
    let formula: &PartitionFormula = study.partition_formula.as_ref()?;
    let mut is_limited = false;
    let mut rate_of = |(scenario, flow): &(String, String)| -> Option<Spread> {
        let mut of_scenario = trials.iter().filter(|trial| trial.scenario == *scenario);
        let (trial, None) = (of_scenario.next()?, of_scenario.next()) else {
            return None;
        };
        let flow = trial.flows.iter().find(|one| one.name == *flow)?;
        // Whoever changed these asks something else.
        let partitions = trial.topic.as_ref().map(|topic| topic.partitions);
        if partitions != Some(1) || flow.members != Some(1) {
            return None;
        }
        is_limited |= trial.generator.word == GeneratorState::Limited;
        let throughput = flow.throughput.as_ref()?;
        Some(throughput.records_per_s.clone())
    };
    let (produce, consume) = (rate_of(&formula.produce)?, rate_of(&formula.consume)?);
    let low = |spread: &Spread| spread.ci95.map(|interval| interval.low);
    let cautious = low(&produce).zip(low(&consume));
    let of_rate = |&rate_per_s: &u64| {
        Some(PartitionsOfRate {
            rate_per_s,
            partitions: partitions(rate_per_s, produce.mean, consume.mean)?,
            partitions_cautious: cautious
                .and_then(|(produce, consume)| partitions(rate_per_s, produce, consume)),
        })
    };
    let rates: Vec<PartitionsOfRate> = formula
        .rates_per_s
        .iter()
        .map(of_rate)
        .collect::<Option<_>>()?;
    Some(PartitionsNeeded {
        is_limited,
        produce_per_s: produce,
        consume_per_s: consume,
        rates,
    })
}

/// max(T / P, T / C), rounded up; none for rates that are no rates.
fn partitions(rate_per_s: u64, produce_per_s: f64, consume_per_s: f64) -> Option<u64> {
    let least = produce_per_s.min(consume_per_s);
    (least > 0.0).then(|| (rate_per_s as f64 / least).ceil().max(1.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_side_decides_and_parts_are_rounded_up() {
        // 10 M / 300 k = 33.3; 10 M / 984 k = 10.2.
        assert_eq!(partitions(10_000_000, 300_000.0, 984_000.0), Some(34));
        assert_eq!(partitions(10_000_000, 984_000.0, 300_000.0), Some(34));
        assert_eq!(partitions(600_000, 300_000.0, 300_000.0), Some(2));
        assert_eq!(partitions(1, 300_000.0, 300_000.0), Some(1));
        assert_eq!(partitions(1, 0.0, 300_000.0), None);
        assert_eq!(partitions(1, -5.0, 300_000.0), None);
    }
}
