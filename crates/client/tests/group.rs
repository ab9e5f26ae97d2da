//! Consumer groups against kgauge's embedded cluster in this process, and against a Kafka that
//! somebody has started: `KGAUGE_KAFKA=host:port cargo test -p kgauge-client --test group -- --ignored`.

#![allow(clippy::unwrap_used, reason = "tests")]

mod grouping;

use kgauge_broker::cluster::{ClusterConfig, ClusterHandle, EmbeddedCluster as Embedded};
use kgauge_client::ClientConfig;

/// A cluster of so many nodes; it ends with its handle, and the directory goes with it.
fn embedded(nodes: u16) -> (ClientConfig, ClusterHandle, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let config = ClusterConfig::new(dir.path().join("data")).with_nodes(nodes);
    let handle = Embedded::start(config).unwrap();
    let client = ClientConfig::from_servers(&handle.bootstrap_servers()).unwrap();
    (client, handle, dir)
}

fn real() -> ClientConfig {
    let servers = std::env::var("KGAUGE_KAFKA").expect("KGAUGE_KAFKA=host:port");
    ClientConfig::from_servers(&servers).unwrap()
}

/// Together with Kafka's own console consumer, which leads first and follows then. Beside
/// `KGAUGE_KAFKA` this takes `KGAUGE_KAFKA_CONSOLE`, the words after `java` that start it: `-cp
/// "libs/*" org.apache.kafka.tools.consumer.ConsoleConsumer` (before 4: `kafka.tools.ConsoleConsumer`,
/// before 2.0 with `--new-consumer`).
#[test]
#[ignore = "needs a real Kafka and its tools: KGAUGE_KAFKA=host:port, KGAUGE_KAFKA_CONSOLE=words"]
fn kafkas_own_consumer_shares_with_ours() {
    let servers = std::env::var("KGAUGE_KAFKA").expect("KGAUGE_KAFKA=host:port");
    let words = std::env::var("KGAUGE_KAFKA_CONSOLE").expect("KGAUGE_KAFKA_CONSOLE=words");
    let words: Vec<&str> = words.split_whitespace().collect();
    grouping::kafkas_own_consumer_shares_with_ours(&real(), &servers, &words);
}

/// The same test on both.
macro_rules! on_both {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let (client, _handle, _dir) = embedded(3);
                grouping::$name(&client);
            }
        )*

        mod real_kafka {
            $(
                #[test]
                #[ignore = "needs a real Kafka: KGAUGE_KAFKA=host:port"]
                fn $name() {
                    super::grouping::$name(&super::real());
                }
            )*
        }
    };
}

on_both! {
    one_member_reads_all_and_commits
    three_members_share_and_take_over
    members_agree_on_what_both_know
    a_forgotten_member_is_notified
    a_static_member_keeps_its_partitions
}
