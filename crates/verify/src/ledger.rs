//! The ledger of one producer: the outcome of each batch, 16 bytes each, which it has before the batch is counted.
//!
//! An entry is a little-endian integer of 128 bits. From the lowest: kind (3 bits), partition (19), records (20), first
//! sequence (43), first offset (43). Ends of transactions and times use the same fields for less.

use std::io::{self, Read, Write};

/// Bytes of an entry, and of a ledger's head.
pub const ENTRY_BYTES: usize = 16;

/// How often a producer's ledger notes the time, in milliseconds: its outcomes are known that exactly.
pub const CLOCK_MS: u64 = 100;

const MAGIC: [u8; 8] = *b"kgledg01";
const PARTITION_BITS: u32 = 19;
const COUNT_BITS: u32 = 20;
const WIDE_BITS: u32 = 43;
const COUNT_MAX: u64 = (1 << COUNT_BITS) - 1;
const WIDE_MAX: u64 = (1 << WIDE_BITS) - 1;
/// Stands for an offset that is not known.
const NO_OFFSET: u64 = WIDE_MAX;
/// Bytes that are collected before they are written.
const BUFFER_BYTES: usize = 64 << 10;

/// Stands for a partition that a client chose and did not report.
pub const PARTITION_UNKNOWN: u32 = (1 << PARTITION_BITS) - 1;

/// The largest partition that a ledger can name.
pub const PARTITION_MAX: u32 = PARTITION_UNKNOWN - 1;

/// What is known about a batch after its last attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BatchFate {
    /// The broker acknowledged it.
    Acked,
    /// The same, after it was sent again with a new producer id: an earlier attempt may be in the log, too.
    AckedRenumbered,
    /// It was refused, and no attempt can have reached a log.
    Failed,
    /// It may be in the log or not.
    Unknown,
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransactionFate {
    /// The coordinator committed it.
    Committed,
    /// The coordinator aborted it.
    Aborted,
    /// It is not known whether it was committed.
    Unknown,
}

/// The outcome of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchEntry {
    /// What happened to it.
    pub fate: BatchFate,
    /// Its partition, at most [`PARTITION_MAX`]; or [`PARTITION_UNKNOWN`].
    pub partition: u32,
    /// The sequence of its first record.
    pub sequence: u64,
    /// Its records.
    pub count: u32,
    /// The offset of its first record, if the broker returned one.
    pub offset: Option<u64>,
}

/// Offsets that a consumer has read, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadSpan {
    /// The partition, at most [`PARTITION_MAX`].
    pub partition: u32,
    /// The first offset.
    pub from: u64,
    /// One after the last offset; above `from`.
    pub end: u64,
    /// Offsets without a record for the consumer: markers, records of aborted transactions, removed ones.
    pub hidden: u32,
}

/// The most offsets without a record that a span can count.
pub const HIDDEN_MAX: u32 = COUNT_MAX as u32;

/// One entry of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerEntry {
    /// A batch has its outcome.
    Batch(BatchEntry),
    /// All batches since the last such entry belong to one transaction, which ended.
    TransactionEnd(TransactionFate),
    /// Entries from here on are at least this young, in milliseconds since 1970.
    Clock(u64),
    /// The producer has ended, and nothing is missing.
    Closed,
    /// What a consumer read of a range of offsets, from the time on that the entry before says.
    Read(ReadSpan),
    /// The sum of [`crate::batch_mark`] of the batches that begin in the span before.
    BatchSum(u64),
    /// A consumer's poll began at another offset than the one before ended.
    Poll {
        /// The partition, at most [`PARTITION_MAX`].
        partition: u32,
        /// The offset that should have come.
        expected: u64,
        /// The offset that came.
        offset: u64,
    },
}

/// Why a ledger cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file cannot be read.
    #[error("cannot read the ledger: {0}")]
    Io(#[from] io::Error),
    /// It does not begin as a ledger does.
    #[error("the file is not a ledger of this version of kgauge")]
    NoLedger,
    /// An entry has no meaning.
    #[error("entry {index} of the ledger is corrupt")]
    Corrupt {
        /// Its position, from 0.
        index: u64,
    },
}

