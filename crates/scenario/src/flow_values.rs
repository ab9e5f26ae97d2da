//! The values of flows' keys: who reads which partition, from where, and how long.

use serde::{Deserialize, Serialize};

/// When a producer commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransactionLength {
    /// After this number of records.
    Records(u64),
    /// After this time, in ns.
    Ns(u64),
}

/// Who reads which partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionShare {
    /// Every consumer reads every partition, like consumers in separate groups.
    All,
    /// The partitions are divided, as among the members of one group.
    Split,
}

/// Where a consumer starts to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartOffset {
    /// The first existing record.
    Earliest,
    /// The end of each partition when the flow starts.
    Latest,
    /// This offset in every partition.
    Offset(u64),
    /// The first record at or after a time, in milliseconds since 1970.
    TimestampMs(u64),
    /// The first record that is at most this old when the flow starts.
    AgoNs(u64),
}

/// When a consume flow has read enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConsumeEnd {
    /// Up to the end offsets that each partition had when the flow started.
    Backlog,
    /// This many records over the whole flow; each consumer reads its equal part.
    Count(u64),
    /// Until the stage ends.
    StageEnd,
}
