//! The messages between members, which the coordinator forwards: `ConsumerProtocol` of kafka-clients, a version of two
//! bytes followed by the message.
//!
//! A reader treats an unknown newer version as the newest known one, and ignores bytes after the message, like Kafka's.

use std::collections::BTreeMap;

use kgauge_wire::codec::{DecodeError, Lengths, Reader};
use kgauge_wire::messages::consumer_protocol::{
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscriptionTopicPartition as TopicPartition,
};
use kgauge_wire::messages::{ConsumerProtocolAssignment, ConsumerProtocolSubscription, Message};

use super::assignor::Assignor;
use super::subscriber::Partitions;

/// The protocol type of consumers among all kinds of groups.
pub(super) const PROTOCOL_TYPE: &str = "consumer";

/// With owned partitions (none if an eager member joins) and their generation.
const SUBSCRIPTION_VERSION: i16 = 2;
/// Later versions add nothing.
const ASSIGNMENT_VERSION: i16 = 0;

/// A member's subscription.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Subscription {
    /// The topics that it wants to read.
    pub(super) topics: Vec<String>,
    /// Its current partitions.
    pub(super) owned: Partitions,
    /// The generation of their assignment; negative if unknown.
    pub(super) generation: i32,
}

/// A member's subscription, in the form that an assignor expects.
pub(super) fn subscription(member: &Subscription, assignor: Assignor) -> Vec<u8> {
    let user_data = user_data(member, assignor);
    let mut message = ConsumerProtocolSubscription {
        topics: member
            .topics
            .iter()
            .map(|topic| topic.as_str().into())
            .collect(),
        user_data: user_data.as_deref().map(Into::into),
        ..ConsumerProtocolSubscription::default()
    };
    if assignor == Assignor::CooperativeSticky {
        let owned = member
            .owned
            .iter()
            .map(|(topic, partitions)| TopicPartition {
                topic: topic.as_str().into(),
                partitions: partitions.clone(),
            });
        message.owned_partitions = owned.collect();
        message.generation_id = member.generation;
    }
    written(&message, SUBSCRIPTION_VERSION)
}

/// The user data of the sticky assignors, which versions before 2 read. `sticky`: the member's partitions and their
/// generation; `cooperative-sticky`: the generation. None for a member that never had partitions.
fn user_data(member: &Subscription, assignor: Assignor) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let length = |of: usize| i32::try_from(of).unwrap_or(i32::MAX).to_be_bytes();
    match assignor {
        Assignor::Range | Assignor::RoundRobin => return None,
        Assignor::Sticky if member.generation < 0 => return None,
        Assignor::Sticky => {
            out.extend(length(member.owned.len()));
            for (topic, partitions) in &member.owned {
                out.extend(u16::try_from(topic.len()).unwrap_or(0).to_be_bytes());
                out.extend(topic.as_bytes());
                out.extend(length(partitions.len()));
                out.extend(partitions.iter().flat_map(|index| index.to_be_bytes()));
            }
        }
        Assignor::CooperativeSticky => {}
    }
    out.extend(member.generation.to_be_bytes());
    Some(out)
}

/// Decodes a member's subscription for the chosen assignor.
pub(super) fn subscribed(bytes: &[u8], assignor: Assignor) -> Result<Subscription, DecodeError> {
    let message: ConsumerProtocolSubscription<'_> = read(bytes)?;
    let topics = message.topics.iter().map(ToString::to_string).collect();
    let user_data = message.user_data.as_deref().unwrap_or_default();
    let (owned, generation) = match assignor {
        Assignor::Range | Assignor::RoundRobin => (Partitions::new(), -1),
        // Other clients may write user data of their own. If it is unreadable, nothing is known, as in Kafka.
        Assignor::Sticky => previous(user_data).unwrap_or((Partitions::new(), -1)),
        Assignor::CooperativeSticky => {
            let mut owned = Partitions::new();
            for topic in &message.owned_partitions {
                let of_topic = owned.entry(topic.topic.to_string()).or_default();
                of_topic.extend(&topic.partitions);
            }
            let generation = match message.generation_id {
                0.. => message.generation_id,
                // Before version 2, only the user data contain it.
                _ => user_data
                    .first_chunk()
                    .map_or(-1, |bytes| i32::from_be_bytes(*bytes)),
            };
            (owned, generation)
        }
    };
    Ok(Subscription {
        topics,
        owned,
        generation,
    })
}

/// The partitions of a member of `sticky`; before Kafka 2.3 without the generation.
fn previous(bytes: &[u8]) -> Result<(Partitions, i32), DecodeError> {
    let mut reader = Reader::new(bytes);
    let mut owned = Partitions::new();
    if bytes.is_empty() {
        return Ok((owned, -1));
    }
    // An empty name and no partitions are 6 bytes.
    let topics = reader.read_array(Lengths::Fixed, 6, |reader| {
        let topic = reader.read_string(Lengths::Fixed)?.to_string();
        let partitions = reader.read_array(Lengths::Fixed, 4, |reader| reader.read_i32())?;
        Ok((topic, partitions))
    })?;
    for (topic, partitions) in topics {
        owned.entry(topic).or_default().extend(partitions);
    }
    let generation = if reader.is_empty() {
        -1
    } else {
        reader.read_i32()?
    };
    Ok((owned, generation))
}

/// One member's assignment, from the leader.
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

