//! Accepts records: by the schedule, or in a closed loop as fast as memory allows.

use kgauge_results::{LATE_AFTER_NS, RecordLateness, Recorder};
use kgauge_scenario::Stripe;
use kgauge_wire::record_batch::record_bytes;

use super::due::{AHEAD, ScheduleCursor};
use super::encoder::{RecordsEncoder, TakeRecords};
use super::full_record::RecordTimes;
use super::proof::Stamper;
use super::{LingeringBatch, Phase, Producer};
use crate::clock::Clock;
use crate::payload::Payload;

/// Bytes accepted between two socket polls. A poll takes about a microsecond, and 64 KiB of 100-byte records about ten.
const TURN_BYTES: usize = 64 * 1024;

/// Records between two clock readings: in a closed loop they share one time. They are accepted within a microsecond,
/// which is the resolution of such a sample.
const CLOCK_RECORDS: u32 = AHEAD as u32;

/// Kafka multiplies its estimate of a batch's compressed size by this
/// (`MemoryRecordsBuilder.COMPRESSION_RATE_ESTIMATION_FACTOR`).
const RATIO_CAUTION: f32 = 1.05;

/// Space for the varints of any record that only has a value.
const RECORD_OVERHEAD_BYTES_MAX: usize = 32;

/// The offset delta from which a record's size must be recomputed: the zigzag varint of a delta grows by a byte at 2^6,
/// 2^13, 2^20 and so on, and with it possibly the varint of the length.
fn next_longer_delta(records: u32) -> u32 {
    let mut border = 1 << 6;
    while border <= records {
        border <<= 7;
    }
    border
}

impl Producer {
    /// Accepts the due records.
    pub(super) fn take_records(&mut self, now_ns: u64, recorder: &mut Recorder, clock: &Clock) {
        if self.next_intended_ns(now_ns) >= self.hold_end_ns || self.records_left == 0 {
            self.stop_taking();
            return;
        }
        if self.due.is_some() {
            self.take_due(now_ns, recorder, clock);
        } else {
            self.take_at_will(now_ns, recorder, clock);
        }
    }

    /// When the next record is due: in a closed loop, now.
    fn next_intended_ns(&self, now_ns: u64) -> u64 {
        self.due.as_ref().map_or(now_ns, ScheduleCursor::peek_ns)
    }

    /// Closed loop: as many as a turn allows.
    fn take_at_will(&mut self, now_ns: u64, recorder: &mut Recorder, clock: &Clock) {
        let turn_records = (TURN_BYTES / self.payload.record_bytes()).max(1) as u32;
        let (mut turn_left, mut now_ns) = (turn_records, now_ns);
        let was_blocked = self.blocked_since_ns.is_some();
        while turn_left > 0 && now_ns < self.hold_end_ns {
            let in_hold = now_ns >= self.hold_start_ns;
            let records_left = if in_hold { self.records_left } else { u64::MAX };
            let allowed = records_left.min(self.transaction_room());
            let count = u64::from(turn_left.min(CLOCK_RECORDS)).min(allowed) as u32;
            let taken = self.take(count, None, now_ns, clock);
            if taken > 0 {
                self.note_unblocked(now_ns, recorder);
                self.totals.scheduled += u64::from(taken);
                recorder.scheduled(now_ns, u64::from(taken));
                recorder.sent(now_ns, u64::from(taken));
                self.outstanding.change(now_ns, u64::from(taken), 0);
                self.note_in_transaction(now_ns, u64::from(taken));
                if in_hold {
                    self.records_left -= u64::from(taken);
                }
            }
            if taken < count {
                self.note_blocked(now_ns, was_blocked);
                return;
            }
            if allowed == u64::from(count) {
                break;
            }
            turn_left -= taken;
            now_ns = clock.now_ns();
        }
        self.note_unblocked(clock.now_ns(), recorder);
    }

