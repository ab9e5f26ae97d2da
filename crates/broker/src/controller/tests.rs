//! The controller without threads: known answers to its requests, restarts, and slow nodes.

use super::*;
use crate::image::{NodeImage, PartitionImage};
use crate::settings::ConfigMap;
use crate::storage::{DiskFault, MemoryStorage, Operation};
use std::io::ErrorKind;

const NOW: Now = Now {
    mono_ns: 1_000,
    wall_ms: 1_700_000_000_000,
};

struct Bench {
    storage: MemoryStorage,
    controller: Controller,
}

fn open(storage: &MemoryStorage) -> Controller {
    Controller::open(&storage.shared(), Path::new("/c"), Arc::default(), 42).unwrap()
}

impl Bench {
    fn new(nodes: i32) -> Self {
        let storage = MemoryStorage::new();
        let mut controller = open(&storage);
        register(&mut controller, nodes);
        Self {
            storage,
            controller,
        }
    }

    /// Asks as node 1 while all nodes follow at once.
    fn ask(&mut self, request: ControllerRequest) -> ControllerReply {
        self.controller
            .handle(NOW, NodeId(1), ToController::Request { id: 7, request });
        let version = self.controller.image().version;
        let nodes: Vec<NodeId> = self.controller.live.keys().copied().collect();
        for node in nodes {
            self.controller
                .handle(NOW, node, ToController::Applied(version));
        }
        self.answer().expect("all nodes follow")
    }

    /// Asks for the topic `t` as node 1; no node follows.
    fn send_create(&mut self) {
        let request = ControllerRequest::CreateTopics {
            topics: vec![named("t")],
            mode: Mode::Apply,
        };
        self.controller
            .handle(NOW, NodeId(1), ToController::Request { id: 7, request });
    }

    fn answer(&mut self) -> Option<ControllerReply> {
        self.controller.outputs().find_map(|output| match output {
            ControllerOutput::Send(NodeId(1), FromController::Answer { id: 7, answer }) => {
                Some(answer)
            }
            _ => None,
        })
    }

    fn create(&mut self, topic: NewTopic) -> Result<CreatedTopic, Refusal> {
        let request = ControllerRequest::CreateTopics {
            topics: vec![topic],
            mode: Mode::Apply,
        };
        match self.ask(request) {
            ControllerReply::CreateTopics(mut results) => results.remove(0),
            other => panic!("{other:?}"),
        }
    }

    fn refused(&mut self, topic: NewTopic) -> ErrorCode {
        self.create(topic).unwrap_err().code
    }
}

fn register(controller: &mut Controller, nodes: i32) {
    for node in 1..=nodes {
        let reachable = NodeImage {
            host: "127.0.0.1".to_owned(),
            port: 9000,
            rack: None,
            epoch: 0,
            life: 0,
        };
        let register = ToController::Register {
            reachable,
            stopped_in_order: true,
        };
        controller.handle(NOW, NodeId(node), register);
        let version = controller.image().version;
        controller.handle(NOW, NodeId(node), ToController::Applied(version));
    }
    controller.outputs().for_each(drop);
}

fn named(name: &str) -> NewTopic {
    NewTopic {
        name: name.to_owned(),
        ..NewTopic::default()
    }
}

#[test]
fn leaders_go_round_the_nodes() {
    let mut bench = Bench::new(3);
    bench
        .create(NewTopic {
            partitions: Some(6),
            ..named("t")
        })
        .unwrap();
    let topic = bench.controller.image().topic("t").unwrap().clone();
    let leaders: Vec<i32> = topic
        .partitions
        .iter()
        .map(PartitionImage::leader_number)
        .collect();
    let mut counts = [0; 4];
    leaders
        .iter()
        .for_each(|leader| counts[usize::try_from(*leader).unwrap()] += 1);
    assert_eq!(counts, [0, 2, 2, 2]);
    assert_ne!(leaders[0], leaders[1]);
}

#[test]
fn a_second_topic_of_the_name_is_refused_and_a_colliding_one_too() {
    let mut bench = Bench::new(1);
    bench.create(named("a.b")).unwrap();
    assert_eq!(bench.refused(named("a.b")), ErrorCode::TopicAlreadyExists);
    assert_eq!(
        bench.refused(named("a_b")),
        ErrorCode::InvalidTopicException
    );
    assert_eq!(
        bench.refused(named("a/b")),
        ErrorCode::InvalidTopicException
    );
}

