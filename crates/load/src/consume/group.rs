//! A consumer group's members. Each has a thread next to the workers, because joining waits for all members, and
//! heartbeats must not wait.
//!
//! The thread has the member's connection to the coordinator; the consumer, on a worker, has those to the leaders. The
//! thread sends assignments and revocations, and the consumer confirms revocations. The group's positions are shared
//! atomics that consumers write and the threads commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kgauge_client::group::GroupSettings;
use kgauge_client::{ClientConfig, Interrupt};
use kgauge_results::run::{GroupMemberRecord, GroupRecord};
use kgauge_scenario::GroupProtocol;

use super::progress::GroupShared;
use crate::topics::Topics;

/// A message from the member's thread to its consumer.
#[derive(Debug)]
pub(crate) enum MemberEvent {
    /// Read exactly these partitions; new ones start at these offsets.
    Assigned {
        generation: i32,
        positions: Vec<(u32, i64)>,
        /// The member does not rejoin at once.
        is_settled: bool,
    },
    /// Stop reading these partitions (all of them without a list), and confirm.
    Revoked {
        why: String,
        partitions: Option<Vec<u32>>,
    },
    /// A problem that does not end the run.
    Note(String),
    /// The member cannot go on.
    Failed(String),
}

/// The consumer's confirmation that it gave up its partitions.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReleaseAck;

/// The state of the consumer: before, during or after its run.
#[derive(Debug, Default)]
pub(super) struct Presence(AtomicU8);

impl Presence {
    const READS: u8 = 1;
    const OVER: u8 = 2;

    /// Whether it reads, and so must confirm revocations.
    pub(super) fn reads(&self) -> bool {
        self.0.load(Ordering::Acquire) == Self::READS
    }

    pub(super) fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }
}

/// The consumer's side.
#[derive(Debug)]
pub(crate) struct GroupSubscription {
    /// The number of its consumer in the flow.
    pub(super) consumer: u32,
    pub(super) events: Receiver<MemberEvent>,
    pub(super) released: Sender<ReleaseAck>,
    pub(super) presence: Arc<Presence>,
    pub(super) shared: Arc<GroupShared>,
    pub(super) revoked_at_ns: Option<u64>,
    pub(super) name: String,
}

impl GroupSubscription {
    /// The run starts.
    pub(super) fn begin(&self) {
        self.presence.0.store(Presence::READS, Ordering::Release);
    }

    /// The consumer is done and no longer listens.
    pub(super) fn end(&self) {
        self.presence.0.store(Presence::OVER, Ordering::Release);
    }

    pub(crate) fn next_event(&self) -> Option<MemberEvent> {
        self.events.try_recv().ok()
    }

    pub(super) fn release(&self) {
        // An ended thread needs no confirmation.
        let _ = self.released.send(ReleaseAck);
    }
}

/// The results of a member.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MemberOutcome {
    pub(super) group: GroupRecord,
    pub(super) member: GroupMemberRecord,
}

/// The results of a flow's groups and of their members.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupOutcome {
    pub(crate) group: Option<GroupRecord>,
    pub(crate) members: Vec<GroupMemberRecord>,
}

/// Handle of a member's thread.
#[derive(Debug)]
pub(crate) struct MemberThread {
    pub(super) flow: usize,
    pub(super) shared: Arc<GroupShared>,
    pub(super) stop: Interrupt,
    pub(super) give_up: Interrupt,
    pub(super) over: Receiver<MemberOutcome>,
    pub(super) thread: Option<JoinHandle<()>>,
}

impl MemberThread {
    /// Lets the member commit and leave.
    pub(crate) fn stop(&self) {
        self.stop.raise();
    }

    /// Waits until it has left, at most until `deadline`.
    fn end(&mut self, deadline: Instant) -> MemberOutcome {
        self.stop.raise();
        let patience = deadline.saturating_duration_since(Instant::now());
        let outcome = self.over.recv_timeout(patience);
        self.give_up.raise();
        if let Some(thread) = self.thread.take() {
            // The panic hook has reported a panic; the run's figures do not need this thread.
            let _ = thread.join();
        }
        let late = || self.over.try_recv().unwrap_or_default();
        outcome.unwrap_or_else(|_| late())
    }
}

impl Drop for MemberThread {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end(Instant::now() + Duration::from_secs(1));
        }
    }
}

/// The settings of a member.
pub(crate) struct MemberSetup {
    pub(crate) flow: usize,
    /// The number of its consumer in the flow.
    pub(crate) consumer: u32,
    /// For messages: the flow's name and the number of the consumer.
    pub(crate) name: String,
    pub(crate) topics: Arc<Topics>,
    pub(crate) client: ClientConfig,
    pub(crate) settings: GroupSettings,
    pub(crate) protocol: GroupProtocol,
    /// `group.remote.assignor`
    pub(crate) remote_assignor: Option<String>,
    /// `auto.commit.interval.ms`, if commits are enabled.
    pub(crate) commit: Option<Duration>,
    pub(crate) shared: Arc<GroupShared>,
}

/// All of a flow's members, by flow.
pub(crate) fn end_all(
    threads: &mut [MemberThread],
    flows: usize,
    limit: Duration,
) -> Vec<GroupOutcome> {
    let deadline = Instant::now() + limit;
    threads.iter().for_each(MemberThread::stop);
    let mut outcomes = vec![GroupOutcome::default(); flows];
    for thread in threads {
        let outcome = thread.end(deadline);
        let group = GroupRecord {
            records_again: thread.shared.again.load(Ordering::Relaxed),
            records_skipped: thread.shared.skipped.load(Ordering::Relaxed),
            commits_back: thread.shared.commits_back.load(Ordering::Relaxed),
            ..outcome.group
        };
        if let Some(of_flow) = outcomes.get_mut(thread.flow) {
            of_flow.group = Some(of_flow.group.unwrap_or_default().plus(group));
            of_flow.members.push(outcome.member);
        }
    }
    outcomes
}
