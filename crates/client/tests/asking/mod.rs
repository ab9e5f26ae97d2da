//! What the client asks of any cluster, the same for the embedded one and for Apache Kafka.

#![allow(dead_code, clippy::unwrap_used, reason = "tests")]

use kgauge_client::Cluster;
use kgauge_client::admin::{
    AdminConfigResource, ConfigEdit, ConfigSource, CreateTopicError, EndOf, TopicSpec,
};

fn topic(name: &str) -> TopicSpec {
    TopicSpec {
        name: format!("kgauge-client-test-{}-{name}", std::process::id()),
        partitions: 3,
        replication_factor: 1,
        configs: vec![("retention.ms".to_owned(), "60000".to_owned())],
    }
}

pub(crate) fn a_topic_is_created_described_and_deleted(cluster: &mut Cluster) {
    let topic = topic("life");
    cluster.create_topic(&topic).unwrap();
    let again = cluster.create_topic(&topic).unwrap_err();
    assert!(matches!(again, CreateTopicError::Exists { .. }), "{again}");
    assert!(!again.may_exist());
    assert_eq!(cluster.end_offsets(&topic.name).unwrap(), [0, 0, 0]);
    assert_eq!(cluster.earliest_offsets(&topic.name).unwrap(), [0, 0, 0]);
    let leader = cluster.leader(&topic.name, 2).unwrap();
    assert!(cluster.metadata().broker(leader.broker_id).is_some());
    cluster.delete_topic(&topic.name).unwrap();
    let gone = cluster.refresh(&[&topic.name]).unwrap();
    assert!(
        gone.topic(&topic.name)
            .is_none_or(|topic| !topic.error.is_none())
    );
    cluster.delete_topic(&topic.name).unwrap();
}

pub(crate) fn the_brokers_message_is_shown(cluster: &mut Cluster) {
    let error = cluster.create_topic(&TopicSpec {
        replication_factor: 99,
        ..topic("rf")
    });
    let error = error.unwrap_err();
    assert!(
        error.to_string().contains("INVALID_REPLICATION_FACTOR"),
        "{error}"
    );
    assert!(!error.may_exist());
    let error = cluster.leader("no-such-topic", 0).unwrap_err();
    assert!(
        error.to_string().contains("UNKNOWN_TOPIC_OR_PARTITION"),
        "{error}"
    );
    assert!(cluster.refresh(&["no-such-topic"]).is_ok());
}

pub(crate) fn producer_ids_are_handed_out(cluster: &mut Cluster) {
    let first = cluster.init_producer_id().unwrap();
    let second = cluster.init_producer_id().unwrap();
    assert!(second.id > first.id && first.epoch == 0);
}

pub(crate) fn settings_sizes_and_groups_are_reported(cluster: &mut Cluster) {
    let topic = topic("facts");
    cluster.create_topic(&topic).unwrap();
    let settings = cluster
        .describe_configs(AdminConfigResource::Topic(&topic.name))
        .unwrap();
    let retention = settings
        .iter()
        .find(|entry| entry.name == "retention.ms")
        .unwrap();
    assert_eq!(retention.value.as_deref(), Some("60000"));
    assert_eq!(retention.source, ConfigSource::Topic);
    let change = |value: Option<&str>| ConfigEdit {
        name: "retention.ms".to_owned(),
        value: value.map(str::to_owned),
    };
    for (value, source) in [
        (Some("1234567"), ConfigSource::Topic),
        (None, ConfigSource::Default),
    ] {
        cluster
            .alter_configs(AdminConfigResource::Topic(&topic.name), &[change(value)])
            .unwrap();
        // The change reaches the broker's own picture a moment later.
        while cluster
            .describe_configs(AdminConfigResource::Topic(&topic.name))
            .unwrap()
            .iter()
            .all(|entry| entry.name != "retention.ms" || entry.source != source)
        {
            std::thread::yield_now();
        }
    }
    let id = cluster.metadata().brokers[0].id;
    let broker = cluster
        .describe_configs(AdminConfigResource::Broker(id))
        .unwrap();
    assert!(broker.iter().any(|entry| entry.name == "log.segment.bytes"));
    let dirs = cluster.describe_log_dirs(id, Some(&[&topic.name])).unwrap();
    assert_eq!(
        dirs.iter().map(|dir| dir.partitions.len()).sum::<usize>(),
        3
    );
    let disks = cluster.describe_log_dirs(id, Some(&[])).unwrap();
    assert!(
        disks
            .iter()
            .all(|dir| dir.partitions.is_empty() && dir.usable_bytes.is_some())
    );
    cluster
        .delete_group("kgauge-client-test-no-such-group")
        .unwrap();
    cluster.delete_topic(&topic.name).unwrap();
}

/// On three brokers: every replica reports the end of its log, leaders the high watermark, and brokers their log sizes.
pub(crate) fn each_replica_reports_its_own_end(cluster: &mut Cluster) {
    let topic = TopicSpec {
        replication_factor: 3,
        ..topic("replicas")
    };
    cluster.create_topic(&topic).unwrap();
    let all = [0, 1, 2];
    let leaders = all.map(|partition| cluster.leader(&topic.name, partition).unwrap().broker_id);
    let brokers: Vec<i32> = cluster
        .metadata()
        .brokers
        .iter()
        .map(|one| one.id)
        .collect();
    for broker in brokers {
        let ends = cluster
            .replica_ends(broker, &topic.name, &all, EndOf::Log)
            .unwrap();
        let log_ends: Vec<_> = ends.iter().map(|one| (one.partition, one.end)).collect();
        assert_eq!(
            log_ends,
            [(0, Ok(0)), (1, Ok(0)), (2, Ok(0))],
            "broker {broker}"
        );
        let ends = cluster
            .replica_ends(broker, &topic.name, &all, EndOf::Readable)
            .unwrap();
        for (one, leader) in ends.iter().zip(leaders) {
            assert_eq!(
                one.end.is_ok(),
                leader == broker,
                "{one:?} of {leader} at {broker}"
            );
        }
        let dirs = cluster
            .describe_partition_log_dirs(broker, &topic.name, &all)
            .unwrap();
        let logs = dirs.iter().flat_map(|dir| &dir.partitions);
        let sizes: Vec<u64> = logs.map(|log| log.size_bytes).collect();
        assert_eq!(sizes, [0, 0, 0], "broker {broker}");
    }
    let group = format!("{}-group", topic.name);
    let coordinator = cluster.group_coordinator(&group).unwrap();
    let committed = cluster
        .committed_offsets(coordinator, &group, &topic.name, &all)
        .unwrap();
    assert_eq!(committed, [None, None, None]);
    cluster.delete_topic(&topic.name).unwrap();
}
