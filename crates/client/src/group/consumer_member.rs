//! A member of a group with Kafka's new protocol (`group.protocol=consumer`, KIP-848): brokers assign partitions, and
//! one request joins, sends heartbeats, acknowledges and leaves.
//!
//! A member reports its partitions to the coordinator; the response contains its target assignment. It gives up the
//! partitions that are not part of it, reports that, and takes the new ones. Other members continue meanwhile.

use std::collections::BTreeMap;
use std::time::Duration;

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::Uuid;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequestTopicPartitions as Owned,
    ConsumerGroupHeartbeatResponseTopicPartitions as AssignedTopic,
};
use kgauge_wire::messages::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, Message,
};
use ring::rand::{SecureRandom, SystemRandom};

use super::error::GroupError;
use super::member::{GroupMember, passes};
use super::settings::{GroupSettings, millis};
use super::subscriber::Partitions;
use crate::cluster::Cluster;
use crate::interrupt::Interrupt;
use crate::shown;

/// The first version in which members name themselves (KIP-1082).
const WITH_OWN_ID: i16 = 1;

/// The epochs of a member that joins, of one that leaves, and of a static one that may return.
const JOINS: i32 = 0;
const LEAVES: i32 = -1;
const LEAVES_FOR_A_WHILE: i32 = -2;

/// The heartbeat interval until the coordinator sets one: Kafka's default of
/// `group.consumer.heartbeat.interval.ms`.
const BEAT_DEFAULT: Duration = Duration::from_secs(5);

/// The response to a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeartbeatAnswer {
    /// Nothing has changed.
    Stable,
    /// The new assignment: give up all other partitions, [acknowledge](ConsumerMember::acknowledge), and read the rest.
    Assigned(Partitions),
    /// The group continued without this member: give up everything. The next heartbeat rejoins.
    Lost(ErrorCode),
    /// The coordinator is unavailable, moves, or does not know yet; try again soon.
    Unsure,
}

/// A member. All calls block; every wait ends soon after the interrupt of its [`Cluster`].
#[derive(Debug)]
pub struct ConsumerMember {
    /// Its offsets are committed like those of a classic member, with its epoch as the generation.
    inner: GroupMember,
    remote_assignor: Option<String>,
    interval: Duration,
    names: BTreeMap<Uuid, String>,
    /// Its current partitions.
    owned: Vec<Owned>,
    /// Whether a heartbeat has reported `owned` to the coordinator.
    is_reported: bool,
    /// Assigned partitions whose topic has no known name yet, so that they cannot be read.
    unnamed: Option<Vec<AssignedTopic>>,
    /// The next heartbeat contains everything: it is the first, or it is unknown whether the last one arrived.
    is_full: bool,
}

impl ConsumerMember {
    /// A member that has not joined yet; `remote_assignor` is `group.remote.assignor`.
    pub fn new(
        cluster: Cluster,
        settings: GroupSettings,
        remote_assignor: Option<&str>,
    ) -> ConsumerMember {
        let mut inner = GroupMember::new(cluster, settings);
        inner.generation = JOINS;
        ConsumerMember {
            inner,
            remote_assignor: remote_assignor.map(str::to_owned),
            interval: BEAT_DEFAULT,
            names: BTreeMap::new(),
            owned: Vec::new(),
            is_reported: true,
            unnamed: None,
            is_full: true,
        }
    }

    /// The member epoch; 0 before it has joined.
    pub fn epoch(&self) -> i32 {
        self.inner.generation.max(0)
    }

    /// Its id in the group.
    pub fn member_id(&self) -> &str {
        &self.inner.member_id
    }

    /// The heartbeat interval, as set by the broker.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Commits and fetches offsets in its name.
    pub fn offsets(&mut self) -> &mut GroupMember {
        &mut self.inner
    }

