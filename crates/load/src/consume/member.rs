//! A group member's thread: join, continue at the group's positions, send heartbeats, commit, revoke, rejoin, leave.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use kgauge_client::group::{Beat, ConsumerMember, GroupError, GroupMember, Partitions};
use kgauge_client::{Cluster, Interrupt};
use kgauge_results::run::{GroupMemberRecord, GroupRecord};
use kgauge_scenario::GroupProtocol;

use super::group::{
    GroupSubscription, MemberEvent, MemberOutcome, MemberSetup, MemberThread, Presence, ReleaseAck,
};

/// How often the thread checks whether to end, or whether its consumer has given up its partitions.
const POLL: Duration = Duration::from_millis(20);

/// The heartbeat interval before the run, so that the group settles soon.
const SETTLING_BEAT: Duration = Duration::from_millis(50);

/// After a coordinator could not be reached: Kafka's default of `retry.backoff.ms`.
pub(super) const UNSURE_BEAT: Duration = Duration::from_millis(100);

/// Why a member no longer reads its assignment.
enum RevocationCause {
    /// The other members wait for it: it may commit.
    Rebalance,
    /// The group continued without it.
    Lost(String),
    Stop,
    Failed(GroupError),
}

/// The thread's own state.
pub(super) struct GroupThread {
    pub(super) setup: MemberSetup,
    pub(super) event_sender: Sender<MemberEvent>,
    pub(super) released: Receiver<ReleaseAck>,
    pub(super) presence: Arc<Presence>,
    pub(super) stop: Interrupt,
    pub(super) give_up: Interrupt,
    /// The places of its partitions.
    pub(super) held: Vec<u32>,
    /// When it gave up all of them, until it gets others.
    paused_from: Option<Instant>,
    pub(super) outcome: GroupRecord,
    member: GroupMemberRecord,
}

/// Starts a member; it joins at once.
pub(crate) fn start(setup: MemberSetup) -> std::io::Result<(GroupSubscription, MemberThread)> {
    let ((event_sender, events), (release, released)) = (channel(), channel());
    let (tell_end, over) = channel();
    let presence = Arc::new(Presence::default());
    let (stop, give_up) = (Interrupt::new(), Interrupt::new());
    let consumer = setup.consumer;
    let subscription = GroupSubscription {
        consumer,
        events,
        released: release,
        presence: Arc::clone(&presence),
        shared: Arc::clone(&setup.shared),
        revoked_at_ns: None,
        name: setup.name.clone(),
    };
    let (flow, shared) = (setup.flow, Arc::clone(&setup.shared));
    let body = GroupThread {
        event_sender,
        released,
        presence,
        stop: stop.clone(),
        give_up: give_up.clone(),
        setup,
        held: Vec::new(),
        paused_from: None,
        outcome: GroupRecord {
            members: 1,
            ..GroupRecord::default()
        },
        member: GroupMemberRecord {
            consumer,
            ..GroupMemberRecord::default()
        },
    };
    let thread = std::thread::Builder::new()
        .name("load-member".to_owned())
        .spawn(move || {
            // The runner may have stopped waiting.
            let _ = tell_end.send(body.run());
        })?;
    let thread = MemberThread {
        flow,
        shared,
        stop,
        give_up,
        over,
        thread: Some(thread),
    };
    Ok((subscription, thread))
}

impl GroupThread {
    fn run(mut self) -> MemberOutcome {
        let cluster = Cluster::bootstrap_until(self.setup.client.clone(), self.stop.clone());
        let cluster = match cluster {
            Ok(cluster) => cluster,
            Err(error) => {
                self.report(MemberEvent::Failed(format!("{error}; {}", error.fix())));
                return self.into_outcome();
            }
        };
        if let GroupProtocol::Consumer = self.setup.protocol {
            return self.run_consumer_protocol(cluster);
        }
        let mut member = GroupMember::new(cluster, self.setup.settings.clone());
        if let Err(error) = self.stay_in_group(&mut member)
            && !self.stop.is_raised()
        {
            self.report(MemberEvent::Failed(format!("{error}; {}", error.fix())));
        }
        self.end_pause();
        // From now on only the runner's deadline applies.
        member.set_interrupt(&self.give_up.clone());
        self.commit(&mut member);
        if let Err(error) = member.leave() {
            self.report(MemberEvent::Note(format!(
                "did not leave its group: {error}"
            )));
        }
        self.into_outcome()
    }

