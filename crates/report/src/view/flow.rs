//! What is shown of one flow: figures with their spread, published figures, times, counts.

/// One flow's figures in one trial.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow {
    /// Its name.
    pub(crate) name: String,
    /// What it does, for a sentence: `3 producers`.
    pub(crate) who: String,
    /// How it is loaded: `full speed (closed loop)`, `50,000 records/s`.
    pub(crate) load: String,
    /// Records per second over the repeats.
    pub(crate) rate: Option<FigureView>,
    /// Megabytes (10⁶) per second over the repeats, logical bytes.
    pub(crate) megabytes: Option<FigureView>,
    /// The published figures of this flow.
    pub(crate) published: Vec<PublishedFigureView>,
    /// Its times; the first is the one that tables show.
    pub(crate) latencies: Vec<Latency>,
    /// Why its latency is not the broker's, for a closed loop: Little's law with its numbers.
    pub(crate) closed: Option<String>,
    /// How far Little's law is missed, as a share: stands beside a closed loop's times.
    pub(crate) residual: Option<f64>,
    /// Little's law for an open loop.
    pub(crate) little: Option<String>,
    /// Why its times contain a delay that is not the target's: then percentiles carry the mark.
    pub(crate) late: Option<Late>,
    /// What the target did while it was measured, where that was not steady: then every figure carries the mark.
    pub(crate) not_steady: Option<&'static str>,
    /// What an echo flow's time is made of, and what transactions took.
    pub(crate) parts: Option<String>,
    /// Outcome counts.
    pub(crate) counts: CountsView,
}

/// A delay in a flow's times that is not the target's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Late {
    /// Two words.
    pub(crate) badge: &'static str,
    /// As a clause: `, including generator lateness`.
    pub(crate) aside: &'static str,
    /// With its numbers.
    pub(crate) sentence: String,
}

impl Flow {
    /// The time that tables show.
    pub(crate) fn latency(&self) -> Option<&Latency> {
        self.latencies.first()
    }

    /// Another kind of time.
    pub(crate) fn latency_of(&self, kind: LatencyKind) -> Option<&DistributionView> {
        let found = self.latencies.iter().find(|latency| latency.kind == kind);
        found.map(|found| &found.distribution)
    }
}

/// A figure and its spread.
#[derive(Debug, Clone, Default)]
pub(crate) struct FigureView {
    /// Mean over the repeats.
    pub(crate) mean: f64,
    /// Interval around it; `None` with a single repeat.
    pub(crate) interval: Option<(f64, f64)>,
    /// Each repeat's value.
    pub(crate) values: Vec<f64>,
}

impl FigureView {
    /// `±2.4 %`; with a single repeat `n=1`.
    pub(crate) fn spread(&self) -> String {
        spread(self.mean, self.interval)
    }
}

/// How far the interval of a figure reaches: `±2.4 %`, and where one repeat gives none `n=1`.
pub(crate) fn spread(value: f64, interval: Option<(f64, f64)>) -> String {
    match interval {
        Some(interval) => crate::format::plus_minus(value, interval),
        None => ONE_REPEAT.to_owned(),
    }
}

/// In place of an interval.
pub(crate) const ONE_REPEAT: &str = "n=1";

/// A published figure beside the measured one.
#[derive(Debug, Clone)]
pub(crate) struct PublishedFigureView {
    /// What it is a figure of: `throughput`, `latency.p99`.
    pub(crate) metric: String,
    /// The figure as printed there, with its unit.
    pub(crate) text: String,
    /// Measured ÷ published.
    pub(crate) ratio: Option<f64>,
    /// Interval of the ratio, from the spread of the repeats.
    pub(crate) ratio_interval: Option<(f64, f64)>,
    /// How they stand to each other.
    pub(crate) word: PublishedStatusView,
    /// Why, or what else to know; may be empty.
    pub(crate) reason: String,
    /// What arithmetic says of the published line.
    pub(crate) audit: Vec<String>,
}

/// How a published figure stands to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PublishedStatusView {
    Agrees,
    /// Within an interval that is too wide to say more.
    Undecided,
    Higher,
    Lower,
    NotComparable,
    NotMeasured,
}

