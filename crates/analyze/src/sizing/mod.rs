//! Sizing: from measured runs to the number of machines for another load.
//!
//! Costs of requests, batches and bytes are fitted to the trials. A machine type's capacity is the least of what its
//! processors, network, disks, memory and partitions can do after the planned losses. docs/decisions/size.md has the
//! model, its sources and what it leaves out.

mod answer;
mod choice;
mod compression;
mod cost;
mod curve;
mod demand;
mod draws;
mod estimate;
mod facts;
mod least_squares;
mod machine;
mod need;
mod predict;
mod price;
mod range;
mod resources;
mod rules;
#[cfg(test)]
mod tests;

pub use answer::{MachineChoice, PartitionNeed, SizeAnswer, SizingBasis, UnusableTrials};
pub use compression::{CodecRatio, RecordSample, SampleBlock};
pub use cost::{CostTerm, TermCost};
pub use curve::LatencyReading;
pub use demand::{ClientHabits, PeakLoad};
pub use facts::{MeasuredRelease, SizingMachine, TrialFacts, UnusableTrial, trial_facts};
pub use machine::{MachineTableError, MachineType};
pub use need::{NeededCompression, SizingNeed};
pub use predict::{GivenCluster, PredictedCapacity, predict_capacity};
pub use price::MonthlyPrice;
pub use range::{Extrapolation, MissingTrial, SizingRespect};
pub use resources::{
    BROKERS_MAX, HEAP_BYTES, PlannedUse, REPLICAS_MAX, ResourceNeed, SizingResource,
};
pub use rules::{RuleAnswer, SizingRule};

use choice::choices;
use demand::HabitTrials;
use estimate::{Estimate, Estimates};
use resources::Sizing;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeError {
    /// Trials ran on different releases.
    Releases(Vec<MeasuredRelease>),
    /// Trials ran on different machines.
    Machines(Vec<SizingMachine>),
    /// Trials are missing.
    Missing {
        /// Which.
        trials: Vec<MissingTrial>,
        /// Those that there are.
        basis: Box<SizingBasis>,
    },
    /// The response time was too long at every measured rate.
    GoalOutOfReach {
        /// The goal, in nanoseconds.
        goal_ns: f64,
        /// The shortest 99th percentile that was measured.
        best_ns: f64,
    },
    /// No machine type can do it, whatever their number.
    NoMachine,
}

/// Sizes a cluster: what `need` needs of each of the `machines`, from what `trials` cost.
pub fn size(
    need: &SizingNeed,
    trials: &[TrialFacts],
    machines: &[MachineType],
) -> Result<SizeAnswer, SizeError> {
    let (basis, usable, estimates) = estimated(need, trials)?;
    let expected = Sizing::new(need, &estimates.expected, PlannedUse::SAFE);
    let choices = match choices(need, &usable, &estimates, machines) {
        Ok(choices) => choices,
        Err(missing) if missing.is_empty() => return Err(SizeError::NoMachine),
        Err(trials) => {
            let basis = Box::new(basis);
            return Err(SizeError::Missing { trials, basis });
        }
    };
    Ok(SizeAnswer {
        need: need.clone(),
        basis,
        sample: None,
        habits: estimates.expected.habits,
        load: expected.load,
        costs: estimates.model.terms(),
        cost_error: estimates.model.error_median(),
        entangled: estimates.model.entangled.clone(),
        partitions: partition_need(need, &estimates),
        choices,
        extrapolated: range::outside(need, &usable),
    })
}

/// Mean bytes of the record batches that producers made of records of this size, in the trials with the most similar
/// ones; `None` without trials.
pub fn batch_bytes(need: &SizingNeed, trials: &[TrialFacts]) -> Option<f64> {
    let usable: Vec<&TrialFacts> = trials.iter().filter(|facts| facts.is_usable()).collect();
    let habits = (!usable.is_empty()).then(|| HabitTrials::of(&usable, need).expected(need))?;
    Some(habits.batch_bytes.max(need.record_bytes))
}

/// The usable trials and what is estimated from them, if they suffice.
fn estimated<'a>(
    need: &SizingNeed,
    trials: &'a [TrialFacts],
) -> Result<(SizingBasis, Vec<&'a TrialFacts>, Estimates), SizeError> {
    let usable: Vec<&TrialFacts> = trials.iter().filter(|facts| facts.is_usable()).collect();
    let basis = basis(trials, &usable)?;
    let is_compressed = HabitTrials::of(&usable, need).expected(need).is_compressed;
    let missing = range::missing(need, &usable, is_compressed);
    if !missing.is_empty() {
        return Err(SizeError::Missing {
            trials: missing,
            basis: Box::new(basis),
        });
    }
    match Estimates::of(&usable, need) {
        Some(estimates) => Ok((basis, usable, estimates)),
        None => {
            let shortest = usable.iter().filter_map(|facts| facts.latency_ns_p99);
            let best_ns = shortest.reduce(f64::min).unwrap_or_default();
            let goal_ns = need.latency_ns_p99.unwrap_or_default();
            Err(SizeError::GoalOutOfReach { goal_ns, best_ns })
        }
    }
}

/// Who the usable trials are. They must be of one release and one kind of machine.
fn basis(trials: &[TrialFacts], usable: &[&TrialFacts]) -> Result<SizingBasis, SizeError> {
    let mut basis = SizingBasis {
        trials: u32::try_from(usable.len()).unwrap_or(u32::MAX),
        ..SizingBasis::default()
    };
    let mut releases: Vec<MeasuredRelease> = Vec::new();
    let mut machines: Vec<SizingMachine> = Vec::new();
    for facts in usable {
        push_new(&mut releases, &facts.release);
        if !machines.iter().any(|known| known.is_same(&facts.machine)) {
            machines.push(facts.machine.clone());
        }
        push_new(&mut basis.runs, &facts.run_id);
        basis.generator_limited += u32::from(facts.is_generator_limited);
    }
    for why in trials.iter().filter_map(|facts| facts.unusable) {
        match basis.unusable.iter_mut().find(|known| known.why == why) {
            Some(known) => known.trials += 1,
            None => basis.unusable.push(UnusableTrials { why, trials: 1 }),
        }
    }
    if releases.len() > 1 {
        return Err(SizeError::Releases(releases));
    }
    if machines.len() > 1 {
        return Err(SizeError::Machines(machines));
    }
    basis.release = releases.pop().unwrap_or_default();
    basis.machine = machines.pop().unwrap_or_default();
    Ok(basis)
}

fn push_new<T: Clone + PartialEq>(known: &mut Vec<T>, value: &T) {
    if !known.contains(value) {
        known.push(value.clone());
    }
}

fn partition_need(need: &SizingNeed, estimates: &Estimates) -> PartitionNeed {
    let of = |estimate: &Estimate| Sizing::new(need, estimate, PlannedUse::SAFE).partitions_min();
    let partitions = of(&estimates.expected);
    let produce = estimates.expected.produce_bytes_per_s;
    PartitionNeed {
        partitions,
        interval: estimates.interval(f64::from(partitions), |estimate| f64::from(of(estimate))),
        produce_bytes_per_s: produce,
        consume_bytes_per_s: estimates.expected.consume_bytes_per_s,
        rule_partitions: produce.map(|produce| {
            let rounded_down = (need.peak_bytes_per_s() / produce).floor();
            rounded_down.clamp(1.0, 1e6) as u32
        }),
    }
}
