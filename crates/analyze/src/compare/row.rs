//! One line of a comparison: a figure, what each run measured of it, and how that stands to the
//! baseline.

use schemars::JsonSchema;
use serde::Serialize;

use super::comparability::DifferenceFact;
use super::power::{LogRatioError, MoreNeeded};
use crate::search::CapacityBounds;
use crate::statistics::Interval;
use crate::summary::{Factor, PublishedStatus, SteadyFigure};

/// One figure of one flow of one trial, in every run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonRow {
    /// The scenario.
    pub scenario: String,
    /// The question that it answers.
    pub question: String,
    /// The trial: empty when nothing varies, else like `writers.record.size=10 B`.
    pub trial: String,
    /// The varied settings.
    pub factors: Vec<Factor>,
    /// The flow; of a capacity the goals that the rate keeps; null for what a record of the whole trial cost.
    pub flow: Option<String>,
    /// The figure.
    pub figure: FigureKind,
    /// Its unit.
    pub unit: FigureUnit,
    /// True when the more the better.
    pub more_is_better: bool,
    /// What others published of it, if they did.
    pub published: Option<PublishedFigure>,
    /// What each run measured, in the order of the runs.
    pub cells: Vec<Cell>,
}

/// The figures that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// The highest rate at which every window of a search kept its goals, in records a second: its lower bound.
    Capacity,
    /// The same if half of the time may break them.
    CapacityTypical,
    /// Records a second, acked or read.
    Throughput,
    /// Records for a unit of money: throughput x 3,600 / the price of the target in an hour, where one was given.
    PerPrice,
    /// Bytes of keys, values and headers a second. It says nothing that the records do not, so it
    /// is shown and not judged.
    ThroughputBytes,
    /// Median of the response (of echo flows of the time from end to end).
    LatencyP50,
    /// 99 % of it.
    LatencyP99,
    /// 99.9 % of it.
    LatencyP999,
    /// CPU of the load threads per record.
    GeneratorCpu,
    /// CPU of the target's processes per record.
    TargetCpu,
    /// Bytes of requests (produce) or fetch answers (consume) per record.
    WireBytes,
    /// Records that were lost: failed, of unknown fate, damaged, or acked and missing on the brokers.
    Lost,
}

impl FigureKind {
    /// The figures that a name means, as `--metric` takes it; empty if there is no such name.
    pub fn named(name: &str) -> &'static [FigureKind] {
        match name {
            "capacity" => &[FigureKind::Capacity],
            "typical-capacity" => &[FigureKind::CapacityTypical],
            "records/s" | "throughput" => &[FigureKind::Throughput],
            "p50" => &[FigureKind::LatencyP50],
            "p99" => &[FigureKind::LatencyP99],
            "p99.9" => &[FigureKind::LatencyP999],
            "latency" => &[
                FigureKind::LatencyP50,
                FigureKind::LatencyP99,
                FigureKind::LatencyP999,
            ],
            "loss" => &[FigureKind::Lost],
            "cpu" => &[FigureKind::GeneratorCpu, FigureKind::TargetCpu],
            "generator-cpu" => &[FigureKind::GeneratorCpu],
            "target-cpu" => &[FigureKind::TargetCpu],
            "bytes" => &[FigureKind::WireBytes],
            "price" => &[FigureKind::PerPrice],
            _ => &[],
        }
    }

    /// The names that [`FigureKind::named`] takes.
    pub const NAMES: [&str; 13] = [
        "capacity",
        "typical-capacity",
        "records/s",
        "p50",
        "p99",
        "p99.9",
        "latency",
        "loss",
        "cpu",
        "generator-cpu",
        "target-cpu",
        "bytes",
        "price",
    ];

    /// True for times of records.
    pub fn is_latency(self) -> bool {
        matches!(
            self,
            FigureKind::LatencyP50 | FigureKind::LatencyP99 | FigureKind::LatencyP999
        )
    }

    /// True for what searches found.
    pub fn is_capacity(self) -> bool {
        matches!(self, FigureKind::Capacity | FigureKind::CapacityTypical)
    }

    /// True for CPU time per record, of all flows together.
    pub(crate) fn is_cost(self) -> bool {
        matches!(self, FigureKind::GeneratorCpu | FigureKind::TargetCpu)
    }

    /// True for records or bytes a second, and for what is made of them.
    fn is_throughput(self) -> bool {
        matches!(
            self,
            FigureKind::Throughput | FigureKind::PerPrice | FigureKind::ThroughputBytes
        )
    }

    /// Which check of steadiness it needs.
    pub fn steady_figure(self) -> SteadyFigure {
        match self.is_latency() {
            true => SteadyFigure::Latency,
            false => SteadyFigure::Throughput,
        }
    }

    /// True where the generator's limit is the figure's.
    pub(super) fn hangs_on_generator(self) -> bool {
        self.is_latency() || self.is_throughput()
    }

    /// True when the more the better.
    pub fn more_is_better(self) -> bool {
        self.is_throughput() || self.is_capacity()
    }

    /// Its unit.
    pub fn unit(self) -> FigureUnit {
        match self {
            FigureKind::Capacity | FigureKind::CapacityTypical | FigureKind::Throughput => {
                FigureUnit::RecordsPerSecond
            }
            FigureKind::PerPrice => FigureUnit::RecordsPerPrice,
            FigureKind::ThroughputBytes => FigureUnit::BytesPerSecond,
            FigureKind::LatencyP50 | FigureKind::LatencyP99 | FigureKind::LatencyP999 => {
                FigureUnit::Nanoseconds
            }
            FigureKind::GeneratorCpu | FigureKind::TargetCpu => FigureUnit::NanosecondsPerRecord,
            FigureKind::WireBytes => FigureUnit::BytesPerRecord,
            FigureKind::Lost => FigureUnit::Records,
        }
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names say it.
pub enum FigureUnit {
    RecordsPerSecond,
    RecordsPerPrice,
    BytesPerSecond,
    Nanoseconds,
    NanosecondsPerRecord,
    BytesPerRecord,
    Records,
}

/// A figure that others published, in the row's unit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PublishedFigure {
    /// The value.
    pub value: f64,
    /// As it was written.
    pub text: String,
    /// Where.
    pub source: Option<String>,
}

