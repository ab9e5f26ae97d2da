//! Answers that wait for a partition: for its high watermark (acks=all, commits, rebalances) or for
//! its low watermark (deleted records).
//!
//! Kafka calls the place where they wait purgatory. Here it is state: a list for each partition,
//! sorted by the offset that is waited for, and a timer for each answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::Message;

use super::replication::ReplicaRole;
use super::{BrokerNode, Reply, Timer};
use crate::groups;
use crate::handlers::{delete_records, produce};
use crate::ids::{ConnectionId, PartitionId};
use crate::time::Now;
use crate::timers::TimerId;

/// Kafka's `offsets.commit.timeout.ms`: how long answers about groups wait for their replicas.
const COMMIT_TIMEOUT_MS: i64 = 5_000;

/// What became of one thing that was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    /// The watermark is there.
    Reached,
    /// It is there, but the ISR is smaller than `min.insync.replicas` now.
    ReachedByTooFew,
    /// This node no longer leads the partition.
    Lost,
    /// It did not come in time.
    TimedOut,
}

impl WaitOutcome {
    /// The error code for the producer or admin client; `None` for success.
    pub(crate) fn error(self) -> Option<ErrorCode> {
        match self {
            Self::Reached => None,
            Self::ReachedByTooFew => Some(ErrorCode::NotEnoughReplicasAfterAppend),
            Self::Lost => Some(ErrorCode::NotLeaderOrFollower),
            Self::TimedOut => Some(ErrorCode::RequestTimedOut),
        }
    }
}

/// Which watermark is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Watermark {
    /// Records below it are on all members of the ISR.
    High,
    /// No replica has records below it any longer.
    Low,
}

/// One thing that is waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitTarget {
    pub(crate) partition: PartitionId,
    pub(crate) mark: Watermark,
    /// The watermark must be at least here.
    pub(crate) offset: i64,
}

/// An answer that waits, and what happens to it as its targets are reached or missed.
#[derive(Debug)]
pub(crate) enum DelayedAnswer {
    Produce(produce::PendingProduce),
    DeleteRecords(delete_records::PendingDeletion),
    /// An answer about a group, which has two forms ready.
    Group(Box<Replicated>),
}

/// The answer for a write that is replicated, and the one for a write that is not.
#[derive(Debug)]
pub(crate) struct Replicated {
    pub(crate) reply: Reply,
    pub(crate) done: Vec<u8>,
    pub(crate) failed: Vec<u8>,
    /// One of several targets was missed.
    pub(crate) is_missed: bool,
}

impl WaitOutcome {
    /// What was written by too few for its settings is written all the same.
    fn is_written(self) -> bool {
        matches!(self, Self::Reached | Self::ReachedByTooFew)
    }
}

#[derive(Debug)]
struct WaitEntry {
    waiter: DelayedAnswer,
    reply: Reply,
    left: usize,
    timer: TimerId,
}

type Place = (i64, u64, usize);

/// All answers that wait.
#[derive(Debug, Default)]
pub(crate) struct Purgatory {
    waiting: BTreeMap<u64, WaitEntry>,
    /// By offset, number of the answer and index of the target.
    at: HashMap<(PartitionId, Watermark), BTreeSet<Place>>,
    count: u64,
}

impl Purgatory {
    fn reached(&mut self, key: (PartitionId, Watermark), offset: i64) -> Vec<(u64, usize)> {
        let Some(places) = self.at.get_mut(&key) else {
            return Vec::new();
        };
        let beyond = places.split_off(&(offset + 1, 0, 0));
        let reached = std::mem::replace(places, beyond);
        if places.is_empty() {
            self.at.remove(&key);
        }
        reached
            .into_iter()
            .map(|(_, id, index)| (id, index))
            .collect()
    }

    fn all_of(&mut self, key: (PartitionId, Watermark)) -> Vec<(u64, usize)> {
        let places = self.at.remove(&key).unwrap_or_default();
        places
            .into_iter()
            .map(|(_, id, index)| (id, index))
            .collect()
    }

    fn forget_places(&mut self, id: u64) {
        self.at.retain(|_, places| {
            places.retain(|(_, of, _)| *of != id);
            !places.is_empty()
        });
    }

    /// How many answers wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The lowest offset that is waited for at a partition.
    pub(crate) fn lowest(&self, partition: PartitionId, mark: Watermark) -> Option<i64> {
        let (offset, _, _) = self.at.get(&(partition, mark))?.first()?;
        Some(*offset)
    }
}

impl BrokerNode {
    /// Keeps an answer until its targets are reached, for `timeout_ms` at most. The waiter gets each
    /// outcome with the index of its target.
    pub(crate) fn wait(
        &mut self,
        now: Now,
        reply: Reply,
        waiter: DelayedAnswer,
        targets: &[(usize, WaitTarget)],
        timeout_ms: i64,
    ) {
        let id = self.waits.count;
        self.waits.count += 1;
        for (index, target) in targets {
            let places = self.waits.at.entry((target.partition, target.mark));
            places.or_default().insert((target.offset, id, *index));
        }
        let timer = self.timers.set(now.after_ms(timeout_ms), Timer::Waited(id));
        let left = targets.len();
        let waiting = WaitEntry {
            waiter,
            reply,
            left,
            timer,
        };
        self.waits.waiting.insert(id, waiting);
    }

