//! A member of a group: joining, heartbeats, leaving.
//!
//! The meaning of each error code for a member is defined by Kafka's protocol guide and the handlers of
//! `AbstractCoordinator` (kafka-clients 4.3.1).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::join_group::JoinGroupRequestProtocol;
use kgauge_wire::messages::leave_group::MemberIdentity;
use kgauge_wire::messages::sync_group::SyncGroupRequestAssignment;
use kgauge_wire::messages::{
    HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, Message,
    SyncGroupRequest,
};

use super::assignor::Assignor;
use super::coordinator::Coordinator;
use super::error::GroupError;
use super::protocol::{self, PROTOCOL_TYPE, Subscription};
use super::settings::{GroupSettings, millis};
use super::subscriber::{Partitions, Subscriber};
use crate::backoff::Backoff;
use crate::cluster::Cluster;
use crate::interrupt::Interrupt;

/// JoinGroup is answered when the rebalance is over. The response may be this much later (`JOIN_GROUP_TIMEOUT_LAPSE` of
/// Kafka's client).
const JOIN_MARGIN: Duration = Duration::from_secs(5);

/// Kafka's default of `session.timeout.ms` since 3.0, and the default of consumers of Kafka 0.9 and 0.10.0, whose
/// brokers refuse longer ones (`group.max.session.timeout.ms`).
const SESSION_DEFAULT: Duration = Duration::from_secs(45);
const SESSION_DEFAULT_OLD: Duration = Duration::from_secs(30);

/// The first versions of JoinGroup with a rebalance timeout, and with static members.
const JOIN_WITH_REBALANCE_TIMEOUT: i16 = 1;
const JOIN_WITH_INSTANCE: i16 = 5;
/// The first versions of the other requests with static members.
const SYNC_WITH_INSTANCE: i16 = 3;
const HEARTBEAT_WITH_INSTANCE: i16 = 3;
const LEAVE_WITH_LIST: i16 = 3;
/// The first version of SyncGroup that names the protocol.
const SYNC_WITH_PROTOCOL: i16 = 5;

/// What a member reads until its group rebalances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The coordinator counts rebalances with it.
    pub generation: i32,
    /// May be empty if there are more members than partitions.
    pub partitions: Partitions,
    /// The assignor that the members agreed on.
    pub assignor: Assignor,
    /// Whether this member computed the assignment.
    pub is_leader: bool,
    /// The number of members, if this one computed the assignment.
    pub members: Option<usize>,
    /// The group continued without this member after its last assignment: it must not continue to read those
    /// partitions, even if they are assigned to it again.
    pub has_lost: bool,
}

/// The response to a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// Nothing has changed.
    Stable,
    /// The group rebalances: give up the assignment, commit, and rejoin.
    Rebalance,
    /// The group continued without this member: other members may read again what it has read since its last commit.
    /// Rejoin without a commit.
    Lost(ErrorCode),
    /// The coordinator is unavailable or moves; the next heartbeat looks it up.
    Unsure,
}

/// A member. All calls block; every wait ends soon after the interrupt of its [`Cluster`].
#[derive(Debug)]
pub struct GroupMember {
    pub(super) coordinator: Coordinator,
    pub(super) settings: Arc<GroupSettings>,
    pub(super) member_id: String,
    pub(super) generation: i32,
    /// Its last assignment, and the generation. An eager member gives it up when it rejoins, but the sticky assignors
    /// need it.
    owned: Partitions,
    owned_since: i32,
    /// The group has continued without it since then.
    has_lost: bool,
}

/// Why joining must be tried again.
struct Again {
    why: String,
    at_once: bool,
}

enum Attempt {
    Settled(Assignment),
    Again(Again),
}

impl GroupMember {
    /// A member that has not joined yet, with its own client of the cluster.
    pub fn new(cluster: Cluster, settings: GroupSettings) -> GroupMember {
        GroupMember {
            coordinator: Coordinator::new(cluster, &settings.group),
            settings: Arc::new(settings),
            member_id: String::new(),
            generation: -1,
            owned: Partitions::new(),
            owned_since: -1,
            has_lost: false,
        }
    }

    /// The settings.
    pub fn settings(&self) -> &GroupSettings {
        &self.settings
    }

    /// The id from the coordinator; empty before the first join.
    pub fn member_id(&self) -> &str {
        &self.member_id
    }

    /// Whether it keeps its partitions during a rebalance.
    pub fn is_cooperative(&self) -> bool {
        Assignor::are_cooperative(&self.settings.assignors)
    }

