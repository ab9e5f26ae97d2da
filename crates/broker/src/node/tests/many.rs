//! Thousands of partitions: what they cost the disk, and how much of them one turn takes.

use std::path::Path;

use kgauge_wire::codec::Str;
use kgauge_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use kgauge_wire::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use kgauge_wire::record_batch::ProducerState;

use super::bench::{Bench, batch};
use crate::ids::ConnectionId;
use crate::node::preparing::FOLDER_WORK;
use crate::node::{NodeOutput, TURN_WORK_MAX};
use crate::storage::{Crash, MemoryStorage, OpenMode, Operation, Storage};
use crate::time::NS_PER_MS;

const MINUTE_MS: u64 = 60_000;

/// What was tried on the disk, of what costs time.
fn disk_work(storage: &MemoryStorage) -> [u64; 6] {
    use Operation::{CreateDir, Open, Remove, Rename, SyncData, SyncDir};
    [CreateDir, Open, Remove, Rename, SyncData, SyncDir].map(|operation| storage.tried(operation))
}

/// The difference that something made, in the same order.
fn disk_work_of(bench: &mut Bench, what: impl FnOnce(&mut Bench)) -> [u64; 6] {
    let before = disk_work(&bench.storage);
    what(bench);
    let after = disk_work(&bench.storage);
    std::array::from_fn(|index| after[index] - before[index])
}

fn topics(count: usize, partitions: i32) -> CreateTopicsRequest<'static> {
    let topic = |number: usize| CreatableTopic {
        name: Str::Owned(format!("t.{number}")),
        num_partitions: partitions,
        replication_factor: 1,
        ..CreatableTopic::default()
    };
    CreateTopicsRequest {
        topics: (0..count).map(topic).collect(),
        ..CreateTopicsRequest::default()
    }
}

/// Sends the request, and gives the connection on which the answer will come.
fn begin_to_create(bench: &mut Bench, count: usize, partitions: i32) -> ConnectionId {
    let connection = bench.connect();
    bench.send(connection, &topics(count, partitions));
    connection
}

fn create(bench: &mut Bench, count: usize, partitions: i32) {
    let connection = begin_to_create(bench, count, partitions);
    bench.pass_ms(1);
    let answer = bench.answer::<CreateTopicsRequest<'static>>(connection);
    let answer = answer.expect("no time is needed");
    assert!(answer.topics.iter().all(|topic| topic.error_code == 0));
}

fn delete(bench: &mut Bench, count: usize) {
    let topic = |number: usize| DeleteTopicState {
        name: Some(Str::Owned(format!("t.{number}"))),
        ..DeleteTopicState::default()
    };
    let request = DeleteTopicsRequest {
        topics: (0..count).map(topic).collect(),
        ..DeleteTopicsRequest::default()
    };
    let connection = bench.connect();
    bench.send(connection, &request);
    bench.pass_ms(1);
    let answer = bench.answer::<DeleteTopicsRequest<'static>>(connection);
    let answer = answer.expect("no time is needed");
    assert!(answer.responses.iter().all(|topic| topic.error_code == 0));
}

fn fill(bench: &mut Bench, count: usize) {
    for number in 0..count {
        bench.fill(&format!("t.{number}"), 1);
    }
}

/// The folders of a node's partitions.
fn folders(storage: &MemoryStorage) -> Vec<String> {
    let entries = storage.list(Path::new("/n")).unwrap();
    let names = entries.into_iter().map(|entry| entry.name);
    names.filter(|name| name.starts_with("t.")).collect()
}

#[test]
fn partitions_that_nobody_wrote_to_cost_the_disk_nothing_but_one_line_of_the_journal() {
    let one_flush = [0, 0, 0, 0, 1, 0];
    let mut bench = Bench::new();
    let created = disk_work_of(&mut bench, |bench| create(bench, 1000, 5));
    assert_eq!(created, one_flush);
    assert_eq!(bench.node.replicas.len(), 5000);
    let upkeep = disk_work_of(&mut bench, |bench| bench.pass_ms(10 * MINUTE_MS));
    assert_eq!(upkeep, [0; 6]);
    let before = disk_work(&bench.storage);
    let mut bench = bench.restarted();
    bench.pass_ms(1);
    assert_eq!(bench.node.replicas.len(), 5000);
    let after = disk_work(&bench.storage);
    assert!(
        after
            .iter()
            .zip(before)
            .all(|(after, before)| after - before < 10)
    );
    let deleted = disk_work_of(&mut bench, |bench| delete(bench, 1000));
    assert_eq!(deleted, one_flush);
    assert!(bench.node.replicas.is_empty() && bench.fatal.is_empty());
}

#[test]
fn one_turn_makes_a_bounded_number_of_partitions_and_requests_are_served_between() {
    let mut bench = Bench::new();
    let connection = begin_to_create(&mut bench, 3, 1000);
    let mut known = bench.node.replicas.len();
    assert!(known > 0);
    let mut turns = 1;
    while known < 3000 {
        assert!(
            bench
                .answer::<CreateTopicsRequest<'static>>(connection)
                .is_none()
        );
        let other = bench.connect();
        bench.assert_serves(other);
        bench.now.mono_ns += 1;
        bench.node.tick(bench.now);
        let made = bench.node.replicas.len() - known;
        assert!((1..=TURN_WORK_MAX).contains(&made), "{made}");
        known += made;
        turns += 1;
    }
    assert_eq!(turns, 3000_usize.div_ceil(TURN_WORK_MAX));
    bench.settle();
    assert!(
        bench
            .answer::<CreateTopicsRequest<'static>>(connection)
            .is_some()
    );
}

