//! How much a trial may write: known before it starts, so that no disk is filled by surprise.

use crate::keys::flow::ProduceFlow;
use crate::keys::topic::TopicPlan;
use crate::plan::Trial;
use crate::record::RecordPlan;
use crate::record_size::{BATCH_HEAD_BYTES, record_bytes_in_batch};
use crate::shape::{Arrivals, Shape};

/// How fast a closed loop is taken to go when no record count bounds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedLoopPace {
    /// Records a second of one flow.
    pub records_per_second: f64,
    /// Logical bytes a second of one flow. The slower of the two counts.
    pub bytes_per_second: f64,
}

impl ClosedLoopPace {
    /// More than any one flow does on one machine today: 6 million records and 2 GB a second.
    ///
    /// A bare engine needs at least 21 ns of processor a record on two cores and the broker needs
    /// as much again, which leaves some 6 million records; a disk's page cache takes 1 to 2 GB.
    pub const ASSUMED: ClosedLoopPace = ClosedLoopPace {
        records_per_second: 6e6,
        bytes_per_second: 2e9,
    };

    /// Closed loops count for nothing, as far as their pace decides how much they write.
    pub const NONE: ClosedLoopPace = ClosedLoopPace {
        records_per_second: 0.0,
        bytes_per_second: 0.0,
    };
}

/// The most that one repeat of a trial writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Records, preloaded ones included.
    pub records: u64,
    /// Keys, values and headers alone.
    pub logical_bytes: u64,
    /// On the brokers' disks together: with batch and record heads, indexes, every replica.
    /// Compression is taken to save nothing.
    pub stored_bytes: u64,
    /// True when a closed loop without record count is in it, so that a [`ClosedLoopPace`] was
    /// needed: the bound is then as good as that assumption.
    pub is_assumed: bool,
}

impl Trial {
    /// The most that one repeat writes, all stages and the preload together.
    ///
    /// A flow with a schedule writes what its shape adds up to, with Poisson arrivals at most six
    /// standard deviations more. A flow at full speed writes its `records` and, for the warm-up or without `records`,
    /// `pace` × time. Batches of flows with a schedule are taken to hold one record each, which is
    /// the worst case; those at full speed fill their batches.
    pub fn bytes_written_max(&self, pace: ClosedLoopPace) -> Volume {
        let mut volume = Volume::default();
        if let Some(preload) = &self.topic.preload {
            let records = preload.records as f64;
            volume.add(&self.topic, records, &preload.record, PRELOAD_BATCH_BYTES);
        }
        for flow in &self.flows {
            let Some(flow) = flow.produces() else {
                continue;
            };
            let (records, is_assumed) = self.records_max(flow, pace);
            volume.is_assumed |= is_assumed;
            let fills_batches = flow.shape == Shape::Max;
            let batch = if fills_batches {
                f64::from(flow.settings.batch_bytes)
            } else {
                0.0
            };
            volume.add(&self.topic, records, &flow.record, batch);
        }
        volume
    }

    /// Records of a flow in warm-up and hold, and whether the pace had to be assumed.
    fn records_max(&self, flow: &ProduceFlow, pace: ClosedLoopPace) -> (f64, bool) {
        let by_bytes = pace.bytes_per_second / flow.record.logical_bytes_mean().max(1.0);
        let closed_loop = flow.shape == Shape::Max;
        // At full speed most are steady soon, and the run ends before a disk is full.
        let warm_up_ns = match closed_loop {
            true => self.stages.warm_up_ns,
            false => self.stages.warm_up_limit_ns(),
        };
        let before = |at_ns: u64| match closed_loop {
            true => pace.records_per_second.min(by_bytes) * (at_ns as f64 / 1e9),
            false => flow.shape.records_before(at_ns, warm_up_ns),
        };
        let limit = flow
            .records_max
            .map_or(f64::INFINITY, |records| records as f64);
        let warm_up = before(warm_up_ns);
        let hold = self.stages.hold_ns.map_or(f64::INFINITY, |ns| {
            before(warm_up_ns.saturating_add(ns)) - warm_up
        });
        // Neither known only for a plan that `Plan::from_json` refuses.
        let hold = if hold.min(limit).is_finite() {
            hold.min(limit)
        } else {
            0.0
        };
        let records = warm_up + hold;
        let is_poisson =
            matches!(flow.shape, Shape::Poisson { .. }) || flow.arrivals == Arrivals::Poisson;
        let spread = match is_poisson && !closed_loop {
            true => 6.0 * records.sqrt(),
            false => 0.0,
        };
        let is_assumed = closed_loop && (limit > hold || warm_up_ns > 0);
        // One more for the record at time 0. What a closed loop writes is unknown without a pace.
        let first = if closed_loop && records == 0.0 {
            0.0
        } else {
            1.0
        };
        ((records + spread).ceil() + first, is_assumed)
    }
}

/// Preloading fills batches; whatever their size is, they are not smaller than Kafka's default.
const PRELOAD_BATCH_BYTES: f64 = 16_384.0;
/// Index entries: 8 and 12 bytes for every 4 KiB of log (`index.interval.bytes`) are 0.5 %. What
/// Kafka preallocates of them takes no room on the disk.
const INDEX_SHARE: f64 = 0.005;