impl LedgerEntry {
    fn encode(self) -> u128 {
        let (kind, partition, count, sequence, offset) = match self {
            LedgerEntry::Batch(batch) => (
                batch.fate as u64,
                partition_field(batch.partition),
                u64::from(batch.count) & COUNT_MAX,
                batch.sequence & WIDE_MAX,
                batch
                    .offset
                    .filter(|at| *at < NO_OFFSET)
                    .unwrap_or(NO_OFFSET),
            ),
            LedgerEntry::TransactionEnd(fate) => (4, fate as u64, 0, 0, 0),
            LedgerEntry::Clock(unix_ms) => (5, 0, 0, unix_ms & WIDE_MAX, 0),
            // Its count tells it from the entry before.
            LedgerEntry::BatchSum(sum) => (5, 0, 1, sum & WIDE_MAX, sum >> WIDE_BITS),
            LedgerEntry::Closed => (6, 0, 0, 0, 0),
            // Its end tells it from the entry before: no span ends at 0.
            LedgerEntry::Read(span) => (
                6,
                partition_field(span.partition),
                u64::from(span.hidden) & COUNT_MAX,
                span.from & WIDE_MAX,
                span.end & WIDE_MAX,
            ),
            LedgerEntry::Poll {
                partition,
                expected,
                offset,
            } => (
                7,
                partition_field(partition),
                0,
                expected & WIDE_MAX,
                offset & WIDE_MAX,
            ),
        };
        let low = kind | partition << 3 | count << (3 + PARTITION_BITS);
        let wide_from = 3 + PARTITION_BITS + COUNT_BITS;
        u128::from(low)
            | u128::from(sequence) << wide_from
            | u128::from(offset) << (wide_from + WIDE_BITS)
    }

    /// The entry as it is in a ledger.
    pub fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        self.encode().to_le_bytes()
    }

    fn decode(bytes: [u8; ENTRY_BYTES]) -> Option<Self> {
        let word = u128::from_le_bytes(bytes);
        let field = |from: u32, bits: u32| (word >> from) as u64 & ((1 << bits) - 1);
        let partition = field(3, PARTITION_BITS);
        let count = field(3 + PARTITION_BITS, COUNT_BITS);
        let wide_from = 3 + PARTITION_BITS + COUNT_BITS;
        let sequence = field(wide_from, WIDE_BITS);
        let offset = field(wide_from + WIDE_BITS, WIDE_BITS);
        let batch = |fate| {
            Some(LedgerEntry::Batch(BatchEntry {
                fate,
                partition: u32::try_from(partition).ok()?,
                sequence,
                count: u32::try_from(count).ok().filter(|count| *count > 0)?,
                offset: (offset != NO_OFFSET).then_some(offset),
            }))
        };
        match field(0, 3) {
            0 => batch(BatchFate::Acked),
            1 => batch(BatchFate::AckedRenumbered),
            2 => batch(BatchFate::Failed),
            3 => batch(BatchFate::Unknown),
            4 => Some(LedgerEntry::TransactionEnd(match partition {
                0 => TransactionFate::Committed,
                1 => TransactionFate::Aborted,
                2 => TransactionFate::Unknown,
                _ => return None,
            })),
            5 if count == 0 => Some(LedgerEntry::Clock(sequence)),
            5 => Some(LedgerEntry::BatchSum(sequence | offset << WIDE_BITS)),
            6 if offset == 0 => Some(LedgerEntry::Closed),
            6 => Some(LedgerEntry::Read(ReadSpan {
                partition: u32::try_from(partition).ok()?,
                from: sequence,
                end: offset,
                hidden: u32::try_from(count).ok()?,
            })),
            7 => Some(LedgerEntry::Poll {
                partition: u32::try_from(partition).ok()?,
                expected: sequence,
                offset,
            }),
            _ => None,
        }
    }
}

fn partition_field(partition: u32) -> u64 {
    u64::from(partition & PARTITION_UNKNOWN)
}

/// Writes the ledger of one producer.
#[derive(Debug)]
pub struct LedgerWriter<W: Write> {
    to: W,
    buffer: Vec<u8>,
    failure: Option<io::Error>,
}

