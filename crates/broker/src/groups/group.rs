//! One consumer group by the classic protocol: who is in it, which generation they are in, who
//! waits for what. A state machine without I/O.
//!
//! ```text
//!            join                 all have joined,           the leader's
//!            or the time is over  or the time is over        assignment
//!   Empty ----------> Preparing ----------------> Completing ----------> Stable
//!     ^                ^  |                           |                    |
//!     |  nobody is left|  |                           +--------------------+
//!     +----------------|--+                             join, leave, silence
//!                      +---------------------------------------+
//! ```
//!
//! Rules are those of Kafka's classic group coordinator: KIP-62 (two timeouts), KIP-134 (initial
//! delay), KIP-345 (static members), KIP-394 (the member id comes first).

use std::collections::BTreeMap;

use kgauge_wire::error_code::ErrorCode;

use super::member::ConsumerGroupMember;
use crate::time::{NS_PER_MS, Now};

/// Where a group is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupState {
    /// Nobody is in it.
    Empty,
    /// Members are to join again.
    Preparing,
    /// All have joined; the leader is to assign.
    Completing,
    /// Everybody has an assignment.
    Stable,
}

impl GroupState {
    /// Kafka's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Preparing => "PreparingRebalance",
            Self::Completing => "CompletingRebalance",
            Self::Stable => "Stable",
        }
    }
}

/// What a group wants done, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect<W> {
    /// Answer a join.
    Join(W, Result<JoinAnswer, JoinRefused>),
    /// Answer a sync.
    Sync(W, Result<SyncAnswer, ErrorCode>),
    /// Write the group down. What follows must wait until that is done.
    Store,
}

/// The answer to a member that has joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JoinAnswer {
    pub(crate) generation: i32,
    pub(crate) protocol_type: String,
    pub(crate) protocol: String,
    pub(crate) leader: String,
    pub(crate) skip_assignment: bool,
    pub(crate) member_id: String,
    /// For the leader: every member's id, instance id and metadata.
    pub(crate) members: Vec<(String, Option<String>, Vec<u8>)>,
}

/// Why a join was not taken, with the id to use the next time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JoinRefused {
    pub(crate) code: ErrorCode,
    pub(crate) member_id: String,
}

/// The answer to a sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyncAnswer {
    pub(crate) protocol_type: String,
    pub(crate) protocol: String,
    pub(crate) assignment: Vec<u8>,
}

/// The rebalance under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rebalance {
    pub(super) ends_ns: u64,
    /// The first rebalance of an empty group waits for more members (KIP-134).
    pub(super) initial: Option<InitialDelay>,
}

/// The wait before the first rebalance.
#[derive(Debug, Clone, Copy)]
pub(super) struct InitialDelay {
    pub(super) delay_ms: i64,
    pub(super) remaining_ms: i64,
    pub(super) somebody_came: bool,
}

/// One group.
#[derive(Debug, Clone)]
pub(crate) struct ConsumerGroup<W> {
    pub(crate) state: GroupState,
    pub(crate) generation: i32,
    pub(crate) protocol_type: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) leader: Option<String>,
    pub(crate) members: BTreeMap<String, ConsumerGroupMember<W>>,
    /// When the state was entered, ms since 1970: expiry of offsets counts from here.
    pub(crate) state_since_ms: i64,
    /// Ids that were given out and whose members have not joined yet, with the end of their time.
    pub(super) pending: BTreeMap<String, u64>,
    /// Member ids behind lasting names.
    pub(super) statics: BTreeMap<String, String>,
    pub(super) rebalance: Option<Rebalance>,
    /// When members that have not synced are taken for gone.
    pub(super) sync_ends_ns: Option<u64>,
    pub(super) joins: u64,
}

impl<W> Default for ConsumerGroup<W> {
    fn default() -> Self {
        Self {
            state: GroupState::Empty,
            generation: 0,
            protocol_type: None,
            protocol: None,
            leader: None,
            members: BTreeMap::new(),
            state_since_ms: -1,
            pending: BTreeMap::new(),
            statics: BTreeMap::new(),
            rebalance: None,
            sync_ends_ns: None,
            joins: 0,
        }
    }
}

