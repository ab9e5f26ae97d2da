//! Fetches that wait, and what ends their wait.

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use kgauge_wire::messages::fetch::{FetchPartition, FetchRequest, FetchResponse, FetchTopic};
use kgauge_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use kgauge_wire::messages::metadata::MetadataRequest;
use kgauge_wire::record_batch::{ProducerState, batches};

use super::Bench;
use super::bench::batch;
use crate::ids::ConnectionId;

/// The newest version that names topics.
const VERSION: i16 = 12;

pub(super) fn fetch(offset: i64, bytes_min: i32, wait_ms: i32) -> FetchRequest<'static> {
    let partition = FetchPartition {
        fetch_offset: offset,
        partition_max_bytes: 1 << 20,
        ..FetchPartition::default()
    };
    FetchRequest {
        min_bytes: bytes_min,
        max_wait_ms: wait_ms,
        topics: vec![FetchTopic {
            topic: Str::Borrowed("t"),
            partitions: vec![partition],
            ..FetchTopic::default()
        }],
        ..FetchRequest::default()
    }
}

fn send(bench: &mut Bench, request: &FetchRequest<'static>) -> ConnectionId {
    let connection = bench.connect();
    bench.send_version(connection, VERSION, request);
    connection
}

fn answer(bench: &mut Bench, from: ConnectionId) -> Option<FetchResponse<'static>> {
    bench.answer_version::<FetchRequest<'static>>(from, VERSION)
}

/// The error and the number of records of the only partition.
fn outcome(response: &FetchResponse<'_>) -> (ErrorCode, i64) {
    let partition = &response.responses[0].partitions[0];
    let bytes = partition.records.as_deref().unwrap_or_default();
    let records: i64 = batches(bytes)
        .map(|b| i64::from(b.unwrap().header.record_count))
        .sum();
    (ErrorCode::from_i16(partition.error_code), records)
}

fn one_batch_bytes() -> i32 {
    i32::try_from(batch(0, 3, &ProducerState::NONE).len()).unwrap()
}

#[test]
fn what_is_there_is_given_at_once() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    bench.fill("t", 3);
    let connection = send(&mut bench, &fetch(0, 1, 500));
    let response = answer(&mut bench, connection).unwrap();
    assert_eq!(outcome(&response), (ErrorCode::None, 3));
    let partition = &response.responses[0].partitions[0];
    assert_eq!(
        (partition.high_watermark, partition.last_stable_offset),
        (3, 3)
    );
    assert_eq!(response.session_id, 0);
}

#[test]
fn a_fetch_waits_for_its_bytes_and_no_longer() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let connection = send(&mut bench, &fetch(0, one_batch_bytes() + 1, 500));
    assert_eq!(answer(&mut bench, connection), None);
    bench.pass_ms(100);
    bench.fill("t", 3);
    assert_eq!(answer(&mut bench, connection), None, "a byte is missing");
    bench.fill("t", 3);
    assert_eq!(
        outcome(&answer(&mut bench, connection).unwrap()),
        (ErrorCode::None, 6)
    );
    bench.pass_ms(1000);
    assert_eq!(answer(&mut bench, connection), None, "it is answered once");
}

#[test]
fn a_fetch_is_answered_with_what_is_there_when_its_time_is_over() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    bench.fill("t", 3);
    let empty = send(&mut bench, &fetch(3, 1, 500));
    let little = send(&mut bench, &fetch(0, 10_000, 700));
    bench.pass_ms(499);
    assert_eq!(answer(&mut bench, empty), None);
    bench.pass_ms(1);
    assert_eq!(
        outcome(&answer(&mut bench, empty).unwrap()),
        (ErrorCode::None, 0)
    );
    assert_eq!(answer(&mut bench, little), None);
    bench.pass_ms(200);
    assert_eq!(
        outcome(&answer(&mut bench, little).unwrap()),
        (ErrorCode::None, 3)
    );
}

#[test]
fn errors_do_not_wait() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let beyond = send(&mut bench, &fetch(1, 1, 500));
    let response = answer(&mut bench, beyond).unwrap();
    assert_eq!(outcome(&response), (ErrorCode::OffsetOutOfRange, 0));
    let mut request = fetch(0, 1, 500);
    request.topics[0].topic = Str::Borrowed("nobody");
    let unknown = send(&mut bench, &request);
    let response = answer(&mut bench, unknown).unwrap();
    assert_eq!(outcome(&response), (ErrorCode::UnknownTopicOrPartition, 0));
    let mut request = fetch(0, 1, 500);
    request.topics[0].partitions[0].current_leader_epoch = 5;
    let ahead = send(&mut bench, &request);
    let response = answer(&mut bench, ahead).unwrap();
    assert_eq!(outcome(&response), (ErrorCode::UnknownLeaderEpoch, 0));
}

