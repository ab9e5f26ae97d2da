//! Why a broker could not be reached or did not answer a request, with a fix.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::{DecodeError, EncodeError};
use kgauge_wire::error_code::ErrorCode;

use super::foreign::Foreign;
use crate::config::Address;
use crate::security::tls;

/// ` by 127.0.0.1:9092`, unless that is the address as given.
fn by(address: &Address, peer: SocketAddr) -> String {
    match address.to_string() == peer.to_string() {
        true => String::new(),
        false => format!(" by {peer}"),
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The name has no address.
    #[error("{address}: unknown host ({words})")]
    UnknownHost {
        /// As the user or the cluster gave it.
        address: Address,
        /// The resolver's message.
        words: String,
    },
    /// Nobody listens on the port.
    #[error("{address}: connection refused{}", by(address, *peer))]
    Refused {
        /// As the user or the cluster gave it.
        address: Address,
        /// The address that was tried last.
        peer: SocketAddr,
    },
    /// The host did not answer at all.
    #[error("{address}: no answer from {peer} within {}", time_words(*waited))]
    TimedOut {
        /// As the user or the cluster gave it.
        address: Address,
        /// The address that was tried last.
        peer: SocketAddr,
        /// How long all attempts took together.
        waited: Duration,
    },
    /// The operation's time was over before the broker was tried.
    #[error("{address}: timed out before connecting")]
    NoTime {
        /// As the user or the cluster gave it.
        address: Address,
    },
    /// There is no route to the host.
    #[error("{address}: cannot connect to {peer}: {error}")]
    Unreachable {
        /// As the user or the cluster gave it.
        address: Address,
        /// The address that was tried last.
        peer: SocketAddr,
        /// The operating system's message.
        error: io::Error,
    },
    /// The port accepts connections and then sends nothing.
    #[error(
        "{address}: this port accepted the connection but sent nothing within {}",
        time_words(*waited)
    )]
    Silent {
        /// As the user or the cluster gave it.
        address: Address,
        /// The time waited for a response.
        waited: Duration,
    },
    /// The port responds with something other than Kafka's frames.
    #[error(
        "{address}: this port answered, but not in Kafka's protocol: {foreign}{}",
        quoted(preview)
    )]
    Foreign {
        /// As the user or the cluster gave it.
        address: Address,
        /// What it probably is.
        foreign: Foreign,
        /// The first line of the response, made printable; may be empty.
        preview: String,
    },
    /// The peer closed the connection instead of answering the first request.
    #[error("{address}: this port closed the connection instead of answering ApiVersions")]
    Closed {
        /// As the user or the cluster gave it.
        address: Address,
    },
    /// A broker answered the first request with an error.
    #[error("{address}: the broker rejected the first request with {code}")]
    Rejected {
        /// As the user or the cluster gave it.
        address: Address,
        /// The broker's code.
        code: ErrorCode,
    },
    /// A response in Kafka's frames is invalid.
    #[error(
        "{address}: the response to the first request is not a valid ApiVersions response: {error}"
    )]
    Malformed {
        /// As the user or the cluster gave it.
        address: Address,
        /// What is wrong with it.
        error: DecodeError,
    },
    /// The TLS handshake failed.
    #[error("{address}: TLS: {words}")]
    Tls {
        /// As the user or the cluster gave it.
        address: Address,
        /// What went wrong.
        words: Box<str>,
        /// The fix for the user.
        fix: &'static str,
    },
    /// The broker did not authenticate this client.
    #[error("{address}: SASL {words}")]
    Sasl {
        /// As the user or the cluster gave it.
        address: Address,
        /// The mechanism and the problem, with the broker's message if there is one.
        words: Box<str>,
        /// The fix for the user.
        fix: &'static str,
    },
    /// The operating system failed meanwhile.
    #[error("{address}: {error}")]
    Io {
        /// As the user or the cluster gave it.
        address: Address,
        /// The operating system's message.
        error: io::Error,
    },
    /// The user interrupted ([`crate::Interrupt`]).
    #[error("{address}: interrupted while connecting")]
    Interrupted {
        /// As the user or the cluster gave it.
        address: Address,
    },
}

