//! FindCoordinator: the broker that stores a group's or a transactional id's state.

use std::time::Instant;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::{FindCoordinatorRequest, FindCoordinatorResponse, Message};

use crate::cluster::{Cluster, ClusterError};

/// From this version on, a request has several keys.
const VERSION_WITH_LIST: i16 = 4;
/// The first version with a key type.
const VERSION_WITH_KIND: i16 = 1;

/// FindCoordinator's key type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoordinatorOf {
    /// A consumer group.
    Group = 0,
    /// A transactional id.
    Transactions = 1,
}

impl Cluster {
    /// The broker that coordinates a consumer group.
    pub fn group_coordinator(&mut self, group: &str) -> Result<i32, ClusterError> {
        self.coordinator(group, CoordinatorOf::Group)
    }

    /// The broker that coordinates `key`.
    pub(crate) fn coordinator(
        &mut self,
        key: &str,
        of: CoordinatorOf,
    ) -> Result<i32, ClusterError> {
        self.coordinator_until(key, of, self.deadline())
    }

    /// The same within an operation that ends at `deadline`.
    pub(crate) fn coordinator_until(
        &mut self,
        key: &str,
        of: CoordinatorOf,
        deadline: Instant,
    ) -> Result<i32, ClusterError> {
        let once = |cluster: &mut Cluster, until| Ok(cluster.coordinator_once(key, of, until)?);
        self.retrying_until("find the coordinator", deadline, once)
    }

    /// As [`Cluster::coordinator`], with one attempt.
    pub(crate) fn coordinator_once(
        &mut self,
        key: &str,
        of: CoordinatorOf,
        deadline: Instant,
    ) -> Result<i32, ClusterError> {
        let limit = self.request_limit(deadline);
        let connection = self.connection(self.any_broker()?, deadline)?;
        let lowest = match of {
            CoordinatorOf::Group => 0,
            CoordinatorOf::Transactions => VERSION_WITH_KIND,
        };
        let versions = lowest..=*FindCoordinatorRequest::VERSIONS.end();
        let version = connection.version(ApiKey::FindCoordinator, versions)?;
        let mut request = FindCoordinatorRequest {
            key_type: of as i8,
            ..FindCoordinatorRequest::default()
        };
        if version >= VERSION_WITH_LIST {
            request.coordinator_keys = vec![key.into()];
        } else {
            request.key = key.into();
        }
        let reply = connection.call_between(&request, version..=version, limit)?;
        coordinator_id(&reply.decode()?)
    }
}

fn coordinator_id(answer: &FindCoordinatorResponse<'_>) -> Result<i32, ClusterError> {
    let (node_id, code, message) = match answer.coordinators.first() {
        Some(coordinator) => (
            coordinator.node_id,
            coordinator.error_code,
            &coordinator.error_message,
        ),
        None => (answer.node_id, answer.error_code, &answer.error_message),
    };
    match ErrorCode::from(code) {
        ErrorCode::None => Ok(node_id),
        code => Err(ClusterError::Refused {
            api: ApiKey::FindCoordinator,
            code,
            message: message.as_ref().map(ToString::to_string),
        }),
    }
}
