//! What a run did so far in the text formats of Prometheus (0.0.4) and OpenMetrics (1.0.0).

use std::fmt::Write as _;

use kgauge_analyze::live::{BOUNDS_NS, FlowTotals, TimesTotals};
use kgauge_results::{Counts, TimeKind};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// Which text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsForm {
    /// Prometheus 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.0.
    OpenMetrics,
}

impl MetricsForm {
    /// What it is as a `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            MetricsForm::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            MetricsForm::OpenMetrics => {
                "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }
    }
}

/// Everything that is told.
#[derive(Debug, Clone, Default)]
pub struct LiveMetrics {
    /// Runs of this process, in order.
    pub runs: Vec<RunMetrics>,
    /// Flows of their trials, in order.
    pub flows: Vec<FlowMetrics>,
    /// Processes.
    pub processes: Vec<ProcessMetrics>,
    /// Network interfaces of whom it is known how fast they are.
    pub interfaces: Vec<InterfaceMetrics>,
}

/// One run.
#[derive(Debug, Clone, Default)]
pub struct RunMetrics {
    /// Its name.
    pub run: String,
    /// The target as the user named it.
    pub target: String,
    /// True until it has ended.
    pub is_going_on: bool,
    /// Scenario and trial (from 1) that it is at, and which repeat (from 1).
    pub at: Option<(String, String, u32)>,
    /// The stage that it is at.
    pub stage: Option<&'static str>,
    /// Trials of its plan.
    pub trials: usize,
    /// Repeats that ended since the process began.
    pub repeats_ended: u64,
    /// Repeats that are to be made.
    pub repeats_planned: usize,
}

/// One flow of one trial, all repeats that this process made.
#[derive(Debug, Clone, Default)]
pub struct FlowMetrics {
    /// The run.
    pub run: String,
    /// The scenario.
    pub scenario: String,
    /// The trial, from 1.
    pub trial: String,
    /// The flow.
    pub flow: String,
    /// What it did.
    pub totals: FlowTotals,
    /// Records sent and not answered, the mean of the last second; of the flow that runs now.
    pub in_flight: Option<f64>,
}

/// One process.
#[derive(Debug, Clone, Default)]
pub struct ProcessMetrics {
    /// The run.
    pub run: String,
    /// `generator`, `broker 1`.
    pub process: String,
    /// CPU time since it was first seen.
    pub cpu_ns: u64,
    /// Memory that it holds; `None` when it does not run.
    pub resident_bytes: Option<u64>,
}

/// One network interface of this machine.
#[derive(Debug, Clone, Default)]
pub struct InterfaceMetrics {
    /// The run.
    pub run: String,
    /// The kernel's name for it.
    pub interface: String,
    /// Bytes that it carries in a second, each way.
    pub bytes_per_s: f64,
    /// Bytes in and out, as the kernel counts them.
    pub moved_bytes: Option<(u64, u64)>,
}

/// A counter of a flow: its name without `_total`, what it is, and where it stands.
type Counter = (&'static str, &'static str, fn(&Counts) -> u64);

const COUNTERS: [Counter; 17] = [
    (
        "kgauge_records_scheduled",
        "Records due by the schedule; for a closed loop, records handed to the producer.",
        |c| c.records_scheduled,
    ),
    (
        "kgauge_records_sent",
        "Records handed to the producer.",
        |c| c.records_sent,
    ),
    ("kgauge_records_acked", "Records acked.", |c| {
        c.records_acked
    }),
    ("kgauge_records_consumed", "Records read.", |c| {
        c.records_consumed
    }),
    (
        "kgauge_records_failed",
        "Records whose send failed permanently.",
        |c| c.records_failed,
    ),
    (
        "kgauge_records_indeterminate",
        "Records whose outcome is unknown.",
        |c| c.records_indeterminate,
    ),
    (
        "kgauge_records_skipped",
        "Records skipped because they were too late.",
        |c| c.records_skipped,
    ),
    (
        "kgauge_records_retried",
        "Records retried after a retriable error.",
        |c| c.records_retried,
    ),
    (
        "kgauge_records_corrupt",
        "Records read whose content does not match the checksum.",
        |c| c.records_corrupt,
    ),
    (
        "kgauge_acked_bytes",
        "Bytes of keys, values and headers of acked records.",
        |c| c.logical_bytes_acked,
    ),
    (
        "kgauge_consumed_bytes",
        "Bytes of keys, values and headers of records read.",
        |c| c.logical_bytes_consumed,
    ),
    (
        "kgauge_wire_sent_bytes",
        "Bytes of answered produce requests.",
        |c| c.wire_bytes_sent,
    ),
    (
        "kgauge_wire_consumed_bytes",
        "Bytes of fetch responses.",
        |c| c.wire_bytes_consumed,
    ),
    (
        "kgauge_produce_requests",
        "Produce requests answered.",
        |c| c.requests,
    ),
    ("kgauge_fetch_requests", "Fetch requests answered.", |c| {
        c.fetches
    }),
    (
        "kgauge_throttles",
        "Throttling pauses requested by brokers.",
        |c| c.throttles,
    ),
    ("kgauge_transactions", "Transactions committed.", |c| {
        c.transactions
    }),
];

