//! Slices: one flow, one stage, one second, folded. Slices of one key add exactly.

pub mod counts;
pub mod errors;
mod kind;
pub mod line;

pub use counts::Counts;
pub use errors::{ErrorCount, ErrorCounts, SendOutcome, error_name};
pub use kind::TimeKind;

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::stage::{SECOND_NS, Stage, StageBorders};

/// A record counts as late when it is handed over more than this after its intended time: 1 ms, which timers of the
/// pacing kind reach with ease (wrk2 promises as much) and below which few people read Kafka latencies.
pub const LATE_AFTER_NS: u64 = 1_000_000;

/// What a slice is of. The second counts from the start of the repeat, 0 first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SliceKey {
    /// Position of the flow in its trial.
    pub flow: u16,
    /// The stage.
    pub stage: Stage,
    /// The second.
    pub second: u32,
}

impl SliceKey {
    /// The key of a moment.
    pub fn at(flow: u16, at_ns: u64, borders: &StageBorders) -> SliceKey {
        SliceKey {
            flow,
            stage: borders.stage_at(at_ns),
            second: u32::try_from(at_ns / SECOND_NS).unwrap_or(u32::MAX),
        }
    }
}

/// One flow, one stage, one second (or several added up: then the key is the first one's).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// What it is of.
    pub key: SliceKey,
    /// What is simply counted.
    pub counts: Counts,
    /// What did not go well, by code.
    pub errors: ErrorCounts,
    times: [Histogram; TimeKind::COUNT],
}

impl Slice {
    /// An empty one. Its histograms are large but cost memory only where they are counted in.
    pub fn new(key: SliceKey) -> Slice {
        Slice {
            key,
            counts: Counts::default(),
            errors: ErrorCounts::default(),
            times: std::array::from_fn(|_| Histogram::new()),
        }
    }

    /// One distribution as it was recorded.
    #[inline]
    pub fn times(&self, kind: TimeKind) -> &Histogram {
        &self.times[kind.index()]
    }

    /// The same, to count into.
    #[inline]
    pub fn times_mut(&mut self, kind: TimeKind) -> &mut Histogram {
        &mut self.times[kind.index()]
    }

    /// Adds all of `other`, whatever its key.
    pub fn add(&mut self, other: &Slice) {
        self.counts.add(&other.counts);
        self.errors.add(&other.errors);
        for (own, more) in self.times.iter_mut().zip(&other.times) {
            own.add(more);
        }
    }

    /// Makes it an empty slice of `key`, for reuse.
    pub fn reset(&mut self, key: SliceKey) {
        self.key = key;
        self.counts = Counts::default();
        self.errors.clear();
        self.times.iter_mut().for_each(Histogram::clear);
    }

    /// True when nothing at all was counted.
    pub fn is_empty(&self) -> bool {
        self.counts == Counts::default()
            && self.errors.is_empty()
            && self.times.iter().all(Histogram::is_empty)
    }

    /// Moves [`TimeKind::Immediate`] to where it belongs: response, service, and as many lags of 0.
    ///
    /// After it, [`TimeKind::Response`], [`TimeKind::Service`] and [`TimeKind::Lag`] are complete.
    pub fn settle(&mut self) {
        let [immediate, response, service, lag, ..] = &mut self.times;
        if immediate.is_empty() {
            return;
        }
        response.add(immediate);
        service.add(immediate);
        // When a lag of 0 was is not worth keeping exactly: the second will do.
        let second_ns = u64::from(self.key.second) * SECOND_NS;
        lag.record(0, immediate.count(), second_ns);
        immediate.clear();
    }
}
