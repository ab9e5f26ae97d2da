//! What the client must find on Apache Kafka of every age, the oldest without ApiVersions included.
//!
//! You start the brokers, one cluster per release, and list them as `VERSION=HOST:PORT/TOPIC`, separated by blanks.
//! TOPIC is any existing topic. It is optional since 0.10.1, where the client can create topics:
//! `KGAUGE_KAFKA_RELEASES="0.8.2.2=localhost:9092/some-topic 4.3.1=localhost:9093" cargo test
//! -p kgauge-client --test every_release -- --ignored`.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_client::admin::{AdminConfigResource, ConfigsError, CreateTopicError, TopicSpec};
use kgauge_client::release::ReleaseGuess;
use kgauge_client::{CallError, ClientConfig, Cluster, ClusterError};
use kgauge_wire::api::ApiKey;

/// A cluster that somebody has started.
struct Given {
    version: String,
    numbers: Vec<u32>,
    servers: String,
    topic: Option<String>,
}

impl Given {
    fn parse(word: &str) -> Given {
        let (version, place) = word.split_once('=').expect("VERSION=HOST:PORT/TOPIC");
        let (servers, topic) = match place.split_once('/') {
            Some((servers, topic)) => (servers, Some(topic.to_owned())),
            None => (place, None),
        };
        Given {
            version: version.to_owned(),
            numbers: version
                .split('.')
                .map(|number| number.parse().unwrap())
                .collect(),
            servers: servers.to_owned(),
            topic,
        }
    }

    /// Whether it is of this release or a later one.
    fn has(&self, release: &[u32]) -> bool {
        self.numbers.as_slice() >= release
    }

    /// Its release, as far as brokers let it be known: bug fixes change nothing in what they answer.
    fn release(&self) -> String {
        let known = if self.numbers[0] == 0 { 3 } else { 2 };
        let numbers: Vec<String> = self.numbers.iter().map(u32::to_string).collect();
        numbers[..known].join(".")
    }

    fn cluster(&self) -> Cluster {
        Cluster::bootstrap(ClientConfig::from_servers(&self.servers).unwrap()).unwrap()
    }
}

fn is_unsupported(error: &ClusterError) -> bool {
    matches!(error, ClusterError::Call(CallError::Unsupported { .. }))
}

#[test]
#[ignore = "needs real Kafkas: KGAUGE_KAFKA_RELEASES=\"VERSION=HOST:PORT/TOPIC ...\""]
fn every_release_serves_all_admin_operations() {
    let given = std::env::var("KGAUGE_KAFKA_RELEASES").expect("KGAUGE_KAFKA_RELEASES");
    for given in given.split_whitespace().map(Given::parse) {
        let mut cluster = given.cluster();
        identity(&given, &mut cluster);
        settings_and_room(&given, &mut cluster);
        producer_id(&given, &mut cluster);
        let made = topic_life(&given, &mut cluster);
        let topic = given.topic.clone().or(made.clone()).unwrap();
        offsets(&given, &mut cluster, &topic);
        if let Some(made) = made {
            cluster.delete_topic(&made).unwrap();
        }
        println!("{}: as it should be", given.version);
    }
}

fn identity(given: &Given, cluster: &mut Cluster) {
    let version = &given.version;
    let metadata = cluster.metadata().clone();
    assert!(!metadata.brokers.is_empty(), "{version}: no broker");
    assert_eq!(
        metadata.cluster_id.is_some(),
        given.has(&[0, 10, 1]),
        "{version}: cluster id (KIP-78)"
    );
    assert_eq!(
        metadata.controller_id.is_some(),
        given.has(&[0, 10]),
        "{version}: controller"
    );
    let versions = cluster.api_versions(metadata.brokers[0].id).unwrap();
    let guess = ReleaseGuess::from_api_versions(&versions).to_string();
    assert!(guess.contains(&given.release()), "{version}: {guess}");
    let of_produce = versions.range(ApiKey::Produce).unwrap().1;
    assert_eq!(
        of_produce >= 3,
        given.has(&[0, 11]),
        "{version}: batches v2"
    );
    let nobody = cluster.open(99).unwrap_err();
    assert!(
        matches!(nobody, ClusterError::UnknownBroker { broker_id: 99 }),
        "{version}: {nobody}"
    );
}

