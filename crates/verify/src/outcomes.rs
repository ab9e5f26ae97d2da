//! The outcomes of one partition's records, from the ledgers of all producers.

use std::collections::BTreeMap;
use std::io::Read;

use crate::gaps::NumberRanges;
use crate::ledger::{
    BatchFate, LedgerEntry, LedgerError, LedgerReader, PARTITION_UNKNOWN, TransactionFate,
};

/// The most runs of one partition that are kept: 16 million of 48 bytes.
const RUNS_MAX: usize = 16 << 20;

/// Bits of a producer's number that are its index in the flow.
const MEMBER_BITS: u32 = 20;

/// The number of a producer in stamps and ledgers.
pub fn producer_number(flow: usize, member: u32) -> u32 {
    (flow as u32) << MEMBER_BITS | member & ((1 << MEMBER_BITS) - 1)
}

/// The flow and the index of a producer.
pub fn producer_place(producer: u32) -> (usize, u32) {
    (
        (producer >> MEMBER_BITS) as usize,
        producer & ((1 << MEMBER_BITS) - 1),
    )
}

/// What is known about a record after the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordFate {
    Acked,
    /// Acked after it was sent again with a new producer id.
    AckedRenumbered,
    /// Its send failed for certain, or its transaction was aborted.
    Refused,
    /// Acked, in a transaction of which the commit got no answer or was refused: all of its records are readable, or
    /// none.
    Undecided,
    Unknown,
}

impl RecordFate {
    pub(crate) fn is_acked(self) -> bool {
        matches!(self, Self::Acked | Self::AckedRenumbered)
    }
}

/// Adjacent records of one producer with the same outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutcomeRun {
    pub(crate) first: u64,
    pub(crate) count: u64,
    /// The offset of the first.
    pub(crate) offset: Option<u64>,
    pub(crate) fate: RecordFate,
    /// When they got their outcome.
    pub(crate) unix_ms: u64,
    /// The producer's transaction, from 0.
    pub(crate) transaction: u32,
}

impl OutcomeRun {
    pub(crate) fn end(&self) -> u64 {
        self.first + self.count
    }

    /// The acked offset of one of its records.
    pub(crate) fn offset_of(&self, sequence: u64) -> Option<u64> {
        Some(self.offset? + (sequence - self.first))
    }

    /// Whether `next` continues it in sequence and in offset, at the same time: a lost record has the time of its own
    /// ack.
    fn is_continued_by(&self, next: &OutcomeRun) -> bool {
        let offset = self.offset.map(|offset| offset + self.count);
        self.fate == next.fate
            && self.unix_ms == next.unix_ms
            && self.transaction == next.transaction
            && self.end() == next.first
            && offset == next.offset
    }
}

/// Whose ledger it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerKind {
    /// A producer's of kgauge.
    Plain,
    /// The same, with transactions.
    Transactional,
    /// Another client's, which chooses partitions itself.
    Driven,
}

/// Records of a client that chooses partitions, and did not report which: they may be in any.
#[derive(Debug)]
pub(crate) struct AnywhereRecords {
    /// Ascending by sequence.
    runs: Vec<OutcomeRun>,
    /// Those that were not read in this partition.
    unread: NumberRanges,
    /// The ledger lists all records that the client was given.
    pub(crate) is_complete: bool,
}

impl AnywhereRecords {
    fn new(mut runs: Vec<OutcomeRun>, is_complete: bool) -> Self {
        runs.sort_by_key(|run| run.first);
        let mut unread = NumberRanges::default();
        for run in &runs {
            unread.push(run.first, run.end());
        }
        Self {
            runs,
            unread,
            is_complete,
        }
    }

    /// What is known about a record; `None` if it is not one of them.
    pub(crate) fn fate_of(&self, sequence: u64) -> Option<RecordFate> {
        let at = self.runs.partition_point(|run| run.end() <= sequence);
        let run = self.runs.get(at)?;
        (run.first <= sequence).then_some(run.fate)
    }

