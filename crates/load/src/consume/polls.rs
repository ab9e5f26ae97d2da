//! Verified consumers: what they read, and where a poll did not continue at the end of the one before.

use std::collections::BTreeMap;
use std::fs::File;

use kgauge_verify::{HIDDEN_MAX, LedgerEntry, LedgerWriter, ReadSpan};

/// Bytes before the format version of a batch.
const MAGIC_AT: usize = 16;

/// The version of record batches. The offset of a compressed message set is that of its last record.
const MAGIC_BATCH: u8 = 2;

/// Offsets of a span. Longer ones tell less about the place of a difference.
const SPAN_OFFSETS: u64 = 1 << 14;

/// The polls of a consumer, in a file.
#[derive(Debug)]
pub(crate) struct PollLog {
    log: LedgerWriter<File>,
    /// What it is reading, by partition.
    open: BTreeMap<u32, ReadSpan>,
}

impl PollLog {
    /// The log of a consumer.
    pub(crate) fn new(file: File, consumer: u32) -> Self {
        Self {
            log: LedgerWriter::new(file, consumer),
            open: BTreeMap::new(),
        }
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
        self.log.push(LedgerEntry::Poll {
            partition,
            expected,
            offset,
        });
    }

    /// The consumer's group continued behind these offsets, and no member has read them.
    pub(super) fn note_skipped(&mut self, partition: u32, (from, end): (i64, i64)) {
        if let (Ok(expected), Ok(offset)) = (u64::try_from(from), u64::try_from(end)) {
            self.log.push(LedgerEntry::Poll {
                partition,
                expected,
                offset,
            });
        }
    }

    /// The consumer got this many records between two offsets.
    pub(super) fn note_read(&mut self, partition: u32, (from, end): (i64, i64), records: u64) {
        let (Ok(from), Ok(end)) = (u64::try_from(from), u64::try_from(end)) else {
            return;
        };
        let Some(offsets) = end.checked_sub(from).filter(|offsets| *offsets > 0) else {
            return;
        };
        let hidden = u32::try_from(offsets.saturating_sub(records)).unwrap_or(u32::MAX);
        if let Some(span) = self.open.get_mut(&partition)
            && span.end == from
            && end - span.from <= SPAN_OFFSETS
            && hidden <= HIDDEN_MAX - span.hidden
        {
            span.end = end;
            span.hidden += hidden;
            return;
        }
        let span = ReadSpan {
            partition,
            from,
            end,
            hidden: hidden.min(HIDDEN_MAX),
        };
        if let Some(complete) = self.open.insert(partition, span) {
            self.log.push(LedgerEntry::Read(complete));
        }
    }

    /// Nothing more comes.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(super) fn close(&mut self) -> std::io::Result<()> {
        for span in std::mem::take(&mut self.open).into_values() {
            self.log.push(LedgerEntry::Read(span));
        }
        self.log.close()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use kgauge_verify::LedgerReader;

    use super::*;

    fn entries(write: impl FnOnce(&mut PollLog)) -> Vec<LedgerEntry> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("polls");
        let mut log = PollLog::new(File::create(&path).unwrap(), 0);
        write(&mut log);
        log.close().unwrap();
        let mut reader = LedgerReader::new(File::open(&path).unwrap()).unwrap();
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry().unwrap() {
            entries.push(entry);
        }
        entries
    }

    #[test]
    fn reads_that_follow_each_other_are_one_span() {
        let entries = entries(|log| {
            log.note_read(1, (0, 10), 10);
            log.note_read(2, (5, 6), 1);
            log.note_read(1, (10, 14), 3);
            log.note_read(1, (14, 14), 0);
            log.note_read(1, (20, 21), 1);
        });
        let mut spans = Vec::new();
        for entry in entries {
            if let LedgerEntry::Read(span) = entry {
                spans.push((span.partition, span.from, span.end, span.hidden));
            }
        }
        assert_eq!(spans, [(1, 0, 14, 1), (1, 20, 21, 0), (2, 5, 6, 0)]);
    }

    #[test]
    fn what_a_group_skipped_is_noted_like_a_skip_of_its_own() {
        let entries = entries(|log| log.note_skipped(3, (7, 9)));
        let skipped = LedgerEntry::Poll {
            partition: 3,
            expected: 7,
            offset: 9,
        };
        assert_eq!(entries, [skipped, LedgerEntry::Closed]);
    }
}