#[test]
fn replicas_are_spread_and_limited_by_the_nodes_that_are_up() {
    let mut bench = Bench::new(3);
    bench
        .create(NewTopic {
            partitions: Some(6),
            replication_factor: Some(3),
            ..named("three")
        })
        .unwrap();
    let topic = bench.controller.image().topic("three").unwrap().clone();
    // What a node leads goes to both others when it fails: the second replicas differ.
    for leader in 1..=3 {
        let led = topic
            .partitions
            .iter()
            .filter(|partition| partition.replicas[0] == NodeId(leader));
        let second: BTreeSet<NodeId> = led.map(|partition| partition.replicas[1]).collect();
        assert_eq!(second.len(), 2, "{:?}", topic.partitions);
    }
    for partition in &topic.partitions {
        let nodes: BTreeSet<_> = partition.replicas.iter().collect();
        assert_eq!(nodes.len(), 3);
        assert_eq!(partition.isr, partition.replicas);
    }
    let too_many = bench.create(NewTopic {
        replication_factor: Some(4),
        ..named("t")
    });
    assert!(too_many.unwrap_err().message.contains("only 3 broker(s)"));
    let zero = NewTopic {
        replication_factor: Some(0),
        ..named("t")
    };
    assert_eq!(bench.refused(zero), ErrorCode::InvalidReplicationFactor);
}

#[test]
fn bad_partition_counts_assignments_and_configs_are_refused() {
    let mut bench = Bench::new(2);
    let none = NewTopic {
        partitions: Some(0),
        ..named("t")
    };
    assert_eq!(bench.refused(none), ErrorCode::InvalidPartitions);
    let unknown = NewTopic {
        assignments: vec![(0, vec![NodeId(9)])],
        ..named("t")
    };
    assert_eq!(bench.refused(unknown), ErrorCode::InvalidReplicaAssignment);
    let gap = NewTopic {
        assignments: vec![(1, vec![NodeId(1)])],
        ..named("t")
    };
    assert_eq!(bench.refused(gap), ErrorCode::InvalidReplicaAssignment);
    let configs: ConfigMap = [("cleanup.policy".to_owned(), "shrink".to_owned())].into();
    assert_eq!(
        bench.refused(NewTopic {
            configs,
            ..named("t")
        }),
        ErrorCode::InvalidConfig
    );
    assert!(bench.controller.image().topics.is_empty());
}

#[test]
fn a_client_can_choose_the_nodes() {
    let mut bench = Bench::new(2);
    let assignments = vec![(1, vec![NodeId(1)]), (0, vec![NodeId(2)])];
    bench
        .create(NewTopic {
            assignments,
            ..named("t")
        })
        .unwrap();
    let topic = bench.controller.image().topic("t").unwrap();
    assert_eq!(topic.partition(0).unwrap().leader, Some(NodeId(2)));
    assert_eq!(topic.partition(1).unwrap().leader, Some(NodeId(1)));
}

#[test]
fn validation_changes_nothing() {
    let mut bench = Bench::new(1);
    let version = bench.controller.image().version;
    let topics = vec![named("t")];
    let answer = bench.ask(ControllerRequest::CreateTopics {
        topics,
        mode: Mode::Validate,
    });
    assert!(matches!(answer, ControllerReply::CreateTopics(results) if results[0].is_ok()));
    assert_eq!(bench.controller.image().version, version);
}

#[test]
fn an_answer_waits_until_every_node_works_by_it_or_the_wait_is_over() {
    let mut bench = Bench::new(2);
    bench.send_create();
    let version = bench.controller.image().version;
    bench
        .controller
        .handle(NOW, NodeId(1), ToController::Applied(version));
    assert!(
        bench.answer().is_none(),
        "node 2 does not know the topic yet"
    );
    let at = |ms: i64| Now {
        mono_ns: NOW.after_ms(ms),
        ..NOW
    };
    for node in [1, 2] {
        bench
            .controller
            .handle(at(5_000), NodeId(node), ToController::Heartbeat);
    }
    bench.answer();
    assert_eq!(bench.controller.next_timer(), Some(NOW.after_ms(10_000)));
    bench.controller.tick(at(9_999));
    assert!(bench.answer().is_none());
    bench.controller.tick(at(10_000));
    assert!(bench.answer().is_some());
}

#[test]
fn an_answer_does_not_wait_for_a_node_that_is_silent_for_too_long() {
    let mut bench = Bench::new(2);
    bench.send_create();
    let later = Now {
        mono_ns: NOW.after_ms(9_000),
        ..NOW
    };
    bench
        .controller
        .handle(later, NodeId(1), ToController::Heartbeat);
    bench.controller.tick(later);
    let version = bench.controller.image().version;
    assert!(!bench.controller.image().nodes.contains_key(&NodeId(2)));
    bench
        .controller
        .handle(later, NodeId(1), ToController::Applied(version));
    assert!(bench.answer().is_some());
    // It is back with its next word.
    bench
        .controller
        .handle(later, NodeId(2), ToController::Heartbeat);
    assert!(bench.controller.image().nodes.contains_key(&NodeId(2)));
}

