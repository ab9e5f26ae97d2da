//! ListOffsets: start and end offsets of a topic's partitions.

use std::collections::BTreeMap;
use std::time::Instant;

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsPartitionResponse, ListOffsetsTopic,
};
use kgauge_wire::messages::{ListOffsetsRequest, Message};

use crate::cluster::{Cluster, ClusterError, FailedAttempt, Leader, Next, OperationError};

/// The offset to look up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetAt {
    /// The first existing record.
    Earliest,
    /// One after the last readable record: the high watermark.
    Latest,
    /// One after the last record in the leader's log, whether followers have it or not.
    LogEnd,
    /// The first record at or after a time in milliseconds since 1970. Brokers before 0.10.1 do not know records'
    /// times: they return the start of the last segment that was written before that time.
    TimestampMs(i64),
}

impl OffsetAt {
    /// Kafka encodes the ends of a log as negative times.
    fn timestamp(self) -> i64 {
        match self {
            OffsetAt::Latest | OffsetAt::LogEnd => -1,
            OffsetAt::Earliest => -2,
            OffsetAt::TimestampMs(ms) => ms,
        }
    }

    /// What of the leader's log counts.
    fn end_of(self) -> EndOf {
        match self {
            OffsetAt::LogEnd => EndOf::Log,
            OffsetAt::Earliest | OffsetAt::Latest | OffsetAt::TimestampMs(_) => EndOf::Readable,
        }
    }
}

/// The kind of end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndOf {
    /// The high watermark, up to which consumers may read. Only a partition's leader returns it.
    Readable,
    /// The end of the broker's own log. A follower's is behind its leader's by the records that it has not fetched yet.
    Log,
}

impl EndOf {
    /// Consumers send replica id -1. To -2, a debugging consumer, each replica returns the end of its own log, in every
    /// release since 0.8: Kafka's tool that compares replicas does the same.
    pub(super) fn replica_id(self) -> i32 {
        match self {
            EndOf::Readable => -1,
            EndOf::Log => -2,
        }
    }
}

/// Why an offset is unknown.
#[derive(Debug, thiserror::Error)]
pub enum OffsetsError {
    /// The leader refused it.
    #[error("offset of {topic}-{partition}: {code}")]
    Partition {
        /// The topic's name.
        topic: String,
        /// The partition's index.
        partition: i32,
        /// The leader's code.
        code: ErrorCode,
    },
    /// The response does not contain the partition.
    #[error("offset of {topic}-{partition}: the broker's response does not mention it")]
    Unanswered {
        /// The topic's name.
        topic: String,
        /// The partition's index.
        partition: i32,
    },
    /// The cluster could not be asked.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

impl OffsetsError {
    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            OffsetsError::Cluster(error) => error.fix(),
            OffsetsError::Partition { .. } | OffsetsError::Unanswered { .. } => {
                "check the log of the partition's leader"
            }
        }
    }
}

impl OperationError for OffsetsError {
    fn cluster_error(&mut self) -> Option<&mut ClusterError> {
        match self {
            Self::Cluster(error) => Some(error),
            _ => None,
        }
    }

    fn next(&self) -> Next {
        match self {
            OffsetsError::Partition { code, .. } => Next::after(*code),
            OffsetsError::Unanswered { .. } => Next::GiveUp,
            OffsetsError::Cluster(error) => error.next(),
        }
    }
}

impl Cluster {
    /// The end of every partition of a topic, by partition index.
    pub fn end_offsets(&mut self, topic: &str) -> Result<Vec<i64>, OffsetsError> {
        self.offsets(topic, OffsetAt::Latest)
    }

    /// The end of every leader's log, by partition index: with acks=1 it is ahead of [`Cluster::end_offsets`] until the
    /// followers have caught up.
    pub fn log_end_offsets(&mut self, topic: &str) -> Result<Vec<i64>, OffsetsError> {
        self.offsets(topic, OffsetAt::LogEnd)
    }

