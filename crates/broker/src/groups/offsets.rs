//! Committed offsets: committing, forgetting, expiry.

use std::collections::BTreeSet;

use kgauge_wire::codec::Reader;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::Message;
use kgauge_wire::messages::consumer_protocol::ConsumerProtocolSubscription;

use super::records::{CommittedOffset, GroupRecordKey};
use super::store::{self, GroupLogEntry, offset_change};
use super::{ConsumerGroup, GroupEntry, GroupState, check_coordinator, visible_offsets};
use crate::node::{BrokerNode, Timer, WaitTarget};
use crate::time::Now;

/// The kind of group that consumers make.
const CONSUMER: &str = "consumer";

/// One offset to commit.
#[derive(Debug)]
pub(crate) struct NewOffset {
    pub(crate) topic: String,
    pub(crate) partition: i32,
    pub(crate) committed: CommittedOffset,
}

/// Who commits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Committer<'a> {
    pub(crate) group: &'a str,
    pub(crate) member_id: &'a str,
    pub(crate) instance_id: Option<&'a str>,
    /// -1 for a client that manages its partitions itself.
    pub(crate) generation: i32,
}

/// Checks that somebody may commit for a group.
pub(crate) fn check_commit(
    node: &mut BrokerNode,
    now: Now,
    who: &Committer<'_>,
) -> Result<(), ErrorCode> {
    check_coordinator(node, who.group)?;
    let alone = who.generation < 0;
    let Some(entry) = node.groups.entries.get_mut(who.group) else {
        return if alone {
            Ok(())
        } else {
            Err(ErrorCode::IllegalGeneration)
        };
    };
    let group = &mut entry.group;
    if alone && group.state == GroupState::Empty {
        return Ok(());
    }
    group.check_generation(who.member_id, who.instance_id, who.generation)?;
    group.heard_of(now, who.member_id);
    match group.state {
        GroupState::Empty => Err(ErrorCode::UnknownMemberId),
        GroupState::Completing => Err(ErrorCode::RebalanceInProgress),
        GroupState::Preparing | GroupState::Stable => Ok(()),
    }
}

/// Writes offsets down and remembers them. The caller has checked who commits. Gives what the answer
/// has to wait for.
pub(crate) fn commit(
    node: &mut BrokerNode,
    now: Now,
    group: &str,
    offsets: Vec<NewOffset>,
) -> Result<Option<WaitTarget>, ErrorCode> {
    let partition = check_coordinator(node, group)?;
    let mut changes = Vec::with_capacity(offsets.len());
    for new in &offsets {
        changes.push(offset_change(
            group,
            &new.topic,
            new.partition,
            Some(&new.committed),
        )?);
    }
    let target = store::write(node, now, partition, &changes)?;
    let newest = |new: NewOffset| ((new.topic, new.partition), Some(new.committed));
    let newest = offsets.into_iter().map(newest).collect();
    visible_offsets::put(node, group, partition, newest, target);
    if let Err(error) = store::tidy(node, now, partition) {
        node.log_failed(error);
    }
    Ok(target)
}

/// What became of each offset that was to be taken back, and what the answer has to wait for.
pub(crate) type OffsetDeletions = (Vec<Result<(), ErrorCode>>, Option<WaitTarget>);

/// Takes committed offsets back.
pub(crate) fn delete_offsets(
    node: &mut BrokerNode,
    now: Now,
    group: &str,
    keys: &[(String, i32)],
) -> Result<OffsetDeletions, ErrorCode> {
    let partition = check_coordinator(node, group)?;
    let entry = node
        .groups
        .entries
        .get(group)
        .ok_or(ErrorCode::GroupIdNotFound)?;
    let subscribed = if entry.group.is_empty() {
        BTreeSet::new()
    } else {
        subscribed_topics(&entry.group).ok_or(ErrorCode::NonEmptyGroup)?
    };
    let results: Vec<Result<(), ErrorCode>> = keys
        .iter()
        .map(|(topic, _)| {
            if subscribed.contains(topic) {
                Err(ErrorCode::GroupSubscribedToTopic)
            } else {
                Ok(())
            }
        })
        .collect();
    let free = keys
        .iter()
        .zip(&results)
        .filter(|(_, result)| result.is_ok());
    let gone: Vec<(String, i32)> = free.map(|(key, _)| key.clone()).collect();
    let target = forget(node, now, group, partition, &gone)?;
    Ok((results, target))
}

/// The topics that a group of consumers reads; `None` when it is no such group.
fn subscribed_topics<W>(group: &ConsumerGroup<W>) -> Option<BTreeSet<String>> {
    if group.protocol_type.as_deref() != Some(CONSUMER) {
        return None;
    }
    let mut topics = BTreeSet::new();
    for member in group.members.values() {
        for (_, metadata) in &member.protocols {
            topics.extend(topics_of(metadata)?);
        }
    }
    Some(topics)
}