impl Volume {
    fn add(&mut self, topic: &TopicPlan, records: f64, record: &RecordPlan, batch_bytes: f64) {
        let logical_bytes = record.logical_bytes_mean();
        let in_batch = record_bytes_in_batch(record);
        let per_batch = (batch_bytes / in_batch).floor().max(1.0);
        let batches = (records / per_batch).ceil();
        let stored = records * in_batch + batches * BATCH_HEAD_BYTES as f64;
        let stored = stored * (1.0 + INDEX_SHARE) * f64::from(topic.replication);
        self.records = self.records.saturating_add(records as u64);
        self.logical_bytes = self
            .logical_bytes
            .saturating_add((records * logical_bytes) as u64);
        self.stored_bytes = self.stored_bytes.saturating_add(stored as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, Size};

    fn volume(flow: &str, rest: &str) -> Volume {
        let text = format!(
            "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 6{rest}}}\nflows:\n  \
             - {{name: w, kind: produce, record: {{size: 100 B}}, {flow}}}\n\
             stages: {{warm-up: 2 s, warm-up-limit: 2 s, hold: 8 s}}\n"
        );
        let scenario = Scenario::parse("a.yaml", &text).unwrap();
        scenario.trials(Size::Default)[0].bytes_written_max(ClosedLoopPace::ASSUMED)
    }

    #[test]
    fn a_constant_rate_writes_rate_times_time() {
        let volume = volume("shape: {constant: 10k/s}", "");
        assert_eq!(
            (volume.records, volume.logical_bytes),
            (100_001, 10_000_100)
        );
        // Each record alone in its batch: (113 + 61) * 1.005 = 174.87
        assert_eq!(volume.stored_bytes, 17_487_174);
        assert!(!volume.is_assumed);
    }

    #[test]
    fn poisson_arrivals_may_be_some_more() {
        // sqrt(100,000) * 6 = 1,897.4
        assert_eq!(volume("shape: {poisson: 10k/s}", "").records, 101_899);
    }

    #[test]
    fn full_speed_is_bounded_by_its_records_and_says_what_was_assumed() {
        let free = volume("shape: max", "");
        assert_eq!(free.records, 60_000_001);
        assert!(free.is_assumed);
        // 1 M in the hold, 2 s at 6 M/s in the warm-up.
        let limited = volume("shape: max, records: 1M", "");
        assert_eq!(limited.records, 13_000_001);
        // Full batches: 113 B and 61 B for every 144th record.
        let bytes = limited.stored_bytes as f64 / limited.records as f64;
        assert!(
            (bytes / 1.005 - 113.0 - 61.0 / 144.0).abs() < 0.01,
            "{bytes}"
        );
    }

    #[test]
    fn a_closed_loop_without_a_pace_counts_for_nothing() {
        let text = "kgauge: 1\nname: a\nquestion: b\ntopic: {partitions: 6}\nflows:\n  \
             - {name: w, kind: produce, record: {size: 100 B}, shape: max}\n";
        let scenario = Scenario::parse("a.yaml", text).unwrap();
        let volume = scenario.trials(Size::Default)[0].bytes_written_max(ClosedLoopPace::NONE);
        assert_eq!((volume.records, volume.is_assumed), (0, true));
    }

    #[test]
    fn changing_rates_add_up() {
        // Warm-up 2 s at 0, then 0 to 1,000/s in 8 s.
        assert_eq!(
            volume("shape: {ramp: {from: 0/s, to: 1k/s}}", "").records,
            4_001
        );
        // 2 s and 4 s at 100/s, then 4 s at 300/s.
        let steps = "shape: {step: [{rate: 100/s, for: 4 s}, {rate: 300/s, for: 1 s}]}";
        assert_eq!(volume(steps, "").records, 1_801);
        // 4 s, two periods, have the mean; so has the warm-up.
        let wave = "shape: {wave: {mean: 100/s, amplitude: 100/s, period: 4 s}}";
        assert_eq!(volume(wave, "").records, 1_001);
        // 10 s at 10/s, and 4 of 8 s at 90/s more.
        let burst = "shape: {burst: {base: 10/s, burst: 100/s, every: 2 s, for: 1 s}}";
        assert_eq!(volume(burst, "").records, 461);
        // 400 expected in 8 s, and the 0 of the warm-up; sqrt(4,000) * 6 = 379.5.
        let ramp = "shape: {ramp: {from: 0/s, to: 1k/s}}, arrivals: poisson";
        assert_eq!(volume(ramp, "").records, 4_381);
    }

    #[test]
    fn keys_and_headers_are_logical_bytes() {
        let text = "kgauge: 1\nname: a\nquestion: b\ntopic: {partitions: 6}\nflows:\n  \
             - {name: w, kind: produce, record: {size: 100 B, key: {uniform: {keys: 10}}, headers: {}}, \
             shape: {constant: 10/s}}\nstages: {warm-up: 0 s, hold: 1 s}\n";
        let scenario = Scenario::parse("a.yaml", text).unwrap();
        let volume = scenario.trials(Size::Default)[0].bytes_written_max(ClosedLoopPace::ASSUMED);
        // 11 records of 100 + 16 + (8 + 16)
        assert_eq!(volume.logical_bytes, 1_540);
    }

    #[test]
    fn the_preload_counts() {
        let rest = ", preload: {records: 1M, record: {size: 100 B}}";
        assert_eq!(volume("shape: {constant: 1/s}", rest).records, 1_000_011);
    }
}
