//! Consumer group results.

use serde::{Deserialize, Serialize};

/// A flow's consumer group, over all stages of a repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRecord {
    /// Its members, all of this flow.
    pub members: u32,
    /// The longest time that a member took to join before the load started.
    pub join_ns_max: u64,
    /// Rebalances since then, as seen by the member with the most of them.
    pub rebalances: u32,
    /// Their total time, from giving up partitions until having others.
    pub rebalance_ns: u64,
    /// Commits that the coordinator accepted, all members together.
    pub commits: u64,
    /// Commits that it refused.
    pub commits_failed: u64,
    /// Records that were read twice, because their offset was not committed when a partition moved.
    pub records_again: u64,
    /// Records that no member read, because the group continued behind them.
    #[serde(default)]
    pub records_skipped: u64,
    /// How often the coordinator returned a lower committed offset than it had accepted.
    #[serde(default)]
    pub commits_back: u64,
}

/// A member of a flow's consumer group, over all stages of a repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupMemberRecord {
    /// The number of its consumer in the flow.
    pub consumer: u32,
    /// Rebalances after the load began, as it saw them.
    pub rebalances: u32,
    /// How long it had no partitions meanwhile: from giving up all of them until its next assignment, in total.
    pub pause_ns: u64,
    /// The longest of these times.
    pub pause_ns_max: u64,
}

impl GroupRecord {
    /// Combines members.
    pub fn plus(self, other: Self) -> Self {
        Self {
            members: self.members.saturating_add(other.members),
            join_ns_max: self.join_ns_max.max(other.join_ns_max),
            rebalances: self.rebalances.max(other.rebalances),
            rebalance_ns: self.rebalance_ns.max(other.rebalance_ns),
            commits: self.commits.saturating_add(other.commits),
            commits_failed: self.commits_failed.saturating_add(other.commits_failed),
            // Counted once for all of them.
            records_again: self.records_again.max(other.records_again),
            records_skipped: self.records_skipped.max(other.records_skipped),
            commits_back: self.commits_back.max(other.commits_back),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_summed_and_rebalances_are_the_groups() {
        let one = GroupRecord {
            members: 1,
            rebalances: 2,
            rebalance_ns: 50,
            commits: 3,
            ..GroupRecord::default()
        };
        let sum = one.plus(GroupRecord {
            rebalances: 1,
            ..one
        });
        assert_eq!(
            (sum.members, sum.rebalances, sum.rebalance_ns, sum.commits),
            (2, 2, 50, 6)
        );
    }
}
