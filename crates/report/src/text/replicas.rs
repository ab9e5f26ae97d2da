//! Changes of leaders and in-sync replicas.

use kgauge_results::run::{PartitionChange, ReplicaChanges};

use crate::format;

/// `4 leaders moved, 2 replicas fell out of sync`.
pub(crate) fn changes(changes: &ReplicaChanges) -> String {
    let counted = [
        (changes.leaders_moved, "leader moved", "leaders moved"),
        (
            changes.leaders_lost,
            "partition lost its leader",
            "partitions lost their leaders",
        ),
        (
            changes.left_sync,
            "replica fell out of sync",
            "replicas fell out of sync",
        ),
        (
            changes.joined_sync,
            "replica is in sync again",
            "replicas are in sync again",
        ),
    ];
    let counted = counted.into_iter().filter(|(count, ..)| *count > 0);
    let counted: Vec<String> = counted
        .map(|(count, one, many)| format::plural(count.into(), one, many))
        .collect();
    counted.join(", ")
}

/// The changes of one sample with partitions and brokers; `further` partitions are only counted.
pub(super) fn with_partitions(
    all: &ReplicaChanges,
    partitions: &[PartitionChange],
    further: u32,
) -> String {
    let named: Vec<String> = partitions.iter().map(partition).collect();
    let more = match further {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{} ({}{more})", changes(all), named.join("; "))
}

/// `0: leader 1 → 2, in sync 1,2,3 → 2,3`.
fn partition(change: &PartitionChange) -> String {
    let mut clauses = Vec::new();
    if change.leader != change.leader_before {
        let name = |leader: Option<i32>| leader.map_or("none".to_owned(), |id| id.to_string());
        let (from, to) = (name(change.leader_before), name(change.leader));
        clauses.push(format!("leader {from} → {to}"));
    }
    if change.in_sync != change.in_sync_before {
        let list = |brokers: &[i32]| {
            let brokers: Vec<String> = brokers.iter().map(ToString::to_string).collect();
            brokers.join(",")
        };
        let (from, to) = (list(&change.in_sync_before), list(&change.in_sync));
        clauses.push(format!("in sync {from} → {to}"));
    }
    format!("{}: {}", change.partition, clauses.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_and_the_first_partitions_named() {
        let lost = PartitionChange {
            partition: 2,
            leader_before: Some(3),
            in_sync_before: vec![1, 2],
            ..PartitionChange::default()
        };
        let moved = PartitionChange {
            leader_before: Some(1),
            leader: Some(2),
            in_sync_before: vec![1, 2, 3],
            in_sync: vec![2, 3],
            ..PartitionChange::default()
        };
        let all = moved.counted().plus(lost.counted());
        assert_eq!(
            with_partitions(&all, &[moved, lost], 22),
            "1 leader moved, 1 partition lost its leader, 3 replicas fell out of sync (0: leader 1 → 2, in sync \
             1,2,3 → 2,3; 2: leader 3 → none, in sync 1,2 → ; and 22 more)"
        );
        assert_eq!(changes(&ReplicaChanges::default()), "");
    }
}
