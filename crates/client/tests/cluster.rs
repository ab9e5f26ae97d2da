//! Finding a cluster, following its leaders, and creating topics on it while it misbehaves.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fake;

use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use fake::{Asked, broker, closed_port, config};
use kgauge_client::admin::{CreateTopicError, TopicSpec};
use kgauge_client::{Address, Cluster, ClusterError};
use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::create_topics::CreatableTopicResult;
use kgauge_wire::messages::metadata::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kgauge_wire::messages::{CreateTopicsResponse, MetadataRequest, MetadataResponse};

/// One partition of topic `t`, led by `leader` (-1 for nobody) or with this error.
fn picture(address: &Address, leader: i32, topic_error: i16) -> MetadataResponse<'static> {
    let partition = MetadataResponsePartition {
        error_code: if leader < 0 { 5 } else { 0 },
        leader_id: leader,
        leader_epoch: 3,
        replica_nodes: vec![1],
        isr_nodes: vec![1],
        ..MetadataResponsePartition::default()
    };
    MetadataResponse {
        brokers: vec![MetadataResponseBroker {
            node_id: 1,
            host: address.host.clone().into(),
            port: i32::from(address.port),
            rack: Some("north".into()),
        }],
        cluster_id: Some("the-cluster".into()),
        controller_id: 1,
        topics: vec![MetadataResponseTopic {
            name: Some("t".into()),
            error_code: topic_error,
            partitions: if topic_error == 0 {
                vec![partition]
            } else {
                Vec::new()
            },
            ..MetadataResponseTopic::default()
        }],
        ..MetadataResponse::default()
    }
}

/// A one-broker cluster: `answer` gets its address, the request, and how many came before it.
fn cluster_of_one(
    mut answer: impl FnMut(&Address, &Asked, u32) -> Option<Vec<u8>> + Send + 'static,
) -> Address {
    let known: Arc<OnceLock<Address>> = Arc::default();
    let itself = known.clone();
    let mut count = 0;
    let address = broker(move |asked| {
        count += 1;
        answer(itself.wait(), asked, count - 1)
    });
    known.set(address.clone()).unwrap();
    address
}

fn topic_t() -> TopicSpec {
    TopicSpec {
        name: "t".to_owned(),
        partitions: 1,
        replication_factor: 1,
        configs: Vec::new(),
    }
}

#[test]
fn the_next_server_is_tried_when_the_first_is_down() {
    let down = closed_port();
    let up = cluster_of_one(|address, asked, _| Some(asked.answer(&picture(address, 1, 0))));
    let cluster = Cluster::bootstrap(config(&[&down, &up])).unwrap();
    let metadata = cluster.metadata();
    assert_eq!(metadata.cluster_id.as_deref(), Some("the-cluster"));
    assert_eq!(metadata.brokers[0].rack.as_deref(), Some("north"));
    assert_eq!(metadata.brokers[0].address, up);
    assert_eq!(metadata.topics, [], "nobody asked for topics");
}

#[test]
fn when_no_server_answers_each_gets_its_line() {
    let (one, two) = (closed_port(), fake::server(drop));
    let error = Cluster::bootstrap(config(&[&one, &two])).unwrap_err();
    let text = error.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(lines[0], "none of the bootstrap servers is usable:");
    assert!(
        lines[1].starts_with(&format!("  {one}: connection refused")),
        "{text}"
    );
    assert!(
        lines[2].starts_with(&format!("  {two}: this port closed the connection")),
        "{text}"
    );
    assert_eq!(error.fix(), "use the address of a running Kafka broker");
}

#[test]
fn the_only_server_speaks_for_itself() {
    let address = closed_port();
    let error = Cluster::bootstrap(config(&[&address])).unwrap_err();
    assert_eq!(error.to_string(), format!("{address}: connection refused"));
    assert_eq!(
        error.fix(),
        "start the broker, or correct the host and port"
    );
}

