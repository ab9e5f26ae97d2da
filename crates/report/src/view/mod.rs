//! What a report shows, in the order in which it is shown: the one model behind terminal and page.
//!
//! Everything here is ready to be written: sentences, figures with their intervals, and marks for what a
//! figure must not be read without. Texts are as they came from outside; each writer escapes them.
//! [`from_results`] is the only file that knows how a run folder is built.

/// A whole report.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    /// Name of the study or scenario: `linkedin-2014`.
    pub(crate) title: String,
    /// What the study repeats, or what the scenario is about.
    pub(crate) about: Vec<String>,
    /// The run, its folder, its times.
    pub(crate) run: RunHead,
    /// Said before any figure: cut short, interrupted, failed sends, limited by the generator.
    pub(crate) notices: Vec<Notice>,
    /// The target in words.
    pub(crate) target: Target,
    /// The scenarios, in the order of the plan.
    pub(crate) scenarios: Vec<Scenario>,
    /// Verdicts over goals.
    pub(crate) verdicts: Vec<Verdict>,
    /// Warnings with their cure.
    pub(crate) warnings: Vec<Warning>,
    /// What an acknowledgement meant in this run.
    pub(crate) acked: Vec<String>,
    /// Tables of facts: setup, settings, environment.
    pub(crate) sheets: Vec<Sheet>,
    /// Texts shown as they are: the scenario file.
    pub(crate) texts: Vec<Verbatim>,
    /// What happened during the run.
    pub(crate) events: Vec<Event>,
    /// Commands that repeat the run or remake the report.
    pub(crate) commands: Vec<Command>,
}

/// The run itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunHead {
    /// The run's id.
    pub(crate) id: String,
    /// Where the run folder is.
    pub(crate) folder: String,
    /// When it started, as text with its zone.
    pub(crate) started: String,
    /// How long it took.
    pub(crate) took: Option<String>,
    /// Version of kgauge that measured.
    pub(crate) version: String,
}

/// How grave something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Level {
    /// Good to know.
    #[default]
    Note,
    /// Mind it when reading the figures.
    Caution,
    /// The figures are incomplete or wrong without it.
    Grave,
}

/// A sentence that stands before any figure.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    /// How grave it is.
    pub(crate) level: Level,
    /// What happened.
    pub(crate) words: String,
    /// What to do about it; may be empty.
    pub(crate) remedy: String,
}

/// What was under test.
#[derive(Debug, Clone, Default)]
pub(crate) struct Target {
    /// `embedded broker, 1 node` or `Apache Kafka 4.3.1, 3 brokers`.
    pub(crate) name: String,
    /// What the figures cannot be used for; empty for a real cluster.
    pub(crate) caution: String,
    /// Cluster id, addresses, versions.
    pub(crate) facts: Vec<Fact>,
}

/// A name and its value.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    /// The name.
    pub(crate) name: String,
    /// The value.
    pub(crate) value: String,
}

/// One question and what was measured to answer it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scenario {
    /// Its name.
    pub(crate) name: String,
    /// The question in words; may be empty.
    pub(crate) question: String,
    /// The answer in a sentence.
    pub(crate) answer: String,
    /// One per combination of factors.
    pub(crate) trials: Vec<Trial>,
    /// The curve over the one numeric factor, where there is one.
    pub(crate) sweep: Option<Sweep>,
}

/// One combination of factors.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trial {
    /// Its name in the report: the factor values, or the scenario's name when nothing is varied.
    pub(crate) name: String,
    /// Unique in the report, for links: `trial-3`.
    pub(crate) id: String,
    /// Repeats that were finished and count.
    pub(crate) repeats: u64,
    /// Why there are no figures, if there are none.
    pub(crate) missing: Option<String>,
    /// Flows, in the order of the scenario.
    pub(crate) flows: Vec<Flow>,
    /// Curves over time of every repeat.
    pub(crate) timelines: Vec<Timeline>,
}

