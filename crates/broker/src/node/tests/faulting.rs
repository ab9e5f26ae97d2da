//! Every fault does what it describes, to the requests that it names, as often as it says.

use std::time::Duration;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::fetch::FetchRequest;
use kgauge_wire::messages::produce::ProduceRequest;
use kgauge_wire::record_batch::ProducerState;

use super::Bench;
use super::bench::batch;
use crate::fault::{
    CapacityPlan, CapacityUnit, DelayPlan, Delays, DropPoint, FaultError, FaultId, InjectedFault,
    RequestFault,
};
use crate::ids::{ConnectionId, NodeId};
use crate::node::CloseReason;

const ONE: FaultId = FaultId(1);
const LENGTH: Duration = Duration::from_millis(200);

fn bench(action: RequestFault) -> (Bench, ConnectionId) {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    bench
        .node
        .set_fault(bench.now, ONE, InjectedFault::of(ApiKey::Produce, action));
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
    let (mut bench, connection) = bench(RequestFault::Delay(LENGTH.into()));
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
    let (mut bench, connection) = bench(RequestFault::stall(LENGTH));
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
    let (mut bench, connection) = bench(RequestFault::fail(ErrorCode::NotLeaderOrFollower.name()));
    assert_eq!(
        produce(&mut bench, connection),
        Some(ErrorCode::NotLeaderOrFollower)
    );
    bench.node.clear_faults(bench.now);
    assert_eq!(produce(&mut bench, connection), Some(ErrorCode::None));
    assert_eq!(bench.log("t").log_end_offset(), 1);
}

#[test]
fn other_apis_are_not_concerned() {
    let (mut bench, connection) = bench(RequestFault::Drop(DropPoint::Before));
    bench.assert_serves(connection);
}

#[test]
fn a_connection_closes_before_or_after_its_request_is_carried_out() {
    for (action, records) in [
        (RequestFault::Drop(DropPoint::Before), 0),
        (RequestFault::Drop(DropPoint::After), 1),
    ] {
        let (mut bench, connection) = bench(action.clone());
        assert_eq!(produce(&mut bench, connection), None);
        assert_eq!(bench.closed, [(connection, CloseReason::Fault)]);
        assert_eq!(bench.log("t").log_end_offset(), records, "{action:?}");
    }
}

#[test]
fn a_fault_for_some_requests_spares_the_others() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let fail = RequestFault::fail(ErrorCode::KafkaStorageError.name());
    bench.node.set_fault(
        bench.now,
        ONE,
        InjectedFault::of(ApiKey::Produce, fail).times(2),
    );
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
    let action = RequestFault::fail(ErrorCode::UnknownServerError.name());
    let refused = InjectedFault::of(ApiKey::ApiVersions, action).check();
    assert_eq!(refused, Err(FaultError::CannotFail(ApiKey::ApiVersions)));
    let words = FaultError::NoNode(NodeId(3)).to_string();
    assert_eq!(words, "there is no node 3");
}

/// A bench with faults, and how many produce requests of one record are answered after this many ms.
fn answered_at(bench: &mut Bench, from: ConnectionId, ms: u64) -> Vec<(u64, i64)> {
    let mut answered = Vec::new();
    for at in 0..=ms {
        if at > 0 {
            bench.pass_ms(1);
        }
        while let Some(offset) = late_answer(bench, from) {
            answered.push((at, offset));
        }
    }
    answered
}

#[test]
fn delays_are_those_that_the_seed_draws() {
    let delay = DelayPlan::Uniform {
        low_ns: 10_000_000,
        high_ns: 100_000_000,
    };
    let (mut bench, _) = bench(RequestFault::Delay(delay.clone()));
    let drawn = Delays::of(&delay, 0, NodeId(1)).take(20);
    let drawn: Vec<u64> = drawn.map(|ns| ns.div_ceil(1_000_000)).collect();
    assert!(drawn.iter().any(|ms| *ms < 40) && drawn.iter().any(|ms| *ms > 70));
    for ms in drawn {
        let connection = bench.connect();
        assert_eq!(produce(&mut bench, connection), None);
        bench.pass_ms(ms - 1);
        assert_eq!(late_answer(&mut bench, connection), None);
        bench.pass_ms(1);
        assert!(late_answer(&mut bench, connection).is_some());
    }
}

