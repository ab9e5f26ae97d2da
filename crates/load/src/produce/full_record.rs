//! Records that are more than a value of one size: with keys, headers, varying sizes, nulls.

use kgauge_scenario::HeadersPlan;

use super::Producer;
use super::encoder::{FullRecord, RecordsEncoder};
use super::murmur::partition_for_key;
use crate::payload::{Payload, RecordDraft};

/// More than the overhead of a record without headers, in any format.
pub(super) const AROUND_BYTES_MAX: usize = 64;

/// When a record is accepted, and when it was intended.
#[derive(Debug, Clone, Copy)]
struct RecordTime {
    intended_ns: Option<u64>,
    sent_ns: u64,
    timestamp_ms: i64,
}

/// When records are accepted, and when each was intended.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordTimes<'a> {
    /// `None` if now.
    pub(super) intended: Option<&'a [u64]>,
    pub(super) sent_ns: u64,
    pub(super) timestamp_ms: i64,
}

impl RecordTimes<'_> {
    /// The times of the remaining records after taking this many.
    fn after(&self, taken: u32) -> Self {
        let all = self.intended;
        Self {
            intended: all.map(|all| all.get(taken as usize..).unwrap_or_default()),
            ..*self
        }
    }

    /// The times of the first.
    fn first(&self) -> RecordTime {
        RecordTime {
            intended_ns: self.intended.and_then(|all| all.first().copied()),
            sent_ns: self.sent_ns,
            timestamp_ms: self.timestamp_ms,
        }
    }
}

impl Producer {
    /// Puts up to `count` records with these intended times, or now, into batches; returns how many fit.
    ///
    /// A record that does not fit is generated again later: it is a function of its number.
    pub(super) fn take_whole(&mut self, count: u32, times: RecordTimes<'_>) -> u32 {
        // All are put back: taking them costs less than counting references.
        let Some(payload) = self.whole.take() else {
            return 0;
        };
        let mut draft = std::mem::take(&mut self.draft);
        let mut block = self.key_block.take();
        let mut taken = 0;
        while taken < count {
            let rest = times.after(taken);
            if let Some(block) = &mut block {
                taken += self.take_block(block, &payload, (count - taken) as usize, &rest);
                if taken == count {
                    break;
                }
            }
            let moment = times.after(taken).first();
            let number = self.member.record_number(self.next_record);
            let found_room = if payload.is_filled_in_place() {
                self.take_filled(&payload, number, moment, &mut draft)
            } else {
                self.take_made(&payload, number, moment, &mut draft)
            };
            if !found_room {
                break;
            }
            self.next_record += 1;
            taken += 1;
        }
        self.key_block = block;
        self.draft = draft;
        self.whole = Some(payload);
        taken
    }

    /// A record whose value is generated in the batch's buffer; false when memory is used up.
    fn take_filled(
        &mut self,
        payload: &Payload,
        number: u64,
        moment: RecordTime,
        draft: &mut RecordDraft,
    ) -> bool {
        let n = self.next_record;
        payload.make_key(number, draft);
        let value_bytes = payload.value_bytes_of(number);
        let key = draft.key();
        let key_bytes = key.map_or(0, <[u8]>::len);
        loop {
            let index = self.partition_of_key(key);
            let slot = match self.partitions[index as usize].open {
                Some(slot) => slot,
                None => {
                    let bytes = key_bytes + value_bytes + AROUND_BYTES_MAX;
                    let (sent_ns, timestamp_ms) = (moment.sent_ns, moment.timestamp_ms);
                    match self.open_batch(index, || bytes, sent_ns, timestamp_ms) {
                        Some(slot) => slot,
                        None => return false,
                    }
                }
            };
            let most = key_bytes + value_bytes + AROUND_BYTES_MAX;
            if !self.has_room(slot, most) {
                // Only at its end is a batch measured exactly.
                let encoder = &self.pool[slot].encoder;
                let lengths = (key.map(<[u8]>::len), Some(value_bytes));
                let bytes = encoder.record_bytes(moment.timestamp_ms, lengths.0, lengths.1);
                if !self.has_room(slot, bytes) {
                    self.complete_open(index);
                    continue;
                }
            }
            let echo = self.echo.as_deref();
            let mut stamper = self.stamper(index);
            let batch = &mut self.pool[slot];
            let fill = |to: &mut [u8]| {
                payload.fill(number, n, to);
                if let Some(echo) = echo {
                    echo.mark(number, moment.intended_ns.unwrap_or(moment.sent_ns), to);
                }
                if let Some(stamper) = &mut stamper {
                    stamper.stamp(number, to);
                }
            };
            match &mut batch.encoder {
                RecordsEncoder::Batch(encoder) => {
                    encoder.append_filled(moment.timestamp_ms, key, value_bytes, fill);
                }
                RecordsEncoder::Set(set) => {
                    set.append_filled(moment.timestamp_ms, key, value_bytes, fill);
                }
            }
            self.note_one(
                slot,
                index,
                moment,
                (key_bytes + value_bytes) as u64,
                key.is_some(),
            );
            return true;
        }
    }

