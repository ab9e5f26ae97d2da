//! What a partition remembers of idempotent producers: enough to recognise a batch that comes again
//! and a gap.
//!
//! Rules as in Kafka 4 (`ProducerAppendInfo`, `ProducerStateEntry`):
//! * a batch with the exact sequences of one of the producer's last five is a duplicate, and gets
//!   that one's offsets;
//! * an epoch below the known one is refused, a higher one must begin at sequence 0;
//! * else the first sequence must follow the last one, where after `i32::MAX` comes 0;
//! * a producer that is not known may begin with any sequence: its records may have been deleted
//!   since.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use kgauge_wire::record_batch::BatchHeader;

use super::AppendError;

/// How many batches of each producer are remembered. A producer may have as many in flight
/// (`max.in.flight.requests.per.connection` is at most 5 with idempotence).
pub const BATCHES_KEPT: usize = 5;

/// One remembered batch of a producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProducerBatch {
    /// Sequence of the last record.
    pub last_sequence: i32,
    /// Offset of the last record.
    pub last_offset: i64,
    /// Last offset less first offset; the same for the sequences.
    pub offset_delta: i32,
    /// Largest timestamp of the batch, ms since 1970.
    pub timestamp_ms: i64,
}

impl ProducerBatch {
    /// The entry of a batch that is in the log.
    #[must_use]
    pub fn of(header: &BatchHeader) -> Self {
        Self {
            last_sequence: header.last_sequence(),
            last_offset: header.last_offset(),
            offset_delta: header.last_offset_delta,
            timestamp_ms: header.max_timestamp_ms,
        }
    }

    /// Offset of the first record.
    #[must_use]
    pub fn base_offset(&self) -> i64 {
        self.last_offset - i64::from(self.offset_delta)
    }

    /// Sequence of the first record.
    #[must_use]
    pub fn base_sequence(&self) -> i32 {
        let first = i64::from(self.last_sequence) - i64::from(self.offset_delta);
        i32::try_from(first.rem_euclid(1 << 31)).unwrap_or(0)
    }
}

/// What is remembered of one producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProducerEntry {
    /// The producer's newest epoch.
    pub epoch: i16,
    /// Epoch of the transaction coordinator that wrote the last marker; -1 without transactions.
    pub coordinator_epoch: i32,
    /// First offset of the transaction that is open; -1 for none.
    pub transaction_first_offset: i64,
    /// Largest timestamp of the newest batch: expiry counts from here.
    pub last_timestamp_ms: i64,
    batches: [ProducerBatch; BATCHES_KEPT],
    count: u8,
}

impl ProducerEntry {
    fn new(epoch: i16) -> Self {
        Self {
            epoch,
            coordinator_epoch: -1,
            transaction_first_offset: -1,
            last_timestamp_ms: -1,
            batches: [ProducerBatch::default(); BATCHES_KEPT],
            count: 0,
        }
    }

    /// The remembered batches of the newest epoch, oldest first.
    #[must_use]
    pub fn batches(&self) -> &[ProducerBatch] {
        &self.batches[..usize::from(self.count)]
    }

    fn push(&mut self, epoch: i16, batch: ProducerBatch, kept: usize) {
        if epoch != self.epoch {
            self.epoch = epoch;
            self.count = 0;
        }
        while usize::from(self.count) >= kept.clamp(1, BATCHES_KEPT) {
            self.batches.rotate_left(1);
            self.count -= 1;
        }
        self.batches[usize::from(self.count)] = batch;
        self.count += 1;
        self.last_timestamp_ms = batch.timestamp_ms;
    }
}

/// What to do with a produced batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is new: append it.
    Append,
    /// It is in the log already: answer with these offsets.
    Duplicate(ProducerBatch),
}

/// The producers of one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProducerStates {
    producers: HashMap<i64, ProducerEntry>,
    kept: usize,
}

