//! The summary of consumer groups.

use schemars::JsonSchema;
use serde::Serialize;

/// The consumer group of a flow, over all its repeats and stages. Its times are not part of fetch times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GroupSummary {
    /// The repeats that are counted.
    pub repeats: u32,
    /// Its members, all of this flow.
    pub members: u32,
    /// The longest time that a member took to join before the load began.
    pub join_ns_max: u64,
    /// Rebalances after that, all repeats together, as the member that had the most of them saw it.
    pub rebalances: u64,
    /// Their duration: the longest of each repeat, added. Members may read on meanwhile.
    pub rebalance_ns: u64,
    /// The members that had no partitions for some time meanwhile, the longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<MemberPause>,
    /// Commits that the coordinator took.
    pub commits: u64,
    /// Commits that it refused.
    pub commits_failed: u64,
    /// Records that were read a second time, because nobody had committed them when a partition changed hands.
    pub records_again: u64,
    /// Records that no member read, because the group continued behind them.
    pub records_skipped: u64,
    /// How often the coordinator returned a lower committed offset than it had accepted.
    pub commits_back: u64,
}

/// The time that a member had no partitions after the load began, all repeats together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemberPause {
    /// The number of its consumer in the flow.
    pub consumer: u32,
    /// Rebalances, as it saw them.
    pub rebalances: u64,
    /// From giving up all partitions until the next assignment, in total.
    pub pause_ns: u64,
    /// The longest of these times.
    pub pause_ns_max: u64,
}
