//! What one consumer has read of a partition, beside what is readable afterwards.

use std::io::Read;

use kgauge_results::run::Anomaly;

use crate::ledger::{LedgerEntry, LedgerError, LedgerReader, ReadSpan};
use crate::tally::{PartitionVerdict, Sighting};

/// The most ranges of one consumer and partition that are kept.
const RANGES_MAX: usize = 4 << 20;

/// What a consumer has read of a partition.
#[derive(Debug, Default)]
pub struct ConsumerPolls {
    /// Consumers of one group have the same number: each record is read by one of them.
    pub(crate) group: u32,
    /// Offsets that it passed over.
    pub(crate) passed_over: Vec<(u64, u64)>,
    /// How often it went back.
    pub(crate) times_back: u64,
    /// What it read, ascending and apart.
    pub(crate) spans: Vec<TimedSpan>,
    /// All offsets that it read, in the order of its reads.
    read: Vec<(u64, u64)>,
    /// Nothing of its log is missing.
    is_closed: bool,
    /// It read more ranges than are kept.
    lacks_ranges: bool,
}

/// A span of a consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimedSpan {
    pub(crate) span: ReadSpan,
    /// When its first records came, in milliseconds since 1970; 0 if that is not known.
    pub(crate) unix_ms: u64,
    /// The sum of the marks of its batches, if that is known.
    pub(crate) batch_sum: Option<u64>,
}

impl ConsumerPolls {
    /// Whether the log has everything that the consumer read.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Reads a consumer's log. From `compared_from` on, its records are those that the check reads; without it, they
    /// are others, or compaction removes some: the consumer has another isolation level.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn read<R: Read>(
        log: &mut LedgerReader<R>,
        of_partition: u32,
        compared_from: Option<u64>,
    ) -> Result<Self, LedgerError> {
        let is_compared = |span: &ReadSpan| {
            let is_of_check = compared_from.is_some_and(|from| span.from >= from);
            span.partition == of_partition && is_of_check
        };
        let (mut polls, mut unix_ms, mut is_kept) = (Self::default(), 0, false);
        while let Some(entry) = log.next_entry()? {
            match entry {
                LedgerEntry::Poll {
                    partition,
                    expected,
                    offset,
                } if partition == of_partition => {
                    if offset <= expected {
                        polls.times_back += 1;
                    } else {
                        push(&mut polls.passed_over, (expected, offset));
                    }
                }
                LedgerEntry::Read(span) => {
                    if span.partition == of_partition {
                        polls.lacks_ranges |= !polls.note_read(span.from, span.end);
                    }
                    let timed = TimedSpan {
                        span,
                        unix_ms,
                        batch_sum: None,
                    };
                    is_kept = is_compared(&span) && polls.add_span(timed);
                }
                LedgerEntry::BatchSum(sum) if is_kept => {
                    if let Some(last) = polls.spans.last_mut() {
                        last.batch_sum = Some(sum);
                    }
                }
                LedgerEntry::Clock(now) => unix_ms = now,
                LedgerEntry::Closed => polls.is_closed = true,
                LedgerEntry::Poll { .. }
                | LedgerEntry::BatchSum(_)
                | LedgerEntry::Batch(_)
                | LedgerEntry::TransactionEnd(_) => {}
            }
        }
        Ok(polls)
    }

    /// The same, of a consumer in the group with this number. Polls of a group follow each other.
    #[must_use]
    pub fn of_group(self, group: u32) -> Self {
        Self { group, ..self }
    }

    /// Notes the offsets that no member of a group has read, although members have read some before and some behind
    /// them. Members in one process note them as they happen; members in several do not know of each other. Nothing is
    /// noted if a member's log is not whole.
    pub fn note_unread(members: &mut [Self]) {
        let is_whole = |member: &Self| member.is_closed && !member.lacks_ranges;
        if !members.iter().all(is_whole) {
            return;
        }
        let read = members.iter().flat_map(|member| &member.read);
        let mut read: Vec<(u64, u64)> = read.copied().collect();
        read.sort_unstable();
        let Some(first) = members.first_mut() else {
            return;
        };
        let mut read_end: Option<u64> = None;
        for (from, end) in read {
            if let Some(unread) = read_end.filter(|read_end| *read_end < from) {
                push(&mut first.passed_over, (unread, from));
            }
            read_end = read_end.max(Some(end));
        }
    }

    /// False if there is no room.
    fn note_read(&mut self, from: u64, end: u64) -> bool {
        if let Some(last) = self.read.last_mut()
            && last.1 == from
        {
            last.1 = end;
            return true;
        }
        push(&mut self.read, (from, end))
    }

    /// A consumer that goes back reads some offsets again; the first time counts. Returns whether the span is kept.
    fn add_span(&mut self, timed: TimedSpan) -> bool {
        let span = timed.span;
        let last = self.spans.last();
        let is_next = last.is_none_or(|last| last.span.end <= span.from);
        is_next && span.from < span.end && push(&mut self.spans, timed)
    }
}

