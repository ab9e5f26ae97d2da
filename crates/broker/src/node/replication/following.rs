//! The follower's side of replication: fetching from leaders, appending what they send, and cutting
//! what they do not have.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use kgauge_wire::record_batch::BatchHeader;

use super::super::{BrokerNode, Deviations, NodeOutput, Notice, Timer};
use super::ReplicaRole;
use super::message::{FollowerPosition, News, PartitionNews, PeerFetch, PeerFetched, PeerMessage};
use crate::ids::{NodeId, PartitionId};
use crate::log::{AppendError, EpochEnd, LogError};
use crate::node::Replica;
use crate::time::Now;
use crate::timers::TimerId;

/// How long an answer may be late before the session is given up, in milliseconds.
const LATE_MS: i64 = 1_000;

/// Bits of a session's number that count sessions; those above are the node's life.
const SESSION_BITS: u32 = 32;

/// Everything that this node fetches, by the node it fetches from.
#[derive(Debug, Default)]
pub(crate) struct Fetchers {
    of: BTreeMap<NodeId, Fetcher>,
    sessions: u64,
}

/// What is fetched from one leader.
#[derive(Debug, Default)]
struct Fetcher {
    session: u64,
    next_fetch: u64,
    partitions: BTreeSet<PartitionId>,
    /// Partitions whose position the leader does not know.
    changed: BTreeSet<PartitionId>,
    /// The last partition of the newest fetch that had no room for all of `changed`.
    round_end: Option<PartitionId>,
    forgotten: Vec<PartitionId>,
    /// The fetch that is on its way, and when its answer is late.
    awaited: Option<(u64, TimerId)>,
    /// Partitions that failed and are tried again later.
    delayed: BTreeSet<PartitionId>,
}

impl Fetcher {
    /// Takes some of the partitions whose position the leader does not know, in turns: those that change
    /// all the time must not keep the others waiting.
    fn take_changed(&mut self, count_max: usize) -> BTreeSet<PartitionId> {
        if self.changed.len() <= count_max {
            return std::mem::take(&mut self.changed);
        }
        let after = self.round_end.map_or(Bound::Unbounded, Bound::Excluded);
        let behind = self.changed.range((after, Bound::Unbounded));
        let round = behind.chain(&self.changed).take(count_max);
        let taken: Vec<PartitionId> = round.copied().collect();
        self.round_end = taken.last().copied();
        let taken = BTreeSet::from_iter(taken);
        self.changed.retain(|id| !taken.contains(id));
        taken
    }
}

impl Fetchers {
    /// Begins to fetch a partition from a leader, or reports this node's position to it again.
    fn follow(&mut self, leader: NodeId, id: PartitionId) {
        let fetcher = self.of.entry(leader).or_default();
        fetcher.partitions.insert(id);
        fetcher.changed.insert(id);
    }

    /// Stops fetching a partition.
    fn forget(&mut self, id: PartitionId) {
        for fetcher in self.of.values_mut() {
            if fetcher.partitions.remove(&id) {
                fetcher.changed.remove(&id);
                fetcher.delayed.remove(&id);
                fetcher.forgotten.push(id);
            }
        }
    }
}

impl BrokerNode {
    /// Follows a leader from now on; what goes out, goes out with [`BrokerNode::fetch_all`].
    pub(in crate::node) fn follow_leader(&mut self, id: PartitionId, leader: NodeId) {
        self.fetchers.forget(id);
        self.fetchers.follow(leader, id);
    }

    /// Stops following.
    pub(in crate::node) fn follow_nobody(&mut self, id: PartitionId) {
        self.fetchers.forget(id);
    }

    /// Sends the fetches that can go out.
    pub(in crate::node) fn fetch_all(&mut self, now: Now) {
        let leaders: Vec<NodeId> = self.fetchers.of.keys().copied().collect();
        leaders
            .into_iter()
            .for_each(|leader| self.fetch_from(now, leader));
    }

    /// Begins a new session with a node that has another life now.
    pub(in crate::node) fn refetch_from(&mut self, leader: NodeId) {
        if let Some(fetcher) = self.fetchers.of.get_mut(&leader) {
            fetcher.next_fetch = 0;
            if let Some((_, timer)) = fetcher.awaited.take() {
                self.timers.cancel(timer);
            }
        }
    }

