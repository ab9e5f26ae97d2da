//! A group's offsets: committing and fetching.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::offset_commit::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use kgauge_wire::messages::offset_fetch::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use kgauge_wire::messages::{OffsetCommitRequest, OffsetFetchRequest, OffsetFetchResponse};

use super::error::GroupError;
use super::member::{GroupMember, instance_id, passes};
use crate::backoff::Backoff;

/// Version 2 is the first for group members; 10 identifies topics by id.
const COMMIT_VERSIONS: RangeInclusive<i16> = 2..=9;
/// Version 0 reads from ZooKeeper; 10 identifies topics by id.
pub(crate) const FETCH_VERSIONS: RangeInclusive<i16> = 1..=9;
/// The first version with several groups.
const FETCH_WITH_GROUPS: i16 = 8;
/// The first version of OffsetCommit with static members.
const COMMIT_WITH_INSTANCE: i16 = 7;

/// The result of an answered attempt.
enum Outcome<T> {
    Done(T),
    Again(GroupError),
}

impl GroupMember {
    /// Commits the next offset to read of each of these partitions.
    ///
    /// [`GroupError::Outdated`] means that the group has moved on: nothing was committed, and the member must rejoin.
    pub fn commit(&mut self, topic: &str, offsets: &[(i32, i64)]) -> Result<(), GroupError> {
        if offsets.is_empty() {
            return Ok(());
        }
        if self.generation < 0 {
            // The coordinator of an empty group would accept it, as from a client without a group.
            return Err(self.coordinator.outdated(ErrorCode::UnknownMemberId));
        }
        // Heartbeats wait meanwhile.
        let limit = self.settings.session_timeout;
        self.retrying(limit, |member| member.commit_once(topic, offsets))
    }

    /// The committed offset of each of these partitions, in their order; `None` where there is none.
    pub fn committed(
        &mut self,
        topic: &str,
        partitions: &[i32],
    ) -> Result<Vec<Option<i64>>, GroupError> {
        if partitions.is_empty() {
            return Ok(Vec::new());
        }
        let limit = self.coordinator.cluster.config().api_timeout;
        self.retrying(limit, |member| member.committed_once(topic, partitions))
    }

    /// Retries temporary errors within `limit` and `default.api.timeout.ms`.
    fn retrying<T>(
        &mut self,
        limit: Duration,
        mut attempt: impl FnMut(&mut GroupMember) -> Result<Outcome<T>, GroupError>,
    ) -> Result<T, GroupError> {
        let config = self.coordinator.cluster.config();
        let deadline = Instant::now() + config.api_timeout.min(limit);
        let mut backoff = Backoff::new(config.retry_backoff, config.retry_backoff_max);
        loop {
            let error = match attempt(self) {
                Ok(Outcome::Done(done)) => return Ok(done),
                Ok(Outcome::Again(error)) => error,
                Err(error) if passes(&error) => error,
                Err(error) => return Err(error),
            };
            let cluster = &self.coordinator.cluster;
            if Instant::now() >= deadline || cluster.is_interrupted() {
                return Err(error);
            }
            cluster.sleep(backoff.pause(), deadline);
        }
    }

    fn commit_once(
        &mut self,
        topic: &str,
        offsets: &[(i32, i64)],
    ) -> Result<Outcome<()>, GroupError> {
        let version = self
            .coordinator
            .version(ApiKey::OffsetCommit, COMMIT_VERSIONS)?;
        let limit = self.coordinator.cluster.config().request_timeout;
        let (settings, member_id) = (Arc::clone(&self.settings), self.member_id.clone());
        let partition = |&(index, offset): &(i32, i64)| OffsetCommitRequestPartition {
            partition_index: index,
            committed_offset: offset,
            committed_metadata: Some("".into()),
            ..OffsetCommitRequestPartition::default()
        };
        let request = OffsetCommitRequest {
            group_id: settings.group.as_str().into(),
            generation_id_or_member_epoch: self.generation,
            member_id: member_id.as_str().into(),
            group_instance_id: instance_id(&settings, version >= COMMIT_WITH_INSTANCE),
            topics: vec![OffsetCommitRequestTopic {
                name: topic.into(),
                partitions: offsets.iter().map(partition).collect(),
                ..OffsetCommitRequestTopic::default()
            }],
            ..OffsetCommitRequest::default()
        };
        let reply = self.coordinator.call(&request, version, limit)?;
        let answer = reply
            .decode()
            .map_err(|e| self.coordinator.failed(e.into()))?;
        let topics = answer.topics.iter().filter(|one| one.name == topic);
        let responses = topics.flat_map(|one| &one.partitions);
        for &(index, _) in offsets {
            let response = responses.clone().find(|one| one.partition_index == index);
            let Some(response) = response else {
                let what = format!("it does not mention the commit of {topic}-{index}");
                return Err(self.coordinator.nonsense(what));
            };
            let code = ErrorCode::from(response.error_code);
            if !code.is_none() {
                return self.commit_refused(topic, index, code);
            }
        }
        Ok(Outcome::Done(()))
    }

