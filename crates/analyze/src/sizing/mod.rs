//! Sizing: from measured runs to the number of machines for another load.
//!
//! Costs of requests, batches and bytes are fitted to the trials. A machine type's capacity is the least of what its
//! processors, network, disks, memory and partitions can do after the planned losses. docs/decisions/size.md has the
//! model, its sources and what it leaves out.

mod answer;
mod cost;
mod demand;
mod facts;
mod least_squares;
mod machine;
mod need;
mod resources;
mod rules;
#[cfg(test)]
mod tests;

pub use answer::{
    Extrapolation, MachineChoice, MissingTrial, PartitionNeed, SizeAnswer, SizingBasis,
    SizingRespect, UnusableTrials,
};
pub use cost::{CostTerm, TRIALS_MIN, TermCost};
pub use demand::{ClientHabits, PeakLoad};
pub use facts::{MeasuredRelease, SizingMachine, TrialFacts, UnusableTrial, trial_facts};
pub use machine::{MachineTableError, MachineType};
pub use need::SizingNeed;
pub use resources::{
    BROKERS_MAX, CACHE_S, CPU_PART_MAX, HEAP_BYTES, REPLICAS_MAX, ResourceNeed, SPACE_PART_MAX,
    SizingResource, THROUGHPUT_PART_MAX,
};
pub use rules::{RuleAnswer, SizingRule};

use cost::CostModel;
use demand::mean_record_bytes;
use resources::Sizing;

/// Beyond this factor outside of what was measured there is no answer.
pub const EXTRAPOLATION_MAX: f64 = 2.0;
/// Hours of a month, as providers count them.
const MONTH_HOURS: f64 = 730.0;
/// Each partition's newest segment is not deleted, however old its records are; Kafka's default size.
const SEGMENT_BYTES: f64 = 1_073_741_824.0;

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
        /// Trials that say nothing, and why.
        unusable: Vec<UnusableTrials>,
    },
    /// The response time was too long at every measured rate.
    GoalOutOfReach {
        /// The shortest 99th percentile, in nanoseconds.
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
    let usable: Vec<&TrialFacts> = trials.iter().filter(|facts| facts.is_usable()).collect();
    let basis = basis(trials, &usable)?;
    let missing = missing(need, &usable);
    if !missing.is_empty() {
        let unusable = basis.unusable;
        return Err(SizeError::Missing {
            trials: missing,
            unusable,
        });
    }
    let costs = CostModel::fit(&usable);
    let habits = ClientHabits::of(&usable, need);
    let load = PeakLoad::of(need, &habits);
    let partitions = partitions(need, &usable);
    let sizing = Sizing {
        need,
        load: &load,
        costs: &costs,
        skew: habits.skew,
        partitions: f64::from(partitions.partitions),
        in_bytes_per_core_max: latency_limit(need, &usable)?,
    };
    let stored_bytes = stored_bytes(need, &habits, &partitions);
    let mut choices: Vec<MachineChoice> = machines
        .iter()
        .filter_map(|machine| choice(&sizing, machine, stored_bytes))
        .collect();
    choices.sort_by(|one, other| {
        let price = |choice: &MachineChoice| choice.price_per_month.unwrap_or(f64::INFINITY);
        price(one)
            .total_cmp(&price(other))
            .then(one.brokers.cmp(&other.brokers))
    });
    if choices.is_empty() {
        return Err(SizeError::NoMachine);
    }
    Ok(SizeAnswer {
        need: need.clone(),
        basis,
        habits,
        load,
        costs: costs.terms(),
        cost_error: costs.error_median(),
        partitions,
        stored_bytes,
        choices,
        extrapolated: record_size_outside(need, &usable).into_iter().collect(),
    })
}