/// One flow's figures in one trial.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow {
    /// Its name.
    pub(crate) name: String,
    /// What it does: `produce`, `consume`, `echo`.
    pub(crate) kind: String,
    /// How it is loaded: `full speed (closed loop)`, `50,000 records/s`.
    pub(crate) load: String,
    /// Records per second over the repeats.
    pub(crate) rate: Option<Figure>,
    /// Megabytes (10⁶) per second over the repeats, logical bytes.
    pub(crate) megabytes: Option<Figure>,
    /// The published figures, nearest first.
    pub(crate) published: Vec<Published>,
    /// Response and service times.
    pub(crate) latency: Latency,
    /// Why its latency is not the broker's, for a closed loop.
    pub(crate) closed: Option<ClosedLoop>,
    /// Said when the generator was late: then percentiles carry the mark.
    pub(crate) late: Option<String>,
    /// Outcome counts.
    pub(crate) counts: Counts,
    /// CPU nanoseconds per record of the generator.
    pub(crate) cpu_ns_generator: Option<Figure>,
    /// CPU nanoseconds per record of the target.
    pub(crate) cpu_ns_target: Option<Figure>,
}

/// A figure and its spread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figure {
    /// Mean over the repeats.
    pub(crate) mean: f64,
    /// Interval around it; `None` with a single repeat.
    pub(crate) interval: Option<(f64, f64)>,
    /// Each repeat's value.
    pub(crate) values: Vec<f64>,
}

impl Figure {
    /// Half of the interval's width.
    pub(crate) fn half(&self) -> Option<f64> {
        self.interval.map(|(low, high)| (high - low) / 2.0)
    }
}

/// A published figure beside the measured one.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    /// What it is: `records/s`.
    pub(crate) metric: Metric,
    /// The figure as printed there.
    pub(crate) value: f64,
    /// Measured ÷ published.
    pub(crate) ratio: Option<f64>,
    /// Interval of the ratio, from the spread of the repeats.
    pub(crate) ratio_interval: Option<(f64, f64)>,
    /// `agrees`, `higher`, `lower`, `not comparable`.
    pub(crate) word: String,
    /// Why it cannot be compared, or what else to know; may be empty.
    pub(crate) reason: String,
}

/// What a published figure tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Metric {
    /// Records per second.
    Rate,
    /// Megabytes per second.
    Megabytes,
    /// Anything else, by name.
    Other(String),
}

/// Latencies of a flow over all repeats.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latency {
    /// From intended to acked: the headline.
    pub(crate) response: Option<Distribution>,
    /// From sent to acked.
    pub(crate) service: Option<Distribution>,
    /// From intended to sent: the generator's own lateness.
    pub(crate) lag: Option<Distribution>,
}

/// One distribution.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distribution {
    /// Samples in it.
    pub(crate) count: u64,
    /// Mean, nanoseconds.
    pub(crate) mean_ns: f64,
    /// Largest value, nanoseconds.
    pub(crate) max_ns: u64,
    /// The percentiles that are printed, rising.
    pub(crate) percentiles: Vec<Percentile>,
    /// The curve: rising quantiles with their values.
    pub(crate) curve: Vec<(f64, u64)>,
    /// Samples that the histogram could not hold.
    pub(crate) out_of_range: u64,
}

impl Distribution {
    /// The printed percentile of a quantile.
    pub(crate) fn at(&self, quantile: f64) -> Option<&Percentile> {
        self.percentiles
            .iter()
            .find(|entry| (entry.quantile - quantile).abs() < 1e-9)
    }
}

/// One printed percentile.
#[derive(Debug, Clone)]
pub(crate) struct Percentile {
    /// 0.99 for p99.
    pub(crate) quantile: f64,
    /// Nanoseconds.
    pub(crate) ns: u64,
    /// Samples above it.
    pub(crate) beyond: u64,
    /// True when too few samples lie beyond to trust it.
    pub(crate) few: bool,
}

/// The closed loop's confession.
#[derive(Debug, Clone)]
pub(crate) struct ClosedLoop {
    /// The whole sentence, with numbers.
    pub(crate) sentence: String,
    /// How far Little's law is missed, as a share.
    pub(crate) residual: Option<f64>,
}