    fn into_outcome(self) -> MemberOutcome {
        MemberOutcome {
            group: self.outcome,
            member: GroupMemberRecord {
                rebalances: self.outcome.rebalances,
                ..self.member
            },
        }
    }

    /// The same with the new protocol.
    fn run_consumer_protocol(mut self, cluster: Cluster) -> MemberOutcome {
        let assignor = self.setup.remote_assignor.as_deref();
        let mut member = ConsumerMember::new(cluster, self.setup.settings.clone(), assignor);
        if let Err(error) = self.stay_in_consumer_group(&mut member)
            && !self.stop.is_raised()
        {
            self.report(MemberEvent::Failed(format!("{error}; {}", error.fix())));
        }
        self.end_pause();
        member.set_interrupt(&self.give_up.clone());
        self.commit(member.offsets());
        // Static members leave as well: the group ends with the run.
        if let Err(error) = member.leave(false) {
            self.report(MemberEvent::Note(format!(
                "did not leave its group: {error}"
            )));
        }
        self.into_outcome()
    }

    /// Joins, stays, and rejoins until the end.
    fn stay_in_group(&mut self, member: &mut GroupMember) -> Result<(), GroupError> {
        let mut began = Instant::now();
        let mut is_first = true;
        loop {
            self.join(member)?;
            self.note_joined(began, is_first);
            is_first = false;
            let parting = self.stay(member);
            began = Instant::now();
            match parting {
                RevocationCause::Stop => return Ok(()),
                RevocationCause::Failed(error) => return Err(error),
                // It continues to read, and commits so that others find the positions of the partitions that it gives
                // up.
                RevocationCause::Rebalance if member.is_cooperative() => self.commit(member),
                RevocationCause::Rebalance => {
                    self.revoke_all("the group rebalances");
                    self.commit(member);
                    self.held.clear();
                }
                RevocationCause::Lost(why) => {
                    self.revoke_all(&why);
                    self.held.clear();
                }
            }
        }
    }

    /// Counts the duration of a join or a rebalance.
    pub(super) fn note_joined(&mut self, began: Instant, is_first: bool) {
        let took_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if is_first || !self.presence.reads() {
            self.outcome.join_ns_max += took_ns;
        } else {
            self.outcome.rebalances += 1;
            self.outcome.rebalance_ns += took_ns;
        }
    }

    /// Joins until it has its complete assignment: a cooperative member that must give up partitions does so and
    /// rejoins, so that others get them.
    fn join(&mut self, member: &mut GroupMember) -> Result<(), GroupError> {
        loop {
            let assignment = member.join()?;
            if assignment.has_lost && !self.held.is_empty() {
                self.revoke_all("the group continued without it");
                self.held.clear();
            }
            let gone = self.give_back(&assignment.partitions);
            if gone {
                self.commit(member);
                self.keep(&assignment.partitions);
            }
            let positions = self.positions(member, &assignment.partitions)?;
            self.report_assigned(assignment.generation, positions, !gone);
            if !gone {
                return Ok(());
            }
        }
    }

    /// The places of an assignment, as far as they are known.
    fn places(&self, partitions: &Partitions) -> Vec<u32> {
        let (shared, topics) = (&self.setup.shared, &self.setup.topics);
        let all = partitions.iter().flat_map(|(topic, indices)| {
            indices
                .iter()
                .filter_map(move |&index| topics.place(topic, index))
        });
        all.filter(|&place| shared.at(place).is_some()).collect()
    }

