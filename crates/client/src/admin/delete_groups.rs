//! DeleteGroups, at the group's own coordinator.

use std::time::Instant;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::DeleteGroupsRequest;

use super::CoordinatorOf;
use crate::cluster::{Cluster, ClusterError, FailedAttempt, Next, OperationError};

/// Why a group still exists, or may still exist.
#[derive(Debug, thiserror::Error)]
pub enum DeleteGroupError {
    /// The coordinator refused it.
    #[error("group {group} was not deleted: {code}")]
    Refused {
        /// Its id.
        group: String,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The response does not contain the group.
    #[error("group {group}: the broker's response does not mention it")]
    Unanswered {
        /// Its id.
        group: String,
    },
    /// The cluster could not be asked.
    #[error("group {group}: {error}")]
    Cluster {
        /// Its id.
        group: String,
        /// What went wrong.
        #[source]
        error: Box<ClusterError>,
    },
}

impl DeleteGroupError {
    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            DeleteGroupError::Refused {
                code: ErrorCode::NonEmptyGroup,
                ..
            } => "stop its consumers; without members it expires after offsets.retention.minutes",
            _ => "delete it manually with kafka-consumer-groups --delete",
        }
    }
}

impl OperationError for DeleteGroupError {
    fn cluster_error(&mut self) -> Option<&mut ClusterError> {
        match self {
            Self::Cluster { error, .. } => Some(error),
            _ => None,
        }
    }

    fn next(&self) -> Next {
        match self {
            DeleteGroupError::Refused { code, .. } => Next::after(*code),
            DeleteGroupError::Unanswered { .. } => Next::GiveUp,
            DeleteGroupError::Cluster { error, .. } => error.next(),
        }
    }
}

impl Cluster {
    /// Deletes a consumer group and its committed offsets. A missing group is not an error. Neither is a release before
    /// 1.1, which cannot delete groups: they expire after `offsets.retention.minutes`.
    pub fn delete_group(&mut self, group: &str) -> Result<(), DeleteGroupError> {
        self.retrying("delete the group", |cluster, deadline| {
            let attempt = cluster.delete_group_once(group, deadline);
            attempt.map_err(FailedAttempt::of)
        })
    }

    fn delete_group_once(
        &mut self,
        group: &str,
        deadline: Instant,
    ) -> Result<(), DeleteGroupError> {
        let failed = |error| DeleteGroupError::Cluster {
            group: group.to_owned(),
            error: Box::new(error),
        };
        let broker_id = self
            .coordinator_once(group, CoordinatorOf::Group, deadline)
            .map_err(failed)?;
        let connection = self.connection(broker_id, deadline).map_err(failed)?;
        if connection
            .api_versions()
            .range(ApiKey::DeleteGroups)
            .is_none()
        {
            return Ok(());
        }
        let request = DeleteGroupsRequest {
            groups_names: vec![group.into()],
        };
        let reply = self.call(broker_id, &request).map_err(failed)?;
        let answer = reply.decode().map_err(|error| failed(error.into()))?;
        let result = answer
            .results
            .iter()
            .find(|result| result.group_id == group);
        let group = || group.to_owned();
        let result = result.ok_or_else(|| DeleteGroupError::Unanswered { group: group() })?;
        match ErrorCode::from(result.error_code) {
            ErrorCode::None | ErrorCode::GroupIdNotFound => Ok(()),
            code => Err(DeleteGroupError::Refused {
                group: group(),
                code,
            }),
        }
    }
}