const TIMES: [(&str, &str, TimeKind); 6] = [
    (
        "kgauge_response_seconds",
        "Time from a record's intended send time to its ack.",
        TimeKind::Response,
    ),
    (
        "kgauge_service_seconds",
        "Time from a record's send to its ack.",
        TimeKind::Service,
    ),
    (
        "kgauge_lateness_seconds",
        "Time from a record's intended to its actual send time: generator lateness.",
        TimeKind::Lag,
    ),
    (
        "kgauge_end_to_end_seconds",
        "Time from a record's intended send time until it was read.",
        TimeKind::EndToEnd,
    ),
    (
        "kgauge_produce_request_seconds",
        "Produce request round-trip time.",
        TimeKind::RoundTrip,
    ),
    (
        "kgauge_fetch_request_seconds",
        "Fetch request round-trip time, including the wait for data.",
        TimeKind::FetchRoundTrip,
    ),
];

/// The text. Each family stands once with its help and type, its series together.
pub fn render_metrics(metrics: &LiveMetrics, form: MetricsForm) -> String {
    let mut text = Text {
        out: String::new(),
        form,
    };
    write_runs(&mut text, &metrics.runs);
    write_flows(&mut text, &metrics.flows);
    write_processes(&mut text, &metrics.processes);
    write_interfaces(&mut text, &metrics.interfaces);
    if form == MetricsForm::OpenMetrics {
        text.out.push_str("# EOF\n");
    }
    text.out
}

fn write_interfaces(text: &mut Text, interfaces: &[InterfaceMetrics]) {
    let help = "Capacity of a network interface of this machine in bytes per second, per \
                direction, where known.";
    let name = "kgauge_network_speed_bytes";
    text.family((name, Form::Gauge, help), interfaces, |one| {
        [(one.labels(), one.bytes_per_s)]
    });
    let help = "Bytes received by the interface since it was created.";
    let name = "kgauge_network_received_bytes";
    text.family((name, Form::Counter, help), interfaces, |one| {
        let (received, _) = one.moved_bytes?;
        Some((one.labels(), received as f64))
    });
    let help = "Bytes sent by the interface since it was created.";
    let name = "kgauge_network_sent_bytes";
    text.family((name, Form::Counter, help), interfaces, |one| {
        let (_, sent) = one.moved_bytes?;
        Some((one.labels(), sent as f64))
    });
}

fn write_runs(text: &mut Text, runs: &[RunMetrics]) {
    let help = "A run of this process, and its target.";
    text.family(("kgauge_run_info", Form::Info, help), runs, |run| {
        let labels = vec![("run", run.run.clone()), ("target", run.target.clone())];
        [(labels, 1.0)]
    });
    let help = "1 until the run ends.";
    text.family(("kgauge_run_active", Form::Gauge, help), runs, |run| {
        [(run.labels(), f64::from(u8::from(run.is_going_on)))]
    });
    let help = "1 for the current stage of the run.";
    text.family(("kgauge_stage", Form::Gauge, help), runs, |run| {
        ["warm-up", "hold", "drain"].map(|stage| {
            let labels = vec![("run", run.run.clone()), ("stage", stage.to_owned())];
            (labels, f64::from(u8::from(run.stage == Some(stage))))
        })
    });
    let help = "Current repeat of the trial, counted from 1.";
    text.family(("kgauge_repeat", Form::Gauge, help), runs, |run| {
        let (scenario, trial, repeat) = run.at.clone()?;
        let mut labels = run.labels();
        labels.extend([("scenario", scenario), ("trial", trial)]);
        Some((labels, f64::from(repeat)))
    });
    let help = "Trials in the run's plan.";
    text.family(("kgauge_trials", Form::Gauge, help), runs, |run| {
        [(run.labels(), run.trials as f64)]
    });
    let help = "Repeats that have ended.";
    text.family(("kgauge_repeats", Form::Counter, help), runs, |run| {
        [(run.labels(), run.repeats_ended as f64)]
    });
    let help = "Planned repeats of the run.";
    text.family(("kgauge_repeats_planned", Form::Gauge, help), runs, |run| {
        [(run.labels(), run.repeats_planned as f64)]
    });
}