fn settings_and_room(given: &Given, cluster: &mut Cluster) {
    let version = &given.version;
    let id = cluster.metadata().brokers[0].id;
    match cluster.describe_configs(AdminConfigResource::Broker(id)) {
        Ok(entries) => {
            assert!(given.has(&[0, 11]), "{version}");
            let mut names = entries.iter().map(|entry| entry.name.as_str());
            assert!(names.any(|name| name == "log.segment.bytes"), "{version}");
        }
        Err(ConfigsError::Cluster(error)) => {
            assert!(is_unsupported(&error), "{version}: {error}");
            assert!(!given.has(&[0, 11]), "{version}: {error}");
        }
        Err(error) => panic!("{version}: {error}"),
    }
    match cluster.describe_log_dirs(id, Some(&[])) {
        Ok(dirs) => {
            assert!(given.has(&[1]) && !dirs.is_empty(), "{version}");
            let is_room_known = dirs.iter().all(|dir| dir.usable_bytes.is_some());
            assert_eq!(
                is_room_known,
                given.has(&[3, 3]),
                "{version}: free room (KIP-827)"
            );
        }
        Err(error) => {
            assert!(is_unsupported(&error.error), "{version}: {error}");
            assert!(!given.has(&[1]), "{version}: {error}");
        }
    }
}

fn producer_id(given: &Given, cluster: &mut Cluster) {
    let version = &given.version;
    match cluster.init_producer_id() {
        Ok(_) => assert!(given.has(&[0, 11]), "{version}"),
        Err(error) => {
            assert!(is_unsupported(&error.error), "{version}: {error}");
            assert!(error.fix().contains("0.11"), "{version}");
            assert!(!given.has(&[0, 11]), "{version}: {error}");
        }
    }
}

/// The topic that was made, where the release can.
fn topic_life(given: &Given, cluster: &mut Cluster) -> Option<String> {
    let version = &given.version;
    let topic = TopicSpec {
        name: format!("kgauge-client-test-{}-age", std::process::id()),
        partitions: 3,
        replication_factor: 1,
        configs: vec![("retention.ms".to_owned(), "60000".to_owned())],
    };
    let made = cluster.create_topic(&topic);
    if !given.has(&[0, 10, 1]) {
        let error = made.unwrap_err();
        assert!(
            matches!(error, CreateTopicError::Unsupported { .. }),
            "{version}: {error}"
        );
        assert!(error.to_string().contains(&given.release()), "{error}");
        return None;
    }
    made.unwrap_or_else(|error| panic!("{version}: {error}"));
    let again = cluster.create_topic(&topic).unwrap_err();
    assert!(
        matches!(again, CreateTopicError::Exists { .. }),
        "{version}"
    );
    assert_eq!(cluster.end_offsets(&topic.name).unwrap(), [0, 0, 0]);
    Some(topic.name)
}

fn offsets(given: &Given, cluster: &mut Cluster, topic: &str) {
    let version = &given.version;
    let ends = cluster.end_offsets(topic).unwrap();
    let starts = cluster.earliest_offsets(topic).unwrap();
    assert_eq!(ends.len(), starts.len(), "{version}");
    assert!(!ends.is_empty(), "{version}");
    assert!(
        starts.iter().zip(&ends).all(|(start, end)| start <= end),
        "{version}: {starts:?} {ends:?}"
    );
    // A single replica has no followers to wait for.
    assert_eq!(cluster.log_end_offsets(topic).unwrap(), ends, "{version}");
    let missing = cluster.end_offsets("kgauge-no-such-topic").unwrap_err();
    assert!(
        missing.to_string().contains("UNKNOWN_TOPIC_OR_PARTITION"),
        "{version}: {missing}"
    );
    // Looking for it has not made it.
    let seen = cluster.refresh(&["kgauge-no-such-topic"]).unwrap();
    let seen = seen.topic("kgauge-no-such-topic");
    assert!(seen.is_none_or(|seen| !seen.error.is_none()), "{version}");
}
