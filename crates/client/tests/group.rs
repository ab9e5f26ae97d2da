//! Consumer groups against kgauge's embedded cluster in this process, and against a Kafka that
//! somebody has started: `KGAUGE_KAFKA=host:port cargo test -p kgauge-client --test group -- --ignored`.

#![allow(clippy::unwrap_used, reason = "tests")]

mod grouping;

use kgauge_broker::cluster::{Cluster as Embedded, ClusterConfig, ClusterHandle};
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
    whoever_was_forgotten_is_told
    a_static_member_keeps_its_partitions
}