#[test]
fn a_restart_keeps_everything_and_leads_in_a_new_epoch() {
    let mut bench = Bench::new(1);
    let id = bench
        .create(NewTopic {
            partitions: Some(2),
            ..named("t")
        })
        .unwrap()
        .id;
    assert!(matches!(
        bench.ask(ControllerRequest::ProducerIds),
        ControllerReply::ProducerIds(ProducerIdBlock {
            first: 0,
            count: 1000
        })
    ));
    let cluster_id = Arc::clone(&bench.controller.image().cluster_id);
    assert!(cluster_id.starts_with(CLUSTER_ID_PREFIX), "{cluster_id}");
    assert_eq!(cluster_id.len(), 22);
    bench.controller = open(&bench.storage);
    register(&mut bench.controller, 1);
    let image = bench.controller.image();
    assert_eq!(image.cluster_id, cluster_id);
    let topic = image.topic_by_id(id).unwrap();
    assert_eq!(topic.partitions.len(), 2);
    assert_eq!(topic.partition(1).unwrap().leader_epoch, 1);
    assert!(matches!(
        bench.ask(ControllerRequest::ProducerIds),
        ControllerReply::ProducerIds(ProducerIdBlock { first: 1000, .. })
    ));
}

#[test]
fn a_node_that_stops_leaves_its_partitions_without_a_leader() {
    let mut bench = Bench::new(2);
    bench
        .create(NewTopic {
            partitions: Some(2),
            ..named("t")
        })
        .unwrap();
    bench
        .controller
        .handle(NOW, NodeId(2), ToController::Stopped);
    let image = bench.controller.image();
    let leaders: Vec<Option<NodeId>> = image
        .topic("t")
        .unwrap()
        .partitions
        .iter()
        .map(|p| p.leader)
        .collect();
    assert!(
        leaders.contains(&None) && leaders.contains(&Some(NodeId(1))),
        "{leaders:?}"
    );
    assert_eq!(image.nodes.len(), 1);
}

#[test]
fn deleted_topics_are_gone_under_both_names() {
    let mut bench = Bench::new(1);
    let id = bench.create(named("t")).unwrap().id;
    let answer = bench.ask(ControllerRequest::DeleteTopics(vec![id, id]));
    let ControllerReply::DeleteTopics(results) = answer else {
        panic!()
    };
    assert_eq!(results[0].as_deref(), Ok("t"));
    assert_eq!(
        results[1].as_ref().unwrap_err().code,
        ErrorCode::UnknownTopicId
    );
    assert!(bench.controller.image().topic("t").is_none());
    assert_ne!(bench.create(named("t")).unwrap().id, id);
}

