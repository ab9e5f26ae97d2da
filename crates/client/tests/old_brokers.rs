//! Brokers that do not know ApiVersions: recognised by what they answer, once, and never by mistake.

#![allow(clippy::unwrap_used, reason = "tests")]

mod fake;

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use fake::{Asked, all_versions, config, server};
use kgauge_client::admin::{CreateTopicError, TopicSpec};
use kgauge_client::release::ReleaseGuess;
use kgauge_client::{Address, ClientConfig, Cluster, ConnectError, Connection};
use kgauge_wire::api::ApiKey;
use kgauge_wire::messages::list_offsets::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use kgauge_wire::messages::metadata::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kgauge_wire::messages::{ListGroupsResponse, ListOffsetsResponse, MetadataResponse};

/// How a broker of that age behaves when it does not know a request.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// 0.8.2: closes the connection.
    Closing,
    /// 0.9.0: never answers.
    Silent,
}

const TOPIC: &str = "logs";

/// How often each fake was asked for ApiVersions.
type Count = Arc<AtomicUsize>;

/// An old broker that leads both partitions of one topic.
fn old_broker(kind: Kind) -> (Address, Count) {
    let (count, own) = (Count::default(), Arc::new(Mutex::new(None::<Address>)));
    let (asked_versions, advertised) = (count.clone(), own.clone());
    let address = server(move |mut stream| {
        let (count, own) = (asked_versions.clone(), advertised.clone());
        std::thread::spawn(move || {
            while let Some(asked) = Asked::next(&mut stream) {
                if asked.api == ApiKey::ApiVersions {
                    count.fetch_add(1, Ordering::SeqCst);
                }
                let own = own.lock().unwrap().clone().unwrap();
                match (old_answer(&asked, kind, &own), kind) {
                    (Some(answer), _) => stream.write_all(&answer).unwrap(),
                    (None, Kind::Closing) => return,
                    (None, Kind::Silent) => {}
                }
            }
        });
    });
    *own.lock().unwrap() = Some(address.clone());
    (address, count)
}

fn old_answer(asked: &Asked, kind: Kind, own: &Address) -> Option<Vec<u8>> {
    match (asked.api, asked.version) {
        (ApiKey::Metadata, 0) => Some(asked.answer(&picture(own))),
        (ApiKey::ListGroups, 0) if kind == Kind::Silent => {
            Some(asked.answer(&ListGroupsResponse::default()))
        }
        (ApiKey::ListOffsets, 0) => Some(asked.answer(&offsets())),
        _ => None,
    }
}

fn picture(own: &Address) -> MetadataResponse<'static> {
    let partition = |partition_index| MetadataResponsePartition {
        partition_index,
        leader_id: 7,
        replica_nodes: vec![7],
        isr_nodes: vec![7],
        ..MetadataResponsePartition::default()
    };
    MetadataResponse {
        brokers: vec![MetadataResponseBroker {
            node_id: 7,
            host: own.host.clone().into(),
            port: own.port.into(),
            rack: None,
        }],
        topics: vec![MetadataResponseTopic {
            name: Some(TOPIC.into()),
            partitions: vec![partition(0), partition(1)],
            ..MetadataResponseTopic::default()
        }],
        ..MetadataResponse::default()
    }
}

fn offsets() -> ListOffsetsResponse<'static> {
    let partition = |partition_index, offset| ListOffsetsPartitionResponse {
        partition_index,
        old_style_offsets: vec![offset, 0],
        ..ListOffsetsPartitionResponse::default()
    };
    ListOffsetsResponse {
        topics: vec![ListOffsetsTopicResponse {
            name: TOPIC.into(),
            partitions: vec![partition(0, 11), partition(1, 22)],
        }],
        ..ListOffsetsResponse::default()
    }
}

fn release(connection: &Connection) -> String {
    ReleaseGuess::from_api_versions(connection.api_versions()).to_string()
}

fn knows_api_versions(connection: &Connection) -> bool {
    let versions = connection.api_versions();
    versions.range(ApiKey::ApiVersions).is_some()
}

#[test]
fn each_age_is_recognised_by_what_it_does_not_answer() {
    for (kind, name) in [(Kind::Closing, "0.8.2"), (Kind::Silent, "0.9.0")] {
        let (address, count) = old_broker(kind);
        let config = config(&[&address]);
        let connection = Connection::connect(&address, &config).unwrap();
        assert_eq!(release(&connection), name);
        let detour = count.load(Ordering::SeqCst);
        // Copies of the settings know it too.
        let again = Connection::connect(&address, &config.clone()).unwrap();
        assert_eq!(release(&again), name);
        assert_eq!(count.load(Ordering::SeqCst), detour);
    }
}

