//! The summary of copies on another cluster.

use schemars::JsonSchema;
use serde::Serialize;

use crate::statistics::Spread;

/// The copies of what an echo flow wrote, over all repeats. Its end-to-end times run from the producer at the source to
/// a reader at the destination.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MirrorSummary {
    /// What copied, with its release if kgauge started it.
    pub replicator: String,
    /// Records that the source acked, all stages of all repeats.
    pub acked: u64,
    /// Of these, records that were not in the copy when the drain ended.
    pub missing: u64,
    /// Records that a copy held once more.
    pub doubled: u64,
    /// Records that failed at the source, or whose outcome is unknown: up to this many more may be missing.
    pub unsure: u64,
    /// By how much the copies grew, as their brokers count; null when a repeat has no count.
    pub counted: Option<u64>,
    /// The most records that were acked and not yet read at the destination, in the hold of each repeat.
    pub behind_records_max: Spread,
    /// Seconds from the end of the hold until all were read; null unless every repeat came so far.
    pub caught_up_s: Option<Spread>,
    /// Cores that the replicator kept busy in the hold; null where its process is not kgauge's.
    pub replicator_cores: Option<Spread>,
}
