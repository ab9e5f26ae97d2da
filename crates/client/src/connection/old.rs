//! Brokers without ApiVersions: Kafka before 0.10. 0.8 closes the connection, and 0.9.0 never answers (observed with
//! 0.8.2.2 and 0.9.0.1, also for ApiVersions 0).
//!
//! The client recognises such a broker by the requests that it answers: Metadata version 0, which all of them support,
//! and ListGroups, which 0.9 added. The tables below list its other requests.

use std::time::{Duration, Instant};

use kgauge_wire::messages::{
    ListGroupsRequest, ListGroupsResponse, Message, MetadataRequest, MetadataResponse, Request,
};

use super::{ApiVersions, Connection, handshake};

/// The requests of 0.8.2, as (key, lowest, highest). Source: `kafka.api.RequestKeys` and the version checks
/// of its requests. 0.8.0 and 0.8.1 are taken for 0.8.2, although they lack FindCoordinator and LZ4.
const KAFKA_0_8_2: &[(i16, i16, i16)] = &[
    (0, 0, 0),  // Produce
    (1, 0, 0),  // Fetch
    (2, 0, 0),  // ListOffsets
    (3, 0, 0),  // Metadata
    (8, 0, 1),  // OffsetCommit
    (9, 0, 1),  // OffsetFetch
    (10, 0, 0), // FindCoordinator
];

/// The requests of 0.9.0. Source: `org.apache.kafka.common.protocol.Protocol` of kafka-clients 0.9.0.1.
const KAFKA_0_9: &[(i16, i16, i16)] = &[
    (0, 0, 1),  // Produce, with throttle time (KIP-13)
    (1, 0, 1),  // Fetch
    (2, 0, 0),  // ListOffsets
    (3, 0, 0),  // Metadata
    (8, 0, 2),  // OffsetCommit
    (9, 0, 1),  // OffsetFetch
    (10, 0, 0), // FindCoordinator
    (11, 0, 0), // JoinGroup
    (12, 0, 0), // Heartbeat
    (13, 0, 0), // LeaveGroup
    (14, 0, 0), // SyncGroup
    (15, 0, 0), // DescribeGroups
    (16, 0, 0), // ListGroups
];

/// The releases that are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    Kafka08,
    Kafka09,
}

impl Age {
    fn versions(self) -> ApiVersions {
        let table = match self {
            Age::Kafka08 => KAFKA_0_8_2,
            Age::Kafka09 => KAFKA_0_9,
        };
        ApiVersions::from_ranges(table.iter().copied())
    }
}

/// The API versions of the broker if it is older than 0.10. `open` makes a new connection to it.
///
/// A newer broker also answers the old requests, and may have closed its connection or kept silent for another reason.
/// ApiVersions is therefore requested again at the end, in its first version.
pub(super) fn recognise(
    deadline: Instant,
    mut open: impl FnMut() -> Option<Connection>,
) -> Option<ApiVersions> {
    let start = Instant::now();
    // Half of the remaining time is left for the caller, in case this is a newer broker.
    if !answers_metadata(&mut open()?, halfway(start, deadline)) {
        return None;
    }
    let took = start.elapsed();
    let start = Instant::now();
    let age = if answers_list_groups(&mut open()?, halfway(start, deadline)) {
        Age::Kafka09
    } else {
        Age::Kafka08
    };
    let patience = CONFIRMATION.max(took.saturating_mul(8));
    let until = deadline.min(Instant::now() + patience);
    match handshake::ask(&mut open()?, 0, until) {
        Ok(_) => None,
        Err(_) => Some(age.versions()),
    }
}

/// Enough for the slowest broker with ApiVersions, which answers from memory.
const CONFIRMATION: Duration = Duration::from_millis(500);

fn halfway(start: Instant, deadline: Instant) -> Instant {
    start + deadline.saturating_duration_since(start) / 2
}

fn answers_metadata(connection: &mut Connection, deadline: Instant) -> bool {
    // No topic means all of them; naming one could create it.
    let request = MetadataRequest {
        topics: Some(Vec::new()),
        ..MetadataRequest::default()
    };
    message(connection, &request, deadline)
        .is_some_and(|message| MetadataResponse::decode_exact(&message, 0).is_ok())
}

fn answers_list_groups(connection: &mut Connection, deadline: Instant) -> bool {
    message(connection, &ListGroupsRequest::default(), deadline)
        .is_some_and(|message| ListGroupsResponse::decode_exact(&message, 0).is_ok())
}

/// The response to a request of version 0. Its header is only the correlation id.
fn message<'a, R: Request<'a>>(
    connection: &mut Connection,
    request: &R,
    deadline: Instant,
) -> Option<Vec<u8>> {
    let mut body = connection.exchange(request, 0, deadline).ok()?;
    let id = connection.correlation_id.to_be_bytes();
    body.starts_with(&id).then(|| body.split_off(id.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::ReleaseGuess;

    #[test]
    fn the_tables_name_their_releases() {
        let guess = |age: Age| ReleaseGuess::from_api_versions(&age.versions()).to_string();
        assert_eq!(guess(Age::Kafka08), "0.8.2");
        assert_eq!(guess(Age::Kafka09), "0.9.0");
    }
}
