//! Joining a group: new members, known ones, and those with lasting names.

use kgauge_wire::error_code::ErrorCode;

use super::group::{ConsumerGroup, Effect, GroupState, JoinRefused};
use super::member::{ConsumerGroupMember, Introduction};
use crate::time::Now;

/// What decides how a join is taken besides the member itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JoinRules {
    /// A new member is first given an id and must come again with it (from version 4, KIP-394).
    pub(crate) id_first: bool,
    /// The answer can ask a returning leader to leave the assignment as it is (from version 9, KIP-814).
    pub(crate) can_skip_assignment: bool,
    /// `group.initial.rebalance.delay.ms`
    pub(crate) initial_delay_ms: i64,
    /// `group.max.size`
    pub(crate) members_max: usize,
}

impl<W: Copy> ConsumerGroup<W> {
    /// A client wants to join, or join again. `new_id` is for a member that has none.
    pub(crate) fn join(
        &mut self,
        now: Now,
        who: Introduction,
        rules: JoinRules,
        to: W,
        new_id: String,
        effects: &mut Vec<Effect<W>>,
    ) {
        let member_id = who.member_id.clone();
        let refused = |code| Effect::Join(to, Err(JoinRefused { code, member_id }));
        if let Err(code) = self.check_join(&who, rules) {
            effects.push(refused(code));
        } else if !who.member_id.is_empty() {
            if let Err(code) = self.join_again(now, who, rules, to, effects) {
                effects.push(refused(code));
            }
        } else if let Some(instance_id) = who.instance_id.clone() {
            let who = Introduction {
                member_id: new_id,
                ..who
            };
            match self.statics.get(&instance_id).cloned() {
                Some(old) => self.replace(now, &old, who, rules, to, effects),
                None => self.add(now, who, rules, to, effects),
            }
        } else if rules.id_first {
            let member_id = new_id;
            let ends_ns = now.after_ms(i64::from(who.session_timeout_ms));
            self.pending.insert(member_id.clone(), ends_ns);
            let code = ErrorCode::MemberIdRequired;
            effects.push(Effect::Join(to, Err(JoinRefused { code, member_id })));
        } else {
            let who = Introduction {
                member_id: new_id,
                ..who
            };
            self.add(now, who, rules, to, effects);
        }
    }

    fn check_join(&self, who: &Introduction, rules: JoinRules) -> Result<(), ErrorCode> {
        if who.protocol_type.is_empty() || who.protocols.is_empty() {
            return Err(ErrorCode::InconsistentGroupProtocol);
        }
        let others = || {
            self.members
                .values()
                .filter(|other| other.id != who.member_id)
        };
        if others().next().is_some() {
            let same_type = self.protocol_type.as_deref() == Some(&who.protocol_type);
            let mut names = who.protocols.iter().map(|(name, _)| name);
            if !same_type || !names.any(|name| others().all(|other| other.knows(name))) {
                return Err(ErrorCode::InconsistentGroupProtocol);
            }
        }
        let known = self.members.contains_key(&who.member_id)
            || who
                .instance_id
                .as_ref()
                .is_some_and(|id| self.statics.contains_key(id));
        if !known && self.members.len() >= rules.members_max {
            return Err(ErrorCode::GroupMaxSizeReached);
        }
        Ok(())
    }

    /// A member with an id: one that was given it and joins now, or one that joins again.
    fn join_again(
        &mut self,
        now: Now,
        who: Introduction,
        rules: JoinRules,
        to: W,
        effects: &mut Vec<Effect<W>>,
    ) -> Result<(), ErrorCode> {
        if who.instance_id.is_none() && self.pending.remove(&who.member_id).is_some() {
            self.add(now, who, rules, to, effects);
            return Ok(());
        }
        self.check_member(&who.member_id, who.instance_id.as_deref())?;
        let id = who.member_id.clone();
        let leads = self.leader.as_deref() == Some(&id);
        let Some(member) = self.members.get_mut(&id) else {
            return Err(ErrorCode::UnknownMemberId);
        };
        let same = member.protocols == who.protocols;
        match self.state {
            GroupState::Empty => return Err(ErrorCode::UnknownMemberId),
            // The answer got lost, or the client asks twice: the generation stays.
            GroupState::Completing if same => {
                self.heard_of(now, &id);
                effects.push(Effect::Join(to, Ok(self.joined(&id))));
            }
            GroupState::Stable if same && !leads => {
                self.heard_of(now, &id);
                effects.push(Effect::Join(to, Ok(self.joined(&id))));
            }
            GroupState::Preparing => {
                update(member, who, to, effects);
                self.try_complete(now, effects);
            }
            GroupState::Completing | GroupState::Stable => {
                update(member, who, to, effects);
                self.prepare(now, effects);
            }
        }
        Ok(())
    }

