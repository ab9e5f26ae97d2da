//! The instrument: every fault does what it says, to whom it says, as often as it says.

use std::time::Duration;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::produce::ProduceRequest;
use kgauge_wire::record_batch::ProducerState;

use super::Bench;
use super::bench::batch;
use crate::fault::{Fault, FaultAction, FaultError};
use crate::ids::{ConnectionId, NodeId};
use crate::node::CloseReason;

const LENGTH: Duration = Duration::from_millis(200);

fn bench(action: FaultAction) -> (Bench, ConnectionId) {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    bench
        .node
        .set_fault(bench.now, Fault::of(ApiKey::Produce, action));
    let connection = bench.connect();
    (bench, connection)
}

fn produce(bench: &mut Bench, to: ConnectionId) -> Option<ErrorCode> {
    let one = batch(bench.now.wall_ms, 1, &ProducerState::NONE);
    let answer = bench.produce(to, "t", 1, &one)?;
    Some(ErrorCode::from_i16(answer.error_code))
}

fn late_answer(bench: &mut Bench, from: ConnectionId) -> Option<i64> {
    let answer = bench.answer_version::<ProduceRequest<'static>>(from, 12)?;
    Some(answer.responses[0].partition_responses[0].base_offset)
}

#[test]
fn a_delay_holds_each_request_for_its_length() {
    let (mut bench, connection) = bench(FaultAction::Delay(LENGTH));
    assert_eq!(produce(&mut bench, connection), None);
    bench.pass_ms(150);
    assert_eq!(produce(&mut bench, connection), None);
    bench.pass_ms(49);
    assert_eq!(late_answer(&mut bench, connection), None);
    bench.pass_ms(1);
    assert_eq!(late_answer(&mut bench, connection), Some(0));
    bench.pass_ms(149);
    assert_eq!(late_answer(&mut bench, connection), None);
    bench.pass_ms(1);
    assert_eq!(late_answer(&mut bench, connection), Some(1));
}

#[test]
fn a_stall_holds_all_requests_until_its_end_and_is_over_then() {
    let (mut bench, connection) = bench(FaultAction::Stall(LENGTH));
    assert_eq!(produce(&mut bench, connection), None);
    bench.pass_ms(199);
    assert_eq!(produce(&mut bench, connection), None);
    assert_eq!(late_answer(&mut bench, connection), None);
    bench.pass_ms(1);
    assert_eq!(late_answer(&mut bench, connection), Some(0));
    assert_eq!(late_answer(&mut bench, connection), Some(1));
    assert_eq!(produce(&mut bench, connection), Some(ErrorCode::None));
}

#[test]
fn a_failure_is_answered_and_nothing_is_carried_out() {
    let (mut bench, connection) = bench(FaultAction::Fail(ErrorCode::NotLeaderOrFollower));
    assert_eq!(
        produce(&mut bench, connection),
        Some(ErrorCode::NotLeaderOrFollower)
    );
    bench.node.clear_faults();
    assert_eq!(produce(&mut bench, connection), Some(ErrorCode::None));
    let id = bench.node.image.topic("t").unwrap().id;
    let log = &bench.node.replicas[&crate::ids::PartitionId {
        topic: id,
        index: 0,
    }]
        .log;
    assert_eq!(log.log_end_offset(), 1);
}

#[test]
fn other_apis_are_not_concerned() {
    let (mut bench, connection) = bench(FaultAction::CloseBefore);
    bench.assert_serves(connection);
}

#[test]
fn a_connection_closes_before_or_after_its_request_is_carried_out() {
    for (action, records) in [(FaultAction::CloseBefore, 0), (FaultAction::CloseAfter, 1)] {
        let (mut bench, connection) = bench(action);
        assert_eq!(produce(&mut bench, connection), None);
        assert_eq!(bench.closed, [(connection, CloseReason::Fault)]);
        let id = bench.node.image.topic("t").unwrap().id;
        let log = &bench.node.replicas[&crate::ids::PartitionId {
            topic: id,
            index: 0,
        }]
            .log;
        assert_eq!(log.log_end_offset(), records, "{action:?}");
    }
}

#[test]
fn a_fault_for_some_requests_spares_the_others() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let fail = FaultAction::Fail(ErrorCode::KafkaStorageError);
    bench
        .node
        .set_fault(bench.now, Fault::of(ApiKey::Produce, fail).times(2));
    let connection = bench.connect();
    for expected in [
        ErrorCode::KafkaStorageError,
        ErrorCode::KafkaStorageError,
        ErrorCode::None,
    ] {
        assert_eq!(produce(&mut bench, connection), Some(expected));
    }
}

#[test]
fn what_cannot_fail_is_refused() {
    let action = FaultAction::Fail(ErrorCode::UnknownServerError);
    let refused = Fault::of(ApiKey::ApiVersions, action).check();
    assert_eq!(refused, Err(FaultError::CannotFail(ApiKey::ApiVersions)));
    let words = FaultError::NoNode(NodeId(3)).to_string();
    assert_eq!(words, "there is no running node 3");
}
