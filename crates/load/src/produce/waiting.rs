//! What a producer without buffer space waits for.
//!
//! Not on a record's path: its worker samples it about twenty times per second.

use kgauge_results::run::ClientSample;
use kgauge_wire::error_code::ErrorCode;

use super::Producer;
use super::partition::PartitionQueue;

impl Producer {
    /// What keeps the buffer full now: no connection, no leader, a throttle, or otherwise responses.
    pub(super) fn sample_wait(&self) -> ClientSample {
        let mut look = ClientSample::default();
        if self.blocked_since_ns.is_none() {
            return look;
        }
        look.looks_waiting = 1;
        let mut ready = self.links.iter().zip(&self.ready);
        let mut partitions = self.partitions.iter();
        if ready.any(|(link, ready)| !ready.is_empty() && !link.is_open()) {
            look.looks_unconnected = 1;
        } else if partitions.any(|partition| self.lacks_leader(partition)) {
            look.looks_leaderless = 1;
        } else {
            let mut links = self.links.iter();
            let is_paused = links.any(|link| link.usable_at_ns(self.drained_at_ns) != u64::MAX);
            look.looks_throttled = u64::from(is_paused);
        }
        look
    }

    /// Whether a partition has records and no known leader, according to the last metadata response.
    fn lacks_leader(&self, partition: &PartitionQueue) -> bool {
        let is_refused = || {
            let front = partition.front().map(|slot| &self.pool[slot]);
            let moved = [
                ErrorCode::LeaderNotAvailable,
                ErrorCode::NotLeaderOrFollower,
                ErrorCode::FencedLeaderEpoch,
            ];
            front.is_some_and(|batch| {
                batch.attempts > 0 && moved.iter().any(|code| code.as_i16() == batch.last_error)
            })
        };
        partition.has_work() && (partition.leader.is_none() || is_refused())
    }
}