    fn commit_refused(
        &mut self,
        topic: &str,
        partition: i32,
        code: ErrorCode,
    ) -> Result<Outcome<()>, GroupError> {
        let api = ApiKey::OffsetCommit;
        let outdated = [
            ErrorCode::RebalanceInProgress,
            ErrorCode::IllegalGeneration,
            ErrorCode::UnknownMemberId,
            ErrorCode::FencedMemberEpoch,
            ErrorCode::StaleMemberEpoch,
        ];
        if outdated.contains(&code) {
            let is_lost = [ErrorCode::IllegalGeneration, ErrorCode::UnknownMemberId];
            if is_lost.contains(&code) {
                self.reset(code);
            }
            return Err(self.coordinator.outdated(code));
        }
        let error = GroupError::Partition {
            group: self.settings.group.clone(),
            topic: topic.to_owned(),
            partition,
            api,
            code,
        };
        self.maybe_again(code, error)
    }

    fn committed_once(
        &mut self,
        topic: &str,
        partitions: &[i32],
    ) -> Result<Outcome<Vec<Option<i64>>>, GroupError> {
        let version = self
            .coordinator
            .version(ApiKey::OffsetFetch, FETCH_VERSIONS)?;
        let limit = self.coordinator.cluster.config().request_timeout;
        let settings = Arc::clone(&self.settings);
        let request = fetch_request(version, &settings.group, topic, partitions);
        let reply = self.coordinator.call(&request, version, limit)?;
        let answer = reply
            .decode()
            .map_err(|e| self.coordinator.failed(e.into()))?;
        let (code, offsets) = read_offsets(&answer, topic);
        if !code.is_none() {
            let error = self.coordinator.refused(ApiKey::OffsetFetch, code);
            return self.maybe_again(code, error);
        }
        let mut committed = Vec::new();
        for &partition in partitions {
            let entry = offsets.iter().find(|entry| entry.0 == partition);
            let Some(&(_, offset, code)) = entry else {
                let what = format!("it does not mention the offset of {topic}-{partition}");
                return Err(self.coordinator.nonsense(what));
            };
            match ErrorCode::from(code) {
                ErrorCode::None => committed.push(Some(offset).filter(|&offset| offset >= 0)),
                // Kafka 0.8.2 and 0.9 return these for a partition without an offset.
                ErrorCode::UnknownTopicOrPartition => committed.push(None),
                code => {
                    let error = GroupError::Partition {
                        group: self.settings.group.clone(),
                        topic: topic.to_owned(),
                        partition,
                        api: ApiKey::OffsetFetch,
                        code,
                    };
                    return self.maybe_again(code, error);
                }
            }
        }
        Ok(Outcome::Done(committed))
    }

    fn maybe_again<T>(
        &mut self,
        code: ErrorCode,
        error: GroupError,
    ) -> Result<Outcome<T>, GroupError> {
        if code.refreshes_coordinator() || code == ErrorCode::RequestTimedOut {
            self.coordinator.forget();
        }
        if code.is_retriable() || code.refreshes_coordinator() {
            Ok(Outcome::Again(error))
        } else {
            Err(error)
        }
    }
}

/// The request for a group's offsets, in the form of its version.
pub(crate) fn fetch_request<'a>(
    version: i16,
    group: &'a str,
    topic: &'a str,
    partitions: &[i32],
) -> OffsetFetchRequest<'a> {
    let mut request = OffsetFetchRequest::default();
    if version >= FETCH_WITH_GROUPS {
        request.groups = vec![OffsetFetchRequestGroup {
            group_id: group.into(),
            topics: Some(vec![OffsetFetchRequestTopics {
                name: topic.into(),
                partition_indexes: partitions.to_vec(),
                ..OffsetFetchRequestTopics::default()
            }]),
            ..OffsetFetchRequestGroup::default()
        }];
    } else {
        request.group_id = group.into();
        request.topics = Some(vec![OffsetFetchRequestTopic {
            name: topic.into(),
            partition_indexes: partitions.to_vec(),
        }]);
    }
    request
}

/// The group's code, and (partition, offset, code) of a topic, in the form of the version.
pub(crate) fn read_offsets(
    answer: &OffsetFetchResponse<'_>,
    topic: &str,
) -> (ErrorCode, Vec<(i32, i64, i16)>) {
    if let Some(group) = answer.groups.first() {
        let topics = group.topics.iter().filter(|one| one.name == topic);
        let partitions = topics.flat_map(|one| &one.partitions);
        let offsets =
            partitions.map(|one| (one.partition_index, one.committed_offset, one.error_code));
        return (ErrorCode::from(group.error_code), offsets.collect());
    }
    let topics = answer.topics.iter().filter(|one| one.name == topic);
    let partitions = topics.flat_map(|one| &one.partitions);
    let offsets = partitions.map(|one| (one.partition_index, one.committed_offset, one.error_code));
    (ErrorCode::from(answer.error_code), offsets.collect())
}