    /// Notes that a record was read; false if it was read before.
    pub(crate) fn note_read(&mut self, sequence: u64) -> bool {
        self.unread.remove(sequence)
    }

    fn count_of(&self, fate: RecordFate) -> u64 {
        let runs = self.runs.iter().filter(|run| run.fate == fate);
        runs.map(|run| run.count).sum()
    }
}

/// The outcomes of one partition.
#[derive(Debug, Default)]
pub struct PartitionOutcomes {
    pub(crate) partition: u32,
    /// By producer, ascending by sequence.
    pub(crate) runs: BTreeMap<u32, Vec<OutcomeRun>>,
    /// Records of other clients without a known partition, by producer.
    pub(crate) anywhere: BTreeMap<u32, AnywhereRecords>,
    /// Producers whose ledgers were not closed.
    pub(crate) unclosed: u32,
    kept: usize,
}

/// Why the outcomes of a partition are not known.
#[derive(Debug, thiserror::Error)]
pub enum OutcomeError {
    /// A ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// They do not fit into the memory that is allowed for them.
    #[error("partition {partition} has too many batches to check")]
    TooMany {
        /// The partition.
        partition: u32,
    },
}

impl PartitionOutcomes {
    /// None so far.
    pub fn new(partition: u32) -> Self {
        Self {
            partition,
            ..Self::default()
        }
    }

    /// A producer has no ledger, or an empty one: its acks are not known.
    pub fn note_missing_ledger(&mut self) {
        self.unclosed += 1;
    }

    /// Ledgers that end early: their producers' last acks are not known.
    pub fn ledgers_unclosed(&self) -> u32 {
        self.unclosed
    }

    /// Records of unknown outcome that may be in any partition.
    pub fn unknown_anywhere(&self) -> u64 {
        self.count_anywhere(RecordFate::Unknown)
    }

    /// Records without a known partition that were not sent for certain.
    pub fn refused_anywhere(&self) -> u64 {
        self.count_anywhere(RecordFate::Refused)
    }

    fn count_anywhere(&self, fate: RecordFate) -> u64 {
        self.anywhere.values().map(|one| one.count_of(fate)).sum()
    }

    /// Adds what a producer's ledger has about the partition.
    ///
    /// # Errors
    /// The ledger cannot be read, or has too many entries.
    pub fn add<R: Read>(
        &mut self,
        ledger: &mut LedgerReader<R>,
        kind: LedgerKind,
    ) -> Result<(), OutcomeError> {
        let (mut runs, mut anywhere): (Vec<OutcomeRun>, Vec<OutcomeRun>) = Default::default();
        let (mut unix_ms, mut transaction, mut open_from) = (0, 0_u32, 0);
        let mut is_closed = false;
        while let Some(entry) = ledger.next_entry()? {
            match entry {
                LedgerEntry::Batch(batch)
                    if [self.partition, PARTITION_UNKNOWN].contains(&batch.partition) =>
                {
                    let run = OutcomeRun {
                        first: batch.sequence,
                        count: u64::from(batch.count),
                        offset: batch.offset,
                        fate: fate_of(batch.fate),
                        unix_ms,
                        transaction,
                    };
                    let to = match batch.partition == self.partition {
                        true => &mut runs,
                        false => &mut anywhere,
                    };
                    let last = to.last_mut();
                    if let Some(last) = last.filter(|last| last.is_continued_by(&run)) {
                        last.count += run.count;
                    } else {
                        to.push(run);
                    }
                    if self.kept + runs.len() + anywhere.len() > RUNS_MAX {
                        let partition = self.partition;
                        return Err(OutcomeError::TooMany { partition });
                    }
                }
                LedgerEntry::Batch(_)
                | LedgerEntry::Poll { .. }
                | LedgerEntry::Read(_)
                | LedgerEntry::BatchSum(_) => {}
                LedgerEntry::TransactionEnd(fate) => {
                    end_transaction(&mut runs[open_from..], fate, unix_ms);
                    transaction = transaction.saturating_add(1);
                    open_from = runs.len();
                }
                LedgerEntry::Clock(now) => unix_ms = now,
                LedgerEntry::Closed => is_closed = true,
            }
        }
        if kind == LedgerKind::Transactional {
            end_transaction(&mut runs[open_from..], TransactionFate::Unknown, unix_ms);
        }
        if !runs.is_sorted_by_key(|run| run.first) {
            runs.sort_by_key(|run| run.first);
        }
        self.kept += runs.len() + anywhere.len();
        self.unclosed += u32::from(!is_closed);
        let producer = ledger.producer();
        self.runs.insert(producer, runs);
        if kind == LedgerKind::Driven {
            let records = AnywhereRecords::new(anywhere, is_closed);
            self.anywhere.insert(producer, records);
        }
        Ok(())
    }
}

