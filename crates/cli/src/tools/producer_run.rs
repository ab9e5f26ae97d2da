//! The work of the producer tools: the load engine's, told in the old tool's lines.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use kgauge_load::{Clock, LoadOutcome, LoadProgress, Totals};
use kgauge_results::{Counts, Slice, Stage, TimeKind};
use kgauge_scenario::{CompressionCodec, FlowPlan, ProduceFlow, RecordPlan, Shape, Trial};
use serde_json::{Map, Value, json};

use super::drive::{Drive, LoadWatch, connect, listen, topic_on_demand};
use super::java::fixed;
use super::producer_lines::{ProducerTally, metrics, total, total_0_8_1, window};
use super::properties::ToolProperties;
use super::release::ToolRelease;
use super::say::{self, note};
use super::{ToolFailure, ToolResult, flow, payloads};
use crate::exit::ExitStatus;
use crate::interrupt::StopRequests;

/// What is in the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PayloadSource {
    /// So many bytes.
    Size(u64),
    /// Between one byte and so many.
    UpTo(u64),
    /// Words, the record's number, and `x` up to a size.
    Numbered {
        words: String,
        first: u64,
        bytes: u64,
    },
    /// Pieces of a file, picked at random.
    File { path: PathBuf, delimiter: String },
    /// Rising numbers, in digits.
    Monotonic,
}

/// What a call of one of the producer tools asks for.
#[derive(Debug)]
pub(super) struct ProducerJob {
    pub(super) topic: String,
    pub(super) records: u64,
    pub(super) payload: PayloadSource,
    /// Records a second; `None`: as fast as it goes.
    pub(super) rate: Option<f64>,
    pub(super) warm_up: u64,
    pub(super) interval_ms: u64,
    pub(super) properties: ToolProperties,
    pub(super) producers: u32,
    /// Length of each transaction, if there are any.
    pub(super) transaction_ms: Option<u64>,
    pub(super) print_metrics: bool,
    pub(super) zero_on_failures: bool,
    pub(super) as_of: ToolRelease,
    /// What the payload comes to, once it has been read.
    pub(super) record: RecordPlan,
}

/// What became of the records.
#[derive(Debug, Default)]
pub(super) struct SendReport {
    pub(super) totals: Totals,
    pub(super) whole: ProducerTally,
    pub(super) elapsed_ns: u64,
}

impl ProducerJob {
    /// Does the work and prints what the tool prints.
    pub(super) fn run(mut self) -> ToolResult {
        let stopping = listen()?;
        if self.warm_up > 0 {
            let warm_up = self.warm_up;
            say::line(&format!(
                "Warmup first {warm_up} records. Steady state results will print after the complete \
                 test summary."
            ));
        }
        self.record = payloads::records(&self.payload, self.as_of)?;
        if self.rate == Some(0.0) {
            note("--throughput 0 sends next to nothing and waits for ever, as Kafka's tool does");
        }
        let flow = self.flow_settings()?;
        let mut watch = SendWatch::new(&self);
        let sent = self.load(&stopping, &mut watch)?;
        let watch = watch;
        self.totals_said(&sent, &watch);
        self.misleading(&sent, &watch, &flow);
        self.wait_for_ever(&stopping);
        if stopping.is_wanted() {
            return Ok(ExitStatus::Interrupted);
        }
        Ok(self.judged(&sent.totals))
    }

    /// Does the work and prints nothing: what became of the records, and how long it took.
    pub(super) fn run_quietly(&mut self) -> Result<(Totals, u64, ExitStatus), ToolFailure> {
        let stopping = listen()?;
        self.record = payloads::records(&self.payload, self.as_of)?;
        let flow = self.flow_settings()?;
        let mut watch = SendWatch::new(self);
        watch.prints_windows = false;
        let sent = self.load(&stopping, &mut watch)?;
        self.misleading(&sent, &watch, &flow);
        let status = match stopping.is_wanted() {
            true => ExitStatus::Interrupted,
            false => ExitStatus::Good,
        };
        Ok((sent.totals, sent.elapsed_ns, status))
    }

    /// The flow's settings with nothing left open, on a topic of one partition.
    fn flow_settings(&self) -> Result<ProduceFlow, ToolFailure> {
        let mut trial = self.trial(1)?;
        match trial.flows.pop() {
            Some(FlowPlan::Produce(flow)) => Ok(flow),
            _ => Err(ToolFailure::new("the flow does not produce")),
        }
    }