    /// Sends a fetch, unless one is on its way or there is nothing to fetch.
    fn fetch_from(&mut self, now: Now, leader: NodeId) {
        let Some(node_epoch) = self.image.nodes.get(&self.config.id).map(|own| own.epoch) else {
            return;
        };
        let Some(fetcher) = self.fetchers.of.get_mut(&leader) else {
            return;
        };
        if fetcher.awaited.is_some() {
            return;
        }
        if fetcher.partitions.is_empty()
            && (fetcher.next_fetch == 0 || fetcher.forgotten.is_empty())
        {
            if fetcher.next_fetch == 0 {
                self.fetchers.of.remove(&leader);
            }
            return;
        }
        if fetcher.next_fetch == 0 {
            self.fetchers.sessions += 1;
            fetcher.session = (node_epoch << SESSION_BITS) + self.fetchers.sessions;
            fetcher.changed.clone_from(&fetcher.partitions);
            fetcher.delayed.clear();
            fetcher.forgotten.clear();
        }
        let (session, number) = (fetcher.session, fetcher.next_fetch);
        fetcher.next_fetch += 1;
        let forgotten = std::mem::take(&mut fetcher.forgotten);
        let late_ns = now.after_ms(self.settings.replica_fetch_wait_max_ms + LATE_MS);
        let timer = self.timers.set(late_ns, Timer::LeaderLate(leader));
        fetcher.awaited = Some((number, timer));
        let changed = fetcher.take_changed(self.config.turn_work_max);
        let more = !fetcher.changed.is_empty();
        let known = changed.iter().filter_map(|id| self.replicas.get(id));
        let positions = known.map(position).collect();
        let fetch = PeerFetch {
            session,
            number,
            node_epoch,
            positions,
            more,
            forgotten,
        };
        self.notify(leader, PeerMessage::Fetch(fetch));
    }

    /// A leader has not answered: the session is over.
    pub(in crate::node) fn leader_late(&mut self, now: Now, leader: NodeId) {
        self.refetch_from(leader);
        self.fetch_from(now, leader);
    }

    /// Tries again what failed a while ago.
    pub(in crate::node) fn fetch_delayed(&mut self, now: Now, leader: NodeId) {
        if let Some(fetcher) = self.fetchers.of.get_mut(&leader) {
            let delayed = std::mem::take(&mut fetcher.delayed);
            fetcher.changed.extend(delayed);
        }
        // A fetch that waits at the leader ends within its time; then the position goes out.
        self.fetch_from(now, leader);
    }

    /// A leader has answered.
    pub(super) fn peer_fetched(&mut self, now: Now, from: NodeId, fetched: PeerFetched) {
        let Some(fetcher) = self.fetchers.of.get_mut(&from) else {
            return;
        };
        let awaited = fetcher
            .awaited
            .filter(|(number, _)| fetcher.session == fetched.session && *number == fetched.number);
        let Some((_, timer)) = awaited else {
            return;
        };
        fetcher.awaited = None;
        self.timers.cancel(timer);
        if fetched.unknown_session {
            self.refetch_from(from);
        }
        for news in fetched.partitions {
            self.take_news(now, from, news);
        }
        self.fetch_from(now, from);
    }

    fn take_news(&mut self, now: Now, from: NodeId, about: PartitionNews) {
        let id = about.partition;
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        let follows = matches!(replica.role, ReplicaRole::Following(leader) if leader == from);
        if !follows || replica.leader_epoch != about.leader_epoch {
            return;
        }
        let ends =
            |replica: &Replica| (replica.log.log_start_offset(), replica.log.log_end_offset());
        let before = ends(replica);
        let readable_before = replica.log.high_watermark();
        let taken = take(replica, now, &about.news, self.config.deviations);
        let moved = ends(replica) != before;
        if ends(replica).1 < before.1 || matches!(about.news, News::OutOfRange { .. }) {
            self.note_cut(from, id, before);
        }
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        let grown = replica.log.high_watermark() > readable_before;
        if taken.is_ok() {
            self.count(|counters| counters.replication_bytes_in.add(about.batch_bytes()));
        }
        let repositioned = !matches!(about.news, News::Records { batches: None, .. });
        if grown {
            self.partition_changed(id);
        }
        if moved {
            self.flush_later(now, id);
        }
        let Some(fetcher) = self.fetchers.of.get_mut(&from) else {
            return;
        };
        match taken {
            Ok(()) => {
                if moved || repositioned {
                    fetcher.changed.insert(id);
                }
            }
            Err(error) => {
                fetcher.delayed.insert(id);
                let again_ns = now.after_ms(self.settings.replica_fetch_backoff_ms);
                self.timers.set(again_ns, Timer::FetchAgain(from));
                if let AppendError::Log(error) = error {
                    self.log_failed(error);
                }
            }
        }
    }
}