fn write_flows(text: &mut Text, flows: &[FlowMetrics]) {
    for (name, help, value) in COUNTERS {
        text.family((name, Form::Counter, help), flows, |flow| {
            [(flow.labels(), value(&flow.totals.counts) as f64)]
        });
    }
    let help = "Total throttling time requested by brokers.";
    text.family(
        ("kgauge_throttle_seconds", Form::Counter, help),
        flows,
        |flow| {
            let throttled_s = flow.totals.counts.throttle_ns as f64 / SECOND;
            [(flow.labels(), throttled_s)]
        },
    );
    let help = "Records in flight, mean of the last second.";
    text.family(
        ("kgauge_in_flight_records", Form::Gauge, help),
        flows,
        |flow| Some((flow.labels(), flow.in_flight?)),
    );
    for (name, help, kind) in TIMES {
        let found = flows
            .iter()
            .filter_map(|flow| Some((flow.labels(), flow.totals.times.get(&kind)?)));
        text.histogram(name, help, &found.collect::<Vec<_>>());
    }
}

fn write_processes(text: &mut Text, processes: &[ProcessMetrics]) {
    let help = "CPU time of the generator and of the target's processes on this machine since \
                sampling started.";
    text.family(
        ("kgauge_process_cpu_seconds", Form::Counter, help),
        processes,
        |one| [(one.labels(), one.cpu_ns as f64 / SECOND)],
    );
    let help = "Resident memory of the process.";
    text.family(
        ("kgauge_process_resident_memory_bytes", Form::Gauge, help),
        processes,
        |one| Some((one.labels(), one.resident_bytes? as f64)),
    );
}

type Labels = Vec<(&'static str, String)>;

impl RunMetrics {
    fn labels(&self) -> Labels {
        vec![("run", self.run.clone())]
    }
}

impl FlowMetrics {
    fn labels(&self) -> Labels {
        vec![
            ("run", self.run.clone()),
            ("scenario", self.scenario.clone()),
            ("trial", self.trial.clone()),
            ("flow", self.flow.clone()),
        ]
    }
}

impl InterfaceMetrics {
    fn labels(&self) -> Labels {
        let interface = ("interface", self.interface.clone());
        vec![("run", self.run.clone()), interface]
    }
}

impl ProcessMetrics {
    fn labels(&self) -> Labels {
        vec![("run", self.run.clone()), ("process", self.process.clone())]
    }
}

/// What kind of family one is whose samples are one number each.
#[derive(Clone, Copy)]
enum Form {
    /// It only grows; its name comes without `_total`.
    Counter,
    Gauge,
    /// Always 1; its labels are what is told.
    Info,
}

struct Text {
    out: String,
    form: MetricsForm,
}

impl Text {
    /// A family with one number for each set of labels; nothing when there is none.
    fn family<T, S: IntoIterator<Item = (Labels, f64)>>(
        &mut self,
        (name, form, help): (&str, Form, &str),
        things: &[T],
        samples: impl Fn(&T) -> S,
    ) {
        let mut samples = things.iter().flat_map(samples).peekable();
        if samples.peek().is_none() {
            return;
        }
        let sample = match form {
            Form::Counter => format!("{name}_total"),
            Form::Gauge | Form::Info => name.to_owned(),
        };
        // OpenMetrics names a family without the suffix of its samples, and knows what only informs.
        let (family, kind) = match (self.form, form) {
            (MetricsForm::Prometheus, Form::Counter) => (sample.as_str(), "counter"),
            (MetricsForm::OpenMetrics, Form::Counter) => (name, "counter"),
            (MetricsForm::OpenMetrics, Form::Info) => {
                (name.strip_suffix("_info").unwrap_or(name), "info")
            }
            (_, Form::Gauge | Form::Info) => (name, "gauge"),
        };
        self.head(family, kind, help);
        for (labels, value) in samples {
            self.sample(&sample, &labels, value);
        }
    }

    fn histogram(&mut self, name: &str, help: &str, samples: &[(Labels, &TimesTotals)]) {
        if samples.is_empty() {
            return;
        }
        self.head(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        for (labels, times) in samples {
            let mut bounded = labels.clone();
            bounded.push(("le", String::new()));
            let mut write = |bound: String, count: u64| {
                if let Some((_, le)) = bounded.last_mut() {
                    *le = bound;
                }
                self.sample(&bucket, &bounded, count as f64);
            };
            for bound_ns in BOUNDS_NS {
                write(
                    decimal(bound_ns as f64 / SECOND),
                    times.at_or_below(bound_ns),
                );
            }
            write("+Inf".to_owned(), times.count);
            self.sample(&format!("{name}_sum"), labels, times.sum_ns as f64 / SECOND);
            self.sample(&format!("{name}_count"), labels, times.count as f64);
        }
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &Labels, value: f64) {
        self.out.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.out, "{before}{label}=\"{}\"", escaped(text));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.out, "{end} {value}");
    }
}

