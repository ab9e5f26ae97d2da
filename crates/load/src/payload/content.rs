//! The contents of verified records, made again by their reader.

use kgauge_scenario::{FlowPlan, HeadersPlan, Share};
use kgauge_verify::STAMP_BYTES;
use kgauge_wire::record_batch::Headers;

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

    /// Whether key, value and headers are those of the flow's record with this number, apart from the identity at the
    /// value's start.
    pub fn is(
        &mut self,
        number: u64,
        key: Option<&[u8]>,
        value: &[u8],
        headers: Headers<'_>,
    ) -> bool {
        self.has_value(number, value) && self.draft.key() == key && self.has_headers(headers)
    }

    /// Whether these are the headers of the record that was just made again.
    fn has_headers(&self, mut headers: Headers<'_>) -> bool {
        if !self.payload.has_headers() {
            return headers.next().is_none();
        }
        let mut list = [("", None); HeadersPlan::COUNT_MAX as usize];
        let expected = self.payload.headers(&self.draft, &mut list).iter();
        let expected = expected.map(|(name, value)| (name.as_bytes(), *value));
        expected.eq(headers.map(|header| (header.key, header.value)))
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

#[cfg(test)]
mod tests {
    use kgauge_scenario::RecordPlan;
    use kgauge_wire::compress::Decompressor;
    use kgauge_wire::record_batch::{BatchEncoder, ProducerState, batches};

    use super::*;

    #[test]
    fn a_record_with_other_headers_is_not_the_same() {
        let plan = RecordPlan {
            headers: Some(HeadersPlan {
                count: 2,
                key_bytes: 3,
                value_bytes: 5,
            }),
            ..RecordPlan::of_values(100)
        };
        let written = Payload::of_plan(&plan, 7);
        let mut draft = RecordDraft::default();
        written.make(3, 3, &mut draft);
        let mut list = [("", None); HeadersPlan::COUNT_MAX as usize];
        let own = written.headers(&draft, &mut list);
        let changed = [own[0], (own[1].0, Some(&b"other"[..]))];
        let mut content = FlowContent {
            payload: Payload::of_plan(&plan, 7),
            producers: 1,
            tail_bytes: 0,
            draft: RecordDraft::default(),
        };
        let mut is_same = |headers| {
            let mut encoder = BatchEncoder::default();
            encoder.start(1);
            encoder.append(1, draft.key(), draft.value(), headers);
            let bytes = encoder.finish(&ProducerState::NONE).to_vec();
            let batch = batches(&bytes).next().unwrap().unwrap();
            let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
            let records = batch.records(&mut decompressor, &mut scratch, 1 << 20);
            let record = records.unwrap().next().unwrap().unwrap();
            let value = record.value.unwrap();
            content.is(3, record.key, value, record.headers())
        };
        assert!(is_same(own));
        assert!(!is_same(&changed[..]));
        assert!(!is_same(&own[..1]));
        assert!(!is_same(&own[..0]));
    }
}