    fn trial(&self, partitions: u32) -> Result<Trial, ToolFailure> {
        // Checked against the settings by its largest value; what the records are is put in after that.
        let size = format!("{} B", self.record.value_bytes_max().max(1));
        let keys = json!({
            "kind": "produce",
            "producers": self.producers,
            "shape": "max",
            "record": {"size": size},
        });
        let mut keys: Map<String, Value> = match keys {
            Value::Object(keys) => keys,
            _ => Map::new(),
        };
        if let Some(ms) = self.transaction_ms {
            keys.insert("transaction".into(), format!("{ms} ms").into());
        }
        let mut trial = flow::trial(partitions, keys, &self.properties.flow)?;
        trial.stages.hold_ns = None;
        for flow in &mut trial.flows {
            if let FlowPlan::Produce(flow) = flow {
                self.adjust(flow);
                let settings = &flow.settings;
                // All that is sent gets its last word.
                trial.stages.drain_ns_max =
                    settings.delivery_timeout_ns + settings.request_timeout_ns + 5_000_000_000;
                if let (Some(rate), true) = (self.rate, self.warm_up > 0) {
                    // The warm-up ends when the first record after it is due.
                    trial.stages.warm_up_ns = (self.warm_up as f64 / rate * 1e9) as u64;
                    flow.records_max = Some(self.records - self.warm_up);
                }
            }
        }
        Ok(trial)
    }

    fn adjust(&self, flow: &mut ProduceFlow) {
        flow.records_max = Some(match self.rate {
            // The old tool sends one before it looks at the clock.
            Some(0.0) => 1,
            _ => self.records,
        });
        flow.record = self.record.clone();
        flow.skip_after_ns = u64::MAX;
        if let Some(rate) = self.rate.filter(|&rate| rate > 0.0) {
            flow.shape = Shape::Constant { per_second: rate };
        }
    }

    fn load(
        &self,
        stopping: &StopRequests,
        watch: &mut SendWatch,
    ) -> Result<SendReport, ToolFailure> {
        let client = &self.properties.client;
        let mut cluster = connect(client, &stopping.load)?;
        let patience = Duration::from_nanos(self.flow_settings()?.settings.block_ns_max);
        let topic = topic_on_demand(&mut cluster, &self.topic, &stopping.load, patience)?;
        drop(cluster);
        let drive = Drive {
            topic: &self.topic,
            also: &[],
            client,
            stopping,
            groups: BTreeMap::new(),
            tick: watch.tick(),
        };
        let partitions = u32::try_from(topic.partitions.len()).unwrap_or(u32::MAX);
        let ready = drive.prepare(self.trial(partitions)?)?;
        let outcome = ready.run(Clock::start(), watch)?;
        Ok(SendReport {
            totals: sum(&outcome),
            whole: std::mem::take(&mut watch.whole),
            elapsed_ns: outcome.end_ns,
        })
    }

    fn totals_said(&mut self, sent: &SendReport, watch: &SendWatch) {
        if self.as_of < ToolRelease::of(0, 8, 2) {
            say::line(&total_0_8_1(&sent.whole, sent.elapsed_ns));
            return;
        }
        let whole = total(&sent.whole, sent.elapsed_ns, self.as_of, false);
        say::line(&whole);
        if self.warm_up > 0 {
            let steady_ns = sent.elapsed_ns.saturating_sub(watch.steady_from_ns);
            let mut steady = watch.steady.clone();
            if self.rate.is_none() {
                note("the warm-up of a closed loop ends by the acks, seen every 50 ms");
                steady.records = sent.whole.records.saturating_sub(self.warm_up);
                if let Some(bytes) = watch.value_bytes {
                    steady.bytes = steady.records * bytes;
                }
            }
            say::line(&total(&steady, steady_ns, self.as_of, true));
        }
        if self.print_metrics {
            for line in metrics(self.metric_rows(sent, &watch.counts)) {
                say::line(&line);
            }
            note("--print-metrics: those of Kafka's producer metrics that kgauge counts");
        }
    }

    fn metric_rows(&self, sent: &SendReport, counts: &Counts) -> Vec<(String, String)> {
        let client = self.properties.flow.get("client.id");
        let client = client.map_or("perf-producer-client", String::as_str);
        let per = |part: u64, of: u64| part as f64 / of as f64;
        let seconds = sent.elapsed_ns as f64 / 1e9;
        let row = |name: &str, value: f64| {
            (
                format!("producer-metrics:{name}:{{client-id={client}}}"),
                fixed(value, 3),
            )
        };
        vec![
            row(
                "batch-size-avg",
                per(counts.wire_bytes_sent, counts.request_batches),
            ),
            row(
                "outgoing-byte-rate",
                counts.wire_bytes_sent as f64 / seconds,
            ),
            row("outgoing-byte-total", counts.wire_bytes_sent as f64),
            row(
                "produce-throttle-time-avg",
                per(counts.throttle_ns, counts.throttles.max(1)) / 1e6,
            ),
            row(
                "record-error-total",
                (sent.totals.failed + sent.totals.indeterminate) as f64,
            ),
            row("record-retry-total", counts.records_retried as f64),
            row("record-send-rate", counts.records_sent as f64 / seconds),
            row("record-send-total", counts.records_sent as f64),
            row(
                "records-per-request-avg",
                per(counts.request_records, counts.requests),
            ),
            row("request-rate", counts.requests as f64 / seconds),
            row("request-total", counts.requests as f64),
        ]
    }

