//! Goals and published figures against what was measured.

use kgauge_scenario::{FigureName, Goal, Metric, PublishedValue, Statistic, Trial, ValueUnit};

use super::hold::MeasuredRepeats;
use super::latency::percentile;
use crate::statistics::{Interval, Spread, Steadiness, t_95};
use crate::summary::{
    FlowSummary, GeneratorState, GeneratorVerdict, GoalStatus, GoalVerdict, LatenessCause,
    MetricUnit, PublishedComparison, PublishedReason, SteadyFigure,
};
use kgauge_results::histogram::Quantile;
use kgauge_results::slice::TimeKind;

/// Figures within this part of each other agree even without an interval.
const AGREES_WITHIN: f64 = 0.10;

/// An interval that reaches further than this fraction of the figure could not have disagreed.
const WIDE: f64 = 0.25;

/// A single repeat whose rate is nearer to a goal than this fraction decides nothing: at full speed equal runs on a
/// busy machine were seen to differ by 7 %.
const RATE_NEAR: f64 = 0.10;
/// The same of a time: p99 and p99.9 of equal runs differ by some 10 %, of which two and a half standard deviations.
const TIME_NEAR: f64 = 0.25;
/// More repeats are not recommended: a longer hold helps more.
const REPEATS_MAX: u32 = 30;

/// What figures are judged by.
pub(super) struct FigureSource<'a> {
    pub(super) flows: &'a [FlowSummary],
    pub(super) measured: &'a MeasuredRepeats<'a>,
    pub(super) generator: &'a GeneratorVerdict,
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

