//! Watches the load of the consumer tools: intervals, and the wait for records.

use kgauge_load::{Clock, LoadProgress};
use kgauge_results::{Counts, Slice};

use crate::consumer_args::ConsumerArgs;
use crate::consumer_rows::{ReadProgress, interval};
use crate::context::ToolContext;
use crate::load::LoadWatch;

/// Prints the rows of intervals, and gives up when records do not come.
pub(crate) struct ReadWatch<'a> {
    args: &'a ConsumerArgs,
    context: &'a ToolContext<'a>,
    clock: Clock,
    joined_ms: u64,
    /// The last row.
    last: ReadProgress,
    records: u64,
    /// When the last record came.
    moved_at_ns: u64,
    pub(crate) is_timed_out: bool,
    pub(crate) counts: Counts,
}

impl<'a> ReadWatch<'a> {
    pub(crate) fn new(
        args: &'a ConsumerArgs,
        start: ReadProgress,
        joined_ms: u64,
        clock: Clock,
        context: &'a ToolContext<'a>,
    ) -> Self {
        Self {
            args,
            context,
            clock,
            joined_ms,
            last: start,
            records: 0,
            moved_at_ns: 0,
            is_timed_out: false,
            counts: Counts::default(),
        }
    }
}

impl LoadWatch for ReadWatch<'_> {
    fn sample(&mut self, slices: Vec<Slice>, progress: &LoadProgress) {
        for slice in &slices {
            self.counts.add(&slice.counts);
        }
        let Some(totals) = progress.flows.first() else {
            return;
        };
        if totals.consumed > self.records {
            self.records = totals.consumed;
            self.moved_at_ns = progress.elapsed_ns;
        }
        let quiet_ms = progress.elapsed_ns.saturating_sub(self.moved_at_ns) / 1_000_000;
        let is_short = self.records < self.args.records;
        self.is_timed_out |= is_short && quiet_ms > self.args.timeout_ms;
        if !self.args.is_detailed {
            return;
        }
        let now = ReadProgress {
            at_ms: self.clock.unix_ms(progress.elapsed_ns),
            records: totals.consumed,
            bytes: totals.logical_bytes,
            rebalance_ms: self.joined_ms,
        };
        let is_due = match self.args.as_of.counts_records() {
            true => now.records - self.last.records >= self.args.interval_ms,
            false => now.at_ms - self.last.at_ms >= self.args.interval_ms.cast_signed(),
        };
        if is_due && now.records > self.last.records {
            let row = interval(self.args.columns, &self.args.dates, self.last, now);
            self.context.line(&row);
            self.last = now;
        }
    }

    fn wants_end(&self) -> bool {
        self.is_timed_out || !self.context.output.is_open()
    }
}
