//! Verified consumers: where a poll did not continue at the end of the one before.

use std::fs::File;

use kgauge_verify::{LedgerEntry, LedgerWriter};

/// Bytes before the format version of a batch.
const MAGIC_AT: usize = 16;

/// The version of record batches. The offset of a compressed message set is that of its last record.
const MAGIC_BATCH: u8 = 2;

/// The unexpected polls of a consumer, in a file.
#[derive(Debug)]
pub(crate) struct PollLog(LedgerWriter<File>);

impl PollLog {
    /// The log of a consumer.
    pub(crate) fn new(file: File, consumer: u32) -> Self {
        Self(LedgerWriter::new(file, consumer))
    }

    /// A response for `expected` begins with these bytes and ends before `next`, if it has a complete batch.
    pub(super) fn note(&mut self, partition: u32, expected: i64, bytes: &[u8], next: Option<i64>) {
        let (Ok(expected), Some(next)) = (u64::try_from(expected), next) else {
            return;
        };
        if bytes.get(MAGIC_AT) != Some(&MAGIC_BATCH) {
            return;
        }
        let base = bytes.first_chunk::<8>().copied().map(i64::from_be_bytes);
        let base = base.and_then(|base| u64::try_from(base).ok());
        let next = u64::try_from(next).unwrap_or(0);
        let offset = match base {
            Some(base) if base > expected => base,
            // Everything in it was read before.
            _ if next <= expected => next,
            _ => return,
        };
        self.0.push(LedgerEntry::Poll {
            partition,
            expected,
            offset,
        });
    }

    /// Nothing more comes.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(super) fn close(&mut self) -> std::io::Result<()> {
        self.0.close()
    }
}
