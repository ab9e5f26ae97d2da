//! What nodes count of themselves, on clusters with real threads, sockets and files.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod harness;

use std::time::{Duration, Instant};

use harness::{Client, Running, batch, fetch_request, produce_request, start};
use kgauge_broker::cluster::NodeError;
use kgauge_broker::ids::NodeId;
use kgauge_broker::{
    ClusterConfig, DelayPlan, EmbeddedCluster, InjectedFault, NodeCounts, RequestFault,
};
use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::fetch::FetchRequest;
use kgauge_wire::messages::produce::ProduceRequest;

const ONE: NodeId = NodeId(1);
const TWO: NodeId = NodeId(2);

fn start_with(nodes: u16, settings: &[(&str, &str)]) -> Running {
    let dir = tempfile::tempdir().unwrap();
    let mut config = ClusterConfig::new(dir.path()).with_nodes(nodes);
    for (name, value) in settings {
        config = config.with_setting(name, value);
    }
    let cluster = EmbeddedCluster::start(config).unwrap();
    Running { cluster, dir }
}

/// What a node has counted once that is so: an answer is counted when it has gone, so its client may be
/// faster.
#[track_caller]
fn once(running: &Running, node: NodeId, is_so: impl Fn(&NodeCounts) -> bool) -> NodeCounts {
    let begin = Instant::now();
    loop {
        let counts = running.cluster.counts(node).unwrap();
        if is_so(&counts) {
            return counts;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{counts:?}");
        std::thread::yield_now();
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap()
}

/// The node that leads the only partition, and the other one.
fn leader_of(running: &Running) -> (NodeId, NodeId) {
    let leads = |node| running.cluster.counts(node).unwrap().leaders == 1;
    let begin = Instant::now();
    loop {
        match (leads(ONE), leads(TWO)) {
            (true, false) => return (ONE, TWO),
            (false, true) => return (TWO, ONE),
            _ => assert!(begin.elapsed() < Duration::from_secs(60)),
        }
        std::thread::yield_now();
    }
}

fn client_of(running: &Running, node: NodeId) -> Client {
    let index = usize::try_from(node.0 - 1).unwrap();
    Client::connect(running.cluster.addresses()[index])
}

#[test]
fn a_delay_before_requests_are_served_shows_in_their_queue_and_counts_are_exact() {
    const DELAY: Duration = Duration::from_millis(20);
    let running = start(1);
    let mut client = client_of(&running, ONE);
    client.create_topic("t", 1);
    let batch = batch(7, 100);
    for _ in 0..3 {
        client.produce("t", 0, batch.clone());
    }
    let before = once(&running, ONE, |counts| counts.produce.count == 3);
    let delay = RequestFault::Delay(DELAY.into());
    let fault = InjectedFault::of(ApiKey::Produce, delay);
    running.cluster.fault(Some(ONE), fault).unwrap();
    let begin = Instant::now();
    for _ in 0..10 {
        client.produce("t", 0, batch.clone());
    }
    let after = once(&running, ONE, |counts| counts.produce.count == 13);
    let elapsed_ns = nanos(begin.elapsed());
    let queued_ns = after.produce.request_queue_ns - before.produce.request_queue_ns;
    assert!(queued_ns >= 10 * nanos(DELAY), "{after:?}");
    // One after the other: all of their time together is no more than the client saw.
    let total_ns = after.produce.total_ns() - before.produce.total_ns();
    assert!(total_ns <= elapsed_ns, "{total_ns} of {elapsed_ns} ns");
    assert!(after.produce.local_ns > before.produce.local_ns);
    assert_eq!(after.produce.remote_ns, 0, "acks=1 waits for nobody");
    assert_eq!(after.bytes_in, 13 * batch.len() as u64);
    assert_eq!(after.messages_in, 13 * 7);
    assert_eq!((after.fetch.count, after.bytes_out), (0, 0));
    assert_eq!((after.leaders, after.partitions), (1, 1));
    assert_eq!(after.produce_purgatory, 0);
}

#[test]
fn requests_that_get_no_answer_are_counted_too() {
    let running = start(1);
    let mut client = client_of(&running, ONE);
    client.create_topic("t", 1);
    for _ in 0..5 {
        client.send(12, &produce_request("t", 0, 0, batch(1, 10)));
    }
    let counts = once(&running, ONE, |counts| counts.produce.count == 5);
    assert_eq!(counts.messages_in, 5);
    assert_eq!(counts.produce.response_send_ns, 0);
}

#[test]
fn a_fetch_that_waits_for_records_waits_for_others() {
    const WAIT: Duration = Duration::from_millis(150);
    let running = start(1);
    let mut client = client_of(&running, ONE);
    client.create_topic("t", 1);
    client.send(12, &fetch_request("t", 0, 0, 150));
    once(&running, ONE, |counts| counts.fetch_purgatory == 1);
    client.receive::<FetchRequest<'static>>(12);
    let counts = once(&running, ONE, |counts| counts.fetch.count == 1);
    // What the node does before it lets the fetch wait is not waiting.
    let waited_ns = counts.fetch.remote_ns + counts.fetch.local_ns;
    assert!(waited_ns >= nanos(WAIT), "{counts:?}");
    assert!(
        counts.fetch.remote_ns > counts.fetch.total_ns() / 2,
        "{counts:?}"
    );
    once(&running, ONE, |counts| counts.fetch_purgatory == 0);
    let batch = batch(3, 100);
    client.produce("t", 0, batch.clone());
    assert_eq!(client.fetch("t", 0, 0).len(), batch.len());
    let counts = once(&running, ONE, |counts| counts.fetch.count == 2);
    assert_eq!(counts.bytes_out, batch.len() as u64);
}

#[test]
fn an_answer_behind_one_that_waits_is_in_the_response_queue() {
    const STILL: Duration = Duration::from_millis(100);
    let running = start(1);
    let mut client = client_of(&running, ONE);
    client.create_topic("t", 1);
    client.create_topic("u", 1);
    // One connection: the answer to the second request is ready, and the first has to go before it.
    client.send(12, &fetch_request("t", 0, 0, 60_000));
    client.send(12, &produce_request("u", 0, 1, batch(1, 10)));
    let before = once(&running, ONE, |counts| counts.messages_in == 1);
    assert_eq!(before.produce.count, 0, "it has not gone");
    std::thread::sleep(STILL);
    let mut other = client_of(&running, ONE);
    other.produce("t", 0, batch(1, 10));
    client.receive::<FetchRequest<'static>>(12);
    client.receive::<ProduceRequest<'static>>(12);
    let counts = once(&running, ONE, |counts| counts.produce.count == 2);
    assert!(
        counts.produce.response_queue_ns >= nanos(STILL),
        "{counts:?}"
    );
    assert_eq!(counts.produce.remote_ns, 0);
}

#[test]
fn requests_of_one_turn_wait_for_those_before_them_and_their_answers_for_those_behind() {
    let running = start(1);
    let mut client = client_of(&running, ONE);
    client.create_topic("t", 1);
    // The node finds them all in the socket when it resumes, and serves them in one turn. It answers the
    // fault commands while it pauses, so the pause has started before the first request is sent.
    running.cluster.pause_node(ONE).unwrap();
    let none = RequestFault::Delay(DelayPlan::Constant(0));
    let fault = InjectedFault::of(ApiKey::Metadata, none);
    let id = running.cluster.fault(Some(ONE), fault).unwrap();
    running.cluster.lift_fault(id);
    for _ in 0..5 {
        client.send(12, &produce_request("t", 0, 1, batch(1, 10)));
    }
    running.cluster.resume_node(ONE).unwrap();
    let produce = once(&running, ONE, |counts| counts.produce.count == 5).produce;
    // Number k of 5 is waited for by 5 - k requests behind it and k - 1 answers before it: by 4.
    let waited_ns = produce.request_queue_ns + produce.response_queue_ns;
    assert!(waited_ns >= 4 * produce.local_ns, "{produce:?}");
    assert!(produce.response_queue_ns > 0, "{produce:?}");
}

#[test]
fn acks_of_all_wait_for_a_follower_that_stands_still() {
    const STILL: Duration = Duration::from_millis(100);
    let running = start_with(2, &[("default.replication.factor", "2")]);
    client_of(&running, ONE).create_topic("t", 1);
    let (leader, follower) = leader_of(&running);
    let mut client = client_of(&running, leader);
    let batch = batch(2, 50);
    let request = produce_request("t", 0, -1, batch.clone());
    assert_eq!(
        client.ask(12, &request).responses[0].partition_responses[0].error_code,
        0
    );
    let before = once(&running, leader, |counts| counts.produce.count == 1);
    assert!(before.follower_fetch.count > 0, "{before:?}");
    assert_eq!(before.replication_bytes_out, batch.len() as u64);
    let followed = once(&running, follower, |counts| counts.partitions == 1);
    assert_eq!(followed.replication_bytes_in, batch.len() as u64);
    assert_eq!((followed.leaders, followed.bytes_in), (0, 0));

    running.cluster.pause_node(follower).unwrap();
    client.send(12, &request);
    once(&running, leader, |counts| counts.produce_purgatory == 1);
    let begin = Instant::now();
    while begin.elapsed() < STILL {
        // A node that stands still tells what it has counted.
        running.cluster.counts(follower).unwrap();
    }
    running.cluster.resume_node(follower).unwrap();
    client.receive::<ProduceRequest<'static>>(12);
    let after = once(&running, leader, |counts| counts.produce.count == 2);
    let remote_ns = after.produce.remote_ns - before.produce.remote_ns;
    assert!(remote_ns >= nanos(STILL), "{after:?}");
    assert_eq!(after.isr_shrinks, 0);
}

#[test]
fn followers_that_fall_out_of_sync_and_come_back_are_counted() {
    let running = start_with(
        2,
        &[
            ("default.replication.factor", "2"),
            ("replica.lag.time.max.ms", "1500"),
            ("replica.fetch.wait.max.ms", "100"),
            ("min.insync.replicas", "2"),
        ],
    );
    client_of(&running, ONE).create_topic("t", 1);
    let (leader, follower) = leader_of(&running);
    let whole = once(&running, leader, |counts| counts.leaders == 1);
    assert_eq!((whole.under_replicated, whole.under_min_isr), (0, 0));
    running.cluster.pause_node(follower).unwrap();
    client_of(&running, leader).send(12, &produce_request("t", 0, 1, batch(1, 10)));
    let alone = once(&running, leader, |counts| counts.under_replicated == 1);
    assert_eq!(alone.under_min_isr, 1);
    // On a busy machine it may have been late before, and come back.
    assert_eq!(alone.isr_shrinks, alone.isr_expands + 1);
    running.cluster.resume_node(follower).unwrap();
    let again = once(&running, leader, |counts| {
        counts.under_replicated == 0 && counts.isr_expands == counts.isr_shrinks
    });
    assert!(again.isr_expands >= alone.isr_shrinks, "{again:?}");
    assert_eq!(again.under_min_isr, 0);
}

#[test]
fn flushes_are_counted_with_their_time_which_is_the_requests_own() {
    let running = start(1);
    let mut client = client_of(&running, ONE);
    client.create_topic("t", 1);
    client.set_topic_config("t", "flush.messages", "1");
    for _ in 0..5 {
        client.produce("t", 0, batch(1, 100));
    }
    let counts = once(&running, ONE, |counts| counts.produce.count == 5);
    assert_eq!(counts.flushes, 5);
    assert!(counts.flush_ns > 0 && counts.flush_ns <= counts.produce.local_ns);
}

#[test]
fn a_node_with_nothing_to_do_is_idle() {
    let running = start(1);
    let begin = Instant::now();
    let before = running.cluster.counts(ONE).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let least_ns = nanos(begin.elapsed());
    let after = running.cluster.counts(ONE).unwrap();
    let most_ns = nanos(begin.elapsed());
    let idle_ns = after.idle_ns - before.idle_ns;
    assert!(idle_ns <= most_ns, "{idle_ns} of {most_ns} ns");
    assert!(idle_ns >= least_ns / 2, "{idle_ns} of {least_ns} ns");
}

#[test]
fn a_node_that_is_down_has_no_counts_and_its_next_life_starts_at_zero() {
    let mut running = start(1);
    let mut client = client_of(&running, ONE);
    client.create_topic("t", 1);
    client.produce("t", 0, batch(1, 10));
    let before = once(&running, ONE, |counts| counts.produce.count == 1);
    running.cluster.kill_node(ONE).unwrap();
    let down = running.cluster.counts(ONE).unwrap_err();
    assert!(matches!(down, NodeError::Down(ONE)), "{down}");
    assert!(matches!(
        running.cluster.counts(NodeId(9)),
        Err(NodeError::Unknown(_))
    ));
    running.cluster.restart_node(ONE).unwrap();
    let after = once(&running, ONE, |counts| counts.leaders == 1);
    assert_eq!((after.produce.count, after.bytes_in), (0, 0));
    assert!(after.started_unix_ms >= before.started_unix_ms);
}

#[test]
fn a_cluster_without_counters_serves_and_refuses_to_report_counts() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = ClusterConfig::new(dir.path());
    config.counts = false;
    let cluster = EmbeddedCluster::start(config).unwrap();
    let running = Running { cluster, dir };
    let mut client = client_of(&running, ONE);
    client.create_topic("t", 1);
    assert_eq!(client.produce("t", 0, batch(1, 10)), 0);
    let error = running.cluster.counts(ONE).unwrap_err();
    assert_eq!(error.to_string(), "the nodes count nothing");
}
