//! Runs a job of the producer tools by the load engine and prints the tool's totals.

use std::collections::BTreeMap;
use std::time::Duration;

use kgauge_load::{Clock, Totals};
use kgauge_scenario::format::{binary_bytes, without_zeros};
use kgauge_scenario::{CompressionCodec, FlowPlan, ProduceFlow, Shape, TransactionLength};

use crate::context::ToolContext;
use crate::failure::{ToolFailure, ToolResult, ToolStatus};
use crate::load::{FLOW, ToolLoad, connect, topic_on_demand};
use crate::metric_table::metric_table;
use crate::producer_job::ProducerJob;
use crate::producer_lines::{total, total_0_8_1};
use crate::producer_watch::SendWatch;
use crate::release::ToolRelease;

/// The result of a job.
pub(crate) struct SendReport<'a> {
    pub(crate) totals: Totals,
    pub(crate) elapsed_ns: u64,
    flow: ProduceFlow,
    watch: SendWatch<'a>,
}

/// The time that the engine needs beyond the producer's own timeouts.
const MARGIN_NS: u64 = 5_000_000_000;

impl ProducerJob {
    /// Runs the job and prints what the tool prints.
    pub(crate) fn run(&self, context: &ToolContext<'_>) -> ToolResult {
        if self.rate == Some(0.0) {
            context.note(
                "--throughput 0 sends one record and then waits forever, as Kafka's tool does",
            );
        }
        let report = self.send(self.as_of >= ToolRelease::of(0, 8, 2), context)?;
        self.print_totals(&report, context);
        self.explain(&report, context);
        while self.rate == Some(0.0) && !context.stop.is_wanted() {
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(self.status(&report.totals, context))
    }

    /// Sends the records.
    pub(crate) fn send<'a>(
        &'a self,
        prints_windows: bool,
        context: &'a ToolContext<'a>,
    ) -> Result<SendReport<'a>, ToolFailure> {
        let flow = self.flow()?;
        let settings = &flow.settings;
        let client = &self.properties.client;
        let mut cluster = connect(client, context)?;
        let patience = Duration::from_nanos(settings.block_ns_max);
        let topic = topic_on_demand(&mut cluster, &self.topic, patience, context)?;
        drop(cluster);
        let mut watch = SendWatch::new(self, prints_windows, context);
        let load = ToolLoad {
            topic: &self.topic,
            also: &[],
            partitions: u32::try_from(topic.partitions.len()).unwrap_or(u32::MAX),
            // With a schedule, the warm-up ends when the first record after it is due.
            warm_up_ns: match self.rate {
                Some(rate) if rate > 0.0 => (self.warm_up as f64 / rate * 1e9) as u64,
                _ => 0,
            },
            // Every record gets a result.
            drain_ns_max: settings.delivery_timeout_ns + settings.request_timeout_ns + MARGIN_NS,
            flow: FlowPlan::Produce(flow.clone()),
            client,
            groups: BTreeMap::new(),
            tick: watch.tick(),
        };
        let outcome = load.prepare(context)?.run(Clock::start(), &mut watch)?;
        let flows = outcome.flows.iter();
        Ok(SendReport {
            totals: flows.fold(Totals::default(), |sum, flow| sum.plus(&flow.totals)),
            elapsed_ns: outcome.end_ns,
            flow,
            watch,
        })
    }

    fn flow(&self) -> Result<ProduceFlow, ToolFailure> {
        let ns = |ms: u64| ms.saturating_mul(1_000_000);
        let length = self.transaction_ms.map(|ms| TransactionLength::Ns(ns(ms)));
        let properties = &self.properties.flow;
        let mut flow = ProduceFlow::from_properties(FLOW, self.record.clone(), length, properties)?;
        flow.producers = self.producers;
        flow.records_max = Some(match self.rate {
            // The old tool sends one record before it looks at the clock.
            Some(0.0) => 1,
            Some(_) => self.records - self.warm_up,
            None => self.records,
        });
        if let Some(per_second) = self.rate.filter(|&rate| rate > 0.0) {
            flow.shape = Shape::Constant { per_second };
        }
        Ok(flow)
    }

    fn print_totals(&self, report: &SendReport<'_>, context: &ToolContext<'_>) {
        let watch = &report.watch;
        if self.as_of < ToolRelease::of(0, 8, 2) {
            context.line(&total_0_8_1(&watch.whole, report.elapsed_ns));
            return;
        }
        context.line(&total(&watch.whole, report.elapsed_ns, self.as_of, false));
        if self.warm_up > 0 {
            let steady_ns = report.elapsed_ns.saturating_sub(watch.steady_from_ns);
            let mut steady = watch.steady.clone();
            if self.rate.is_none() {
                context.note("without a rate, the warm-up ends within 50 ms of its last ack");
                steady.records = watch.whole.records.saturating_sub(self.warm_up);
                if let Some(bytes) = self.value_bytes {
                    steady.bytes = steady.records * bytes;
                }
            }
            context.line(&total(&steady, steady_ns, self.as_of, true));
        }
        if self.print_metrics {
            for line in self.metrics(report) {
                context.line(&line);
            }
            context.note("--print-metrics: only the producer metrics that kgauge counts");
        }
    }

    fn metrics(&self, report: &SendReport<'_>) -> Vec<String> {
        let counts = &report.watch.counts;
        let failed = report.totals.failed + report.totals.indeterminate;
        let ratio = |part: u64, of: u64| part as f64 / of as f64;
        let rate = |count: u64| count as f64 / (report.elapsed_ns as f64 / 1e9);
        let throttle_ms = ratio(counts.throttle_ns, counts.throttles.max(1)) / 1e6;
        let client_id = self.properties.flow.get("client.id");
        #[rustfmt::skip]
        let metrics = [
            ("batch-size-avg", ratio(counts.wire_bytes_sent, counts.request_batches)),
            ("outgoing-byte-rate", rate(counts.wire_bytes_sent)),
            ("outgoing-byte-total", counts.wire_bytes_sent as f64),
            ("produce-throttle-time-avg", throttle_ms),
            ("record-error-total", failed as f64),
            ("record-retry-total", counts.records_retried as f64),
            ("record-send-rate", rate(counts.records_sent)),
            ("record-send-total", counts.records_sent as f64),
            ("records-per-request-avg", ratio(counts.request_records, counts.requests)),
            ("request-rate", rate(counts.requests)),
            ("request-total", counts.requests as f64),
        ];
        metric_table(
            "producer-metrics",
            client_id.map_or("perf-producer-client", String::as_str),
            &metrics,
        )
    }

    /// Notes where the printed numbers do not describe the cluster.
    pub(crate) fn explain(&self, report: &SendReport<'_>, context: &ToolContext<'_>) {
        let settings = &report.flow.settings;
        let whole = &report.watch.whole;
        if whole.records == 0 {
            return;
        }
        let seconds = report.elapsed_ns as f64 / 1e9;
        let reached = whole.records as f64 / seconds;
        let buffer = settings.buffer_bytes;
        let mean_s = whole.latency.mean_ns().unwrap_or(0.0) / 1e9;
        // Little's law: the buffer contains throughput times latency.
        let waiting = whole.bytes as f64 / seconds * mean_s / buffer as f64;
        let response_ms = whole.percentile_ms(0.99);
        let service_ms = report.watch.service.percentile_ms(0.99);
        match self.rate {
            None if waiting > 0.5 => context.note(&format!(
                "--throughput -1 is a closed loop: {:.0} % of this latency is spent in the producer's \
                 own buffer of {}, not in the cluster; set a rate to measure the cluster",
                (waiting * 100.0).min(100.0),
                without_zeros(&binary_bytes(buffer))
            )),
            None => context.note(
                "--throughput -1 is a closed loop: the latency includes the wait in the producer's \
                 own buffer; set a rate to measure the cluster",
            ),
            Some(_) if response_ms > service_ms + service_ms / 10 + 1 => {
                context.note(&format!(
                    "latency counts from when --throughput made a record due ({reached:.0} records/s \
                     were reached); Kafka's tool counts from the actual send and misses stalls: \
                     99th {service_ms} ms"
                ));
            }
            Some(_) => {}
        }
        let repeats_values = self.as_of < ToolRelease::of(3, 0, 0) && self.value_bytes.is_some();
        if repeats_values && settings.compression.codec != CompressionCodec::None {
            context.note(
                "before 3.0, Kafka's tool sent the same value in every record, which compresses to \
                 almost nothing; kgauge sends different letters in each record",
            );
        }
    }

    /// The exit status by the results of the records.
    pub(crate) fn status(&self, totals: &Totals, context: &ToolContext<'_>) -> ToolStatus {
        let lost = totals.failed + totals.indeterminate + totals.skipped;
        if lost == 0 || context.stop.is_wanted() {
            return ToolStatus::Good;
        }
        context.note(&format!(
            "{} records failed, {} are unconfirmed, {} were not sent",
            totals.failed, totals.indeterminate, totals.skipped
        ));
        ToolStatus::failed_if(!self.zero_on_failures)
    }
}
