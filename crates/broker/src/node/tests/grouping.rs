//! Groups through the APIs: coordinator, offsets on disk, restarts.

use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::delete_groups::DeleteGroupsRequest;
use kgauge_wire::messages::describe_groups::DescribeGroupsRequest;
use kgauge_wire::messages::find_coordinator::FindCoordinatorRequest;
use kgauge_wire::messages::heartbeat::HeartbeatRequest;
use kgauge_wire::messages::join_group::{JoinGroupRequest, JoinGroupRequestProtocol};
use kgauge_wire::messages::list_groups::ListGroupsRequest;
use kgauge_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use kgauge_wire::messages::offset_fetch::{OffsetFetchRequest, OffsetFetchRequestGroup};
use kgauge_wire::messages::sync_group::{SyncGroupRequest, SyncGroupRequestAssignment};

use super::Bench;
use crate::ids::OFFSETS_TOPIC;

fn find_coordinator(bench: &mut Bench) {
    let keys = vec![Str::Borrowed("g")];
    let request = FindCoordinatorRequest {
        coordinator_keys: keys,
        ..Default::default()
    };
    let answer = bench.ask(&request);
    let found = &answer.coordinators[0];
    assert_eq!(
        (found.error_code, found.node_id, &*found.host),
        (0, 1, "here")
    );
}

fn join(member_id: &str) -> JoinGroupRequest<'static> {
    JoinGroupRequest {
        group_id: Str::Borrowed("g"),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 30_000,
        member_id: Str::Owned(member_id.to_owned()),
        protocol_type: Str::Borrowed("consumer"),
        protocols: vec![JoinGroupRequestProtocol {
            name: Str::Borrowed("range"),
            metadata: Bytes::Borrowed(b"meta"),
        }],
        ..JoinGroupRequest::default()
    }
}

/// Makes a stable group of one member and gives the member's id.
fn one_member(bench: &mut Bench) -> String {
    find_coordinator(bench);
    let asked = bench.ask(&join(""));
    assert_eq!(
        ErrorCode::from_i16(asked.error_code),
        ErrorCode::MemberIdRequired
    );
    assert!(asked.member_id.starts_with("bench-"), "{}", asked.member_id);
    let joined = bench.ask(&join(&asked.member_id));
    assert_eq!((joined.error_code, joined.generation_id), (0, 1));
    assert_eq!(joined.leader, joined.member_id);
    let id = joined.member_id.to_string();
    let sync = SyncGroupRequest {
        group_id: Str::Borrowed("g"),
        generation_id: 1,
        member_id: Str::Owned(id.clone()),
        assignments: vec![SyncGroupRequestAssignment {
            member_id: Str::Owned(id.clone()),
            assignment: Bytes::Borrowed(b"mine"),
        }],
        ..SyncGroupRequest::default()
    };
    let synced = bench.ask(&sync);
    assert_eq!((synced.error_code, &*synced.assignment), (0, &b"mine"[..]));
    id
}

fn commit(bench: &mut Bench, generation: i32, member_id: &str, offset: i64) -> ErrorCode {
    let partition = OffsetCommitRequestPartition {
        committed_offset: offset,
        committed_metadata: Some(Str::Borrowed("note")),
        ..OffsetCommitRequestPartition::default()
    };
    let request = OffsetCommitRequest {
        group_id: Str::Borrowed("g"),
        generation_id_or_member_epoch: generation,
        member_id: Str::Owned(member_id.to_owned()),
        topics: vec![OffsetCommitRequestTopic {
            name: Str::Borrowed("t"),
            partitions: vec![partition],
            ..Default::default()
        }],
        ..OffsetCommitRequest::default()
    };
    let connection = bench.connect();
    bench.send_version(connection, 9, &request);
    let answer = bench
        .answer_version::<OffsetCommitRequest<'static>>(connection, 9)
        .unwrap();
    ErrorCode::from_i16(answer.topics[0].partitions[0].error_code)
}

/// Everything that is committed, as (topic, partition, offset).
fn committed(bench: &mut Bench) -> Vec<(String, i32, i64)> {
    let group = OffsetFetchRequestGroup {
        group_id: Str::Borrowed("g"),
        ..Default::default()
    };
    let request = OffsetFetchRequest {
        groups: vec![OffsetFetchRequestGroup {
            topics: None,
            ..group
        }],
        ..OffsetFetchRequest::default()
    };
    let connection = bench.connect();
    bench.send_version(connection, 9, &request);
    let answer = bench
        .answer_version::<OffsetFetchRequest<'static>>(connection, 9)
        .unwrap();
    assert_eq!(answer.groups[0].error_code, 0);
    let topics = &answer.groups[0].topics;
    let mut all = Vec::new();
    for topic in topics {
        let entry = |p: &kgauge_wire::messages::offset_fetch::OffsetFetchResponsePartitions<'_>| {
            (
                topic.name.to_string(),
                p.partition_index,
                p.committed_offset,
            )
        };
        all.extend(topic.partitions.iter().map(entry));
    }
    all
}

fn state(bench: &mut Bench) -> String {
    let groups = vec![Str::Borrowed("g")];
    let answer = bench.ask(&DescribeGroupsRequest {
        groups,
        ..Default::default()
    });
    answer.groups[0].group_state.to_string()
}

#[test]
fn the_offsets_topic_is_made_by_the_first_question() {
    let mut bench = Bench::with(&[("offsets.topic.num.partitions", "5")]);
    assert!(bench.node.image.topic(OFFSETS_TOPIC).is_none());
    find_coordinator(&mut bench);
    assert_eq!(
        bench
            .node
            .image
            .topic(OFFSETS_TOPIC)
            .unwrap()
            .partitions
            .len(),
        5
    );
}