    /// What a reader of the lines would take for the cluster's and is not.
    pub(super) fn misleading(&self, sent: &SendReport, watch: &SendWatch, flow: &ProduceFlow) {
        if sent.whole.records == 0 {
            return;
        }
        let seconds = sent.elapsed_ns as f64 / 1e9;
        let reached = sent.whole.records as f64 / seconds;
        let buffer = flow.settings.buffer_bytes;
        let mean_s = sent.whole.latency.mean_ns().unwrap_or(0.0) / 1e9;
        // Little's law: what lies in the buffer is throughput times latency.
        let waiting = sent.whole.bytes as f64 / seconds * mean_s / buffer as f64;
        let (due, handed) = (
            sent.whole.percentile_ms(0.99),
            watch.service.percentile_ms(0.99),
        );
        match self.rate {
            None if waiting > 0.5 => note(&format!(
                "--throughput -1 is a closed loop, and {:.0} % of this latency is the producer's own \
                 buffer of {} KiB, not the cluster; give a rate to see that",
                (waiting * 100.0).min(100.0),
                buffer / 1024
            )),
            None => note(
                "--throughput -1 is a closed loop: the latency includes the wait in the producer's \
                 own buffer; give a rate to see the cluster's",
            ),
            Some(_) if due > handed + handed / 10 + 1 => note(&format!(
                "latency counts from when a record was due by --throughput ({reached:.0} records/s \
                 were reached); from the moment of its send, as Kafka's tool counts and so misses \
                 stalls, the 99th is {handed} ms"
            )),
            Some(_) => {}
        }
        let repeated =
            self.as_of < ToolRelease::of(3, 0, 0) && matches!(self.payload, PayloadSource::Size(_));
        if repeated && flow.settings.compression.codec != CompressionCodec::None {
            note(
                "Kafka's tool sent one payload again and again before 3.0, which compresses to next to \
                 nothing; here every record has letters of its own",
            );
        }
    }

    fn wait_for_ever(&self, stopping: &StopRequests) {
        while self.rate == Some(0.0) && !stopping.is_wanted() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The exit status by what became of the records.
    pub(super) fn judged(&self, totals: &Totals) -> ExitStatus {
        let lost = totals.failed + totals.indeterminate + totals.skipped;
        if lost == 0 {
            return ExitStatus::Good;
        }
        note(&format!(
            "{} records failed, of {} nobody knows whether they are there, {} were not sent",
            totals.failed, totals.indeterminate, totals.skipped
        ));
        match self.zero_on_failures {
            true => ExitStatus::Good,
            false => ExitStatus::Failed,
        }
    }
}

fn sum(outcome: &LoadOutcome) -> Totals {
    let flows = outcome.flows.iter();
    flows.fold(Totals::default(), |sum, flow| sum.plus(&flow.totals))
}

/// Intervals and the steady state, while records are acked.
pub(super) struct SendWatch {
    as_of: ToolRelease,
    interval_ns: u64,
    /// Records of the warm-up, in a closed loop; a schedule has a stage for it.
    warm_up: u64,
    has_schedule: bool,
    /// Where all values are of one size.
    pub(super) value_bytes: Option<u64>,
    pub(super) whole: ProducerTally,
    pub(super) service: ProducerTally,
    pub(super) counts: Counts,
    window: ProducerTally,
    window_start_ns: u64,
    pub(super) steady: ProducerTally,
    pub(super) steady_from_ns: u64,
    is_steady: bool,
    prints_windows: bool,
}

impl SendWatch {
    fn new(job: &ProducerJob) -> SendWatch {
        SendWatch {
            as_of: job.as_of,
            interval_ns: job.interval_ms.saturating_mul(1_000_000),
            warm_up: job.warm_up,
            has_schedule: job.rate.is_some_and(|rate| rate > 0.0),
            value_bytes: match job.payload {
                PayloadSource::Size(bytes) => Some(bytes),
                _ => None,
            },
            whole: ProducerTally::default(),
            service: ProducerTally::default(),
            counts: Counts::default(),
            window: ProducerTally::default(),
            window_start_ns: 0,
            steady: ProducerTally::default(),
            steady_from_ns: 0,
            is_steady: job.warm_up == 0,
            prints_windows: job.as_of >= ToolRelease::of(0, 8, 2),
        }
    }

