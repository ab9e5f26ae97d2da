//! Fetches that wait for more bytes: Kafka's fetch purgatory, as state.
//!
//! A parked fetch watches its partitions. Every append adds to the bytes it has to wait for; when
//! they suffice, when its time is over or when one of its partitions changes hands, it is served
//! with what is there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{BrokerNode, Timer};
use crate::handlers::fetch::{self, Fetch};
use crate::ids::{ConnectionId, PartitionId};
use crate::time::Now;
use crate::timers::TimerId;

/// Names a parked fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ParkedId(u64);

/// A fetch that waits.
#[derive(Debug)]
pub(crate) struct ParkedFetch {
    pub(crate) fetch: Fetch,
    /// Bytes still missing.
    missing: u64,
    timer: TimerId,
}

/// All parked fetches of a node.
#[derive(Debug, Default)]
pub(crate) struct Fetches {
    parked: BTreeMap<ParkedId, ParkedFetch>,
    watchers: HashMap<PartitionId, BTreeSet<ParkedId>>,
    of_connection: BTreeSet<(ConnectionId, ParkedId)>,
    count: u64,
    /// Fetches whose bytes have come, to be served after the request at hand.
    ready: Vec<ParkedId>,
}

impl Fetches {
    /// How many fetches wait.
    pub(super) fn len(&self) -> usize {
        self.parked.len()
    }

    /// Parks a fetch that still misses so many bytes. `timer` sets its timer.
    fn park(
        &mut self,
        fetch: Fetch,
        missing: u64,
        timer: impl FnOnce(ParkedId) -> TimerId,
    ) -> ParkedId {
        let id = ParkedId(self.count);
        self.count += 1;
        for partition in fetch.watched() {
            self.watchers.entry(partition).or_default().insert(id);
        }
        self.of_connection.insert((fetch.connection(), id));
        self.parked.insert(
            id,
            ParkedFetch {
                fetch,
                missing,
                timer: timer(id),
            },
        );
        id
    }

    /// Takes a fetch out.
    fn take(&mut self, id: ParkedId) -> Option<ParkedFetch> {
        let parked = self.parked.remove(&id)?;
        for partition in parked.fetch.watched() {
            if let Some(watchers) = self.watchers.get_mut(&partition) {
                watchers.remove(&id);
                if watchers.is_empty() {
                    self.watchers.remove(&partition);
                }
            }
        }
        self.of_connection.remove(&(parked.fetch.connection(), id));
        Some(parked)
    }

    /// Notes bytes that consumers of a partition can read now.
    fn grown(&mut self, partition: PartitionId, bytes: u64) {
        let Some(watchers) = self.watchers.get(&partition) else {
            return;
        };
        for id in watchers {
            let Some(parked) = self.parked.get_mut(id) else {
                continue;
            };
            let was_missing = parked.missing > 0;
            parked.missing = parked.missing.saturating_sub(bytes);
            if was_missing && parked.missing == 0 {
                self.ready.push(*id);
            }
        }
    }

    /// Notes that a partition has a new leader, or is gone.
    fn changed(&mut self, partition: PartitionId) {
        if let Some(watchers) = self.watchers.get(&partition) {
            self.ready.extend(watchers);
        }
    }
}

impl BrokerNode {
    /// Parks a fetch until `missing` bytes more can be read, or its time is over.
    pub(crate) fn park_fetch(&mut self, now: Now, fetch: Fetch, missing: u64) {
        let due_ns = now.after_ms(fetch.wait_ms_max());
        let timers = &mut self.timers;
        self.fetches
            .park(fetch, missing, |id| timers.set(due_ns, Timer::Fetch(id)));
    }

    /// Notes bytes that consumers of a partition can read now.
    pub(crate) fn partition_grown(&mut self, partition: PartitionId, bytes: u64) {
        self.fetches.grown(partition, bytes);
    }

    /// Notes that a partition has a new leader, or is gone.
    pub(crate) fn partition_changed(&mut self, partition: PartitionId) {
        self.fetches.changed(partition);
    }

    /// Serves the fetches whose wait is over.
    pub(crate) fn serve_ready_fetches(&mut self, now: Now) {
        while let Some(id) = self.fetches.ready.pop() {
            if let Some(parked) = self.fetches.take(id) {
                self.timers.cancel(parked.timer);
                fetch::serve(self, now, parked.fetch, fetch::ParkDecision::Over);
            }
        }
    }

    pub(super) fn fetch_expired(&mut self, now: Now, id: ParkedId) {
        if let Some(parked) = self.fetches.take(id) {
            fetch::serve(self, now, parked.fetch, fetch::ParkDecision::Over);
        }
    }

    /// Forgets the fetches of a connection that is gone.
    pub(super) fn forget_fetches_of(&mut self, connection: ConnectionId) {
        let range = (connection, ParkedId(0))..=(connection, ParkedId(u64::MAX));
        let ids: Vec<ParkedId> = self
            .fetches
            .of_connection
            .range(range)
            .map(|(_, id)| *id)
            .collect();
        for id in ids {
            if let Some(parked) = self.fetches.take(id) {
                self.timers.cancel(parked.timer);
            }
        }
    }
}

#[cfg(test)]
impl Fetches {
    /// How many fetches wait, with all that is kept of them.
    pub(super) fn waiting(&self) -> usize {
        self.parked.len() + self.watchers.len() + self.of_connection.len()
    }
}