#[test]
fn requests_of_a_connection_do_not_overtake_each_other() {
    let (mut bench, connection) = bench(RequestFault::Delay(LENGTH.into()));
    assert_eq!(produce(&mut bench, connection), None);
    bench.pass_ms(100);
    bench.node.lift_fault(bench.now, ONE);
    // Without a fault it would be served at once, before the one that came first.
    assert_eq!(produce(&mut bench, connection), None);
    let other = bench.connect();
    assert_eq!(produce(&mut bench, other), Some(ErrorCode::None));
    assert_eq!(
        answered_at(&mut bench, connection, 100),
        [(100, 1), (100, 2)]
    );
    assert_eq!(produce(&mut bench, connection), Some(ErrorCode::None));
}

#[test]
fn faults_work_together() {
    let (mut bench, connection) = bench(RequestFault::Delay(LENGTH.into()));
    for (id, action) in [
        (2, RequestFault::stall(LENGTH * 2)),
        (3, RequestFault::fail(ErrorCode::NotEnoughReplicas.name())),
        (4, RequestFault::Drop(DropPoint::Before)),
    ] {
        let fault = InjectedFault::of(ApiKey::Produce, action);
        bench.node.set_fault(bench.now, FaultId(id), fault);
    }
    assert_eq!(produce(&mut bench, connection), None);
    bench.pass_ms(599);
    assert_eq!(
        bench.answer_version::<ProduceRequest<'static>>(connection, 12),
        None
    );
    bench.pass_ms(1);
    let answer = bench.answer_version::<ProduceRequest<'static>>(connection, 12);
    let code = answer.unwrap().responses[0].partition_responses[0].error_code;
    assert_eq!(ErrorCode::from_i16(code), ErrorCode::NotEnoughReplicas);
    assert!(
        bench.closed.is_empty(),
        "the one that was set first decides"
    );
}

#[test]
fn a_lifted_fault_reports_the_requests_that_it_struck() {
    let (mut bench, connection) = bench(RequestFault::Delay(LENGTH.into()));
    let fail = RequestFault::fail(ErrorCode::NotEnoughReplicas.name());
    let second = FaultId(2);
    let fault = InjectedFault::of(ApiKey::Produce, fail).times(1);
    bench.node.set_fault(bench.now, second, fault);
    let five = batch(bench.now.wall_ms, 5, &ProducerState::NONE);
    for _ in 0..3 {
        assert!(bench.produce(connection, "t", 1, &five).is_none());
    }
    let never = InjectedFault::of(ApiKey::Fetch, RequestFault::Drop(DropPoint::Before));
    bench.node.set_fault(bench.now, FaultId(3), never);
    let mut lift = |id| {
        let struck = bench.node.lift_fault(bench.now, id);
        (struck.requests, struck.records)
    };
    assert_eq!(lift(ONE), (3, 15));
    assert_eq!(lift(second), (1, 5), "over before it was lifted");
    assert_eq!(lift(FaultId(3)), (0, 0));
    assert_eq!(lift(ONE), (0, 0), "reported once");
}

#[test]
fn a_node_records_when_a_stall_began_and_when_it_answered_afterwards() {
    let (mut bench, connection) = bench(RequestFault::stall(LENGTH));
    let begin_ns = bench.now.mono_ns;
    bench.pass_ms(10);
    let five = batch(bench.now.wall_ms, 5, &ProducerState::NONE);
    assert!(bench.produce(connection, "t", 1, &five).is_none());
    // Longer than the stall: requests that come after its end are recorded too.
    bench.pass_ms(250);
    assert_eq!(late_answer(&mut bench, connection), Some(0));
    let seven = batch(bench.now.wall_ms, 7, &ProducerState::NONE);
    assert!(bench.produce(connection, "t", 1, &seven).is_some());
    let watch = bench.node.stall(ONE).unwrap();
    let record = watch.record(NodeId(1), |at_ns| (at_ns - begin_ns) / 1_000_000);
    assert_eq!(record.begin_unix_ns, 0);
    assert_eq!(record.answers, [(200, 5), (260, 7)]);
    bench.node.lift_fault(bench.now, ONE);
    assert!(bench.node.stall(ONE).is_none());
}

#[test]
fn lifting_a_stall_that_is_over_lets_nothing_else_go() {
    let (mut bench, connection) = bench(RequestFault::stall(LENGTH));
    bench.pass_ms(300);
    let two = FaultId(2);
    let fault = InjectedFault::of(ApiKey::Produce, RequestFault::stall(LENGTH));
    bench.node.set_fault(bench.now, two, fault);
    assert_eq!(produce(&mut bench, connection), None);
    bench.node.lift_fault(bench.now, ONE);
    bench.settle();
    assert_eq!(
        late_answer(&mut bench, connection),
        None,
        "the second lasts"
    );
    bench.pass_ms(200);
    assert_eq!(late_answer(&mut bench, connection), Some(0));
}

