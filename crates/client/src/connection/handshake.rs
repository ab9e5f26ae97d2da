//! The first exchange: which APIs the peer supports, and whether it is Kafka at all.
//!
//! Kafka's rule (KIP-511): send ApiVersions in the newest version. A broker that does not support it answers in version
//! 0 with UNSUPPORTED_VERSION and, since 2.4, its own range. Brokers before 0.10 lack the request: 0.8 closes the
//! connection, 0.9 never answers.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::Reader;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::{ApiVersionsRequest, ApiVersionsResponse, Message};

use super::error::ConnectError;
use super::foreign::{self, Foreign};
use super::frame::FrameIoError;
use super::{ApiVersions, Connection, Failure, probe};
use crate::config::Address;
use crate::interrupt::Interrupt;

/// Responses to ApiVersions have header version 0, which is only the correlation id.
const HEADER_BYTES: usize = 4;

/// After this time without a response, the peer is checked for a release that never answers.
const SILENCE: Duration = Duration::from_secs(1);

/// The result of the first exchange.
pub(super) enum Peer {
    /// The broker's API versions.
    Tells(ApiVersions),
    /// The broker is too old for ApiVersions; its connection is unusable.
    Old(ApiVersions),
}

/// Repeats the request until the peer has answered. `recognise` checks, over separate connections, whether a silent
/// peer is an old broker; if not, the wait continues.
pub(super) fn exchange(
    connection: &mut Connection,
    deadline: Instant,
    recognise: impl FnOnce() -> Option<ApiVersions>,
) -> Result<Peer, ConnectError> {
    let mut recognise = Some(recognise);
    let mut version = *ApiVersionsRequest::VERSIONS.end();
    loop {
        let start = Instant::now();
        let soon = match recognise {
            Some(_) => deadline.min(start + SILENCE),
            None => deadline,
        };
        let mut answer = ask(connection, version, soon);
        if is_silence(&answer)
            && let Some(recognise) = recognise.take()
        {
            if let Some(versions) = recognise() {
                return Ok(Peer::Old(versions));
            }
            answer = connection.receive(deadline);
        }
        let body = answer.map_err(|failure| in_words(connection, failure, start.elapsed()))?;
        let (id, code) = match body.first_chunk::<6>() {
            Some(&[a, b, c, d, high, low]) => (
                i32::from_be_bytes([a, b, c, d]),
                i16::from_be_bytes([high, low]),
            ),
            None => return Err(not_kafka(connection, &as_sent(&body))),
        };
        if id != connection.correlation_id {
            return Err(not_kafka(connection, &as_sent(&body)));
        }
        let malformed = |error| ConnectError::Malformed {
            address: connection.address.clone(),
            error,
        };
        let message = &body[HEADER_BYTES..];
        match ErrorCode::from(code) {
            ErrorCode::None => {
                let answer = ApiVersionsResponse::decode_exact(message, version);
                return answer
                    .map(|answer| Peer::Tells(ApiVersions::from_answer(&answer)))
                    .map_err(malformed);
            }
            ErrorCode::UnsupportedVersion if version > 0 => version = lower(message, version),
            code => {
                return Err(ConnectError::Rejected {
                    address: connection.address.clone(),
                    code,
                });
            }
        }
    }
}

/// The version to try after a refusal, which has version 0.
fn lower(message: &[u8], refused: i16) -> i16 {
    let answer = ApiVersionsResponse::decode(&mut Reader::new(message), 0).ok();
    let range = answer.and_then(|answer| {
        answer
            .api_keys
            .into_iter()
            .find(|api| api.api_key == ApiKey::ApiVersions.as_i16())
    });
    match range {
        Some(range) if (0..refused).contains(&range.max_version) => range.max_version,
        _ => 0,
    }
}

/// The response to one request, including its header.
pub(super) fn ask(
    connection: &mut Connection,
    version: i16,
    deadline: Instant,
) -> Result<Vec<u8>, Failure> {
    let request = ApiVersionsRequest {
        // Brokers check these against [a-zA-Z0-9](?:[a-zA-Z0-9\\-.]*[a-zA-Z0-9])? (KIP-511).
        client_software_name: "kgauge".into(),
        client_software_version: env!("CARGO_PKG_VERSION").into(),
    };
    connection.exchange(&request, version, deadline)
}

/// Whether no byte arrived in time.
fn is_silence(answer: &Result<Vec<u8>, Failure>) -> bool {
    match answer {
        Err(Failure::Frame(FrameIoError::TimedOut { received })) => received.is_empty(),
        _ => false,
    }
}

fn in_words(connection: &Connection, failure: Failure, waited: Duration) -> ConnectError {
    let address = connection.address.clone();
    match failure {
        Failure::Frame(FrameIoError::Closed { received }) if received.is_empty() => {
            ConnectError::Closed { address }
        }
        Failure::Frame(
            FrameIoError::Closed { received } | FrameIoError::Length { received, .. },
        ) => not_kafka(connection, &received),
        Failure::Frame(FrameIoError::TimedOut { received }) if !received.is_empty() => {
            not_kafka(connection, &received)
        }
        Failure::Frame(FrameIoError::TimedOut { .. }) => ConnectError::Silent { address, waited },
        Failure::Frame(FrameIoError::Interrupted) => ConnectError::Interrupted { address },
        Failure::Frame(FrameIoError::Io(error)) => ConnectError::Io { address, error },
        // Only the client id of the request comes from outside, and its length is checked.
        Failure::Encode(error) => ConnectError::Io {
            address,
            error: std::io::Error::new(std::io::ErrorKind::InvalidInput, error),
        },
    }
}

/// The first bytes from the peer, including the frame's length.
fn as_sent(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let shown = &body[..body.len().min(foreign::PREVIEW_BYTES_MAX)];
    [&length.to_be_bytes(), shown].concat()
}

fn not_kafka(connection: &Connection, received: &[u8]) -> ConnectError {
    foreign_error(&connection.address, Foreign::recognise(received), received)
}

fn foreign_error(address: &Address, foreign: Foreign, received: &[u8]) -> ConnectError {
    let preview = match foreign {
        Foreign::Tls | Foreign::Bytes => String::new(),
        _ => foreign::preview(received),
    };
    ConnectError::Foreign {
        address: address.clone(),
        foreign,
        preview,
    }
}

/// Finds out more about a port that closed the connection or kept silent.
pub(super) fn explain(
    error: ConnectError,
    peer: SocketAddr,
    interrupt: &Interrupt,
) -> ConnectError {
    let riddle = matches!(
        error,
        ConnectError::Closed { .. } | ConnectError::Silent { .. }
    );
    match riddle
        .then(|| probe::second_look(peer, interrupt))
        .flatten()
    {
        Some((foreign, received)) => foreign_error(error.address(), foreign, &received),
        None => error,
    }
}