fn topics_of(metadata: &[u8]) -> Option<Vec<String>> {
    let mut reader = Reader::new(metadata);
    let version = reader.read_i16().ok()?;
    let known = *ConsumerProtocolSubscription::VERSIONS.end();
    let subscription =
        ConsumerProtocolSubscription::decode(&mut reader, version.min(known)).ok()?;
    Some(
        subscription
            .topics
            .iter()
            .map(ToString::to_string)
            .collect(),
    )
}

/// Takes back offsets, in the log and in memory.
fn forget(
    node: &mut BrokerNode,
    now: Now,
    group: &str,
    partition: i32,
    gone: &[(String, i32)],
) -> Result<Option<WaitTarget>, ErrorCode> {
    let changes: Result<Vec<GroupLogEntry>, ErrorCode> = gone
        .iter()
        .map(|(topic, index)| offset_change(group, topic, *index, None))
        .collect();
    let target = store::write(node, now, partition, &changes?)?;
    let gone = gone.iter().map(|key| (key.clone(), None)).collect();
    visible_offsets::put(node, group, partition, gone, target);
    Ok(target)
}

/// Removes a group of which nobody is a member, with its offsets. Gives what the answer has to wait
/// for.
pub(crate) fn delete_group(
    node: &mut BrokerNode,
    now: Now,
    group: &str,
) -> Result<Option<WaitTarget>, ErrorCode> {
    let partition = check_coordinator(node, group)?;
    let entry = node
        .groups
        .entries
        .get(group)
        .ok_or(ErrorCode::GroupIdNotFound)?;
    if !entry.group.is_empty() {
        return Err(ErrorCode::NonEmptyGroup);
    }
    let mut changes = Vec::with_capacity(entry.offsets.len() + 1);
    let mut gone = Vec::with_capacity(entry.offsets.len());
    for (topic, index) in entry.offsets.keys() {
        changes.push(offset_change(group, topic, *index, None)?);
        gone.push(((topic.clone(), *index), None));
    }
    changes.push((GroupRecordKey::Group(group.to_owned()), None));
    let target = store::write(node, now, partition, &changes)?;
    if let Some(entry) = node.groups.entries.get_mut(group) {
        entry.group = ConsumerGroup::default();
    }
    visible_offsets::put(node, group, partition, gone, target);
    Ok(target)
}

/// Forgets the offsets in a topic that was deleted, of every group here.
pub(crate) fn forget_topic(node: &mut BrokerNode, now: Now, topic: &str) {
    let mut affected = Vec::new();
    for (group, entry) in &node.groups.entries {
        let range = (topic.to_owned(), i32::MIN)..=(topic.to_owned(), i32::MAX);
        let gone: Vec<_> = entry
            .offsets
            .range(range)
            .map(|(key, _)| key.clone())
            .collect();
        if !gone.is_empty() {
            affected.push((group.clone(), entry.partition, gone));
        }
    }
    for (group, partition, gone) in affected {
        // A partition that cannot be written now keeps the offsets; they expire.
        let _ = forget(node, now, &group, partition, &gone);
    }
}

/// Forgets offsets and groups that nobody has used for `offsets.retention.minutes`, and sets the
/// next time.
pub(crate) fn expire_offsets(node: &mut BrokerNode, now: Now) {
    let retention_ms = node
        .settings
        .offsets_retention_minutes
        .saturating_mul(60_000);
    let names: Vec<String> = node.groups.entries.keys().cloned().collect();
    for name in names {
        let Some(entry) = node.groups.entries.get(&name) else {
            continue;
        };
        let partition = entry.partition;
        let gone = expired(entry, now.wall_ms.saturating_sub(retention_ms));
        let last = entry.group.is_empty() && gone.len() == entry.offsets.len();
        let unused = entry.group.state_since_ms <= now.wall_ms.saturating_sub(retention_ms);
        // What cannot be written now is tried again the next time.
        if last && unused {
            let _ = delete_group(node, now, &name);
        } else if !gone.is_empty() {
            let _ = forget(node, now, &name, partition, &gone);
        }
    }
    let due_ns = now.after_ms(node.settings.offsets_retention_check_interval_ms);
    node.timers.set(due_ns, Timer::OffsetExpiry);
}

/// The offsets that expired before a moment: those of an empty group count from when it became
/// empty, those of topics that a group does not read from their commit (KIP-211).
fn expired(entry: &GroupEntry, before_ms: i64) -> Vec<(String, i32)> {
    let group = &entry.group;
    let subscribed = match group.state {
        GroupState::Empty => Some(BTreeSet::new()),
        _ => subscribed_topics(group),
    };
    let Some(subscribed) = subscribed else {
        return Vec::new();
    };
    let since_ms = if group.state == GroupState::Empty {
        group.state_since_ms
    } else {
        -1
    };
    entry
        .offsets
        .iter()
        .filter(|((topic, _), _)| !subscribed.contains(topic))
        .filter(|(_, committed)| committed.commit_ms.max(since_ms) <= before_ms)
        .map(|(key, _)| key.clone())
        .collect()
}
