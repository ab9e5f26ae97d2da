//! From one generation to the next: everybody joins again, one way to assign is chosen, the leader
//! assigns.

use std::collections::BTreeMap;

use kgauge_wire::error_code::ErrorCode;

use super::group::{
    ConsumerGroup, Effect, GroupState, InitialDelay, JoinAnswer, Rebalance, SyncAnswer,
};
use super::member::ConsumerGroupMember;
use crate::time::Now;

/// A client's request for its assignment.
#[derive(Debug, Clone)]
pub(crate) struct SyncCall<'a> {
    pub(crate) member_id: &'a str,
    pub(crate) instance_id: Option<&'a str>,
    pub(crate) generation: i32,
    /// From version 5 on.
    pub(crate) protocol_type: Option<&'a str>,
    /// From version 5 on.
    pub(crate) protocol: Option<&'a str>,
    /// The leader's assignments by member id.
    pub(crate) assignments: BTreeMap<&'a str, &'a [u8]>,
}

impl<W: Copy> ConsumerGroup<W> {
    /// Begins a rebalance: members that wait for the old generation's assignment get an error.
    pub(super) fn prepare(&mut self, now: Now, effects: &mut Vec<Effect<W>>) {
        if self.state == GroupState::Completing {
            for member in self.members.values_mut() {
                member.assignment.clear();
                if let Some(to) = member.sync.take() {
                    effects.push(Effect::Sync(to, Err(ErrorCode::RebalanceInProgress)));
                }
            }
            let ids: Vec<String> = self.members.keys().cloned().collect();
            ids.iter().for_each(|id| self.heard_of(now, id));
        }
        self.sync_ends_ns = None;
        let ends_ns = now.after_ms(self.rebalance_timeout_ms());
        self.rebalance = Some(Rebalance {
            ends_ns,
            initial: None,
        });
        self.enter(now, GroupState::Preparing);
        self.try_complete(now, effects);
    }

    /// The generation could not be written down. A coordinator that comes after this one would know
    /// nothing of it, and give its number to others: nobody may work in it, so there must be another.
    pub(super) fn not_stored(&mut self, now: Now, effects: &mut Vec<Effect<W>>) {
        if self.state != GroupState::Stable {
            return;
        }
        for member in self.members.values_mut() {
            member.assignment.clear();
        }
        self.prepare(now, effects);
    }

    /// Begins the first rebalance of an empty group, which waits `delay_ms` for more members.
    pub(super) fn prepare_first(&mut self, now: Now, delay_ms: i64, effects: &mut Vec<Effect<W>>) {
        let timeout_ms = self.rebalance_timeout_ms();
        let delay_ms = delay_ms.min(timeout_ms);
        if delay_ms <= 0 {
            return self.prepare(now, effects);
        }
        let remaining_ms = timeout_ms - delay_ms;
        let initial = InitialDelay {
            delay_ms,
            remaining_ms,
            somebody_came: false,
        };
        let ends_ns = now.after_ms(delay_ms);
        self.rebalance = Some(Rebalance {
            ends_ns,
            initial: Some(initial),
        });
        self.enter(now, GroupState::Preparing);
    }

    /// The longest time that a member wants for joining again.
    fn rebalance_timeout_ms(&self) -> i64 {
        let timeouts = self
            .members
            .values()
            .map(|member| member.rebalance_timeout_ms);
        i64::from(timeouts.max().unwrap_or(0))
    }

    /// Ends the joining when everybody is there.
    pub(super) fn try_complete(&mut self, now: Now, effects: &mut Vec<Effect<W>>) {
        let waits = self
            .rebalance
            .is_some_and(|rebalance| rebalance.initial.is_none());
        let all_joined = self.members.values().all(|member| member.join.is_some());
        if waits && all_joined && self.pending.is_empty() {
            self.complete(now, effects);
        }
    }

    /// The time for joining is over.
    pub(super) fn rebalance_over(
        &mut self,
        now: Now,
        rebalance: Rebalance,
        effects: &mut Vec<Effect<W>>,
    ) {
        if let Some(initial) = rebalance.initial
            && initial.somebody_came
            && initial.remaining_ms > 0
        {
            // Somebody came while we waited: there may be more (KIP-134).
            let delay_ms = initial.delay_ms.min(initial.remaining_ms);
            let remaining_ms = initial.remaining_ms - delay_ms;
            let initial = InitialDelay {
                remaining_ms,
                somebody_came: false,
                ..initial
            };
            let ends_ns = now.after_ms(delay_ms);
            self.rebalance = Some(Rebalance {
                ends_ns,
                initial: Some(initial),
            });
            return;
        }
        // Members with a lasting name may be away until their session ends.
        let gone: Vec<String> = self
            .members
            .values()
            .filter(|member| member.join.is_none() && member.instance_id.is_none())
            .map(|member| member.id.clone())
            .collect();
        for id in gone {
            self.take(&id);
        }
        self.complete(now, effects);
    }

    /// Begins the next generation with whoever is there.
    fn complete(&mut self, now: Now, effects: &mut Vec<Effect<W>>) {
        let leader = self.leader.as_ref().and_then(|id| self.members.get(id));
        if leader.is_none_or(|leader| leader.join.is_none()) {
            let joined = self.first_of(|member| member.join.is_some());
            if joined.is_none() && !self.members.is_empty() {
                // Only absent members with lasting names: wait for them again.
                let ends_ns = now.after_ms(self.rebalance_timeout_ms());
                self.rebalance = Some(Rebalance {
                    ends_ns,
                    initial: None,
                });
                return;
            }
            self.leader = joined;
        }
        self.rebalance = None;
        self.generation = self.generation.checked_add(1).unwrap_or(1);
        if self.members.is_empty() {
            self.protocol = None;
            self.leader = None;
            self.enter(now, GroupState::Empty);
            effects.push(Effect::Store);
            return;
        }
        self.protocol = self.choose_protocol();
        self.enter(now, GroupState::Completing);
        self.sync_ends_ns = Some(now.after_ms(self.rebalance_timeout_ms()));
        let ids: Vec<String> = self.members.keys().cloned().collect();
        for id in ids {
            self.heard_of(now, &id);
            let joined = self.joined(&id);
            let Some(member) = self.members.get_mut(&id) else {
                continue;
            };
            member.assignment.clear();
            if let Some(to) = member.join.take() {
                effects.push(Effect::Join(to, Ok(joined)));
            }
        }
    }