/// Transactions of a producer of which some acked records are lost and others are not. `lost` has the lost records by
/// producer and transaction, as [`crate::PartitionVerdict`] counts them.
///
/// # Errors
/// The ledger cannot be read.
pub fn torn_transactions<R: Read>(
    ledger: &mut LedgerReader<R>,
    lost: &BTreeMap<(u32, u32), u64>,
) -> Result<u64, LedgerError> {
    let producer = ledger.producer();
    let (mut transaction, mut acked, mut torn) = (0_u32, 0, 0);
    while let Some(entry) = ledger.next_entry()? {
        match entry {
            LedgerEntry::Batch(batch) if fate_of(batch.fate).is_acked() => {
                acked += u64::from(batch.count);
            }
            LedgerEntry::TransactionEnd(_) => {
                let lost = lost.get(&(producer, transaction));
                torn += u64::from(lost.is_some_and(|lost| *lost < acked));
                transaction = transaction.saturating_add(1);
                acked = 0;
            }
            LedgerEntry::Batch(_)
            | LedgerEntry::Clock(_)
            | LedgerEntry::Closed
            | LedgerEntry::Read(_)
            | LedgerEntry::BatchSum(_)
            | LedgerEntry::Poll { .. } => {}
        }
    }
    Ok(torn)
}

/// The acked records of a producer, without those of transactions that were not committed for certain.
///
/// # Errors
/// The ledger cannot be read.
pub fn acked_records<R: Read>(
    ledger: &mut LedgerReader<R>,
    kind: LedgerKind,
) -> Result<u64, LedgerError> {
    let (mut acked, mut open) = (0_u64, 0_u64);
    while let Some(entry) = ledger.next_entry()? {
        match entry {
            LedgerEntry::Batch(batch) if fate_of(batch.fate).is_acked() => {
                open += u64::from(batch.count);
            }
            LedgerEntry::TransactionEnd(TransactionFate::Committed) => {
                acked += std::mem::take(&mut open);
            }
            LedgerEntry::TransactionEnd(_) => open = 0,
            LedgerEntry::Batch(_)
            | LedgerEntry::Clock(_)
            | LedgerEntry::Closed
            | LedgerEntry::Read(_)
            | LedgerEntry::BatchSum(_)
            | LedgerEntry::Poll { .. } => {}
        }
    }
    Ok(match kind {
        LedgerKind::Transactional => acked,
        LedgerKind::Plain | LedgerKind::Driven => acked + open,
    })
}

fn fate_of(fate: BatchFate) -> RecordFate {
    match fate {
        BatchFate::Acked => RecordFate::Acked,
        BatchFate::AckedRenumbered => RecordFate::AckedRenumbered,
        BatchFate::Failed => RecordFate::Refused,
        BatchFate::Unknown => RecordFate::Unknown,
    }
}

/// The end of a transaction decides on its records, whatever their acks.
fn end_transaction(runs: &mut [OutcomeRun], fate: TransactionFate, unix_ms: u64) {
    for run in runs {
        match fate {
            TransactionFate::Committed => run.unix_ms = unix_ms,
            TransactionFate::Aborted => run.fate = RecordFate::Refused,
            TransactionFate::Unknown if run.fate.is_acked() => run.fate = RecordFate::Undecided,
            TransactionFate::Unknown => {}
        }
    }
}