#[test]
fn a_topic_that_is_deleted_ends_the_wait() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let connection = send(&mut bench, &fetch(0, 1, 60_000));
    let topics = vec![DeleteTopicState {
        name: Some(Str::Borrowed("t")),
        ..Default::default()
    }];
    bench.ask(&DeleteTopicsRequest {
        topics,
        ..Default::default()
    });
    let response = answer(&mut bench, connection).unwrap();
    assert_eq!(outcome(&response), (ErrorCode::UnknownTopicOrPartition, 0));
}

#[test]
fn a_client_that_leaves_leaves_nothing_behind() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let before = bench.node.next_timer();
    let connection = send(&mut bench, &fetch(0, 1, 500));
    assert_ne!(bench.node.next_timer(), before);
    bench.node.closed(connection);
    assert_eq!(bench.node.next_timer(), before);
    assert_eq!(bench.node.fetches.waiting(), 0);
    bench.fill("t", 3);
}

#[test]
fn a_fetch_that_waits_holds_back_the_answers_behind_it() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let connection = send(&mut bench, &fetch(0, 1, 500));
    bench.send(connection, &MetadataRequest::default());
    assert_eq!(answer(&mut bench, connection), None);
    bench.fill("t", 1);
    assert_eq!(
        outcome(&answer(&mut bench, connection).unwrap()),
        (ErrorCode::None, 1)
    );
    assert!(
        bench
            .answer::<MetadataRequest<'static>>(connection)
            .is_some()
    );
}

#[test]
fn a_foreign_session_is_refused() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let mut request = fetch(0, 1, 500);
    (request.session_id, request.session_epoch) = (9, 1);
    let connection = send(&mut bench, &request);
    let code = answer(&mut bench, connection).unwrap().error_code;
    assert_eq!(ErrorCode::from_i16(code), ErrorCode::FetchSessionIdNotFound);
}

#[test]
fn the_limits_of_request_and_partition_hold_but_the_first_batch_comes_whole() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    for _ in 0..10 {
        bench.fill("t", 3);
    }
    let bytes = |bench: &mut Bench, request: &FetchRequest<'static>| {
        let connection = send(bench, request);
        let response = answer(bench, connection).unwrap();
        response.responses[0].partitions[0]
            .records
            .as_deref()
            .unwrap_or_default()
            .len()
    };
    let one = usize::try_from(one_batch_bytes()).unwrap();
    let mut request = fetch(0, 1, 0);
    assert_eq!(bytes(&mut bench, &request), 10 * one);
    request.topics[0].partitions[0].partition_max_bytes = one_batch_bytes() * 2;
    assert_eq!(bytes(&mut bench, &request), 2 * one);
    request.max_bytes = one_batch_bytes() + 5;
    assert_eq!(bytes(&mut bench, &request), one + 5);
    request.max_bytes = 1;
    assert_eq!(bytes(&mut bench, &request), one);
}

#[test]
fn offsets_are_found_by_time() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let first_ms = bench.now.wall_ms;
    bench.fill("t", 3);
    bench.pass_ms(1000);
    bench.fill("t", 2);
    let mut find = |timestamp| {
        let partition = ListOffsetsPartition {
            timestamp,
            ..Default::default()
        };
        let name = Str::Borrowed("t");
        let topics = vec![ListOffsetsTopic {
            name,
            partitions: vec![partition],
        }];
        let answer = bench.ask(&ListOffsetsRequest {
            topics,
            ..Default::default()
        });
        let partition = &answer.topics[0].partitions[0];
        assert_eq!(partition.error_code, 0);
        (partition.offset, partition.timestamp)
    };
    assert_eq!(find(-1), (5, -1));
    assert_eq!(find(-2), (0, -1));
    assert_eq!(find(-3), (3, first_ms + 1000));
    assert_eq!(find(-5), (-1, -1));
    assert_eq!(find(first_ms), (0, first_ms));
    assert_eq!(find(first_ms + 1), (3, first_ms + 1000));
    assert_eq!(find(first_ms + 1001), (-1, -1));
}

#[test]
fn a_debugging_consumer_gets_the_end_of_the_nodes_own_log() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    bench.fill("t", 3);
    let mut find = |index, timestamp| {
        let topics = vec![ListOffsetsTopic {
            name: Str::Borrowed("t"),
            partitions: vec![ListOffsetsPartition {
                partition_index: index,
                timestamp,
                ..Default::default()
            }],
        }];
        let answer = bench.ask(&ListOffsetsRequest {
            replica_id: -2,
            topics,
            ..Default::default()
        });
        let partition = &answer.topics[0].partitions[0];
        (partition.error_code, partition.offset)
    };
    assert_eq!(find(0, -1), (0, 3));
    assert_eq!(find(0, -2), (0, 0));
    assert_eq!(find(99, -1).0, ErrorCode::UnknownTopicOrPartition.as_i16());
}
