//! Replicated topics over real sockets, threads and disks: nodes that crash, freeze, stop and come
//! back. What no test of threads can time is in `simulation.rs`.
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod harness;

use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::{Client, batch, count};
use kgauge_broker::cluster::{Endpoint, NodeError};
use kgauge_broker::ids::NodeId;
use kgauge_broker::image::{ClusterImage, PartitionImage};
use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster};
use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::create_topics::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use kgauge_wire::messages::elect_leaders::{ElectLeadersRequest, TopicPartitions};
use kgauge_wire::messages::find_coordinator::FindCoordinatorRequest;
use kgauge_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use kgauge_wire::messages::offset_delete::{
    OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use kgauge_wire::messages::offset_fetch::{OffsetFetchRequest, OffsetFetchRequestGroup};
use kgauge_wire::messages::produce::{PartitionProduceData, ProduceRequest, TopicProduceData};

/// A cluster of three on a folder that goes with it.
struct Three {
    cluster: ClusterHandle,
    _dir: tempfile::TempDir,
}

impl Three {
    fn start(settings: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = ClusterConfig::new(dir.path())
            .with_nodes(3)
            .with_setting("broker.session.timeout.ms", "600")
            .with_setting("broker.heartbeat.interval.ms", "100")
            .with_setting("replica.lag.time.max.ms", "1000");
        for (name, value) in settings {
            config = config.with_setting(name, value);
        }
        let cluster = EmbeddedCluster::start(config).unwrap();
        Self { cluster, _dir: dir }
    }

    fn client(&self, node: NodeId) -> Client {
        let index = usize::try_from(node.0 - 1).unwrap();
        Client::connect(self.cluster.addresses()[index])
    }

    /// A topic with one partition on all three, two of which must have what is acknowledged.
    fn create(&self, name: &'static str) {
        let request = CreateTopicsRequest {
            topics: vec![CreatableTopic {
                name: Str::Borrowed(name),
                num_partitions: 1,
                replication_factor: 3,
                configs: vec![CreatableTopicConfig {
                    name: Str::Borrowed("min.insync.replicas"),
                    value: Some(Str::Borrowed("2")),
                }],
                ..CreatableTopic::default()
            }],
            timeout_ms: 5_000,
            ..CreateTopicsRequest::default()
        };
        let answer = self.client(NodeId(1)).ask(7, &request);
        assert_eq!(answer.topics[0].error_code, 0, "{answer:?}");
    }

    fn partition(&self, name: &str) -> PartitionImage {
        let image = self.cluster.image().unwrap();
        image.topic(name).unwrap().partition(0).unwrap().clone()
    }

    /// Waits until the partition meets a condition.
    fn until(&self, name: &str, condition: impl Fn(&PartitionImage) -> bool) -> PartitionImage {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let partition = self.partition(name);
            if condition(&partition) {
                return partition;
            }
            assert!(Instant::now() < until, "{partition:?}");
            std::thread::yield_now();
        }
    }

    fn leader(&self, name: &str) -> NodeId {
        let led = self.until(name, |partition| partition.leader.is_some());
        led.leader.unwrap()
    }

    /// Produces with acks=all, again and again until it is acknowledged; gives the offset.
    fn produce(&self, name: &'static str, records: Vec<u8>) -> i64 {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let leader = self.leader(name);
            let (code, offset) = produce_all(&mut self.client(leader), name, &records, 2_000);
            if code == ErrorCode::None {
                return offset;
            }
            assert!(Instant::now() < until, "{code}");
        }
    }
}

fn produce_all(
    client: &mut Client,
    name: &'static str,
    records: &[u8],
    timeout_ms: i32,
) -> (ErrorCode, i64) {
    let request = ProduceRequest {
        acks: -1,
        timeout_ms,
        topic_data: vec![TopicProduceData {
            name: Str::Borrowed(name),
            partition_data: vec![PartitionProduceData {
                index: 0,
                records: Some(Bytes::Owned(records.to_vec())),
            }],
            ..TopicProduceData::default()
        }],
        ..ProduceRequest::default()
    };
    let answer = client.ask(11, &request);
    let partition = &answer.responses[0].partition_responses[0];
    (
        ErrorCode::from_i16(partition.error_code),
        partition.base_offset,
    )
}

