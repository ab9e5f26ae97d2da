//! OffsetFetch from outside a group: its committed offsets.

use kgauge_wire::api::ApiKey;

use crate::cluster::{Cluster, ClusterError};
use crate::group::offsets::{FETCH_VERSIONS, fetch_request, read_offsets};
use kgauge_wire::error_code::ErrorCode;

impl Cluster {
    /// The committed offset of each of these partitions, in their order, from the group's coordinator; `None` if there
    /// is none. One attempt; see [`Cluster::group_coordinator`].
    pub fn committed_offsets(
        &mut self,
        coordinator: i32,
        group: &str,
        topic: &str,
        partitions: &[i32],
    ) -> Result<Vec<Option<i64>>, ClusterError> {
        let limit = self.config().request_timeout;
        let deadline = self.deadline();
        let connection = self.connection(coordinator, deadline)?;
        let version = connection.version(ApiKey::OffsetFetch, FETCH_VERSIONS)?;
        let request = fetch_request(version, group, topic, partitions);
        let reply = connection.call_between(&request, version..=version, limit)?;
        let answer = reply.decode()?;
        let (code, offsets) = read_offsets(&answer, topic);
        if !code.is_none() {
            return Err(ClusterError::Refused {
                api: ApiKey::OffsetFetch,
                code,
                message: None,
            });
        }
        let committed = |partition: &i32| {
            let &(_, offset, error_code) = offsets.iter().find(|entry| entry.0 == *partition)?;
            (ErrorCode::from(error_code).is_none() && offset >= 0).then_some(offset)
        };
        Ok(partitions.iter().map(committed).collect())
    }
}
