//! The leader's side of replication: what its followers have asked for, and what they get.
//!
//! Each follower has one session, in which the leader remembers its position. A fetch is answered
//! at once when there is news of any partition, else when some comes, or after
//! `replica.fetch.wait.max.ms` without.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::super::{BrokerNode, Timer};
use super::ReplicaRole;
use super::buffers::Buffers;
use super::message::{FollowerPosition, News, PartitionNews, PeerFetch, PeerFetched, PeerMessage};
use crate::counts::RequestTiming;
use crate::ids::{NodeId, PartitionId};
use crate::log::{FirstBatch, PartitionLog, ReadError, ReadRequest};
use crate::node::Replica;
use crate::time::Now;
use crate::timers::TimerId;

/// What appending one partition's news may cost a follower, in partitions that it opens: the first record
/// of a partition makes its folder.
const NEWS_WORK: usize = 8;

/// The followers of a node.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: BTreeMap<NodeId, Session>,
    /// Partitions with news that the sessions have not heard of.
    noted: Vec<PartitionId>,
    reading: FollowerRead,
}

/// One follower.
#[derive(Debug, Default)]
struct Session {
    number: u64,
    next_fetch: u64,
    node_epoch: u64,
    partitions: BTreeSet<PartitionId>,
    /// Partitions with news, each once, in the order of their news.
    ready: VecDeque<PartitionId>,
    is_ready: BTreeSet<PartitionId>,
    /// Positions in epochs that this node has not heard of yet.
    early: BTreeMap<PartitionId, FollowerPosition>,
    /// The fetch that waits for an answer.
    waiting: Option<(u64, TimerId)>,
    /// Its way, where that is counted.
    course: Option<RequestTiming>,
}

impl Session {
    fn make_ready(&mut self, id: PartitionId) {
        if self.is_ready.insert(id) {
            self.ready.push_back(id);
        }
    }

    fn next_ready(&mut self) -> Option<PartitionId> {
        let id = self.ready.pop_front()?;
        self.is_ready.remove(&id);
        Some(id)
    }
}

impl Sessions {
    /// Notes that a partition has news for its followers.
    pub(super) fn note(&mut self, id: PartitionId) {
        if self.noted.last() != Some(&id) {
            self.noted.push(id);
        }
    }
}

/// What is read for followers.
#[derive(Debug, Default)]
struct FollowerRead {
    buffers: Buffers,
    /// Within one round.
    last: Option<LastRead>,
}

/// What the last read gave, for the next follower at the same position.
#[derive(Debug)]
struct LastRead {
    id: PartitionId,
    offset: i64,
    end_offset: i64,
    batches: Arc<Vec<u8>>,
}

/// A part of an answer to a follower.
struct FollowerAnswer {
    bytes_left: usize,
    partitions: Vec<PartitionNews>,
}

impl BrokerNode {
    /// A follower has asked.
    pub(super) fn peer_fetch(&mut self, now: Now, from: NodeId, fetch: PeerFetch) {
        let newest = self.sessions.open.get(&from).map_or(0, |open| open.number);
        if fetch.number == 0 && fetch.session > newest {
            self.open_session(from, &fetch);
        }
        let known = self.sessions.open.get_mut(&from).filter(|session| {
            session.number == fetch.session && session.next_fetch == fetch.number
        });
        let Some(session) = known else {
            let answer = PeerFetched {
                session: fetch.session,
                number: fetch.number,
                unknown_session: true,
                partitions: Vec::new(),
            };
            return self.notify(from, PeerMessage::Fetched(answer));
        };
        session.next_fetch += 1;
        for id in &fetch.forgotten {
            session.partitions.remove(id);
            session.early.remove(id);
        }
        for position in fetch.positions {
            self.position(now, from, position);
        }
        let due_ns = now.after_ms(self.settings.replica_fetch_wait_max_ms);
        let timer = self.timers.set(due_ns, Timer::FollowerWaits(from));
        let course = self.follower_asked(now);
        if let Some(session) = self.sessions.open.get_mut(&from) {
            session.course = course;
            session.waiting = Some((fetch.number, timer));
            if fetch.more && session.ready.is_empty() {
                self.answer_follower(from, Vec::new());
            }
        }
    }

    fn open_session(&mut self, from: NodeId, fetch: &PeerFetch) {
        let session = Session {
            number: fetch.session,
            node_epoch: fetch.node_epoch,
            ..Session::default()
        };
        if let Some(before) = self.sessions.open.insert(from, session)
            && let Some((_, timer)) = before.waiting
        {
            self.timers.cancel(timer);
        }
    }

