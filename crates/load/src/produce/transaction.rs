//! Transactions: when they begin and end, and what waits meanwhile.
//!
//! Requests to the coordinator take milliseconds; a separate thread of the producer makes them (`coordinator.rs`). This
//! file is the producer's side. A transaction begins with the first record after the last commit. A partition's first
//! batch waits until the partition is part of the transaction; with KIP-890 that batch itself adds it. At the end, all
//! batches are sent and answered before the commit. No record is accepted until the coordinator has answered, as after
//! `commitTransaction` of Kafka's producer.

use kgauge_client::admin::ProducerId;
use kgauge_client::transaction::TransactionKind;
use kgauge_results::Recorder;
use kgauge_scenario::TransactionLength;
use kgauge_verify::TransactionFate;
use kgauge_wire::error_code::ErrorCode;

use super::coordinator::{
    CoordinatorExit, TransactionReply, TransactionRequest, TransactionThread,
};
use super::partition::sequence_after;
use super::{Phase, Producer};
use crate::worker_context::WorkerContext;

/// A producer's side of its transactions.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(super) thread: TransactionThread,
    length: TransactionLength,
    stage: Stage,
    /// Records accepted in the open transaction.
    records: u64,
    /// For each partition whether it is part of the open transaction.
    partitions: Vec<Membership>,
    /// With KIP-890: its thread knows of it.
    is_begun: bool,
    /// A batch of it was lost: it will be aborted.
    must_abort: bool,
    /// A broker was lost since the previous transaction ended: its markers, and those of the previous one, may be
    /// written again.
    has_lost_broker: bool,
    markers_before: u64,
    /// Records that were acked in the open transaction.
    acked: u64,
    /// In an echo flow, their positions: partition, first offset, count.
    posted: Vec<(u32, i64, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The next record begins a transaction.
    Ready,
    Open {
        since_ns: u64,
    },
    /// Its batches are being sent, and their responses are awaited.
    Ending,
    /// Waiting for the coordinator.
    Asked {
        since_ns: u64,
        commits: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Membership {
    No,
    Asked,
    /// With KIP-890: written to, without a response yet.
    Written,
    Yes,
}

impl Transaction {
    /// Transactions of an initialised producer.
    pub(crate) fn new(
        thread: TransactionThread,
        length: TransactionLength,
        partitions: usize,
    ) -> Self {
        Self {
            thread,
            length,
            stage: Stage::Ready,
            records: 0,
            partitions: vec![Membership::No; partitions],
            is_begun: false,
            must_abort: false,
            has_lost_broker: false,
            markers_before: 0,
            acked: 0,
            posted: Vec::new(),
        }
    }

    /// The transaction protocol.
    pub(crate) fn kind(&self) -> TransactionKind {
        self.thread.kind
    }

    /// The producer's identity.
    pub(crate) fn identity(&self) -> ProducerId {
        self.thread.identity
    }

    /// Records that the open transaction may still accept.
    fn room(&self) -> u64 {
        match (self.stage, self.length) {
            (Stage::Ready | Stage::Open { .. }, TransactionLength::Records(records)) => {
                records.saturating_sub(self.records)
            }
            (Stage::Ready | Stage::Open { .. }, TransactionLength::Ns(_)) => u64::MAX,
            _ => 0,
        }
    }

    /// When the open transaction is long enough, if by time.
    fn end_ns(&self) -> u64 {
        match (self.stage, self.length) {
            (Stage::Open { since_ns }, TransactionLength::Ns(ns)) => since_ns.saturating_add(ns),
            _ => u64::MAX,
        }
    }
}

impl Producer {
    /// Records that may be accepted before the transaction must end; without transactions, any number.
    #[inline]
    pub(super) fn transaction_room(&self) -> u64 {
        self.transaction.as_ref().map_or(u64::MAX, |one| one.room())
    }

    /// Records were accepted.
    #[inline]
    pub(super) fn note_in_transaction(&mut self, now_ns: u64, records: u64) {
        if let Some(transaction) = &mut self.transaction {
            if transaction.stage == Stage::Ready {
                transaction.stage = Stage::Open { since_ns: now_ns };
            }
            transaction.records += records;
        }
    }

    /// Whether everything is sent at once because the transaction must end.
    pub(super) fn ends_transaction(&self) -> bool {
        let transaction = self.transaction.as_ref();
        transaction.is_some_and(|one| one.stage == Stage::Ending)
    }

    /// Whether a transaction is open or being ended.
    pub(super) fn is_in_transaction(&self) -> bool {
        let transaction = self.transaction.as_ref();
        transaction.is_some_and(|one| one.stage != Stage::Ready)
    }

    /// When the open transaction must end.
    pub(super) fn transaction_end_ns(&self) -> u64 {
        let transaction = self.transaction.as_ref();
        transaction.map_or(u64::MAX, |one| one.end_ns())
    }

    /// Whether a partition's batches may be sent; requests to add it to the transaction if necessary.
    pub(super) fn transaction_admits(&mut self, partition: u32) -> bool {
        let Some(transaction) = &mut self.transaction else {
            return true;
        };
        let membership = &mut transaction.partitions[partition as usize];
        match (transaction.thread.kind, *membership) {
            (TransactionKind::First, Membership::No) => {
                *membership = Membership::Asked;
                transaction
                    .thread
                    .request(TransactionRequest::Add(partition));
            }
            (TransactionKind::Second, Membership::No) => {
                *membership = Membership::Written;
                if !std::mem::replace(&mut transaction.is_begun, true) {
                    transaction.thread.request(TransactionRequest::Begin);
                }
            }
            _ => {}
        }
        matches!(*membership, Membership::Yes | Membership::Written)
    }

    /// A batch of the open transaction is in its partition's log.
    #[inline]
    pub(super) fn note_in_log(&mut self, slot: u32, records: u64) {
        let Some(transaction) = &mut self.transaction else {
            return;
        };
        let batch = &self.pool[slot];
        transaction.acked += records;
        transaction.partitions[batch.partition as usize] = Membership::Yes;
        let partition = &mut self.partitions[batch.partition as usize];
        partition.acked_sequence = sequence_after(batch.base_sequence, batch.encoder.records());
    }

    /// A batch was refused. Brokers of KIP-890 add the partition to the transaction first: it stays in it whatever
    /// error follows, and gets a marker.
    pub(super) fn note_refused(&mut self, partition: u32, code: ErrorCode) {
        let Some(transaction) = &mut self.transaction else {
            return;
        };
        if !is_of_coordinator(code) {
            transaction.partitions[partition as usize] = Membership::Yes;
        }
    }

    /// In an echo flow: records are in the log, at these offsets if known.
    pub(super) fn post(&mut self, partition: u32, base: i64, records: u64, now_ns: u64) {
        let Some(echo) = &self.echo else { return };
        echo.acked(partition, base, records, now_ns);
        if let Some(transaction) = &mut self.transaction {
            transaction.posted.push((partition, base, records));
        }
    }

    /// A broker was lost, with everything that it was about to write.
    pub(super) fn note_lost_broker(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.has_lost_broker = true;
        }
    }

    /// Whether an out-of-order batch only arrived too early: one before it was refused, and is sent again
    /// (`TransactionManager.canRetry`).
    pub(super) fn is_overtaking(&self, slot: u32) -> bool {
        let batch = &self.pool[slot];
        let next = self.partitions[batch.partition as usize].acked_sequence;
        let transaction = self.transaction.as_ref();
        transaction.is_some_and(|one| !one.must_abort) && batch.base_sequence != next
    }

    /// A batch was lost: the transaction can no longer be committed.
    pub(super) fn abort_transaction_later(&mut self) -> bool {
        match &mut self.transaction {
            Some(transaction) => {
                transaction.must_abort = true;
                true
            }
            None => false,
        }
    }

    /// Handles the coordinator's results, and ends the transaction when it is time.
    pub(super) fn step_transaction(
        &mut self,
        now_ns: u64,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) {
        while let Some(reply) = self.next_reply() {
            self.handle_reply(reply, now_ns, recorder, around);
        }
        let Some(transaction) = &mut self.transaction else {
            return;
        };
        if let Stage::Open { .. } = transaction.stage {
            let is_due = transaction.room() == 0
                || transaction.end_ns() <= now_ns
                || transaction.must_abort
                || self.phase == Phase::Draining;
            if is_due {
                transaction.stage = Stage::Ending;
                self.flush();
            }
        }
        let has_answers = self.outstanding.records() == 0;
        if let Some(transaction) = &mut self.transaction
            && transaction.stage == Stage::Ending
            && has_answers
        {
            let commits = !transaction.must_abort;
            transaction.stage = Stage::Asked {
                since_ns: now_ns,
                commits,
            };
            transaction
                .thread
                .request(TransactionRequest::End { commits });
        }
    }

    fn next_reply(&self) -> Option<TransactionReply> {
        self.transaction.as_ref()?.thread.next_reply()
    }

    fn handle_reply(
        &mut self,
        reply: TransactionReply,
        now_ns: u64,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) {
        match reply {
            TransactionReply::Added(partition) => {
                if let Some(transaction) = &mut self.transaction {
                    transaction.partitions[partition as usize] = Membership::Yes;
                }
                if self.partitions[partition as usize].has_work() {
                    self.list_ready(partition);
                }
            }
            TransactionReply::NotAdded { partition, why } => {
                around.incident(now_ns, &self.flow.name, || why);
                if let Some(transaction) = &mut self.transaction {
                    transaction.must_abort = true;
                    transaction.partitions[partition as usize] = Membership::No;
                }
                self.fail_waiting(partition, now_ns, recorder);
            }
            TransactionReply::Committed(identity) => {
                self.conclude(true, now_ns, recorder);
                // KIP-890 gives a new identity after each transaction, and sequences start again.
                if self.identity != Some(identity) {
                    self.on_identity(identity);
                }
            }
            TransactionReply::Moved => self.note_lost_broker(),
            TransactionReply::Waits(why) => around.incident(now_ns, &self.flow.name, || why),
            TransactionReply::Aborted { why, identity } => {
                around.incident(now_ns, &self.flow.name, || {
                    format!("a transaction was aborted: {why}")
                });
                self.conclude(false, now_ns, recorder);
                self.on_identity(identity);
            }
            TransactionReply::Failed(why) => {
                around.broken(now_ns, &self.flow.name, || why);
                if self.is_in_transaction() {
                    // It will not be committed.
                    self.conclude(false, now_ns, recorder);
                }
                self.abandon(now_ns, recorder);
            }
        }
    }

    /// The coordinator has ended the transaction.
    fn conclude(&mut self, committed: bool, now_ns: u64, recorder: &mut Recorder) {
        let Some(transaction) = &mut self.transaction else {
            return;
        };
        let members = transaction.partitions.iter();
        let markers = members.filter(|one| **one == Membership::Yes).count() as u64;
        self.totals.markers += markers;
        let before = std::mem::replace(&mut transaction.markers_before, markers);
        if std::mem::take(&mut transaction.has_lost_broker) {
            recorder.markers_doubted(now_ns, markers + before);
        }
        let fate = match transaction.stage {
            _ if committed => TransactionFate::Committed,
            // The coordinator may have committed it before it was lost.
            Stage::Asked { commits: true, .. } => TransactionFate::Unknown,
            _ => TransactionFate::Aborted,
        };
        match transaction.stage {
            Stage::Asked { since_ns, .. } if committed => {
                recorder.committed(now_ns, now_ns.saturating_sub(since_ns), markers);
            }
            _ => recorder.aborted(now_ns, markers, transaction.acked),
        }
        if let Some(echo) = &self.echo {
            for (partition, base, records) in transaction.posted.drain(..) {
                echo.ended((partition, base), records, committed.then_some(now_ns));
            }
        }
        self.prove_transaction(fate);
        let Some(transaction) = &mut self.transaction else {
            return;
        };
        transaction.stage = Stage::Ready;
        transaction.records = 0;
        transaction.acked = 0;
        transaction.is_begun = false;
        transaction.must_abort = false;
        transaction.partitions.fill(Membership::No);
        for partition in 0..self.partitions.len() as u32 {
            if self.partitions[partition as usize].has_work() {
                self.list_ready(partition);
            }
        }
    }

    /// Lets the thread abort the open transaction, and end.
    pub(crate) fn leave(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.thread.leave();
        }
    }

    /// The producer is done: waits until its thread has ended the open transaction, and counts that.
    pub(crate) fn settle_transaction(
        &mut self,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) {
        let Some(transaction) = &mut self.transaction else {
            return;
        };
        let left = transaction.thread.wait_left();
        let now_ns = around.clock.now_ns();
        while let Some(reply) = self.next_reply() {
            self.handle_reply(reply, now_ns, recorder, around);
        }
        let name = &self.flow.name;
        match left {
            CoordinatorExit::Clean => {}
            CoordinatorExit::Aborted => {
                let words = "the transaction that was open at the end was aborted";
                around.incident(now_ns, name, || words.to_owned());
                self.conclude(false, now_ns, recorder);
            }
            CoordinatorExit::Unknown(why) => around.broken(now_ns, name, || {
                format!("unknown whether the last transaction was committed: {why}")
            }),
            CoordinatorExit::Hanging(why) => around.broken(now_ns, name, || {
                format!(
                    "the last transaction could not be aborted: {why}; read_committed consumers \
                     wait until it is older than transaction.timeout.ms"
                )
            }),
        }
    }

    /// The transaction protocol, if it writes in transactions.
    pub(crate) fn transaction_kind(&self) -> Option<TransactionKind> {
        self.transaction.as_ref().map(Transaction::kind)
    }

    /// The transactional marking of its batches.
    pub(super) fn is_transactional(&self) -> bool {
        self.transaction.is_some()
    }
}

/// Whether the coordinator, not the log, may have caused an error of Produce: then the batch did not reach the log.
fn is_of_coordinator(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::TransactionAbortable
            | ErrorCode::InvalidTxnState
            | ErrorCode::ConcurrentTransactions
            | ErrorCode::InvalidProducerEpoch
            | ErrorCode::ProducerFenced
            | ErrorCode::InvalidProducerIdMapping
            | ErrorCode::TransactionalIdAuthorizationFailed
            | ErrorCode::TopicAuthorizationFailed
    ) || code.is_retriable()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_by_the_log_comes_after_the_partition_has_joined_and_one_by_the_coordinator_before()
    {
        for code in [
            ErrorCode::MessageTooLarge,
            ErrorCode::OutOfOrderSequenceNumber,
            ErrorCode::InvalidRecord,
        ] {
            assert!(!is_of_coordinator(code), "{code}");
        }
        for code in [
            ErrorCode::TransactionAbortable,
            ErrorCode::ConcurrentTransactions,
            ErrorCode::ProducerFenced,
            // Brokers return these to older clients if the coordinator is unreachable.
            ErrorCode::NotEnoughReplicas,
        ] {
            assert!(is_of_coordinator(code), "{code}");
        }
    }
}