/// What one run measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    /// The figure: mean of the repeats, of percentiles that of all samples together; with several runs the mean of
    /// their figures. Null if there is none; `missing` then has the reason.
    pub estimate: Option<f64>,
    /// Why there is none.
    pub missing: Option<MissingFigure>,
    /// 95 % interval of the mean over the repeats, with several runs over the runs; null with fewer than two.
    pub interval: Option<Interval>,
    /// Repeats that were measured.
    pub repeats: u32,
    /// Of a capacity the bounds of each search, run by run; absent for other figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<CapacityBounds>,
    /// The value of each repeat, run by run.
    pub values: Vec<f64>,
    /// Of a side of several runs the values of each run that has the figure; absent with one run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values_of_runs: Vec<Vec<f64>>,
    /// What the figure must not be read without.
    pub marks: Vec<Caveat>,
    /// Its comparison with the published figure.
    pub published: Option<BesidePublished>,
    /// Its comparison with the baseline; null in the baseline's own column.
    pub against: Option<Against>,
}

/// Why a run has no such figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingFigure {
    /// The trial was not part of the run, or never began.
    NotRun,
    /// The trial began and has no such figure.
    NotMeasured,
}

/// What a figure must not be read without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Caveat {
    /// The run was stopped, failed or died before its end.
    NotFinished,
    /// Some repeats that were planned are missing.
    RepeatsMissing,
    /// Sends failed, or their outcome is unknown.
    SendsFailed,
    /// The generator was the bottleneck.
    GeneratorLimited,
    /// The generator was late.
    GeneratorLate,
    /// The target was warming up, slowing down or shifting while it was measured.
    NotSteady,
    /// A closed loop's time, which is the wait in its own buffer.
    ClosedLoop,
    /// Fewer than 100 samples lie beyond the percentile.
    FewSamples,
    /// The repeats form two groups.
    TwoModes,
    /// One repeat: no interval.
    OneRepeat,
    /// The bounds of a search are further apart than they had to be.
    WideBounds,
}

/// A measured figure beside the published one, as the run's own summary has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BesidePublished {
    /// measured / published.
    pub ratio: Option<f64>,
    /// The verdict.
    pub word: PublishedStatus,
}

/// A measured figure against the baseline's.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Against {
    /// This run / baseline, of geometric means over the repeats (with one repeat, of the figures); with several runs of
    /// those of the runs. Null where it would mislead.
    pub ratio: Option<f64>,
    /// Its 95 % interval, of this comparison alone.
    pub interval: Option<Interval>,
    /// The chance of a difference at least so large where there is none, of this comparison alone.
    pub p: Option<f64>,
    /// The same adjusted for all comparisons of this run; below 0.05 is a difference.
    pub p_adjusted: Option<f64>,
    /// The standard deviation between runs, as a part, that the interval counts with beside what the repeats show.
    /// Absent where several runs of both sides show it, and where there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_runs: Option<f64>,
    /// How well the logarithm of the ratio is known; absent where there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<LogRatioError>,
    /// The smallest change, as a fraction (0.12: a ratio of 1.12 or of 1 / 1.12), that 80 of 100 such comparisons would
    /// show, all those of this run adjusted together; absent where statistics do not decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// What would find a smaller one; absent where nothing bearable does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_needed: Option<MoreNeeded>,
    /// The verdict.
    pub word: DifferenceVerdict,
    /// Why.
    pub reason: AgainstReason,
}