    /// Forgets what a follower reported in a life that is over. If it is still up, it must report
    /// everything again.
    pub(in crate::node) fn end_session(&mut self, follower: NodeId) {
        let Some(session) = self.sessions.open.remove(&follower) else {
            return;
        };
        if let Some((number, timer)) = session.waiting {
            self.timers.cancel(timer);
            let answer = PeerFetched {
                session: session.number,
                number,
                unknown_session: true,
                partitions: Vec::new(),
            };
            self.notify(follower, PeerMessage::Fetched(answer));
        }
    }

    /// Takes the position that a follower reports for one partition.
    fn position(&mut self, now: Now, from: NodeId, position: FollowerPosition) {
        let id = position.partition;
        let Some(session) = self.sessions.open.get_mut(&from) else {
            return;
        };
        session.partitions.insert(id);
        session.early.remove(&id);
        let life = self.image.nodes.get(&from).map_or(0, |node| node.epoch);
        if life > session.node_epoch {
            // What an earlier life of the follower had no longer counts.
            return;
        }
        let known = self.replicas.get_mut(&id);
        let epoch = known.as_ref().map_or(-1, |replica| replica.leader_epoch);
        if position.leader_epoch > epoch || life < session.node_epoch {
            // This node will hear of that epoch, too, and look again then.
            session.early.insert(id, position);
            return;
        }
        let Some(replica) = known.filter(|_| position.leader_epoch == epoch) else {
            // The follower's epoch is over: it will hear of the new one, and say so.
            return;
        };
        let ReplicaRole::Leading(leading) = &mut replica.role else {
            return;
        };
        let (node_epoch, offset) = (session.node_epoch, position.offset);
        leading.positioned(from, node_epoch, (offset, position.last_epoch));
        // A log that parts from this one below its end counts for nothing until it was cut.
        if parting(&replica.log, offset, position.last_epoch).is_none() {
            let log_end = replica.log.log_end_offset();
            let log_start = position.log_start_offset;
            leading.reported(now, from, node_epoch, offset, log_start, log_end);
        }
        session.make_ready(id);
        self.log_start_reported(id);
        self.advance(now, id);
        self.ask_for_member(id, from);
    }

    /// Looks again at positions that came before this node knew their epochs.
    pub(in crate::node) fn check_early_positions(&mut self, now: Now) {
        let followers: Vec<NodeId> = self.sessions.open.keys().copied().collect();
        for from in followers {
            let Some(session) = self.sessions.open.get_mut(&from) else {
                continue;
            };
            for (_, position) in std::mem::take(&mut session.early) {
                self.position(now, from, position);
            }
        }
    }

    /// Answers the followers for which there is news.
    pub(super) fn serve_followers(&mut self) {
        if self.sessions.noted.is_empty() && self.sessions.open.is_empty() {
            return;
        }
        for id in std::mem::take(&mut self.sessions.noted) {
            for session in self.sessions.open.values_mut() {
                if session.partitions.contains(&id) {
                    session.make_ready(id);
                }
            }
        }
        let waiting = self
            .sessions
            .open
            .iter()
            .filter(|(_, session)| session.waiting.is_some() && !session.ready.is_empty());
        let waiting: Vec<NodeId> = waiting.map(|(node, _)| *node).collect();
        let mut reading = std::mem::take(&mut self.sessions.reading);
        for follower in waiting {
            self.serve_follower(follower, &mut reading);
        }
        reading.last = None;
        self.sessions.reading = reading;
    }

    fn serve_follower(&mut self, follower: NodeId, reading: &mut FollowerRead) {
        let limit = self.settings.replica_fetch_response_max_bytes;
        let mut answering = FollowerAnswer {
            bytes_left: usize::try_from(limit).unwrap_or(0).max(1),
            partitions: Vec::new(),
        };
        let news_max = (self.config.turn_work_max / NEWS_WORK).max(1);
        while answering.bytes_left > 0 && answering.partitions.len() < news_max {
            let session = self.sessions.open.get_mut(&follower);
            let Some(id) = session.and_then(Session::next_ready) else {
                break;
            };
            self.add_news(follower, id, &mut answering, reading);
        }
        if !answering.partitions.is_empty() {
            self.answer_follower(follower, answering.partitions);
        }
    }

