//! Everything the client can ask, against kgauge's embedded cluster in this process.

#![allow(clippy::unwrap_used, reason = "tests")]

mod asking;

use std::time::{Duration, Instant};

use kgauge_broker::cluster::{ClusterConfig, ClusterHandle, EmbeddedCluster as Embedded};
use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster};

/// A cluster of so many nodes; it ends with its handle, and the directory goes with it.
fn embedded(nodes: u16) -> (Cluster, ClusterHandle, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let config = ClusterConfig::new(dir.path().join("data")).with_nodes(nodes);
    let handle = Embedded::start(config).unwrap();
    let client = ClientConfig::from_servers(&handle.bootstrap_servers()).unwrap();
    (Cluster::bootstrap(client).unwrap(), handle, dir)
}

#[test]
fn a_topic_is_created_described_and_deleted() {
    let (mut cluster, _handle, _dir) = embedded(1);
    asking::a_topic_is_created_described_and_deleted(&mut cluster);
}

#[test]
fn the_brokers_message_is_shown() {
    let (mut cluster, _handle, _dir) = embedded(1);
    asking::the_brokers_message_is_shown(&mut cluster);
}

#[test]
fn producer_ids_are_handed_out() {
    let (mut cluster, _handle, _dir) = embedded(1);
    asking::producer_ids_are_handed_out(&mut cluster);
}

#[test]
fn settings_sizes_and_groups_are_reported() {
    let (mut cluster, _handle, _dir) = embedded(1);
    asking::settings_sizes_and_groups_are_reported(&mut cluster);
}

#[test]
fn each_replica_reports_its_own_end() {
    let (mut cluster, _handle, _dir) = embedded(3);
    asking::each_replica_reports_its_own_end(&mut cluster);
}

#[test]
fn leaders_are_spread_and_each_is_asked_for_its_own() {
    let (mut cluster, _handle, _dir) = embedded(3);
    let topic = TopicSpec {
        name: "spread".to_owned(),
        partitions: 9,
        replication_factor: 1,
        configs: Vec::new(),
    };
    cluster.create_topic(&topic).unwrap();
    let mut leaders: Vec<i32> = (0..9)
        .map(|partition| cluster.leader("spread", partition).unwrap().broker_id)
        .collect();
    leaders.sort_unstable();
    leaders.dedup();
    assert_eq!(leaders, [1, 2, 3]);
    assert_eq!(cluster.end_offsets("spread").unwrap(), [0; 9]);
    for id in leaders {
        let own = cluster.open(id).unwrap();
        assert_eq!(
            own.address(),
            &cluster.metadata().broker(id).unwrap().address
        );
    }
    cluster.delete_topic("spread").unwrap();
}

#[test]
fn an_operation_on_a_dead_cluster_ends_in_time_and_names_itself_and_its_first_error() {
    let (mut cluster, handle, _dir) = embedded(1);
    let topic = TopicSpec {
        name: "orphaned".to_owned(),
        partitions: 2,
        replication_factor: 1,
        configs: Vec::new(),
    };
    cluster.create_topic(&topic).unwrap();
    handle.stop().unwrap();
    cluster.set_time_limit(Some(Duration::from_millis(300)));
    let start = Instant::now();
    let error = cluster.end_offsets("orphaned").unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(30), "not a minute");
    let words = error.to_string();
    assert!(
        words.starts_with("could not look up offsets within "),
        "{words}"
    );
    assert!(words.contains("127.0.0.1:"), "{words}");
    assert!(!words.contains("within 0.0 s"), "{words}");
    // It answered a moment ago: its address is right.
    assert!(!error.fix().contains("correct"), "{}", error.fix());
}