/// Who the usable trials are. They must be of one release and one kind of machine.
fn basis(trials: &[TrialFacts], usable: &[&TrialFacts]) -> Result<SizingBasis, SizeError> {
    let mut basis = SizingBasis {
        trials: u32::try_from(usable.len()).unwrap_or(u32::MAX),
        runs: Vec::new(),
        release: MeasuredRelease::default(),
        machine: SizingMachine::default(),
        unusable: Vec::new(),
        generator_limited: 0,
    };
    let mut releases: Vec<MeasuredRelease> = Vec::new();
    let mut machines: Vec<SizingMachine> = Vec::new();
    for facts in usable {
        push_new(&mut releases, &facts.release);
        push_new(&mut machines, &facts.machine);
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

/// The trials without which the need cannot be sized.
fn missing(need: &SizingNeed, usable: &[&TrialFacts]) -> Vec<MissingTrial> {
    let mut missing = Vec::new();
    let has = |shows: fn(&TrialFacts) -> bool| usable.iter().any(|facts| shows(facts));
    if usable.len() < TRIALS_MIN {
        let trials = u32::try_from(TRIALS_MIN - usable.len()).unwrap_or(u32::MAX);
        missing.push(MissingTrial::More { trials });
    }
    if need.replication > 1 && !has(|facts| facts.replication > 1) {
        missing.push(MissingTrial::Replication);
    }
    if need.fan_out > 0.0 && !has(|facts| facts.out_bytes > 0.0) {
        missing.push(MissingTrial::Consumers);
    }
    if need.tls && !has(|facts| facts.tls) {
        missing.push(MissingTrial::Tls);
    }
    if need.latency_ns_p99.is_some() && !has(|facts| facts.latency_ns_p99.is_some()) {
        missing.push(MissingTrial::ScheduledRate);
    }
    let outside = record_size_outside(need, usable);
    if outside.is_some_and(|outside| outside.factor() > EXTRAPOLATION_MAX) {
        missing.push(MissingTrial::RecordBytes {
            bytes: need.record_bytes,
        });
    }
    missing
}

/// The need's record size, if no trial had records that small or that large.
fn record_size_outside(need: &SizingNeed, usable: &[&TrialFacts]) -> Option<Extrapolation> {
    let sizes = || usable.iter().map(|facts| mean_record_bytes(facts));
    let smallest = sizes().reduce(f64::min)?;
    let largest = sizes().reduce(f64::max)?;
    let needed = need.record_bytes;
    let measured = needed.clamp(smallest, largest);
    // Keys and headers make records a little larger than their values.
    let outside = Extrapolation {
        respect: SizingRespect::RecordBytes,
        needed,
        measured,
    };
    (outside.factor() > 1.05).then_some(outside)
}

/// max(T / P, T / C), with P and C as measured on one partition, and at least one leader for each broker that a peak
/// needs. Rao, "How to choose the number of topics/partitions in a Kafka cluster?", 2015.
fn partitions(need: &SizingNeed, usable: &[&TrialFacts]) -> PartitionNeed {
    let of_one = || {
        usable
            .iter()
            .filter(|facts| facts.partitions == 1 && !facts.is_generator_limited)
    };
    let written = of_one()
        .filter(|facts| facts.is_closed_loop)
        .map(|facts| facts.logical_bytes);
    let ratio = |facts: &TrialFacts| facts.compression_ratio();
    let read = of_one()
        .filter(|facts| facts.out_bytes > 0.0)
        .map(|facts| facts.out_bytes * ratio(facts));
    let produce = written.reduce(f64::max);
    let consume = read.reduce(f64::max);
    let peak = need.peak_bytes_per_s();
    let slowest = produce.into_iter().chain(consume).reduce(f64::min);
    let count = slowest.map_or(1.0, |slowest| (peak / slowest).ceil().max(1.0));
    PartitionNeed {
        partitions: (count.min(f64::from(u32::MAX)) as u32).max(need.replication),
        produce_bytes_per_s: produce,
        consume_bytes_per_s: consume,
    }
}

/// Bytes per second that a core of a broker took in, at the highest measured rate that kept the goal.
fn latency_limit(need: &SizingNeed, usable: &[&TrialFacts]) -> Result<Option<f64>, SizeError> {
    let Some(goal) = need.latency_ns_p99 else {
        return Ok(None);
    };
    let scheduled = usable.iter().filter_map(|facts| {
        let cores = f64::from(facts.machine.processors?);
        Some((facts.in_bytes / cores, facts.latency_ns_p99?))
    });
    let scheduled: Vec<(f64, f64)> = scheduled.collect();
    let kept = scheduled.iter().filter(|(_, p99)| *p99 <= goal);
    match kept.map(|(rate, _)| *rate).reduce(f64::max) {
        Some(rate) => Ok(Some(rate)),
        None => {
            let best = scheduled.iter().map(|(_, p99)| *p99).reduce(f64::min);
            Err(SizeError::GoalOutOfReach {
                best_ns: best.unwrap_or_default(),
            })
        }
    }
}

/// Retention at the average rate, and the newest segment of each replica.
fn stored_bytes(need: &SizingNeed, habits: &ClientHabits, partitions: &PartitionNeed) -> f64 {
    let kept = need.rate_bytes_per_s / habits.compression_ratio * need.retention_s;
    // A segment that is not full yet counts as kept records; one that is too small to roll within retention is less
    // than what is kept.
    let segments = f64::from(partitions.partitions) * SEGMENT_BYTES.min(kept);
    (kept + segments) * f64::from(need.replication)
}

fn choice(sizing: &Sizing<'_>, machine: &MachineType, stored_bytes: f64) -> Option<MachineChoice> {
    let (brokers, resources) = sizing.resources(machine);
    if brokers >= BROKERS_MAX {
        return None;
    }
    let binding = resources.iter().max_by_key(|need| need.brokers)?.resource;
    let other = resources
        .iter()
        .filter(|need| need.interval.is_none())
        .map(|need| need.brokers)
        .max();
    let other = other.unwrap_or(1);
    let interval = resources.iter().find_map(|need| need.interval);
    let end = |value: Option<f64>| value.map_or(brokers, |value| (value as u32).max(other));
    let disk_bytes_each = stored_bytes / SPACE_PART_MAX / f64::from(brokers);
    let hours = machine
        .price_per_hour
        .map(|price| price * MONTH_HOURS * f64::from(brokers));
    let disks = machine
        .disk_price_per_gb_month
        .map_or(0.0, |price| price * stored_bytes / SPACE_PART_MAX / 1e9);
    Some(MachineChoice {
        machine: machine.clone(),
        brokers,
        brokers_low: end(interval.map(|interval| interval.low)).min(brokers),
        brokers_high: end(interval.map(|interval| interval.high)).max(brokers),
        binding,
        rules: rules::rules(sizing.need, sizing.load, machine),
        resources,
        disk_bytes_each,
        price_per_month: hours.map(|hours| hours + disks),
    })
}
