//! The ledger of a verified producer in another client: what became of each record, in the partition that the client
//! reports.

use kgauge_results::client_code;
use kgauge_verify::{
    BatchEntry, BatchFate, PARTITION_MAX, PARTITION_UNKNOWN, StampKey, producer_number,
};
use kgauge_wire::error_code::ErrorCode;

use super::frames::{Fate, RecordOutcome};
use super::identity::DrivenIdentity;
use crate::ledgers::LedgerSink;
use crate::timed_ledger::TimedLedger;

/// The ledger of a driven producer.
pub(crate) struct DrivenProof {
    identity: DrivenIdentity,
    ledger: TimedLedger,
    /// Outcomes that continue each other.
    open: Option<BatchEntry>,
}

impl DrivenProof {
    /// The proof of a flow's producer that has sent nothing so far.
    pub(crate) fn new(key: StampKey, flow: usize, member: u32, sink: Box<dyn LedgerSink>) -> Self {
        let producer = producer_number(flow, member);
        Self {
            identity: DrivenIdentity::new(key, producer),
            ledger: TimedLedger::new(sink, producer),
            open: None,
        }
    }

    pub(super) fn identity(&self) -> DrivenIdentity {
        self.identity
    }

    /// The ledger follows the time, in milliseconds since 1970, and is written.
    pub(super) fn tick(&mut self, unix_ms: u64) {
        if self.ledger.is_clock_due(unix_ms) {
            self.push_open();
        }
        self.ledger.tick(unix_ms);
    }

    /// A record has its outcome.
    pub(super) fn note(&mut self, outcome: &RecordOutcome) {
        let fate = match outcome.fate {
            Fate::Acked if outcome.partition.is_some() => BatchFate::Acked,
            Fate::Failed if is_certain(outcome.code) => BatchFate::Failed,
            Fate::Acked | Fate::Failed | Fate::Indeterminate => BatchFate::Unknown,
            // The client never got it.
            Fate::Skipped | Fate::Untaken => return,
        };
        let partition = outcome.partition.filter(|one| *one <= PARTITION_MAX);
        self.add(BatchEntry {
            fate,
            partition: partition.unwrap_or(PARTITION_UNKNOWN),
            sequence: outcome.index,
            count: 1,
            offset: outcome.offset.filter(|_| fate == BatchFate::Acked),
        });
    }

    /// It is unknown how far the child got with a record.
    pub(super) fn note_lost(&mut self, index: u64) {
        self.add(BatchEntry {
            fate: BatchFate::Unknown,
            partition: PARTITION_UNKNOWN,
            sequence: index,
            count: 1,
            offset: None,
        });
    }

    fn add(&mut self, next: BatchEntry) {
        if let Some(open) = &mut self.open
            && continues(open, &next)
        {
            open.count += 1;
            return;
        }
        self.push_open();
        self.open = Some(next);
    }

    fn push_open(&mut self) {
        if let Some(complete) = self.open.take() {
            self.ledger.push_batch(complete);
        }
    }

    /// Every record has its outcome: the ledger is complete.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub(super) fn close(&mut self) -> std::io::Result<()> {
        self.push_open();
        self.ledger.close()
    }
}

/// Whether a record is the next one of a batch.
fn continues(batch: &BatchEntry, next: &BatchEntry) -> bool {
    let count = u64::from(batch.count);
    batch.fate == next.fate
        && batch.partition == next.partition
        && batch.sequence + count == next.sequence
        && batch.offset.map(|offset| offset + count) == next.offset
        && batch.count < u32::MAX
}

/// Whether no attempt can have reached a log: the client had no room for the record, or each broker would refuse it for
/// what it is. Clients do not report earlier attempts, which may have succeeded.
fn is_certain(code: i16) -> bool {
    code == client_code::BUFFER_TIMEOUT
        || matches!(
            ErrorCode::from_i16(code),
            ErrorCode::MessageTooLarge
                | ErrorCode::RecordListTooLarge
                | ErrorCode::UnsupportedForMessageFormat
                | ErrorCode::UnsupportedCompressionType
                | ErrorCode::InvalidTimestamp
                | ErrorCode::InvalidRequiredAcks
        )
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use kgauge_verify::{LedgerEntry, LedgerReader};

    use super::*;

    fn outcome(index: u64, fate: Fate, code: i16, place: Option<(u32, u64)>) -> RecordOutcome {
        RecordOutcome {
            index,
            sent_ns: 1,
            end_ns: 2,
            fate,
            code,
            partition: place.map(|(partition, _)| partition),
            offset: place.map(|(_, offset)| offset),
        }
    }

    fn batch(fate: BatchFate, partition: u32, sequence: u64, count: u32) -> BatchEntry {
        BatchEntry {
            fate,
            partition,
            sequence,
            count,
            offset: (fate == BatchFate::Acked).then_some(sequence * 10),
        }
    }

    #[test]
    fn records_of_a_batch_are_one_entry_and_what_was_never_sent_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger");
        let file = File::create(&path).unwrap();
        let mut proof = DrivenProof::new(StampKey::new(1), 2, 3, Box::new(file));
        let acked =
            |index, partition, offset| outcome(index, Fate::Acked, 0, Some((partition, offset)));
        proof.tick(1_000);
        for one in [
            acked(0, 1, 0),
            acked(1, 1, 1),
            acked(2, 0, 20),
            outcome(3, Fate::Skipped, 0, None),
            outcome(4, Fate::Failed, client_code::BUFFER_TIMEOUT, None),
            outcome(
                5,
                Fate::Failed,
                ErrorCode::InvalidRecord.as_i16(),
                Some((1, 9)),
            ),
            outcome(6, Fate::Acked, 0, None),
        ] {
            proof.note(&one);
        }
        proof.note_lost(7);
        proof.close().unwrap();
        let mut reader = LedgerReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.producer(), producer_number(2, 3));
        let mut batches = Vec::new();
        while let Some(entry) = reader.next_entry().unwrap() {
            if let LedgerEntry::Batch(batch) = entry {
                batches.push(batch);
            }
        }
        let expected = [
            batch(BatchFate::Acked, 1, 0, 2),
            batch(BatchFate::Acked, 0, 2, 1),
            batch(BatchFate::Failed, PARTITION_UNKNOWN, 4, 1),
            batch(BatchFate::Unknown, 1, 5, 1),
            batch(BatchFate::Unknown, PARTITION_UNKNOWN, 6, 2),
        ];
        assert_eq!(batches, expected);
    }
}
