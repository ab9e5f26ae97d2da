//! Faults of requests that can be injected into a running cluster, by node and API.
//!
//! Delays and stalls are kept by the node's timers, to some tens of microseconds on an idle machine.
//! They hold single requests back, not the node: requests of other connections go on. Those of one
//! connection keep their order, as in Kafka, which serves one request of a connection at a time:
//! what comes behind a held request is not served before it.
//!
//! All faults that concern a request work together: first a stall, then a capacity, then the delays
//! one after the other; and of those that refuse it or close its connection the one that was set
//! first.

mod capacity;
mod delay;
mod stall;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;

pub(crate) use capacity::{Bucket, amount_in_frame, amount_in_slices};
pub use delay::Delays;
pub use kgauge_faults::{CapacityPlan, CapacityUnit, DelayPlan, DropPoint, RequestFault};
pub use stall::StallRecord;
pub(crate) use stall::StallWatch;

use crate::handlers::SERVED;

/// Identifies a fault, so that it can be lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaultId(pub u64);

/// What a fault has struck so far, as the nodes themselves counted it. A capacity strikes nothing: it
/// lets everything through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeFaultCounts {
    /// Requests.
    pub requests: u64,
    /// Records that they brought, as their batches' headers count them.
    pub records: u64,
}

impl NodeFaultCounts {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            records: self.records + other.records,
        }
    }
}

/// What a node reports about a fault that was lifted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiftedFault {
    /// The requests it struck.
    pub struck: NodeFaultCounts,
    /// Per node, when a stall began and when the node answered afterwards; empty for other faults.
    pub stalls: Vec<StallRecord>,
}

/// Something that goes wrong with requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectedFault {
    /// Requests of this API; `None` for all.
    pub api: Option<ApiKey>,
    /// What happens to them.
    pub action: RequestFault,
    /// The number of affected requests per node; `None` until the fault is lifted.
    pub times: Option<u32>,
    /// Seed of the random numbers. Each node adds its number to it.
    pub seed: u64,
}

/// APIs whose responses have no error that a client checks.
const CANNOT_FAIL: &[ApiKey] = &[
    ApiKey::ApiVersions,
    ApiKey::DescribeCluster,
    ApiKey::DescribeConfigs,
    ApiKey::DescribeLogDirs,
    ApiKey::DescribeTopicPartitions,
    ApiKey::ListGroups,
];

/// The names of the served APIs as files and command lines write them: `list-offsets` is Kafka's
/// `ListOffsets`.
pub fn api_names() -> impl Iterator<Item = (String, ApiKey)> {
    SERVED.iter().map(|(api, _)| {
        let mut name = String::new();
        for letter in api.name().chars() {
            if letter.is_ascii_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
        }
        (name, *api)
    })
}

/// Kafka's names of the errors that a request can fail with.
pub fn error_names() -> impl Iterator<Item = (&'static str, ErrorCode)> {
    let errors = ErrorCode::ALL
        .iter()
        .filter(|code| **code != ErrorCode::None);
    errors.map(|code| (code.name(), *code))
}

/// The error of a name.
pub(crate) fn error_named(name: &str) -> Option<ErrorCode> {
    let found = error_names().find(|(known, _)| *known == name);
    found.map(|(_, code)| code)
}

/// A fault that cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// The API has no error to answer with.
    #[error("{0} requests cannot be made to fail; they can be delayed, stalled or dropped")]
    CannotFail(ApiKey),
    /// The API carries no records.
    #[error("{0} requests carry no records; a capacity applies to Produce, Fetch or both")]
    NoRecords(ApiKey),
    /// A capacity lasts until it is lifted.
    #[error("a capacity cannot be limited to a number of requests")]
    CapacityTimes,
    /// The numbers of a capacity make no sense.
    #[error("a capacity of 0 would block every request")]
    NoCapacity,
    /// The numbers of a distribution make no sense.
    #[error("a delay's minimum is above its maximum, or its quantiles do not rise from 0 to 100 %")]
    Delay,
    /// There is no such API or error.
    #[error("unknown name {0}")]
    UnknownName(String),
    /// There is no such node.
    #[error("there is no node {0}")]
    NoNode(crate::ids::NodeId),
}

impl InjectedFault {
    /// A fault of the API with a name, or (`None`) of all.
    pub fn named(
        api: Option<&str>,
        action: RequestFault,
        times: Option<u32>,
        seed: u64,
    ) -> Result<Self, FaultError> {
        let api_named = |name: &str| {
            let found = api_names().find(|(known, _)| known == name);
            let unknown = || FaultError::UnknownName(name.to_owned());
            found.map(|(_, api)| api).ok_or_else(unknown)
        };
        Ok(Self {
            api: api.map(api_named).transpose()?,
            action,
            times,
            seed,
        })
    }

    /// A fault of one API until it is lifted.
    #[must_use]
    pub fn of(api: ApiKey, action: RequestFault) -> Self {
        Self {
            api: Some(api),
            action,
            times: None,
            seed: 0,
        }
    }

    /// The same for this number of requests.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// Whether it can be set at all.
    pub fn check(&self) -> Result<(), FaultError> {
        match (&self.action, self.api) {
            (RequestFault::Fail { error }, _) if error_named(error).is_none() => {
                Err(FaultError::UnknownName(error.clone()))
            }
            (RequestFault::Fail { .. }, Some(api)) if CANNOT_FAIL.contains(&api) => {
                Err(FaultError::CannotFail(api))
            }
            (RequestFault::Capacity(_), Some(api))
                if !matches!(api, ApiKey::Produce | ApiKey::Fetch) =>
            {
                Err(FaultError::NoRecords(api))
            }
            (RequestFault::Capacity(_), _) if self.times.is_some() => {
                Err(FaultError::CapacityTimes)
            }
            (RequestFault::Capacity(capacity), _) if capacity.per_second == 0 => {
                Err(FaultError::NoCapacity)
            }
            (RequestFault::Delay(delay), _) if !delay.is_sound() => Err(FaultError::Delay),
            _ => Ok(()),
        }
    }
}
