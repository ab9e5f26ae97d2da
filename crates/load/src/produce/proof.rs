//! Verified producers: the identity in each record, and the ledger of what became of each batch.

use kgauge_verify::{BatchEntry, BatchFate, LedgerEntry, Stamp, StampKey, TransactionFate};
use kgauge_wire::error_code::ErrorCode;

use super::Producer;
use crate::ledgers::LedgerSink;
use crate::timed_ledger::TimedLedger;
use crate::worker_context::WorkerContext;

/// The ledger of a verified producer, and the sequences of its records.
#[derive(Debug)]
pub(crate) struct ProducerProof {
    key: StampKey,
    producer: u32,
    ledger: TimedLedger,
    /// For each partition the sequence of the next record.
    next: Vec<u64>,
    is_closed: bool,
}

/// Writes the identity of a partition's next records.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamper {
    key: StampKey,
    next: Stamp,
}

impl Stamper {
    /// Writes the identity of the flow's record `number`, the next of the partition.
    #[inline]
    pub(super) fn stamp(&mut self, number: u64, value: &mut [u8]) {
        self.next.number = number;
        self.key.write(&self.next, value);
        self.next.sequence += 1;
    }
}

impl ProducerProof {
    /// The proof of a producer that has sent nothing so far.
    pub(crate) fn new(
        key: StampKey,
        producer: u32,
        sink: Box<dyn LedgerSink>,
        partitions: usize,
    ) -> Self {
        Self {
            key,
            producer,
            ledger: TimedLedger::new(sink, producer),
            next: vec![0; partitions],
            is_closed: false,
        }
    }

    /// What stamps the next records of a partition.
    #[inline]
    pub(super) fn stamper(&self, partition: u32) -> Stamper {
        Stamper {
            key: self.key,
            next: Stamp {
                producer: self.producer,
                partition,
                sequence: self.next[partition as usize],
                number: 0,
            },
        }
    }

    /// This many records of the partition were stamped and are in a batch.
    #[inline]
    pub(super) fn advance(&mut self, partition: u32, records: u32) {
        self.next[partition as usize] += u64::from(records);
    }

    fn sequence(&self, partition: u32) -> u64 {
        self.next[partition as usize]
    }
}

/// Whether a refusal with this code means that the broker did not append the batch. `NOT_LEADER_OR_FOLLOWER`,
/// `REQUEST_TIMED_OUT` and `NOT_ENOUGH_REPLICAS_AFTER_APPEND` also end requests whose batch is in the log.
fn is_certain(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::NotEnoughReplicas
            | ErrorCode::OutOfOrderSequenceNumber
            | ErrorCode::UnknownProducerId
            | ErrorCode::InvalidProducerEpoch
            | ErrorCode::InvalidProducerIdMapping
            | ErrorCode::InvalidTxnState
            | ErrorCode::ConcurrentTransactions
            | ErrorCode::MessageTooLarge
            | ErrorCode::RecordListTooLarge
            | ErrorCode::InvalidRecord
            | ErrorCode::CorruptMessage
            | ErrorCode::TopicAuthorizationFailed
            | ErrorCode::ClusterAuthorizationFailed
            | ErrorCode::TransactionalIdAuthorizationFailed
            | ErrorCode::UnsupportedForMessageFormat
            | ErrorCode::UnsupportedCompressionType
            | ErrorCode::InvalidTimestamp
            | ErrorCode::InvalidRequiredAcks
    )
}

impl Producer {
    /// The ledger follows the time and is written.
    pub(super) fn tick_proof(&mut self, now_ns: u64, around: &WorkerContext<'_>) {
        if let Some(proof) = &mut self.proof {
            let unix_ms = around.clock.shared_unix_ms(now_ns);
            proof.ledger.tick(u64::try_from(unix_ms).unwrap_or(0));
        }
    }

    /// A batch begins with the partition's next sequence.
    #[inline]
    pub(super) fn begin_proof(&mut self, slot: u32) {
        if let Some(proof) = &self.proof {
            let batch = &mut self.pool[slot];
            batch.first_record = proof.sequence(batch.partition);
            batch.may_be_in_log = false;
            batch.is_renumbered = false;
        }
    }

    /// What stamps the next records of a partition.
    #[inline]
    pub(super) fn stamper(&self, partition: u32) -> Option<Stamper> {
        self.proof.as_ref().map(|proof| proof.stamper(partition))
    }

    /// Stamped records are in a batch of the partition.
    #[inline]
    pub(super) fn note_stamped(&mut self, partition: u32, records: u32) {
        if let Some(proof) = &mut self.proof {
            proof.advance(partition, records);
        }
    }

    /// The broker acked a batch, at this offset if it said so.
    pub(super) fn prove_acked(&mut self, slot: u32, offset: i64) {
        let fate = match self.pool[slot].is_renumbered {
            true => BatchFate::AckedRenumbered,
            false => BatchFate::Acked,
        };
        self.prove(slot, fate, u64::try_from(offset).ok());
    }

    /// A batch that will not be sent again was refused with this error, or never sent.
    pub(super) fn prove_failed(&mut self, slot: u32, error: i16) {
        let batch = &self.pool[slot];
        let code = ErrorCode::from_i16(error);
        // A batch without an attempt was never sent, or was refused in a way that forbids another one.
        let never_sent = batch.attempts == 0 && code == ErrorCode::RequestTimedOut;
        let is_absent = !batch.may_be_in_log && (never_sent || is_certain(code));
        let fate = match is_absent {
            true => BatchFate::Failed,
            false => BatchFate::Unknown,
        };
        self.prove(slot, fate, None);
    }

    /// It is not known what became of a batch.
    pub(super) fn prove_unknown(&mut self, slot: u32) {
        self.prove(slot, BatchFate::Unknown, None);
    }

    /// An attempt ended with this error, and another one follows.
    pub(super) fn note_attempt(&mut self, slot: u32, error: i16) {
        let batch = &mut self.pool[slot];
        batch.may_be_in_log |= !is_certain(ErrorCode::from_i16(error));
    }

    /// The open transaction has ended.
    pub(super) fn prove_transaction(&mut self, fate: TransactionFate) {
        if let Some(proof) = &mut self.proof {
            proof.ledger.push(LedgerEntry::TransactionEnd(fate));
            proof.ledger.flush();
        }
    }

    fn prove(&mut self, slot: u32, fate: BatchFate, offset: Option<u64>) {
        let Some(proof) = &mut self.proof else {
            return;
        };
        let batch = &self.pool[slot];
        proof.ledger.push_batch(BatchEntry {
            fate,
            partition: batch.partition,
            sequence: batch.first_record,
            count: batch.encoder.records(),
            offset,
        });
    }

    /// Nothing more comes: the ledger is complete.
    pub(crate) fn close_proof(&mut self, around: &WorkerContext<'_>) {
        let Some(proof) = &mut self.proof else {
            return;
        };
        if std::mem::replace(&mut proof.is_closed, true) {
            return;
        }
        if let Err(error) = proof.ledger.close() {
            let at_ns = around.clock.now_ns();
            around.broken(at_ns, &self.flow.name, || {
                format!("cannot write the ledger of acks: {error}; what it lacks is not checked")
            });
        }
    }
}