/// A waiting time as text: `12.3 s`, `850 ms`.
pub(crate) fn time_words(waited: Duration) -> String {
    match waited.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} ms", (seconds * 1e3).max(1.0)),
    }
}

fn quoted(preview: &str) -> String {
    if preview.is_empty() {
        String::new()
    } else {
        format!(" (it sent \"{preview}\")")
    }
}

impl ConnectError {
    /// The address to be reached.
    pub fn address(&self) -> &Address {
        match self {
            ConnectError::UnknownHost { address, .. }
            | ConnectError::Refused { address, .. }
            | ConnectError::TimedOut { address, .. }
            | ConnectError::NoTime { address }
            | ConnectError::Unreachable { address, .. }
            | ConnectError::Silent { address, .. }
            | ConnectError::Foreign { address, .. }
            | ConnectError::Closed { address }
            | ConnectError::Rejected { address, .. }
            | ConnectError::Malformed { address, .. }
            | ConnectError::Tls { address, .. }
            | ConnectError::Sasl { address, .. }
            | ConnectError::Io { address, .. }
            | ConnectError::Interrupted { address } => address,
        }
    }

    /// The same after a TLS handshake: with TLS 1.3, a broker refuses a client's certificate only then.
    pub(super) fn over_tls(self) -> ConnectError {
        let (address, (words, fix)) = match self {
            ConnectError::Io { address, error } => match tls::failure(&error) {
                Some(failure) => (address, tls::words(failure)),
                None => return ConnectError::Io { address, error },
            },
            ConnectError::Closed { address } => (
                address,
                (
                    "the broker closed the connection right after the TLS handshake".to_owned(),
                    "check the broker's log; if it requires a client certificate, set \
                     ssl.keystore.location",
                ),
            ),
            other => return other,
        };
        ConnectError::Tls {
            address,
            words: words.into(),
            fix,
        }
    }

    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            ConnectError::UnknownHost { .. } => {
                "check the spelling of the host name, or use its IP address"
            }
            ConnectError::Refused { .. } => "start the broker, or correct the host and port",
            ConnectError::NoTime { .. } => "try again, or raise default.api.timeout.ms",
            ConnectError::TimedOut { .. } | ConnectError::Unreachable { .. } => {
                "check host, port and firewall, or raise socket.connection.setup.timeout.ms"
            }
            ConnectError::Silent { .. } => {
                "check that this is a Kafka listener; if it is, the broker may be overloaded or \
                 still starting"
            }
            ConnectError::Foreign {
                foreign: Foreign::Tls,
                ..
            } => "set security.protocol to SSL or SASL_SSL, or use a PLAINTEXT listener",
            ConnectError::Foreign { .. } => {
                "use the port of a Kafka listener (listeners= in the broker's server.properties)"
            }
            ConnectError::Closed { .. } => {
                "check that this is a Kafka listener without TLS and SASL, unless \
                 security.protocol is set; check the broker's log"
            }
            ConnectError::Rejected { .. } | ConnectError::Malformed { .. } => {
                "check that this is a Kafka listener; if it is, please report this with the \
                 broker's version"
            }
            ConnectError::Tls { fix, .. } | ConnectError::Sasl { fix, .. } => fix,
            ConnectError::Io { .. } => "check the network and try again",
            ConnectError::Interrupted { .. } => "run it again",
        }
    }
}