    /// Adds what there is to say of one partition, if anything.
    fn add_news(
        &mut self,
        follower: NodeId,
        id: PartitionId,
        answering: &mut FollowerAnswer,
        reading: &mut FollowerRead,
    ) {
        let bytes_max = usize::try_from(self.settings.replica_fetch_max_bytes).unwrap_or(0);
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        let leader_epoch = replica.leader_epoch;
        let bytes_max = bytes_max.min(answering.bytes_left);
        let found = news(replica, follower, bytes_max, reading);
        match found {
            Ok(None) => {}
            Ok(Some(news)) => {
                if let News::Records {
                    batches: Some(batches),
                    ..
                } = &news
                {
                    answering.bytes_left = answering.bytes_left.saturating_sub(batches.len());
                }
                answering.partitions.push(PartitionNews {
                    partition: id,
                    leader_epoch,
                    news,
                });
            }
            Err(error) => {
                answering.partitions.push(PartitionNews {
                    partition: id,
                    leader_epoch,
                    news: News::Unreadable,
                });
                if let ReadError::Log(error) = error {
                    self.log_failed(error);
                }
            }
        }
    }

    fn answer_follower(&mut self, follower: NodeId, partitions: Vec<PartitionNews>) {
        let Some(session) = self.sessions.open.get_mut(&follower) else {
            return;
        };
        let Some((number, timer)) = session.waiting.take() else {
            return;
        };
        let course = session.course.take();
        let bytes = partitions.iter().map(PartitionNews::batch_bytes).sum();
        let answer = PeerFetched {
            session: session.number,
            number,
            unknown_session: false,
            partitions,
        };
        self.timers.cancel(timer);
        self.notify(follower, PeerMessage::Fetched(answer));
        self.follower_answered(course, bytes);
    }

    /// A follower has waited as long as it may.
    pub(in crate::node) fn follower_waited(&mut self, follower: NodeId) {
        self.sessions.reading.buffers.clear();
        self.answer_follower(follower, Vec::new());
    }
}

/// What a leader has to say to a follower of one partition.
fn news(
    replica: &mut Replica,
    follower: NodeId,
    bytes_max: usize,
    reading: &mut FollowerRead,
) -> Result<Option<News>, ReadError> {
    let Replica { id, role, log, .. } = replica;
    let ReplicaRole::Leading(leading) = role else {
        return Ok(None);
    };
    let Some(progress) = leading.followers.get_mut(&follower) else {
        return Ok(None);
    };
    let Some((offset, last_epoch)) = progress.position.filter(|_| !progress.unreported) else {
        return Ok(None);
    };
    let (high_watermark, log_start_offset) = (log.high_watermark(), log.log_start_offset());
    if let Some(news) = parting(log, offset, last_epoch) {
        progress.unreported = true;
        return Ok(Some(news));
    }
    let mut batches = None;
    if offset < log.log_end_offset() {
        batches = match reading.last.as_ref().filter(|last| {
            last.id == *id && last.offset == offset && last.end_offset == log.log_end_offset()
        }) {
            Some(last) => Some(Arc::clone(&last.batches)),
            None => read(log, offset, bytes_max, &mut reading.buffers)?,
        };
        if let Some(batches) = &batches {
            reading.last = Some(LastRead {
                id: *id,
                offset,
                end_offset: log.log_end_offset(),
                batches: Arc::clone(batches),
            });
        }
    }
    let offsets = (high_watermark, log_start_offset);
    if batches.is_none() && progress.sent_offsets == Some(offsets) {
        return Ok(None);
    }
    progress.sent_offsets = Some(offsets);
    progress.unreported = batches.is_some();
    Ok(Some(News::Records {
        batches,
        high_watermark,
        log_start_offset,
    }))
}

/// Whether a follower's log parts from the leader's below its end, and where.
fn parting(log: &PartitionLog, offset: i64, last_epoch: Option<i32>) -> Option<News> {
    let log_start_offset = log.log_start_offset();
    if let Some(last_epoch) = last_epoch {
        // None: the leader knows nothing so old, or the follower is of a future that never was.
        // Either way its log has nothing to go on from.
        let Some(end) = log.end_offset_for_epoch(last_epoch) else {
            return Some(News::OutOfRange { log_start_offset });
        };
        if end.epoch < last_epoch || end.end_offset < offset {
            return Some(News::Diverging(end));
        }
    }
    let outside = offset < log_start_offset || offset > log.log_end_offset();
    outside.then_some(News::OutOfRange { log_start_offset })
}

fn read(
    log: &mut PartitionLog,
    offset: i64,
    bytes_max: usize,
    buffers: &mut Buffers,
) -> Result<Option<Arc<Vec<u8>>>, ReadError> {
    let request = ReadRequest {
        offset,
        bytes_max,
        upper_bound_offset: log.log_end_offset(),
        first_batch: FirstBatch::Whole,
    };
    let read = log.read(&request)?;
    match read.slice {
        None => Ok(None),
        Some(slice) => Ok(Some(buffers.read(&slice)?)),
    }
}