impl<W: Write> LedgerWriter<W> {
    /// Begins the ledger of a producer.
    pub fn new(to: W, producer: u32) -> Self {
        let mut buffer = Vec::with_capacity(BUFFER_BYTES + ENTRY_BYTES);
        buffer.extend_from_slice(&MAGIC);
        buffer.extend_from_slice(&producer.to_le_bytes());
        buffer.extend_from_slice(&[0; 4]);
        Self {
            to,
            buffer,
            failure: None,
        }
    }

    /// Adds an entry; it is on its way to disk after [`LedgerWriter::flush`].
    #[inline]
    pub fn push(&mut self, entry: LedgerEntry) {
        self.buffer.extend_from_slice(&entry.to_bytes());
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush();
        }
    }

    /// Adds the outcome of a batch, in several entries if it has very many records.
    #[inline]
    pub fn push_batch(&mut self, mut batch: BatchEntry) {
        let mut left = u64::from(batch.count);
        while left > COUNT_MAX {
            let part = COUNT_MAX as u32;
            self.push(LedgerEntry::Batch(BatchEntry {
                count: part,
                ..batch
            }));
            left -= COUNT_MAX;
            batch.sequence += COUNT_MAX;
            batch.offset = batch.offset.map(|offset| offset + COUNT_MAX);
        }
        if left > 0 {
            batch.count = left as u32;
            self.push(LedgerEntry::Batch(batch));
        }
    }

    /// Writes what was collected. After a failure, nothing is written any more.
    pub fn flush(&mut self) {
        if self.failure.is_none()
            && let Err(error) = self.to.write_all(&self.buffer)
        {
            self.failure = Some(error);
        }
        self.buffer.clear();
    }

    /// What the ledger was written to.
    pub fn into_inner(mut self) -> W {
        self.flush();
        self.to
    }

    /// Ends the ledger.
    ///
    /// # Errors
    /// The first failure to write, if any.
    pub fn close(&mut self) -> io::Result<()> {
        self.push(LedgerEntry::Closed);
        self.flush();
        match self.failure.take() {
            Some(error) => Err(error),
            None => self.to.flush(),
        }
    }
}

/// Reads a ledger, one entry after the other, in bounded memory.
#[derive(Debug)]
pub struct LedgerReader<R: Read> {
    from: R,
    producer: u32,
    index: u64,
    /// A corrupt entry is where its writer was killed.
    ends_at_damage: bool,
    is_over: bool,
}

impl<R: Read> LedgerReader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// The file cannot be read, or is something else.
    pub fn new(mut from: R) -> Result<Self, LedgerError> {
        let mut head = [0; ENTRY_BYTES];
        if !read_whole(&mut from, &mut head)? || head[..8] != MAGIC {
            return Err(LedgerError::NoLedger);
        }
        let producer = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        Ok(Self {
            from,
            producer,
            index: 0,
            ends_at_damage: false,
            is_over: false,
        })
    }

    /// The same of a writer that was killed: the first corrupt entry is the end. A machine that loses power can leave
    /// zeros at the end of a file.
    #[must_use]
    pub fn until_damage(self) -> Self {
        Self {
            ends_at_damage: true,
            ..self
        }
    }

    /// The producer whose ledger it is.
    pub fn producer(&self) -> u32 {
        self.producer
    }

    /// The next entry; `None` at the end. An entry that was cut off when its writer was killed is the end.
    ///
    /// # Errors
    /// The file cannot be read, or is corrupt.
    pub fn next_entry(&mut self) -> Result<Option<LedgerEntry>, LedgerError> {
        let mut bytes = [0; ENTRY_BYTES];
        if self.is_over || !read_whole(&mut self.from, &mut bytes)? {
            return Ok(None);
        }
        let index = self.index;
        self.index += 1;
        match LedgerEntry::decode(bytes) {
            Some(entry) => Ok(Some(entry)),
            None if self.ends_at_damage => {
                self.is_over = true;
                Ok(None)
            }
            None => Err(LedgerError::Corrupt { index }),
        }
    }
}