impl FigureSource<'_> {
    pub(super) fn goals(&self, trial: &Trial) -> Vec<GoalVerdict> {
        trial.goals.iter().map(|goal| self.goal(goal)).collect()
    }

    pub(super) fn published(&self, trial: &Trial) -> Vec<PublishedComparison> {
        let published = trial.published.iter();
        published.map(|published| self.compare(published)).collect()
    }

    /// A figure; `None` if it was not measured.
    pub(super) fn measured_value(&self, figure: &FigureName) -> Option<f64> {
        self.value(figure).map(|value| value.value)
    }

    fn flow(&self, figure: &FigureName) -> Option<&FlowSummary> {
        self.flows.iter().find(|flow| flow.name == figure.flow)
    }

    fn value(&self, figure: &FigureName) -> Option<Value> {
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
            Metric::Latency(stat) => self.time(flow, TimeKind::Response, stat),
            Metric::EndToEnd(stat) => self.time(flow, TimeKind::EndToEnd, stat),
            Metric::Service(stat) => self.time(flow, TimeKind::Service, stat),
            Metric::Lag(stat) => self.time(flow, TimeKind::Lag, stat),
            Metric::Failed => Some(of_count(flow.records.failed)),
            Metric::Skipped => Some(of_count(flow.records.skipped)),
        }
    }

    fn time(&self, flow: &FlowSummary, kind: TimeKind, stat: Statistic) -> Option<Value> {
        let summary = flow.latencies.get(kind)?;
        match stat {
            Statistic::Min => Some(Value {
                value: summary.min_ns as f64,
                spread: None,
            }),
            Statistic::Max => Some(Value {
                value: summary.max_ns as f64,
                spread: None,
            }),
            Statistic::Mean => Some(Value {
                value: summary.mean_ns,
                spread: summary.mean_over_repeats.clone(),
            }),
            Statistic::Quantile(millionths) => {
                let holds = self.measured.holds(flow.index);
                let found = percentile(&holds, kind, Quantile::new(millionths))?;
                Some(Value {
                    value: found.value_ns as f64,
                    spread: found.over_repeats,
                })
            }
        }
    }

    fn goal(&self, goal: &Goal) -> GoalVerdict {
        let unit = unit_of(goal.figure.metric);
        let mut verdict = GoalVerdict {
            goal: goal.text.clone(),
            figure: goal.figure.to_string(),
            threshold: goal.value,
            measured: None,
            interval: None,
            unit,
            comparison: goal.comparison,
            repeats: None,
            repeats_needed: None,
            not_steady: false,
            delayed_by: None,
            word: GoalStatus::NotMeasured,
        };
        let Some(value) = self.value(&goal.figure) else {
            return verdict;
        };
        verdict.measured = Some(value.value);
        verdict.interval = value.interval();
        verdict.repeats = value.spread.as_ref().map(|spread| spread.n);
        verdict.word = goal_word(goal, &value);
        if verdict.word == GoalStatus::Undecided {
            verdict.repeats_needed = repeats_needed(goal, &value);
        }
        // A load that overruns the target is not steady either: what was missed stays missed.
        let steady = steady_figure(goal.figure.metric);
        let steadiness = self
            .flow(&goal.figure)
            .and_then(|flow| flow.steadiness.as_ref());
        let factor = steadiness
            .filter(|steadiness| !steadiness.of(steady).is_usable())
            .map(|steadiness| steadiness.factor(steady));
        if let (GoalStatus::Held, Some(factor)) = (verdict.word, factor) {
            let holds = |value: f64| goal.comparison.holds(value, goal.value);
            if !holds(value.value * factor) || !holds(value.value / factor) {
                verdict.word = GoalStatus::Undecided;
                verdict.not_steady = true;
            }
        }
        if verdict.word == GoalStatus::NotHeld
            && let Some(cause) = self.foreign_delay(goal)
        {
            verdict.word = GoalStatus::Undecided;
            verdict.delayed_by = Some(cause);
        }
        verdict
    }

    /// What else than the target may have made a latency miss its goal; `None` where service times miss it too, which
    /// begin when a record is sent.
    fn foreign_delay(&self, goal: &Goal) -> Option<LatenessCause> {
        let flow = self.flow(&goal.figure)?;
        let service = match goal.figure.metric {
            Metric::Latency(stat) => self.time(flow, TimeKind::Service, stat),
            Metric::EndToEnd(_) => None,
            _ => return None,
        };
        if service.is_some_and(|service| goal_word(goal, &service) == GoalStatus::NotHeld) {
            return None;
        }
        let cause = flow.lateness.as_ref()?.blame;
        cause.is_in_latencies().then_some(cause)
    }

    fn compare(&self, published: &PublishedValue) -> PublishedComparison {
        let value = self.value(&published.figure);
        let measured = value.as_ref().map(|value| value.value);
        let interval = value.as_ref().and_then(Value::interval);
        let ratio = measured.filter(|_| published.value != 0.0);
        let ratio = ratio.map(|measured| measured / published.value);
        let reason = self.reason(published, ratio, interval);
        // A figure that is not known to be steady is no multiple of anything.
        let ratio = ratio.filter(|_| self.steadiness_of(published) == Steadiness::Steady);
        PublishedComparison {
            figure: published.figure.to_string(),
            published: published.value,
            published_text: published.text.clone(),
            source: published.source.clone(),
            measured,
            interval,
            unit: unit_of(published.figure.metric),
            ratio,
            word: reason.status(),
            reason,
            differs: published.differs.clone(),
            audit: published.audit.clone(),
        }
    }

    fn steadiness_of(&self, published: &PublishedValue) -> Steadiness {
        let flow = self.flow(&published.figure);
        let figure = steady_figure(published.figure.metric);
        flow.map_or(Steadiness::Steady, |flow| flow.steadiness_of(figure))
    }

    fn reason(
        &self,
        published: &PublishedValue,
        ratio: Option<f64>,
        interval: Option<Interval>,
    ) -> PublishedReason {
        let Some(ratio) = ratio else {
            return PublishedReason::NotMeasured;
        };
        if let Some(because) = published.not_comparable.clone() {
            return PublishedReason::Different { because };
        }
        match self.steadiness_of(published) {
            Steadiness::Steady => {}
            Steadiness::Undecided => return PublishedReason::SteadinessUnknown,
            Steadiness::Shifting | Steadiness::Slowing | Steadiness::Warming => {
                return PublishedReason::NotSteady;
            }
        }
        let of_time = steady_figure(published.figure.metric) == SteadyFigure::Latency;
        let flow = self.flow(&published.figure);
        if of_time && flow.is_some_and(|flow| flow.closed_loop) {
            return PublishedReason::ClosedLoop;
        }
        if let Some(found) = agreement(published, ratio, interval) {
            return found;
        }
        let limited = self.generator.word == GeneratorState::Limited;
        match ratio > 1.0 {
            true => PublishedReason::Higher,
            false if limited && ratio < 1.0 && !of_time => PublishedReason::GeneratorLimited,
            false => PublishedReason::Lower,
        }
    }
}