    /// Open loop: the due records, late or not; records that are too late are skipped and counted.
    fn take_due(&mut self, now_ns: u64, recorder: &mut Recorder, clock: &Clock) {
        let (mut now_ns, mut turn_left) = (now_ns, TURN_BYTES);
        let mut run = [0; AHEAD];
        let was_blocked = self.blocked_since_ns.is_some();
        while turn_left > 0 && self.records_left > 0 && self.transaction_room() > 0 {
            let end_ns = self.hold_end_ns.min(now_ns.saturating_add(1));
            let allowed = self.transaction_room().min(self.records_left);
            let Some(due) = &mut self.due else {
                return;
            };
            let times = due.before(end_ns);
            let Some(&first_ns) = times.first() else {
                // The schedule is caught up: later delays are not caused by missing buffer space.
                self.waiting_from_ns = u64::MAX;
                break;
            };
            if now_ns.saturating_sub(first_ns) > self.flow.skip_after_ns {
                self.skip_next(first_ns, recorder);
                continue;
            }
            let turn_records = (turn_left / self.payload.record_bytes()).max(1) as u64;
            let most = turn_records.min(allowed);
            let count = usize::try_from(most).map_or(times.len(), |most| most.min(times.len()));
            run[..count].copy_from_slice(&times[..count]);
            let run = &run[..count];
            let taken = self.take(count as u32, Some(run), now_ns, clock) as usize;
            self.note_taken(&run[..taken], now_ns, recorder);
            if taken < count {
                self.note_blocked(now_ns, was_blocked);
                return;
            }
            turn_left = turn_left.saturating_sub(taken * self.payload.record_bytes());
            now_ns = clock.now_ns();
        }
        self.note_unblocked(now_ns, recorder);
    }

    /// These records were accepted.
    fn note_taken(&mut self, intended_ns: &[u64], now_ns: u64, recorder: &mut Recorder) {
        let records = intended_ns.len() as u64;
        if records == 0 {
            return;
        }
        // The record that waited for buffer space has found it, even if the next one must wait again.
        self.note_unblocked(now_ns, recorder);
        if let Some(due) = &mut self.due {
            due.advance(intended_ns.len());
        }
        self.totals.scheduled += records;
        recorder.scheduled_each(intended_ns);
        if intended_ns[0].saturating_add(LATE_AFTER_NS) < now_ns {
            self.note_late(intended_ns, now_ns, recorder);
        }
        recorder.sent(now_ns, records);
        self.outstanding.change(now_ns, records, 0);
        self.note_in_transaction(now_ns, records);
        let before = intended_ns.partition_point(|&at_ns| at_ns < self.hold_start_ns);
        self.records_left -= records - before as u64;
    }

    /// Some of these records are accepted late. Those that were due before the wait for buffer space started were late
    /// for other reasons.
    fn note_late(&self, intended_ns: &[u64], now_ns: u64, recorder: &mut Recorder) {
        let is_late = |&at_ns: &u64| at_ns.saturating_add(LATE_AFTER_NS) < now_ns;
        let late = &intended_ns[..intended_ns.partition_point(is_late)];
        let before = late.partition_point(|&at_ns| !self.waited(at_ns));
        recorder.late_each(&late[..before], RecordLateness::HadRoom);
        recorder.late_each(&late[before..], RecordLateness::Waited);
    }

    /// Whether a record that was due then had to wait because there was no buffer space, then or shortly after.
    fn waited(&self, intended_ns: u64) -> bool {
        intended_ns.saturating_add(LATE_AFTER_NS) >= self.waiting_from_ns
    }

    /// The next record is too late: it is not sent.
    fn skip_next(&mut self, intended_ns: u64, recorder: &mut Recorder) {
        if let Some(due) = &mut self.due {
            due.advance(1);
        }
        recorder.scheduled(intended_ns, 1);
        if self.waited(intended_ns) {
            recorder.skipped_waiting(intended_ns, 1);
        } else {
            recorder.skipped(intended_ns, 1);
        }
        self.totals.scheduled += 1;
        self.totals.skipped += 1;
        if intended_ns >= self.hold_start_ns {
            self.records_left -= 1;
        }
    }

    /// The hold has ended: records that were due before are accepted, however late. Those that find no buffer space are
    /// counted as skipped. Every scheduled record is thus accounted for.
    pub(crate) fn end_taking(
        &mut self,
        hold_end_ns: u64,
        now_ns: u64,
        recorder: &mut Recorder,
        clock: &Clock,
    ) {
        self.hold_end_ns = self.hold_end_ns.min(hold_end_ns);
        if self.transaction_room() == 0 && self.due.is_some() {
            // Due records are accepted once the transaction has ended.
            return;
        }
        if self.phase == Phase::Running && self.due.is_some() {
            let mut before = None;
            while before != Some(self.totals.scheduled) {
                before = Some(self.totals.scheduled);
                self.take_due(now_ns, recorder, clock);
            }
            self.skip_rest(now_ns, recorder);
        }
        // A record that still waits has waited within the hold.
        self.note_unblocked(now_ns.min(hold_end_ns.saturating_sub(1)), recorder);
        self.stop_taking();
    }

