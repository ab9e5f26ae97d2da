//! The fields by which a broker distinguishes a repeated batch from a new one.

use super::{Attributes, NONE};

/// Who writes a batch: the three numbers that make its producer idempotent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProducerState {
    /// The id that InitProducerId gave, -1 for a producer that is not idempotent.
    pub id: i64,
    /// The epoch that InitProducerId gave, -1 without one.
    pub epoch: i16,
    /// The sequence number of the batch's first record in its partition, -1 without an id.
    pub base_sequence: i32,
    /// The batch belongs to the producer's open transaction.
    pub transactional: bool,
}

impl ProducerState {
    /// A producer without idempotence.
    pub const NONE: Self = Self {
        id: NONE,
        epoch: NONE as i16,
        base_sequence: NONE as i32,
        transactional: false,
    };

    /// `attributes` with the transactional bit as this producer has it.
    pub(super) fn attributes(&self, attributes: Attributes) -> Attributes {
        attributes.with_transactional(self.transactional)
    }
}

impl Default for ProducerState {
    fn default() -> Self {
        Self::NONE
    }
}
