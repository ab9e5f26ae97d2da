//! Committed offsets on their way to the replicas: written down, and not shown yet.
//!
//! A group's newest offsets are what the coordinator works with. Until the record of one is on every
//! replica in sync, readers see the one before it, for the new one could still be lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::records::CommittedOffset;
use super::{GroupEntry, settle};
use crate::ids::PartitionId;
use crate::node::{BrokerNode, WaitTarget, Watermark};

/// A topic and a partition of it.
pub(crate) type OffsetKey = (String, i32);

/// Which offsets somebody wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OffsetView {
    /// Those that can no longer be lost.
    Replicated,
    /// The newest; an answer with them waits until they are replicated.
    Newest,
}

/// What readers see while newer offsets are on their way.
#[derive(Debug)]
pub(super) struct VisibleOffsets {
    committed: Option<CommittedOffset>,
    /// Where the record of the newest ends.
    last: i64,
}

/// A change that is on its way.
#[derive(Debug)]
pub(super) struct PendingOffset {
    /// Where its record ends.
    end: i64,
    group: String,
    key: OffsetKey,
    committed: Option<CommittedOffset>,
}

/// The changes on their way, by partition of the offsets topic, oldest first.
#[derive(Debug, Default)]
pub(super) struct PendingOffsets(BTreeMap<i32, VecDeque<PendingOffset>>);

impl PendingOffsets {
    /// The partition's groups are elsewhere now.
    pub(super) fn forget(&mut self, partition: i32) {
        self.0.remove(&partition);
    }
}

impl GroupEntry {
    /// The committed offset of a partition.
    pub(crate) fn offset(&self, key: &OffsetKey, view: OffsetView) -> Option<&CommittedOffset> {
        match (view, self.shown.get(key)) {
            (OffsetView::Replicated, Some(shown)) => shown.committed.as_ref(),
            _ => self.offsets.get(key),
        }
    }

    /// All committed offsets.
    pub(crate) fn all_offsets(&self, view: OffsetView) -> Vec<(&OffsetKey, &CommittedOffset)> {
        let keys: BTreeSet<&OffsetKey> = self.offsets.keys().chain(self.shown.keys()).collect();
        let found = keys.into_iter();
        found
            .filter_map(|key| Some((key, self.offset(key, view)?)))
            .collect()
    }

    /// Where the newest record that is on its way ends.
    fn last_on_its_way(&self) -> Option<i64> {
        self.shown.values().map(|shown| shown.last).max()
    }
}

/// What has to be waited for until a group's newest offsets cannot be lost; `None` if they cannot
/// now.
pub(crate) fn newest_target(node: &BrokerNode, group: &str) -> Option<WaitTarget> {
    let entry = node.groups.entries.get(group)?;
    let partition = super::store::offsets_partition(node, entry.partition)?;
    Some(WaitTarget {
        partition,
        mark: Watermark::High,
        offset: entry.last_on_its_way()?,
    })
}

/// Takes offsets in, or takes them back, whose records have been written. `target` is where the
/// records end, if they are not replicated yet.
pub(super) fn put(
    node: &mut BrokerNode,
    group: &str,
    partition: i32,
    changes: Vec<(OffsetKey, Option<CommittedOffset>)>,
    target: Option<WaitTarget>,
) {
    let groups = &mut node.groups;
    let entry = groups.entries.entry(group.to_owned());
    let entry = entry.or_insert_with(|| GroupEntry::new(partition));
    for (key, committed) in changes {
        if let Some(target) = target {
            let before = entry.offsets.get(&key).cloned();
            let shown = entry.shown.entry(key.clone()).or_insert(VisibleOffsets {
                committed: before,
                last: 0,
            });
            shown.last = target.offset;
            groups
                .ways
                .0
                .entry(partition)
                .or_default()
                .push_back(PendingOffset {
                    end: target.offset,
                    group: group.to_owned(),
                    key: key.clone(),
                    committed: committed.clone(),
                });
        }
        match committed {
            Some(committed) => drop(entry.offsets.insert(key, committed)),
            None => drop(entry.offsets.remove(&key)),
        }
    }
    settle(node, group);
}

/// Records of the offsets topic are on every replica now: readers see their offsets.
pub(crate) fn replicated(node: &mut BrokerNode, id: PartitionId, high_watermark: i64) {
    if node.groups.ways.0.is_empty() || super::store::offsets_partition(node, id.index) != Some(id)
    {
        return;
    }
    let Some(way) = node.groups.ways.0.get_mut(&id.index) else {
        return;
    };
    let arrived = way.partition_point(|pending| pending.end <= high_watermark);
    let arrived: Vec<PendingOffset> = way.drain(..arrived).collect();
    if way.is_empty() {
        node.groups.ways.forget(id.index);
    }
    for pending in arrived {
        if let Some(entry) = node.groups.entries.get_mut(&pending.group)
            && let Some(shown) = entry.shown.get_mut(&pending.key)
        {
            if shown.last <= pending.end {
                entry.shown.remove(&pending.key);
            } else {
                shown.committed = pending.committed;
            }
        }
        settle(node, &pending.group);
    }
}
