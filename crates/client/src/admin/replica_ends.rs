//! ListOffsets asked at one broker: where the replicas that it has end, whether it leads them or follows.

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::ListOffsetsRequest;
use kgauge_wire::messages::list_offsets::{ListOffsetsPartition, ListOffsetsTopic};

use crate::cluster::{Cluster, ClusterError};

/// Which end of a partition is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndOf {
    /// What consumers may read: the high watermark. Only a partition's leader tells it.
    Readable,
    /// The broker's own log. Followers tell theirs too: behind their leader's is what they have yet to fetch.
    Log,
}

impl EndOf {
    /// Consumers call themselves -1. To -2, a debugging consumer, each replica tells the end of its own log, in every
    /// release since 0.8: Kafka's tool that compares replicas asks so.
    fn replica_id(self) -> i32 {
        match self {
            EndOf::Readable => -1,
            EndOf::Log => -2,
        }
    }
}

/// Where one partition ends on the broker that was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaEnd {
    /// The partition's index.
    pub partition: i32,
    /// The offset behind its last record, or why the broker does not tell.
    pub end: Result<i64, ErrorCode>,
}

impl Cluster {
    /// Where these partitions end at one broker, asked once. Partitions that the answer does not mention are left out,
    /// and so are those that nobody asked for.
    pub fn replica_ends(
        &mut self,
        broker_id: i32,
        topic: &str,
        partitions: &[i32],
        of: EndOf,
    ) -> Result<Vec<ReplicaEnd>, ClusterError> {
        let wanted = |&partition_index: &i32| ListOffsetsPartition {
            partition_index,
            current_leader_epoch: -1,
            timestamp: -1,
            ..ListOffsetsPartition::default()
        };
        let timeout = self.config().request_timeout;
        let request = ListOffsetsRequest {
            replica_id: of.replica_id(),
            topics: vec![ListOffsetsTopic {
                name: topic.into(),
                partitions: partitions.iter().map(wanted).collect(),
            }],
            timeout_ms: i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX),
            ..ListOffsetsRequest::default()
        };
        let reply = self.call(broker_id, &request)?;
        let answer = reply.decode()?;
        let told = answer.topics.iter().filter(|told| told.name == topic);
        let told = told.flat_map(|told| &told.partitions);
        let told = told.filter(|told| partitions.contains(&told.partition_index));
        Ok(told
            .map(|told| ReplicaEnd {
                partition: told.partition_index,
                end: match ErrorCode::from(told.error_code) {
                    // Version 0 answers with a list, newest first.
                    ErrorCode::None => {
                        let newest = told.old_style_offsets.first().copied();
                        Ok(newest.unwrap_or(told.offset))
                    }
                    code => Err(code),
                },
            })
            .collect())
    }
}
