//! Verified consumers: what they read, and where a poll did not continue at the end of the one before.

use std::collections::BTreeMap;

use kgauge_verify::{HIDDEN_MAX, LedgerEntry, LedgerWriter, ReadSpan, batch_mark};
use kgauge_wire::record_batch::batches;

use crate::ledgers::LedgerSink;

/// Bytes before the format version of a batch.
const MAGIC_AT: usize = 16;

/// The version of record batches. The offset of a compressed message set is that of its last record.
const MAGIC_BATCH: u8 = 2;

/// Offsets of a span. Longer ones tell less about the place of a difference.
const SPAN_OFFSETS: u64 = 1 << 14;

/// Duration of a span. A longer one tells less about when its last records came.
const SPAN_MS: u64 = 1_000;

/// After a longer wait for records, another span begins: its first records came after all of it.
const WAIT_MS: u64 = 500;

/// How often the log is written, at the latest, while the consumer gets responses.
const FLUSH_MS: u64 = 1_000;

/// The polls of a consumer.
#[derive(Debug)]
pub(crate) struct PollLog {
    log: LedgerWriter<Box<dyn LedgerSink>>,
    /// What it is reading, by partition.
    open: BTreeMap<u32, OpenSpan>,
    /// The last time in the log.
    clocked_ms: u64,
    flushed_ms: u64,
}

/// A span that may go on.
#[derive(Debug)]
struct OpenSpan {
    span: ReadSpan,
    /// When its first and its last records came, in milliseconds since 1970.
    first_ms: u64,
    last_ms: u64,
    /// The sum of its batches' marks; `None` for message sets.
    batch_sum: Option<u64>,
}

/// What a consumer got of a partition in one response.
pub(super) struct PolledRecords<'a> {
    pub(super) partition: u32,
    /// The offset that it had asked for.
    pub(super) from: i64,
    /// The next one.
    pub(super) end: i64,
    /// Records that it got.
    pub(super) records: u64,
    /// Their batches, and perhaps a part of the next.
    pub(super) bytes: &'a [u8],
    /// When they came, in milliseconds since 1970.
    pub(super) unix_ms: u64,
}

impl PolledRecords<'_> {
    /// The sum of the marks of the batches that begin among these offsets.
    fn batch_sum(&self) -> Option<u64> {
        if self.bytes.get(MAGIC_AT) != Some(&MAGIC_BATCH) {
            return None;
        }
        let mut sum = 0_u64;
        for batch in batches(self.bytes).map_while(Result::ok) {
            let base = batch.header.base_offset;
            if (self.from..self.end).contains(&base) {
                let mark = batch_mark(base.unsigned_abs(), batch.header.crc);
                sum = sum.wrapping_add(mark);
            }
        }
        Some(sum)
    }
}

impl OpenSpan {
    /// Adds what came now, if it belongs here.
    fn take(&mut self, next: &OpenSpan) -> bool {
        let (span, more) = (&mut self.span, &next.span);
        let is_next = span.end == more.from
            && more.end - span.from <= SPAN_OFFSETS
            && more.hidden <= HIDDEN_MAX - span.hidden
            && next.last_ms.saturating_sub(self.first_ms) < SPAN_MS
            && next.last_ms.saturating_sub(self.last_ms) < WAIT_MS;
        if is_next {
            span.end = more.end;
            span.hidden += more.hidden;
            self.last_ms = next.last_ms;
            let sums = self.batch_sum.zip(next.batch_sum);
            self.batch_sum = sums.map(|(sum, more)| sum.wrapping_add(more));
        }
        is_next
    }
}

impl PollLog {
    /// The log of a consumer.
    pub(crate) fn new(sink: Box<dyn LedgerSink>, consumer: u32) -> Self {
        Self {
            log: LedgerWriter::new(sink, consumer),
            open: BTreeMap::new(),
            clocked_ms: 0,
            flushed_ms: 0,
        }
    }