#[test]
fn a_controllers_listener_is_recognised() {
    let address = fake::server(|mut stream| {
        while let Some(asked) = Asked::next(&mut stream) {
            let mut known = fake::all_versions();
            known
                .api_keys
                .retain(|api| api.api_key != ApiKey::Metadata.as_i16());
            stream.write_all(&asked.answer(&known)).unwrap();
        }
    });
    let error = Cluster::bootstrap(config(&[&address])).unwrap_err();
    assert!(matches!(&error, ClusterError::NoServer { attempts } if attempts.len() == 1));
    assert!(error.fix().contains("KRaft controller"), "{error}");
}

#[test]
fn old_brokers_are_never_asked_for_a_topic_that_they_might_create() {
    for newest in [0, 3] {
        let address = fake::server(move |mut stream| {
            let own = stream.local_addr().unwrap();
            let own = Address {
                host: own.ip().to_string(),
                port: own.port(),
            };
            while let Some(asked) = Asked::next(&mut stream) {
                let answer = if asked.api == ApiKey::ApiVersions {
                    let mut known = fake::all_versions();
                    let metadata = known.api_keys.iter_mut();
                    let mut metadata = metadata.filter(|api| api.api_key == 3);
                    metadata.next().unwrap().max_version = newest;
                    asked.answer(&known)
                } else {
                    // Null means all topics, and so does an empty list before version 1.
                    let request: MetadataRequest<'_> = asked.message();
                    assert_eq!(request.topics, (newest == 0).then(Vec::new));
                    let mut response = picture(&own, 1, 0);
                    response.topics.push(MetadataResponseTopic {
                        name: Some("of-somebody-else".into()),
                        ..MetadataResponseTopic::default()
                    });
                    // Old versions do not carry these fields.
                    response.topics[0].partitions[0].leader_epoch = -1;
                    if newest == 0 {
                        response = MetadataResponse {
                            controller_id: -1,
                            cluster_id: None,
                            ..response
                        };
                        response.brokers[0].rack = None;
                    }
                    asked.answer(&response)
                };
                stream.write_all(&answer).unwrap();
            }
        });
        let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
        assert_eq!(cluster.metadata().controller_id, (newest > 0).then_some(1));
        let metadata = cluster.refresh(&["t"]).unwrap();
        assert_eq!(metadata.topics.len(), 1, "nobody asked for the other");
        assert_eq!(cluster.known_leader("t", 0).unwrap().epoch, None);
    }
}

#[test]
fn a_partition_without_leader_is_asked_for_until_it_has_one() {
    let address = cluster_of_one(|address, asked, count| {
        let request: MetadataRequest<'_> = asked.message();
        assert!(!request.allow_auto_topic_creation);
        Some(asked.answer(&picture(address, if count < 4 { -1 } else { 1 }, 0)))
    });
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    let leader = cluster.leader("t", 0).unwrap();
    assert_eq!((leader.broker_id, leader.epoch), (1, Some(3)));
    assert_eq!(cluster.metadata().partition("t", 0).unwrap().isr, [1]);
    let error = cluster.leader("t", 7).unwrap_err();
    assert_eq!(error.to_string(), "topic t has no partition 7");
}

#[test]
fn an_unknown_topic_is_an_error_at_once() {
    let address = cluster_of_one(|address, asked, count| {
        assert!(count < 3, "it is not asked for again and again");
        Some(asked.answer(&picture(address, 1, 3)))
    });
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    let error = cluster.leader("t", 0).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("topic t: UNKNOWN_TOPIC_OR_PARTITION (3)"),
        "{error}"
    );
}

#[test]
fn an_unreachable_advertised_address_is_reported() {
    let nowhere = closed_port();
    let advertised = nowhere.clone();
    let address = broker(move |asked| Some(asked.answer(&picture(&advertised, 1, 0))));
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    let error = cluster.open(1).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("broker 1: {nowhere}: connection refused")),
        "{error}"
    );
    assert!(error.fix().contains("advertised.listeners"));
}