/// The reason for the verdict on a figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The fields' names say it.
pub enum AgainstReason {
    /// Statistics decided, among this many comparisons of the run.
    Statistics { comparisons: u32 },
    /// Losses are counted, and need no statistics.
    Lost { ours: u64, theirs: u64 },
    /// One of the two has no such figure.
    NoFigure { is_baseline: bool },
    /// The runs differ in what bars a comparison.
    Differences { differences: Vec<DifferenceFact> },
    /// At full speed a latency is time in the producer's buffer.
    ClosedLoop,
    /// The generator was the bottleneck.
    GeneratorLimited { side: MarkedSide },
    /// Records were sent late for reasons other than the target.
    GeneratorLate { side: MarkedSide },
    /// The target was not steady.
    NotSteady { side: MarkedSide },
    /// A search ended before its bounds were close.
    WideBounds { side: MarkedSide },
    /// Records per second say the same.
    OtherRow,
    /// A figure is zero, so there is no ratio.
    ZeroFigure,
    /// The figure of a repeat is zero, so it has no logarithm.
    ZeroRepeat,
    /// Fewer than 100 samples lie beyond the percentile.
    FewSamples,
    /// One repeat has no spread.
    OneRepeat,
}

/// Which of two runs has a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names say it.
pub enum MarkedSide {
    Run,
    Baseline,
    Both,
}

/// The verdict on a figure, compared with the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceVerdict {
    /// More records, or less time.
    Faster,
    /// Fewer records, or more time.
    Slower,
    /// Less CPU, or less money, for a record.
    Cheaper,
    /// More CPU, or more money, for a record.
    Dearer,
    /// Fewer bytes for a record, or fewer records lost.
    Smaller,
    /// More bytes for a record, or more records lost.
    Larger,
    /// The figures are within what repeats differ by: there may still be a difference as large as
    /// the interval allows.
    NoDifference,
    /// Too little was measured to tell.
    Undecided,
    /// The two do not measure the same.
    NotComparable,
    /// One of the two was not measured.
    NotMeasured,
    /// Not judged: another row has the same information.
    NotJudged,
}

impl DifferenceVerdict {
    /// True for what a user does not want: fewer records, more time, CPU, money or bytes.
    pub fn is_worse(self) -> bool {
        matches!(
            self,
            DifferenceVerdict::Slower | DifferenceVerdict::Dearer | DifferenceVerdict::Larger
        )
    }

    /// True if statistics decided: there is a difference, or none was found.
    pub fn is_decided(self) -> bool {
        !matches!(
            self,
            DifferenceVerdict::Undecided
                | DifferenceVerdict::NotComparable
                | DifferenceVerdict::NotMeasured
                | DifferenceVerdict::NotJudged
        )
    }

    /// The word for a ratio that is surely above or below 1.
    pub(super) fn of_difference(kind: FigureKind, ratio: f64) -> DifferenceVerdict {
        let more = ratio > 1.0;
        match kind.unit() {
            FigureUnit::RecordsPerSecond | FigureUnit::BytesPerSecond if more => {
                DifferenceVerdict::Faster
            }
            FigureUnit::RecordsPerSecond | FigureUnit::BytesPerSecond => DifferenceVerdict::Slower,
            FigureUnit::RecordsPerPrice if more => DifferenceVerdict::Cheaper,
            FigureUnit::RecordsPerPrice => DifferenceVerdict::Dearer,
            FigureUnit::Nanoseconds if more => DifferenceVerdict::Slower,
            FigureUnit::Nanoseconds => DifferenceVerdict::Faster,
            FigureUnit::NanosecondsPerRecord if more => DifferenceVerdict::Dearer,
            FigureUnit::NanosecondsPerRecord => DifferenceVerdict::Cheaper,
            FigureUnit::BytesPerRecord | FigureUnit::Records if more => DifferenceVerdict::Larger,
            FigureUnit::BytesPerRecord | FigureUnit::Records => DifferenceVerdict::Smaller,
        }
    }
}