#[test]
fn what_a_stall_holds_goes_on_when_it_is_lifted() {
    let (mut bench, connection) = bench(RequestFault::stall(LENGTH));
    assert_eq!(produce(&mut bench, connection), None);
    bench.pass_ms(50);
    bench.node.lift_fault(bench.now, ONE);
    bench.settle();
    assert_eq!(late_answer(&mut bench, connection), Some(0));
    bench.pass_ms(500);
    assert_eq!(late_answer(&mut bench, connection), None);
}

/// Records that are in the log after this many seconds of more than enough produce requests.
fn produced_in(bench: &mut Bench, seconds: u64, records: usize) -> i64 {
    let connections: Vec<ConnectionId> = (0..4).map(|_| bench.connect()).collect();
    for ms in 0..seconds * 1_000 {
        for connection in &connections {
            while bench
                .answer_version::<ProduceRequest<'static>>(*connection, 12)
                .is_some()
            {}
            if ms % 10 == 0 && !bench.node.is_full(*connection) {
                let some = batch(bench.now.wall_ms, records, &ProducerState::NONE);
                bench.produce(*connection, "t", 1, &some);
            }
        }
        bench.pass_ms(1);
    }
    bench.log("t").log_end_offset()
}

#[test]
fn a_capacity_lets_through_what_it_says_within_a_hundredth() {
    let one_bytes = batch(0, 100, &ProducerState::NONE).len() as u64;
    let cases = [
        // 4 connections offer 40,000 records a second.
        (CapacityPlan::records(10_000), 30_000),
        (CapacityPlan::records(2_500).with_burst(0), 7_500),
        (CapacityPlan::bytes(one_bytes * 50), 15_000),
    ];
    for (capacity, expected) in cases {
        let (mut bench, _) = bench(RequestFault::Capacity(capacity));
        let produced = produced_in(&mut bench, 3, 100);
        let off = (produced as f64 / f64::from(expected) - 1.0).abs();
        assert!(off <= 0.01, "{produced} of {expected} with {capacity:?}");
    }
}

#[test]
fn a_capacity_delays_answers_without_a_throttle_time() {
    let capacity = CapacityPlan::records(1_000).with_burst(0);
    let (mut bench, connection) = bench(RequestFault::Capacity(capacity));
    let hundred = batch(bench.now.wall_ms, 100, &ProducerState::NONE);
    assert!(bench.produce(connection, "t", 1, &hundred).is_none());
    bench.pass_ms(99);
    assert_eq!(late_answer(&mut bench, connection), None);
    bench.pass_ms(1);
    let answer = bench.answer_version::<ProduceRequest<'static>>(connection, 12);
    assert_eq!(answer.unwrap().throttle_time_ms, 0);
}

#[test]
fn what_is_read_is_held_back_by_what_it_takes() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    bench.fill("t", 500);
    bench.fill("t", 500);
    let fault = RequestFault::Capacity(CapacityPlan::records(10_000).with_burst(0));
    let fault = InjectedFault::of(ApiKey::Fetch, fault);
    bench.node.set_fault(bench.now, ONE, fault);
    let connection = bench.connect();
    let request = super::fetching::fetch(0, 1, 0);
    bench.send_version(connection, 12, &request);
    bench.pass_ms(99);
    assert_eq!(
        bench.answer_version::<FetchRequest<'static>>(connection, 12),
        None
    );
    bench.pass_ms(1);
    let answer = bench
        .answer_version::<FetchRequest<'static>>(connection, 12)
        .unwrap();
    assert_eq!(answer.throttle_time_ms, 0);
    let records = answer.responses[0].partitions[0].records.as_deref();
    assert!(records.is_some_and(|records| !records.is_empty()));
    // Writing is not concerned.
    let other = bench.connect();
    assert_eq!(produce(&mut bench, other), Some(ErrorCode::None));
}

#[test]
fn capacities_that_make_no_sense_are_refused() {
    let of = |capacity| InjectedFault::of(ApiKey::Produce, RequestFault::Capacity(capacity));
    let mut metadata = of(CapacityPlan::bytes(1));
    metadata.api = Some(ApiKey::Metadata);
    assert_eq!(
        metadata.check(),
        Err(FaultError::NoRecords(ApiKey::Metadata))
    );
    assert_eq!(
        of(CapacityPlan::bytes(0)).check(),
        Err(FaultError::NoCapacity)
    );
    assert_eq!(
        of(CapacityPlan::bytes(1)).times(1).check(),
        Err(FaultError::CapacityTimes)
    );
    assert_eq!(of(CapacityPlan::bytes(1)).check(), Ok(()));
    assert_eq!(CapacityPlan::records(500).unit, CapacityUnit::Records);
}
