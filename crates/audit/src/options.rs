//! What the text does not tell.

/// What is known beside the text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// `buffer.memory` of the producers.
    pub buffer_bytes: Option<u64>,
    /// What a broker's network card carries in one direction.
    pub nic_bits_per_s: Option<f64>,
    /// Brokers.
    pub brokers: Option<u32>,
    /// Replicas of each partition, 1 unless it is said.
    pub replication: Option<u32>,
    /// Partitions of the topic.
    pub partitions: Option<u64>,
    /// The release of the tool.
    pub as_of: Option<(u32, u32)>,
}
