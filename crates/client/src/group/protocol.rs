//! What members tell each other through the coordinator: `ConsumerProtocol` of kafka-clients, a
//! version of two bytes and the message after it.
//!
//! A reader takes an unknown newer version as the newest that it knows, and ignores what follows
//! the message, as Kafka's does.

use std::collections::BTreeMap;

use kgauge_wire::codec::{DecodeError, Reader};
use kgauge_wire::messages::consumer_protocol::ConsumerProtocolAssignmentTopicPartition;
use kgauge_wire::messages::{ConsumerProtocolAssignment, ConsumerProtocolSubscription, Message};

use super::assignor::Partitions;

/// The protocol type of consumers among all kinds of groups.
pub(super) const PROTOCOL_TYPE: &str = "consumer";

/// With owned partitions, of which an eager member has none when it joins.
const SUBSCRIPTION_VERSION: i16 = 1;
/// The later ones add nothing.
const ASSIGNMENT_VERSION: i16 = 0;

/// A member's wish.
pub(super) fn subscription(topics: &[String]) -> Vec<u8> {
    let message = ConsumerProtocolSubscription {
        topics: topics.iter().map(|topic| topic.as_str().into()).collect(),
        ..ConsumerProtocolSubscription::default()
    };
    written(&message, SUBSCRIPTION_VERSION)
}

/// The topics of a member's wish.
pub(super) fn subscribed(bytes: &[u8]) -> Result<Vec<String>, DecodeError> {
    let message: ConsumerProtocolSubscription<'_> = read(bytes)?;
    Ok(message.topics.iter().map(ToString::to_string).collect())
}

/// What the leader gives to one member.
pub(super) fn assignment(partitions: &Partitions) -> Vec<u8> {
    let message = ConsumerProtocolAssignment {
        assigned_partitions: partitions
            .iter()
            .map(
                |(topic, partitions)| ConsumerProtocolAssignmentTopicPartition {
                    topic: topic.as_str().into(),
                    partitions: partitions.clone(),
                },
            )
            .collect(),
        user_data: None,
    };
    written(&message, ASSIGNMENT_VERSION)
}

/// What the leader gave to this member; no bytes at all are nothing.
pub(super) fn assigned(bytes: &[u8]) -> Result<Partitions, DecodeError> {
    if bytes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let message: ConsumerProtocolAssignment<'_> = read(bytes)?;
    let mut partitions = Partitions::new();
    for topic in &message.assigned_partitions {
        let of_topic = partitions.entry(topic.topic.to_string()).or_default();
        of_topic.extend(&topic.partitions);
        of_topic.sort_unstable();
        of_topic.dedup();
    }
    Ok(partitions)
}

fn written<'a>(message: &impl Message<'a>, version: i16) -> Vec<u8> {
    let mut out = version.to_be_bytes().to_vec();
    let encoded = message.encode(&mut out, version);
    debug_assert!(encoded.is_ok(), "topic names are short");
    out
}

fn read<'a, M: Message<'a>>(bytes: &'a [u8]) -> Result<M, DecodeError> {
    let mut reader = Reader::new(bytes);
    let version = reader.read_i16()?;
    M::decode(&mut reader, version.min(*M::VERSIONS.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_kafkas_consumer_protocol() {
        // Version 1; one topic "ab"; user data null (-1); no owned partitions.
        let expected = b"\x00\x01\x00\x00\x00\x01\x00\x02ab\xff\xff\xff\xff\x00\x00\x00\x00";
        assert_eq!(subscription(&["ab".to_owned()]), expected);
        // Version 0; "ab" with partitions 0 and 3; user data null.
        let given = Partitions::from([("ab".to_owned(), vec![0, 3])]);
        let expected = b"\x00\x00\x00\x00\x00\x01\x00\x02ab\x00\x00\x00\x02\
            \x00\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff";
        assert_eq!(assignment(&given), expected);
        assert_eq!(assigned(expected).unwrap(), given);
    }

    #[test]
    fn newer_versions_and_bytes_behind_the_message_are_taken() {
        // Version 3 of Kafka 4: owned partitions, generation -1, no rack; then version 9 of nobody.
        let v3 = b"\x00\x03\x00\x00\x00\x01\x00\x02ab\xff\xff\xff\xff\x00\x00\x00\x00\
            \xff\xff\xff\xff\xff\xff";
        assert_eq!(subscribed(v3).unwrap(), ["ab"]);
        let mut v9 = v3.to_vec();
        v9[1] = 9;
        v9.extend(b"more");
        assert_eq!(subscribed(&v9).unwrap(), ["ab"]);
    }

    #[test]
    fn lying_bytes_are_errors_and_none_are_nothing() {
        assert!(assigned(&[]).unwrap().is_empty());
        assert!(assigned(b"\x00").is_err());
        assert!(assigned(b"\x00\x00\x7f\xff\xff\xff").is_err());
        assert!(assigned(b"\xff\xff\x00\x00\x00\x00").is_err());
        assert!(subscribed(b"\x00\x01\x00\x00\x00\x02\x00\x02ab").is_err());
    }

    #[test]
    fn a_partition_that_is_given_twice_counts_once() {
        let twice = b"\x00\x00\x00\x00\x00\x02\x00\x01a\x00\x00\x00\x01\x00\x00\x00\x05\
            \x00\x01a\x00\x00\x00\x01\x00\x00\x00\x05\xff\xff\xff\xff";
        let expected = Partitions::from([("a".to_owned(), vec![5])]);
        assert_eq!(assigned(twice).unwrap(), expected);
    }
}
