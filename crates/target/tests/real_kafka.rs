//! An existing cluster as a target, against a Kafka that somebody has started:
//! `KGAUGE_KAFKA=host:port cargo test -p kgauge-target --test real_kafka -- --ignored`.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use kgauge_client::Interrupt;
use kgauge_scenario::TargetKind;
use kgauge_target::{Target, TargetSpec, TopicGuard, TopicWish};

#[test]
#[ignore = "needs a real Kafka: KGAUGE_KAFKA=host:port"]
fn an_existing_cluster_reports_its_facts_and_stays_unchanged() {
    let servers = std::env::var("KGAUGE_KAFKA").expect("KGAUGE_KAFKA=host:port");
    let Ok(TargetSpec::Existing(config)) = TargetSpec::parse(&servers) else {
        panic!("{servers} is no address");
    };
    let target = Target::Existing(config);
    assert_eq!(target.kind(), TargetKind::Existing);
    let mut cluster = target.connect(Interrupt::new()).unwrap();
    let facts = target.facts(&mut cluster).unwrap();
    println!("{facts:#?}");
    assert!(facts.missing.is_empty() && !facts.brokers.is_empty());
    assert!(
        facts.brokers[0]
            .settings
            .contains_key("num.network.threads")
    );
    let disks = target.disks(&mut cluster).unwrap();
    println!("{disks:?}");
    assert!(disks.iter().all(|disk| disk.free_bytes.is_some()));

    let run = format!("test-{}", std::process::id());
    let mut guard = TopicGuard::new(target.config().clone(), &run).unwrap();
    let wish = TopicWish {
        label: "a".to_owned(),
        partitions: 1,
        replication_factor: 1,
        configs: Vec::new(),
    };
    let name = guard.create(&mut cluster, &wish).unwrap();
    assert_eq!(
        guard
            .delete_all(&mut cluster, Duration::from_secs(60))
            .len(),
        0
    );
    let gone = cluster.refresh(&[&name]).unwrap();
    assert!(gone.topic(&name).is_none_or(|topic| !topic.error.is_none()));
    target.stop().unwrap();
}
