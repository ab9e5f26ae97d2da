//! Why a cluster could not be reached, or did not answer a request.

use std::time::Duration;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;

use crate::config::Address;
use crate::connection::{CallError, ConnectError, time_words};
use crate::shown;

/// Why an exchange with a cluster failed.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// None of the bootstrap servers could be used.
    #[error("{}", attempt_words(attempts))]
    NoServer {
        /// One error per server, in the order of the configuration.
        attempts: Vec<ClusterError>,
    },
    /// A bootstrap server cannot be reached.
    #[error(transparent)]
    Bootstrap(ConnectError),
    /// A server does not support Metadata, so it is not a broker.
    #[error("{address} speaks the Kafka protocol but is not a broker: it does not answer Metadata")]
    NoBrokerThere {
        /// The address as given by the user.
        address: Address,
    },
    /// A broker cannot be reached at its advertised address.
    #[error("broker {broker_id}: {error}")]
    Connect {
        /// Its id.
        broker_id: i32,
        /// It was reached before.
        was_up: bool,
        /// The error at its advertised address.
        error: ConnectError,
    },
    /// An operation was retried until its time was over.
    #[error("could not {operation} within {}: {first}", time_words(*waited))]
    GaveUp {
        /// The operation.
        operation: &'static str,
        /// How long it was tried.
        waited: Duration,
        /// The error of the first attempt.
        first: Box<ClusterError>,
    },
    /// A request failed on the connection.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The cluster does not list a broker with this id.
    #[error("the cluster has no broker {broker_id}")]
    UnknownBroker {
        /// The id.
        broker_id: i32,
    },
    /// The cluster lists no broker at all.
    #[error("the cluster lists no live broker")]
    NoBroker,
    /// A broker refused a whole request.
    #[error("{api} was rejected with {code}{}", broker_words(message))]
    Refused {
        /// The request.
        api: ApiKey,
        /// The broker's code.
        code: ErrorCode,
        /// The broker's message, if any.
        message: Option<String>,
    },
    /// A broker returned an error for a topic.
    #[error("topic {topic}: {code}")]
    Topic {
        /// Its name.
        topic: String,
        /// The broker's code.
        code: ErrorCode,
    },
    /// The topic has no such partition.
    #[error("topic {topic} has no partition {partition}")]
    UnknownPartition {
        /// The topic's name.
        topic: String,
        /// The requested index.
        partition: i32,
    },
    /// The partition has no leader.
    #[error("partition {topic}-{partition} has no leader ({code})")]
    NoLeader {
        /// The topic's name.
        topic: String,
        /// The partition's index.
        partition: i32,
        /// The broker's error for the partition.
        code: ErrorCode,
    },
    /// The user interrupted ([`crate::Interrupt`]).
    #[error("interrupted while waiting for the cluster")]
    Interrupted,
}

/// A broker's message after its code.
pub(crate) fn broker_words(message: &Option<String>) -> String {
    match message {
        Some(words) if !words.is_empty() => format!(" (\"{}\")", shown(words)),
        _ => String::new(),
    }
}

fn attempt_words(attempts: &[ClusterError]) -> String {
    if let [only] = attempts {
        return only.to_string();
    }
    let line = |error: &ClusterError| format!("\n  {error}; {}", error.fix());
    let lines: String = attempts.iter().map(line).collect();
    format!("none of the bootstrap servers is usable:{lines}")
}

/// Whether and how an operation may continue after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Retrying does not help.
    GiveUp,
    /// A retry may succeed.
    Retry,
    /// A retry with new metadata may succeed.
    Refresh,
}

impl Next {
    /// The class of a code in the protocol's table.
    pub(crate) fn after(code: ErrorCode) -> Next {
        if code.refreshes_metadata() || code == ErrorCode::NotController {
            Next::Refresh
        } else if code.is_retriable() {
            Next::Retry
        } else {
            Next::GiveUp
        }
    }
}