    /// Revokes partitions that are no longer assigned; returns whether there were any. They are kept until they are
    /// committed.
    pub(super) fn give_back(&self, assigned: &Partitions) -> bool {
        let places = self.places(assigned);
        let held = self.held.iter().copied();
        let gone: Vec<u32> = held.filter(|place| !places.contains(place)).collect();
        if gone.is_empty() {
            return false;
        }
        self.revoke("others will read", Some(gone));
        true
    }

    /// Keeps only assigned partitions.
    pub(super) fn keep(&mut self, assigned: &Partitions) {
        let places = self.places(assigned);
        self.held.retain(|place| places.contains(place));
    }

    /// The start offset: the current position, the committed one, or the flow's start.
    pub(super) fn positions(
        &mut self,
        member: &mut GroupMember,
        assigned: &Partitions,
    ) -> Result<Vec<(u32, i64)>, GroupError> {
        let mut positions = Vec::new();
        for (topic, indices) in assigned {
            let mut new = Partitions::new();
            for place in self.places(&Partitions::from([(topic.clone(), indices.clone())])) {
                match self.setup.shared.at(place) {
                    Some(offset) if self.held.contains(&place) => positions.push((place, offset)),
                    _ => {
                        let partition = self.setup.topics.of(place).1;
                        new.entry(topic.clone()).or_default().push(partition);
                    }
                }
            }
            let partitions = new.remove(topic).unwrap_or_default();
            let committed = match self.setup.commit {
                Some(_) => self.committed(member, topic, &partitions)?,
                None => vec![None; partitions.len()],
            };
            for (partition, committed) in partitions.into_iter().zip(committed) {
                let Some(place) = self.setup.topics.place(topic, partition) else {
                    continue;
                };
                let shared = &self.setup.shared;
                let offset = committed.unwrap_or(shared.starts[place as usize]);
                shared.claim(place, self.setup.consumer, offset);
                positions.push((place, offset));
            }
        }
        self.held = positions.iter().map(|(place, _)| *place).collect();
        Ok(positions)
    }

    /// The committed offsets of partitions. They are compared with what the coordinator accepted before the question:
    /// others may commit while it answers.
    fn committed(
        &self,
        member: &mut GroupMember,
        topic: &str,
        partitions: &[i32],
    ) -> Result<Vec<Option<i64>>, GroupError> {
        let (shared, topics) = (&self.setup.shared, &self.setup.topics);
        let accepted = partitions.iter().map(|&partition| {
            let place = topics.place(topic, partition);
            place.map_or(-1, |place| shared.committed(place))
        });
        let accepted: Vec<i64> = accepted.collect();
        let committed = member.committed(topic, partitions)?;
        for (accepted, found) in accepted.into_iter().zip(&committed) {
            shared.check_committed(accepted, *found);
        }
        Ok(committed)
    }

    /// Sends heartbeats and commits until the group requires something else.
    fn stay(&mut self, member: &mut GroupMember) -> RevocationCause {
        let beat_interval = self.setup.settings.heartbeat_interval;
        let now = Instant::now();
        let mut next_beat = now + self.pause(beat_interval);
        let mut next_commit = self.setup.commit.map(|interval| now + interval);
        loop {
            let next = next_commit.map_or(next_beat, |commit| commit.min(next_beat));
            if !self.wait_until(next) {
                return RevocationCause::Stop;
            }
            let now = Instant::now();
            if now >= next_beat {
                let beat = member.heartbeat();
                if self.stop.is_raised() {
                    return RevocationCause::Stop;
                }
                next_beat = now + self.pause(beat_interval);
                match beat {
                    Ok(Beat::Stable) => {}
                    Ok(Beat::Unsure) => next_beat = next_beat.min(now + UNSURE_BEAT),
                    Ok(Beat::Rebalance) => return RevocationCause::Rebalance,
                    Ok(Beat::Lost(code)) => {
                        return RevocationCause::Lost(format!(
                            "the group continued without it ({code})"
                        ));
                    }
                    Err(error) => return RevocationCause::Failed(error),
                }
            }
            if let (Some(due), Some(interval)) = (next_commit, self.setup.commit)
                && now >= due
            {
                next_commit = Some(now + interval);
                self.commit(member);
            }
        }
    }

