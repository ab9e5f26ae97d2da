//! The APIs that a node serves, one file each: versions, behaviour, version notes, what is not
//! done.

pub(crate) mod alter_client_quotas;
pub(crate) mod alter_configs;
pub(crate) mod alter_partition_reassignments;
pub(crate) mod alter_user_scram_credentials;
mod api_versions;
mod authorized;
mod body;
mod consumer_group_heartbeat;
mod controller_decisions;
mod create_acls;
pub(crate) mod create_partitions;
pub(crate) mod create_topics;
mod delete_acls;
mod delete_groups;
pub(crate) mod delete_records;
pub(crate) mod delete_topics;
mod describe_acls;
mod describe_client_quotas;
mod describe_cluster;
mod describe_configs;
mod describe_groups;
mod describe_log_dirs;
mod describe_producers;
mod describe_topic_partitions;
mod describe_user_scram_credentials;
pub(crate) mod elect_leaders;
pub(crate) mod fetch;
mod fetch_response;
pub(crate) mod find_coordinator;
mod heartbeat;
mod incremental_alter_configs;
pub(crate) mod init_producer_id;
pub(crate) mod join_group;
mod leave_group;
mod list_groups;
mod list_offsets;
mod list_partition_reassignments;
mod lookup;
pub(crate) mod metadata;
mod offset_commit;
mod offset_delete;
mod offset_fetch;
mod offset_for_leader_epoch;
pub(crate) mod produce;
mod sasl_authenticate;
mod sasl_handshake;
pub(crate) mod sync_group;

use std::ops::RangeInclusive;

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::Reader;
use kgauge_wire::header::RequestHeader;

pub(crate) use body::RequestBody;

use crate::fault::amount_in_frame;
use crate::ids::ConnectionId;
use crate::node::{BrokerNode, CloseReason, ConnectionStage, DueFault, PendingRequest, Reply};
use crate::time::Now;

/// Makes the list that `ApiVersions` answers and the dispatch out of one table.
macro_rules! serve {
    ($($api:ident $versions:expr => $handler:ident;)*) => {
        /// The APIs that are served, with their versions.
        pub const SERVED: &[(ApiKey, RangeInclusive<i16>)] = &[$((ApiKey::$api, $versions)),*];

        fn dispatch(node: &mut BrokerNode, call: PendingRequest, body: RequestBody<'_>) -> Result<(), CloseReason> {
            match call.reply.api {
                $(ApiKey::$api => $handler::handle(node, call, body),)*
                other => Err(CloseReason::UnknownApi { key: other.as_i16() }),
            }
        }
    };
}

serve! {
    Produce 3..=13 => produce;
    Fetch 4..=18 => fetch;
    ListOffsets 1..=11 => list_offsets;
    Metadata 0..=13 => metadata;
    OffsetCommit 2..=10 => offset_commit;
    OffsetFetch 1..=10 => offset_fetch;
    FindCoordinator 0..=6 => find_coordinator;
    JoinGroup 0..=9 => join_group;
    Heartbeat 0..=4 => heartbeat;
    LeaveGroup 0..=5 => leave_group;
    SyncGroup 0..=5 => sync_group;
    DescribeGroups 0..=6 => describe_groups;
    ListGroups 0..=5 => list_groups;
    SaslHandshake 0..=1 => sasl_handshake;
    ApiVersions 0..=4 => api_versions;
    CreateTopics 2..=7 => create_topics;
    DeleteTopics 1..=6 => delete_topics;
    DeleteRecords 0..=2 => delete_records;
    InitProducerId 0..=6 => init_producer_id;
    OffsetForLeaderEpoch 2..=4 => offset_for_leader_epoch;
    SaslAuthenticate 0..=2 => sasl_authenticate;
    DescribeAcls 1..=3 => describe_acls;
    CreateAcls 1..=3 => create_acls;
    DeleteAcls 1..=3 => delete_acls;
    DescribeConfigs 1..=4 => describe_configs;
    AlterConfigs 0..=2 => alter_configs;
    DescribeLogDirs 1..=5 => describe_log_dirs;
    CreatePartitions 0..=3 => create_partitions;
    DeleteGroups 0..=2 => delete_groups;
    ElectLeaders 0..=2 => elect_leaders;
    AlterPartitionReassignments 0..=1 => alter_partition_reassignments;
    ListPartitionReassignments 0..=0 => list_partition_reassignments;
    IncrementalAlterConfigs 0..=1 => incremental_alter_configs;
    OffsetDelete 0..=0 => offset_delete;
    DescribeClientQuotas 0..=1 => describe_client_quotas;
    AlterClientQuotas 0..=1 => alter_client_quotas;
    DescribeUserScramCredentials 0..=0 => describe_user_scram_credentials;
    AlterUserScramCredentials 0..=0 => alter_user_scram_credentials;
    DescribeCluster 0..=2 => describe_cluster;
    DescribeProducers 0..=0 => describe_producers;
    ConsumerGroupHeartbeat 0..=1 => consumer_group_heartbeat;
    DescribeTopicPartitions 0..=0 => describe_topic_partitions;
}