/// Why a request has no usable response. `broker` is the address of the connection.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Broker and kgauge have no common version of the request, or the broker lacks it.
    #[error("{broker} cannot answer {api}: {}", version_words(*theirs, *ours))]
    Unsupported {
        /// The broker.
        broker: Address,
        /// The request.
        api: ApiKey,
        /// The broker's lowest and highest version, if it supports the request.
        theirs: Option<(i16, i16)>,
        /// The lowest and highest acceptable version.
        ours: (i16, i16),
    },
    /// The request cannot be encoded in the common version.
    #[error("{api} version {version} cannot be written for {broker}: {error}")]
    Encode {
        /// The broker.
        broker: Address,
        /// The request.
        api: ApiKey,
        /// The common version.
        version: i16,
        /// The problem.
        error: EncodeError,
    },
    /// No response in time. The connection is not used again.
    #[error("{broker} did not answer {api} within {}", time_words(*waited))]
    TimedOut {
        /// The broker.
        broker: Address,
        /// The request.
        api: ApiKey,
        /// The time waited.
        waited: Duration,
    },
    /// The broker closed the connection.
    #[error("{broker} closed the connection instead of answering {api}")]
    Closed {
        /// The broker.
        broker: Address,
        /// The request.
        api: ApiKey,
    },
    /// The operating system failed.
    #[error("{broker}: {api} failed: {error}")]
    Io {
        /// The broker.
        broker: Address,
        /// The request.
        api: ApiKey,
        /// The operating system's message.
        error: io::Error,
    },
    /// A response that is larger than allowed, or has an impossible length.
    #[error(
        "{broker} announced a response of {bytes} bytes to {api}; kgauge accepts at most \
         {bytes_max}"
    )]
    Length {
        /// The broker.
        broker: Address,
        /// The request.
        api: ApiKey,
        /// The length as received.
        bytes: i64,
        /// [`crate::ClientConfig::response_bytes_max`].
        bytes_max: usize,
    },
    /// A response to another request than the last one.
    #[error("{broker} answered {api} with correlation id {received} instead of {expected}")]
    Correlation {
        /// The broker.
        broker: Address,
        /// The request.
        api: ApiKey,
        /// The id of the request.
        expected: i32,
        /// The id of the response.
        received: i32,
    },
    /// A response that is not a valid message of this version.
    #[error("{broker} answered {api} version {version} with an invalid response: {error}")]
    Malformed {
        /// The broker.
        broker: Address,
        /// The request.
        api: ApiKey,
        /// The requested version.
        version: i16,
        /// What is wrong with it.
        error: DecodeError,
    },
    /// The user interrupted ([`crate::Interrupt`]).
    #[error("{api} to {broker}: interrupted while waiting")]
    Interrupted {
        /// The broker.
        broker: Address,
        /// The request.
        api: ApiKey,
    },
}

fn version_words(theirs: Option<(i16, i16)>, ours: (i16, i16)) -> String {
    match theirs {
        None => "it does not support this request".to_owned(),
        Some((min, max)) => {
            format!(
                "it supports versions {min} to {max}; kgauge needs {} to {}",
                ours.0, ours.1
            )
        }
    }
}

impl CallError {
    /// Whether a retry over a new connection may help.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(
            self,
            CallError::TimedOut { .. } | CallError::Closed { .. } | CallError::Io { .. }
        )
    }

    /// Whether the request may have taken effect without a response.
    pub fn may_have_been_done(&self) -> bool {
        !matches!(
            self,
            CallError::Unsupported { .. } | CallError::Encode { .. }
        )
    }

    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            CallError::Unsupported { .. } => {
                "use another Kafka release, or a target without this restriction"
            }
            CallError::TimedOut { .. } => {
                "the broker may be overloaded; check its log, or raise request.timeout.ms"
            }
            CallError::Closed { .. } => {
                "check the broker's log; if the listener requires SASL, set security.protocol to \
                 SASL_PLAINTEXT or SASL_SSL"
            }
            CallError::Io { .. } => "check the network and the broker, and try again",
            CallError::Interrupted { .. } => "run it again",
            CallError::Encode { .. }
            | CallError::Length { .. }
            | CallError::Correlation { .. }
            | CallError::Malformed { .. } => "please report this with the broker's version",
        }
    }
}