#[test]
fn offsets_come_from_the_lists_of_version_0_and_missing_ones_are_absent() {
    let (address, _) = old_broker(Kind::Closing);
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    assert_eq!(cluster.end_offsets(TOPIC).unwrap(), [11, 22]);
    assert_eq!(cluster.metadata().cluster_id, None);
    assert_eq!(cluster.metadata().controller_id, None);
    let error = cluster.end_offsets("no-such-topic").unwrap_err();
    assert!(
        error.to_string().contains("UNKNOWN_TOPIC_OR_PARTITION"),
        "{error}"
    );
}

#[test]
fn a_topic_that_cannot_be_made_over_the_wire_is_refused_with_the_cure() {
    let (address, _) = old_broker(Kind::Closing);
    let mut cluster = Cluster::bootstrap(config(&[&address])).unwrap();
    let error = cluster.create_topic(&TopicSpec {
        name: "mine".to_owned(),
        partitions: 1,
        replication_factor: 1,
        configs: Vec::new(),
    });
    let error = error.unwrap_err();
    assert!(matches!(error, CreateTopicError::Unsupported { .. }));
    assert_eq!(
        error.to_string(),
        "topic mine cannot be created over the wire: the cluster (0.8.2) does not support it"
    );
    assert!(error.fix().contains("--allow-existing"));
    assert!(!error.may_exist());
}

#[test]
fn a_login_is_not_forgotten_on_a_broker_that_has_none() {
    let (address, _) = old_broker(Kind::Closing);
    let properties = format!(
        "bootstrap.servers={address}\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n\
         sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
         username=\"u\" password=\"p\";\n"
    );
    let config = ClientConfig::from_properties_text(&properties, "test").unwrap();
    for _ in 0..2 {
        let error = Connection::connect(&address, &config).unwrap_err();
        assert!(
            error.to_string().contains("it does not support SASL"),
            "{error}"
        );
    }
}

/// A broker of today, whose very first connection is handled by `first`.
fn newer_broker(first: impl FnOnce(TcpStream) + Send + 'static) -> Address {
    let mut first = Some(first);
    server(move |mut stream| {
        let first = first.take();
        std::thread::spawn(move || {
            if let Some(first) = first {
                return first(stream);
            }
            while let Some(asked) = Asked::next(&mut stream) {
                let answer = newer_answer(&asked);
                stream.write_all(&answer).unwrap();
            }
        });
    })
}

fn newer_answer(asked: &Asked) -> Vec<u8> {
    match asked.api {
        ApiKey::ApiVersions => asked.answer(&all_versions()),
        ApiKey::ListGroups => asked.answer(&ListGroupsResponse::default()),
        _ => asked.answer(&MetadataResponse::default()),
    }
}

#[test]
fn a_newer_broker_that_closes_a_connection_is_not_taken_for_an_old_one() {
    // As a broker does that is just being restarted.
    let address = newer_broker(|mut stream| {
        Asked::next(&mut stream).unwrap();
    });
    let config = config(&[&address]);
    let error = Connection::connect(&address, &config).unwrap_err();
    assert!(matches!(error, ConnectError::Closed { .. }), "{error}");
    let connection = Connection::connect(&address, &config).unwrap();
    assert!(knows_api_versions(&connection));
}

#[test]
fn a_newer_broker_that_answers_late_is_waited_for() {
    // The first connection answers only after the client has started to check for an old broker.
    let answers = Arc::new((Mutex::new(0_u32), Condvar::new()));
    let seen = answers.clone();
    let mut connections = 0;
    let address = server(move |mut stream| {
        connections += 1;
        let (number, answers) = (connections, answers.clone());
        std::thread::spawn(move || {
            while let Some(asked) = Asked::next(&mut stream) {
                let (count, changed) = &*answers;
                if number == 1 {
                    let guard = count.lock().unwrap();
                    drop(changed.wait_while(guard, |count| *count < 3).unwrap());
                }
                stream.write_all(&newer_answer(&asked)).unwrap();
                *count.lock().unwrap() += 1;
                changed.notify_all();
            }
        });
    });
    let connection = Connection::connect(&address, &config(&[&address])).unwrap();
    assert!(knows_api_versions(&connection));
    assert!(*seen.0.lock().unwrap() >= 3);
}