#[test]
fn a_transactions_coordinator_is_refused_in_words() {
    let mut bench = Bench::new();
    let keys = vec![Str::Borrowed("tx")];
    let request = FindCoordinatorRequest {
        key_type: 1,
        coordinator_keys: keys,
        ..Default::default()
    };
    let answer = bench.ask(&request);
    let refused = &answer.coordinators[0];
    assert_eq!(
        ErrorCode::from_i16(refused.error_code),
        ErrorCode::UnsupportedVersion
    );
    assert!(
        refused
            .error_message
            .as_deref()
            .unwrap()
            .contains("transactions")
    );
}

#[test]
fn groups_and_offsets_survive_a_restart() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    let id = one_member(&mut bench);
    assert_eq!(commit(&mut bench, 1, &id, 10), ErrorCode::None);
    assert_eq!(commit(&mut bench, 1, &id, 42), ErrorCode::None);
    let mut bench = bench.restarted();
    assert_eq!(committed(&mut bench), [("t".to_owned(), 0, 42)]);
    assert_eq!(state(&mut bench), "Stable");
    let beat = |generation_id| HeartbeatRequest {
        group_id: Str::Borrowed("g"),
        generation_id,
        member_id: Str::Owned(id.clone()),
        ..HeartbeatRequest::default()
    };
    assert_eq!(bench.ask(&beat(1)).error_code, 0);
    let old = ErrorCode::from_i16(bench.ask(&beat(0)).error_code);
    assert_eq!(old, ErrorCode::IllegalGeneration);
    bench.pass_ms(10_000);
    assert_eq!(state(&mut bench), "Empty");
}

#[test]
fn who_may_commit_is_checked() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    find_coordinator(&mut bench);
    assert_eq!(
        commit(&mut bench, -1, "", 1),
        ErrorCode::None,
        "nobody is in the group"
    );
    assert_eq!(commit(&mut bench, 3, "x", 1), ErrorCode::UnknownMemberId);
    let id = one_member(&mut bench);
    assert_eq!(commit(&mut bench, -1, "", 2), ErrorCode::UnknownMemberId);
    assert_eq!(commit(&mut bench, 7, &id, 2), ErrorCode::IllegalGeneration);
    assert_eq!(commit(&mut bench, 1, &id, 2), ErrorCode::None);
    assert_eq!(committed(&mut bench), [("t".to_owned(), 0, 2)]);
}

#[test]
fn a_deleted_group_is_gone_also_after_a_restart() {
    let mut bench = Bench::new();
    bench.create("t", &[]);
    find_coordinator(&mut bench);
    commit(&mut bench, -1, "", 1);
    let listed = bench.ask(&ListGroupsRequest::default());
    assert_eq!(listed.groups.len(), 1);
    assert_eq!(&*listed.groups[0].group_state, "Empty");
    let delete = DeleteGroupsRequest {
        groups_names: vec![Str::Borrowed("g")],
    };
    assert_eq!(bench.ask(&delete).results[0].error_code, 0);
    let again = ErrorCode::from_i16(bench.ask(&delete).results[0].error_code);
    assert_eq!(again, ErrorCode::GroupIdNotFound);
    let mut bench = bench.restarted();
    assert_eq!(committed(&mut bench), []);
    assert_eq!(state(&mut bench), "Dead");
}

#[test]
fn a_group_with_members_cannot_be_deleted() {
    let mut bench = Bench::new();
    one_member(&mut bench);
    let delete = DeleteGroupsRequest {
        groups_names: vec![Str::Borrowed("g")],
    };
    let refused = ErrorCode::from_i16(bench.ask(&delete).results[0].error_code);
    assert_eq!(refused, ErrorCode::NonEmptyGroup);
}

#[test]
fn offsets_expire_some_time_after_their_last_use() {
    let mut bench = Bench::with(&[
        ("offsets.retention.minutes", "1"),
        ("offsets.retention.check.interval.ms", "1000"),
    ]);
    bench.create("t", &[]);
    find_coordinator(&mut bench);
    commit(&mut bench, -1, "", 1);
    bench.pass_ms(59_000);
    assert_eq!(committed(&mut bench).len(), 1);
    bench.pass_ms(2_000);
    assert_eq!(committed(&mut bench), []);
    assert!(bench.restarted().node.groups.entries.is_empty());
}

#[test]
fn the_offsets_log_is_rewritten_when_most_of_it_is_outdated() {
    let mut bench = Bench::with(&[("offsets.topic.num.partitions", "1")]);
    bench.create("t", &[]);
    find_coordinator(&mut bench);
    // Each record takes about 4 KiB, so 17 MiB are written in all.
    let metadata: &'static str = String::leak("x".repeat(4000));
    for offset in 0..4400 {
        let partition = OffsetCommitRequestPartition {
            committed_offset: offset,
            committed_metadata: Some(Str::Borrowed(metadata)),
            ..OffsetCommitRequestPartition::default()
        };
        let topic = OffsetCommitRequestTopic {
            name: Str::Borrowed("t"),
            partitions: vec![partition],
            ..Default::default()
        };
        let request = OffsetCommitRequest {
            group_id: Str::Borrowed("g"),
            topics: vec![topic],
            ..OffsetCommitRequest::default()
        };
        let connection = bench.connect();
        bench.send_version(connection, 9, &request);
        bench.node.closed(connection);
    }
    let log = bench.log(OFFSETS_TOPIC);
    assert!(log.size_bytes() < 2 << 20, "{} bytes", log.size_bytes());
    assert!(log.log_start_offset() > 4000);
    let mut bench = bench.restarted();
    assert_eq!(committed(&mut bench), [("t".to_owned(), 0, 4399)]);
}
