//! How far a need lies outside of what was measured, and which trials would have to be made.

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::{TRIALS_MIN, setup_count, setups_needed};
use super::facts::TrialFacts;
use super::need::SizingNeed;

/// Beyond this factor outside of what was measured there is no answer.
pub(super) const EXTRAPOLATION_MAX: f64 = 2.0;
/// Keys and headers make records a little larger than their values; frames make fan-outs a little smaller.
const TOLERANCE: f64 = 1.1;
/// So few replicas of a broker are marked, but never refused: no published limit is below a thousand.
const REPLICAS_ALWAYS: f64 = 100.0;

/// A respect in which a need lies outside of what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Extrapolation {
    /// Which.
    pub respect: SizingRespect,
    /// What is needed.
    pub needed: f64,
    /// The nearest that was measured.
    pub measured: f64,
}

/// Respects in which loads differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizingRespect {
    /// Bytes of a record.
    RecordBytes,
    /// How often each record is read.
    FanOut,
    /// Replicas of each partition.
    Replication,
    /// The used part of the busiest broker's CPU.
    CpuPart,
    /// Replicas of a broker.
    ReplicasPerBroker,
}

/// A trial that would have to be made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingTrial {
    /// At least this number of others, with other batch and record sizes.
    More {
        /// How many.
        trials: u32,
    },
    /// With clients that use TLS.
    Tls,
    /// With a codec.
    Compression,
    /// With brokers that compress again.
    Recompression,
    /// At a rate that is planned, for response times.
    ScheduledRate,
    /// Nearer to the need in one respect.
    Nearer(Extrapolation),
}

impl Extrapolation {
    /// How far it is, as a factor of at least 1.
    pub fn factor(&self) -> f64 {
        (self.needed / self.measured).max(self.measured / self.needed)
    }

    fn is_outside(&self) -> bool {
        self.factor() > TOLERANCE
    }

    /// Whether it is so far that there is no answer.
    pub(super) fn is_too_far(&self) -> bool {
        let is_few =
            self.respect == SizingRespect::ReplicasPerBroker && self.needed <= REPLICAS_ALWAYS;
        self.factor() > EXTRAPOLATION_MAX && !is_few
    }

    /// A value above the largest that was measured. A smaller one is covered: costs add up, and one that trials do not
    /// tell apart makes the answer too large.
    fn above(
        respect: SizingRespect,
        needed: f64,
        measured: impl Iterator<Item = f64>,
    ) -> Option<Extrapolation> {
        let largest = measured.fold(0.0, f64::max);
        let outside = Extrapolation {
            respect,
            needed,
            measured: largest,
        };
        (needed > largest && outside.is_outside()).then_some(outside)
    }
}

/// In which respects a need lies outside of what was measured, whatever the machines are.
pub(super) fn outside(need: &SizingNeed, trials: &[&TrialFacts]) -> Vec<Extrapolation> {
    let fan_outs = trials.iter().map(|facts| facts.fan_out());
    let replicas = trials.iter().map(|facts| f64::from(facts.replication));
    let found = [
        record_bytes(need, trials),
        Extrapolation::above(SizingRespect::FanOut, need.fan_out, fan_outs),
        Extrapolation::above(
            SizingRespect::Replication,
            f64::from(need.replication),
            replicas,
        ),
    ];
    found.into_iter().flatten().collect()
}

/// In which respects a cluster lies outside of what was measured.
pub(super) fn outside_of_cluster(
    cpu_part: f64,
    replicas_per_broker: f64,
    trials: &[&TrialFacts],
) -> Vec<Extrapolation> {
    let parts = trials.iter().filter_map(|facts| facts.busiest_part());
    let replicas = trials.iter().map(|facts| {
        f64::from(facts.partitions) * f64::from(facts.replication) / f64::from(facts.brokers.max(1))
    });
    let found = [
        Extrapolation::above(SizingRespect::CpuPart, cpu_part, parts),
        Extrapolation::above(
            SizingRespect::ReplicasPerBroker,
            replicas_per_broker,
            replicas,
        ),
    ];
    found.into_iter().flatten().collect()
}

/// Record sizes matter in both directions: batches of few records are others than batches of many.
fn record_bytes(need: &SizingNeed, trials: &[&TrialFacts]) -> Option<Extrapolation> {
    let sizes = || trials.iter().map(|facts| facts.mean_record_bytes());
    let smallest = sizes().reduce(f64::min)?;
    let largest = sizes().reduce(f64::max)?;
    let outside = Extrapolation {
        respect: SizingRespect::RecordBytes,
        needed: need.record_bytes,
        measured: need.record_bytes.clamp(smallest, largest),
    };
    outside.is_outside().then_some(outside)
}

/// The trials without which the need cannot be sized.
pub(super) fn missing(
    need: &SizingNeed,
    trials: &[&TrialFacts],
    is_compressed: bool,
) -> Vec<MissingTrial> {
    let mut missing = Vec::new();
    let has = |shows: fn(&TrialFacts) -> bool| trials.iter().any(|facts| shows(facts));
    let setups = setup_count(trials);
    let needed = match setups < TRIALS_MIN {
        true => TRIALS_MIN,
        false => setups_needed(need, is_compressed),
    };
    if setups < needed {
        let trials = u32::try_from(needed - setups).unwrap_or(u32::MAX);
        missing.push(MissingTrial::More { trials });
    }
    let kinds = [
        (need.tls, has(|facts| facts.tls), MissingTrial::Tls),
        (
            is_compressed,
            has(|facts| facts.codec.is_some()),
            MissingTrial::Compression,
        ),
        (
            need.recompressed,
            has(|facts| facts.is_recompressed),
            MissingTrial::Recompression,
        ),
        (
            need.latency_ns_p99.is_some(),
            has(|facts| facts.latency_ns_p99.is_some()),
            MissingTrial::ScheduledRate,
        ),
    ];
    for (is_needed, is_there, trial) in kinds {
        if is_needed && !is_there {
            missing.push(trial);
        }
    }
    let too_far = outside(need, trials).into_iter();
    missing.extend(
        too_far
            .filter(Extrapolation::is_too_far)
            .map(MissingTrial::Nearer),
    );
    missing
}