#[test]
fn partitions_can_be_added_but_never_taken_away() {
    let mut bench = Bench::new(1);
    bench
        .create(NewTopic {
            partitions: Some(2),
            ..named("t")
        })
        .unwrap();
    let mut grow = |count| {
        let topics = vec![PartitionIncrease {
            name: "t".to_owned(),
            count,
            assignments: None,
        }];
        match bench.ask(ControllerRequest::CreatePartitions {
            topics,
            mode: Mode::Apply,
        }) {
            ControllerReply::CreatePartitions(mut results) => results.remove(0).map_err(|r| r.code),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(grow(5), Ok(()));
    assert_eq!(grow(5), Err(ErrorCode::InvalidPartitions));
    assert_eq!(grow(3), Err(ErrorCode::InvalidPartitions));
    assert_eq!(
        bench
            .controller
            .image()
            .topic("t")
            .unwrap()
            .partitions
            .len(),
        5
    );
}

fn set(value: &str) -> ConfigOperation {
    ConfigOperation::Set(value.to_owned())
}

#[test]
fn configs_change_by_name_or_as_a_whole() {
    let mut bench = Bench::new(1);
    bench.create(named("t")).unwrap();
    let mut alter = |scope, values: &[(&str, Option<&str>)]| {
        let resource = ConfigResource::Topic("t".to_owned());
        let values = values
            .iter()
            .map(|(k, v)| ((*k).to_owned(), v.map_or(ConfigOperation::Reset, set)))
            .collect();
        let changes = vec![ConfigChange {
            resource,
            scope,
            values,
        }];
        let answer = bench.ask(ControllerRequest::AlterConfigs {
            changes,
            mode: Mode::Apply,
        });
        let ControllerReply::AlterConfigs(results) = answer else {
            panic!()
        };
        let configs = bench.controller.image().topic("t").unwrap().configs.clone();
        (
            results[0].clone().map_err(|r| r.code),
            configs.into_iter().collect::<Vec<_>>(),
        )
    };
    let pair = |k: &str, v: &str| (k.to_owned(), v.to_owned());
    let (named, all) = (ChangeScope::Named, ChangeScope::All);
    let ten = pair("retention.ms", "10");
    assert_eq!(
        alter(named, &[("retention.ms", Some("10"))]),
        (Ok(()), vec![ten.clone()])
    );
    let both = vec![ten.clone(), pair("segment.bytes", "100")];
    assert_eq!(
        alter(named, &[("segment.bytes", Some("100"))]),
        (Ok(()), both)
    );
    assert_eq!(
        alter(named, &[("segment.bytes", None)]),
        (Ok(()), vec![ten.clone()])
    );
    let refused = alter(named, &[("segment.bites", Some("1"))]);
    assert_eq!(refused, (Err(ErrorCode::InvalidConfig), vec![ten]));
    let flush = vec![pair("flush.ms", "1")];
    assert_eq!(alter(all, &[("flush.ms", Some("1"))]), (Ok(()), flush));
}

/// Kafka 4.3.1 answers so; for topics the same mistakes are INVALID_CONFIG.
#[test]
fn a_nodes_value_that_does_not_fit_is_an_invalid_request() {
    let mut bench = Bench::new(1);
    let mut alter = |node: Option<NodeId>, name: &str, value: &str| {
        let changes = vec![ConfigChange {
            resource: ConfigResource::Node(node),
            scope: ChangeScope::Named,
            values: vec![(name.to_owned(), set(value))],
        }];
        let mode = Mode::Apply;
        match bench.ask(ControllerRequest::AlterConfigs { changes, mode }) {
            ControllerReply::AlterConfigs(mut results) => results.remove(0),
            other => panic!("{other:?}"),
        }
    };
    for node in [None, Some(NodeId(1))] {
        let refused = alter(node, "log.segment.bytes", "few").unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidRequest);
        assert_eq!(
            refused.message,
            "Invalid value few for configuration log.segment.bytes: Not a number of type INT"
        );
        let refused = alter(node, "log.segment.bytes", "1").unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidRequest);
        let refused = alter(node, "num.partitions", "2").unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidRequest);
        let refused = alter(node, "log.segment.bites", "1").unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidConfig);
        assert_eq!(alter(node, "log.segment.bytes", "1048576"), Ok(()));
    }
}

#[test]
fn a_journal_that_cannot_be_flushed_stops_the_cluster() {
    let mut bench = Bench::new(1);
    bench.storage.crash(crate::storage::Crash::KeepEverything);
    bench.send_create();
    assert!(
        bench
            .controller
            .outputs()
            .any(|output| matches!(output, ControllerOutput::Fatal(_)))
    );
    assert!(bench.controller.image().topic("t").is_none());
}

#[test]
fn a_request_is_written_whole_with_one_flush_or_not_at_all() {
    let mut bench = Bench::new(3);
    let request = || ControllerRequest::CreateTopics {
        topics: (0..1000)
            .map(|number| named(&format!("t.{number}")))
            .collect(),
        mode: Mode::Apply,
    };
    bench.storage.inject(DiskFault::once(
        Operation::Write,
        "metadata.journal",
        ErrorKind::StorageFull,
    ));
    let version = bench.controller.image().version;
    let ControllerReply::Failed(refusal) = bench.ask(request()) else {
        panic!("nothing could be written");
    };
    assert_eq!(refusal.code, ErrorCode::KafkaStorageError);
    assert_eq!(bench.controller.image().version, version);
    assert!(bench.controller.image().topics.is_empty());
    let flushes = bench.storage.tried(Operation::SyncData);
    let ControllerReply::CreateTopics(results) = bench.ask(request()) else {
        panic!("the disk has room again");
    };
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(bench.storage.tried(Operation::SyncData), flushes + 1);
    assert_eq!(open(&bench.storage).image().topics.len(), 1000);
}

#[test]
fn names_that_meet_are_refused_within_one_request_too() {
    let mut bench = Bench::new(1);
    let names = ["a_b", "a.b", "a-b", "c.d", "c_d"];
    let request = ControllerRequest::CreateTopics {
        topics: names.iter().map(|name| named(name)).collect(),
        mode: Mode::Apply,
    };
    let ControllerReply::CreateTopics(results) = bench.ask(request) else {
        panic!("topics were asked for");
    };
    let created: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(created, [true, false, true, true, false]);
}
