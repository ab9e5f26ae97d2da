//! Errors of records by Kafka's error code, and the codes' names.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The effect of an error on its records.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SendOutcome {
    /// They were sent again.
    Retried,
    /// Their send failed permanently.
    Failed,
    /// It is unknown whether the broker has them.
    Indeterminate,
}

/// Records hit by errors, by outcome and code.
///
/// A new pair allocates; that happens once per pair and slice, and only when something fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    records: BTreeMap<(SendOutcome, i16), u64>,
}

/// Records with one error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorCount {
    /// Their outcome.
    pub outcome: SendOutcome,
    /// Kafka's code, or one of [`client_code`].
    pub code: i16,
    /// Their number.
    pub records: u64,
}

/// Codes of errors that no broker sent. They are below Kafka's own, which start at -1.
pub mod client_code {
    /// The connection broke before the response.
    pub const DISCONNECTED: i16 = -101;
    /// No response within `request.timeout.ms`.
    pub const REQUEST_TIMEOUT: i16 = -102;
    /// No success within `delivery.timeout.ms`.
    pub const DELIVERY_TIMEOUT: i16 = -103;
    /// No buffer space within `max.block.ms`.
    pub const BUFFER_TIMEOUT: i16 = -104;
    /// The response was malformed.
    pub const MALFORMED_ANSWER: i16 = -105;
    /// The run was stopped before the response.
    pub const STOPPED: i16 = -106;
}

impl ErrorCounts {
    /// Counts `records` with this `code`.
    pub fn record(&mut self, outcome: SendOutcome, code: i16, records: u64) {
        let known = self.records.entry((outcome, code)).or_default();
        *known = known.saturating_add(records);
    }

    /// Adds all of `other`.
    pub fn add(&mut self, other: &ErrorCounts) {
        for entry in other.iter() {
            self.record(entry.outcome, entry.code, entry.records);
        }
    }

    /// The counts, by outcome and code.
    pub fn iter(&self) -> impl Iterator<Item = ErrorCount> + '_ {
        let entries = self.records.iter();
        entries.map(|((outcome, code), records)| ErrorCount {
            outcome: *outcome,
            code: *code,
            records: *records,
        })
    }

    /// True when nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Clears it.
    pub fn clear(&mut self) {
        self.records.clear();
    }
}

/// The name of an error code: Kafka's, or kgauge's for errors without a broker. Source: the Kafka protocol guide,
/// "Error Codes", for sends, fetches and topic administration.
pub fn error_name(code: i16) -> Option<&'static str> {
    let position = NAMES.binary_search_by_key(&code, |(known, _)| *known);
    position.ok().map(|position| NAMES[position].1)
}

