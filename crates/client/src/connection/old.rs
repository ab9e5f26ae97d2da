//! Brokers that do not know ApiVersions: Kafka before 0.10. 0.8 closes the connection on it, 0.9.0
//! leaves it unanswered for ever (seen with 0.8.2.2 and 0.9.0.1; also of ApiVersions 0).
//!
//! The client recognises such a broker by the requests that it answers: Metadata version 0, which all of them support,
//! and ListGroups, which 0.9 added. The tables below list its other requests.

use std::time::{Duration, Instant};

use kgauge_wire::messages::{
    ListGroupsRequest, ListGroupsResponse, Message, MetadataRequest, MetadataResponse, Request,
};

use super::{ApiVersions, Connection, handshake};

/// What 0.8.2 knows, as (key, lowest, highest). Source: `kafka.api.RequestKeys` and the version checks
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

/// What 0.9.0 knows. Source: `org.apache.kafka.common.protocol.Protocol` of kafka-clients 0.9.0.1.
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

/// Which age?
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

/// What the broker knows, if it is one of before 0.10. `open` makes a new connection to it.
///
/// A newer broker answers the old requests too, and may have closed its connection, or kept silent,
/// for reasons of its own. So ApiVersions is asked for once more at the end, in its first version.
pub(super) fn recognise(
    deadline: Instant,
    mut open: impl FnMut() -> Option<Connection>,
) -> Option<ApiVersions> {
    let start = Instant::now();
    // Half of what is left is for whoever waits if this is no such broker.
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

/// Brokers that know ApiVersions answer it from memory; this is for the slowest of them.
const CONFIRMATION: Duration = Duration::from_millis(500);

fn halfway(start: Instant, deadline: Instant) -> Instant {
    start + deadline.saturating_duration_since(start) / 2
}

fn answers_metadata(connection: &mut Connection, deadline: Instant) -> bool {
    // No topic means all of them; to name one could make it.
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

/// The message that answers a request of version 0. Its header is the correlation id alone.
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
    use super::super::OldBrokers;
    use super::*;
    use crate::config::Address;
    use crate::release::ReleaseGuess;

    #[test]
    fn the_tables_name_their_releases() {
        let guess = |age: Age| ReleaseGuess::from_api_versions(&age.versions()).to_string();
        assert_eq!(guess(Age::Kafka08), "0.8.2");
        assert_eq!(guess(Age::Kafka09), "0.9.0");
    }

    #[test]
    fn old_brokers_are_remembered_by_address_and_by_all_copies() {
        let address: Address = "a:1".parse().unwrap();
        let met = OldBrokers::default();
        let copy = met.clone();
        assert_eq!(copy.known(&address), None);
        met.note(&address, &Age::Kafka09.versions());
        assert_eq!(copy.known(&address), Some(Age::Kafka09.versions()));
        copy.forget(&address);
        assert_eq!(met.known(&address), None);
    }
}
