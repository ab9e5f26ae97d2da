//! The result of replicating a flow's records.

use serde::{Deserialize, Serialize};

/// The copy of an echo flow's records at the end of the repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MirrorRecord {
    /// The replicator, with its release if kgauge started it.
    pub replicator: String,
    /// The name of the copied topic.
    pub topic: String,
    /// Records that the source acked.
    pub acked: u64,
    /// The part that was not in the copy when the drain ended.
    pub missing: u64,
    /// Duplicates in the copy.
    pub doubled: u64,
    /// Records that failed at the source, or whose outcome is unknown. Those that were copied nevertheless hide as many
    /// missing ones.
    #[serde(default)]
    pub unsure: u64,
    /// The growth of the copy, as its brokers count it; `None` if they could not be asked.
    #[serde(default)]
    pub counted: Option<u64>,
    /// The maximum number of records that were acked and not yet read at the destination, sampled ten times per second
    /// in the hold.
    pub behind_records_max: u64,
    /// From the end of the hold until all were read; `None` if that did not happen.
    #[serde(default)]
    pub caught_up_ns: Option<u64>,
    /// CPU time of the replicator in the hold; `None` if its process is not kgauge's.
    #[serde(default)]
    pub replicator_cpu_ns: Option<u64>,
}