/// What became of the records.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    /// Records acked (or consumed).
    pub(crate) good: u64,
    /// Records that failed.
    pub(crate) failed: u64,
    /// Records whose fate is unknown.
    pub(crate) unknown: u64,
    /// Sends that were skipped because the generator was too late.
    pub(crate) skipped: u64,
    /// Sends that were late beyond the limit.
    pub(crate) late: u64,
}

/// One repeat over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timeline {
    /// 1 for the first repeat.
    pub(crate) repeat: u64,
    /// Stages, in order.
    pub(crate) stages: Vec<Stage>,
    /// One per flow.
    pub(crate) flows: Vec<FlowTimeline>,
    /// CPU cores in use over time, by process.
    pub(crate) processes: Vec<ProcessTimeline>,
}

/// A stage's span.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    /// Its name.
    pub(crate) name: String,
    /// Start, seconds since the start of the repeat.
    pub(crate) from_s: f64,
    /// End.
    pub(crate) to_s: f64,
    /// True when its samples make the figures.
    pub(crate) measured: bool,
}

/// One flow over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlowTimeline {
    /// Its name.
    pub(crate) name: String,
    /// Seconds, rising.
    pub(crate) seconds: Vec<Second>,
}

/// One second of a flow.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Second {
    /// Middle of the span, seconds since the start of the repeat.
    pub(crate) at_s: f64,
    /// Records per second in it.
    pub(crate) rate: f64,
    /// Median response, nanoseconds; `None` without samples.
    pub(crate) p50_ns: Option<u64>,
    /// 99th percentile of the response.
    pub(crate) p99_ns: Option<u64>,
    /// Largest response.
    pub(crate) max_ns: Option<u64>,
}

/// One process over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessTimeline {
    /// `generator`, `target`.
    pub(crate) name: String,
    /// (seconds, cores).
    pub(crate) cores: Vec<(f64, f64)>,
}

/// Figures against one numeric factor.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sweep {
    /// The factor's name in words: `record size`.
    pub(crate) factor: String,
    /// Whether the factor is a size in bytes.
    pub(crate) bytes: bool,
    /// One per flow.
    pub(crate) flows: Vec<SweepFlow>,
}

/// One flow's figures against the factor.
#[derive(Debug, Clone, Default)]
pub(crate) struct SweepFlow {
    /// Its name.
    pub(crate) name: String,
    /// Rising by factor.
    pub(crate) points: Vec<SweepPoint>,
}

/// One value of the factor.
#[derive(Debug, Clone, Default)]
pub(crate) struct SweepPoint {
    /// The factor's value.
    pub(crate) factor: f64,
    /// Records per second.
    pub(crate) rate: Option<Figure>,
    /// Megabytes per second.
    pub(crate) megabytes: Option<Figure>,
    /// Published records per second.
    pub(crate) rate_published: Option<f64>,
    /// Published megabytes per second.
    pub(crate) megabytes_published: Option<f64>,
}

/// Whether a goal held.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    /// True when it held.
    pub(crate) held: Option<bool>,
    /// The goal and what was measured.
    pub(crate) words: String,
}

/// Something to mind.
#[derive(Debug, Clone)]
pub(crate) struct Warning {
    /// How grave.
    pub(crate) level: Level,
    /// Where: trial and flow; empty for the whole run.
    pub(crate) place: String,
    /// What.
    pub(crate) words: String,
    /// The cure.
    pub(crate) remedy: String,
}

/// A table of facts.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    /// Its title.
    pub(crate) title: String,
    /// Its rows.
    pub(crate) facts: Vec<Fact>,
}

/// A text that is shown as it is.
#[derive(Debug, Clone)]
pub(crate) struct Verbatim {
    /// Its title.
    pub(crate) title: String,
    /// The text.
    pub(crate) text: String,
}

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    /// When, as text: `+12.3 s`.
    pub(crate) at: String,
    /// What.
    pub(crate) words: String,
}

/// A command for the reader.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    /// What it does, in a word or two.
    pub(crate) short: &'static str,
    /// What it does.
    pub(crate) purpose: String,
    /// The command line.
    pub(crate) line: String,
}

#[cfg(test)]
pub(crate) mod fixture;
