//! The picture of an answer, and the check of the counts.

use kgauge_analyze::statistics::Interval;
use kgauge_analyze::summary::{PublishedStatus, Summary, TrialSummary};
use kgauge_results::Quantile;
use kgauge_results::run::TargetKind;

use crate::format;
use crate::view::{
    AnswerBar, AnswerPicture, CountCheckView, Flow, Sweep, TrialView, published as published_text,
};

/// The picture of a scenario's answer: the bars of each trial's main figure, unless a curve says more.
pub(super) fn picture(
    summary: &Summary,
    trials: &[TrialView],
    sweep: Option<&Sweep>,
) -> AnswerPicture {
    if let [trial] = trials
        && trial.summary.has_faults
    {
        return AnswerPicture::Outage;
    }
    if sweep.is_some_and(|sweep| sweep.flow_of_rate().is_some()) {
        return AnswerPicture::Curve;
    }
    let is_kafka = !matches!(summary.target.kind, Some(TargetKind::Embedded) | None);
    let bars = |bar: fn(&Flow, bool) -> Option<AnswerBar>| -> Vec<AnswerBar> {
        let bar = |trial: &TrialView| {
            let mut flows = trial.flows.iter();
            let found = flows.find_map(|flow| bar(flow, is_kafka))?;
            let label = trial.short.clone();
            Some(AnswerBar { label, ..found })
        };
        trials.iter().filter_map(bar).collect()
    };
    let (rates, times) = (best(bars(rate)), bars(time));
    let (title, unit, bars) = match rates.is_empty() {
        false => ("records/s", "records/s", rates),
        true => ("p99", "ms", times),
    };
    match bars.is_empty() {
        true => AnswerPicture::None,
        false => AnswerPicture::Bars {
            title: title.to_owned(),
            unit: unit.to_owned(),
            bars,
        },
    }
}

/// The rate of a flow whose rate is a result.
fn rate(flow: &Flow, is_kafka: bool) -> Option<AnswerBar> {
    let rate = flow.rate().filter(|_| flow.has_free_rate())?;
    let published = flow.published().find(|found| {
        let is_usable = found.word != PublishedStatus::NotComparable;
        is_usable && published_text::metric(found) == "throughput"
    });
    let published = published.filter(|_| is_kafka).map(|found| found.published);
    Some(bar(rate.mean, rate.ci95, published))
}

/// The p99 of a flow with a rate.
fn time(flow: &Flow, _is_kafka: bool) -> Option<AnswerBar> {
    let latency = flow.latency().filter(|_| flow.has_caller_latency())?;
    let p99 = latency.times.percentile(Quantile::P99)?;
    let in_ms = |ends: Interval| Interval {
        low: ends.low / 1e6,
        high: ends.high / 1e6,
    };
    Some(bar(
        p99.value_ns as f64 / 1e6,
        p99.interval().map(in_ms),
        None,
    ))
}

fn bar(value: f64, interval: Option<Interval>, published: Option<f64>) -> AnswerBar {
    AnswerBar {
        label: String::new(),
        value,
        low: interval.map(|ends| ends.low),
        high: interval.map(|ends| ends.high),
        published,
        is_best: false,
    }
}

/// Marks the highest of several rates; of one bar nothing is the best.
fn best(mut bars: Vec<AnswerBar>) -> Vec<AnswerBar> {
    let highest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    if bars.len() > 1 {
        for bar in &mut bars {
            bar.is_best = bar.value == highest;
        }
    }
    bars
}

/// The sums over all trials.
pub(super) fn count_check(summary: &Summary) -> Option<CountCheckView> {
    let trials = summary.trials.iter();
    let counted = |trial: &&TrialSummary| trial.counted.iter().any(|one| one.agrees.is_some());
    let trials: Vec<&TrialSummary> = trials.filter(counted).collect();
    let all = || trials.iter().flat_map(|trial| &trial.counted);
    let known = || all().filter(|one| one.agrees.is_some());
    let acked: u64 = known().map(|one| one.acked).sum();
    if acked == 0 {
        return None;
    }
    let bad: Vec<u64> = known()
        .filter(|one| one.agrees == Some(false))
        .map(|one| one.acked.saturating_sub(one.on_broker.unwrap_or(0)))
        .collect();
    let records = format::plural(acked, "acked record", "acked records");
    let is_good = bad.is_empty();
    let text = match is_good {
        true => format!(
            "All {records} are on the brokers ({}).",
            format::plural(trials.len() as u64, "trial", "trials")
        ),
        false => format!(
            "{} of {records} are missing on the brokers ({}).",
            format::count(bad.iter().sum()),
            format::plural(bad.len() as u64, "repeat", "repeats")
        ),
    };
    Some(CountCheckView { is_good, text })
}
