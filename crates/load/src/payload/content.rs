//! The contents of verified records, made again by their reader.

use kgauge_scenario::{FlowPlan, Share};
use kgauge_verify::STAMP_BYTES;

use super::{Payload, PayloadError, RecordDraft, payload_for};
use crate::echo::ECHO_BYTES_MAX;

/// Makes the contents of a flow's records again, to compare them with those that were read.
#[derive(Debug)]
pub struct FlowContent {
    payload: Payload,
    /// The number of the flow's producers, which take turns with its records.
    producers: u64,
    /// Bytes at the end of each value that are not compared.
    tail_bytes: usize,
    draft: RecordDraft,
}

impl FlowContent {
    /// The contents of a flow's records; `None` if it writes none.
    ///
    /// # Errors
    /// The records cannot be made.
    pub fn of(share: &Share, plan: &FlowPlan) -> Result<Option<Self>, PayloadError> {
        let Some(flow) = plan.produces() else {
            return Ok(None);
        };
        let tail_bytes = match plan {
            FlowPlan::Echo(_) => ECHO_BYTES_MAX,
            FlowPlan::Produce(_) | FlowPlan::Consume(_) => 0,
        };
        Ok(Some(Self {
            payload: payload_for(flow, share.flow_seed(&flow.name))?,
            producers: u64::from(flow.producers.max(1)),
            tail_bytes,
            draft: RecordDraft::default(),
        }))
    }

    /// Whether key and value are those of the flow's record with this number, apart from the identity at its start.
    pub fn is(&mut self, number: u64, key: Option<&[u8]>, value: &[u8]) -> bool {
        self.has_value(number, value) && self.draft.key() == key
    }

    /// The same for the value alone.
    pub fn has_value(&mut self, number: u64, value: &[u8]) -> bool {
        let n = number / self.producers;
        self.payload.make(number, n, &mut self.draft);
        let Some(expected) = self.draft.value() else {
            return false;
        };
        if expected.len() != value.len() {
            return false;
        }
        let compared = STAMP_BYTES..value.len().saturating_sub(self.tail_bytes);
        expected.get(compared.clone()) == value.get(compared)
    }
}