impl ClusterError {
    /// Whether the error ends an operation at once.
    pub(crate) fn next(&self) -> Next {
        match self {
            ClusterError::Connect { error, .. } | ClusterError::Bootstrap(error) => match error {
                ConnectError::Refused { .. }
                | ConnectError::TimedOut { .. }
                | ConnectError::Unreachable { .. }
                | ConnectError::Silent { .. }
                | ConnectError::NoTime { .. }
                | ConnectError::Closed { .. }
                | ConnectError::Io { .. } => Next::Refresh,
                _ => Next::GiveUp,
            },
            ClusterError::GaveUp { first, .. } => first.next(),
            ClusterError::Call(error) if error.is_transient() => Next::Refresh,
            ClusterError::NoServer { attempts } => {
                if attempts
                    .iter()
                    .all(|attempt| attempt.next() == Next::GiveUp)
                {
                    Next::GiveUp
                } else {
                    Next::Retry
                }
            }
            ClusterError::UnknownBroker { .. }
            | ClusterError::NoBroker
            | ClusterError::NoLeader { .. } => Next::Refresh,
            ClusterError::Refused { code, .. } => Next::after(*code),
            // A missing topic does not appear by waiting: kgauge creates its own.
            ClusterError::Topic {
                code: ErrorCode::UnknownTopicOrPartition,
                ..
            } => Next::GiveUp,
            ClusterError::Topic { code, .. } => Next::after(*code),
            ClusterError::Call(_)
            | ClusterError::NoBrokerThere { .. }
            | ClusterError::UnknownPartition { .. }
            | ClusterError::Interrupted => Next::GiveUp,
        }
    }

    /// Whether the request may have taken effect without a response.
    pub(crate) fn may_have_been_done(&self) -> bool {
        match self {
            ClusterError::GaveUp { first, .. } => first.may_have_been_done(),
            ClusterError::Call(error) => error.may_have_been_done(),
            _ => false,
        }
    }

    /// Whether the wait was cancelled; this says nothing about the cluster.
    pub fn is_interruption(&self) -> bool {
        matches!(
            self,
            ClusterError::Interrupted
                | ClusterError::Call(CallError::Interrupted { .. })
                | ClusterError::Bootstrap(ConnectError::Interrupted { .. })
                | ClusterError::Connect {
                    error: ConnectError::Interrupted { .. },
                    ..
                }
        )
    }

    /// Whether waiting alone may help.
    pub fn may_pass(&self) -> bool {
        self.next() != Next::GiveUp
    }

    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            ClusterError::NoServer { attempts } => match attempts.as_slice() {
                [only] => only.fix(),
                _ => "use the address of a running Kafka broker",
            },
            ClusterError::Bootstrap(error) => error.fix(),
            ClusterError::NoBrokerThere { .. } => {
                "it is probably a KRaft controller listener; use a broker listener"
            }
            ClusterError::GaveUp { first, .. } => first.fix(),
            ClusterError::Connect {
                error: ConnectError::NoTime { .. },
                ..
            } => "try again, or raise default.api.timeout.ms",
            ClusterError::Connect { was_up: true, .. } => {
                "check that the broker is still running, and check its log"
            }
            ClusterError::Connect { .. } => {
                "the broker advertises this address: start it, or set advertised.listeners in its \
                 server.properties to an address that this machine can reach"
            }
            ClusterError::Call(error) => error.fix(),
            ClusterError::UnknownBroker { .. } | ClusterError::NoBroker => {
                "check that all brokers are up"
            }
            ClusterError::Refused { .. } => "check the broker's log",
            ClusterError::Topic { code, .. } => match code {
                ErrorCode::UnknownTopicOrPartition => "create the topic, or correct its name",
                ErrorCode::TopicAuthorizationFailed => "allow this client to use it",
                _ => "check the broker's log",
            },
            ClusterError::UnknownPartition { .. } => "correct the partition number",
            ClusterError::NoLeader { .. } => "check that the brokers with its replicas are up",
            ClusterError::Interrupted => "run it again",
        }
    }
}
