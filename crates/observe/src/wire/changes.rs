//! Changes between two samples of the topic: leaders and in-sync replicas.

use std::collections::BTreeMap;

use kgauge_results::run::{EventKind, PartitionChange, ReplicaChanges};

/// Limit on the number of partitions that an event lists.
const NAMED_MAX: usize = 8;

/// The leader of a partition, and its in-sync replicas in the order of their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PartitionState {
    pub(super) leader: Option<i32>,
    pub(super) in_sync: Vec<i32>,
}

impl PartitionState {
    pub(super) fn new(leader: Option<i32>, in_sync: &[i32]) -> PartitionState {
        let mut in_sync = in_sync.to_vec();
        in_sync.sort_unstable();
        in_sync.dedup();
        PartitionState { leader, in_sync }
    }
}

/// The topic in the previous sample.
#[derive(Debug, Default)]
pub(super) struct KnownTopic {
    partitions: BTreeMap<i32, PartitionState>,
}

impl KnownTopic {
    /// The partitions that changed since the previous sample; none in the first one.
    pub(super) fn changes(
        &mut self,
        topic: &str,
        partitions: impl Iterator<Item = (i32, PartitionState)>,
    ) -> Vec<PartitionChange> {
        let mut changes = Vec::new();
        for (partition, state) in partitions {
            let before = self.partitions.insert(partition, state.clone());
            if let Some(before) = before.filter(|before| *before != state) {
                changes.push(PartitionChange {
                    topic: topic.to_owned(),
                    partition,
                    leader_before: before.leader,
                    leader: state.leader,
                    in_sync_before: before.in_sync,
                    in_sync: state.in_sync,
                });
            }
        }
        changes
    }
}

/// The event of all changes in a sample.
pub(super) fn event_of(changes: &[PartitionChange]) -> EventKind {
    let counted = changes.iter().map(PartitionChange::counted);
    let named = &changes[..changes.len().min(NAMED_MAX)];
    EventKind::ReplicasChanged {
        text: String::new(),
        changes: counted.fold(ReplicaChanges::default(), ReplicaChanges::plus),
        partitions: named.to_vec(),
        further: u32::try_from(changes.len() - named.len()).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Partition<'a> = (Option<i32>, &'a [i32]);

    fn changes(known: &mut KnownTopic, partitions: &[Partition<'_>]) -> Vec<PartitionChange> {
        let states = partitions
            .iter()
            .map(|(leader, isr)| PartitionState::new(*leader, isr));
        known.changes("t", (0..).zip(states))
    }

    #[test]
    fn the_first_picture_is_no_change_and_the_order_of_replicas_is_none() {
        let mut known = KnownTopic::default();
        assert_eq!(changes(&mut known, &[(Some(1), &[1, 2, 3])]), []);
        assert_eq!(changes(&mut known, &[(Some(1), &[3, 2, 1])]), []);
    }

    #[test]
    fn a_broker_that_dies_moves_its_leaders_and_leaves_the_sync() {
        let mut known = KnownTopic::default();
        let healthy: &[i32] = &[1, 2, 3];
        let before = [(Some(1), healthy), (Some(2), healthy), (Some(3), healthy)];
        changes(&mut known, &before);
        let after: [Partition<'_>; 3] = [(Some(2), &[2, 3]), (Some(2), &[2, 3]), (None, &[])];
        let changes = changes(&mut known, &after);
        let expected = EventKind::ReplicasChanged {
            text: String::new(),
            changes: ReplicaChanges {
                leaders_moved: 1,
                leaders_lost: 1,
                left_sync: 1 + 1 + 3,
                joined_sync: 0,
            },
            partitions: changes.clone(),
            further: 0,
        };
        assert_eq!(event_of(&changes), expected);
    }

    #[test]
    fn of_many_partitions_some_are_named() {
        let mut known = KnownTopic::default();
        let in_sync: &[i32] = &[1];
        changes(&mut known, &[(Some(1), in_sync); 30]);
        let changes = changes(&mut known, &[(Some(2), in_sync); 30]);
        let EventKind::ReplicasChanged {
            changes,
            partitions,
            further,
            ..
        } = event_of(&changes)
        else {
            panic!("another event");
        };
        assert_eq!(changes.leaders_moved, 30);
        assert_eq!((partitions.len(), further), (8, 22));
    }
}