impl Default for ProducerStates {
    fn default() -> Self {
        Self {
            producers: HashMap::new(),
            kept: BATCHES_KEPT,
        }
    }
}

impl ProducerStates {
    /// Remembers at most this many batches of each producer from now on.
    pub(crate) fn keep(&mut self, count: usize) {
        self.kept = count;
    }

    /// Judges a produced batch before it is appended. Changes nothing.
    pub fn admit(&self, header: &BatchHeader) -> Result<Admission, AppendError> {
        if !header.has_producer_id() {
            return Ok(Admission::Append);
        }
        let Some(entry) = self.producers.get(&header.producer_id) else {
            return Ok(Admission::Append);
        };
        let (epoch, sequence) = (header.producer_epoch, header.base_sequence);
        if epoch == entry.epoch {
            let same = |batch: &&ProducerBatch| {
                batch.base_sequence() == sequence && batch.last_sequence == header.last_sequence()
            };
            if let Some(batch) = entry.batches().iter().find(same) {
                return Ok(Admission::Duplicate(*batch));
            }
        }
        if epoch < entry.epoch {
            let (producer_id, current) = (header.producer_id, entry.epoch);
            return Err(AppendError::InvalidProducerEpoch {
                producer_id,
                epoch,
                current,
            });
        }
        let expected = match entry.batches().last() {
            Some(last) if epoch == entry.epoch => next_sequence(last.last_sequence),
            _ => 0,
        };
        // Whoever remembers fewer batches takes what it has forgotten for new.
        let is_forgotten = self.kept < BATCHES_KEPT && sequence < expected;
        if sequence != expected && !is_forgotten {
            let producer_id = header.producer_id;
            return Err(AppendError::OutOfOrderSequence {
                producer_id,
                epoch,
                sequence,
                expected,
            });
        }
        Ok(Admission::Append)
    }

    /// Takes note of a batch that is in the log now, appended or replicated or found by recovery.
    pub fn note(&mut self, header: &BatchHeader) {
        if !header.has_producer_id() || header.attributes.is_control() {
            return;
        }
        let entry = self.producers.entry(header.producer_id);
        let entry = entry.or_insert_with(|| ProducerEntry::new(header.producer_epoch));
        entry.push(header.producer_epoch, ProducerBatch::of(header), self.kept);
    }

    /// Adds a row of a snapshot: one batch of a producer. Rows of one producer come oldest first.
    pub(super) fn restore(&mut self, producer_id: i64, row: ProducerRow) {
        let entry = match self.producers.entry(producer_id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(ProducerEntry::new(row.epoch)),
        };
        entry.coordinator_epoch = row.coordinator_epoch;
        entry.transaction_first_offset = row.transaction_first_offset;
        entry.push(row.epoch, row.batch, self.kept);
    }

    /// Forgets producers whose last batch is `expiration_ms` old or older. Gives how many were
    /// forgotten.
    pub fn expire(&mut self, now_ms: i64, expiration_ms: i64) -> usize {
        let before = self.producers.len();
        self.producers.retain(|_, entry| {
            entry.transaction_first_offset >= 0
                || now_ms.saturating_sub(entry.last_timestamp_ms) < expiration_ms
        });
        before - self.producers.len()
    }

    /// Forgets all producers.
    pub fn clear(&mut self) {
        self.producers.clear();
    }

    /// The producers, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &ProducerEntry)> {
        self.producers.iter().map(|(id, entry)| (*id, entry))
    }

    /// How many producers are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.producers.len()
    }

    /// True when no producer is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.producers.is_empty()
    }
}

/// One row of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProducerRow {
    pub(super) epoch: i16,
    pub(super) coordinator_epoch: i32,
    pub(super) transaction_first_offset: i64,
    pub(super) batch: ProducerBatch,
}

fn next_sequence(sequence: i32) -> i32 {
    sequence.checked_add(1).unwrap_or(0)
}
