//! ListOffsets to one broker: the log ends of its replicas, leaders and followers.

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::ListOffsetsRequest;
use kgauge_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsPartitionResponse, ListOffsetsTopic,
};

use super::offsets::{EndOf, response_offset};
use crate::cluster::{Cluster, ClusterError};

/// The end of one partition on the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaEnd {
    /// The partition's index.
    pub partition: i32,
    /// The offset after its last record, or the broker's error.
    pub end: Result<i64, ErrorCode>,
}

impl Cluster {
    /// The ends of these partitions on one broker, in one attempt. Partitions that the response lacks are left out, and
    /// so are others that it contains.
    pub fn replica_ends(
        &mut self,
        broker_id: i32,
        topic: &str,
        partitions: &[i32],
        of: EndOf,
    ) -> Result<Vec<ReplicaEnd>, ClusterError> {
        let query = |&partition_index: &i32| ListOffsetsPartition {
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
                partitions: partitions.iter().map(query).collect(),
            }],
            timeout_ms: i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX),
            ..ListOffsetsRequest::default()
        };
        let reply = self.call(broker_id, &request)?;
        let answer = reply.decode()?;
        let topics = answer.topics.iter().filter(|one| one.name == topic);
        let responses = topics
            .flat_map(|one| &one.partitions)
            .filter(|response| partitions.contains(&response.partition_index));
        let end = |response: &ListOffsetsPartitionResponse| ReplicaEnd {
            partition: response.partition_index,
            end: response_offset(response),
        };
        Ok(responses.map(end).collect())
    }
}
