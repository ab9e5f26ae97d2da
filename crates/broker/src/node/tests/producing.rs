//! Producing: acknowledgements, refusals, idempotent producers, retention.

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::init_producer_id::InitProducerIdRequest;
use kgauge_wire::record_batch::ProducerState;

use super::Bench;
use super::bench::batch;
use crate::node::CloseReason;
use crate::storage::{DiskFault, Operation};

fn end_offset(bench: &Bench, topic: &str) -> i64 {
    bench.log(topic).log_end_offset()
}

#[test]
fn offsets_follow_each_other() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let connection = bench.connect();
    let three = batch(bench.now.wall_ms, 3, &ProducerState::NONE);
    for (acks, expected) in [(1, 0), (-1, 3), (1, 6)] {
        let answer = bench.produce(connection, "t", acks, &three).unwrap();
        assert_eq!((answer.error_code, answer.base_offset), (0, expected));
        assert_eq!(
            (answer.log_append_time_ms, answer.log_start_offset),
            (-1, 0)
        );
    }
}

#[test]
fn without_acknowledgement_there_is_silence() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let connection = bench.connect();
    let three = batch(bench.now.wall_ms, 3, &ProducerState::NONE);
    assert_eq!(bench.produce(connection, "t", 0, &three), None);
    assert_eq!(end_offset(&bench, "t"), 3);
    bench.assert_serves(connection);
}

#[test]
fn without_acknowledgement_a_failure_ends_the_connection() {
    let mut bench = Bench::new();
    let connection = bench.connect();
    let one = batch(bench.now.wall_ms, 1, &ProducerState::NONE);
    assert_eq!(bench.produce(connection, "nobody", 0, &one), None);
    let [(closed, CloseReason::UnacknowledgedFailure(_))] = &bench.closed[..] else {
        panic!("{:?}", bench.closed)
    };
    assert_eq!(*closed, connection);
}

#[test]
fn what_cannot_be_appended_is_refused_with_kafkas_code() {
    let mut bench = Bench::new();
    bench.create("t", &[("max.message.bytes", "100")]);
    let connection = bench.connect();
    let mut refused = |topic: &str, acks, bytes: &[u8]| {
        let answer = bench.produce(connection, topic, acks, bytes).unwrap();
        assert_eq!(answer.base_offset, -1);
        assert!(answer.error_message.is_some());
        ErrorCode::from_i16(answer.error_code)
    };
    let good = batch(1_700_000_000_000, 1, &ProducerState::NONE);
    let large = batch(1_700_000_000_000, 20, &ProducerState::NONE);
    let mut flipped = good.clone();
    flipped[70] ^= 1;
    let mut old_format = good.clone();
    old_format[16] = 1;
    assert_eq!(refused("t", 1, &large), ErrorCode::MessageTooLarge);
    assert_eq!(refused("t", 1, &flipped), ErrorCode::CorruptMessage);
    assert_eq!(
        refused("t", 1, &good[..good.len() - 1]),
        ErrorCode::CorruptMessage
    );
    assert!(
        [
            ErrorCode::InvalidRecord,
            ErrorCode::UnsupportedForMessageFormat,
            ErrorCode::CorruptMessage
        ]
        .contains(&refused("t", 1, &old_format))
    );
    assert_eq!(refused("t", 1, &[]), ErrorCode::InvalidRecord);
    assert_eq!(refused("t", 2, &good), ErrorCode::InvalidRequiredAcks);
    assert_eq!(
        refused("nobody", 1, &good),
        ErrorCode::UnknownTopicOrPartition
    );
    let future = batch(1_700_000_000_000 + 2 * 3_600_000, 1, &ProducerState::NONE);
    assert_eq!(refused("t", 1, &future), ErrorCode::InvalidTimestamp);
    assert_eq!(end_offset(&bench, "t"), 0);
}