/// False if there is no room.
fn push<T>(to: &mut Vec<T>, one: T) -> bool {
    let has_room = to.len() < RANGES_MAX;
    if has_room {
        to.push(one);
    }
    has_room
}

/// Counts the readable records in each span of a consumer.
#[derive(Debug)]
pub(crate) struct SpanCounter {
    pub(crate) group: u32,
    spans: Vec<TimedSpan>,
    counts: Vec<u64>,
    /// The sums of the marks of batches.
    sums: Vec<u64>,
    /// The span of the last record, or the next one.
    at: usize,
}

impl SpanCounter {
    pub(crate) fn new(group: u32, spans: Vec<TimedSpan>) -> Self {
        Self {
            group,
            counts: vec![0; spans.len()],
            sums: vec![0; spans.len()],
            spans,
            at: 0,
        }
    }

    /// There are readable records from this offset on, after all others.
    #[inline]
    pub(crate) fn note(&mut self, offset: u64, records: u64) {
        if self.advance(offset) {
            self.counts[self.at] += records;
        }
    }

    /// A batch begins here, after all others.
    #[inline]
    pub(crate) fn note_batch(&mut self, base_offset: u64, mark: u64) {
        if self.advance(base_offset) {
            self.sums[self.at] = self.sums[self.at].wrapping_add(mark);
        }
    }

    /// Moves on to the span of an offset; false if there is none.
    #[inline]
    fn advance(&mut self, offset: u64) -> bool {
        while let Some(TimedSpan { span, .. }) = self.spans.get(self.at) {
            if offset < span.end {
                return offset >= span.from;
            }
            self.at += 1;
        }
        false
    }

    /// When the consumer got the record that was just noted, in milliseconds since 1970; or shortly after.
    #[inline]
    pub(crate) fn read_ms(&self, offset: u64) -> Option<u64> {
        let timed = self.spans.get(self.at)?;
        let has = timed.unix_ms > 0 && (timed.span.from..timed.span.end).contains(&offset);
        has.then_some(timed.unix_ms)
    }

