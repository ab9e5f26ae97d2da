//! Goals and published figures against what was measured.

use kgauge_scenario::{Comparison, Figure, Goal, Metric, Published, Stat, Trial, Unit};

use super::hold::{Measured, merged};
use crate::histogram::Quantile;
use crate::slice::Kind;
use crate::statistics::{Interval, Spread};
use crate::summary::words;
use crate::summary::{
    FlowSummary, GeneratorVerdict, GeneratorWord, GoalVerdict, GoalWord, LatencySummary,
    MetricUnit, PublishedComparison, PublishedWord,
};

/// Figures within this part of each other agree even without an interval.
const AGREES_WITHIN: f64 = 0.10;

/// An interval that reaches further than this part of the figure decides nothing by holding a value.
const WIDE: f64 = 0.25;

/// What figures are judged by.
pub(super) struct Judged<'a> {
    pub(super) flows: &'a [FlowSummary],
    pub(super) measured: &'a Measured<'a>,
    pub(super) generator: &'a GeneratorVerdict,
    /// The sentence that names the target.
    pub(super) target: &'a str,
}

/// A measured value and its interval over the repeats.
struct Value {
    value: f64,
    spread: Option<Spread>,
}

impl Value {
    fn interval(&self) -> Option<Interval> {
        self.spread.as_ref().and_then(|spread| spread.ci95)
    }
}

impl Judged<'_> {
    pub(super) fn goals(&self, trial: &Trial) -> Vec<GoalVerdict> {
        trial.goals.iter().map(|goal| self.goal(goal)).collect()
    }

    pub(super) fn published(&self, trial: &Trial) -> Vec<PublishedComparison> {
        let published = trial.published.iter();
        published.map(|published| self.compare(published)).collect()
    }

    fn flow(&self, figure: &Figure) -> Option<&FlowSummary> {
        self.flows.iter().find(|flow| flow.name == figure.flow)
    }

    fn value(&self, figure: &Figure) -> Option<Value> {
        let flow = self.flow(figure)?;
        let throughput = flow.throughput.as_ref()?;
        let of_spread = |spread: &Spread| Value {
            value: spread.mean,
            spread: Some(spread.clone()),
        };
        let of_count = |records: u64| Value {
            value: records as f64,
            spread: None,
        };
        match figure.metric {
            Metric::Throughput => Some(of_spread(&throughput.records_per_s)),
            Metric::ThroughputBytes => Some(of_spread(&throughput.logical_bytes_per_s)),
            Metric::Latency(stat) => self.time(flow, Kind::Response, stat),
            Metric::EndToEnd(stat) => self.time(flow, Kind::EndToEnd, stat),
            Metric::Service(stat) => self.time(flow, Kind::Service, stat),
            Metric::Lag(stat) => self.time(flow, Kind::Lag, stat),
            Metric::Failed => Some(of_count(flow.records.failed)),
            Metric::Skipped => Some(of_count(flow.records.skipped)),
        }
    }

    fn time(&self, flow: &FlowSummary, kind: Kind, stat: Stat) -> Option<Value> {
        let summary: &LatencySummary = match kind {
            Kind::Response => flow.latencies.response.as_ref()?,
            Kind::Service => flow.latencies.service.as_ref()?,
            _ => flow.latencies.lag.as_ref()?,
        };
        match stat {
            Stat::Min => Some(Value {
                value: summary.min_ns as f64,
                spread: None,
            }),
            Stat::Max => Some(Value {
                value: summary.max_ns as f64,
                spread: None,
            }),
            Stat::Mean => Some(Value {
                value: summary.mean_ns,
                spread: summary.mean_over_repeats.clone(),
            }),
            Stat::Quantile(millionths) => {
                let quantile = Quantile::new(millionths);
                let holds = self.measured.holds(flow.index);
                let of_repeats = holds
                    .iter()
                    .filter_map(|hold| hold.slice.times(kind).value_ns_at(quantile))
                    .map(|value_ns| value_ns as f64);
                Some(Value {
                    value: merged(&holds, kind).value_ns_at(quantile)? as f64,
                    spread: Spread::of(&of_repeats.collect::<Vec<_>>()),
                })
            }
        }
    }

    fn goal(&self, goal: &Goal) -> GoalVerdict {
        let unit = unit_of(goal.figure.metric);
        let mut verdict = GoalVerdict {
            goal: goal.text.clone(),
            figure: goal.figure.to_string(),
            wanted: goal.value,
            measured: None,
            unit,
            word: GoalWord::NotMeasured,
            why: "nothing of the kind was measured".to_owned(),
        };
        let Some(value) = self.value(&goal.figure) else {
            return verdict;
        };
        let held = goal.comparison.holds(value.value, goal.value);
        verdict.measured = Some(value.value);
        verdict.word = if held {
            GoalWord::Held
        } else {
            GoalWord::NotHeld
        };
        verdict.why = format!(
            "{} was measured, {} {} was wanted{}",
            show(value.value, unit),
            comparison_words(goal.comparison),
            show(goal.value, unit),
            doubt(goal, &value),
        );
        verdict
    }

    fn compare(&self, published: &Published) -> PublishedComparison {
        let value = self.value(&published.figure);
        let measured = value.as_ref().map(|value| value.value);
        let interval = value.as_ref().and_then(Value::interval);
        let ratio = measured.filter(|_| published.value != 0.0);
        let ratio = ratio.map(|measured| measured / published.value);
        let (word, why) = self.word(published, ratio, interval);
        PublishedComparison {
            figure: published.figure.to_string(),
            published: published.value,
            published_text: published.text.clone(),
            source: published.source.clone(),
            measured,
            interval,
            unit: unit_of(published.figure.metric),
            ratio,
            word,
            why: format!(
                "{why}. The target was {}.{}",
                self.target,
                differs(published)
            ),
            audit: published.audit.clone(),
        }
    }

    fn word(
        &self,
        published: &Published,
        ratio: Option<f64>,
        interval: Option<Interval>,
    ) -> (PublishedWord, String) {
        let Some(ratio) = ratio else {
            return (
                PublishedWord::NotMeasured,
                "Nothing of the kind was measured".to_owned(),
            );
        };
        if let Some(because) = &published.not_comparable {
            let why = format!("Not comparable because {}", because.trim_end_matches('.'));
            return (PublishedWord::NotComparable, why);
        }
        let flow = self.flow(&published.figure);
        let of_time = matches!(
            published.figure.metric,
            Metric::Latency(_) | Metric::EndToEnd(_) | Metric::Service(_) | Metric::Lag(_)
        );
        if of_time && flow.is_some_and(|flow| flow.closed_loop) {
            return (
                PublishedWord::NotComparable,
                "Not comparable: a closed loop's latency is its own buffer".to_owned(),
            );
        }
        let inside = interval.is_some_and(|interval| interval.contains(published.value));
        let near = (ratio - 1.0).abs() <= AGREES_WITHIN;
        if inside && !near && is_wide(published, ratio, interval) {
            let why = "Undecided: it lies in our 95 % interval, which is too wide to say more";
            return (PublishedWord::Undecided, why.to_owned());
        }
        if inside || near {
            let how = if inside {
                "it lies in our 95 % interval"
            } else {
                "within 10 %"
            };
            return (PublishedWord::Agrees, format!("Agrees: {how}"));
        }
        let word = if ratio > 1.0 {
            (
                PublishedWord::Higher,
                format!("Ours is {} times as high", words::number(ratio)),
            )
        } else {
            (
                PublishedWord::Lower,
                format!("Ours is {} of it", words::percent(ratio)),
            )
        };
        let limited = self.generator.word == GeneratorWord::Limited;
        if limited && ratio < 1.0 && !of_time {
            let why = "Not comparable: the generator was the limit of ours".to_owned();
            return (PublishedWord::NotComparable, why);
        }
        word
    }
}

