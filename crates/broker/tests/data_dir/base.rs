//! A cluster that was stopped in order, with what it served: what each damage begins with.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::harness::{Client, batch, count};
use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster};
use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::messages::create_topics::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use kgauge_wire::messages::find_coordinator::FindCoordinatorRequest;
use kgauge_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use kgauge_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics,
};
use kgauge_wire::messages::produce::{PartitionProduceData, ProduceRequest, TopicProduceData};
use tempfile::TempDir;

pub(crate) const PARTITIONS: i32 = 3;
pub(crate) const BATCHES: i64 = 10;
pub(crate) const RECORDS_OF_BATCH: i64 = 30;
pub(crate) const COMMITTED: i64 = 123;

/// What the cluster served before it was stopped, and its folder.
pub(crate) struct Base {
    pub(crate) dir: TempDir,
    /// The bytes of each partition.
    pub(crate) content: Vec<Vec<u8>>,
}

pub(crate) fn config(dir: &Path) -> ClusterConfig {
    ClusterConfig::new(dir)
        .with_nodes(3)
        .with_setting("replica.lag.time.max.ms", "2000")
}

impl Base {
    /// Three nodes, a topic on all of them with several segments, a group's offset; stopped.
    pub(crate) fn make() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let cluster = EmbeddedCluster::start(config(dir.path())).unwrap();
        let config = |name, value| CreatableTopicConfig {
            name: Str::Borrowed(name),
            value: Some(Str::Borrowed(value)),
        };
        let topic = CreatableTopic {
            name: Str::Borrowed("t"),
            num_partitions: PARTITIONS,
            replication_factor: 3,
            configs: vec![
                config("min.insync.replicas", "2"),
                config("segment.bytes", "8192"),
                config("index.interval.bytes", "1000"),
            ],
            ..CreatableTopic::default()
        };
        let request = CreateTopicsRequest {
            topics: vec![topic],
            timeout_ms: 20_000,
            ..CreateTopicsRequest::default()
        };
        let answer = client_of(&cluster, 1).ask(7, &request);
        assert_eq!(answer.topics[0].error_code, 0, "{answer:?}");
        for partition in 0..PARTITIONS {
            for number in 0..BATCHES {
                let offset = produce(&cluster, partition);
                assert_eq!(offset, number * RECORDS_OF_BATCH);
            }
        }
        commit(&cluster);
        until_whole(&cluster);
        let content = (0..PARTITIONS)
            .map(|partition| content(&cluster, partition))
            .collect();
        cluster.stop().unwrap();
        Self { dir, content }
    }

    /// A copy of the folder to be damaged.
    pub(crate) fn copy(&self) -> TempDir {
        let copy = tempfile::tempdir().unwrap();
        copy_all(self.dir.path(), copy.path());
        copy
    }

    /// The cluster serves all that it served, and goes on.
    pub(crate) fn is_served_from(&self, dir: &Path, damage: &str) {
        let cluster = EmbeddedCluster::start(config(dir)).unwrap_or_else(|error| {
            panic!("{damage}: {error}");
        });
        until_whole(&cluster);
        for (partition, before) in (0..PARTITIONS).zip(&self.content) {
            assert!(content(&cluster, partition) == *before, "{damage}");
            let offset = produce(&cluster, partition);
            assert_eq!(offset, BATCHES * RECORDS_OF_BATCH, "{damage}");
        }
        assert_eq!(committed(&cluster), COMMITTED, "{damage}");
        until_whole(&cluster);
        cluster.stop().unwrap();
        replicas_are_equal(dir, damage);
    }
}

pub(crate) fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

pub(crate) fn client_of(cluster: &ClusterHandle, node: i32) -> Client {
    Client::connect(cluster.addresses()[usize::try_from(node - 1).unwrap()])
}

/// Waits until every partition has a leader and all replicas are in sync.
pub(crate) fn until_whole(cluster: &ClusterHandle) {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let image = cluster.image().unwrap();
        let mut partitions = image.topics.values().flat_map(|topic| &topic.partitions);
        let torn = partitions.find(|known| known.leader.is_none() || known.isr.len() < 3);
        let Some(torn) = torn else { return };
        assert!(Instant::now() < until, "{torn:?}");
        std::thread::yield_now();
    }
}

pub(crate) fn leader(cluster: &ClusterHandle, partition: i32) -> Client {
    let image = cluster.image().unwrap();
    let known = image.topic("t").unwrap().partition(partition).unwrap();
    client_of(cluster, known.leader.unwrap().0)
}

/// With acks=all; again when the leader is about to change. Gives the offset.
pub(crate) fn produce(cluster: &ClusterHandle, partition: i32) -> i64 {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let records = batch(usize::try_from(RECORDS_OF_BATCH).unwrap(), 100);
        let data = PartitionProduceData {
            index: partition,
            records: Some(Bytes::Owned(records)),
        };
        let request = ProduceRequest {
            acks: -1,
            timeout_ms: 20_000,
            topic_data: vec![TopicProduceData {
                name: Str::Borrowed("t"),
                partition_data: vec![data],
                ..TopicProduceData::default()
            }],
            ..ProduceRequest::default()
        };
        let answer = leader(cluster, partition).ask(11, &request);
        let response = &answer.responses[0].partition_responses[0];
        // NOT_LEADER_OR_FOLLOWER: nothing was appended.
        if response.error_code != 6 {
            assert_eq!(response.error_code, 0);
            return response.base_offset;
        }
        assert!(Instant::now() < until, "no leader takes records");
    }
}