    /// The start of every partition of a topic, by partition index.
    pub fn earliest_offsets(&mut self, topic: &str) -> Result<Vec<i64>, OffsetsError> {
        self.offsets(topic, OffsetAt::Earliest)
    }

    /// One offset of every partition of a topic, by partition index. A time after the last record gives -1, as in
    /// Kafka.
    pub fn offsets(&mut self, topic: &str, at: OffsetAt) -> Result<Vec<i64>, OffsetsError> {
        let mut found: BTreeMap<i32, i64> = BTreeMap::new();
        self.retrying("look up offsets", |cluster, deadline| {
            let attempt = cluster.offsets_once(topic, at, &mut found, deadline);
            attempt.map_err(FailedAttempt::of)
        })?;
        Ok(found.into_values().collect())
    }

    /// Asks every leader for the partitions that `found` lacks.
    fn offsets_once(
        &mut self,
        topic: &str,
        at: OffsetAt,
        found: &mut BTreeMap<i32, i64>,
        deadline: Instant,
    ) -> Result<(), OffsetsError> {
        // The first lookup finds the topic's partitions.
        self.leader(topic, 0)?;
        let count = self
            .metadata()
            .topic(topic)
            .map_or(0, |topic| topic.partitions.len());
        let mut by_leader: BTreeMap<i32, Vec<(i32, Leader)>> = BTreeMap::new();
        for partition in (0..)
            .take(count)
            .filter(|partition| !found.contains_key(partition))
        {
            let leader = self.leader(topic, partition)?;
            by_leader
                .entry(leader.broker_id)
                .or_default()
                .push((partition, leader));
        }
        for (broker_id, partitions) in by_leader {
            let limit = self.request_limit(deadline);
            let query = |&(partition, leader): &(i32, Leader)| ListOffsetsPartition {
                partition_index: partition,
                current_leader_epoch: leader.epoch.unwrap_or(-1),
                timestamp: at.timestamp(),
                ..ListOffsetsPartition::default()
            };
            let request = ListOffsetsRequest {
                replica_id: at.end_of().replica_id(),
                topics: vec![ListOffsetsTopic {
                    name: topic.into(),
                    partitions: partitions.iter().map(query).collect(),
                }],
                timeout_ms: i32::try_from(limit.as_millis()).unwrap_or(i32::MAX),
                ..ListOffsetsRequest::default()
            };
            let connection = self.connection(broker_id, deadline)?;
            let reply = connection
                .call_between(&request, ListOffsetsRequest::VERSIONS, limit)
                .map_err(ClusterError::from)?;
            let answer = reply.decode().map_err(ClusterError::from)?;
            let of_topic = answer.topics.iter().find(|one| one.name == topic);
            let responses = of_topic.map_or(&[][..], |one| one.partitions.as_slice());
            for (partition, _) in partitions {
                let response = responses
                    .iter()
                    .find(|one| one.partition_index == partition);
                found.insert(partition, offset(topic, partition, response)?);
            }
        }
        Ok(())
    }
}

fn offset(
    topic: &str,
    partition: i32,
    response: Option<&ListOffsetsPartitionResponse>,
) -> Result<i64, OffsetsError> {
    let topic = || topic.to_owned();
    let response = response.ok_or_else(|| OffsetsError::Unanswered {
        topic: topic(),
        partition,
    })?;
    response_offset(response).map_err(|code| OffsetsError::Partition {
        topic: topic(),
        partition,
        code,
    })
}

/// The offset in a partition's response, or the broker's error.
pub(super) fn response_offset(response: &ListOffsetsPartitionResponse) -> Result<i64, ErrorCode> {
    match ErrorCode::from(response.error_code) {
        // Version 0 returns a list, newest first.
        ErrorCode::None => {
            let newest = response.old_style_offsets.first().copied();
            Ok(newest.unwrap_or(response.offset))
        }
        code => Err(code),
    }
}
