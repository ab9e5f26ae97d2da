//! Members of a consumer group in the simulation: they join, own partitions, commit, leave, and die
//! without a word. What must hold is in [`GroupChecks`].
//!
//! A member whose connection breaks, or that waits too long, dies and comes back as another: its
//! commit in flight must not arrive after a later one of the same member.

use std::collections::{BTreeMap, BTreeSet};

use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::{
    FindCoordinatorRequest, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse,
    LeaveGroupRequest, OffsetCommitRequest, OffsetFetchRequest, Request, SyncGroupRequest,
    join_group, leave_group, offset_commit, offset_fetch, sync_group,
};

use super::clients::ClientAction;
use super::group_checks::GroupChecks;
use super::{TOPIC, requests};
use crate::{SeedPlan, Violation};
use kgauge_broker::ids::{ConnectionId, NodeId};
use kgauge_broker::random::SmallRandom;
use kgauge_broker::time::NS_PER_MS;

const GROUP: &str = "g";
const SESSION_MS: i32 = 900;
const REBALANCE_MS: i32 = 600;
/// How long a member waits for an answer; joining waits for the others.
const PATIENCE_NS: u64 = 1_500 * NS_PER_MS;
const REST_NS: u64 = 30 * NS_PER_MS;

/// The request that a member waits for.
#[derive(Debug)]
enum MemberRequest {
    Coordinator,
    Join,
    /// With the newest generation that was complete when it asked.
    Sync(i32),
    /// With what was committed when it asked.
    Offsets(BTreeMap<i32, i64>),
    Heartbeat,
    /// With the newest generation that was complete when it asked, and what it commits.
    Commit(i32, BTreeMap<i32, i64>),
    Leave,
}

/// The state of a member.
#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Outside,
    /// With its part of the assignment if it leads: members and their partitions.
    Joined(Vec<(String, Vec<i32>)>),
    Assigned,
    /// It has the committed offsets of its partitions, and reads.
    Working,
}

#[derive(Debug)]
struct Member {
    stage: Stage,
    coordinator: Option<NodeId>,
    connection: Option<(ConnectionId, NodeId)>,
    correlation: i32,
    asked: Option<MemberRequest>,
    patience_ns: u64,
    rest_until_ns: u64,
    /// The id that the coordinator gave; empty before it did.
    id: String,
    generation: i32,
    positions: BTreeMap<i32, i64>,
    ready: Vec<Vec<u8>>,
}

/// All members.
#[derive(Debug)]
pub(super) struct Members {
    members: Vec<Member>,
    by_connection: BTreeMap<ConnectionId, usize>,
    partitions: i32,
    finishing: bool,
    pub(super) checks: GroupChecks,
}

impl Members {
    pub(super) fn new(plan: &SeedPlan) -> Self {
        let member = |_| Member {
            stage: Stage::Outside,
            coordinator: None,
            connection: None,
            correlation: 0,
            asked: None,
            patience_ns: 0,
            rest_until_ns: 0,
            id: String::new(),
            generation: -1,
            positions: BTreeMap::new(),
            ready: Vec::new(),
        };
        Self {
            members: (0..plan.members).map(member).collect(),
            by_connection: BTreeMap::new(),
            partitions: plan.partitions,
            finishing: false,
            checks: GroupChecks::default(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.members.len()
    }

    pub(super) fn has(&self, connection: ConnectionId) -> bool {
        self.by_connection.contains_key(&connection)
    }

    /// No member leaves or dies from now on.
    pub(super) fn finish(&mut self) {
        self.finishing = true;
    }

    /// Why the group is not idle: all work in one generation and own everything.
    pub(super) fn unrest(&self) -> Option<String> {
        let newest = self.checks.newest();
        let stray = self
            .members
            .iter()
            .find(|member| member.stage != Stage::Working || member.generation != newest);
        if let Some(stray) = stray {
            return Some(format!("generation is {newest}, and a member is {stray:?}"));
        }
        let owned = self
            .members
            .iter()
            .flat_map(|member| member.positions.keys());
        let owned: BTreeSet<i32> = owned.copied().collect();
        let all = self.members.is_empty() || owned.len() == self.partitions as usize;
        (!all).then(|| format!("of the partitions only {owned:?} are owned"))
    }

    pub(super) fn connection(&self, index: usize) -> Option<(ConnectionId, NodeId)> {
        self.members[index].connection
    }

    pub(super) fn connected(&mut self, index: usize, id: ConnectionId, node: NodeId) {
        self.members[index].connection = Some((id, node));
        self.by_connection.insert(id, index);
    }

    /// The node is down: the member looks for another coordinator.
    pub(super) fn refused(&mut self, now_ns: u64, index: usize) {
        let member = &mut self.members[index];
        member.coordinator = None;
        member.rest_until_ns = now_ns + REST_NS;
    }

    pub(super) fn disconnected(&mut self, now_ns: u64, id: ConnectionId) {
        if let Some(index) = self.by_connection.get(&id).copied() {
            self.die(now_ns, index);
        }
    }

    pub(super) fn frames(&mut self, index: usize) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.members[index].ready)
    }