#[test]
fn a_broker_that_drops_the_connection_is_asked_again() {
    let dropped = Arc::new(AtomicU32::new(0));
    let counter = dropped.clone();
    let address = cluster_of_one(move |address, asked, count| {
        if (1..3).contains(&count) {
            counter.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(asked.answer(&picture(address, 1, 0)))
    });
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    cluster.refresh(&["t"]).unwrap();
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
    assert_eq!(cluster.known_leader("t", 0).unwrap().broker_id, 1);
}

fn creation(code: i16, words: &'static str) -> CreateTopicsResponse<'static> {
    CreateTopicsResponse {
        topics: vec![CreatableTopicResult {
            name: "t".into(),
            error_code: code,
            error_message: Some(words.into()),
            ..CreatableTopicResult::default()
        }],
        ..CreateTopicsResponse::default()
    }
}

#[test]
fn a_topic_that_was_there_before_is_refused() {
    let address = cluster_of_one(|address, asked, _| match asked.api {
        ApiKey::CreateTopics => Some(asked.answer(&creation(36, "exists"))),
        _ => Some(asked.answer(&picture(address, 1, 0))),
    });
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    let error = cluster.create_topic(&topic_t()).unwrap_err();
    assert!(matches!(error, CreateTopicError::Exists { .. }), "{error}");
    assert!(!error.may_exist());
}

#[test]
fn a_topic_made_by_an_attempt_without_answer_is_ours() {
    let mut creations = 0;
    let address = cluster_of_one(move |address, asked, _| match asked.api {
        ApiKey::CreateTopics => {
            creations += 1;
            (creations > 1).then(|| asked.answer(&creation(36, "exists")))
        }
        _ => Some(asked.answer(&picture(address, 1, 0))),
    });
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    cluster.create_topic(&topic_t()).unwrap();
}

#[test]
fn creation_waits_until_the_broker_lists_leaders() {
    let mut looks = 0;
    let address = cluster_of_one(move |address, asked, count| match asked.api {
        ApiKey::CreateTopics => Some(asked.answer(&creation(0, ""))),
        _ if count == 0 => Some(asked.answer(&picture(address, 1, 3))),
        _ => {
            looks += 1;
            let picture = match looks {
                1 => picture(address, 1, 3),
                2 => picture(address, -1, 0),
                _ => picture(address, 1, 0),
            };
            Some(asked.answer(&picture))
        }
    });
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    cluster.create_topic(&topic_t()).unwrap();
}

#[test]
fn a_topic_whose_creation_is_not_confirmed_may_exist() {
    let address = cluster_of_one(|address, asked, _| match asked.api {
        ApiKey::CreateTopics => None,
        _ => Some(asked.answer(&picture(address, 1, 3))),
    });
    let mut config = config(&[&address]);
    config.retries = 2;
    let mut cluster = Cluster::bootstrap(config).unwrap();
    let error = cluster.create_topic(&topic_t()).unwrap_err();
    assert!(error.may_exist(), "{error}");
    let words = format!("topic t: {address} closed the connection instead of answering");
    assert!(error.to_string().starts_with(&words), "{error}");
}

#[test]
fn the_brokers_message_is_shown() {
    let address = cluster_of_one(|address, asked, _| match asked.api {
        ApiKey::CreateTopics => Some(asked.answer(&creation(38, "only 1 broker is up"))),
        _ => Some(asked.answer(&picture(address, 1, 3))),
    });
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    let error = cluster.create_topic(&topic_t()).unwrap_err();
    assert!(
        error.to_string().contains("INVALID_REPLICATION_FACTOR"),
        "{error}"
    );
    assert!(
        error.to_string().ends_with("(\"only 1 broker is up\")"),
        "{error}"
    );
    assert!(error.fix().contains("replication factor"));
    assert!(!error.may_exist());
}

#[test]
fn a_broker_that_is_not_in_the_picture_is_an_error() {
    let address = cluster_of_one(|address, asked, _| Some(asked.answer(&picture(address, 1, 0))));
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    let error = cluster.open(9).unwrap_err();
    assert!(
        matches!(error, ClusterError::UnknownBroker { broker_id: 9 }),
        "{error}"
    );
}
