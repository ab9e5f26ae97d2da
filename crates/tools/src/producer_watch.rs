//! Watches the load of the producer tools: intervals, and the end of the warm-up.

use std::time::Duration;

use kgauge_load::LoadProgress;
use kgauge_results::{Counts, Slice, Stage, TimeKind};

use crate::context::ToolContext;
use crate::load::LoadWatch;
use crate::producer_job::ProducerJob;
use crate::producer_lines::{ProducerTally, window};

/// Counts acked records and prints the lines of intervals.
pub(crate) struct SendWatch<'a> {
    job: &'a ProducerJob,
    prints_windows: bool,
    context: &'a ToolContext<'a>,
    /// All records with their response times, and with their service times.
    pub(crate) whole: ProducerTally,
    pub(crate) service: ProducerTally,
    pub(crate) counts: Counts,
    window: ProducerTally,
    window_start_ns: u64,
    /// The records after the warm-up.
    pub(crate) steady: ProducerTally,
    pub(crate) steady_from_ns: u64,
    is_steady: bool,
}

impl<'a> SendWatch<'a> {
    pub(crate) fn new(
        job: &'a ProducerJob,
        prints_windows: bool,
        context: &'a ToolContext<'a>,
    ) -> SendWatch<'a> {
        SendWatch {
            job,
            prints_windows,
            context,
            whole: ProducerTally::default(),
            service: ProducerTally::default(),
            counts: Counts::default(),
            window: ProducerTally::default(),
            window_start_ns: 0,
            steady: ProducerTally::default(),
            steady_from_ns: 0,
            is_steady: job.warm_up == 0,
        }
    }

    fn interval_ns(&self) -> u64 {
        self.job.interval_ms.saturating_mul(1_000_000)
    }

    /// How often slices should come: a fraction of the interval, and soon after the end of a warm-up.
    pub(crate) fn tick(&self) -> Duration {
        let by_interval = Duration::from_nanos(self.interval_ns() / 10);
        let longest = match self.job.warm_up {
            0 => Duration::from_millis(250),
            _ => Duration::from_millis(50),
        };
        by_interval.clamp(Duration::from_millis(50), longest)
    }

    /// Counts the acks of a slice.
    fn add(&mut self, mut slice: Slice, now_ns: u64) {
        slice.settle();
        self.counts.add(&slice.counts);
        let records = slice.times(TimeKind::Response).count();
        // A schedule has a stage for the warm-up, a closed loop counts.
        let is_warm_up = match self.job.rate.is_some_and(|rate| rate > 0.0) {
            true => slice.key.stage == Stage::WarmUp,
            false => self.whole.records + records <= self.job.warm_up,
        };
        if !self.is_steady && !is_warm_up && records > 0 {
            self.is_steady = true;
            self.steady_from_ns = now_ns;
            self.context.line("In steady state.");
            self.start_window(now_ns);
        }
        let bytes = self.job.value_bytes;
        self.whole.add(&slice, TimeKind::Response, bytes);
        self.service.add(&slice, TimeKind::Service, bytes);
        self.window.add(&slice, TimeKind::Response, bytes);
        if self.is_steady && self.job.warm_up > 0 && !is_warm_up {
            self.steady.add(&slice, TimeKind::Response, bytes);
        }
    }

    /// Prints the interval's line, once a record was acked after its end.
    fn check_clock(&mut self, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.window_start_ns);
        if elapsed_ns < self.interval_ns() || self.window.records == 0 {
            return;
        }
        if self.prints_windows {
            let line = window(&self.window, elapsed_ns, self.job.as_of);
            self.context.line(&line);
        }
        self.start_window(now_ns);
    }

    fn start_window(&mut self, now_ns: u64) {
        self.window = ProducerTally::default();
        self.window_start_ns = now_ns;
    }
}

impl LoadWatch for SendWatch<'_> {
    fn sample(&mut self, slices: Vec<Slice>, progress: &LoadProgress) {
        let is_any = !slices.is_empty();
        for slice in slices {
            self.add(slice, progress.elapsed_ns);
        }
        if is_any {
            self.check_clock(progress.elapsed_ns);
        }
    }

    fn wants_end(&self) -> bool {
        !self.context.output.is_open()
    }
}

#[cfg(test)]
mod tests {
    use kgauge_results::SliceKey;
    use kgauge_scenario::RecordPlan;

    use super::*;
    use crate::context::tests::{RecordedOutput, context};
    use crate::properties::{ClientRole, PropertySources};
    use crate::release::ToolRelease;

    /// Calls `act` with a watch; returns what it printed.
    fn watched(
        warm_up: u64,
        has_schedule: bool,
        act: impl FnOnce(&mut SendWatch<'_>),
    ) -> Vec<String> {
        let output = RecordedOutput::default();
        let context = context(&output);
        let sources = PropertySources {
            flags: vec![("bootstrap.servers", "a:1".to_owned())],
            ..PropertySources::default()
        };
        let properties = sources.read(ClientRole::Producer, &context).unwrap();
        let record = RecordPlan::of_values(10);
        let job = ProducerJob {
            warm_up,
            rate: has_schedule.then_some(1.0),
            value_bytes: Some(10),
            ..ProducerJob::new("t", 200, record, properties, ToolRelease::NEWEST)
        };
        act(&mut SendWatch::new(&job, true, &context));
        output.lines.take()
    }

    fn acked(stage: Stage, records: u64) -> Slice {
        let mut slice = Slice::new(SliceKey {
            flow: 0,
            stage,
            second: 0,
        });
        slice.counts.records_acked = records;
        slice.counts.logical_bytes_acked = records * 10;
        slice
            .times_mut(TimeKind::Immediate)
            .record(2_000_000, records, 0);
        slice
    }

    #[test]
    fn a_warm_up_by_schedule_ends_with_its_stage() {
        let lines = watched(100, true, |watch| {
            watch.add(acked(Stage::WarmUp, 100), 1);
            assert!(!watch.is_steady);
            watch.add(acked(Stage::Hold, 40), 2);
            watch.add(acked(Stage::Hold, 60), 3);
            assert_eq!((watch.whole.records, watch.steady.records), (200, 100));
            assert_eq!(watch.steady_from_ns, 2);
            assert_eq!(watch.whole.latency.count(), 200);
        });
        assert_eq!(lines, ["In steady state."]);
    }

    #[test]
    fn a_warm_up_of_a_closed_loop_ends_with_its_count() {
        watched(100, false, |watch| {
            watch.add(acked(Stage::Hold, 60), 1);
            watch.add(acked(Stage::Hold, 60), 2);
            assert_eq!((watch.whole.records, watch.steady.records), (120, 60));
        });
    }

    #[test]
    fn an_interval_waits_for_acks_and_the_next_one_starts_after_its_line() {
        let lines = watched(0, false, |watch| {
            watch.check_clock(6_000_000_000);
            assert_eq!(watch.window_start_ns, 0, "nothing was acked");
            watch.add(acked(Stage::Hold, 5), 7_000_000_000);
            watch.check_clock(7_000_000_000);
            assert_eq!(watch.window_start_ns, 7_000_000_000);
            assert_eq!((watch.window.records, watch.whole.records), (0, 5));
        });
        assert!(lines[0].starts_with("5 records sent, 0.7 records/sec"));
    }
}