const NAMES: &[(i16, &str)] = &[
    (client_code::STOPPED, "stopped before the answer"),
    (client_code::MALFORMED_ANSWER, "malformed answer"),
    (
        client_code::BUFFER_TIMEOUT,
        "no room in the buffer within max.block.ms",
    ),
    (
        client_code::DELIVERY_TIMEOUT,
        "no success within delivery.timeout.ms",
    ),
    (
        client_code::REQUEST_TIMEOUT,
        "no answer within request.timeout.ms",
    ),
    (client_code::DISCONNECTED, "disconnected before the answer"),
    (-1, "UNKNOWN_SERVER_ERROR"),
    (1, "OFFSET_OUT_OF_RANGE"),
    (2, "CORRUPT_MESSAGE"),
    (3, "UNKNOWN_TOPIC_OR_PARTITION"),
    (4, "INVALID_FETCH_SIZE"),
    (5, "LEADER_NOT_AVAILABLE"),
    (6, "NOT_LEADER_OR_FOLLOWER"),
    (7, "REQUEST_TIMED_OUT"),
    (8, "BROKER_NOT_AVAILABLE"),
    (9, "REPLICA_NOT_AVAILABLE"),
    (10, "MESSAGE_TOO_LARGE"),
    (13, "NETWORK_EXCEPTION"),
    (14, "COORDINATOR_LOAD_IN_PROGRESS"),
    (15, "COORDINATOR_NOT_AVAILABLE"),
    (16, "NOT_COORDINATOR"),
    (17, "INVALID_TOPIC_EXCEPTION"),
    (18, "RECORD_LIST_TOO_LARGE"),
    (19, "NOT_ENOUGH_REPLICAS"),
    (20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
    (21, "INVALID_REQUIRED_ACKS"),
    (22, "ILLEGAL_GENERATION"),
    (25, "UNKNOWN_MEMBER_ID"),
    (27, "REBALANCE_IN_PROGRESS"),
    (29, "TOPIC_AUTHORIZATION_FAILED"),
    (30, "GROUP_AUTHORIZATION_FAILED"),
    (31, "CLUSTER_AUTHORIZATION_FAILED"),
    (32, "INVALID_TIMESTAMP"),
    (35, "UNSUPPORTED_VERSION"),
    (36, "TOPIC_ALREADY_EXISTS"),
    (37, "INVALID_PARTITIONS"),
    (38, "INVALID_REPLICATION_FACTOR"),
    (40, "INVALID_CONFIG"),
    (41, "NOT_CONTROLLER"),
    (42, "INVALID_REQUEST"),
    (43, "UNSUPPORTED_FOR_MESSAGE_FORMAT"),
    (44, "POLICY_VIOLATION"),
    (45, "OUT_OF_ORDER_SEQUENCE_NUMBER"),
    (46, "DUPLICATE_SEQUENCE_NUMBER"),
    (47, "INVALID_PRODUCER_EPOCH"),
    (48, "INVALID_TXN_STATE"),
    (49, "INVALID_PRODUCER_ID_MAPPING"),
    (51, "CONCURRENT_TRANSACTIONS"),
    (52, "TRANSACTION_COORDINATOR_FENCED"),
    (53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
    (56, "KAFKA_STORAGE_ERROR"),
    (58, "SASL_AUTHENTICATION_FAILED"),
    (59, "UNKNOWN_PRODUCER_ID"),
    (70, "FETCH_SESSION_ID_NOT_FOUND"),
    (71, "INVALID_FETCH_SESSION_EPOCH"),
    (72, "LISTENER_NOT_FOUND"),
    (74, "FENCED_LEADER_EPOCH"),
    (75, "UNKNOWN_LEADER_EPOCH"),
    (76, "UNSUPPORTED_COMPRESSION_TYPE"),
    (78, "OFFSET_NOT_AVAILABLE"),
    (87, "INVALID_RECORD"),
    (89, "THROTTLING_QUOTA_EXCEEDED"),
    (90, "PRODUCER_FENCED"),
    (100, "UNKNOWN_TOPIC_ID"),
    (103, "INCONSISTENT_TOPIC_ID"),
    (120, "TRANSACTION_ABORTABLE"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_so_that_each_is_found() {
        assert!(NAMES.is_sorted_by(|one, next| one.0 < next.0));
        assert_eq!(error_name(6), Some("NOT_LEADER_OR_FOLLOWER"));
        assert_eq!(
            error_name(client_code::DISCONNECTED).map(str::len),
            Some(30)
        );
        assert_eq!(error_name(i16::MAX), None);
    }

    #[test]
    fn error_counts_add_in_any_order() {
        let (mut one, mut two) = (ErrorCounts::default(), ErrorCounts::default());
        one.record(SendOutcome::Failed, 7, 3);
        one.record(SendOutcome::Retried, 6, 1);
        two.record(SendOutcome::Failed, 7, 4);
        let mut sum = two.clone();
        sum.add(&one);
        one.add(&two);
        assert_eq!(sum, one);
        assert_eq!(one.iter().map(|entry| entry.records).sum::<u64>(), 8);
    }
}