    /// The way to assign that all know and most prefer.
    pub(super) fn choose_protocol(&self) -> Option<String> {
        let mut votes: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
        for member in self.members.values() {
            let mut names = member.protocols.iter().map(|(name, _)| name.as_str());
            let all_know = |name: &&str| self.members.values().all(|other| other.knows(name));
            if let Some(name) = names.find(all_know) {
                // A tie goes to the choice of the member that joined first.
                let vote = votes.entry(name).or_default();
                vote.0 += 1;
                vote.1 = vote.1.max(u64::MAX - member.order);
            }
        }
        votes
            .into_iter()
            .max_by_key(|(_, vote)| *vote)
            .map(|(name, _)| name.to_owned())
    }

    /// A member's answer to its join; the leader's also lists the members.
    pub(super) fn joined(&self, id: &str) -> JoinAnswer {
        let protocol = self.protocol.clone().unwrap_or_default();
        let leads = self.leader.as_deref() == Some(id);
        let entry = |member: &ConsumerGroupMember<W>| {
            let metadata = member.metadata(&protocol).to_vec();
            (member.id.clone(), member.instance_id.clone(), metadata)
        };
        let mut members: Vec<&ConsumerGroupMember<W>> =
            self.members.values().filter(|_| leads).collect();
        members.sort_by_key(|member| member.order);
        JoinAnswer {
            generation: self.generation,
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            members: members.into_iter().map(entry).collect(),
            protocol,
            leader: self.leader.clone().unwrap_or_default(),
            skip_assignment: false,
            member_id: id.to_owned(),
        }
    }

    /// A member asks for its assignment; the leader brings those of all.
    pub(crate) fn sync(
        &mut self,
        now: Now,
        call: &SyncCall<'_>,
        to: W,
        effects: &mut Vec<Effect<W>>,
    ) {
        if let Err(code) = self.check_sync(call) {
            effects.push(Effect::Sync(to, Err(code)));
            return;
        }
        self.heard_of(now, call.member_id);
        let leads = self.leader.as_deref() == Some(call.member_id);
        let Some(member) = self.members.get_mut(call.member_id) else {
            return;
        };
        if self.state == GroupState::Stable {
            let assignment = member.assignment.clone();
            effects.push(Effect::Sync(to, Ok(self.synced(assignment))));
            return;
        }
        if let Some(earlier) = member.sync.replace(to) {
            effects.push(Effect::Sync(earlier, Err(ErrorCode::RebalanceInProgress)));
        }
        if leads {
            self.assign(now, &call.assignments, effects);
        }
    }

    fn check_sync(&self, call: &SyncCall<'_>) -> Result<(), ErrorCode> {
        self.check_generation(call.member_id, call.instance_id, call.generation)?;
        let differs = |requested: Option<&str>, known: &Option<String>| {
            requested.is_some() && known.is_some() && requested != known.as_deref()
        };
        if differs(call.protocol_type, &self.protocol_type)
            || differs(call.protocol, &self.protocol)
        {
            return Err(ErrorCode::InconsistentGroupProtocol);
        }
        match self.state {
            GroupState::Empty => Err(ErrorCode::UnknownMemberId),
            GroupState::Preparing => Err(ErrorCode::RebalanceInProgress),
            GroupState::Completing | GroupState::Stable => Ok(()),
        }
    }

    /// Takes over the leader's assignments and gives everybody who waits its own.
    fn assign(
        &mut self,
        now: Now,
        assignments: &BTreeMap<&str, &[u8]>,
        effects: &mut Vec<Effect<W>>,
    ) {
        for member in self.members.values_mut() {
            let given = assignments
                .get(member.id.as_str())
                .copied()
                .unwrap_or_default();
            member.assignment = given.to_vec();
        }
        self.sync_ends_ns = None;
        self.enter(now, GroupState::Stable);
        effects.push(Effect::Store);
        let ids: Vec<String> = self.members.keys().cloned().collect();
        for id in ids {
            self.heard_of(now, &id);
            let Some(member) = self.members.get_mut(&id) else {
                continue;
            };
            let (to, assignment) = (member.sync.take(), member.assignment.clone());
            if let Some(to) = to {
                effects.push(Effect::Sync(to, Ok(self.synced(assignment))));
            }
        }
    }

    fn synced(&self, assignment: Vec<u8>) -> SyncAnswer {
        SyncAnswer {
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            protocol: self.protocol.clone().unwrap_or_default(),
            assignment,
        }
    }

    /// Members that joined and then did not ask for their assignment in time are gone.
    pub(super) fn drop_those_without_sync(&mut self, now: Now, effects: &mut Vec<Effect<W>>) {
        if self.state != GroupState::Completing {
            return;
        }
        let gone: Vec<String> = self
            .members
            .values()
            .filter(|member| member.sync.is_none())
            .map(|member| member.id.clone())
            .collect();
        for id in &gone {
            self.take(id);
        }
        if !gone.is_empty() {
            self.prepare(now, effects);
        }
    }
}
