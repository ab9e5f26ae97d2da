//! The groups' records in the partitions of the offsets topic: written as things happen, read when
//! this node becomes their leader, and rewritten when too much of them is outdated.
//!
//! Kafka compacts the offsets topic. Here the coordinator knows what is alive: when a partition's
//! log is many times larger than that, it appends everything alive again and lets the log begin
//! there.

use std::collections::BTreeMap;

use kgauge_wire::compress::Decompressor;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::record_batch::{BatchEncoder, BatchError, ProducerState, batches};

use super::records::{CommittedOffset, GroupRecordKey, GroupValue, MemberValue};
use super::{ConsumerGroup, GroupEntry, GroupState, partition_of};
use crate::ids::{OFFSETS_TOPIC, PartitionId};
use crate::log::{FirstBatch, LogError, ReadRequest};
use crate::node::replication::ReplicaRole;
use crate::node::{BrokerNode, WaitTarget, Watermark};
use crate::time::Now;

/// Bytes read at a time while a partition is loaded.
const LOAD_BYTES: usize = 4 << 20;

/// A partition's log is rewritten when it is this large, and this many times what was alive
/// after the last time.
const TIDY_BYTES_MIN: u64 = 16 << 20;
const TIDY_FACTOR: u64 = 8;

/// A record to write: its key, and its value or null.
pub(super) type GroupLogEntry = (GroupRecordKey, Option<Vec<u8>>);

/// Appends records to a partition of the offsets topic. Gives what an answer has to wait for before
/// it may say so: `None` when they are on every replica already.
pub(super) fn write(
    node: &mut BrokerNode,
    now: Now,
    partition: i32,
    changes: &[GroupLogEntry],
) -> Result<Option<WaitTarget>, ErrorCode> {
    if changes.is_empty() {
        return Ok(None);
    }
    let id = offsets_partition(node, partition).ok_or(ErrorCode::NotCoordinator)?;
    let mut encoder = BatchEncoder::default();
    encoder.start(now.wall_ms);
    for (key, value) in changes {
        // Texts too long for the format were refused when they came.
        let key = key.encode().map_err(|_| ErrorCode::InvalidRequest)?;
        encoder.append(now.wall_ms, Some(&key), value.as_deref(), &[]);
    }
    encoder.finish(&ProducerState::NONE);
    let replica = node
        .replicas
        .get_mut(&id)
        .ok_or(ErrorCode::NotCoordinator)?;
    let epoch = replica.leader_epoch;
    let end_before = replica.log.log_end_offset();
    if let ReplicaRole::Leading(leading) = &replica.role
        && !leading.has_enough_in_sync()
    {
        return Err(ErrorCode::CoordinatorNotAvailable);
    }
    match replica
        .log
        .append_as_leader(encoder.bytes_mut(), epoch, now.wall_ms)
    {
        Ok(info) => {
            node.appended(now, id, end_before, encoder.bytes().len() as u64);
            Ok(mark(node, partition, info.last_offset + 1))
        }
        Err(error) => {
            if let crate::log::AppendError::Log(error) = error {
                node.log_failed(error);
            }
            Err(ErrorCode::CoordinatorNotAvailable)
        }
    }
}

/// What an answer about the records below an offset has to wait for: `None` when they are replicated.
pub(super) fn mark(node: &BrokerNode, partition: i32, offset: i64) -> Option<WaitTarget> {
    let id = offsets_partition(node, partition)?;
    let told_early = node.config.deviations.commit_before_replication;
    let waits = !told_early && node.high_watermark(id) < offset;
    waits.then_some(WaitTarget {
        partition: id,
        mark: Watermark::High,
        offset,
    })
}

pub(super) fn offsets_partition(node: &BrokerNode, index: i32) -> Option<PartitionId> {
    let topic = node.image.topic(OFFSETS_TOPIC)?.id;
    Some(PartitionId { topic, index })
}