impl PublishedStatusView {
    /// The word that is printed.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Undecided => "inconclusive",
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::NotComparable => "not comparable",
            Self::NotMeasured => "not measured",
        }
    }
}

/// One kind of time of a flow, over all repeats.
#[derive(Debug, Clone)]
pub(crate) struct Latency {
    /// Which.
    pub(crate) kind: LatencyKind,
    /// Its distribution.
    pub(crate) distribution: DistributionView,
}

/// The kinds of times, headlines first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LatencyKind {
    /// acked - intended.
    Response,
    /// consumed - intended.
    EndToEnd,
    /// acked - sent.
    Service,
    /// Of a produce request.
    RoundTrip,
    /// Of a fetch request.
    FetchRoundTrip,
    /// Request written - sent.
    BatchWait,
    /// acked - request written.
    AckWait,
    /// committed - acked.
    CommitWait,
    /// consumed - acked, or - committed.
    FetchWait,
    /// Of a transaction's commit.
    Commit,
}

impl LatencyKind {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::EndToEnd => "end to end",
            Self::Service => "service",
            Self::RoundTrip => "request round trip",
            Self::FetchRoundTrip => "fetch round trip",
            Self::BatchWait => "batch wait",
            Self::AckWait => "ack wait",
            Self::CommitWait => "commit wait",
            Self::FetchWait => "fetch wait",
            Self::Commit => "commit",
        }
    }

    /// Whether it is the time of a record, counted from when it should have been sent.
    pub(crate) fn is_headline(self) -> bool {
        matches!(self, Self::Response | Self::EndToEnd)
    }
}

/// One distribution.
#[derive(Debug, Clone, Default)]
pub(crate) struct DistributionView {
    /// Samples in it.
    pub(crate) count: u64,
    /// Mean, nanoseconds.
    pub(crate) mean_ns: f64,
    /// Its interval over the repeats; `None` with a single one.
    pub(crate) mean_interval: Option<(f64, f64)>,
    /// Largest value, nanoseconds.
    pub(crate) max_ns: u64,
    /// The percentiles that are printed, rising.
    pub(crate) percentiles: Vec<PercentileView>,
    /// The curve, by rising quantiles.
    pub(crate) curve: Vec<CurvePointView>,
}

/// One point of a percentile curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CurvePointView {
    /// Between 0 and 1.
    pub(crate) quantile: f64,
    /// Nanoseconds.
    pub(crate) ns: u64,
    /// Samples above it.
    pub(crate) beyond: u64,
}

/// The quantiles that tables show, in millionths.
pub(crate) const SHOWN_MILLIONTHS: [u32; 3] = [500_000, 990_000, 999_000];

impl DistributionView {
    /// The printed percentile of a quantile in millionths.
    pub(crate) fn at(&self, millionths: u32) -> Option<&PercentileView> {
        self.percentiles
            .iter()
            .find(|entry| entry.millionths == millionths)
    }
}

/// One printed percentile.
#[derive(Debug, Clone)]
pub(crate) struct PercentileView {
    /// 990,000 for p99.
    pub(crate) millionths: u32,
    /// Nanoseconds.
    pub(crate) ns: u64,
    /// Its interval over the repeats, in nanoseconds; `None` with a single one.
    pub(crate) interval: Option<(f64, f64)>,
    /// Samples above it.
    pub(crate) beyond: u64,
    /// True when too few samples lie beyond to trust it.
    pub(crate) few: bool,
}

impl PercentileView {
    /// `±2.4 %`, or `n=1`.
    pub(crate) fn spread(&self) -> String {
        spread(self.ns as f64, self.interval)
    }
}

/// What became of the records of all stages.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountsView {
    /// Acked, or read.
    pub(crate) good: u64,
    /// What did not go well: how many, and the word for it. Only what is not zero.
    pub(crate) bad: Vec<(u64, &'static str)>,
    /// Errors by name, with how many records they hit.
    pub(crate) errors: Vec<(String, u64)>,
}
