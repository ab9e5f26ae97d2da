//! The instrument on a cluster with real threads, sockets and files.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod harness;

use std::time::{Duration, Instant};

use harness::{Client, batch, count, produce_request, start};
use kgauge_broker::ids::NodeId;
use kgauge_broker::{CapacityPlan, InjectedFault, RequestFault};
use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::produce::ProduceRequest;

const IN_FLIGHT: usize = 40;
const ONE: NodeId = NodeId(1);

#[test]
fn a_capacity_is_met_within_a_hundredth_by_a_client_that_offers_more() {
    let running = start(1);
    let mut client = Client::connect(running.cluster.addresses()[0]);
    client.create_topic("t", 1);
    let batch = batch(100, 100);
    // 200 batches a second, with requests for a fifth of a second in flight: a machine that looks
    // away for a moment does not leave the node without work.
    let capacity = CapacityPlan::bytes(batch.len() as u64 * 200);
    let fault = InjectedFault::of(ApiKey::Produce, RequestFault::Capacity(capacity));
    let id = running.cluster.fault(Some(ONE), fault).unwrap();
    let request = produce_request("t", 0, 1, batch);
    for _ in 0..IN_FLIGHT {
        client.send(12, &request);
    }
    let mut last = Instant::now();
    let (mut first, mut answers) = (None, 0);
    let begin = loop {
        client.receive::<ProduceRequest<'static>>(12);
        client.send(12, &request);
        let now = Instant::now();
        // The burst goes first.
        let begin = *first.get_or_insert(now);
        last = now.max(last);
        if begin.elapsed() >= Duration::from_secs(3) {
            break begin;
        }
        answers += 1;
    };
    let rate = f64::from(answers) / last.duration_since(begin).as_secs_f64();
    assert!((rate / 200.0 - 1.0).abs() < 0.01, "{rate} batches a second");
    // Lifted, what is held goes on at once.
    running.cluster.lift_fault(id);
    let lifted = Instant::now();
    for _ in 0..IN_FLIGHT {
        client.receive::<ProduceRequest<'static>>(12);
    }
    assert!(lifted.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_full_disk_stops_the_node_and_it_comes_back_when_there_is_room() {
    let mut running = start(1);
    let address = running.cluster.addresses()[0];
    let mut client = Client::connect(address);
    client.create_topic("t", 1);
    assert_eq!(client.produce("t", 0, batch(3, 100)), 0);
    running.cluster.fill_disk(ONE, 100).unwrap();
    client.send(12, &produce_request("t", 0, 1, batch(3, 100)));
    assert!(client.is_closed(), "the node is gone");
    let stopped = loop {
        if let Some(stopped) = running.cluster.stopped_by_fault().pop() {
            break stopped;
        }
        std::thread::yield_now();
    };
    assert_eq!(stopped.node, Some(ONE));
    assert!(stopped.words.contains("No space left"), "{stopped}");
    assert!(
        running.cluster.failures().is_empty(),
        "the fault was injected"
    );
    running.cluster.free_disk(ONE).unwrap();
    running.cluster.restart_node(ONE).unwrap();
    let mut client = wait_for_leader(address);
    assert_eq!(client.produce("t", 0, batch(3, 100)), 3);
    assert_eq!(count(&client.fetch("t", 0, 0)), 6);
    running.cluster.stop().unwrap();
}

/// A client of a node that leads the topic again.
fn wait_for_leader(address: std::net::SocketAddr) -> Client {
    let begin = Instant::now();
    loop {
        let mut client = Client::connect(address);
        let request = produce_request("t", 0, 1, Vec::new());
        let answer = client.ask(12, &request);
        let code = answer.responses[0].partition_responses[0].error_code;
        // No leader here, or no such topic yet.
        if ![3, 5, 6].contains(&code) {
            return client;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "error {code}");
    }
}

#[test]
fn a_node_dates_records_by_its_own_clock_and_keeps_it_over_a_restart() {
    let mut running = start(1);
    let address = running.cluster.addresses()[0];
    Client::connect(address).create_topic("t", 1);
    let hour_ms = 3_600_000;
    for (ahead_ms, restart) in [(hour_ms, false), (-hour_ms, true), (0, false)] {
        running.cluster.set_clock_ahead(ONE, ahead_ms).unwrap();
        if restart {
            running.cluster.stop_node(ONE).unwrap();
            running.cluster.restart_node(ONE).unwrap();
        }
        let mut client = wait_for_leader(address);
        client.set_topic_config("t", "message.timestamp.type", "LogAppendTime");
        let answer = client.ask(12, &produce_request("t", 0, 1, batch(1, 10)));
        let dated_ms = answer.responses[0].partition_responses[0].log_append_time_ms;
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        let off_ms = dated_ms - i64::try_from(now.as_millis()).unwrap() - ahead_ms;
        assert!(off_ms.abs() < 60_000, "{off_ms} ms off, {ahead_ms} ahead");
    }
}

#[test]
fn faults_reach_a_frozen_node_and_a_node_that_comes_back() {
    let mut running = start(1);
    let address = running.cluster.addresses()[0];
    Client::connect(address).create_topic("t", 1);
    running.cluster.pause_node(ONE).unwrap();
    let fail = RequestFault::fail(kgauge_wire::error_code::ErrorCode::NotEnoughReplicas.name());
    let fault = InjectedFault::of(ApiKey::Produce, fail);
    let id = running.cluster.fault(None, fault).unwrap();
    running.cluster.resume_node(ONE).unwrap();
    let code = |client: &mut Client| {
        let answer = client.ask(12, &produce_request("t", 0, 1, batch(1, 10)));
        answer.responses[0].partition_responses[0].error_code
    };
    assert_eq!(code(&mut Client::connect(address)), 19);
    running.cluster.kill_node(ONE).unwrap();
    assert!(!running.cluster.is_up(ONE));
    running.cluster.restart_node(ONE).unwrap();
    assert_eq!(code(&mut Client::connect(address)), 19);
    running.cluster.lift_fault(id);
    assert_eq!(code(&mut wait_for_leader(address)), 0);
}