    /// The connection is lost, and the member with it.
    fn die(&mut self, now_ns: u64, index: usize) {
        self.hang_up(index);
        let member = &mut self.members[index];
        member.id.clear();
        member.stage = Stage::Outside;
        member.generation = -1;
        member.coordinator = None;
        member.rest_until_ns = now_ns + REST_NS;
    }

    fn hang_up(&mut self, index: usize) {
        let member = &mut self.members[index];
        if let Some((id, _)) = member.connection.take() {
            self.by_connection.remove(&id);
        }
        member.asked = None;
        member.ready.clear();
    }

    /// A member's turn.
    pub(super) fn turn(
        &mut self,
        now_ns: u64,
        index: usize,
        nodes: &[NodeId],
        random: &mut SmallRandom,
    ) -> ClientAction {
        let next_ns = now_ns + 3 * NS_PER_MS + random.below(25 * NS_PER_MS);
        let member = &mut self.members[index];
        let mut connect = None;
        if member.asked.is_some() {
            if member.patience_ns <= now_ns {
                self.die(now_ns, index);
            }
        } else if member.rest_until_ns <= now_ns {
            if member.connection.is_some() {
                self.send(now_ns, index, random);
            } else {
                connect = member.coordinator.or_else(|| {
                    let any = random.below(nodes.len() as u64) as usize;
                    nodes.get(any).copied()
                });
            }
        }
        ClientAction { connect, next_ns }
    }

    /// Sends the next request of a connected member, or lets it die.
    fn send(&mut self, now_ns: u64, index: usize, random: &mut SmallRandom) {
        let (newest, floors) = (self.checks.newest(), self.checks.floors());
        let member = &mut self.members[index];
        member.patience_ns = now_ns + PATIENCE_NS;
        if member.coordinator.is_none() {
            let request = FindCoordinatorRequest {
                coordinator_keys: vec![Str::Borrowed(GROUP)],
                ..FindCoordinatorRequest::default()
            };
            member.ask(4, &request, MemberRequest::Coordinator);
            return;
        }
        match &member.stage {
            Stage::Outside => member.join(),
            Stage::Joined(_) => member.sync(newest),
            Stage::Assigned => member.fetch(floors),
            Stage::Working => match random.below(100) {
                0 if !self.finishing => self.die(now_ns, index),
                1 if !self.finishing => member.leave(),
                2..40 if !self.finishing && !member.positions.is_empty() => {
                    member.commit(newest, random);
                }
                _ => member.heartbeat(),
            },
        }
    }

    /// An answer has arrived.
    pub(super) fn answered(
        &mut self,
        now_ns: u64,
        connection: ConnectionId,
        bytes: &[u8],
    ) -> Result<(), Violation> {
        let Some(index) = self.by_connection.get(&connection).copied() else {
            return Ok(());
        };
        let Some(asked) = self.members[index].asked.take() else {
            return Ok(());
        };
        let code = self.take(index, asked, bytes)?;
        let member = &mut self.members[index];
        match code {
            ErrorCode::None | ErrorCode::MemberIdRequired => {}
            ErrorCode::RebalanceInProgress => member.stage = Stage::Outside,
            // The same member looks for another coordinator.
            ErrorCode::NotCoordinator
            | ErrorCode::CoordinatorNotAvailable
            | ErrorCode::CoordinatorLoadInProgress => {
                member.coordinator = None;
                member.rest_until_ns = now_ns + REST_NS;
                self.hang_up(index);
            }
            _ => self.die(now_ns, index),
        }
        Ok(())
    }