    /// Skips all due records.
    fn skip_rest(&mut self, now_ns: u64, recorder: &mut Recorder) {
        let end_ns = self.hold_end_ns.min(now_ns.saturating_add(1));
        while let Some(due) = &mut self.due {
            let intended_ns = due.peek_ns();
            if intended_ns >= end_ns || self.records_left == 0 {
                return;
            }
            self.skip_next(intended_ns, recorder);
        }
    }

    /// Puts up to `count` records with these intended times, or now, into batches; returns how many fit.
    fn take(&mut self, count: u32, intended: Option<&[u64]>, sent_ns: u64, clock: &Clock) -> u32 {
        let timestamp_ms = clock.unix_ms(sent_ns);
        if self.whole.is_some() {
            return self.take_whole(
                count,
                RecordTimes {
                    intended,
                    sent_ns,
                    timestamp_ms,
                },
            );
        }
        let mut taken = 0;
        while taken < count {
            let run = if self.choice.changes_each_record() {
                1
            } else {
                count - taken
            };
            let partition = self.choice.current();
            let value_bytes = self.payload.value_bytes();
            let first = || record_bytes(0, 0, None, Some(value_bytes), &[]);
            let Some(slot) = self.open_batch(partition, first, sent_ns, timestamp_ms) else {
                break;
            };
            let appended = self.append(slot, run, timestamp_ms);
            let bytes = u64::from(appended) * value_bytes as u64;
            let times = &mut self.pool[slot].times;
            match intended {
                Some(all) => {
                    let own = &all[taken as usize..][..appended as usize];
                    times.add_due(own, sent_ns, bytes);
                }
                None => times.add_immediate(sent_ns, appended, bytes),
            }
            taken += appended;
            if self.flow.settings.linger_ns == 0 {
                self.list_ready(partition);
            }
            if appended > 0 {
                // A record that found the batch full is still due for this partition.
                self.choice.note(bytes);
            }
            if appended < run {
                self.complete_open(partition);
            }
        }
        taken
    }

    /// Appends records to an open batch until it is full: the innermost loop of the generator.
    fn append(&mut self, slot: u32, count: u32, timestamp_ms: i64) -> u32 {
        let value_bytes = self.payload.value_bytes();
        let batch_bytes_max = self.flow.settings.batch_bytes as usize;
        let ratio = self.ratio();
        let partition = self.pool[slot].partition;
        let mut filling = BatchFiller {
            stamper: self.stamper(partition),
            value_bytes,
            batch_bytes_max,
            ratio,
            timestamp_ms,
            next_record: self.next_record,
            member: self.member,
            payload: &self.payload,
        };
        let appended = match &mut self.pool[slot].encoder {
            RecordsEncoder::Batch(batch) => filling.fill(batch, count),
            RecordsEncoder::Set(set) => filling.fill(set, count),
        };
        self.next_record = filling.next_record;
        self.note_stamped(partition, appended);
        appended
    }

    /// The expected compression ratio of a batch: compressed ÷ uncompressed bytes, with Kafka's safety factor.
    pub(super) fn ratio(&self) -> f32 {
        match self.compressor {
            Some(_) => self.compression_ratio * RATIO_CAUTION,
            None => 1.0,
        }
    }

    /// The open batch of a partition; if there is none, a new one with space for a record of this size.
    pub(super) fn open_batch(
        &mut self,
        index: u32,
        record_bytes: impl FnOnce() -> usize,
        now_ns: u64,
        timestamp_ms: i64,
    ) -> Option<u32> {
        if let Some(slot) = self.partitions[index as usize].open {
            return Some(slot);
        }
        let overhead = self.pool.format().overhead_bytes() + RECORD_OVERHEAD_BYTES_MAX;
        let first = overhead + record_bytes();
        let slot = self.pool.take(first, index, now_ns)?;
        self.pool[slot].encoder.start(timestamp_ms);
        self.begin_proof(slot);
        self.partitions[index as usize].open = Some(slot);
        let linger_ns = self.flow.settings.linger_ns;
        if linger_ns > 0 {
            self.lingering.push_back(LingeringBatch {
                deadline_ns: now_ns.saturating_add(linger_ns),
                partition: index,
                batch: slot,
                created_ns: now_ns,
            });
        }
        Some(slot)
    }