    /// Gives the answer `done` when all targets are reached, `failed` when one is missed; at once
    /// without a target.
    pub(crate) fn respond_when<'m, M: Message<'m>>(
        &mut self,
        now: Now,
        reply: Reply,
        targets: &[WaitTarget],
        done: &M,
        failed: &M,
    ) {
        if targets.is_empty() {
            return self.respond(reply, done);
        }
        match (reply.encode(done), reply.encode(failed)) {
            (Ok(done), Ok(failed)) => {
                let waiter = DelayedAnswer::Group(Box::new(Replicated {
                    reply,
                    done,
                    failed,
                    is_missed: false,
                }));
                let targets: Vec<(usize, WaitTarget)> =
                    targets.iter().copied().enumerate().collect();
                self.wait(now, reply, waiter, &targets, COMMIT_TIMEOUT_MS);
            }
            (Err(error), _) | (_, Err(error)) => self.cannot_encode(reply, &error),
        }
    }

    /// The high watermark of a partition has moved.
    pub(super) fn watermark_reached(&mut self, id: PartitionId, offset: i64) {
        // A client whose commit is acknowledged must be able to read it: make it visible first.
        groups::replicated(self, id, offset);
        let reached = self.waits.reached((id, Watermark::High), offset);
        if reached.is_empty() {
            return;
        }
        let enough = self.replicas.get(&id).is_some_and(|replica| {
            matches!(&replica.role, ReplicaRole::Leading(leading) if leading.has_enough_in_sync())
        });
        let waited = if enough {
            WaitOutcome::Reached
        } else {
            WaitOutcome::ReachedByTooFew
        };
        self.settle_waits(&reached, waited);
    }

    /// A replica's log start may have moved.
    pub(super) fn log_start_reported(&mut self, id: PartitionId) {
        if self.waits.lowest(id, Watermark::Low).is_none() {
            return;
        }
        let low = self.low_watermark(id);
        let reached = self.waits.reached((id, Watermark::Low), low);
        self.settle_waits(&reached, WaitOutcome::Reached);
    }

    /// The smallest log start of a partition's replicas that are up.
    pub(crate) fn low_watermark(&self, id: PartitionId) -> i64 {
        let Some(replica) = self.replicas.get(&id) else {
            return -1;
        };
        let start = replica.log.log_start_offset();
        match &replica.role {
            ReplicaRole::Leading(leading) => {
                leading.low_watermark(start, |node| self.image.nodes.contains_key(&node))
            }
            _ => start,
        }
    }

    /// This node no longer leads a partition.
    pub(super) fn waits_lost(&mut self, id: PartitionId) {
        for mark in [Watermark::High, Watermark::Low] {
            let lost = self.waits.all_of((id, mark));
            self.settle_waits(&lost, WaitOutcome::Lost);
        }
    }

    /// An answer has waited as long as it may.
    pub(super) fn wait_over(&mut self, id: u64) {
        let Some(waiting) = self.waits.waiting.remove(&id) else {
            return;
        };
        self.waits.forget_places(id);
        waiting.waiter.end(self, WaitOutcome::TimedOut);
    }

    /// Forgets the answers for a connection that is gone.
    pub(super) fn forget_waits(&mut self, connection: ConnectionId) {
        if self.waits.waiting.is_empty() {
            return;
        }
        let of = |_: &u64, waiting: &mut WaitEntry| waiting.reply.ticket.connection == connection;
        let gone: Vec<(u64, WaitEntry)> = self.waits.waiting.extract_if(.., of).collect();
        for (id, waiting) in gone {
            self.timers.cancel(waiting.timer);
            self.waits.forget_places(id);
        }
    }

    fn settle_waits(&mut self, places: &[(u64, usize)], waited: WaitOutcome) {
        for (id, index) in places {
            let Some(waiting) = self.waits.waiting.get_mut(id) else {
                continue;
            };
            waiting.waiter.settle(*index, waited);
            waiting.left -= 1;
            if waiting.left == 0
                && let Some(waiting) = self.waits.waiting.remove(id)
            {
                self.timers.cancel(waiting.timer);
                waiting.waiter.end(self, waited);
            }
        }
    }
}

impl DelayedAnswer {
    /// One of the targets is reached or missed.
    fn settle(&mut self, index: usize, waited: WaitOutcome) {
        match self {
            Self::Produce(unfinished) => unfinished.settle(index, waited),
            Self::DeleteRecords(unfinished) => unfinished.settle(index, waited),
            Self::Group(replicated) => replicated.is_missed |= !waited.is_written(),
        }
    }

    /// Answers; what is not settled by now becomes `waited`.
    fn end(self, node: &mut BrokerNode, waited: WaitOutcome) {
        match self {
            Self::Produce(unfinished) => unfinished.end(node, waited),
            Self::DeleteRecords(unfinished) => unfinished.end(node, waited),
            Self::Group(replicated) => {
                let Replicated {
                    reply,
                    done,
                    failed,
                    is_missed,
                } = *replicated;
                let is_written = waited.is_written() && !is_missed;
                let bytes = if is_written { done } else { failed };
                node.send(reply, bytes.into());
            }
        }
    }
}
