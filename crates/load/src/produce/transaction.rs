//! Transactions: when they begin and end, and what waits meanwhile.
//!
//! The words with the coordinator take milliseconds and are spoken by a thread of the producer's own
//! (`coordinator.rs`); here stands what the producer on its worker does in between. A transaction begins
//! with the first record after the last commit. A partition's first batch waits until the partition is
//! part of the transaction. In the end all batches are sent and answered, then it is committed; no record
//! is taken until the coordinator has said so, as after `commitTransaction` of Kafka's producer.

use kgauge_results::Recorder;
use kgauge_scenario::TransactionLength;

use super::coordinator::{Order, TransactionThread, Word};
use super::producer::{Identity, Phase, Producer};
use crate::surroundings::Surroundings;

/// A producer's side of its transactions.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(super) thread: TransactionThread,
    length: TransactionLength,
    stage: Stage,
    /// Records taken in the open one.
    records: u64,
    /// For each partition whether it is part of the open one.
    partitions: Vec<Membership>,
    /// Something in it was lost: it will be aborted.
    is_spoilt: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The next record begins one.
    Ready,
    Open {
        since_ns: u64,
    },
    /// What it has is sent, and answers are awaited.
    Ending,
    /// The coordinator has the word.
    Asked {
        since_ns: u64,
        commits: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Membership {
    No,
    Asked,
    Yes,
}

impl Transaction {
    /// Transactions of a producer that has introduced itself.
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
            is_spoilt: false,
        }
    }

    /// Who the producer is.
    pub(crate) fn identity(&self) -> Identity {
        self.thread.identity
    }

    /// Records that the open one may still take.
    fn room(&self) -> u64 {
        match (self.stage, self.length) {
            (Stage::Ready | Stage::Open { .. }, TransactionLength::Records(records)) => {
                records.saturating_sub(self.records)
            }
            (Stage::Ready | Stage::Open { .. }, TransactionLength::Ns(_)) => u64::MAX,
            _ => 0,
        }
    }

    /// When the open one is long enough, if by time.
    fn end_ns(&self) -> u64 {
        match (self.stage, self.length) {
            (Stage::Open { since_ns }, TransactionLength::Ns(ns)) => since_ns.saturating_add(ns),
            _ => u64::MAX,
        }
    }
}

impl Producer {
    /// Records that may be taken before the transaction has to end; without transactions, any number.
    #[inline]
    pub(super) fn transaction_room(&self) -> u64 {
        self.transaction.as_ref().map_or(u64::MAX, |one| one.room())
    }

    /// Records were taken.
    #[inline]
    pub(super) fn note_in_transaction(&mut self, now_ns: u64, records: u64) {
        if let Some(transaction) = &mut self.transaction {
            if transaction.stage == Stage::Ready {
                transaction.stage = Stage::Open { since_ns: now_ns };
            }
            transaction.records += records;
        }
    }

    /// Whether everything is sent at once because the transaction is to end.
    pub(super) fn ends_transaction(&self) -> bool {
        let transaction = self.transaction.as_ref();
        transaction.is_some_and(|one| one.stage == Stage::Ending)
    }

    /// Whether a transaction is open or being ended.
    pub(super) fn is_in_transaction(&self) -> bool {
        let transaction = self.transaction.as_ref();
        transaction.is_some_and(|one| one.stage != Stage::Ready)
    }

    /// When the open transaction has to end.
    pub(super) fn transaction_end_ns(&self) -> u64 {
        let transaction = self.transaction.as_ref();
        transaction.map_or(u64::MAX, |one| one.end_ns())
    }

    /// Whether a partition's batches may go out; if it is no part of the transaction yet, it is
    /// made one.
    pub(super) fn transaction_admits(&mut self, partition: u32) -> bool {
        let Some(transaction) = &mut self.transaction else {
            return true;
        };
        let membership = &mut transaction.partitions[partition as usize];
        if *membership == Membership::No {
            *membership = Membership::Asked;
            transaction.thread.order(Order::Add(partition));
        }
        *membership == Membership::Yes
    }

    /// A batch was lost: the transaction cannot be committed any more.
    pub(super) fn spoil_transaction(&mut self) -> bool {
        match &mut self.transaction {
            Some(transaction) => {
                transaction.is_spoilt = true;
                true
            }
            None => false,
        }
    }

    /// Hears the coordinator, and ends the transaction when it is time.
    pub(super) fn step_transaction(
        &mut self,
        now_ns: u64,
        recorder: &mut Recorder,
        around: &Surroundings<'_>,
    ) {
        while let Some(word) = self.next_word() {
            self.hear(word, now_ns, recorder, around);
        }
        let Some(transaction) = &mut self.transaction else {
            return;
        };
        if let Stage::Open { .. } = transaction.stage {
            let is_due = transaction.room() == 0
                || transaction.end_ns() <= now_ns
                || transaction.is_spoilt
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
            let commits = !transaction.is_spoilt;
            transaction.stage = Stage::Asked {
                since_ns: now_ns,
                commits,
            };
            transaction.thread.order(Order::End { commits });
        }
    }

    fn next_word(&self) -> Option<Word> {
        self.transaction.as_ref()?.thread.next_word()
    }

    fn hear(
        &mut self,
        word: Word,
        now_ns: u64,
        recorder: &mut Recorder,
        around: &Surroundings<'_>,
    ) {
        match word {
            Word::Added(partition) => {
                if let Some(transaction) = &mut self.transaction {
                    transaction.partitions[partition as usize] = Membership::Yes;
                }
                if self.partitions[partition as usize].has_work() {
                    self.list_ready(partition);
                }
            }
            Word::NotAdded { partition, why } => {
                around.incident(now_ns, &self.flow.name, || why);
                if let Some(transaction) = &mut self.transaction {
                    transaction.is_spoilt = true;
                    transaction.partitions[partition as usize] = Membership::No;
                }
                self.fail_waiting(partition, now_ns, recorder);
            }
            Word::Committed => self.conclude(true, now_ns, recorder),
            Word::Aborted { why, identity } => {
                around.incident(now_ns, &self.flow.name, || {
                    format!("a transaction was aborted: {why}")
                });
                self.conclude(false, now_ns, recorder);
                self.on_identity(identity);
            }
            Word::Failed(why) => {
                around.broken(now_ns, &self.flow.name, || why);
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
        match transaction.stage {
            Stage::Asked { since_ns, .. } if committed => {
                recorder.committed(now_ns, now_ns.saturating_sub(since_ns), markers);
            }
            _ => recorder.aborted(now_ns, markers),
        }
        transaction.stage = Stage::Ready;
        transaction.records = 0;
        transaction.is_spoilt = false;
        transaction.partitions.fill(Membership::No);
        for partition in 0..self.partitions.len() as u32 {
            if self.partitions[partition as usize].has_work() {
                self.list_ready(partition);
            }
        }
    }

    /// Lets the thread abort what is open, and end.
    pub(crate) fn leave(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.thread.leave();
        }
    }

    /// How the batches say who wrote them: as part of a transaction, or not.
    pub(super) fn is_transactional(&self) -> bool {
        self.transaction.is_some()
    }
}
