//! Consumer groups: their members, generations and committed offsets.
//!
//! [`group`] with [`join`] and [`rebalance`] is the state machine of one group, without I/O;
//! [`records`] and [`store`] keep groups in the offsets topic as Kafka does; this file ties them to
//! the node.

mod group;
mod join;
mod member;
mod offsets;
mod rebalance;
mod records;
mod store;
mod visible_offsets;

use std::collections::{BTreeMap, BTreeSet};

use kgauge_wire::error_code::ErrorCode;

pub(crate) use group::{ConsumerGroup, Effect, GroupState, JoinAnswer, JoinRefused, SyncAnswer};
pub(crate) use join::JoinRules;
pub(crate) use member::{ConsumerGroupMember, Introduction};
pub(crate) use offsets::{
    Committer, NewOffset, check_commit, commit, delete_group, delete_offsets, expire_offsets,
    forget_topic,
};
pub(crate) use rebalance::SyncCall;
pub(crate) use records::CommittedOffset;
pub(crate) use visible_offsets::{OffsetView, newest_target, replicated};

use crate::handlers::{join_group, sync_group};
use crate::ids::{OFFSETS_TOPIC, PartitionId};
use crate::node::{BrokerNode, Reply, Timer, WaitTarget};
use crate::time::Now;
use crate::timers::TimerId;

/// A moment in the life of a group: its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupTimer(String);

/// The groups that a node coordinates.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// The partitions of the offsets topic whose groups are here.
    led: BTreeSet<i32>,
    pub(crate) entries: BTreeMap<String, GroupEntry>,
    /// Offsets that were written down and are not replicated yet.
    ways: visible_offsets::PendingOffsets,
    /// Bytes of a partition's log after it was last rewritten.
    tidied: BTreeMap<i32, u64>,
}

/// A group with its committed offsets.
#[derive(Debug)]
pub(crate) struct GroupEntry {
    pub(crate) group: ConsumerGroup<Reply>,
    /// The newest, by topic and partition.
    offsets: BTreeMap<visible_offsets::OffsetKey, CommittedOffset>,
    /// What readers see instead of the newest until that is replicated.
    shown: BTreeMap<visible_offsets::OffsetKey, visible_offsets::VisibleOffsets>,
    /// The partition of the offsets topic that it belongs to.
    partition: i32,
    /// The offset there after the record of the group's present generation.
    written: i64,
    timer: Option<(u64, TimerId)>,
}

impl GroupEntry {
    fn new(partition: i32) -> Self {
        Self {
            group: ConsumerGroup::default(),
            offsets: BTreeMap::new(),
            shown: BTreeMap::new(),
            partition,
            written: 0,
            timer: None,
        }
    }

    /// Whether nothing would be missed without it.
    fn is_void(&self) -> bool {
        let has_offsets = !self.offsets.is_empty() || !self.shown.is_empty();
        self.group.is_empty() && self.group.generation == 0 && !has_offsets
    }
}

/// The partition of the offsets topic that a group belongs to.
pub(crate) fn partition_of(group: &str, partitions: usize) -> i32 {
    let hash = group.encode_utf16().fold(0i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    let count = i32::try_from(partitions).unwrap_or(i32::MAX).max(1);
    // Kafka's `Utils.abs`: the one number without a positive twin becomes 0.
    hash.checked_abs().unwrap_or(0) % count
}

/// Checks that this node coordinates a group, and gives the group's partition.
pub(crate) fn check_coordinator(node: &BrokerNode, group: &str) -> Result<i32, ErrorCode> {
    if let Some(code) = node.faults.forced {
        return Err(code);
    }
    let partition = store::partition_for(node, group).ok_or(ErrorCode::NotCoordinator)?;
    if node.groups.led.contains(&partition) {
        Ok(partition)
    } else {
        Err(ErrorCode::NotCoordinator)
    }
}

/// The same for a request of a member, which must name a group.
pub(crate) fn check_member_request(node: &BrokerNode, group: &str) -> Result<i32, ErrorCode> {
    if group.is_empty() {
        return Err(ErrorCode::InvalidGroupId);
    }
    check_coordinator(node, group)
}

/// The group of this name, if it is known and coordinated here.
pub(crate) fn find<'n>(
    node: &'n BrokerNode,
    group: &str,
) -> Result<Option<&'n GroupEntry>, ErrorCode> {
    check_coordinator(node, group)?;
    Ok(node.groups.entries.get(group))
}

/// Lets `act` change a known group, then does what the group wants done.
pub(crate) fn with_group<R>(
    node: &mut BrokerNode,
    now: Now,
    id: &str,
    act: impl FnOnce(&mut ConsumerGroup<Reply>, &mut Vec<Effect<Reply>>) -> R,
) -> Option<R> {
    let entry = node.groups.entries.get_mut(id)?;
    let mut effects = Vec::new();
    let result = act(&mut entry.group, &mut effects);
    carry_out(node, now, id, effects);
    settle(node, id);
    Some(result)
}

/// The same for a group that is made if it is not known.
pub(crate) fn with_new_group<R>(
    node: &mut BrokerNode,
    now: Now,
    id: &str,
    partition: i32,
    act: impl FnOnce(&mut ConsumerGroup<Reply>, &mut Vec<Effect<Reply>>) -> R,
) -> Option<R> {
    node.groups
        .entries
        .entry(id.to_owned())
        .or_insert_with(|| GroupEntry::new(partition));
    with_group(node, now, id, act)
}