impl<W: Copy> ConsumerGroup<W> {
    /// Whether nothing of it would be missed but committed offsets.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.pending.is_empty()
    }

    /// The next moment at which [`ConsumerGroup::tick`] has something to do.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        let sessions = self.members.values().filter(|member| !member.is_waiting());
        let rebalance = self.rebalance.map(|rebalance| rebalance.ends_ns);
        sessions
            .map(|member| member.session_ends_ns)
            .chain(self.pending.values().copied())
            .chain(rebalance)
            .chain(self.sync_ends_ns)
            .min()
    }

    /// Time has passed: members that were silent too long go, waits end.
    pub(crate) fn tick(&mut self, now: Now, effects: &mut Vec<Effect<W>>) {
        let ended = now.mono_ns;
        self.pending.retain(|_, ends_ns| *ends_ns > ended);
        let silent: Vec<String> = self
            .members
            .values()
            .filter(|member| !member.is_waiting() && member.session_ends_ns <= ended)
            .map(|member| member.id.clone())
            .collect();
        for id in silent {
            self.remove(now, &id, ErrorCode::UnknownMemberId, effects);
        }
        if self.sync_ends_ns.is_some_and(|ends_ns| ends_ns <= ended) {
            self.sync_ends_ns = None;
            self.drop_those_without_sync(now, effects);
        }
        self.try_complete(now, effects);
        if let Some(rebalance) = self
            .rebalance
            .filter(|rebalance| rebalance.ends_ns <= ended)
        {
            self.rebalance_over(now, rebalance, effects);
        }
    }

    /// Checks a member's claim to be in the current generation.
    pub(crate) fn check_member(
        &self,
        member_id: &str,
        instance_id: Option<&str>,
    ) -> Result<(), ErrorCode> {
        if let Some(instance_id) = instance_id {
            return match self.statics.get(instance_id) {
                None => Err(ErrorCode::UnknownMemberId),
                Some(known) if known != member_id => Err(ErrorCode::FencedInstanceId),
                Some(_) => Ok(()),
            };
        }
        if self.members.contains_key(member_id) {
            Ok(())
        } else {
            Err(ErrorCode::UnknownMemberId)
        }
    }

    /// Checks member and generation.
    pub(crate) fn check_generation(
        &self,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
    ) -> Result<(), ErrorCode> {
        self.check_member(member_id, instance_id)?;
        if generation == self.generation {
            Ok(())
        } else {
            Err(ErrorCode::IllegalGeneration)
        }
    }

    /// Restarts a member's session.
    pub(crate) fn heard_of(&mut self, now: Now, member_id: &str) {
        if let Some(member) = self.members.get_mut(member_id) {
            let timeout_ms = u64::try_from(member.session_timeout_ms).unwrap_or(0);
            member.session_ends_ns = now.mono_ns + timeout_ms * NS_PER_MS;
        }
    }

    /// Takes the heartbeat of a member.
    pub(crate) fn heartbeat(
        &mut self,
        now: Now,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
    ) -> Result<(), ErrorCode> {
        self.check_generation(member_id, instance_id, generation)?;
        self.heard_of(now, member_id);
        match self.state {
            GroupState::Preparing => Err(ErrorCode::RebalanceInProgress),
            GroupState::Empty => Err(ErrorCode::UnknownMemberId),
            GroupState::Completing | GroupState::Stable => Ok(()),
        }
    }

    /// A member leaves. Gives an error for one that is not there.
    pub(crate) fn leave(
        &mut self,
        now: Now,
        member_id: &str,
        instance_id: Option<&str>,
        effects: &mut Vec<Effect<W>>,
    ) -> Result<(), ErrorCode> {
        let known = match instance_id {
            // An admin may name the lasting name alone.
            Some(instance_id) if member_id.is_empty() => self.statics.get(instance_id).cloned(),
            _ => None,
        };
        let id = known.as_deref().unwrap_or(member_id).to_owned();
        if instance_id.is_none() && self.pending.remove(&id).is_some() {
            self.try_complete(now, effects);
            return Ok(());
        }
        self.check_member(&id, instance_id)?;
        self.remove(now, &id, ErrorCode::UnknownMemberId, effects);
        Ok(())
    }

    /// Takes a member out, answers what it waits for with `code`, and rebalances.
    pub(super) fn remove(
        &mut self,
        now: Now,
        id: &str,
        code: ErrorCode,
        effects: &mut Vec<Effect<W>>,
    ) {
        let Some(member) = self.take(id) else { return };
        if let Some(to) = member.join {
            let refused = JoinRefused {
                code,
                member_id: member.id,
            };
            effects.push(Effect::Join(to, Err(refused)));
        }
        if let Some(to) = member.sync {
            effects.push(Effect::Sync(to, Err(code)));
        }
        match self.state {
            GroupState::Empty => {}
            GroupState::Preparing => self.try_complete(now, effects),
            GroupState::Completing | GroupState::Stable => self.prepare(now, effects),
        }
    }

    /// Takes a member out of the lists, and makes another one leader if need be.
    pub(super) fn take(&mut self, id: &str) -> Option<ConsumerGroupMember<W>> {
        let member = self.members.remove(id)?;
        if let Some(instance_id) = &member.instance_id
            && self
                .statics
                .get(instance_id)
                .is_some_and(|known| known == id)
        {
            self.statics.remove(instance_id);
        }
        if self.leader.as_deref() == Some(id) {
            self.leader = self.first_of(|_| true);
        }
        Some(member)
    }

    /// The id of the candidate that joined first.
    pub(super) fn first_of(
        &self,
        is_candidate: impl Fn(&ConsumerGroupMember<W>) -> bool,
    ) -> Option<String> {
        let candidates = self.members.values().filter(|member| is_candidate(member));
        candidates
            .min_by_key(|member| member.order)
            .map(|member| member.id.clone())
    }

    /// Puts a member in place that was written down.
    pub(super) fn restore(&mut self, mut member: ConsumerGroupMember<W>) {
        member.order = self.joins;
        self.joins += 1;
        if let Some(instance_id) = &member.instance_id {
            self.statics.insert(instance_id.clone(), member.id.clone());
        }
        self.members.insert(member.id.clone(), member);
    }

    pub(super) fn enter(&mut self, now: Now, state: GroupState) {
        self.state = state;
        self.state_since_ms = now.wall_ms;
    }
}