#[test]
fn one_turn_closes_and_writes_down_a_bounded_number_of_logs() {
    let mut bench = Bench::new();
    let count = 100;
    create(&mut bench, count, 1);
    fill(&mut bench, count);
    let (mut jobs, mut turns) = (0, 0);
    // The first minute finds them just written, the second one idle.
    let end_ns = bench.now.mono_ns + 2 * MINUTE_MS * NS_PER_MS + NS_PER_MS;
    while let Some(next_ns) = bench.node.next_timer().filter(|next| *next <= end_ns) {
        bench.now.mono_ns = next_ns;
        let opened_before = bench.storage.tried(Operation::Open);
        bench.node.tick(bench.now);
        let opened = bench.storage.tried(Operation::Open) - opened_before;
        // Two indexes of each log.
        assert!(
            opened <= 2 * (TURN_WORK_MAX / FOLDER_WORK) as u64,
            "{opened}"
        );
        let mut written = Vec::new();
        for output in bench.node.outputs() {
            if let NodeOutput::Disk(job) = output {
                written.push(job);
            }
        }
        assert!(written.len() <= TURN_WORK_MAX / FOLDER_WORK);
        turns += usize::from(!written.is_empty());
        jobs += written.len();
        for job in written {
            bench.node.disk_done(bench.now, job.run());
        }
    }
    assert!(jobs >= count && turns >= count * FOLDER_WORK / TURN_WORK_MAX);
}

#[test]
fn a_new_leader_epoch_without_records_is_not_written() {
    let mut bench = Bench::new();
    create(&mut bench, 10, 1);
    fill(&mut bench, 10);
    bench.pass_ms(2 * MINUTE_MS);
    // The node leads in a new epoch now.
    let mut bench = bench.restarted();
    let upkeep = disk_work_of(&mut bench, |bench| bench.pass_ms(5 * MINUTE_MS));
    assert_eq!(upkeep[4..], [0, 0], "flushes");
    let before = disk_work(&bench.storage);
    let bench = bench.restarted();
    let renamed = bench.storage.tried(Operation::Rename) - before[3];
    // The journal, its copy, and nothing of the ten logs.
    assert!(renamed < 5, "{renamed}");
}

#[test]
fn a_topic_of_the_same_name_begins_at_nothing_and_the_old_folder_goes() {
    let mut bench = Bench::new();
    create(&mut bench, 3, 1);
    fill(&mut bench, 3);
    assert_eq!(folders(&bench.storage), ["t.0-0", "t.1-0", "t.2-0"]);
    delete(&mut bench, 3);
    assert_eq!(folders(&bench.storage), [""; 0]);
    create(&mut bench, 3, 1);
    let connection = bench.connect();
    let records = batch(bench.now.wall_ms, 1, &ProducerState::NONE);
    let answer = bench.produce(connection, "t.1", 1, &records).unwrap();
    assert_eq!((answer.error_code, answer.base_offset), (0, 0));
    assert_eq!(folders(&bench.storage), ["t.1-0"]);
    let mut bench = bench.restarted();
    let connection = bench.connect();
    let answer = bench.produce(connection, "t.1", 1, &records).unwrap();
    assert_eq!((answer.error_code, answer.base_offset), (0, 1));
}

#[test]
fn what_a_crash_left_of_a_removal_is_removed_at_the_start() {
    let bench = Bench::new();
    let storage = bench.storage.clone();
    for name in ["t.0-0.ZXhhbXBsZS10b3BpYy1pZA-delete", "t.0-delete"] {
        storage.create_dir_all(&Path::new("/n").join(name)).unwrap();
    }
    drop(bench.restarted());
    assert_eq!(folders(&storage), ["t.0-delete"], "that is not the node's");
}

#[test]
fn a_log_that_a_crash_left_half_made_is_set_aside() {
    let mut bench = Bench::new();
    create(&mut bench, 2, 1);
    fill(&mut bench, 2);
    // Nothing was flushed. The crash keeps the records of one topic, but not whose they are.
    let id_file = Path::new("/n/t.0-0/partition.metadata");
    let file = bench.storage.open(id_file, OpenMode::Existing).unwrap();
    file.truncate(20).unwrap();
    let mut bench = bench.crashed(Crash::KeepEverything);
    assert!(bench.fatal.is_empty(), "{:?}", bench.fatal);
    let names = folders(&bench.storage);
    assert!(names.len() == 2 && names[0].starts_with("t.0-0.") && names[1] == "t.1-0");
    let connection = bench.connect();
    let records = batch(bench.now.wall_ms, 1, &ProducerState::NONE);
    for (topic, offset) in [("t.0", 0), ("t.1", 1)] {
        let answer = bench.produce(connection, topic, 1, &records).unwrap();
        assert_eq!(
            (answer.error_code, answer.base_offset),
            (0, offset),
            "{topic}"
        );
    }
}
