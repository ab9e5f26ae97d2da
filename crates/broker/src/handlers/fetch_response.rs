//! The answer to a fetch, written by hand: its records stay in their files, so it is bytes with
//! stretches of files between.
//!
//! The fields and their order are those of Kafka's `FetchResponse` definition, versions 4 to 18.
//! Null for aborted transactions, no tagged field. A test compares with the generated codec.

use kgauge_wire::codec::{self, EncodeError, Lengths, Uuid};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::frame::SIZE_BYTES;
use kgauge_wire::header::ResponseHeader;

use crate::node::{BrokerNode, Chunk, EncodedResponse, Reply};
use crate::storage::FileSlice;
use crate::time::Now;

const FLEXIBLE_FROM: i16 = 12;

/// From this version on topics go by id.
pub(super) const BY_ID_FROM: i16 = 13;

/// The result of one partition.
#[derive(Debug)]
pub(super) struct FetchedPartition {
    pub(super) index: i32,
    pub(super) error: ErrorCode,
    pub(super) high_watermark: i64,
    pub(super) last_stable_offset: i64,
    pub(super) log_start_offset: i64,
    /// The replica that the consumer should read from instead; −1 for this one.
    pub(super) preferred_read_replica: i32,
    pub(super) records: Option<FileSlice>,
}

/// The result of one topic.
#[derive(Debug)]
pub(super) struct TopicAnswer<'f> {
    pub(super) name: &'f str,
    pub(super) id: Uuid,
    pub(super) partitions: Vec<FetchedPartition>,
}

/// Encodes and sends the answer.
pub(super) fn send(
    node: &mut BrokerNode,
    reply: Reply,
    error: ErrorCode,
    topics: &[TopicAnswer<'_>],
) {
    send_encoded(node, reply, encode(reply, 0, error, topics));
}

/// Encodes the answer, and sends it when its moment has come.
pub(super) fn send_at(
    node: &mut BrokerNode,
    now: Now,
    reply: Reply,
    topics: &[TopicAnswer<'_>],
    at_ns: u64,
) {
    match encode(reply, 0, ErrorCode::None, topics) {
        Ok(response) => node.send_at(now, reply, response, at_ns),
        Err(error) => node.cannot_encode(reply, &error),
    }
}

/// Sends the answer to a client that must wait.
pub(super) fn send_throttled(node: &mut BrokerNode, reply: Reply, throttle_time_ms: i32) {
    let encoded = encode(reply, throttle_time_ms, ErrorCode::None, &[]);
    send_encoded(node, reply, encoded);
}

fn send_encoded(
    node: &mut BrokerNode,
    reply: Reply,
    encoded: Result<EncodedResponse, EncodeError>,
) {
    match encoded {
        Ok(response) => node.send(reply, response),
        Err(error) => node.cannot_encode(reply, &error),
    }
}

/// Bytes so far, and the finished pieces before them.
struct Pieces {
    chunks: Vec<Chunk>,
    bytes: Vec<u8>,
}

fn encode(
    reply: Reply,
    throttle_time_ms: i32,
    error: ErrorCode,
    topics: &[TopicAnswer<'_>],
) -> Result<EncodedResponse, EncodeError> {
    let version = reply.version;
    let lengths = Lengths::of(version, FLEXIBLE_FROM);
    let mut pieces = Pieces {
        chunks: Vec::new(),
        bytes: Vec::with_capacity(128),
    };
    let out = &mut pieces.bytes;
    out.extend_from_slice(&[0; SIZE_BYTES]);
    let header = ResponseHeader {
        correlation_id: reply.correlation_id,
    };
    header.encode(out, reply.api.response_header_version(version))?;
    codec::put_i32(out, throttle_time_ms);
    if version >= 7 {
        codec::put_i16(out, error.as_i16());
        codec::put_i32(out, 0); // session id: none
    }
    codec::put_array_length(out, lengths, topics.len(), "FetchResponse.Responses")?;
    for topic in topics {
        put_topic(&mut pieces, version, lengths, topic)?;
    }
    put_no_tags(&mut pieces.bytes, version);
    finish(pieces)
}

fn put_topic(
    pieces: &mut Pieces,
    version: i16,
    lengths: Lengths,
    topic: &TopicAnswer<'_>,
) -> Result<(), EncodeError> {
    let out = &mut pieces.bytes;
    if version >= BY_ID_FROM {
        codec::put_uuid(out, topic.id);
    } else {
        codec::put_string(out, lengths, topic.name, "FetchableTopicResponse.Topic")?;
    }
    let count = topic.partitions.len();
    codec::put_array_length(out, lengths, count, "FetchableTopicResponse.Partitions")?;
    for partition in &topic.partitions {
        put_partition(pieces, version, lengths, partition)?;
    }
    put_no_tags(&mut pieces.bytes, version);
    Ok(())
}

fn put_partition(
    pieces: &mut Pieces,
    version: i16,
    lengths: Lengths,
    partition: &FetchedPartition,
) -> Result<(), EncodeError> {
    let out = &mut pieces.bytes;
    codec::put_i32(out, partition.index);
    codec::put_i16(out, partition.error.as_i16());
    codec::put_i64(out, partition.high_watermark);
    codec::put_i64(out, partition.last_stable_offset);
    if version >= 5 {
        codec::put_i64(out, partition.log_start_offset);
    }
    codec::put_null_array(out, lengths); // aborted transactions
    if version >= 11 {
        codec::put_i32(out, partition.preferred_read_replica);
    }
    let bytes = partition.records.as_ref().map_or(0, |slice| slice.len);
    codec::put_array_length(out, lengths, bytes, "PartitionData.Records")?;
    if let Some(slice) = &partition.records {
        let before = std::mem::replace(&mut pieces.bytes, Vec::with_capacity(64));
        pieces.chunks.push(Chunk::Bytes(before));
        pieces.chunks.push(Chunk::File(slice.clone()));
    }
    put_no_tags(&mut pieces.bytes, version);
    Ok(())
}

fn put_no_tags(out: &mut Vec<u8>, version: i16) {
    if version >= FLEXIBLE_FROM {
        codec::put_unsigned_varint(out, 0);
    }
}

/// Sets the size in front of all pieces.
fn finish(mut pieces: Pieces) -> Result<EncodedResponse, EncodeError> {
    pieces.chunks.push(Chunk::Bytes(pieces.bytes));
    let mut response = EncodedResponse {
        chunks: pieces.chunks,
        ..EncodedResponse::default()
    };
    let length = response.len() - SIZE_BYTES;
    let length_max = i32::MAX as usize;
    let size = i32::try_from(length).map_err(|_| EncodeError::TooLong {
        what: "FetchResponse",
        length,
        length_max,
    })?;
    if let Some(Chunk::Bytes(first)) = response.chunks.first_mut() {
        first[..SIZE_BYTES].copy_from_slice(&size.to_be_bytes());
    }
    Ok(response)
}

#[cfg(test)]
mod tests;
