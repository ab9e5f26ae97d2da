//! What has to be known to judge lines that others published.

use serde::{Deserialize, Serialize};

use crate::key_map::key_map;
use crate::value_kind::{count, size, text};

key_map! {
    /// What has to be known to judge the lines of Kafka's own tools. What is not known is left out.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct AuditFacts, AuditKeys, "Audit" {
        /// The producers' `buffer.memory`.
        pub buffer_bytes: Option<u64> = "buffer-memory" [optional "Kafka's 32 MiB"],
            size(1..=u64::MAX);
        /// The network speed of each broker in bits per second, such as `1G`.
        pub nic: Option<String> = "nic" [optional "unknown"], text();
        /// The number of brokers that shared the load.
        pub brokers: Option<u32> = "brokers" [optional "unknown"], count(1..=1_000_000);
        /// Replicas of each partition.
        pub replication: Option<u32> = "replication" [optional "1"], count(1..=1_000_000);
        /// Partitions of the topic.
        pub partitions: Option<u32> = "partitions" [optional "unknown"], count(1..=1_000_000);
        /// The Kafka release of the tool, such as `1.0.2`.
        pub as_of: Option<String> = "as-of" [optional "unknown"], text();
    }
}

impl AuditFacts {
    /// These facts; what is unknown here is taken from others.
    pub fn or(&self, others: &AuditFacts) -> AuditFacts {
        AuditFacts {
            buffer_bytes: self.buffer_bytes.or(others.buffer_bytes),
            nic: self.nic.clone().or_else(|| others.nic.clone()),
            brokers: self.brokers.or(others.brokers),
            replication: self.replication.or(others.replication),
            partitions: self.partitions.or(others.partitions),
            as_of: self.as_of.clone().or_else(|| others.as_of.clone()),
        }
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == AuditFacts::default()
    }
}