/// Reads the groups of a partition.
pub(super) fn load(
    node: &mut BrokerNode,
    now: Now,
    id: PartitionId,
) -> Result<BTreeMap<String, GroupEntry>, LogError> {
    let mut entries = BTreeMap::new();
    let Some(replica) = node.replicas.get_mut(&id) else {
        return Ok(entries);
    };
    let mut offset = replica.log.log_start_offset();
    let end = replica.log.log_end_offset();
    let mut decompressor = Decompressor::new();
    while offset < end {
        let request = ReadRequest {
            offset,
            bytes_max: LOAD_BYTES,
            upper_bound_offset: end,
            first_batch: FirstBatch::Whole,
        };
        let read = replica.log.read(&request).map_err(|error| match error {
            crate::log::ReadError::Log(error) => error,
            crate::log::ReadError::OffsetOutOfRange { offset, start, end } => {
                LogError::OffsetOutOfRange {
                    offset,
                    first: start,
                    last: end,
                }
            }
        })?;
        let Some(slice) = read.slice else { break };
        let bytes = slice.bytes()?;
        let before = offset;
        for batch in batches(&bytes) {
            // The last one may be cut off: it comes first in the next read.
            let Ok(batch) = batch else { break };
            offset = batch.header.next_offset();
            // A record that is not understood is one that this version did not write: it is left
            // out.
            let _ = apply_batch(&batch, &mut decompressor, now, id.index, &mut entries);
        }
        if offset == before {
            break;
        }
    }
    Ok(entries)
}

fn apply_batch(
    batch: &kgauge_wire::record_batch::Batch<'_>,
    decompressor: &mut Decompressor,
    now: Now,
    partition: i32,
    entries: &mut BTreeMap<String, GroupEntry>,
) -> Result<(), BatchError> {
    let mut scratch = Vec::new();
    for record in batch.records(decompressor, &mut scratch, 1 << 30)? {
        let record = record?;
        let Ok(Some(key)) = GroupRecordKey::decode(record.key.unwrap_or_default()) else {
            continue;
        };
        apply(key, record.value, now, partition, entries);
    }
    Ok(())
}

fn apply(
    key: GroupRecordKey,
    value: Option<&[u8]>,
    now: Now,
    partition: i32,
    entries: &mut BTreeMap<String, GroupEntry>,
) {
    match (key, value) {
        (
            GroupRecordKey::Offset {
                group,
                topic,
                partition: index,
            },
            Some(value),
        ) => {
            if let Ok(committed) = CommittedOffset::decode(value) {
                let entry = entries
                    .entry(group)
                    .or_insert_with(|| GroupEntry::new(partition));
                entry.offsets.insert((topic, index), committed);
            }
        }
        (
            GroupRecordKey::Offset {
                group,
                topic,
                partition: index,
            },
            None,
        ) => {
            if let Some(entry) = entries.get_mut(&group) {
                entry.offsets.remove(&(topic, index));
                if entry.is_void() {
                    entries.remove(&group);
                }
            }
        }
        (GroupRecordKey::Group(group), Some(value)) => {
            if let Ok(value) = GroupValue::decode(value) {
                let entry = entries
                    .entry(group)
                    .or_insert_with(|| GroupEntry::new(partition));
                entry.group = restored(now, value);
            }
        }
        (GroupRecordKey::Group(group), None) => {
            if let Some(entry) = entries.get_mut(&group) {
                entry.group = ConsumerGroup::default();
                if entry.is_void() {
                    entries.remove(&group);
                }
            }
        }
    }
}

/// The record of a group.
pub(super) fn group_change<W>(
    id: &str,
    group: &ConsumerGroup<W>,
) -> Result<GroupLogEntry, ErrorCode> {
    let protocol = group.protocol.as_deref().unwrap_or_default();
    let member = |member: &super::member::ConsumerGroupMember<W>| MemberValue {
        id: member.id.clone(),
        instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        rebalance_timeout_ms: member.rebalance_timeout_ms,
        session_timeout_ms: member.session_timeout_ms,
        subscription: member.metadata(protocol).to_vec(),
        assignment: member.assignment.clone(),
    };
    let mut members: Vec<_> = group.members.values().collect();
    members.sort_by_key(|member| member.order);
    let value = GroupValue {
        protocol_type: group.protocol_type.clone().unwrap_or_default(),
        generation: group.generation,
        protocol: group.protocol.clone(),
        leader: group.leader.clone(),
        state_since_ms: group.state_since_ms,
        members: members.into_iter().map(member).collect(),
    };
    let value = value.encode().map_err(|_| ErrorCode::InvalidRequest)?;
    Ok((GroupRecordKey::Group(id.to_owned()), Some(value)))
}

