//! The form of the inputs of the target `node`: what clients do, one step after the other.
//!
//! A step begins with a byte: the lowest two bits choose one of four clients, the next three what it
//! does. See [`Step`] for what follows. Inputs of any bytes are steps.

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::frame::put_request;
use kgauge_wire::messages::{
    ApiVersionsRequest, FetchRequest, FindCoordinatorRequest, HeartbeatRequest,
    InitProducerIdRequest, JoinGroupRequest, ListOffsetsRequest, MetadataRequest,
    OffsetCommitRequest, OffsetFetchRequest, ProduceRequest, Request, SyncGroupRequest, fetch,
    join_group, list_offsets, offset_commit, produce, sync_group,
};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

/// The topic that is there from the start, with two partitions.
pub const TOPIC: &str = "t";

/// One thing that a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// It sends bytes as a frame, after their length. Two bytes of length, the bytes.
    Frame(&'a [u8]),
    /// The same in pieces. A byte: the size of a piece, less one; then as before.
    Pieces(u8, &'a [u8]),
    /// It sends bytes as they are. A byte of length, the bytes.
    Raw(&'a [u8]),
    /// Milliseconds pass: two bytes.
    Pass(u16),
    /// It goes, and comes back as another.
    Leave,
}

/// The steps of an input, each with its client.
pub fn steps(mut input: &[u8]) -> impl Iterator<Item = (usize, Step<'_>)> {
    std::iter::from_fn(move || {
        let first = number(&mut input, 1)?;
        let step = match first >> 2 & 7 {
            4 => {
                let piece = number(&mut input, 1)? as u8;
                Step::Pieces(piece, bytes(&mut input, 2)?)
            }
            5 => Step::Raw(bytes(&mut input, 1)?),
            6 => Step::Pass(number(&mut input, 2)? as u16),
            7 => Step::Leave,
            _ => Step::Frame(bytes(&mut input, 2)?),
        };
        Some((first & 3, step))
    })
}

/// A number of so many bytes, the least first.
fn number(input: &mut &[u8], count: usize) -> Option<usize> {
    let (number, rest) = input.split_at_checked(count)?;
    *input = rest;
    let value = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
    Some(number.iter().rev().fold(0, value))
}

/// As many bytes as a number of so many bytes says, or all that are left.
fn bytes<'a>(input: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let len = number(input, count)?.min(input.len());
    let (bytes, rest) = input.split_at(len);
    *input = rest;
    Some(bytes)
}

/// The steps that send a message which Kafka's own classes wrote; none for what is no request.
pub fn of_golden(name: &str, version: i16, body: &[u8]) -> Option<Vec<u8>> {
    let name = name.strip_suffix("Request")?;
    let mut keys = (0..100).filter_map(ApiKey::from_i16);
    let api = keys.find(|api| api.name() == name)?;
    let mut frame = Vec::new();
    frame.extend(api.as_i16().to_be_bytes());
    frame.extend(version.to_be_bytes());
    frame.extend(7_i32.to_be_bytes());
    frame.extend((-1_i16).to_be_bytes());
    if api.request_header_version(version) >= 2 {
        frame.push(0);
    }
    frame.extend(body);
    let mut steps = Vec::new();
    put(&mut steps, 0, &frame);
    Some(steps)
}

fn put(steps: &mut Vec<u8>, client: u8, frame: &[u8]) {
    steps.push(client & 3);
    steps.extend(u16::try_from(frame.len()).unwrap_or(u16::MAX).to_le_bytes());
    steps.extend(frame);
}

/// The whole frame of a request, its length included.
pub fn frame_of<'a, R: Request<'a>>(version: i16, request: &R) -> Vec<u8> {
    let mut frame = Vec::new();
    put_request(&mut frame, version, 7, Some("client"), request).expect("it is well-formed");
    frame
}

/// A batch of three records.
pub fn batch(producer: &ProducerState) -> Vec<u8> {
    const NOW_MS: i64 = 1_700_000_000_000;
    let mut encoder = BatchEncoder::default();
    encoder.start(NOW_MS);
    for _ in 0..3 {
        encoder.append(NOW_MS, Some(b"key"), Some(b"value"), &[]);
    }
    encoder.finish(producer).to_vec()
}

/// A Produce request for the first partition of a topic.
pub fn produce(topic: &'static str, acks: i16, records: Vec<u8>) -> ProduceRequest<'static> {
    ProduceRequest {
        acks,
        timeout_ms: 100,
        topic_data: vec![produce::TopicProduceData {
            name: Str::Borrowed(topic),
            partition_data: vec![produce::PartitionProduceData {
                index: 0,
                records: Some(Bytes::Owned(records)),
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// What an ordinary application does, from the first request to the group's offsets.
pub fn story() -> Vec<u8> {
    let mut steps = Vec::new();
    macro_rules! client {
        ($client:expr, $version:expr, $request:expr) => {
            put(&mut steps, $client, &frame_of($version, &$request)[4..])
        };
    }
    let producer = ProducerState {
        id: 0,
        epoch: 0,
        transactional: false,
        base_sequence: 0,
    };
    client!(0, 4, ApiVersionsRequest::default());
    client!(0, 12, MetadataRequest::default());
    client!(0, 5, InitProducerIdRequest::default());
    client!(0, 12, produce(TOPIC, -1, batch(&producer)));
    client!(0, 12, produce(TOPIC, 1, batch(&ProducerState::NONE)));
    client!(1, 12, fetch());
    client!(1, 7, list_offsets());
    client!(1, 4, find_coordinator());
    client!(2, 9, join());
    client!(2, 5, sync());
    client!(2, 4, heartbeat());
    client!(2, 8, commit());
    client!(2, 5, OffsetFetchRequest {
        group_id: Str::Borrowed("g"),
        topics: None,
        ..Default::default()
    });
    steps
}

fn fetch() -> FetchRequest<'static> {
    FetchRequest {
        max_wait_ms: 10,
        max_bytes: 1 << 20,
        topics: vec![fetch::FetchTopic {
            topic: Str::Borrowed(TOPIC),
            partitions: vec![fetch::FetchPartition {
                partition_max_bytes: 1 << 20,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn list_offsets() -> ListOffsetsRequest<'static> {
    ListOffsetsRequest {
        topics: vec![list_offsets::ListOffsetsTopic {
            name: Str::Borrowed(TOPIC),
            partitions: vec![list_offsets::ListOffsetsPartition {
                timestamp: 5,
                ..Default::default()
            }],
        }],
        ..Default::default()
    }
}

fn find_coordinator() -> FindCoordinatorRequest<'static> {
    FindCoordinatorRequest {
        coordinator_keys: vec![Str::Borrowed("g")],
        ..Default::default()
    }
}

/// A member with a name of its own is let in at once.
fn join() -> JoinGroupRequest<'static> {
    JoinGroupRequest {
        group_id: Str::Borrowed("g"),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 10_000,
        group_instance_id: Some(Str::Borrowed("i")),
        protocol_type: Str::Borrowed("consumer"),
        protocols: vec![join_group::JoinGroupRequestProtocol {
            name: Str::Borrowed("range"),
            metadata: Bytes::Borrowed(&[0, 1, 0, 0, 0, 1, 0, 1, b't', 0, 0, 0, 0]),
        }],
        ..Default::default()
    }
}

fn sync() -> SyncGroupRequest<'static> {
    SyncGroupRequest {
        group_id: Str::Borrowed("g"),
        generation_id: 1,
        group_instance_id: Some(Str::Borrowed("i")),
        assignments: vec![sync_group::SyncGroupRequestAssignment::default()],
        ..Default::default()
    }
}

fn heartbeat() -> HeartbeatRequest<'static> {
    HeartbeatRequest {
        group_id: Str::Borrowed("g"),
        generation_id: 1,
        group_instance_id: Some(Str::Borrowed("i")),
        ..Default::default()
    }
}

fn commit() -> OffsetCommitRequest<'static> {
    OffsetCommitRequest {
        group_id: Str::Borrowed("g"),
        generation_id_or_member_epoch: -1,
        topics: vec![offset_commit::OffsetCommitRequestTopic {
            name: Str::Borrowed(TOPIC),
            partitions: vec![offset_commit::OffsetCommitRequestPartition {
                committed_offset: 2,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}