fn is_whole(partition: &PartitionImage) -> bool {
    partition.isr.len() == 3 && partition.leader.is_some()
}

fn epoch(image: &Arc<ClusterImage>, node: NodeId) -> Option<u64> {
    image.nodes.get(&node).map(|node| node.epoch)
}

#[test]
fn a_crashed_leader_is_replaced_and_catches_up_when_it_comes_back() {
    let mut three = Three::start(&[]);
    three.create("t");
    for round in 0..10 {
        assert_eq!(three.produce("t", batch(100, 100)), round * 100);
    }
    let first = three.leader("t");
    let lost = three.cluster.crash_node(first).unwrap();
    assert!(lost > 0, "nothing was flushed, so all of it was lost");
    let next = three.until("t", |partition| {
        partition.leader.is_some_and(|leader| leader != first)
    });
    assert!(!next.isr.contains(&first), "{next:?}");
    for round in 10..20 {
        assert_eq!(three.produce("t", batch(100, 100)), round * 100);
    }
    three.cluster.restart_node(first).unwrap();
    three.until("t", is_whole);
    // Everything is on the one that had lost it.
    let mut reader = three.client(first);
    let bytes = reader.fetch("t", 0, 1_900);
    assert_eq!(count(&bytes), 100);
    three.cluster.stop().unwrap();
}

#[test]
fn acks_all_needs_enough_replicas_in_sync() {
    let mut three = Three::start(&[]);
    three.create("t");
    three.produce("t", batch(1, 10));
    let leader = three.leader("t");
    let others: Vec<NodeId> = (1..=3).map(NodeId).filter(|node| *node != leader).collect();
    for node in &others {
        three.cluster.stop_node(*node).unwrap();
    }
    let alone = three.until("t", |partition| partition.isr == [leader]);
    assert_eq!(
        alone.elr.len(),
        1,
        "the last who left is still eligible: {alone:?}"
    );
    let mut client = three.client(leader);
    let (code, _) = produce_all(&mut client, "t", &batch(1, 10), 500);
    assert_eq!(code, ErrorCode::NotEnoughReplicas);
    three.cluster.restart_node(others[0]).unwrap();
    three.until("t", |partition| partition.isr.len() == 2);
    assert_eq!(three.produce("t", batch(1, 10)), 1);
    let twice = three.cluster.restart_node(others[0]);
    assert!(matches!(twice, Err(NodeError::Up(_))), "{twice:?}");
    three.cluster.stop().unwrap();
}

#[test]
fn a_frozen_follower_holds_an_acknowledgement_back_until_it_is_fenced() {
    let three = Three::start(&[]);
    three.create("t");
    three.produce("t", batch(1, 10));
    let leader = three.leader("t");
    let frozen = NodeId(leader.0 % 3 + 1);
    three.cluster.pause_node(frozen).unwrap();
    let start = Instant::now();
    let mut client = three.client(leader);
    let (code, _) = produce_all(&mut client, "t", &batch(1, 10), 100);
    assert_eq!(code, ErrorCode::RequestTimedOut);
    // Fenced after 600 ms of silence, it is waited for no more.
    let (code, offset) = produce_all(&mut client, "t", &batch(1, 10), 10_000);
    assert_eq!(
        (code, offset),
        (ErrorCode::None, 2),
        "the late one is there, too"
    );
    assert!(start.elapsed() >= Duration::from_millis(400));
    three.until("t", |partition| !partition.isr.contains(&frozen));
    three.cluster.resume_node(frozen).unwrap();
    three.until("t", is_whole);
    three.cluster.stop().unwrap();
}