impl BrokerNode {
    /// Tells how much of a log its leader had no use for.
    fn note_cut(&mut self, leader: NodeId, id: PartitionId, (start, end): (i64, i64)) {
        let Some(replica) = self.replicas.get(&id) else {
            return;
        };
        let now = (replica.log.log_start_offset(), replica.log.log_end_offset());
        // What lies below a new start was not cut but is older than all that the leader has.
        let from = if now.0 > start {
            start
        } else {
            now.1.max(start)
        };
        if from < end && now != (start, end) {
            let topic = Arc::clone(&replica.topic);
            let (index, to) = (id.index, end);
            self.outputs.push(NodeOutput::Notice(Notice::Cut {
                topic,
                index,
                leader,
                from,
                to,
            }));
        }
    }
}

fn position(replica: &Replica) -> FollowerPosition {
    let log = &replica.log;
    FollowerPosition {
        partition: replica.id,
        leader_epoch: replica.leader_epoch,
        offset: log.log_end_offset(),
        last_epoch: log.leader_epochs().last().map(|entry| entry.epoch),
        log_start_offset: log.log_start_offset(),
    }
}

/// Does with the log what the leader's news asks for.
fn take(
    replica: &mut Replica,
    now: Now,
    news: &News,
    deviations: Deviations,
) -> Result<(), AppendError> {
    let log = &mut replica.log;
    match news {
        News::Records {
            batches,
            high_watermark,
            log_start_offset,
        } => {
            if let Some(batches) = batches {
                let batches = deviations.replicated(&batches[..whole_bytes(batches)]);
                log.append_as_follower(&batches, now.wall_ms)?;
            }
            if *high_watermark > log.high_watermark() {
                log.set_high_watermark(*high_watermark);
            }
            let start = (*log_start_offset).min(log.high_watermark());
            if start > log.log_start_offset() {
                log.delete_records_before(start)?;
            }
            Ok(())
        }
        News::Diverging(end) => Ok(part_at(replica, now, *end)?),
        News::OutOfRange { log_start_offset } => {
            Ok(log.truncate_fully_and_start_at(*log_start_offset, now.wall_ms)?)
        }
        News::Unreadable => Err(AppendError::Nothing),
    }
}

/// Cuts the log where it parts from its leader's, as far as one answer shows.
fn part_at(replica: &mut Replica, now: Now, leaders: EpochEnd) -> Result<(), LogError> {
    let log = &mut replica.log;
    let own = log.end_offset_for_epoch(leaders.epoch);
    let at = match own {
        // Of the epoch that the leader names, the shorter stretch is common to both. Of an older
        // one that this log knows, all of it may be; the next answer shows.
        Some(own) if own.epoch == leaders.epoch => own.end_offset.min(leaders.end_offset),
        Some(own) => own.end_offset,
        None => leaders.end_offset,
    };
    log.truncate_to(at.min(log.log_end_offset()), now.wall_ms)?;
    Ok(())
}

/// Bytes of the whole batches at the beginning.
fn whole_bytes(batches: &[u8]) -> usize {
    let mut end = 0;
    while let Ok(header) = BatchHeader::parse(&batches[end..]) {
        let next = end + header.batch_bytes();
        if next > batches.len() {
            break;
        }
        end = next;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use kgauge_wire::codec::Uuid;

    #[test]
    fn positions_are_reported_in_turn_although_some_change_all_the_time() {
        let id = |index| PartitionId {
            topic: Uuid([1; 16]),
            index,
        };
        let mut fetcher = Fetcher::default();
        fetcher.changed.extend((0..10).map(id));
        let mut reported = BTreeSet::new();
        for _ in 0..4 {
            let taken = fetcher.take_changed(3);
            assert!(taken.len() <= 3);
            reported.extend(taken);
            // These have always news.
            fetcher.changed.extend((0..3).map(id));
        }
        assert_eq!(reported.len(), 10);
        while !fetcher.changed.is_empty() {
            assert!(fetcher.take_changed(3).len() <= 3);
        }
    }
}