/// Which check of steadiness a figure needs.
fn steady_figure(metric: Metric) -> SteadyFigure {
    match metric {
        Metric::Latency(_) | Metric::EndToEnd(_) | Metric::Service(_) | Metric::Lag(_) => {
            SteadyFigure::Latency
        }
        Metric::Throughput | Metric::ThroughputBytes | Metric::Failed | Metric::Skipped => {
            SteadyFigure::Throughput
        }
    }
}

/// Whether a published figure and ours agree, or are too near each other for our interval to disagree; `None` where
/// they differ.
fn agreement(
    published: &PublishedValue,
    ratio: f64,
    interval: Option<Interval>,
) -> Option<PublishedReason> {
    let away = (ratio - 1.0).abs();
    let Some(interval) = interval else {
        return (away <= WIDE).then_some(PublishedReason::OneRepeat);
    };
    let is_inside = interval.contains(published.value);
    if !is_inside && away > AGREES_WITHIN {
        return None;
    }
    let reach = interval.reach(ratio * published.value)?;
    Some(match reach > WIDE {
        true => PublishedReason::WideInterval { reach },
        false => PublishedReason::Agrees { is_inside, reach },
    })
}

/// A goal is held or missed where the whole interval says so. What is counted, and what repeats agree on to the last
/// digit, has no doubt.
fn goal_word(goal: &Goal, value: &Value) -> GoalStatus {
    let holds = |value: f64| goal.comparison.holds(value, goal.value);
    let word = |held: bool| match held {
        true => GoalStatus::Held,
        false => GoalStatus::NotHeld,
    };
    let Some(interval) = value.interval() else {
        let is_near = value.spread.is_some() && is_near(goal, value.value);
        return match is_near {
            true => GoalStatus::Undecided,
            false => word(holds(value.value)),
        };
    };
    match (holds(interval.low), holds(interval.high)) {
        (true, true) => GoalStatus::Held,
        (false, false) => GoalStatus::NotHeld,
        _ => GoalStatus::Undecided,
    }
}

/// Whether a single repeat could have come out on the other side.
fn is_near(goal: &Goal, value: f64) -> bool {
    let near = match unit_of(goal.figure.metric) {
        MetricUnit::RecordsPerSecond | MetricUnit::BytesPerSecond => RATE_NEAR,
        MetricUnit::Nanoseconds => TIME_NEAR,
        MetricUnit::Records => return false,
    };
    (value - goal.value).abs() <= near * goal.value
}

/// How many repeats would tell the figure from the goal's value, if they spread as those that were measured.
fn repeats_needed(goal: &Goal, value: &Value) -> Option<u32> {
    let spread = value.spread.as_ref()?;
    let Some(half) = spread.ci95_relative() else {
        return Some(5);
    };
    let n = f64::from(spread.n);
    let stdev = half.ln_1p() * n.sqrt() / t_95(spread.values.len() - 1)?;
    let away = (goal.value / value.value).ln().abs();
    (spread.n + 1..=REPEATS_MAX).find(|repeats| {
        let t = t_95(*repeats as usize - 1);
        t.is_some_and(|t| t * stdev / f64::from(*repeats).sqrt() < away)
    })
}

fn unit_of(metric: Metric) -> MetricUnit {
    unit_of_value(metric.unit())
}

