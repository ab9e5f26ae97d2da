//! Samples over Kafka's protocol during a repeat: the run's topic, its replicas, its groups.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One sample of the run's topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TopicSample {
    /// Its name.
    pub topic: String,
    /// Number of partitions.
    pub partitions: u32,
    /// Intended number of replicas, including leaders.
    pub replicas: u32,
    /// Number of in-sync replicas.
    pub in_sync: u32,
    /// Under-replicated partitions.
    pub under_replicated: u32,
    /// Partitions without a leader.
    pub leaderless: u32,
    /// Sum of the high watermarks of all partitions; none if one is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_watermark_sum: Option<u64>,
    /// Sum of the leaders' log ends; none if one is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_end_sum: Option<u64>,
    /// Duration of the sample in nanoseconds.
    pub took_ns: u64,
}

/// One sample of the topic's replicas on one broker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TopicReplicasSample {
    /// The topic.
    pub topic: String,
    /// Partitions that it leads.
    pub leads: u32,
    /// Follower replicas on it.
    pub follows: u32,
    /// In-sync replicas on it, including leaders.
    pub in_sync: u32,
    /// Bytes of their logs; none if not reported (Kafka does since 1.0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// Sum of the records that its followers are behind their leaders, over those that are known; none if none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_records: Option<u64>,
    /// The same for the follower that is furthest behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_records_max: Option<u64>,
    /// Followers on it without a known lag: they, or their leaders, did not answer.
    #[serde(skip_serializing_if = "is_none")]
    pub lag_unknown: u32,
}

/// A partition whose leader or in-sync replicas changed since the previous sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartitionChange {
    /// The topic.
    pub topic: String,
    /// The partition's index.
    pub partition: i32,
    /// The previous leader, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader_before: Option<i32>,
    /// The current leader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<i32>,
    /// The previous in-sync replicas.
    pub in_sync_before: Vec<i32>,
    /// The current in-sync replicas.
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
    /// The numbers of its changes.
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
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: ReplicaChanges) -> ReplicaChanges {
        ReplicaChanges {
            leaders_moved: self.leaders_moved.saturating_add(other.leaders_moved),
            leaders_lost: self.leaders_lost.saturating_add(other.leaders_lost),
            left_sync: self.left_sync.saturating_add(other.left_sync),
            joined_sync: self.joined_sync.saturating_add(other.joined_sync),
        }
    }
}

/// One sample of a consumer group's committed offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupSample {
    /// Its id.
    pub group: String,
    /// Records between its committed offsets and the high watermarks, summed over the partitions with committed
    /// offsets.
    pub lag_records: u64,
    /// The number of those partitions.
    pub partitions: u32,
    /// Partitions that are not in the sum because their high watermark is unknown.
    #[serde(skip_serializing_if = "is_none")]
    pub lag_unknown: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::run::{Event, EventKind};

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
    }

    #[test]
    fn a_change_in_an_older_run_is_read_with_its_sentence() {
        let line = r#"{"at_unix_ms":5,"event":"replicas-changed","text":"1 leader moved","leaders_moved":1}"#;
        let event: Event = serde_json::from_str(line).unwrap();
        let expected = EventKind::ReplicasChanged {
            text: "1 leader moved".to_owned(),
            changes: ReplicaChanges {
                leaders_moved: 1,
                ..ReplicaChanges::default()
            },
            partitions: Vec::new(),
            further: 0,
        };
        assert_eq!(event.kind, expected);
    }
}