    /// A record that is generated first; false when memory is used up.
    fn take_made(
        &mut self,
        payload: &Payload,
        number: u64,
        moment: RecordTime,
        draft: &mut RecordDraft,
    ) -> bool {
        payload.make(number, self.next_record, draft);
        if let Some(echo) = &self.echo {
            echo.mark(
                number,
                moment.intended_ns.unwrap_or(moment.sent_ns),
                draft.value_mut(),
            );
        }
        let mut list;
        let headers: &[_] = if payload.has_headers() {
            list = [("", None); HeadersPlan::COUNT_MAX as usize];
            payload.headers(draft, &mut list)
        } else {
            &[]
        };
        loop {
            let index = self.partition_of_key(draft.key());
            if let Some(mut stamper) = self.stamper(index) {
                stamper.stamp(number, draft.value_mut());
            }
            let record = FullRecord {
                timestamp_ms: moment.timestamp_ms,
                key: draft.key(),
                value: draft.value(),
                headers,
            };
            let bytes = self.bytes_in(index, &record);
            let (sent_ns, timestamp_ms) = (moment.sent_ns, moment.timestamp_ms);
            let Some(slot) = self.open_batch(index, || bytes, sent_ns, timestamp_ms) else {
                return false;
            };
            if !self.has_room(slot, bytes) {
                self.complete_open(index);
                continue;
            }
            self.pool[slot].encoder.push_whole(&record);
            let is_keyed = record.key.is_some();
            self.note_one(slot, index, moment, record.logical_bytes(), is_keyed);
            return true;
        }
    }

    /// The partition of a record: by its key, if it has one and the partitioner considers it.
    #[inline]
    fn partition_of_key(&self, key: Option<&[u8]>) -> u32 {
        match key {
            Some(key) if self.is_keyed => partition_for_key(key, self.partitions.len() as u32),
            _ => self.choice.current(),
        }
    }

    /// A record is in its batch.
    #[inline]
    fn note_one(
        &mut self,
        slot: u32,
        index: u32,
        moment: RecordTime,
        logical_bytes: u64,
        has_key: bool,
    ) {
        self.note_stamped(index, 1);
        let times = &mut self.pool[slot].times;
        match moment.intended_ns {
            Some(intended_ns) => times.add_due(&[intended_ns], moment.sent_ns, logical_bytes),
            None => times.add_immediate(moment.sent_ns, 1, logical_bytes),
        }
        if self.flow.settings.linger_ns == 0 {
            self.list_ready(index);
        }
        if !(has_key && self.is_keyed) {
            self.choice.note(logical_bytes);
        }
    }

    /// The size of a record in its batch.
    fn bytes_in(&self, index: u32, record: &FullRecord<'_>) -> usize {
        match self.partitions[index as usize].open {
            Some(slot) => self.pool[slot].encoder.whole_bytes(record),
            None => self.pool.format().record_bytes(record),
        }
    }

    /// As in Kafka's producer, the first record always fits, however large it is.
    #[inline]
    fn has_room(&self, slot: u32, record_bytes: usize) -> bool {
        self.room_bytes(slot) >= record_bytes || self.pool[slot].encoder.records() == 0
    }

    /// The remaining space of an open batch.
    #[inline]
    pub(super) fn room_bytes(&self, slot: u32) -> usize {
        let so_far = self.pool[slot].encoder.bytes_so_far();
        let used = match self.compressor {
            None => so_far,
            Some(_) => {
                let overhead = self.pool.format().overhead_bytes();
                overhead + ((so_far - overhead) as f32 * self.ratio()) as usize
            }
        };
        (self.flow.settings.batch_bytes as usize).saturating_sub(used)
    }
}
