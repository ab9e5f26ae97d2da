//! What a run did so far in the text formats of Prometheus (0.0.4) and OpenMetrics (1.0.0).

use std::fmt::Write as _;

use kgauge_analyze::live::{BOUNDS_NS, FlowTotals, TimesTotals};
use kgauge_results::TimeKind;

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

/// All exported metrics.
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

/// A family with one number per thing: its name without `_total`, what it is, and the number.
struct Family<T> {
    name: &'static str,
    form: Form,
    help: &'static str,
    value: fn(&T) -> Option<f64>,
}

/// Lists families: `name: form, help, value;`.
macro_rules! families {
    ($($list:ident of $thing:ty { $($name:literal: $form:ident, $help:literal, $value:expr;)* })*) => {
        $(const $list: &[Family<$thing>] = &[$(Family {
            name: concat!("kgauge_", $name),
            form: Form::$form,
            help: $help,
            value: $value,
        },)*];)*
    };
}

/// The value of a flow's family that is one of its counts.
macro_rules! count {
    ($field:ident) => {
        |flow| Some(flow.totals.counts.$field as f64)
    };
}

families! {
RUNS of RunMetrics {
    "run_active": Gauge, "1 until the run ends.", |run| Some(f64::from(u8::from(run.is_going_on)));
    "trials": Gauge, "Trials in the run's plan.", |run| Some(run.trials as f64);
    "repeats": Counter, "Repeats that have ended.", |run| Some(run.repeats_ended as f64);
    "repeats_planned": Gauge, "Planned repeats of the run.", |run| Some(run.repeats_planned as f64);
}
FLOWS of FlowMetrics {
    "records_scheduled": Counter, "Records due by the schedule; for a closed loop, records handed to the producer.",
        count!(records_scheduled);
    "records_sent": Counter, "Records handed to the producer.", count!(records_sent);
    "records_acked": Counter, "Records acked.", count!(records_acked);
    "records_consumed": Counter, "Records read.", count!(records_consumed);
    "records_failed": Counter, "Records whose send failed permanently.", count!(records_failed);
    "records_indeterminate": Counter, "Records whose outcome is unknown.",
        count!(records_indeterminate);
    "records_skipped": Counter, "Records skipped because they were too late.",
        count!(records_skipped);
    "records_retried": Counter, "Records retried after a retriable error.", count!(records_retried);
    "records_corrupt": Counter, "Records read whose content does not match the checksum.",
        count!(records_corrupt);
    "acked_bytes": Counter, "Bytes of keys, values and headers of acked records.",
        count!(logical_bytes_acked);
    "consumed_bytes": Counter, "Bytes of keys, values and headers of records read.",
        count!(logical_bytes_consumed);
    "wire_sent_bytes": Counter, "Bytes of answered produce requests.", count!(wire_bytes_sent);
    "wire_consumed_bytes": Counter, "Bytes of fetch responses.", count!(wire_bytes_consumed);
    "produce_requests": Counter, "Produce requests answered.", count!(requests);
    "fetch_requests": Counter, "Fetch requests answered.", count!(fetches);
    "throttles": Counter, "Throttling pauses requested by brokers.", count!(throttles);
    "transactions": Counter, "Transactions committed.", count!(transactions);
    "throttle_seconds": Counter, "Total throttling time requested by brokers.",
        |flow| Some(flow.totals.counts.throttle_ns as f64 / SECOND);
    "in_flight_records": Gauge, "Records in flight, mean of the last second.", |flow| flow.in_flight;
}
PROCESSES of ProcessMetrics {
    "process_cpu_seconds": Counter,
        "CPU time of the generator and of the target's processes on this machine since sampling started.",
        |one| Some(one.cpu_ns as f64 / SECOND);
    "process_resident_memory_bytes": Gauge, "Resident memory of the process.",
        |one| Some(one.resident_bytes? as f64);
}
INTERFACES of InterfaceMetrics {
    "network_speed_bytes": Gauge,
        "Capacity of a network interface of this machine in bytes per second, per direction, where known.",
        |one| Some(one.bytes_per_s);
    "network_received_bytes": Counter, "Bytes received by the interface since it was created.",
        |one| Some(one.moved_bytes?.0 as f64);
    "network_sent_bytes": Counter, "Bytes sent by the interface since it was created.",
        |one| Some(one.moved_bytes?.1 as f64);
}
}

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

/// The text. Each family appears once with its help and type, followed by its series.
pub fn render_metrics(metrics: &LiveMetrics, form: MetricsForm) -> String {
    let mut text = Text {
        out: String::new(),
        form,
    };
    write_states(&mut text, &metrics.runs);
    text.families(RUNS, &metrics.runs);
    text.families(FLOWS, &metrics.flows);
    write_times(&mut text, &metrics.flows);
    text.families(PROCESSES, &metrics.processes);
    text.families(INTERFACES, &metrics.interfaces);
    if form == MetricsForm::OpenMetrics {
        text.out.push_str("# EOF\n");
    }
    text.out
}

/// What a run is at, which its labels say.
fn write_states(text: &mut Text, runs: &[RunMetrics]) {
    let help = "A run of this process, and its target.";
    text.family(("kgauge_run_info", Form::Info, help), runs, |run| {
        let labels = vec![("run", run.run.clone()), ("target", run.target.clone())];
        [(labels, 1.0)]
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
}

fn write_times(text: &mut Text, flows: &[FlowMetrics]) {
    for (name, help, kind) in TIMES {
        let found = flows
            .iter()
            .filter_map(|flow| Some((flow.labels(), flow.totals.times.get(&kind)?)));
        text.histogram(name, help, &found.collect::<Vec<_>>());
    }
}

type Labels = Vec<(&'static str, String)>;

/// A thing whose numbers have its labels.
trait Labelled {
    fn labels(&self) -> Labels;
}

impl Labelled for RunMetrics {
    fn labels(&self) -> Labels {
        vec![("run", self.run.clone())]
    }
}

impl Labelled for FlowMetrics {
    fn labels(&self) -> Labels {
        vec![
            ("run", self.run.clone()),
            ("scenario", self.scenario.clone()),
            ("trial", self.trial.clone()),
            ("flow", self.flow.clone()),
        ]
    }
}

impl Labelled for InterfaceMetrics {
    fn labels(&self) -> Labels {
        let interface = ("interface", self.interface.clone());
        vec![("run", self.run.clone()), interface]
    }
}

impl Labelled for ProcessMetrics {
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
    /// Always 1; its labels are the information.
    Info,
}

struct Text {
    out: String,
    form: MetricsForm,
}

impl Text {
    fn families<T: Labelled>(&mut self, families: &[Family<T>], things: &[T]) {
        for one in families {
            self.family((one.name, one.form, one.help), things, |thing| {
                Some((thing.labels(), (one.value)(thing)?))
            });
        }
    }

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
        let expected = "kgauge_records_acked_total{run=\"r1\",scenario=\"s\",trial=\"1\",flow=\"a\\\"}\\n\\\\ 1\u{fffd}\"} 7\n";
        assert!(text.contains(expected), "{text}");
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