/// Answers members and writes groups down, in order. After a failed write, members get its error and
/// the group begins another generation.
fn carry_out(node: &mut BrokerNode, now: Now, id: &str, effects: Vec<Effect<Reply>>) {
    let mut stored = Ok(());
    for effect in effects {
        match effect {
            Effect::Store => stored = store_group(node, now, id),
            Effect::Join(to, result) => {
                let result = result.and_then(|joined| match stored {
                    Ok(()) => Ok(joined),
                    Err(code) => Err(JoinRefused {
                        code,
                        member_id: joined.member_id,
                    }),
                });
                join_group::answer(node, to, result);
            }
            Effect::Sync(to, result) => match result.and_then(|synced| stored.map(|()| synced)) {
                Ok(synced) => {
                    let target = unreplicated(node, id);
                    sync_group::answer_when(node, now, to, synced, target);
                }
                Err(code) => sync_group::answer(node, to, Err(code)),
            },
        }
    }
    if stored.is_err()
        && let Some(entry) = node.groups.entries.get_mut(id)
    {
        let mut effects = Vec::new();
        entry.group.not_stored(now, &mut effects);
        carry_out(node, now, id, effects);
    }
}

fn store_group(node: &mut BrokerNode, now: Now, id: &str) -> Result<(), ErrorCode> {
    let Some(entry) = node.groups.entries.get(id) else {
        return Ok(());
    };
    let (partition, change) = (entry.partition, store::group_change(id, &entry.group)?);
    let target = store::write(node, now, partition, &[change])?;
    if let (Some(entry), Some(target)) = (node.groups.entries.get_mut(id), target) {
        entry.written = target.offset;
    }
    Ok(())
}

/// What has to be replicated before a member may get its assignment. That also holds for a member that
/// asks after the generation was written down: else a coordinator that has lost the record would give
/// the generation's number, and its partitions, to others.
fn unreplicated(node: &BrokerNode, id: &str) -> Option<WaitTarget> {
    let entry = node.groups.entries.get(id)?;
    store::mark(node, entry.partition, entry.written)
}

/// Sets the group's timer to its next moment, or forgets a group of which nothing is left.
fn settle(node: &mut BrokerNode, id: &str) {
    let Some(entry) = node.groups.entries.get_mut(id) else {
        return;
    };
    if entry.is_void() {
        if let Some((_, timer)) = entry.timer {
            node.timers.cancel(timer);
        }
        node.groups.entries.remove(id);
        return;
    }
    let next_ns = entry.group.next_ns();
    match (entry.timer, next_ns) {
        // A timer that comes early finds nothing due and is set again: cheaper than moving it each
        // time.
        (Some((at_ns, _)), Some(next_ns)) if at_ns <= next_ns => {}
        (before, next_ns) => {
            if let Some((_, timer)) = before {
                node.timers.cancel(timer);
            }
            entry.timer = next_ns.map(|at_ns| {
                let key = Timer::Group(GroupTimer(id.to_owned()));
                (at_ns, node.timers.set(at_ns, key))
            });
        }
    }
}

/// A group's moment has come.
pub(crate) fn timer(node: &mut BrokerNode, now: Now, GroupTimer(id): GroupTimer) {
    if let Some(entry) = node.groups.entries.get_mut(&id) {
        entry.timer = None;
    }
    with_group(node, now, &id, |group, effects| group.tick(now, effects));
}

/// A partition has another leader: of the offsets topic its groups come with it, or go.
pub(crate) fn partition_changed(node: &mut BrokerNode, now: Now, id: PartitionId, leads: bool) {
    let offsets_topic = node.image.topic(OFFSETS_TOPIC).map(|topic| topic.id);
    if offsets_topic != Some(id.topic) {
        return;
    }
    unload(node, id.index);
    if !leads {
        return;
    }
    match store::load(node, now, id) {
        Ok(mut entries) => {
            // What was read may not be on every replica yet.
            let end = node
                .replicas
                .get(&id)
                .map_or(0, |known| known.log.log_end_offset());
            entries.values_mut().for_each(|entry| entry.written = end);
            node.groups.led.insert(id.index);
            let names: Vec<String> = entries.keys().cloned().collect();
            node.groups.entries.extend(entries);
            names.iter().for_each(|name| settle(node, name));
        }
        Err(error) => node.log_failed(error),
    }
}

/// Forgets the groups of a partition. Waiting members get NOT_COORDINATOR, and find the new one.
fn unload(node: &mut BrokerNode, partition: i32) {
    if !node.groups.led.remove(&partition) {
        return;
    }
    node.groups.ways.forget(partition);
    let gone = |_: &String, entry: &mut GroupEntry| entry.partition == partition;
    let entries: Vec<(String, GroupEntry)> = node.groups.entries.extract_if(.., gone).collect();
    for (_, entry) in entries {
        if let Some((_, timer)) = entry.timer {
            node.timers.cancel(timer);
        }
        let code = ErrorCode::NotCoordinator;
        for (member_id, member) in entry.group.members {
            if let Some(to) = member.join {
                join_group::answer(node, to, Err(JoinRefused { code, member_id }));
            }
            if let Some(to) = member.sync {
                sync_group::answer(node, to, Err(code));
            }
        }
    }
}

#[cfg(test)]
mod tests;