/// A bound as both formats want it: OpenMetrics has a dot in each.
fn decimal(value: f64) -> String {
    match value.fract() == 0.0 {
        true => format!("{value:.1}"),
        false => value.to_string(),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(name: &str) -> FlowMetrics {
        let mut totals = FlowTotals::default();
        totals.counts.records_acked = 7;
        totals.counts.throttle_ns = 1_500_000_000;
        FlowMetrics {
            run: "r1".to_owned(),
            scenario: "s".to_owned(),
            trial: "1".to_owned(),
            flow: name.to_owned(),
            totals,
            in_flight: Some(2.5),
        }
    }

    #[test]
    fn names_cannot_end_their_quotes_or_lines() {
        let metrics = LiveMetrics {
            flows: vec![flow("a\"}\n\\ 1\r")],
            ..LiveMetrics::default()
        };
        let text = render_metrics(&metrics, MetricsForm::Prometheus);
        let wanted = "kgauge_records_acked_total{run=\"r1\",scenario=\"s\",trial=\"1\",flow=\"a\\\"}\\n\\\\ 1\u{fffd}\"} 7\n";
        assert!(text.contains(wanted), "{text}");
        assert!(text.contains("# TYPE kgauge_records_acked_total counter\n"));
        assert!(
            text.contains(
                "kgauge_throttle_seconds_total{run=\"r1\",scenario=\"s\",trial=\"1\",flow="
            )
        );
        assert!(
            text.lines()
                .all(|line| line.starts_with('#') || line.ends_with(|c: char| c.is_ascii_digit()))
        );
    }

    #[test]
    fn interfaces_have_their_speed_in_bytes_and_what_they_moved() {
        let interface = |name: &str, moved_bytes| InterfaceMetrics {
            run: "r".to_owned(),
            interface: name.to_owned(),
            bytes_per_s: 125e6,
            moved_bytes,
        };
        let metrics = LiveMetrics {
            interfaces: vec![interface("eth0", Some((5, 7))), interface("eth1", None)],
            ..LiveMetrics::default()
        };
        let text = render_metrics(&metrics, MetricsForm::Prometheus);
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            lines,
            [
                "kgauge_network_speed_bytes{run=\"r\",interface=\"eth0\"} 125000000",
                "kgauge_network_speed_bytes{run=\"r\",interface=\"eth1\"} 125000000",
                "kgauge_network_received_bytes_total{run=\"r\",interface=\"eth0\"} 5",
                "kgauge_network_sent_bytes_total{run=\"r\",interface=\"eth0\"} 7",
            ]
        );
    }

    #[test]
    fn open_metrics_names_the_family_and_ends() {
        let metrics = LiveMetrics {
            flows: vec![flow("a"), flow("b")],
            ..LiveMetrics::default()
        };
        let text = render_metrics(&metrics, MetricsForm::OpenMetrics);
        assert!(text.contains("# TYPE kgauge_records_acked counter\n"));
        assert_eq!(text.matches("# TYPE kgauge_records_acked ").count(), 1);
        assert_eq!(text.matches("kgauge_records_acked_total{").count(), 2);
        assert!(text.ends_with("# EOF\n"));
    }
}