/// The versions in which an API is served; `None` when it is not.
#[must_use]
pub fn served_versions(api: ApiKey) -> Option<RangeInclusive<i16>> {
    SERVED
        .iter()
        .find(|(served, _)| *served == api)
        .map(|(_, versions)| versions.clone())
}

/// Serves one request. An error closes its connection, as Kafka does with what it cannot read.
pub(crate) fn serve(
    node: &mut BrokerNode,
    now: Now,
    connection: ConnectionId,
    frame: &mut [u8],
) -> Result<(), CloseReason> {
    let Some(stage) = node.connections.get(connection).map(|known| known.stage) else {
        return Ok(());
    };
    if stage == ConnectionStage::ProvingBare {
        return sasl_authenticate::bare(node, connection, frame);
    }
    let malformed = |error| CloseReason::Malformed(format!("{error}"));
    let mut reader = Reader::new(frame);
    let header = RequestHeader::decode_implied(&mut reader).map_err(malformed)?;
    let message_at = reader.position();
    let (key, version) = (header.api_key, header.api_version);
    let correlation_id = header.correlation_id;
    let api = ApiKey::from_i16(key).ok_or(CloseReason::UnknownApi { key })?;
    let versions = served_versions(api).ok_or(CloseReason::UnknownApi { key })?;
    if !stage.serves(api) {
        return Err(CloseReason::NotAuthenticated);
    }
    let Some(ticket) = node.connections.take_slot(connection) else {
        return Ok(());
    };
    let call = PendingRequest {
        now,
        reply: Reply {
            ticket,
            api,
            version,
            correlation_id,
            course: node.taken(now, api),
        },
    };
    if !versions.contains(&version) {
        if api == ApiKey::ApiVersions {
            api_versions::refuse_version(node, call);
            return Ok(());
        }
        return Err(CloseReason::UnsupportedVersion {
            name: api.name(),
            version,
        });
    }
    if !node.faults.are_set() {
        return dispatch(node, call, RequestBody::new(frame, message_at));
    }
    let message = frame.get(message_at..).unwrap_or_default();
    let amount = |amount| amount_in_frame(amount, api, version, message);
    let decision = node.faults.judge(now, api, ticket, amount);
    match decision.until_ns {
        Some(at_ns) => {
            node.hold(call, decision.outcome, at_ns, frame, message_at);
            Ok(())
        }
        None => carry_out(node, call, decision.outcome, frame, message_at),
    }
}

/// Carries out a request whose header has been read, or what a fault makes of it.
pub(crate) fn carry_out(
    node: &mut BrokerNode,
    call: PendingRequest,
    outcome: DueFault,
    frame: &mut [u8],
    message_at: usize,
) -> Result<(), CloseReason> {
    match outcome {
        DueFault::CloseBefore => return Err(CloseReason::Fault),
        DueFault::CloseAfter => node.faults.close_after(call.reply.ticket),
        DueFault::Fail(code) => node.faults.forced = Some(code),
        DueFault::Serve => {}
    }
    let result = dispatch(node, call, RequestBody::new(frame, message_at));
    node.faults.forced = None;
    result
}