/// Whether the interval reaches further than [`WIDE`] from the figure that it is around.
fn is_wide(published: &Published, ratio: f64, interval: Option<Interval>) -> bool {
    let measured = ratio * published.value;
    interval.is_some_and(|interval| interval.high - measured > WIDE * measured)
}

/// What the repeats say about a goal that was just held or just missed.
fn doubt(goal: &Goal, value: &Value) -> String {
    let Some(spread) = &value.spread else {
        return String::new();
    };
    let holds = |value: &&f64| goal.comparison.holds(**value, goal.value);
    let held = spread.values.iter().filter(holds).count();
    let straddles = spread
        .ci95
        .is_some_and(|interval| interval.contains(goal.value));
    let in_doubt = if straddles {
        "; the 95 % interval holds the goal's value, so it could be chance"
    } else {
        ""
    };
    if held == 0 || held == spread.values.len() {
        return in_doubt.to_owned();
    }
    format!(
        " (held in {held} of {}){in_doubt}",
        words::counted(u64::from(spread.n), "repeat")
    )
}

fn differs(published: &Published) -> String {
    let differs = published.differs.as_deref();
    differs.map_or_else(String::new, |differs| {
        format!(" Different there: {differs}.")
    })
}

fn comparison_words(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Less => "less than",
        Comparison::LessOrEqual => "at most",
        Comparison::GreaterOrEqual => "at least",
        Comparison::Greater => "more than",
    }
}

fn unit_of(metric: Metric) -> MetricUnit {
    match metric.unit() {
        Unit::RecordsPerSecond => MetricUnit::RecordsPerSecond,
        Unit::BytesPerSecond => MetricUnit::BytesPerSecond,
        Unit::Nanoseconds => MetricUnit::Nanoseconds,
        Unit::Records => MetricUnit::Records,
    }
}

fn show(value: f64, unit: MetricUnit) -> String {
    match unit {
        MetricUnit::RecordsPerSecond => format!("{} records/s", words::number(value)),
        MetricUnit::BytesPerSecond => format!("{} MB/s", words::number(value / 1e6)),
        MetricUnit::Nanoseconds => words::time(value),
        MetricUnit::Records => words::counted(value as u64, "record"),
    }
}