    /// A response came, in milliseconds since 1970. Writes what can be written, once per second.
    pub(super) fn tick(&mut self, unix_ms: u64) {
        if unix_ms.saturating_sub(self.flushed_ms) < FLUSH_MS {
            return;
        }
        self.flushed_ms = unix_ms;
        for (partition, span) in std::mem::take(&mut self.open) {
            match unix_ms.saturating_sub(span.last_ms) >= WAIT_MS {
                true => self.push(&span),
                false => {
                    self.open.insert(partition, span);
                }
            }
        }
        self.log.flush();
    }

    /// A response for `expected` begins with these bytes and ends before `next`, if it has a complete batch.
    pub(super) fn note(&mut self, partition: u32, expected: i64, bytes: &[u8], next: Option<i64>) {
        let (Ok(expected), Some(next)) = (u64::try_from(expected), next) else {
            return;
        };
        if bytes.get(MAGIC_AT) != Some(&MAGIC_BATCH) {
            return;
        }
        let base = first_offset(bytes);
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

    /// The consumer got records.
    pub(super) fn note_read(&mut self, got: &PolledRecords<'_>) {
        let (Ok(from), Ok(end)) = (u64::try_from(got.from), u64::try_from(got.end)) else {
            return;
        };
        // What the response passed over at its start is noted as such.
        let base = first_offset(got.bytes).filter(|base| *base < end);
        let from = base.map_or(from, |base| base.max(from));
        let Some(offsets) = end.checked_sub(from).filter(|offsets| *offsets > 0) else {
            return;
        };
        let hidden = u32::try_from(offsets.saturating_sub(got.records)).unwrap_or(u32::MAX);
        let next = OpenSpan {
            span: ReadSpan {
                partition: got.partition,
                from,
                end,
                hidden: hidden.min(HIDDEN_MAX),
            },
            first_ms: got.unix_ms,
            last_ms: got.unix_ms,
            batch_sum: got.batch_sum(),
        };
        let open = self.open.get_mut(&got.partition);
        if !open.is_some_and(|open| open.take(&next))
            && let Some(complete) = self.open.insert(got.partition, next)
        {
            self.push(&complete);
        }
    }

    fn push(&mut self, complete: &OpenSpan) {
        if complete.first_ms != self.clocked_ms {
            self.clocked_ms = complete.first_ms;
            self.log.push(LedgerEntry::Clock(complete.first_ms));
        }
        self.log.push(LedgerEntry::Read(complete.span));
        if let Some(sum) = complete.batch_sum {
            self.log.push(LedgerEntry::BatchSum(sum));
        }
    }

    /// Nothing more comes.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(super) fn close(&mut self) -> std::io::Result<()> {
        for span in std::mem::take(&mut self.open).into_values() {
            self.push(&span);
        }
        self.log.close()
    }
}

