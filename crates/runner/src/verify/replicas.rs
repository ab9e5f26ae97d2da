//! Compares the followers of a partition with its leader, batch by batch.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kgauge_client::{Cluster, Interrupt};
use kgauge_verify::ReplicaDigest;
use kgauge_wire::record_batch::batches;

use super::fetch::{FetchPlace, VERSION_MAX, fetch};
use super::log_files::{self, ComparedRange};

/// From this version on, followers answer consumers (KIP-392).
const VERSION_MIN: i16 = 11;

/// Answers without progress after which a follower is not compared.
const ATTEMPTS_MAX: u32 = 20;

/// What a comparison found.
#[derive(Default)]
pub(super) struct ReplicaComparison {
    /// Followers that could be read to the end.
    pub(super) compared: u32,
    /// First offsets of ranges in which a follower differs from the leader.
    pub(super) differing: Vec<u64>,
}

/// Compares each follower in sync with the leader's digest. Replicas of brokers that kgauge started are read from their
/// files, in `folders` by broker; others answer as consumers' nearest replicas do.
pub(super) fn compare(
    cluster: &mut Cluster,
    folders: &BTreeMap<i32, Vec<PathBuf>>,
    range: &ComparedRange<'_>,
    leader: &ReplicaDigest,
    interrupt: &Interrupt,
) -> ReplicaComparison {
    let mut comparison = ReplicaComparison::default();
    let index = i32::try_from(range.partition).unwrap_or(i32::MAX);
    let Some(found) = cluster.metadata().partition(range.topic, index) else {
        return comparison;
    };
    let Some(leader_id) = found.leader_id else {
        return comparison;
    };
    let in_sync = found.isr.clone();
    let in_files = |id: i32| log_files::digest(folders.get(&id)?, range);
    let leader_in_files = in_files(leader_id);
    for follower in in_sync.into_iter().filter(|id| *id != leader_id) {
        let compared = match &leader_in_files {
            Some(leader) => in_files(follower).map(|digest| (leader, digest)),
            None => digest(cluster, follower, range, interrupt).map(|digest| (leader, digest)),
        };
        if let Some((leader, digest)) = compared {
            comparison.compared += 1;
            comparison.differing.extend(leader.differing(&digest));
        }
    }
    comparison.differing.sort_unstable();
    comparison.differing.dedup();
    comparison
}

/// The digest of a follower; `None` if it cannot be read to the end.
fn digest(
    cluster: &mut Cluster,
    broker_id: i32,
    range: &ComparedRange<'_>,
    interrupt: &Interrupt,
) -> Option<ReplicaDigest> {
    let mut digest = ReplicaDigest::from(range.start);
    let (mut position, mut attempts) = (range.start, 0);
    while position < range.end {
        if interrupt.is_raised() || attempts >= ATTEMPTS_MAX {
            return None;
        }
        let place = FetchPlace {
            topic: range.topic,
            partition: range.partition,
            position,
            reads_committed: false,
            versions: VERSION_MIN..=VERSION_MAX,
        };
        let next = fetch(cluster, broker_id, &place, |answer| {
            let mut next = position;
            for batch in batches(answer.records.as_deref().unwrap_or_default()) {
                let Ok(batch) = batch else { break };
                let header = &batch.header;
                let base = u64::try_from(header.base_offset).unwrap_or(0);
                if base >= range.start && base >= next && base < range.end {
                    digest.note(base, header.crc, header.leader_epoch);
                }
                next = next.max(u64::try_from(header.next_offset()).unwrap_or(0));
            }
            next
        });
        match next {
            Ok(next) if next > position => (position, attempts) = (next, 0),
            Ok(_) => attempts += 1,
            Err(_) => return None,
        }
    }
    Some(digest)
}
