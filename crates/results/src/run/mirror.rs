//! What a replicator had made of a flow's records.

use serde::{Deserialize, Serialize};

/// The copy of what an echo flow wrote, as it stood when the repeat ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MirrorRecord {
    /// What copied, with its release if kgauge started it.
    pub replicator: String,
    /// The copy's name.
    pub topic: String,
    /// Records that the source acked.
    pub acked: u64,
    /// Of these, records that were not in the copy when the drain ended.
    pub missing: u64,
    /// Records that the copy held once more.
    pub doubled: u64,
    /// Records that failed at the source, or of which nobody knows: what of them was copied all the same hides as many
    /// that are missing.
    #[serde(default)]
    pub unsure: u64,
    /// By how much the copy grew, as its brokers count; `None` when they could not be asked.
    #[serde(default)]
    pub counted: Option<u64>,
    /// The most records that were acked and not yet read at the destination, of ten looks a second in the hold.
    pub behind_records_max: u64,
    /// From the end of the hold until all were read; `None` if that did not come.
    #[serde(default)]
    pub caught_up_ns: Option<u64>,
    /// CPU time of the replicator in the hold; `None` if its process is not kgauge's.
    #[serde(default)]
    pub replicator_cpu_ns: Option<u64>,
}
