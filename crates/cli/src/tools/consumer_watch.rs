//! What the consumer tool watches while it reads: intervals, and records that stay away.

use kgauge_load::{Clock, LoadProgress};
use kgauge_results::{Counts, Slice};

use super::consumer::ConsumerArgs;
use super::consumer_rows::{ReadProgress, interval};
use super::drive::{LoadWatch, counts_messages};
use super::say;

/// Intervals, and records that stay away.
pub(super) struct ReadWatch<'a> {
    typed: &'a mut ConsumerArgs,
    clock: Clock,
    joined_ms: u64,
    last: ReadProgress,
    records: u64,
    moved_at_ns: u64,
    pub(super) timed_out: bool,
    pub(super) counts: Counts,
}

impl<'a> ReadWatch<'a> {
    pub(super) fn new(
        typed: &'a mut ConsumerArgs,
        start: ReadProgress,
        joined_ms: u64,
        clock: Clock,
    ) -> Self {
        Self {
            typed,
            clock,
            joined_ms,
            last: start,
            records: 0,
            moved_at_ns: 0,
            timed_out: false,
            counts: Counts::default(),
        }
    }
}

impl LoadWatch for ReadWatch<'_> {
    fn sample(&mut self, slices: Vec<Slice>, progress: &LoadProgress) {
        slices
            .iter()
            .for_each(|slice| self.counts.add(&slice.counts));
        let Some(totals) = progress.flows.first() else {
            return;
        };
        if totals.consumed > self.records {
            self.records = totals.consumed;
            self.moved_at_ns = progress.elapsed_ns;
        }
        let quiet_ms = progress.elapsed_ns.saturating_sub(self.moved_at_ns) / 1_000_000;
        let is_short = self.records < self.typed.records;
        self.timed_out |= is_short && quiet_ms > self.typed.timeout_ms;
        if !self.typed.is_detailed {
            return;
        }
        let now = ReadProgress {
            at_ms: self.clock.unix_ms(progress.elapsed_ns),
            records: totals.consumed,
            bytes: totals.logical_bytes,
            rebalance_ms: self.joined_ms,
        };
        let is_due = match counts_messages(self.typed.as_of) {
            true => now.records - self.last.records >= self.typed.interval_ms,
            false => now.at_ms - self.last.at_ms >= self.typed.interval_ms.cast_signed(),
        };
        if is_due && now.records > self.last.records {
            let row = interval(self.typed.columns, &self.typed.dates, self.last, now);
            say::line(&row);
            self.last = now;
        }
    }

    fn wants_end(&self) -> bool {
        self.timed_out || !say::is_open()
    }
}
