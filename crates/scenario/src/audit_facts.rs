//! What has to be known to judge lines that others published.

use serde::{Deserialize, Serialize};

use crate::keys::AUDIT;
use crate::reader::ValueReader;
use crate::tree::YamlNode;

/// What has to be known to judge the lines of Kafka's own tools. What is not known is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditFacts {
    /// The producers' `buffer.memory`.
    pub buffer_bytes: Option<u64>,
    /// What a broker's network card carries, in bits a second, as written.
    pub nic: Option<String>,
    /// How many brokers shared the load.
    pub brokers: Option<u32>,
    /// Replicas of each partition.
    pub replication: Option<u32>,
    /// Partitions of the topic.
    pub partitions: Option<u32>,
    /// The release of the tool, as written.
    pub as_of: Option<String>,
}

impl AuditFacts {
    /// These, and what is not known here from others.
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

pub(crate) fn audit_facts(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<AuditFacts> {
    let fields = reader.map(node, &AUDIT)?;
    let mut count = |key| match fields.has(key) {
        true => reader.field(&fields, key, |reader, node| {
            reader.count_u32(node, 1..=1_000_000)
        }),
        false => None,
    };
    let (brokers, replication, partitions) =
        (count("brokers"), count("replication"), count("partitions"));
    let mut words = |key| match fields.has(key) {
        true => reader.field(&fields, key, ValueReader::text),
        false => None,
    };
    let (nic, as_of) = (words("nic"), words("as-of"));
    let buffer_bytes = match fields.has("buffer-memory") {
        true => reader.field(&fields, "buffer-memory", |reader, node| {
            reader.bytes(node, 1..=u64::MAX)
        }),
        false => None,
    };
    Some(AuditFacts {
        buffer_bytes,
        nic,
        brokers,
        replication,
        partitions,
        as_of,
    })
}