    /// Replaces the interrupt flag of later waits, for example to leave after an interrupt.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.coordinator.set_interrupt(interrupt);
    }

    /// Joins, and waits until all members have joined and the leader has assigned the partitions.
    ///
    /// The previous assignment ends. A cooperative member ([`GroupMember::is_cooperative`]) continues to read
    /// meanwhile. Afterwards it keeps the partitions that are in both assignments and gives up the others; if there are
    /// any, it commits them and rejoins. Moving coordinators and changing members are handled within the rebalance
    /// timeout plus `default.api.timeout.ms`.
    pub fn join(&mut self) -> Result<Assignment, GroupError> {
        let config = self.coordinator.cluster.config();
        let limit = self.settings.rebalance_timeout + config.api_timeout;
        let mut backoff = Backoff::new(config.retry_backoff, config.retry_backoff_max);
        let start = Instant::now();
        loop {
            let again = match self.attempt() {
                Ok(Attempt::Settled(assignment)) => return Ok(assignment),
                Ok(Attempt::Again(again)) => again,
                Err(error) if passes(&error) => Again {
                    why: error.to_string(),
                    at_once: false,
                },
                Err(error) => return Err(error),
            };
            if start.elapsed() >= limit {
                return Err(GroupError::NotSettled {
                    group: self.settings.group.clone(),
                    waited: start.elapsed(),
                    last: again.why,
                });
            }
            if !again.at_once {
                let cluster = &self.coordinator.cluster;
                cluster.sleep(backoff.pause(), start + limit);
            }
        }
    }

    /// Sends a heartbeat; to be called every `heartbeat.interval.ms`.
    pub fn heartbeat(&mut self) -> Result<Beat, GroupError> {
        let beat = self.beat();
        match beat {
            Ok(ErrorCode::None) => Ok(Beat::Stable),
            Ok(ErrorCode::RebalanceInProgress) => Ok(Beat::Rebalance),
            Ok(code) if code.refreshes_coordinator() => {
                self.coordinator.forget();
                Ok(Beat::Unsure)
            }
            Ok(code @ (ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration)) => {
                self.reset(code);
                Ok(Beat::Lost(code))
            }
            Ok(code) if code.is_retriable() => Ok(Beat::Unsure),
            Ok(code) => Err(self.coordinator.refused(ApiKey::Heartbeat, code)),
            Err(error) if passes(&error) => Ok(Beat::Unsure),
            Err(error) => Err(error),
        }
    }

    /// Leaves, so that the others need not wait for the end of the session. Static members leave as well: their group
    /// ends with the run. A member that never joined, or that the group has removed, has nothing to do.
    pub fn leave(&mut self) -> Result<(), GroupError> {
        if self.member_id.is_empty() {
            return Ok(());
        }
        let versions = LeaveGroupRequest::VERSIONS;
        let version = self.coordinator.version(ApiKey::LeaveGroup, versions)?;
        let limit = self.coordinator.cluster.config().request_timeout;
        let mut request = LeaveGroupRequest {
            group_id: self.settings.group.as_str().into(),
            ..LeaveGroupRequest::default()
        };
        if version >= LEAVE_WITH_LIST {
            request.members = vec![MemberIdentity {
                member_id: self.member_id.as_str().into(),
                group_instance_id: self.settings.instance_id.as_deref().map(Into::into),
                reason: None,
            }];
        } else {
            request.member_id = self.member_id.as_str().into();
        }
        let reply = self.coordinator.call(&request, version, limit)?;
        let answer = reply
            .decode()
            .map_err(|e| self.coordinator.failed(e.into()))?;
        let of_member = answer.members.first().map(|member| member.error_code);
        let code = match ErrorCode::from(answer.error_code) {
            ErrorCode::None => ErrorCode::from(of_member.unwrap_or(0)),
            code => code,
        };
        match code {
            ErrorCode::None | ErrorCode::UnknownMemberId | ErrorCode::FencedInstanceId => {
                self.reset(ErrorCode::UnknownMemberId);
                Ok(())
            }
            code => Err(self.coordinator.refused(ApiKey::LeaveGroup, code)),
        }
    }

    fn beat(&mut self) -> Result<ErrorCode, GroupError> {
        let versions = HeartbeatRequest::VERSIONS;
        let version = self.coordinator.version(ApiKey::Heartbeat, versions)?;
        let config = self.coordinator.cluster.config();
        let limit = config.request_timeout.min(self.settings.session_timeout);
        let request = HeartbeatRequest {
            group_id: self.settings.group.as_str().into(),
            generation_id: self.generation,
            member_id: self.member_id.as_str().into(),
            group_instance_id: instance_id(&self.settings, version >= HEARTBEAT_WITH_INSTANCE),
        };
        let reply = self.coordinator.call(&request, version, limit)?;
        let answer = reply
            .decode()
            .map_err(|e| self.coordinator.failed(e.into()))?;
        Ok(ErrorCode::from(answer.error_code))
    }

    /// One attempt of JoinGroup and SyncGroup.
    fn attempt(&mut self) -> Result<Attempt, GroupError> {
        let versions = JoinGroupRequest::VERSIONS;
        let version = self.coordinator.version(ApiKey::JoinGroup, versions)?;
        if self.settings.instance_id.is_some() && version < JOIN_WITH_INSTANCE {
            let group = self.settings.group.clone();
            return Err(GroupError::NoStaticMembers { group });
        }
        let (settings, member_id) = (Arc::clone(&self.settings), self.member_id.clone());
        let is_old = version < JOIN_WITH_REBALANCE_TIMEOUT;
        let session_timeout = if is_old && settings.session_timeout == SESSION_DEFAULT {
            SESSION_DEFAULT_OLD
        } else {
            settings.session_timeout
        };
        let subscription = Subscription {
            topics: settings.topics.clone(),
            owned: self.owned.clone(),
            generation: self.owned_since,
        };
        let encoded = |assignor: &Assignor| protocol::subscription(&subscription, *assignor);
        let subscriptions: Vec<Vec<u8>> = settings.assignors.iter().map(encoded).collect();
        let protocols = settings.assignors.iter().zip(&subscriptions);
        let request = JoinGroupRequest {
            group_id: settings.group.as_str().into(),
            session_timeout_ms: millis(session_timeout),
            rebalance_timeout_ms: if is_old {
                JoinGroupRequest::default().rebalance_timeout_ms
            } else {
                millis(self.settings.rebalance_timeout)
            },
            member_id: member_id.as_str().into(),
            group_instance_id: instance_id(&settings, true),
            protocol_type: PROTOCOL_TYPE.into(),
            protocols: protocols
                .map(|(assignor, subscription)| JoinGroupRequestProtocol {
                    name: assignor.name().into(),
                    metadata: subscription.as_slice().into(),
                })
                .collect(),
            reason: None,
        };
        let patience = if is_old {
            session_timeout
        } else {
            self.settings.rebalance_timeout
        };
        let config = self.coordinator.cluster.config();
        let limit = config.request_timeout.max(patience + JOIN_MARGIN);
        let reply = self.coordinator.call(&request, version, limit)?;
        let answer = reply
            .decode()
            .map_err(|e| self.coordinator.failed(e.into()))?;
        match ErrorCode::from(answer.error_code) {
            ErrorCode::None => self.sync(&answer),
            ErrorCode::MemberIdRequired => {
                if answer.member_id.is_empty() || *answer.member_id == *self.member_id {
                    return Err(self
                        .coordinator
                        .nonsense("it requires a member id but gives none"));
                }
                self.member_id = answer.member_id.to_string();
                Ok(Attempt::Again(Again {
                    why: ErrorCode::MemberIdRequired.to_string(),
                    at_once: true,
                }))
            }
            code => self.again(ApiKey::JoinGroup, code),
        }
    }

    /// SyncGroup: the leader sends the assignments, and every member receives its own.
    fn sync(&mut self, joined: &JoinGroupResponse<'_>) -> Result<Attempt, GroupError> {
        if joined.member_id.is_empty() || joined.generation_id < 0 {
            return Err(self
                .coordinator
                .nonsense("a member without id or generation"));
        }
        let name = joined.protocol_name.as_deref().unwrap_or_default();
        let known = Assignor::named(name).filter(|known| self.settings.assignors.contains(known));
        let Some(assignor) = known else {
            let what = "it chose an assignor that this member did not offer";
            return Err(self.coordinator.nonsense(what));
        };
        self.member_id = joined.member_id.to_string();
        self.generation = joined.generation_id;
        let is_leader = joined.leader == joined.member_id;
        let assignments = if is_leader && !joined.skip_assignment {
            self.compute_assignments(joined, assignor)?
        } else {
            BTreeMap::new()
        };
        let versions = SyncGroupRequest::VERSIONS;
        let version = self.coordinator.version(ApiKey::SyncGroup, versions)?;
        let names_protocol = version >= SYNC_WITH_PROTOCOL;
        let request = SyncGroupRequest {
            group_id: self.settings.group.as_str().into(),
            generation_id: self.generation,
            member_id: self.member_id.as_str().into(),
            group_instance_id: instance_id(&self.settings, version >= SYNC_WITH_INSTANCE),
            protocol_type: names_protocol.then(|| PROTOCOL_TYPE.into()),
            protocol_name: names_protocol.then(|| assignor.name().into()),
            assignments: assignments
                .iter()
                .map(|(member_id, partitions)| SyncGroupRequestAssignment {
                    member_id: member_id.as_str().into(),
                    assignment: protocol::assignment(partitions).into(),
                })
                .collect(),
        };
        let config = self.coordinator.cluster.config();
        let limit = config.request_timeout.max(self.settings.rebalance_timeout);
        let reply = self.coordinator.call(&request, version, limit)?;
        let answer = reply
            .decode()
            .map_err(|e| self.coordinator.failed(e.into()))?;
        match ErrorCode::from(answer.error_code) {
            ErrorCode::None => {}
            code => return self.again(ApiKey::SyncGroup, code),
        }
        let partitions = protocol::assigned(&answer.assignment)
            .map_err(|error| self.coordinator.nonsense(error.to_string()))?;
        if let Some(topic) = partitions
            .keys()
            .find(|topic| !self.settings.topics.contains(topic))
        {
            let what =
                format!("topic {topic} was assigned, but this member is not subscribed to it");
            return Err(self.coordinator.nonsense(what));
        }
        self.owned.clone_from(&partitions);
        self.owned_since = self.generation;
        Ok(Attempt::Settled(Assignment {
            has_lost: std::mem::take(&mut self.has_lost),
            generation: self.generation,
            partitions,
            assignor,
            is_leader,
            members: is_leader.then_some(joined.members.len()),
        }))
    }

    /// Computes the assignments, as the leader.
    fn compute_assignments(
        &mut self,
        joined: &JoinGroupResponse<'_>,
        assignor: Assignor,
    ) -> Result<BTreeMap<String, Partitions>, GroupError> {
        let mut subscribers = Vec::new();
        for member in &joined.members {
            let subscription =
                protocol::subscribed(&member.metadata, assignor).map_err(|error| {
                    let what = format!("the subscription of member {}: {error}", member.member_id);
                    self.coordinator.nonsense(what)
                })?;
            subscribers.push(Subscriber {
                member_id: member.member_id.to_string(),
                instance_id: member.group_instance_id.as_ref().map(ToString::to_string),
                topics: subscription.topics,
                owned: subscription.owned,
                generation: subscription.generation,
            });
        }
        let mut topics: Vec<&str> = subscribers
            .iter()
            .flat_map(|member| member.topics.iter().map(String::as_str))
            .collect();
        topics.sort_unstable();
        topics.dedup();
        let metadata = match self.coordinator.cluster.refresh(&topics) {
            Ok(metadata) => metadata,
            Err(error) => return Err(self.coordinator.failed(error)),
        };
        let known = metadata.topics.iter().filter(|topic| topic.error.is_none());
        let counts = known.map(|topic| (topic.name.clone(), topic.partitions.len() as i32));
        let counts: BTreeMap<String, i32> = counts.collect();
        Ok(assignor.assign(&subscribers, &counts))
    }

    /// The meaning of a code for an attempt to join.
    fn again(&mut self, api: ApiKey, code: ErrorCode) -> Result<Attempt, GroupError> {
        match code {
            code if code.refreshes_coordinator() => self.coordinator.forget(),
            ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration => self.reset(code),
            ErrorCode::RebalanceInProgress => {}
            code if code.is_retriable() => {}
            code => return Err(self.coordinator.refused(api, code)),
        }
        Ok(Attempt::Again(Again {
            why: format!("{api} was rejected with {code}"),
            at_once: false,
        }))
    }

    /// The group does not know this member, or is in another generation.
    pub(super) fn reset(&mut self, code: ErrorCode) {
        self.generation = -1;
        self.has_lost = true;
        if self.is_cooperative() {
            // Other members may have them now.
            self.owned.clear();
        }
        if code == ErrorCode::UnknownMemberId {
            self.member_id.clear();
        }
    }
}

/// `group.instance.id`, if the version has it.
pub(super) fn instance_id(settings: &GroupSettings, is_known: bool) -> Option<Str<'_>> {
    let instance_id = settings.instance_id.as_deref();
    instance_id.filter(|_| is_known).map(Into::into)
}

/// Whether a retry may succeed.
pub(super) fn passes(error: &GroupError) -> bool {
    match error {
        GroupError::Cluster { error, .. } => error.may_pass(),
        _ => false,
    }
}