    /// Processes an answer.
    fn take(
        &mut self,
        index: usize,
        asked: MemberRequest,
        bytes: &[u8],
    ) -> Result<ErrorCode, Violation> {
        let member = &mut self.members[index];
        let code = match asked {
            MemberRequest::Coordinator => {
                let answer = read::<FindCoordinatorRequest<'_>>(bytes, 4)?;
                let found = &answer.coordinators[0];
                if found.error_code == 0 {
                    member.coordinator = Some(NodeId(found.node_id));
                    self.hang_up(index);
                }
                found.error_code
            }
            MemberRequest::Join => {
                let answer = read::<JoinGroupRequest<'_>>(bytes, 5)?;
                if answer.error_code == 0 {
                    member.joined(&answer, self.partitions);
                } else if ErrorCode::from_i16(answer.error_code) == ErrorCode::MemberIdRequired {
                    member.id = answer.member_id.to_string();
                }
                answer.error_code
            }
            MemberRequest::Sync(newest) => {
                let answer = read::<SyncGroupRequest<'_>>(bytes, 3)?;
                if answer.error_code == 0 {
                    let owned = partitions_of(&answer.assignment);
                    member.positions = owned.iter().map(|owned| (*owned, -1)).collect();
                    member.stage = Stage::Assigned;
                    self.checks
                        .synced(member.generation, newest, &member.id, &owned)?;
                }
                answer.error_code
            }
            MemberRequest::Offsets(floors) => {
                let answer = read::<OffsetFetchRequest<'_>>(bytes, 5)?;
                if answer.error_code == 0 {
                    // Whatever the answer is, the member goes on with it.
                    let mut checked = Ok(());
                    for partition in answer.topics.iter().flat_map(|topic| &topic.partitions) {
                        let (index, offset) =
                            (partition.partition_index, partition.committed_offset);
                        checked = checked.and(self.checks.fetched(index, offset, &floors));
                        member.positions.insert(index, offset.max(0));
                    }
                    member.stage = Stage::Working;
                    checked?;
                }
                answer.error_code
            }
            MemberRequest::Heartbeat => read::<HeartbeatRequest<'_>>(bytes, 3)?.error_code,
            MemberRequest::Commit(newest, offsets) => {
                let answer = read::<OffsetCommitRequest<'_>>(bytes, 7)?;
                let codes = answer.topics.iter().flat_map(|topic| &topic.partitions);
                let failed = codes
                    .map(|partition| partition.error_code)
                    .find(|code| *code != 0);
                if failed.is_none() {
                    self.checks.committed(member.generation, newest, &offsets)?;
                }
                failed.unwrap_or(0)
            }
            MemberRequest::Leave => {
                read::<LeaveGroupRequest<'_>>(bytes, 3)?;
                // This member is gone, whatever the answer.
                ErrorCode::UnknownMemberId.as_i16()
            }
        };
        Ok(ErrorCode::from_i16(code))
    }
}

impl Member {
    fn ask<'a, R: Request<'a>>(&mut self, version: i16, request: &R, asked: MemberRequest) {
        self.correlation += 1;
        self.ready
            .push(requests::frame(version, self.correlation, request));
        self.asked = Some(asked);
    }

    fn join(&mut self) {
        let request = JoinGroupRequest {
            group_id: Str::Borrowed(GROUP),
            session_timeout_ms: SESSION_MS,
            rebalance_timeout_ms: REBALANCE_MS,
            member_id: Str::Owned(self.id.clone()),
            protocol_type: Str::Borrowed("consumer"),
            protocols: vec![join_group::JoinGroupRequestProtocol {
                name: Str::Borrowed("round"),
                metadata: Bytes::Borrowed(&[]),
            }],
            ..JoinGroupRequest::default()
        };
        self.ask(5, &request, MemberRequest::Join);
    }