    /// Compares what the consumer got with what is readable now, in the part of the log that was read for it.
    pub(crate) fn finish(&self, (log_start, read_end): (u64, u64), verdict: &mut PartitionVerdict) {
        for (at, timed) in self.spans.iter().enumerate() {
            let (span, readable) = (&timed.span, self.counts[at]);
            if span.from < log_start || span.end > read_end {
                continue;
            }
            let read = (span.end - span.from).saturating_sub(u64::from(span.hidden));
            let mut add = |anomaly, records| {
                let place = Sighting {
                    records,
                    ..Sighting::at(span.from)
                };
                verdict.add(anomaly, &place);
            };
            if read > readable {
                add(Anomaly::ReadBeforeCommit, read - readable);
            } else if read < readable {
                add(Anomaly::PollSkip, readable - read);
            } else if timed.batch_sum.is_some_and(|sum| sum != self.sums[at]) {
                // As many records, but not the same: at least one was replaced.
                add(Anomaly::ReadBeforeCommit, 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: u64, end: u64, hidden: u32) -> TimedSpan {
        TimedSpan {
            span: ReadSpan {
                partition: 0,
                from,
                end,
                hidden,
            },
            unix_ms: 1_000 + from,
            batch_sum: None,
        }
    }

    #[test]
    fn what_was_read_once_counts_and_what_is_read_again_does_not() {
        let mut polls = ConsumerPolls::default();
        for one in [span(0, 5, 0), span(3, 8, 0), span(8, 9, 1), span(9, 9, 0)] {
            polls.add_span(one);
        }
        assert_eq!(polls.spans, [span(0, 5, 0), span(8, 9, 1)]);
    }

    #[test]
    fn what_no_member_of_a_spread_group_read_was_passed_over() {
        let member = |read: &[(u64, u64)], is_closed| {
            let mut polls = ConsumerPolls {
                is_closed,
                ..ConsumerPolls::default()
            };
            for &(from, end) in read {
                assert!(polls.note_read(from, end));
            }
            polls
        };
        // The second member goes on at a commit before the end of the first one's reads, and the first one behind it.
        let first = || member(&[(5, 10), (10, 20), (40, 50)], true);
        let second = |is_closed| member(&[(15, 32), (36, 38)], is_closed);
        assert_eq!(first().read, [(5, 20), (40, 50)]);
        let mut members = [first(), second(true)];
        ConsumerPolls::note_unread(&mut members);
        assert_eq!(members[0].passed_over, [(32, 36), (38, 40)]);
        let mut incomplete = [first(), second(false)];
        ConsumerPolls::note_unread(&mut incomplete);
        assert_eq!(incomplete[0].passed_over, []);
    }

    #[test]
    fn as_many_records_in_other_batches_were_not_committed() {
        let read = |sum| {
            let timed = TimedSpan {
                batch_sum: sum,
                ..span(2, 6, 0)
            };
            let mut counter = SpanCounter::new(0, vec![timed]);
            // The first batch begins before the span.
            for (base, records) in [(0, 0), (2, 3), (5, 1), (6, 2)] {
                counter.note_batch(base, 10 + base);
                counter.note(base, records);
            }
            let mut verdict = PartitionVerdict::default();
            counter.finish((0, 13), &mut verdict);
            verdict.count_of(Anomaly::ReadBeforeCommit)
        };
        assert_eq!(read(Some(12 + 15)), 0);
        assert_eq!(read(Some(12 + 16)), 1);
        assert_eq!(read(None), 0);
    }

    #[test]
    fn more_than_is_readable_was_not_committed_and_less_was_skipped() {
        let spans = vec![span(2, 6, 1), span(6, 9, 0), span(20, 30, 0)];
        let mut counter = SpanCounter::new(0, spans);
        // Readable: 2, 4 and 5 of the first span, 7 of the second.
        let mut times = Vec::new();
        for offset in [0, 2, 4, 5, 7, 12] {
            counter.note(offset, 1);
            times.push(counter.read_ms(offset));
        }
        let (first, second) = (Some(1_002), Some(1_006));
        assert_eq!(times, [None, first, first, first, second, None]);
        let mut verdict = PartitionVerdict::default();
        counter.finish((0, 13), &mut verdict);
        assert_eq!(verdict.count_of(Anomaly::ReadBeforeCommit), 2);
        assert_eq!(verdict.count_of(Anomaly::PollSkip), 0);
        let mut missed = SpanCounter::new(0, vec![span(2, 6, 3)]);
        missed.note(2, 1);
        missed.note(3, 1);
        missed.finish((0, 13), &mut verdict);
        assert_eq!(verdict.count_of(Anomaly::PollSkip), 1);
        let deleted = SpanCounter::new(0, vec![span(2, 6, 0)]);
        deleted.finish((3, 13), &mut verdict);
        assert_eq!(verdict.count_of(Anomaly::ReadBeforeCommit), 2);
    }
}