/// All bytes of a partition up to the offset where the base ends, leader epochs left out.
pub(crate) fn content(cluster: &ClusterHandle, partition: i32) -> Vec<u8> {
    let mut client = leader(cluster, partition);
    let mut all = Vec::new();
    let mut offset = 0;
    while offset < BATCHES * RECORDS_OF_BATCH {
        let bytes = client.fetch("t", partition, offset);
        assert!(!bytes.is_empty(), "partition {partition} ends at {offset}");
        offset += count(&bytes);
        all.extend(bytes);
    }
    all
}

pub(crate) fn coordinator(cluster: &ClusterHandle) -> Client {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let request = FindCoordinatorRequest {
            coordinator_keys: vec![Str::Borrowed("g")],
            ..FindCoordinatorRequest::default()
        };
        let answer = client_of(cluster, 1).ask(4, &request);
        let found = &answer.coordinators[0];
        if found.error_code == 0 {
            return client_of(cluster, found.node_id);
        }
        assert!(Instant::now() < until, "{found:?}");
    }
}

pub(crate) fn commit(cluster: &ClusterHandle) {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let request = OffsetCommitRequest {
            group_id: Str::Borrowed("g"),
            generation_id_or_member_epoch: -1,
            topics: vec![OffsetCommitRequestTopic {
                name: Str::Borrowed("t"),
                partitions: vec![OffsetCommitRequestPartition {
                    partition_index: 0,
                    committed_offset: COMMITTED,
                    ..OffsetCommitRequestPartition::default()
                }],
                ..OffsetCommitRequestTopic::default()
            }],
            ..OffsetCommitRequest::default()
        };
        let answer = coordinator(cluster).ask(8, &request);
        let code = answer.topics[0].partitions[0].error_code;
        if code == 0 {
            return;
        }
        assert!(Instant::now() < until, "{code}");
    }
}

pub(crate) fn committed(cluster: &ClusterHandle) -> i64 {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let request = OffsetFetchRequest {
            groups: vec![OffsetFetchRequestGroup {
                group_id: Str::Borrowed("g"),
                topics: Some(vec![OffsetFetchRequestTopics {
                    name: Str::Borrowed("t"),
                    partition_indexes: vec![0],
                    ..OffsetFetchRequestTopics::default()
                }]),
                ..OffsetFetchRequestGroup::default()
            }],
            ..OffsetFetchRequest::default()
        };
        let answer = coordinator(cluster).ask(8, &request);
        let group = &answer.groups[0];
        if group.error_code == 0 {
            return group.topics[0].partitions[0].committed_offset;
        }
        // The coordinator loads its groups.
        assert!(Instant::now() < until, "{group:?}");
    }
}

pub(crate) fn replicas_are_equal(dir: &Path, damage: &str) {
    for partition in 0..PARTITIONS {
        let log = |node: i32| -> Vec<u8> {
            let folder = dir.join(format!("node-{node}/t-{partition}"));
            let logs = files(&folder, "log");
            logs.iter()
                .flat_map(|path| fs::read(path).unwrap())
                .collect()
        };
        assert!(log(1) == log(2) && log(2) == log(3), "{damage}");
    }
}

/// The files of a folder with an ending, or a name, sorted.
pub(crate) fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name == ending
            || name
                .strip_suffix(ending)
                .is_some_and(|rest| rest.ends_with('.'))
    };
    let mut found: Vec<PathBuf> = entries.filter(fits).collect();
    found.sort();
    found
}

/// All files of a kind in the partitions' folders of node 1; there must be some.
pub(crate) fn of_node_1(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir.join("node-1")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        }
    }
    assert!(!found.is_empty(), "no {ending}");
    found
}

pub(crate) fn lose_mark(dir: &Path) {
    fs::remove_file(dir.join("node-1/.kafka_cleanshutdown")).unwrap();
}

/// A way to damage a file.
pub(crate) type Damage = (&'static str, fn(&Path));

pub(crate) const DAMAGES: [Damage; 4] = [
    ("missing", |path| fs::remove_file(path).unwrap()),
    ("empty", |path| fs::write(path, b"").unwrap()),
    ("garbage", |path| {
        fs::write(path, b"\xff\xfe no file of ours \x00\x01\x02\x03\x04").unwrap();
    }),
    ("cut", |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }),
];

/// Damages all files of a kind on node 1, in every way, and starts; once as after an orderly stop
/// and once as after a crash.
pub(crate) fn damaged(ending: &'static str) {
    let base = Base::make();
    for (number, (how, damage)) in DAMAGES.iter().enumerate() {
        let copy = base.copy();
        for path in of_node_1(copy.path(), ending) {
            damage(&path);
        }
        let crashed = number % 2 == 1;
        if crashed {
            lose_mark(copy.path());
        }
        base.is_served_from(copy.path(), &format!("{ending} {how}, crashed: {crashed}"));
    }
}