/// Fills `to`; false if the input ends before.
fn read_whole(from: &mut impl Read, to: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<LedgerEntry>, LedgerError> {
        let mut reader = LedgerReader::new(bytes)?;
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }

    fn written(entries: &[LedgerEntry]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = LedgerWriter::new(&mut bytes, 9);
        entries.iter().for_each(|entry| writer.push(*entry));
        writer.close().unwrap();
        bytes
    }

    fn batch(fate: BatchFate) -> LedgerEntry {
        LedgerEntry::Batch(BatchEntry {
            fate,
            partition: PARTITION_MAX,
            sequence: WIDE_MAX,
            count: COUNT_MAX as u32,
            offset: Some(NO_OFFSET - 1),
        })
    }

    #[test]
    fn entries_are_read_as_they_were_written() {
        let mut entries = vec![
            batch(BatchFate::Acked),
            batch(BatchFate::AckedRenumbered),
            batch(BatchFate::Failed),
            batch(BatchFate::Unknown),
            LedgerEntry::Batch(BatchEntry {
                fate: BatchFate::Acked,
                partition: 0,
                sequence: 0,
                count: 1,
                offset: None,
            }),
            LedgerEntry::Batch(BatchEntry {
                fate: BatchFate::Unknown,
                partition: PARTITION_UNKNOWN,
                sequence: 7,
                count: 2,
                offset: None,
            }),
            LedgerEntry::TransactionEnd(TransactionFate::Committed),
            LedgerEntry::TransactionEnd(TransactionFate::Aborted),
            LedgerEntry::TransactionEnd(TransactionFate::Unknown),
            LedgerEntry::Clock(1_795_000_000_000),
            LedgerEntry::Poll {
                partition: 3,
                expected: 7,
                offset: WIDE_MAX,
            },
            LedgerEntry::Read(ReadSpan {
                partition: PARTITION_MAX,
                from: 0,
                end: 1,
                hidden: HIDDEN_MAX,
            }),
            LedgerEntry::BatchSum(u64::MAX),
            LedgerEntry::BatchSum(0),
        ];
        let bytes = written(&entries);
        assert_eq!(bytes.len(), ENTRY_BYTES * (entries.len() + 2));
        entries.push(LedgerEntry::Closed);
        assert_eq!(read(&bytes).unwrap(), entries);
        assert_eq!(LedgerReader::new(bytes.as_slice()).unwrap().producer(), 9);
    }

    #[test]
    fn a_batch_of_very_many_records_takes_several_entries() {
        let mut bytes = Vec::new();
        let mut writer = LedgerWriter::new(&mut bytes, 0);
        writer.push_batch(BatchEntry {
            fate: BatchFate::Acked,
            partition: 1,
            sequence: 10,
            count: COUNT_MAX as u32 + 5,
            offset: Some(20),
        });
        writer.close().unwrap();
        let entries = read(&bytes).unwrap();
        let LedgerEntry::Batch(second) = entries[1] else {
            panic!("{entries:?}");
        };
        assert_eq!((second.sequence, second.count), (COUNT_MAX + 10, 5));
        assert_eq!(second.offset, Some(COUNT_MAX + 20));
    }

    #[test]
    fn a_ledger_cut_anywhere_gives_its_whole_entries() {
        let bytes = written(&[batch(BatchFate::Acked), batch(BatchFate::Unknown)]);
        for end in ENTRY_BYTES..bytes.len() {
            let entries = read(&bytes[..end]).unwrap();
            assert_eq!(entries.len(), end / ENTRY_BYTES - 1, "cut at {end}");
        }
    }

    #[test]
    fn other_files_and_corrupt_entries_are_errors() {
        assert!(matches!(read(b"short"), Err(LedgerError::NoLedger)));
        assert!(matches!(read(&[0; 64]), Err(LedgerError::NoLedger)));
        let mut bytes = written(&[batch(BatchFate::Acked)]);
        // The end of a transaction without a meaning.
        (bytes[ENTRY_BYTES], bytes[ENTRY_BYTES + 1]) = (0xfc, 0xff);
        assert!(matches!(
            read(&bytes),
            Err(LedgerError::Corrupt { index: 0 })
        ));
        let mut killed = LedgerReader::new(bytes.as_slice()).unwrap().until_damage();
        assert_eq!(killed.next_entry().unwrap(), None);
        assert_eq!(killed.next_entry().unwrap(), None, "it stays over");
        // No records.
        let mut empty = written(&[LedgerEntry::Closed]);
        empty[ENTRY_BYTES] = 0;
        assert!(matches!(
            read(&empty),
            Err(LedgerError::Corrupt { index: 0 })
        ));
    }
}