/// A group as it was written down; its members' sessions begin now.
fn restored<W: Copy>(now: Now, value: GroupValue) -> ConsumerGroup<W> {
    let mut group = ConsumerGroup {
        state: if value.members.is_empty() {
            GroupState::Empty
        } else {
            GroupState::Stable
        },
        generation: value.generation,
        protocol_type: Some(value.protocol_type).filter(|kind| !kind.is_empty()),
        protocol: value.protocol.clone(),
        leader: value.leader,
        state_since_ms: value.state_since_ms,
        ..ConsumerGroup::default()
    };
    for member in value.members {
        let protocols = vec![(
            value.protocol.clone().unwrap_or_default(),
            member.subscription,
        )];
        group.restore(super::member::ConsumerGroupMember {
            id: member.id,
            instance_id: member.instance_id,
            client_id: member.client_id,
            client_host: member.client_host,
            session_timeout_ms: member.session_timeout_ms,
            rebalance_timeout_ms: member.rebalance_timeout_ms,
            protocols,
            assignment: member.assignment,
            session_ends_ns: now.after_ms(i64::from(member.session_timeout_ms)),
            order: 0,
            join: None,
            sync: None,
        });
    }
    group
}

/// Writes everything alive of a partition again, if most of its log is outdated, and lets the
/// log begin there.
pub(super) fn tidy(node: &mut BrokerNode, now: Now, partition: i32) -> Result<(), LogError> {
    let Some(id) = offsets_partition(node, partition) else {
        return Ok(());
    };
    let Some(replica) = node.replicas.get_mut(&id) else {
        return Ok(());
    };
    let after_last = node.groups.tidied.get(&partition).copied().unwrap_or(0);
    if replica.log.size_bytes() < TIDY_BYTES_MIN.max(after_last * TIDY_FACTOR) {
        return Ok(());
    }
    replica.log.roll(now.wall_ms)?;
    let start = replica.log.log_end_offset();
    for (group, entry) in std::mem::take(&mut node.groups.entries) {
        let written = entry.partition != partition
            || alive(&group, &entry).is_ok_and(|all| write(node, now, partition, &all).is_ok());
        node.groups.entries.insert(group, entry);
        if !written {
            // The old records stay; the next commit tries again.
            return Ok(());
        }
    }
    if let Some(replica) = node.replicas.get_mut(&id) {
        replica.log.delete_records_before(start)?;
        node.groups
            .tidied
            .insert(partition, replica.log.size_bytes());
    }
    Ok(())
}

/// Every record that a group needs.
fn alive(group: &str, entry: &GroupEntry) -> Result<Vec<GroupLogEntry>, ErrorCode> {
    let mut all = Vec::new();
    if entry.group.generation > 0 {
        all.push(group_change(group, &entry.group)?);
    }
    for ((topic, index), committed) in &entry.offsets {
        all.push(offset_change(group, topic, *index, Some(committed))?);
    }
    Ok(all)
}

/// The record of a committed offset, or the one that takes it back.
pub(super) fn offset_change(
    group: &str,
    topic: &str,
    partition: i32,
    committed: Option<&CommittedOffset>,
) -> Result<GroupLogEntry, ErrorCode> {
    let value = committed.map(CommittedOffset::encode).transpose();
    let value = value.map_err(|_| ErrorCode::OffsetMetadataTooLarge)?;
    let (group, topic) = (group.to_owned(), topic.to_owned());
    Ok((
        GroupRecordKey::Offset {
            group,
            topic,
            partition,
        },
        value,
    ))
}

/// The partition that a group's records are in.
pub(super) fn partition_for(node: &BrokerNode, group: &str) -> Option<i32> {
    let topic = node.image.topic(OFFSETS_TOPIC)?;
    Some(partition_of(group, topic.partitions.len()))
}