/// The offset of a response's first batch; `None` for message sets.
fn first_offset(bytes: &[u8]) -> Option<u64> {
    let is_batch = bytes.get(MAGIC_AT) == Some(&MAGIC_BATCH);
    let base = bytes.first_chunk::<8>().filter(|_| is_batch)?;
    u64::try_from(i64::from_be_bytes(*base)).ok()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use kgauge_verify::LedgerReader;
    use kgauge_wire::record_batch::{BatchEncoder, ProducerState, rewrite_for_log};

    use super::*;

    fn entries(write: impl FnOnce(&mut PollLog)) -> Vec<LedgerEntry> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("polls");
        let mut log = PollLog::new(Box::new(File::create(&path).unwrap()), 0);
        write(&mut log);
        log.close().unwrap();
        let mut reader = LedgerReader::new(File::open(&path).unwrap()).unwrap();
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry().unwrap() {
            entries.push(entry);
        }
        entries
    }

    fn got(
        partition: u32,
        (from, end): (i64, i64),
        records: u64,
        unix_ms: u64,
    ) -> PolledRecords<'static> {
        PolledRecords {
            partition,
            from,
            end,
            records,
            bytes: &[],
            unix_ms,
        }
    }

    fn spans(entries: &[LedgerEntry]) -> Vec<(u32, u64, u64)> {
        let spans = entries.iter().filter_map(|entry| match entry {
            LedgerEntry::Read(span) => Some((span.partition, span.from, span.end)),
            _ => None,
        });
        spans.collect()
    }

    #[test]
    fn reads_that_follow_each_other_are_one_span() {
        let entries = entries(|log| {
            log.note_read(&got(1, (0, 10), 10, 7));
            log.note_read(&got(2, (5, 6), 1, 8));
            log.note_read(&got(1, (10, 14), 3, 400));
            log.note_read(&got(1, (14, 14), 0, 400));
            log.note_read(&got(1, (20, 21), 1, 400));
        });
        assert_eq!(spans(&entries), [(1, 0, 14), (1, 20, 21), (2, 5, 6)]);
        let times = entries.iter().filter_map(|entry| match entry {
            LedgerEntry::Clock(unix_ms) => Some(*unix_ms),
            _ => None,
        });
        assert_eq!(times.collect::<Vec<_>>(), [7, 400, 8]);
        let LedgerEntry::Read(first) = entries[1] else {
            panic!("{entries:?}");
        };
        assert_eq!(first.hidden, 1);
    }

    #[test]
    fn records_after_a_wait_begin_another_span() {
        let entries = entries(|log| {
            for (from, unix_ms) in [
                (0, 0),
                (1, 499),
                (2, 998),
                (3, 1_000),
                (4, 1_499),
                (5, 1_999),
            ] {
                log.note_read(&got(1, (from, from + 1), 1, unix_ms));
            }
        });
        assert_eq!(spans(&entries), [(1, 0, 3), (1, 3, 5), (1, 5, 6)]);
    }

    /// A batch of one record, at an offset.
    fn batch(base: i64) -> Vec<u8> {
        let mut encoder = BatchEncoder::default();
        encoder.start(1);
        encoder.append(1, None, Some(b"a value"), &[]);
        let mut bytes = encoder.finish(&ProducerState::NONE).to_vec();
        rewrite_for_log(&mut bytes, base, 0).unwrap();
        bytes
    }

    #[test]
    fn the_batches_of_a_span_are_summed() {
        let crc = batches(&batch(4)).next().unwrap().unwrap().header.crc;
        let entries = entries(|log| {
            // Of a response for 5 that begins with a batch before.
            let bytes = [batch(4), batch(5)].concat();
            log.note_read(&PolledRecords {
                bytes: &bytes,
                ..got(1, (5, 6), 1, 7)
            });
            // Its last batch is incomplete.
            let bytes = [batch(6), batch(7)[..70].to_vec()].concat();
            log.note_read(&PolledRecords {
                bytes: &bytes,
                ..got(1, (6, 7), 1, 8)
            });
        });
        let sum = batch_mark(5, crc).wrapping_add(batch_mark(6, crc));
        assert_eq!(spans(&entries), [(1, 5, 7)]);
        assert_eq!(entries[2], LedgerEntry::BatchSum(sum));
    }

    #[test]
    fn offsets_before_the_first_batch_are_noted_once() {
        let bytes = batch(9);
        let entries = entries(|log| {
            log.note(1, 5, &bytes, Some(10));
            log.note_read(&PolledRecords {
                bytes: &bytes,
                ..got(1, (5, 10), 1, 7)
            });
        });
        let passed_over = LedgerEntry::Poll {
            partition: 1,
            expected: 5,
            offset: 9,
        };
        assert_eq!(entries[0], passed_over);
        let LedgerEntry::Read(span) = entries[2] else {
            panic!("{entries:?}");
        };
        assert_eq!((span.from, span.end, span.hidden), (9, 10, 0));
    }

    #[test]
    fn the_log_is_written_each_second() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("polls");
        let mut log = PollLog::new(Box::new(File::create(&path).unwrap()), 0);
        let written = || std::fs::metadata(&path).unwrap().len();
        // The first response writes the head.
        log.tick(10_000);
        assert_eq!(written(), 16);
        log.note_read(&got(1, (0, 10), 10, 10_100));
        log.tick(10_999);
        assert_eq!(written(), 16);
        log.tick(11_000);
        assert_eq!(written(), 16 * 3, "a time and a span");
        log.note_read(&got(1, (10, 20), 10, 11_900));
        log.tick(12_000);
        assert_eq!(written(), 16 * 3, "the span may go on");
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
