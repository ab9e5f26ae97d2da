//! Kafka's error codes through 4.3: number, constant name, what to do, what it means.
//!
//! Codes, names and kinds are facts of the protocol, as the `Errors` class of kafka-clients 4.3.1
//! shows them; the explanations are ours.

use super::{Kind, error_codes};

error_codes! {
    UnknownServerError, -1, "UNKNOWN_SERVER_ERROR", Final,
        "the broker failed in a way that it has no code for";
    None, 0, "NONE", Final,
        "no error";
    OffsetOutOfRange, 1, "OFFSET_OUT_OF_RANGE", Final,
        "the offset lies outside what the log holds";
    CorruptMessage, 2, "CORRUPT_MESSAGE", Retry,
        "a batch failed its checksum or is malformed, too large, or lacks a key that compaction needs";
    UnknownTopicOrPartition, 3, "UNKNOWN_TOPIC_OR_PARTITION", Refresh,
        "the broker does not know the topic or partition";
    InvalidFetchSize, 4, "INVALID_FETCH_SIZE", Final,
        "the fetch size is not valid";
    LeaderNotAvailable, 5, "LEADER_NOT_AVAILABLE", Refresh,
        "the partition has no leader at the moment, an election goes on";
    NotLeaderOrFollower, 6, "NOT_LEADER_OR_FOLLOWER", Refresh,
        "this broker is not the partition's leader, or not one of its replicas";
    RequestTimedOut, 7, "REQUEST_TIMED_OUT", Retry,
        "the broker did not finish in the time that the request allowed";
    BrokerNotAvailable, 8, "BROKER_NOT_AVAILABLE", Final,
        "the broker that is needed is not available";
    ReplicaNotAvailable, 9, "REPLICA_NOT_AVAILABLE", Refresh,
        "the replica that is needed is not available";
    MessageTooLarge, 10, "MESSAGE_TOO_LARGE", Final,
        "a record or batch is larger than the broker accepts";
    StaleControllerEpoch, 11, "STALE_CONTROLLER_EPOCH", Final,
        "another controller has taken over";
    OffsetMetadataTooLarge, 12, "OFFSET_METADATA_TOO_LARGE", Final,
        "the metadata committed with an offset is too long";
    NetworkException, 13, "NETWORK_EXCEPTION", Refresh,
        "the connection ended before an answer came";
    CoordinatorLoadInProgress, 14, "COORDINATOR_LOAD_IN_PROGRESS", Retry,
        "the coordinator is still loading its state";
    CoordinatorNotAvailable, 15, "COORDINATOR_NOT_AVAILABLE", Retry,
        "no coordinator is available, or its internal topic is not ready";
    NotCoordinator, 16, "NOT_COORDINATOR", Retry,
        "this broker is not the coordinator of the group or transaction";
    InvalidTopicException, 17, "INVALID_TOPIC_EXCEPTION", Final,
        "the topic name is not valid, or the topic may not be used this way";
    RecordListTooLarge, 18, "RECORD_LIST_TOO_LARGE", Final,
        "a batch is larger than a log segment may be";
    NotEnoughReplicas, 19, "NOT_ENOUGH_REPLICAS", Retry,
        "fewer replicas are in sync than min.insync.replicas demands; nothing was written";
    NotEnoughReplicasAfterAppend, 20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", Retry,
        "the batch was written, but then fewer replicas were in sync than min.insync.replicas demands";
    InvalidRequiredAcks, 21, "INVALID_REQUIRED_ACKS", Final,
        "acks is none of 0, 1 and all";
    IllegalGeneration, 22, "ILLEGAL_GENERATION", Final,
        "the group has moved on to another generation";
    InconsistentGroupProtocol, 23, "INCONSISTENT_GROUP_PROTOCOL", Final,
        "the member's protocols do not go together with those of the group";
    InvalidGroupId, 24, "INVALID_GROUP_ID", Final,
        "the group id is not valid";
    UnknownMemberId, 25, "UNKNOWN_MEMBER_ID", Final,
        "the coordinator does not know the member";
    InvalidSessionTimeout, 26, "INVALID_SESSION_TIMEOUT", Final,
        "the session timeout is outside the range that the broker allows";
    RebalanceInProgress, 27, "REBALANCE_IN_PROGRESS", Final,
        "the group is rebalancing, its members must join again";
    InvalidCommitOffsetSize, 28, "INVALID_COMMIT_OFFSET_SIZE", Final,
        "what was committed is too large";
    TopicAuthorizationFailed, 29, "TOPIC_AUTHORIZATION_FAILED", Final,
        "not allowed to use the topic this way";
    GroupAuthorizationFailed, 30, "GROUP_AUTHORIZATION_FAILED", Final,
        "not allowed to use the group this way";
    ClusterAuthorizationFailed, 31, "CLUSTER_AUTHORIZATION_FAILED", Final,
        "not allowed to do this to the cluster";
    InvalidTimestamp, 32, "INVALID_TIMESTAMP", Final,
        "a timestamp is too far from the broker's clock or not valid";
    UnsupportedSaslMechanism, 33, "UNSUPPORTED_SASL_MECHANISM", Final,
        "the broker does not offer this SASL mechanism";
    IllegalSaslState, 34, "ILLEGAL_SASL_STATE", Final,
        "the request does not fit the state of the SASL exchange";
    UnsupportedVersion, 35, "UNSUPPORTED_VERSION", Final,
        "the broker does not know this version of the request";
    TopicAlreadyExists, 36, "TOPIC_ALREADY_EXISTS", Final,
        "a topic of this name exists already";
    InvalidPartitions, 37, "INVALID_PARTITIONS", Final,
        "the number of partitions is not valid";
    InvalidReplicationFactor, 38, "INVALID_REPLICATION_FACTOR", Final,
        "the replication factor is below 1 or above the number of usable brokers";
    InvalidReplicaAssignment, 39, "INVALID_REPLICA_ASSIGNMENT", Final,
        "the replica assignment is not valid";
    InvalidConfig, 40, "INVALID_CONFIG", Final,
        "a configuration value is not valid";
    NotController, 41, "NOT_CONTROLLER", Retry,
        "this broker is not the controller";
    InvalidRequest, 42, "INVALID_REQUEST", Final,
        "the broker finds the request malformed or contradictory";
    UnsupportedForMessageFormat, 43, "UNSUPPORTED_FOR_MESSAGE_FORMAT", Final,
        "the broker's record format is too old for the request";
    PolicyViolation, 44, "POLICY_VIOLATION", Final,
        "a policy of the cluster forbids it";
    OutOfOrderSequenceNumber, 45, "OUT_OF_ORDER_SEQUENCE_NUMBER", Final,
        "a batch of an idempotent producer is missing before this one";
    DuplicateSequenceNumber, 46, "DUPLICATE_SEQUENCE_NUMBER", Final,
        "a batch with this sequence number was written before";
    InvalidProducerEpoch, 47, "INVALID_PRODUCER_EPOCH", Final,
        "the producer's epoch is outdated";
    InvalidTxnState, 48, "INVALID_TXN_STATE", Final,
        "the transaction's state does not allow this step";
    InvalidProducerIdMapping, 49, "INVALID_PRODUCER_ID_MAPPING", Final,
        "the producer id does not belong to the transactional id";
    InvalidTransactionTimeout, 50, "INVALID_TRANSACTION_TIMEOUT", Final,
        "the transaction timeout is above what the broker allows";
    ConcurrentTransactions, 51, "CONCURRENT_TRANSACTIONS", Retry,
        "another step of the same transaction is still going on";
    TransactionCoordinatorFenced, 52, "TRANSACTION_COORDINATOR_FENCED", Final,
        "the transaction coordinator that sent this has been replaced";
    TransactionalIdAuthorizationFailed, 53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", Final,
        "not allowed to use the transactional id";
    SecurityDisabled, 54, "SECURITY_DISABLED", Final,
        "the cluster has no authorizer configured";
    OperationNotAttempted, 55, "OPERATION_NOT_ATTEMPTED", Final,
        "not tried, because another part of the request failed";
    KafkaStorageError, 56, "KAFKA_STORAGE_ERROR", Refresh,
        "a disk of the broker failed";
    LogDirNotFound, 57, "LOG_DIR_NOT_FOUND", Final,
        "the broker has no such log directory";
    SaslAuthenticationFailed, 58, "SASL_AUTHENTICATION_FAILED", Final,
        "the credentials were not accepted";
    UnknownProducerId, 59, "UNKNOWN_PRODUCER_ID", Final,
        "the broker holds no state for the producer id, for instance because its records have expired";
    ReassignmentInProgress, 60, "REASSIGNMENT_IN_PROGRESS", Final,
        "the partition is being moved already";
    DelegationTokenAuthDisabled, 61, "DELEGATION_TOKEN_AUTH_DISABLED", Final,
        "the cluster has delegation tokens switched off";
    DelegationTokenNotFound, 62, "DELEGATION_TOKEN_NOT_FOUND", Final,
        "the delegation token is not known";
    DelegationTokenOwnerMismatch, 63, "DELEGATION_TOKEN_OWNER_MISMATCH", Final,
        "the delegation token belongs to somebody else";
    DelegationTokenRequestNotAllowed, 64, "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", Final,
        "delegation tokens cannot be asked for over this kind of connection";
    DelegationTokenAuthorizationFailed, 65, "DELEGATION_TOKEN_AUTHORIZATION_FAILED", Final,
        "not allowed to use the delegation token this way";
    DelegationTokenExpired, 66, "DELEGATION_TOKEN_EXPIRED", Final,
        "the delegation token has expired";
    InvalidPrincipalType, 67, "INVALID_PRINCIPAL_TYPE", Final,
        "this type of principal is not supported";
    NonEmptyGroup, 68, "NON_EMPTY_GROUP", Final,
        "the group still has members";
    GroupIdNotFound, 69, "GROUP_ID_NOT_FOUND", Final,
        "no such group";
    FetchSessionIdNotFound, 70, "FETCH_SESSION_ID_NOT_FOUND", Retry,
        "the broker does not know the fetch session; start a new one";
    InvalidFetchSessionEpoch, 71, "INVALID_FETCH_SESSION_EPOCH", Retry,
        "the fetch session's epoch is not the expected one; start a new session";
    ListenerNotFound, 72, "LISTENER_NOT_FOUND", Refresh,
        "the leader has no listener of the name that the request came in by";
    TopicDeletionDisabled, 73, "TOPIC_DELETION_DISABLED", Final,
        "the cluster has topic deletion switched off";
    FencedLeaderEpoch, 74, "FENCED_LEADER_EPOCH", Refresh,
        "the leader epoch in the request is outdated";
    UnknownLeaderEpoch, 75, "UNKNOWN_LEADER_EPOCH", Retry,
        "the leader epoch in the request is newer than the broker's";
    UnsupportedCompressionType, 76, "UNSUPPORTED_COMPRESSION_TYPE", Final,
        "whoever asked cannot read the compression of the stored batches";
    StaleBrokerEpoch, 77, "STALE_BROKER_EPOCH", Final,
        "the broker epoch is outdated";
    OffsetNotAvailable, 78, "OFFSET_NOT_AVAILABLE", Retry,
        "a new leader does not yet know its high watermark";
    MemberIdRequired, 79, "MEMBER_ID_REQUIRED", Final,
        "join again with the member id that the coordinator has given";
    PreferredLeaderNotAvailable, 80, "PREFERRED_LEADER_NOT_AVAILABLE", Refresh,
        "the preferred leader is not available";
    GroupMaxSizeReached, 81, "GROUP_MAX_SIZE_REACHED", Final,
        "the group is full";
    FencedInstanceId, 82, "FENCED_INSTANCE_ID", Final,
        "another member has taken over this group.instance.id";
    EligibleLeadersNotAvailable, 83, "ELIGIBLE_LEADERS_NOT_AVAILABLE", Refresh,
        "no replica may become leader at the moment";
    ElectionNotNeeded, 84, "ELECTION_NOT_NEEDED", Refresh,
        "the leader is already the one that the election would choose";
    NoReassignmentInProgress, 85, "NO_REASSIGNMENT_IN_PROGRESS", Final,
        "the partition is not being moved";
    GroupSubscribedToTopic, 86, "GROUP_SUBSCRIBED_TO_TOPIC", Final,
        "the group is subscribed to the topic, so its offsets stay";
    InvalidRecord, 87, "INVALID_RECORD", Final,
        "the broker found a record not valid";
    UnstableOffsetCommit, 88, "UNSTABLE_OFFSET_COMMIT", Retry,
        "offsets of an open transaction stand in the way; ask again later";
    ThrottlingQuotaExceeded, 89, "THROTTLING_QUOTA_EXCEEDED", Retry,
        "a quota is used up; slow down";
    ProducerFenced, 90, "PRODUCER_FENCED", Final,
        "a newer producer uses the same transactional id";
    ResourceNotFound, 91, "RESOURCE_NOT_FOUND", Final,
        "what the request names does not exist";
    DuplicateResource, 92, "DUPLICATE_RESOURCE", Final,
        "the request names the same thing twice";
    UnacceptableCredential, 93, "UNACCEPTABLE_CREDENTIAL", Final,
        "the credential does not satisfy the cluster's demands";
    InconsistentVoterSet, 94, "INCONSISTENT_VOTER_SET", Final,
        "sender or receiver is not one of the expected voters";
    InvalidUpdateVersion, 95, "INVALID_UPDATE_VERSION", Final,
        "the new version of the feature is not valid";
    FeatureUpdateFailed, 96, "FEATURE_UPDATE_FAILED", Final,
        "the features could not be changed";
    PrincipalDeserializationFailure, 97, "PRINCIPAL_DESERIALIZATION_FAILURE", Final,
        "the principal could not be read when the request was passed on between brokers";
    SnapshotNotFound, 98, "SNAPSHOT_NOT_FOUND", Final,
        "the snapshot does not exist";
    PositionOutOfRange, 99, "POSITION_OUT_OF_RANGE", Final,
        "the position lies outside the snapshot";
    UnknownTopicId, 100, "UNKNOWN_TOPIC_ID", Refresh,
        "the broker does not know the topic id";
    DuplicateBrokerRegistration, 101, "DUPLICATE_BROKER_REGISTRATION", Final,
        "another broker is registered with this id";
    BrokerIdNotRegistered, 102, "BROKER_ID_NOT_REGISTERED", Final,
        "no broker is registered with this id";
    InconsistentTopicId, 103, "INCONSISTENT_TOPIC_ID", Refresh,
        "the topic id of the log is another one than that of the request";
    InconsistentClusterId, 104, "INCONSISTENT_CLUSTER_ID", Final,
        "the request is meant for another cluster";
    TransactionalIdNotFound, 105, "TRANSACTIONAL_ID_NOT_FOUND", Final,
        "the transactional id is not known";
    FetchSessionTopicIdError, 106, "FETCH_SESSION_TOPIC_ID_ERROR", Retry,
        "topic ids were used in one part of the fetch session and not in another";
    IneligibleReplica, 107, "INELIGIBLE_REPLICA", Final,
        "a replica may not enter the in-sync set";
    NewLeaderElected, 108, "NEW_LEADER_ELECTED", Final,
        "the change was made, but the leader is another one now";
    OffsetMovedToTieredStorage, 109, "OFFSET_MOVED_TO_TIERED_STORAGE", Final,
        "the offset has been moved to tiered storage";
    FencedMemberEpoch, 110, "FENCED_MEMBER_EPOCH", Final,
        "the member's epoch is outdated; give up its partitions and join again";
    UnreleasedInstanceId, 111, "UNRELEASED_INSTANCE_ID", Final,
        "another member still holds this instance id";
    UnsupportedAssignor, 112, "UNSUPPORTED_ASSIGNOR", Final,
        "the group does not support the assignor";
    StaleMemberEpoch, 113, "STALE_MEMBER_EPOCH", Final,
        "the member's epoch is old; retry after the next heartbeat's answer";
    MismatchedEndpointType, 114, "MISMATCHED_ENDPOINT_TYPE", Final,
        "the endpoint is of the wrong type: a broker's instead of a controller's, or the reverse";
    UnsupportedEndpointType, 115, "UNSUPPORTED_ENDPOINT_TYPE", Final,
        "this type of endpoint is not supported";
    UnknownControllerId, 116, "UNKNOWN_CONTROLLER_ID", Final,
        "the controller id is not known";
    UnknownSubscriptionId, 117, "UNKNOWN_SUBSCRIPTION_ID", Final,
        "the telemetry subscription is unknown or outdated";
    TelemetryTooLarge, 118, "TELEMETRY_TOO_LARGE", Final,
        "the telemetry is larger than the broker accepts";
    InvalidRegistration, 119, "INVALID_REGISTRATION", Final,
        "the controller finds the broker's registration not valid";
    TransactionAbortable, 120, "TRANSACTION_ABORTABLE", Final,
        "the transaction must be aborted; the producer may go on after that";
    InvalidRecordState, 121, "INVALID_RECORD_STATE", Final,
        "the record's state does not allow this acknowledgement";
    ShareSessionNotFound, 122, "SHARE_SESSION_NOT_FOUND", Retry,
        "the broker does not know the share session";
    InvalidShareSessionEpoch, 123, "INVALID_SHARE_SESSION_EPOCH", Retry,
        "the share session's epoch is not the expected one";
    FencedStateEpoch, 124, "FENCED_STATE_EPOCH", Final,
        "the share group's state epoch is outdated";
    InvalidVoterKey, 125, "INVALID_VOTER_KEY", Final,
        "the voter's key is not that of the replica";
    DuplicateVoter, 126, "DUPLICATE_VOTER", Final,
        "the voter is in the voter set already";
    VoterNotFound, 127, "VOTER_NOT_FOUND", Final,
        "the voter is not in the voter set";
    InvalidRegularExpression, 128, "INVALID_REGULAR_EXPRESSION", Final,
        "the regular expression is not valid";
    RebootstrapRequired, 129, "REBOOTSTRAP_REQUIRED", Final,
        "the client's metadata is too old; begin again from the bootstrap servers";
    StreamsInvalidTopology, 130, "STREAMS_INVALID_TOPOLOGY", Final,
        "the streams topology is not valid";
    StreamsInvalidTopologyEpoch, 131, "STREAMS_INVALID_TOPOLOGY_EPOCH", Final,
        "the epoch of the streams topology is not valid";
    StreamsTopologyFenced, 132, "STREAMS_TOPOLOGY_FENCED", Final,
        "the streams topology is outdated";
    ShareSessionLimitReached, 133, "SHARE_SESSION_LIMIT_REACHED", Retry,
        "the broker holds as many share sessions as it may";
}