#[test]
fn an_isolated_leader_acknowledges_nothing_that_would_be_lost() {
    let three = Three::start(&[]);
    three.create("t");
    three.produce("t", batch(1, 10));
    let old = three.leader("t");
    three.cluster.isolate_node(old);
    let mut client = three.client(old);
    let (code, _) = produce_all(&mut client, "t", &batch(7, 10), 100);
    assert_eq!(code, ErrorCode::RequestTimedOut);
    three.until("t", |partition| {
        partition.leader.is_some_and(|leader| leader != old)
    });
    assert_eq!(three.produce("t", batch(3, 10)), 1);
    three.cluster.mend();
    three.until("t", is_whole);
    // What the old leader took is cut; the next record follows what was acknowledged.
    assert_eq!(three.produce("t", batch(1, 10)), 4);
    three.cluster.cut(Endpoint::Node(old), Endpoint::Controller);
    let before = epoch(&three.cluster.image().unwrap(), old);
    assert!(before.is_some());
    let until = Instant::now() + Duration::from_secs(20);
    while epoch(&three.cluster.image().unwrap(), old).is_some() {
        assert!(Instant::now() < until, "it was never fenced");
        std::thread::yield_now();
    }
    three.cluster.mend();
    three.until("t", is_whole);
    three.cluster.stop().unwrap();
}

#[test]
fn the_preferred_replica_leads_again_when_it_is_asked_for() {
    let mut three = Three::start(&[("auto.leader.rebalance.enable", "false")]);
    three.create("t");
    three.produce("t", batch(5, 10));
    let first = three.partition("t").replicas[0];
    three.cluster.stop_node(first).unwrap();
    three.until("t", |partition| {
        partition.leader.is_some_and(|leader| leader != first)
    });
    three.cluster.restart_node(first).unwrap();
    let whole = three.until("t", is_whole);
    assert_ne!(whole.leader, Some(first));
    let request = ElectLeadersRequest {
        topic_partitions: Some(vec![TopicPartitions {
            topic: Str::Borrowed("t"),
            partitions: vec![0],
        }]),
        timeout_ms: 5_000,
        ..ElectLeadersRequest::default()
    };
    let answer = three.client(first).ask(2, &request);
    let result = &answer.replica_election_results[0].partition_result[0];
    assert_eq!(result.error_code, 0, "{answer:?}");
    assert_eq!(three.partition("t").leader, Some(first));
    let again = three.client(first).ask(2, &request);
    let result = &again.replica_election_results[0].partition_result[0];
    assert_eq!(
        ErrorCode::from_i16(result.error_code),
        ErrorCode::ElectionNotNeeded
    );
    assert_eq!(three.produce("t", batch(1, 10)), 5);
    three.cluster.stop().unwrap();
}

const GROUP: Str<'static> = Str::Borrowed("g");
const OFFSETS: &str = "__consumer_offsets";

/// The node that keeps the group's offsets.
fn coordinator(three: &Three) -> NodeId {
    let until = Instant::now() + Duration::from_secs(20);
    let keys = vec![GROUP];
    let request = FindCoordinatorRequest {
        coordinator_keys: keys,
        ..FindCoordinatorRequest::default()
    };
    loop {
        let answer = three.client(NodeId(1)).ask(4, &request);
        if answer.coordinators[0].error_code == 0 {
            return NodeId(answer.coordinators[0].node_id);
        }
        assert!(Instant::now() < until, "{answer:?}");
    }
}

fn commit(offset: i64) -> OffsetCommitRequest<'static> {
    let partition = OffsetCommitRequestPartition {
        committed_offset: offset,
        ..OffsetCommitRequestPartition::default()
    };
    OffsetCommitRequest {
        group_id: GROUP,
        topics: vec![OffsetCommitRequestTopic {
            name: Str::Borrowed("t"),
            partitions: vec![partition],
            ..OffsetCommitRequestTopic::default()
        }],
        ..OffsetCommitRequest::default()
    }
}

/// Asks for all offsets of the group.
fn fetch_offsets(require_stable: bool) -> OffsetFetchRequest<'static> {
    OffsetFetchRequest {
        groups: vec![OffsetFetchRequestGroup {
            group_id: GROUP,
            topics: None,
            ..OffsetFetchRequestGroup::default()
        }],
        require_stable,
        ..OffsetFetchRequest::default()
    }
}

/// The committed offset in the next answer, if there is one.
fn receive_offset(client: &mut Client) -> Option<i64> {
    let answer = client.receive::<OffsetFetchRequest<'static>>(9);
    let group = &answer.groups[0];
    assert_eq!(group.error_code, 0);
    let topic = group.topics.first()?;
    Some(topic.partitions[0].committed_offset)
}

