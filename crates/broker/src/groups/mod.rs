//! Consumer groups: their members, generations and committed offsets.

use crate::ids::PartitionId;
use crate::node::Node;
use crate::time::Now;

/// A moment in the life of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GroupTimer {}

/// The groups that a node coordinates.
#[derive(Debug, Default)]
pub(crate) struct Groups {}

/// The partition of the offsets topic that a group belongs to.
pub(crate) fn partition_of(group: &str, partitions: usize) -> i32 {
    let hash = group.encode_utf16().fold(0i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    let count = i32::try_from(partitions).unwrap_or(i32::MAX).max(1);
    // Kafka's `Utils.abs`: the one number without a positive twin becomes 0.
    hash.checked_abs().unwrap_or(0) % count
}

pub(crate) fn timer(_node: &mut Node, _now: Now, timer: GroupTimer) {
    match timer {}
}

pub(crate) fn expire_offsets(_node: &mut Node, _now: Now) {}

pub(crate) fn partition_changed(_node: &mut Node, _now: Now, _id: PartitionId, _leads: bool) {}
