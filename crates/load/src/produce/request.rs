//! Encodes Produce requests around batches that are not copied.
//!
//! The generated `ProduceRequest` of `wire` owns its batches; here only the bytes between them are encoded. Tests
//! compare both. Versions 0 to 12: up to 2 they carry message sets; 13 identifies topics by id and offers nothing that
//! load needs.

use std::ops::RangeInclusive;

use kgauge_client::transaction::TransactionKind;
use kgauge_scenario::ProducerSettings;
use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::{
    EncodeError, Lengths, put_array_length, put_i16, put_i32, put_null_string, put_string,
    put_unsigned_varint,
};

use crate::hand_codec::no_tags;
use crate::link::{BatchSlot, OutgoingFrame};

/// The versions that [`ProduceHead`] encodes and `response` decodes.
pub(crate) const VERSIONS: RangeInclusive<i16> = 0..=12;

/// From this version on, a broker treats a transactional producer as one of KIP-890, and adds the partitions to its
/// transaction.
const ADDS_FROM: i16 = 12;

/// The versions for a producer's transaction protocol, or without transactions.
pub(crate) fn versions_of(transactions: Option<TransactionKind>) -> RangeInclusive<i16> {
    match transactions {
        None => VERSIONS,
        Some(TransactionKind::First) => *VERSIONS.start()..=ADDS_FROM - 1,
        Some(TransactionKind::Second) => ADDS_FROM..=*VERSIONS.end(),
    }
}

/// The first version with compact lengths and tagged fields.
pub(super) const FLEXIBLE_FROM: i16 = 9;

/// The constant parts of a producer's Produce requests.
#[derive(Debug, Clone)]
pub(crate) struct ProduceHead {
    /// Kafka's `client.id`.
    pub(crate) client_id: String,
    /// The one topic.
    pub(crate) topic: String,
    /// Kafka's `transactional.id`, if there is one.
    pub(crate) transactional_id: Option<String>,
    /// As encoded: 0, 1 or -1.
    pub(crate) acks: i16,
    /// How long the broker may wait for replicas: `request.timeout.ms`.
    pub(crate) timeout_ms: i32,
}

impl ProduceHead {
    /// The head of a producer with these settings.
    pub(crate) fn of(
        settings: &ProducerSettings,
        topic: String,
        transactional_id: Option<String>,
    ) -> Self {
        Self {
            client_id: settings.client_id.clone(),
            topic,
            transactional_id,
            acks: settings.acks.wire(),
            timeout_ms: i32::try_from(settings.request_timeout_ns / 1_000_000).unwrap_or(i32::MAX),
        }
    }

    /// Starts a request for `partitions` batches. The size prefix is written by [`OutgoingFrame::seal`].
    pub(crate) fn begin(
        &self,
        frame: &mut OutgoingFrame,
        version: i16,
        correlation_id: i32,
        partitions: usize,
    ) -> Result<(), EncodeError> {
        let lengths = Lengths::of(version, FLEXIBLE_FROM);
        let out = &mut frame.head;
        put_i32(out, 0);
        put_i16(out, ApiKey::Produce.as_i16());
        put_i16(out, version);
        put_i32(out, correlation_id);
        put_string(out, Lengths::Fixed, &self.client_id, "client_id")?;
        no_tags(out, lengths);
        if version >= 3 {
            match &self.transactional_id {
                Some(id) => put_string(out, lengths, id, "transactional_id")?,
                None => put_null_string(out, lengths),
            }
        }
        put_i16(out, self.acks);
        put_i32(out, self.timeout_ms);
        put_array_length(out, lengths, 1, "topics")?;
        put_string(out, lengths, &self.topic, "topic")?;
        put_array_length(out, lengths, partitions, "partitions")
    }