    /// The open batch is full: it waits to be sent, and the partitioner may move on.
    pub(super) fn complete_open(&mut self, partition: u32) {
        let closed = self.partitions[partition as usize].close_open(&mut self.pool);
        if let Some(slot) = closed {
            // The records are still in the cache: the checksum costs a third of what it would later.
            self.finish_batch(slot);
        }
        self.list_ready(partition);
        self.batch_complete(partition);
    }

    /// There is no memory for the next record, possibly `again`. As in Kafka, batches then no longer linger.
    fn note_blocked(&mut self, now_ns: u64, again: bool) {
        if self.blocked_since_ns.is_none() {
            self.blocked_since_ns = Some(now_ns);
            self.waiting_from_ns = self.waiting_from_ns.min(now_ns);
            if !again {
                self.flush();
            }
        }
    }

    /// The record that waited for buffer space no longer waits.
    fn note_unblocked(&mut self, now_ns: u64, recorder: &mut Recorder) {
        if let Some(since_ns) = self.blocked_since_ns.take() {
            recorder.buffer_wait(now_ns, now_ns.saturating_sub(since_ns));
        }
    }

    /// Makes all lingering batches ready.
    pub(super) fn flush(&mut self) {
        for partition in 0..self.partitions.len() as u32 {
            if self.partitions[partition as usize].has_work() {
                self.list_ready(partition);
            }
        }
    }

    /// Makes the batches ready whose linger has ended.
    pub(super) fn end_lingers(&mut self, now_ns: u64) {
        while let Some(first) = self.lingering.front() {
            if first.deadline_ns > now_ns {
                return;
            }
            let (partition, batch, created_ns) = (first.partition, first.batch, first.created_ns);
            self.lingering.pop_front();
            // A batch that was sent full has left its entry behind; its index may be in use again.
            let is_same = self.partitions[partition as usize].open == Some(batch)
                && self.pool[batch].created_ns == created_ns;
            if is_same {
                self.list_ready(partition);
            }
        }
    }

    /// Whether batches no longer linger.
    pub(super) fn is_flushing(&self) -> bool {
        self.phase != Phase::Running || self.blocked_since_ns.is_some() || self.ends_transaction()
    }
}

/// The fields that the innermost loop needs, without the producer around them.
struct BatchFiller<'a> {
    value_bytes: usize,
    batch_bytes_max: usize,
    /// Compressed ÷ uncompressed bytes, with Kafka's safety factor.
    ratio: f32,
    timestamp_ms: i64,
    next_record: u64,
    member: Stripe,
    payload: &'a Payload,
    /// Of verified records.
    stamper: Option<Stamper>,
}

impl BatchFiller<'_> {
    /// Appends up to `limit` records, until the batch is full; returns how many.
    fn fill<E: TakeRecords>(&mut self, encoder: &mut E, limit: u32) -> u32 {
        let (value_bytes, batch_bytes_max) = (self.value_bytes, self.batch_bytes_max);
        let delta_ms = self.timestamp_ms - encoder.base_ms();
        let (mut appended, mut record, mut size_changes_at) = (0, 0, encoder.count());
        while appended < limit {
            if encoder.count() >= size_changes_at {
                record = encoder.next_bytes(self.timestamp_ms, value_bytes);
                size_changes_at = next_longer_delta(encoder.count());
            }
            let so_far = encoder.total_bytes();
            // As in Kafka's producer, the first record always fits, however large it is.
            let has_room = encoder.count() == 0
                || if self.ratio == 1.0 {
                    so_far + record <= batch_bytes_max
                } else {
                    let records = (so_far - E::OVERHEAD_BYTES) as f32 * self.ratio;
                    E::OVERHEAD_BYTES + records as usize + record <= batch_bytes_max
                };
            if !has_room {
                break;
            }
            let n = self.next_record;
            let number = self.member.record_number(n);
            encoder.push(delta_ms, value_bytes, |to| {
                self.payload.fill(number, n, to);
                if let Some(stamper) = &mut self.stamper {
                    stamper.stamp(number, to);
                }
            });
            self.next_record += 1;
            appended += 1;
        }
        appended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_measured_anew_where_its_delta_gets_longer() {
        let size = |delta: i32| record_bytes(delta, 0, None, Some(100), &[]);
        let mut border = next_longer_delta(0);
        for records in 0..20_000_u32 {
            if records >= border {
                assert!(
                    size(records as i32) > size(records as i32 - 1),
                    "at {records}"
                );
                border = next_longer_delta(records);
            } else if records > 0 {
                assert_eq!(
                    size(records as i32),
                    size(records as i32 - 1),
                    "at {records}"
                );
            }
        }
    }
}