/// Decodes this member's assignment; no bytes mean no partitions.
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

    /// A subscription to topic "ab"; the member has partitions 0 and 3, or none.
    fn member(owned: &str) -> Subscription {
        let has = !owned.is_empty();
        Subscription {
            topics: vec!["ab".to_owned()],
            owned: if has {
                Partitions::from([(owned.to_owned(), vec![0, 3])])
            } else {
                Partitions::new()
            },
            generation: if has { 5 } else { -1 },
        }
    }

    #[test]
    fn sticky_members_report_their_partitions_as_kafkas_do() {
        // Version 2; "ab"; user data of 24 bytes: one topic "ab" with partitions 0 and 3, generation 5;
        // nothing is owned while an eager member joins.
        let expected = b"\x00\x02\x00\x00\x00\x01\x00\x02ab\x00\x00\x00\x18\
            \x00\x00\x00\x01\x00\x02ab\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x05\
            \x00\x00\x00\x00\xff\xff\xff\xff";
        assert_eq!(subscription(&member("ab"), Assignor::Sticky), expected);
        assert_eq!(
            subscribed(expected, Assignor::Sticky).unwrap(),
            member("ab")
        );
        let new = subscription(&member(""), Assignor::Sticky);
        assert_eq!(subscribed(&new, Assignor::Sticky).unwrap(), member(""));
    }

    #[test]
    fn cooperative_members_report_their_partitions_and_generation() {
        // Version 2; "ab"; user data of 4 bytes: generation 5; "ab" 0 and 3 are owned; generation 5.
        let expected = b"\x00\x02\x00\x00\x00\x01\x00\x02ab\x00\x00\x00\x04\x00\x00\x00\x05\
            \x00\x00\x00\x01\x00\x02ab\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x05";
        let assignor = Assignor::CooperativeSticky;
        assert_eq!(subscription(&member("ab"), assignor), expected);
        assert_eq!(subscribed(expected, assignor).unwrap(), member("ab"));
        // Version 1, of Kafka 2.4: only the user data contain the generation.
        let mut v1 = expected[..expected.len() - 4].to_vec();
        v1[1] = 1;
        assert_eq!(subscribed(&v1, assignor).unwrap(), member("ab"));
    }

    #[test]
    fn what_a_sticky_member_had_is_read_without_a_generation_and_junk_is_nothing() {
        let decode = |user_data: &[u8]| {
            let mut bytes = b"\x00\x00\x00\x00\x00\x01\x00\x02ab".to_vec();
            bytes.extend((user_data.len() as i32).to_be_bytes());
            bytes.extend(user_data);
            subscribed(&bytes, Assignor::Sticky).unwrap()
        };
        let old = b"\x00\x00\x00\x01\x00\x02ab\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03";
        let expected = Subscription {
            generation: -1,
            ..member("ab")
        };
        assert_eq!(decode(old), expected);
        for junk in [
            &b"x"[..],
            b"\x7f\xff\xff\xff",
            b"\x00\x00\x00\x01\x00\x02ab\x7f\xff\xff\xff",
        ] {
            assert_eq!(decode(junk), member(""));
        }
    }

    #[test]
    fn the_bytes_are_those_of_kafkas_consumer_protocol() {
        // Version 2; one topic "ab"; user data null (-1); no owned partitions; generation -1.
        let expected = b"\x00\x02\x00\x00\x00\x01\x00\x02ab\xff\xff\xff\xff\x00\x00\x00\x00\
            \xff\xff\xff\xff";
        let member = member("");
        assert_eq!(subscription(&member, Assignor::Range), expected);
        // Version 0; "ab" with partitions 0 and 3; user data null.
        let given = Partitions::from([("ab".to_owned(), vec![0, 3])]);
        let expected = b"\x00\x00\x00\x00\x00\x01\x00\x02ab\x00\x00\x00\x02\
            \x00\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff";
        assert_eq!(assignment(&given), expected);
        assert_eq!(assigned(expected).unwrap(), given);
    }

    #[test]
    fn newer_versions_and_bytes_behind_the_message_are_taken() {
        let read = |bytes: &[u8]| subscribed(bytes, Assignor::Range).unwrap().topics;
        // Version 3 of Kafka 4: owned partitions, generation -1, no rack; then version 9 of nobody.
        let v3 = b"\x00\x03\x00\x00\x00\x01\x00\x02ab\xff\xff\xff\xff\x00\x00\x00\x00\
            \xff\xff\xff\xff\xff\xff";
        assert_eq!(read(v3), ["ab"]);
        let mut v9 = v3.to_vec();
        v9[1] = 9;
        v9.extend(b"more");
        assert_eq!(read(&v9), ["ab"]);
        assert_eq!(
            read(b"\x00\x00\x00\x00\x00\x01\x00\x02ab\xff\xff\xff\xff"),
            ["ab"]
        );
    }

    #[test]
    fn lying_bytes_are_errors_and_none_are_nothing() {
        assert!(assigned(&[]).unwrap().is_empty());
        assert!(assigned(b"\x00").is_err());
        assert!(assigned(b"\x00\x00\x7f\xff\xff\xff").is_err());
        assert!(assigned(b"\xff\xff\x00\x00\x00\x00").is_err());
        assert!(subscribed(b"\x00\x01\x00\x00\x00\x02\x00\x02ab", Assignor::Range).is_err());
    }

    #[test]
    fn a_partition_that_is_given_twice_counts_once() {
        let twice = b"\x00\x00\x00\x00\x00\x02\x00\x01a\x00\x00\x00\x01\x00\x00\x00\x05\
            \x00\x01a\x00\x00\x00\x01\x00\x00\x00\x05\xff\xff\xff\xff";
        let expected = Partitions::from([("a".to_owned(), vec![5])]);
        assert_eq!(assigned(twice).unwrap(), expected);
    }
}