pub(super) fn unit_of_value(unit: ValueUnit) -> MetricUnit {
    match unit {
        ValueUnit::RecordsPerSecond => MetricUnit::RecordsPerSecond,
        ValueUnit::BytesPerSecond => MetricUnit::BytesPerSecond,
        ValueUnit::Nanoseconds => MetricUnit::Nanoseconds,
        ValueUnit::Records => MetricUnit::Records,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::PublishedStatus;
    use kgauge_scenario::GoalComparison;

    fn goal(figure: &str, comparison: GoalComparison, value: f64) -> Goal {
        Goal {
            text: String::new(),
            figure: FigureName::parse(figure).unwrap(),
            comparison,
            value,
        }
    }

    fn time(repeats_ms: &[f64]) -> Value {
        let values: Vec<f64> = repeats_ms.iter().map(|ms| ms * 1e6).collect();
        let value = values.iter().sum::<f64>() / values.len() as f64;
        Value {
            value,
            spread: Spread::of_time(&values, value),
        }
    }

    #[test]
    fn a_goal_is_decided_only_where_the_whole_interval_is_on_one_side() {
        let goal = goal("writers.latency.p99", GoalComparison::LessOrEqual, 20e6);
        let word = |repeats: &[f64]| goal_word(&goal, &time(repeats));
        assert_eq!(word(&[10.0, 10.5, 11.0]), GoalStatus::Held);
        assert_eq!(word(&[30.0, 31.0, 32.0]), GoalStatus::NotHeld);
        assert_eq!(word(&[15.0, 18.0, 21.0]), GoalStatus::Undecided);
        assert_eq!(word(&[19.0, 21.0, 23.0]), GoalStatus::Undecided);
        // A single repeat decides where it is far from the goal.
        assert_eq!(word(&[14.0]), GoalStatus::Held);
        assert_eq!(word(&[16.0]), GoalStatus::Undecided);
        assert_eq!(word(&[26.0]), GoalStatus::NotHeld);
    }

    #[test]
    fn what_is_counted_has_no_doubt() {
        let goal = goal("writers.failed", GoalComparison::LessOrEqual, 0.0);
        let of = |value: f64| Value {
            value,
            spread: None,
        };
        assert_eq!(goal_word(&goal, &of(0.0)), GoalStatus::Held);
        assert_eq!(goal_word(&goal, &of(1.0)), GoalStatus::NotHeld);
    }

    #[test]
    fn an_undecided_goal_names_the_repeats_that_decide() {
        let goal = goal("writers.latency.p99", GoalComparison::LessOrEqual, 20e6);
        let needed = |repeats: &[f64]| repeats_needed(&goal, &time(repeats));
        assert_eq!(needed(&[15.0, 18.0, 21.0]), Some(13));
        assert_eq!(needed(&[19.9, 20.2, 19.8]), None);
    }

    fn published(value: f64) -> PublishedValue {
        serde_json::from_value(serde_json::json!({
            "figure": "writers.throughput", "value": value, "text": "", "source": null, "differs": null}))
        .unwrap()
    }

    #[test]
    fn to_agree_an_interval_must_be_narrow_enough_to_disagree() {
        let word = |measured: f64, half: Option<f64>| {
            let interval = half.map(|half| Interval {
                low: measured - half,
                high: measured + half,
            });
            agreement(&published(100.0), measured / 100.0, interval).map(|found| found.status())
        };
        assert_eq!(word(104.0, Some(5.0)), Some(PublishedStatus::Agrees));
        assert_eq!(
            word(108.0, Some(1.0)),
            Some(PublishedStatus::Agrees),
            "within 10 % of the published value"
        );
        // 2,033,000 records/s, known to 40 %, beside 2,024,032.
        assert_eq!(word(100.4, Some(40.0)), Some(PublishedStatus::Undecided));
        assert_eq!(word(150.0, Some(80.0)), Some(PublishedStatus::Undecided));
        assert_eq!(word(150.0, Some(20.0)), None, "it differs");
        // One repeat has no interval that could disagree.
        assert_eq!(word(101.0, None), Some(PublishedStatus::Undecided));
        assert_eq!(word(200.0, None), None);
    }
}