    /// Replaces the interrupt flag of later waits.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.inner.set_interrupt(interrupt);
    }

    /// The member now has exactly these partitions; the next heartbeat, which should follow at once, reports them.
    pub fn acknowledge(&mut self, partitions: &Partitions) {
        let id = |name: &String| self.names.iter().find(|(_, known)| *known == name);
        let owned = partitions.iter().filter(|(_, indices)| !indices.is_empty());
        let owned = owned.filter_map(|(name, indices)| {
            Some(Owned {
                topic_id: *id(name)?.0,
                partitions: indices.clone(),
            })
        });
        self.owned = owned.collect();
        self.is_reported = false;
    }

    /// Joins, or sends a heartbeat; returns the assignment if it changed.
    pub fn heartbeat(&mut self) -> Result<HeartbeatAnswer, GroupError> {
        if self.inner.generation < JOINS {
            // A commit has found out.
            self.give_up_all();
            return Ok(HeartbeatAnswer::Lost(ErrorCode::UnknownMemberId));
        }
        let epoch = self.inner.generation;
        let answer = self.beat(epoch);
        let coordinator = &mut self.inner.coordinator;
        let (code, why) = match &answer {
            Ok(answer) => (ErrorCode::from(answer.code), &answer.why),
            Err(error) if passes(error) => {
                self.is_full = true;
                return Ok(HeartbeatAnswer::Unsure);
            }
            Err(_) => return answer.map(|_| HeartbeatAnswer::Unsure),
        };
        match code {
            ErrorCode::None => {}
            ErrorCode::UnknownMemberId | ErrorCode::FencedMemberEpoch => {
                self.give_up_all();
                return Ok(HeartbeatAnswer::Lost(code));
            }
            code if code.refreshes_coordinator() => {
                coordinator.forget();
                self.is_full = true;
                return Ok(HeartbeatAnswer::Unsure);
            }
            code if code.is_retriable() => {
                self.is_full = true;
                return Ok(HeartbeatAnswer::Unsure);
            }
            ErrorCode::UnsupportedVersion => {
                return Err(GroupError::NoConsumerProtocol {
                    group: coordinator.group.clone(),
                });
            }
            code => {
                return Err(GroupError::RefusedMember {
                    group: coordinator.group.clone(),
                    code,
                    why: why.clone(),
                });
            }
        }
        let answer = answer?;
        if answer.epoch < 0 {
            return Err(coordinator.nonsense("a member without an epoch"));
        }
        self.inner.generation = answer.epoch;
        if let Some(id) = answer.member_id {
            self.inner.member_id = id;
        }
        if let Some(interval) = answer.interval {
            self.interval = interval;
        }
        self.is_full = false;
        if answer.given.is_some() {
            self.unnamed = answer.given;
        }
        self.named()
    }

    /// Leaves, so that the others need not wait for the end of the session. With `comes_back`, its partitions wait for
    /// it: Kafka's consumer leaves like this as a static member.
    pub fn leave(&mut self, comes_back: bool) -> Result<(), GroupError> {
        if self.inner.member_id.is_empty() || self.inner.generation <= JOINS {
            return Ok(());
        }
        let is_static = self.inner.settings.instance_id.is_some();
        let epoch = if comes_back && is_static {
            LEAVES_FOR_A_WHILE
        } else {
            LEAVES
        };
        let answer = self.beat(epoch)?;
        self.give_up_all();
        match ErrorCode::from(answer.code) {
            ErrorCode::None | ErrorCode::UnknownMemberId | ErrorCode::FencedMemberEpoch => Ok(()),
            code => Err(self
                .inner
                .coordinator
                .refused(ApiKey::ConsumerGroupHeartbeat, code)),
        }
    }

    /// It owns nothing any more; it rejoins with the same id.
    fn give_up_all(&mut self) {
        self.inner.generation = JOINS;
        self.owned.clear();
        self.is_reported = true;
        self.unnamed = None;
        self.is_full = true;
    }

    /// The assigned partitions, by topic name.
    fn named(&mut self) -> Result<HeartbeatAnswer, GroupError> {
        let Some(given) = &self.unnamed else {
            return Ok(HeartbeatAnswer::Stable);
        };
        if given
            .iter()
            .any(|topic| !self.names.contains_key(&topic.topic_id))
        {
            let inner = &mut self.inner;
            let topics: Vec<&str> = inner.settings.topics.iter().map(String::as_str).collect();
            let metadata = match inner.coordinator.cluster.refresh(&topics) {
                Ok(metadata) => metadata,
                Err(error) if error.may_pass() => return Ok(HeartbeatAnswer::Unsure),
                Err(error) => return Err(inner.coordinator.failed(error)),
            };
            let known = metadata.topics.iter();
            let known = known.filter_map(|topic| Some((topic.id?, topic.name.clone())));
            self.names.extend(known);
        }
        let mut partitions = Partitions::new();
        for topic in given {
            // The new id of a recreated topic is not known everywhere yet.
            let Some(name) = self.names.get(&topic.topic_id) else {
                return Ok(HeartbeatAnswer::Unsure);
            };
            let of_topic = partitions.entry(name.clone()).or_default();
            of_topic.extend(&topic.partitions);
            of_topic.sort_unstable();
            of_topic.dedup();
        }
        self.unnamed = None;
        Ok(HeartbeatAnswer::Assigned(partitions))
    }

    fn beat(&mut self, epoch: i32) -> Result<Answer, GroupError> {
        let api = ApiKey::ConsumerGroupHeartbeat;
        let versions = ConsumerGroupHeartbeatRequest::VERSIONS;
        let version = self.inner.coordinator.version(api, versions)?;
        let inner = &mut self.inner;
        if inner.member_id.is_empty() && version >= WITH_OWN_ID {
            let mut id = [0; 16];
            let filled = SystemRandom::new().fill(&mut id);
            filled.map_err(|_| {
                inner
                    .coordinator
                    .nonsense("the operating system provides no random numbers")
            })?;
            inner.member_id = Uuid(id).to_string();
        }
        let (settings, member_id) = (inner.settings.clone(), inner.member_id.clone());
        let (stays, joins) = (epoch >= JOINS, epoch == JOINS);
        let is_full = stays && (self.is_full || joins);
        let owned = if joins {
            Vec::new()
        } else {
            self.owned.clone()
        };
        let reports_owned = stays && (is_full || !self.is_reported);
        let topics = settings.topics.iter().map(|topic| topic.as_str().into());
        let request = ConsumerGroupHeartbeatRequest {
            group_id: settings.group.as_str().into(),
            member_id: member_id.as_str().into(),
            member_epoch: epoch,
            instance_id: settings.instance_id.as_deref().map(Into::into),
            rebalance_timeout_ms: if is_full {
                millis(settings.rebalance_timeout)
            } else {
                -1
            },
            subscribed_topic_names: is_full.then(|| topics.collect()),
            server_assignor: match &self.remote_assignor {
                Some(name) if is_full => Some(name.as_str().into()),
                _ => None,
            },
            topic_partitions: reports_owned.then_some(owned),
            ..ConsumerGroupHeartbeatRequest::default()
        };
        let config = inner.coordinator.cluster.config();
        let limit = config.request_timeout;
        let reply = inner.coordinator.call(&request, version, limit)?;
        let answer = reply
            .decode()
            .map_err(|e| inner.coordinator.failed(e.into()))?;
        if reports_owned && answer.error_code == 0 {
            self.is_reported = true;
        }
        Ok(Answer::of(answer))
    }
}

/// The relevant part of a response.
struct Answer {
    code: i16,
    why: String,
    member_id: Option<String>,
    epoch: i32,
    interval: Option<Duration>,
    given: Option<Vec<AssignedTopic>>,
}

impl Answer {
    fn of(answer: ConsumerGroupHeartbeatResponse<'_>) -> Answer {
        let interval = u64::try_from(answer.heartbeat_interval_ms).ok();
        Answer {
            code: answer.error_code,
            why: answer
                .error_message
                .map_or_else(String::new, |why| shown(&why)),
            member_id: answer
                .member_id
                .map(|id| id.to_string())
                .filter(|id| !id.is_empty()),
            epoch: answer.member_epoch,
            interval: interval.filter(|&ms| ms > 0).map(Duration::from_millis),
            given: answer
                .assignment
                .map(|assignment| assignment.topic_partitions),
        }
    }
}
