//! What the brokers told over the wire while a repeat ran: the run's topic, its replicas, its groups.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The run's topic at one look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TopicSample {
    /// Its name.
    pub topic: String,
    /// How many partitions it has.
    pub partitions: u32,
    /// How many replicas they should have, leaders among them.
    pub replicas: u32,
    /// How many of those are in sync.
    pub in_sync: u32,
    /// Partitions with fewer replicas in sync than they should have.
    pub under_replicated: u32,
    /// Partitions that nobody leads.
    pub leaderless: u32,
    /// What consumers may read: the high watermarks of all partitions, summed; none where one is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_watermark_sum: Option<u64>,
    /// The ends of the leaders' logs, summed; none where one is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_end_sum: Option<u64>,
    /// How long the whole look took, in nanoseconds.
    pub took_ns: u64,
}

/// The replicas of the run's topic on one broker, at one look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TopicReplicasSample {
    /// The topic.
    pub topic: String,
    /// Partitions that it leads.
    pub leads: u32,
    /// Replicas on it that follow.
    pub follows: u32,
    /// Replicas on it that are in sync, leaders among them.
    pub in_sync: u32,
    /// Bytes of their logs; none where it does not tell (Kafka does since 1.0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// Records that its followers are behind their leaders' logs, summed over those that are known; none where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_records: Option<u64>,
    /// The same of the one that is most behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_records_max: Option<u64>,
    /// Followers on it that are not in the sum: they, or their leaders, did not answer.
    #[serde(skip_serializing_if = "is_none")]
    pub lag_unknown: u32,
}

/// A partition whose leader or in-sync replicas are others than at the look before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartitionChange {
    /// The topic.
    pub topic: String,
    /// The partition's index.
    pub partition: i32,
    /// Who led it before, if anybody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader_before: Option<i32>,
    /// Who leads it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<i32>,
    /// Who was in sync before.
    pub in_sync_before: Vec<i32>,
    /// Who is now.
    pub in_sync: Vec<i32>,
}

/// The changes in one sample, all partitions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReplicaChanges {
    /// Partitions whose leader moved.
    pub leaders_moved: u32,
    /// Partitions that lost their leader.
    pub leaders_lost: u32,
    /// Replicas that are no longer in sync.
    pub left_sync: u32,
    /// Replicas that are in sync again.
    pub joined_sync: u32,
}

impl PartitionChange {
    /// What of it counts.
    pub fn counted(&self) -> ReplicaChanges {
        let missing = |from: &[i32], of: &[i32]| -> u32 {
            let missing = from.iter().filter(|broker| !of.contains(broker));
            u32::try_from(missing.count()).unwrap_or(u32::MAX)
        };
        ReplicaChanges {
            leaders_moved: u32::from(self.leader.is_some() && self.leader != self.leader_before),
            leaders_lost: u32::from(self.leader.is_none() && self.leader_before.is_some()),
            left_sync: missing(&self.in_sync_before, &self.in_sync),
            joined_sync: missing(&self.in_sync, &self.in_sync_before),
        }
    }
}

impl ReplicaChanges {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: ReplicaChanges) -> ReplicaChanges {
        ReplicaChanges {
            leaders_moved: self.leaders_moved.saturating_add(other.leaders_moved),
            leaders_lost: self.leaders_lost.saturating_add(other.leaders_lost),
            left_sync: self.left_sync.saturating_add(other.left_sync),
            joined_sync: self.joined_sync.saturating_add(other.joined_sync),
        }
    }

    /// In words: `4 leaders moved, 2 replicas fell out of sync`.
    pub fn words(&self) -> String {
        let counted = |count: u32, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        };
        let parts = [
            counted(self.leaders_moved, "leader moved", "leaders moved"),
            counted(
                self.leaders_lost,
                "partition lost its leader",
                "partitions lost their leaders",
            ),
            counted(
                self.left_sync,
                "replica fell out of sync",
                "replicas fell out of sync",
            ),
            counted(
                self.joined_sync,
                "replica is in sync again",
                "replicas are in sync again",
            ),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(", ")
    }
}

/// How far a consumer group has committed, at one look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupSample {
    /// Its id.
    pub group: String,
    /// Records between what it has committed and what it might read, summed over the partitions of which it has
    /// committed anything.
    pub lag_records: u64,
    /// How many partitions those are.
    pub partitions: u32,
    /// Partitions that are not in the sum because nobody told how far they can be read.
    #[serde(skip_serializing_if = "is_none")]
    pub lag_unknown: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_counted_by_what_it_takes_away_and_what_it_brings() {
        let change = PartitionChange {
            leader_before: Some(1),
            leader: Some(2),
            in_sync_before: vec![1, 2, 3],
            in_sync: vec![4, 2],
            ..PartitionChange::default()
        };
        let lost = PartitionChange {
            leader: None,
            in_sync: vec![],
            ..change.clone()
        };
        let both = change.counted().plus(lost.counted());
        let expected = ReplicaChanges {
            leaders_moved: 1,
            leaders_lost: 1,
            left_sync: 2 + 3,
            joined_sync: 1,
        };
        assert_eq!(both, expected);
        assert_eq!(
            both.words(),
            "1 leader moved, 1 partition lost its leader, 5 replicas fell out of sync, 1 replica is in sync again"
        );
        assert_eq!(ReplicaChanges::default().words(), "");
    }
}
