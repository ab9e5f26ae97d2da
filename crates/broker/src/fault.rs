//! The instrument: what a cluster can be told to do wrong, by node and API, while it runs.
//!
//! Delays and stalls are kept by the node's timers, to some tens of microseconds on an idle machine.
//! They hold single requests back, not the node: other requests go on.

use std::time::Duration;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;

/// Something that goes wrong with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Requests of this API; `None` for all.
    pub api: Option<ApiKey>,
    /// What happens to them.
    pub action: FaultAction,
    /// To how many; `None` until the fault is lifted.
    pub times: Option<u32>,
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultAction {
    /// It is served so much later.
    Delay(Duration),
    /// It is held until so much time has passed since the fault was set, then served.
    Stall(Duration),
    /// It is not carried out and answered with this error, in every partition, topic or group that
    /// it names. Not possible for the APIs in [`CANNOT_FAIL`].
    Fail(ErrorCode),
    /// Its connection is closed and it is not carried out.
    CloseBefore,
    /// It is carried out, and its connection is closed instead of an answer.
    CloseAfter,
}

/// APIs whose answers have no error that a client would look for.
pub const CANNOT_FAIL: &[ApiKey] = &[
    ApiKey::ApiVersions,
    ApiKey::DescribeCluster,
    ApiKey::DescribeConfigs,
    ApiKey::DescribeLogDirs,
    ApiKey::DescribeTopicPartitions,
    ApiKey::ListGroups,
];

/// A fault that cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// The API has no error to answer with.
    #[error("requests of {0} cannot be made to fail; they can be delayed, stalled or dropped")]
    CannotFail(ApiKey),
    /// There is no such node, or it has stopped.
    #[error("there is no running node {0}")]
    NoNode(crate::ids::NodeId),
}

impl Fault {
    /// A fault of one API until it is lifted.
    #[must_use]
    pub fn of(api: ApiKey, action: FaultAction) -> Self {
        Self {
            api: Some(api),
            action,
            times: None,
        }
    }

    /// The same for so many requests only.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    pub(crate) fn check(&self) -> Result<(), FaultError> {
        match (self.action, self.api) {
            (FaultAction::Fail(_), Some(api)) if CANNOT_FAIL.contains(&api) => {
                Err(FaultError::CannotFail(api))
            }
            _ => Ok(()),
        }
    }
}