    /// How often slices should come: often enough for the interval and the end of a warm-up.
    fn tick(&self) -> Duration {
        let by_interval = Duration::from_nanos(self.interval_ns / 10);
        let longest = match self.warm_up {
            0 => Duration::from_millis(250),
            _ => Duration::from_millis(50),
        };
        by_interval.clamp(Duration::from_millis(50), longest)
    }

    /// Counts what was acked up to `now_ns`, and prints an interval that is over.
    pub(super) fn add(&mut self, mut slice: Slice, now_ns: u64) {
        slice.settle();
        self.counts.add(&slice.counts);
        let records = slice.times(TimeKind::Response).count();
        let is_warm_up = match self.has_schedule {
            true => slice.key.stage == Stage::WarmUp,
            false => self.whole.records + records <= self.warm_up,
        };
        if !self.is_steady && !is_warm_up && records > 0 {
            self.is_steady = true;
            self.steady_from_ns = now_ns;
            say::line("In steady state.");
            self.window = ProducerTally::default();
            self.window_start_ns = now_ns;
        }
        let bytes = self.value_bytes;
        self.whole.add(&slice, TimeKind::Response, bytes);
        self.service.add(&slice, TimeKind::Service, bytes);
        self.window.add(&slice, TimeKind::Response, bytes);
        if self.is_steady && self.warm_up > 0 && !is_warm_up {
            self.steady.add(&slice, TimeKind::Response, bytes);
        }
    }

    /// The interval's line, once something was acked after its end.
    pub(super) fn check_clock(&mut self, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.window_start_ns);
        if elapsed_ns < self.interval_ns || self.window.records == 0 {
            return;
        }
        if self.prints_windows {
            let line = window(&self.window, elapsed_ns, self.as_of);
            say::line(&line);
        }
        self.window = ProducerTally::default();
        self.window_start_ns = now_ns;
    }
}

impl LoadWatch for SendWatch {
    fn sample(&mut self, slices: Vec<Slice>, progress: &LoadProgress) {
        let came = !slices.is_empty();
        for slice in slices {
            self.add(slice, progress.elapsed_ns);
        }
        if came {
            self.check_clock(progress.elapsed_ns);
        }
    }

    fn wants_end(&self) -> bool {
        !say::is_open()
    }
}

#[cfg(test)]
mod tests {
    use kgauge_results::SliceKey;

    use super::*;

    fn watch(warm_up: u64, has_schedule: bool) -> SendWatch {
        SendWatch {
            as_of: ToolRelease::NEWEST,
            interval_ns: 5_000_000_000,
            warm_up,
            has_schedule,
            value_bytes: Some(10),
            whole: ProducerTally::default(),
            service: ProducerTally::default(),
            counts: Counts::default(),
            window: ProducerTally::default(),
            window_start_ns: 0,
            steady: ProducerTally::default(),
            steady_from_ns: 0,
            is_steady: warm_up == 0,
            prints_windows: true,
        }
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
    fn a_warm_up_by_schedule_ends_where_its_stage_ends() {
        let mut watch = watch(100, true);
        watch.add(acked(Stage::WarmUp, 100), 1);
        assert!(!watch.is_steady);
        watch.add(acked(Stage::Hold, 40), 2);
        watch.add(acked(Stage::Hold, 60), 3);
        assert_eq!((watch.whole.records, watch.steady.records), (200, 100));
        assert_eq!(watch.steady_from_ns, 2);
        assert_eq!(watch.whole.latency.count(), 200);
    }

    #[test]
    fn a_warm_up_of_a_closed_loop_ends_with_its_count() {
        let mut watch = watch(100, false);
        watch.add(acked(Stage::Hold, 60), 1);
        watch.add(acked(Stage::Hold, 60), 2);
        assert_eq!((watch.whole.records, watch.steady.records), (120, 60));
    }

    #[test]
    fn an_interval_begins_anew_after_its_line_and_waits_for_acks() {
        let mut watch = watch(0, false);
        watch.check_clock(6_000_000_000);
        assert_eq!(watch.window_start_ns, 0, "nothing was acked");
        watch.add(acked(Stage::Hold, 5), 7_000_000_000);
        watch.check_clock(7_000_000_000);
        assert_eq!(watch.window_start_ns, 7_000_000_000);
        assert_eq!((watch.window.records, watch.whole.records), (0, 5));
    }
}