    /// A new member.
    fn add(
        &mut self,
        now: Now,
        who: Introduction,
        rules: JoinRules,
        to: W,
        effects: &mut Vec<Effect<W>>,
    ) {
        let first = self.members.is_empty();
        if first {
            self.protocol_type = Some(who.protocol_type.clone());
        }
        let id = self.insert(who, to);
        self.leader.get_or_insert(id);
        match (self.state, &mut self.rebalance) {
            (GroupState::Preparing, Some(rebalance)) => {
                if let Some(initial) = &mut rebalance.initial {
                    initial.somebody_came = true;
                }
                self.try_complete(now, effects);
            }
            (GroupState::Empty, _) => self.prepare_first(now, rules.initial_delay_ms, effects),
            _ => self.prepare(now, effects),
        }
    }

    /// Puts a member into the lists, waiting for the others.
    fn insert(&mut self, who: Introduction, to: W) -> String {
        let id = who.member_id;
        if let Some(instance_id) = &who.instance_id {
            self.statics.insert(instance_id.clone(), id.clone());
        }
        let member = ConsumerGroupMember {
            id: id.clone(),
            instance_id: who.instance_id,
            client_id: who.client_id,
            client_host: who.client_host,
            session_timeout_ms: who.session_timeout_ms,
            rebalance_timeout_ms: who.rebalance_timeout_ms,
            protocols: who.protocols,
            assignment: Vec::new(),
            session_ends_ns: u64::MAX,
            order: self.joins,
            join: Some(to),
            sync: None,
        };
        self.joins += 1;
        self.members.insert(id.clone(), member);
        id
    }

    /// A member with a lasting name came back under a new id: the old one is fenced.
    fn replace(
        &mut self,
        now: Now,
        old: &str,
        who: Introduction,
        rules: JoinRules,
        to: W,
        effects: &mut Vec<Effect<W>>,
    ) {
        let led = self.leader.as_deref() == Some(old);
        let Some(before) = self.members.remove(old) else {
            return self.add(now, who, rules, to, effects);
        };
        let code = ErrorCode::FencedInstanceId;
        if let Some(to) = before.join {
            let member_id = old.to_owned();
            effects.push(Effect::Join(to, Err(JoinRefused { code, member_id })));
        }
        if let Some(to) = before.sync {
            effects.push(Effect::Sync(to, Err(code)));
        }
        let same = before.protocols == who.protocols;
        let id = self.insert(who, to);
        if let Some(member) = self.members.get_mut(&id) {
            member.order = before.order;
            member.assignment = before.assignment;
        }
        if led {
            self.leader = Some(id.clone());
        }
        let stays =
            self.state == GroupState::Stable && (same || self.choose_protocol() == self.protocol);
        if stays {
            self.welcome_back(now, &id, rules, effects);
        } else if self.state == GroupState::Preparing {
            self.try_complete(now, effects);
        } else {
            self.prepare(now, effects);
        }
    }

    /// Answers a returning member without a rebalance: its assignment stays.
    fn welcome_back(&mut self, now: Now, id: &str, rules: JoinRules, effects: &mut Vec<Effect<W>>) {
        self.heard_of(now, id);
        let mut joined = self.joined(id);
        let leads = self.leader.as_deref() == Some(id);
        if rules.can_skip_assignment {
            joined.skip_assignment = leads;
        } else {
            // A client that does not know this flag must not take itself for the leader.
            joined.members.clear();
            if leads {
                joined.leader = String::new();
            }
        }
        effects.push(Effect::Store);
        let to = self
            .members
            .get_mut(id)
            .and_then(|member| member.join.take());
        effects.extend(to.map(|to| Effect::Join(to, Ok(joined))));
    }
}

/// Takes over the new data of a known member. An earlier question of it that still waits is answered:
/// the client has given it up, but its connection keeps the order of answers.
fn update<W>(
    member: &mut ConsumerGroupMember<W>,
    who: Introduction,
    to: W,
    effects: &mut Vec<Effect<W>>,
) {
    member.protocols = who.protocols;
    member.session_timeout_ms = who.session_timeout_ms;
    member.rebalance_timeout_ms = who.rebalance_timeout_ms;
    member.client_id = who.client_id;
    member.client_host = who.client_host;
    if let Some(earlier) = member.join.replace(to) {
        let (code, member_id) = (ErrorCode::RebalanceInProgress, member.id.clone());
        effects.push(Effect::Join(earlier, Err(JoinRefused { code, member_id })));
    }
}