#[test]
fn a_repeated_batch_gets_the_offsets_of_its_first_arrival() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let plain = InitProducerIdRequest {
        transactional_id: None,
        ..Default::default()
    };
    let id = bench.ask(&plain);
    assert_eq!((id.producer_id, id.producer_epoch), (0, 0));
    assert_eq!(bench.ask(&plain).producer_id, 1);
    let connection = bench.connect();
    let now_ms = bench.now.wall_ms;
    let send = |bench: &mut Bench, base_sequence| {
        let producer = ProducerState {
            id: 0,
            epoch: 0,
            base_sequence,
            transactional: false,
        };
        let answer = bench
            .produce(connection, "t", -1, &batch(now_ms, 2, &producer))
            .unwrap();
        (ErrorCode::from_i16(answer.error_code), answer.base_offset)
    };
    assert_eq!(send(&mut bench, 0), (ErrorCode::None, 0));
    assert_eq!(send(&mut bench, 2), (ErrorCode::None, 2));
    assert_eq!(send(&mut bench, 0), (ErrorCode::None, 0));
    assert_eq!(
        send(&mut bench, 6),
        (ErrorCode::OutOfOrderSequenceNumber, -1)
    );
    assert_eq!(end_offset(&bench, "t"), 4);
}

#[test]
fn a_transactional_id_is_refused() {
    let mut bench = Bench::new();
    let request = InitProducerIdRequest {
        transactional_id: Some("tx".into()),
        ..Default::default()
    };
    let answer = bench.ask(&request);
    assert_eq!(
        ErrorCode::from_i16(answer.error_code),
        ErrorCode::UnsupportedVersion
    );
    assert_eq!(answer.producer_id, -1);
}

#[test]
fn the_leader_dates_records_where_the_topic_says_so() {
    let mut bench = Bench::new();
    bench.create("t", &[("message.timestamp.type", "LogAppendTime")]);
    let connection = bench.connect();
    let old = batch(5, 1, &ProducerState::NONE);
    let answer = bench.produce(connection, "t", 1, &old).unwrap();
    assert_eq!(
        (answer.error_code, answer.log_append_time_ms),
        (0, bench.now.wall_ms)
    );
}

#[test]
fn retention_by_time_removes_what_is_old_and_a_restart_remembers() {
    let mut bench = Bench::with(&[("log.retention.check.interval.ms", "1000")]);
    bench.create("t", &[("retention.ms", "5000"), ("segment.bytes", "200")]);
    for _ in 0..4 {
        bench.fill("t", 3);
    }
    bench.pass_ms(4_000);
    bench.fill("t", 3);
    bench.pass_ms(3_000);
    let start = |bench: &Bench| bench.log("t").log_start_offset();
    let began = start(&bench);
    assert!((9..=12).contains(&began), "{began}");
    assert_eq!(end_offset(&bench, "t"), 15);
    let bench = bench.restarted();
    assert_eq!((start(&bench), end_offset(&bench, "t")), (began, 15));
}

#[test]
fn flush_by_time_makes_records_durable_without_another_append() {
    let mut bench = Bench::new();
    bench.create("t", &[("flush.ms", "50")]);
    bench.fill("t", 3);
    assert_eq!(bench.log("t").flushed_offset(), 0);
    bench.pass_ms(50);
    assert_eq!(bench.log("t").flushed_offset(), 3);
}

#[test]
fn a_full_disk_stops_the_node_and_what_was_taken_is_there_again() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    bench.fill("t", 3);
    let connection = bench.connect();
    bench
        .storage
        .set_capacity(Some(bench.storage.used_bytes() + 10));
    let three = batch(bench.now.wall_ms, 3, &ProducerState::NONE);
    let answer = bench.produce(connection, "t", 1, &three).unwrap();
    assert_eq!(
        ErrorCode::from_i16(answer.error_code),
        ErrorCode::KafkaStorageError
    );
    assert!(bench.fatal[0].is_disk_full(), "{}", bench.fatal[0]);
    bench.storage.set_capacity(None);
    let mut bench = bench.restarted();
    let connection = bench.connect();
    let answer = bench.produce(connection, "t", 1, &three).unwrap();
    assert_eq!((answer.error_code, answer.base_offset), (0, 3));
}

#[test]
fn a_flush_that_failed_stops_the_node() {
    let mut bench = Bench::new();
    bench.create("t", &[("flush.messages", "1")]);
    let connection = bench.connect();
    let fault = DiskFault::once(Operation::SyncData, "t-0", std::io::ErrorKind::Other);
    bench.storage.inject(fault);
    let three = batch(bench.now.wall_ms, 3, &ProducerState::NONE);
    for _ in 0..2 {
        let answer = bench.produce(connection, "t", 1, &three).unwrap();
        assert_eq!(
            ErrorCode::from_i16(answer.error_code),
            ErrorCode::KafkaStorageError
        );
    }
    assert!(
        bench.fatal[0].to_string().contains("cannot flush"),
        "{}",
        bench.fatal[0]
    );
}