/// A connection to the coordinator of a group of which 5 is committed, and a replica of its offsets.
fn committed_five(three: &Three) -> (Client, NodeId, NodeId) {
    three.create("t");
    let coordinator = coordinator(three);
    three.until(OFFSETS, is_whole);
    let mut client = three.client(coordinator);
    client.send(9, &commit(5));
    assert_eq!(commit_answer(&mut client), 0);
    (client, coordinator, NodeId(coordinator.0 % 3 + 1))
}

/// Nobody is fenced: then it would be waited for no more.
const PATIENT: &[(&str, &str)] = &[
    ("broker.session.timeout.ms", "60000"),
    ("replica.lag.time.max.ms", "60000"),
    ("offsets.topic.num.partitions", "1"),
];

fn commit_answer(client: &mut Client) -> i16 {
    let answer = client.receive::<OffsetCommitRequest<'static>>(9);
    answer.topics[0].partitions[0].error_code
}

/// Returns when everything that was sent on this connection was served, although its answers wait: a
/// connection's requests are served in order, and the last one makes a topic.
fn wait_until_served(three: &Three, client: &mut Client) {
    let request = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: Str::Borrowed("mark"),
            num_partitions: 1,
            replication_factor: 1,
            ..CreatableTopic::default()
        }],
        timeout_ms: 20_000,
        ..CreateTopicsRequest::default()
    };
    client.send(7, &request);
    let until = Instant::now() + Duration::from_secs(20);
    while three.cluster.image().unwrap().topic("mark").is_none() {
        assert!(Instant::now() < until);
        std::thread::yield_now();
    }
}

/// Kafka shows what is below the high watermark of its offsets topic; who requires stable offsets
/// waits for the newest.
#[test]
fn an_offset_is_shown_when_every_replica_has_it_and_not_before() {
    let three = Three::start(PATIENT);
    let (mut client, coordinator, frozen) = committed_five(&three);
    three.cluster.pause_node(frozen).unwrap();
    client.send(9, &commit(6));
    client.send(9, &commit(7));
    client.send(9, &fetch_offsets(false));
    client.send(9, &fetch_offsets(true));
    wait_until_served(&three, &mut client);
    let mut other = three.client(coordinator);
    other.send(9, &fetch_offsets(false));
    assert_eq!(
        receive_offset(&mut other),
        Some(5),
        "the commits are on their way"
    );
    three.cluster.resume_node(frozen).unwrap();
    assert_eq!(commit_answer(&mut client), 0);
    assert_eq!(commit_answer(&mut client), 0);
    assert_eq!(
        receive_offset(&mut client),
        Some(5),
        "as it was when it was asked"
    );
    assert_eq!(
        receive_offset(&mut client),
        Some(7),
        "the newest, when replicated"
    );
    client.receive::<CreateTopicsRequest<'static>>(7);
    client.send(9, &fetch_offsets(false));
    assert_eq!(receive_offset(&mut client), Some(7));
    three.cluster.stop().unwrap();
}

#[test]
fn an_offset_that_is_taken_back_is_shown_until_every_replica_knows() {
    let three = Three::start(PATIENT);
    let (mut client, coordinator, frozen) = committed_five(&three);
    three.cluster.pause_node(frozen).unwrap();
    let delete = OffsetDeleteRequest {
        group_id: GROUP,
        topics: vec![OffsetDeleteRequestTopic {
            name: Str::Borrowed("t"),
            partitions: vec![OffsetDeleteRequestPartition { partition_index: 0 }],
        }],
    };
    client.send(0, &delete);
    wait_until_served(&three, &mut client);
    let mut other = three.client(coordinator);
    other.send(9, &fetch_offsets(false));
    assert_eq!(receive_offset(&mut other), Some(5), "it is still there");
    three.cluster.resume_node(frozen).unwrap();
    let answer = client.receive::<OffsetDeleteRequest<'static>>(0);
    let code = answer.topics[0].partitions[0].error_code;
    assert_eq!((answer.error_code, code), (0, 0));
    client.receive::<CreateTopicsRequest<'static>>(7);
    client.send(9, &fetch_offsets(false));
    assert_eq!(receive_offset(&mut client), None);
    three.cluster.stop().unwrap();
}