    /// Notes the new generation; a leader shares the partitions out.
    fn joined(&mut self, answer: &JoinGroupResponse<'_>, partitions: i32) {
        self.id = answer.member_id.to_string();
        self.generation = answer.generation_id;
        self.positions.clear();
        let names = answer
            .members
            .iter()
            .map(|member| member.member_id.to_string());
        let mut shares: Vec<(String, Vec<i32>)> = names.map(|name| (name, Vec::new())).collect();
        for partition in 0..partitions {
            // Another first member in each generation.
            let turn = (partition + self.generation).checked_rem_euclid(shares.len() as i32);
            if let Some(turn) = turn {
                shares[turn as usize].1.push(partition);
            }
        }
        self.stage = Stage::Joined(shares);
    }

    fn sync(&mut self, newest: i32) {
        let Stage::Joined(shares) = &self.stage else {
            return;
        };
        let bytes = |share: &Vec<i32>| share.iter().flat_map(|index| index.to_be_bytes()).collect();
        let assignment =
            |(name, share): &(String, Vec<i32>)| sync_group::SyncGroupRequestAssignment {
                member_id: Str::Owned(name.clone()),
                assignment: Bytes::Owned(bytes(share)),
            };
        let request = SyncGroupRequest {
            group_id: Str::Borrowed(GROUP),
            generation_id: self.generation,
            member_id: Str::Owned(self.id.clone()),
            assignments: shares.iter().map(assignment).collect(),
            ..SyncGroupRequest::default()
        };
        self.ask(3, &request, MemberRequest::Sync(newest));
    }

    fn fetch(&mut self, floors: BTreeMap<i32, i64>) {
        let topic = offset_fetch::OffsetFetchRequestTopic {
            name: Str::Borrowed(TOPIC),
            partition_indexes: self.positions.keys().copied().collect(),
        };
        let request = OffsetFetchRequest {
            group_id: Str::Borrowed(GROUP),
            topics: Some(vec![topic]),
            ..OffsetFetchRequest::default()
        };
        self.ask(5, &request, MemberRequest::Offsets(floors));
    }

    fn heartbeat(&mut self) {
        let request = HeartbeatRequest {
            group_id: Str::Borrowed(GROUP),
            generation_id: self.generation,
            member_id: Str::Owned(self.id.clone()),
            ..HeartbeatRequest::default()
        };
        self.ask(3, &request, MemberRequest::Heartbeat);
    }

    fn commit(&mut self, newest: i32, random: &mut SmallRandom) {
        for position in self.positions.values_mut() {
            *position += 1 + i64::try_from(random.below(5)).unwrap_or(0);
        }
        let offsets = self.positions.clone();
        let partition =
            |(index, offset): (&i32, &i64)| offset_commit::OffsetCommitRequestPartition {
                partition_index: *index,
                committed_offset: *offset,
                ..offset_commit::OffsetCommitRequestPartition::default()
            };
        let request = OffsetCommitRequest {
            group_id: Str::Borrowed(GROUP),
            generation_id_or_member_epoch: self.generation,
            member_id: Str::Owned(self.id.clone()),
            topics: vec![offset_commit::OffsetCommitRequestTopic {
                name: Str::Borrowed(TOPIC),
                partitions: offsets.iter().map(partition).collect(),
                ..offset_commit::OffsetCommitRequestTopic::default()
            }],
            ..OffsetCommitRequest::default()
        };
        self.ask(7, &request, MemberRequest::Commit(newest, offsets.clone()));
    }

    fn leave(&mut self) {
        let request = LeaveGroupRequest {
            group_id: Str::Borrowed(GROUP),
            members: vec![leave_group::MemberIdentity {
                member_id: Str::Owned(self.id.clone()),
                ..leave_group::MemberIdentity::default()
            }],
            ..LeaveGroupRequest::default()
        };
        self.ask(3, &request, MemberRequest::Leave);
    }
}

/// An assignment: the numbers of partitions, one after the other.
fn partitions_of(assignment: &[u8]) -> Vec<i32> {
    let (numbers, _) = assignment.as_chunks::<4>();
    numbers
        .iter()
        .map(|bytes| i32::from_be_bytes(*bytes))
        .collect()
}

fn read<'a, R: Request<'a>>(bytes: &'a [u8], version: i16) -> Result<R::Response<'a>, Violation> {
    let unreadable = || Violation::Group {
        words: format!("an answer to {} cannot be read", R::NAME),
    };
    let (_, response) = requests::read::<R>(bytes, version).ok_or_else(unreadable)?;
    Ok(response)
}
