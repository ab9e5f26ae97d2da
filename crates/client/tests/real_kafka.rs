//! Everything the client can ask, against a Kafka that somebody has started:
//! `KGAUGE_KAFKA=host:port cargo test -p kgauge-client --test real_kafka -- --ignored`.

#![allow(clippy::unwrap_used, reason = "tests")]

mod asking;

use kgauge_client::release::ReleaseGuess;
use kgauge_client::{ClientConfig, Cluster};

fn cluster() -> Cluster {
    let servers = std::env::var("KGAUGE_KAFKA").expect("KGAUGE_KAFKA=host:port");
    Cluster::bootstrap(ClientConfig::from_servers(&servers).unwrap()).unwrap()
}

#[test]
#[ignore = "needs a real Kafka: KGAUGE_KAFKA=host:port"]
fn a_topic_is_created_described_and_deleted() {
    asking::a_topic_is_created_described_and_deleted(&mut cluster());
}

#[test]
#[ignore = "needs a real Kafka: KGAUGE_KAFKA=host:port"]
fn the_brokers_message_is_shown() {
    asking::the_brokers_message_is_shown(&mut cluster());
}

#[test]
#[ignore = "needs a real Kafka: KGAUGE_KAFKA=host:port"]
fn producer_ids_are_handed_out() {
    asking::producer_ids_are_handed_out(&mut cluster());
}

#[test]
#[ignore = "needs a real Kafka: KGAUGE_KAFKA=host:port"]
fn settings_sizes_and_groups_are_reported() {
    asking::settings_sizes_and_groups_are_reported(&mut cluster());
}

#[test]
#[ignore = "needs a real Kafka: KGAUGE_KAFKA=host:port"]
fn its_release_is_guessed() {
    let mut cluster = cluster();
    let id = cluster.metadata().brokers[0].id;
    let versions = cluster.api_versions(id).unwrap();
    println!("release: {}", ReleaseGuess::from_api_versions(&versions));
}
