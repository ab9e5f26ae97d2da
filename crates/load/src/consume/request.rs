//! Encodes Fetch requests, versions 0 to 12. Up to 3 they carry message sets; 13 identifies topics by id and offers
//! nothing that load needs.

use std::ops::RangeInclusive;
use std::sync::Arc;

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::{
    EncodeError, Lengths, put_array_length, put_i8, put_i16, put_i32, put_i64, put_string,
};

use crate::hand_codec::no_tags;
use crate::topics::Topics;

/// The versions that [`FetchHead`] encodes and `response` decodes.
pub(crate) const VERSIONS: RangeInclusive<i16> = 0..=12;

/// The first version with compact lengths and tagged fields.
pub(super) const FLEXIBLE_FROM: i16 = 12;

/// The constant parts of a consumer's Fetch requests.
#[derive(Debug, Clone)]
pub(crate) struct FetchHead {
    /// Kafka's `client.id`.
    pub(crate) client_id: String,
    /// The topics, to translate places into partitions.
    pub(crate) topics: Arc<Topics>,
    /// `fetch.max.wait.ms`.
    pub(crate) wait_ms_max: i32,
    /// `fetch.min.bytes`.
    pub(crate) bytes_min: i32,
    /// `fetch.max.bytes`.
    pub(crate) bytes_max: i32,
    /// `max.partition.fetch.bytes`.
    pub(crate) partition_bytes_max: i32,
    /// `isolation.level`.
    pub(crate) read_committed: bool,
}

impl FetchHead {
    /// Encodes a complete request with its size prefix, for pairs of a partition's place and an offset. Adjacent
    /// partitions of one topic are grouped; the order is kept.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        version: i16,
        correlation_id: i32,
        partitions: &[(u32, i64)],
    ) -> Result<(), EncodeError> {
        let lengths = Lengths::of(version, FLEXIBLE_FROM);
        put_i32(out, 0);
        put_i16(out, ApiKey::Fetch.as_i16());
        put_i16(out, version);
        put_i32(out, correlation_id);
        put_string(out, Lengths::Fixed, &self.client_id, "client_id")?;
        no_tags(out, lengths);
        self.write_limits(out, version);
        let topic = |&(place, _): &(u32, i64)| self.topics.at(place).0;
        let runs = || partitions.chunk_by(|one, next| topic(one) == topic(next));
        put_array_length(out, lengths, runs().count(), "topics")?;
        for run in runs() {
            let name = run
                .first()
                .map_or("", |&(place, _)| self.topics.of(place).0);
            put_string(out, lengths, name, "topic")?;
            put_array_length(out, lengths, run.len(), "partitions")?;
            for &(place, offset) in run {
                self.write_partition(out, version, self.topics.at(place).1, offset);
            }
            no_tags(out, lengths);
        }
        if version >= 7 {
            put_array_length(out, lengths, 0, "forgotten_topics_data")?;
        }
        if version >= 11 {
            put_string(out, lengths, "", "rack_id")?;
        }
        no_tags(out, lengths);
        let size = (out.len() - 4) as u32;
        if let Some(prefix) = out.first_chunk_mut::<4>() {
            *prefix = size.to_be_bytes();
        }
        Ok(())
    }

    fn write_limits(&self, out: &mut Vec<u8>, version: i16) {
        put_i32(out, -1); // A consumer, not a replica.
        put_i32(out, self.wait_ms_max);
        put_i32(out, self.bytes_min);
        if version >= 3 {
            put_i32(out, self.bytes_max);
        }
        if version >= 4 {
            put_i8(out, i8::from(self.read_committed));
        }
        if version >= 7 {
            // Session 0, epoch -1: a full request outside any fetch session (KIP-227).
            put_i32(out, 0);
            put_i32(out, -1);
        }
    }

    fn write_partition(&self, out: &mut Vec<u8>, version: i16, partition: u32, offset: i64) {
        put_i32(out, partition as i32);
        if version >= 9 {
            put_i32(out, -1); // The leader epoch is not checked.
        }
        put_i64(out, offset);
        if version >= 12 {
            put_i32(out, -1); // Followers only: epoch of the last record.
        }
        if version >= 5 {
            put_i64(out, -1); // Followers only: log start offset.
        }
        put_i32(out, self.partition_bytes_max);
        no_tags(out, Lengths::of(version, FLEXIBLE_FROM));
    }
}

#[cfg(test)]
mod tests {
    use kgauge_wire::codec::Reader;
    use kgauge_wire::messages::{Message, fetch::FetchRequest};

    use super::*;

    #[test]
    fn every_version_reads_back_as_the_generated_message() {
        let head = FetchHead {
            client_id: "kgauge".into(),
            topics: Arc::new(Topics::one("orders")),
            wait_ms_max: 500,
            bytes_min: 1,
            bytes_max: 52_428_800,
            partition_bytes_max: 1_048_576,
            read_committed: true,
        };
        for version in VERSIONS {
            let mut bytes = Vec::new();
            head.write(&mut bytes, version, 3, &[(2, 40), (5, 0)])
                .unwrap();
            assert_eq!(
                bytes.len() - 4,
                u32::from_be_bytes(*bytes.first_chunk().unwrap()) as usize
            );
            let header = 4 + 16 + usize::from(version >= FLEXIBLE_FROM);
            let mut reader = Reader::new(&bytes[header..]);
            let request = FetchRequest::decode(&mut reader, version).unwrap();
            assert!(reader.is_empty(), "version {version} leaves bytes over");
            assert_eq!((request.replica_id, request.max_wait_ms), (-1, 500));
            // Before version 3 a response is limited only per partition.
            let max_bytes = if version >= 3 { 52_428_800 } else { i32::MAX };
            assert_eq!((request.min_bytes, request.max_bytes), (1, max_bytes));
            assert_eq!(request.isolation_level, i8::from(version >= 4));
            assert_eq!((request.session_id, request.session_epoch), (0, -1));
            let topic = &request.topics[0];
            assert_eq!(topic.topic, "orders");
            let found: Vec<_> = topic
                .partitions
                .iter()
                .map(|entry| {
                    (
                        entry.partition,
                        entry.fetch_offset,
                        entry.partition_max_bytes,
                    )
                })
                .collect();
            assert_eq!(found, [(2, 40, 1_048_576), (5, 0, 1_048_576)]);
        }
    }

    #[test]
    fn partitions_of_several_topics_stand_under_theirs_in_the_order_of_the_turn() {
        let counted = [("a", 2), ("b", 2)].map(|(name, count)| (name.to_owned(), count));
        let head = FetchHead {
            client_id: "kgauge".into(),
            topics: Arc::new(Topics::new(counted)),
            wait_ms_max: 500,
            bytes_min: 1,
            bytes_max: 1 << 20,
            partition_bytes_max: 1 << 20,
            read_committed: false,
        };
        let mut bytes = Vec::new();
        // The rotation starts in the middle of a: its rest comes last.
        let asked = [(1, 10), (2, 20), (3, 30), (0, 0)];
        head.write(&mut bytes, 11, 3, &asked).unwrap();
        let mut reader = Reader::new(&bytes[20..]);
        let request = FetchRequest::decode(&mut reader, 11).unwrap();
        assert!(reader.is_empty());
        let mut found = Vec::new();
        for topic in &request.topics {
            for part in &topic.partitions {
                found.push(format!(
                    "{}-{}@{}",
                    topic.topic, part.partition, part.fetch_offset
                ));
            }
        }
        assert_eq!(found, ["a-1@10", "b-0@20", "b-1@30", "a-0@0"]);
        assert_eq!(request.topics.len(), 3);
    }
}