    /// `interval`, or less until the group has settled.
    pub(super) fn pause(&self, interval: Duration) -> Duration {
        if self.presence.reads() {
            interval
        } else {
            interval.min(SETTLING_BEAT)
        }
    }

    /// False if the member must leave.
    pub(super) fn wait_until(&self, at: Instant) -> bool {
        loop {
            if self.stop.is_raised() {
                return false;
            }
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            match self.released.recv_timeout(left.min(POLL)) {
                // A late confirmation.
                Ok(ReleaseAck) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// Revokes all partitions: the consumer pauses until it has others.
    pub(super) fn revoke_all(&mut self, why: &str) {
        if self.presence.reads() && !self.held.is_empty() {
            self.paused_from.get_or_insert_with(Instant::now);
        }
        self.revoke(why, None);
    }

    /// The consumer reads these partitions from now on.
    pub(super) fn report_assigned(
        &mut self,
        generation: i32,
        positions: Vec<(u32, i64)>,
        is_settled: bool,
    ) {
        self.end_pause();
        self.report(MemberEvent::Assigned {
            generation,
            positions,
            is_settled,
        });
    }

    fn end_pause(&mut self) {
        if let Some(from) = self.paused_from.take() {
            let pause_ns = u64::try_from(from.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.member.pause_ns = self.member.pause_ns.saturating_add(pause_ns);
            self.member.pause_ns_max = self.member.pause_ns_max.max(pause_ns);
        }
    }

    /// Revokes these partitions of the consumer, or all.
    fn revoke(&self, why: &str, partitions: Option<Vec<u32>>) {
        while self.released.try_recv().is_ok() {}
        let why = why.to_owned();
        self.report(MemberEvent::Revoked { why, partitions });
        let limit = Instant::now() + self.setup.settings.rebalance_timeout;
        // Before the run starts, and after it has ended, nothing is read.
        while self.presence.reads() && !self.stop.is_raised() {
            match self.released.recv_timeout(POLL) {
                Ok(ReleaseAck) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) if Instant::now() >= limit => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Commits the positions of all partitions, including unchanged ones, as Kafka's consumer does. Before the run
    /// starts there is nothing to commit.
    pub(super) fn commit(&mut self, member: &mut GroupMember) {
        if self.setup.commit.is_none() || self.held.is_empty() || !self.presence.has_begun() {
            return;
        }
        let mut by_topic: BTreeMap<&str, Vec<(i32, i64)>> = BTreeMap::new();
        for &place in &self.held {
            let (topic, partition) = self.setup.topics.of(place);
            if let Some(offset) = self.setup.shared.at(place) {
                by_topic.entry(topic).or_default().push((partition, offset));
            }
        }
        let done = by_topic
            .iter()
            .try_for_each(|(topic, offsets)| member.commit(topic, offsets));
        match done {
            Ok(()) => {
                self.outcome.commits += 1;
                self.note_commits(&by_topic);
            }
            // The flow has ended: the last commit, which follows, covers it.
            Err(error) if error.is_interruption() && !self.give_up.is_raised() => {}
            Err(error) => {
                self.outcome.commits_failed += 1;
                if !error.is_interruption() {
                    self.report(MemberEvent::Note(format!("a commit failed: {error}")));
                }
            }
        }
    }

    /// The coordinator has accepted these offsets.
    fn note_commits(&self, by_topic: &BTreeMap<&str, Vec<(i32, i64)>>) {
        for (topic, offsets) in by_topic {
            for &(partition, offset) in offsets {
                if let Some(place) = self.setup.topics.place(topic, partition) {
                    self.setup.shared.note_commit(place, offset);
                }
            }
        }
    }

    pub(super) fn report(&self, event: MemberEvent) {
        // An ended consumer reads nothing.
        let _ = self.event_sender.send(event);
    }
}