    /// Adds one partition's batch.
    pub(crate) fn partition(
        frame: &mut OutgoingFrame,
        version: i16,
        index: u32,
        batch: u32,
        bytes: usize,
    ) {
        let lengths = Lengths::of(version, FLEXIBLE_FROM);
        let out = &mut frame.head;
        put_i32(out, index as i32);
        match lengths {
            Lengths::Fixed => put_i32(out, bytes as i32),
            Lengths::Compact => put_unsigned_varint(out, bytes as u32 + 1),
        }
        let head_end = out.len();
        frame.cuts.push(BatchSlot { head_end, batch });
        no_tags(&mut frame.head, lengths);
    }

    /// Ends the request: the tags of the topic and of the request itself.
    pub(crate) fn end(frame: &mut OutgoingFrame, version: i16) {
        let lengths = Lengths::of(version, FLEXIBLE_FROM);
        no_tags(&mut frame.head, lengths);
        no_tags(&mut frame.head, lengths);
    }
}

#[cfg(test)]
mod tests {
    use kgauge_wire::codec::Reader;
    use kgauge_wire::messages::{Message, produce::ProduceRequest};

    use super::*;
    use crate::link::Bodies;

    struct Batches([&'static [u8]; 2]);

    impl Bodies for Batches {
        fn body(&self, batch: u32) -> &[u8] {
            self.0[batch as usize]
        }
    }

    fn on_the_wire(frame: &OutgoingFrame, batches: &Batches) -> Vec<u8> {
        let (mut bytes, mut start) = (Vec::new(), 0);
        for cut in &frame.cuts {
            bytes.extend_from_slice(&frame.head[start..cut.head_end]);
            bytes.extend_from_slice(batches.body(cut.batch));
            start = cut.head_end;
        }
        bytes.extend_from_slice(&frame.head[start..]);
        bytes
    }

    #[test]
    fn a_broker_is_asked_to_add_partitions_by_the_second_kind_alone() {
        assert_eq!(versions_of(Some(TransactionKind::First)), 0..=11);
        assert_eq!(versions_of(Some(TransactionKind::Second)), 12..=12);
        assert_eq!(versions_of(None), 0..=12);
    }

    #[test]
    fn every_version_reads_back_as_the_generated_message() {
        let batches = Batches([b"first batch", b"second"]);
        let with_id = (3..=*VERSIONS.end()).map(|version| (version, Some("tx")));
        for (version, id) in VERSIONS.map(|version| (version, None)).chain(with_id) {
            let head = ProduceHead {
                client_id: "kgauge".into(),
                topic: "orders".into(),
                transactional_id: id.map(str::to_owned),
                acks: -1,
                timeout_ms: 30_000,
            };
            let mut frame = OutgoingFrame::default();
            head.begin(&mut frame, version, 77, 2).unwrap();
            ProduceHead::partition(&mut frame, version, 4, 0, batches.0[0].len());
            ProduceHead::partition(&mut frame, version, 9, 1, batches.0[1].len());
            ProduceHead::end(&mut frame, version);
            frame.seal(&batches);
            let bytes = on_the_wire(&frame, &batches);
            assert_eq!(
                bytes.len() - 4,
                u32::from_be_bytes(*bytes.first_chunk().unwrap()) as usize
            );

            // Header: api key 2, version 2, correlation 4, client id 2 + 6, tags of header v2.
            let header = 4 + 16 + usize::from(version >= FLEXIBLE_FROM);
            assert_eq!(bytes[8..12], 77_i32.to_be_bytes());
            let mut reader = Reader::new(&bytes[header..]);
            let request = ProduceRequest::decode(&mut reader, version).unwrap();
            assert!(reader.is_empty(), "version {version} leaves bytes over");
            assert_eq!((request.acks, request.timeout_ms), (-1, 30_000));
            assert_eq!(request.transactional_id.as_deref(), id);
            let topic = &request.topic_data[0];
            assert_eq!(topic.name, "orders");
            let found: Vec<(i32, &[u8])> = topic
                .partition_data
                .iter()
                .map(|entry| (entry.index, entry.records.as_deref().unwrap()))
                .collect();
            assert_eq!(found, [(4, batches.0[0]), (9, batches.0[1])]);
        }
    }
}
