//! Stalls: records wait for a stalled broker as long as arithmetic predicts.
//!
//! A record that is due in a stall of length S, t after its beginning, is answered at its end: it waits S - t. Records
//! that are due evenly wait evenly, from 0 to S; of a hold of length D the part (S - x) / D waits longer than x.
//!
//! When the stall began, when it ended and when the node had answered what piled up is taken from the node's own
//! record: on a busy machine the last of these is milliseconds after the plan's.

use kgauge_results::{Quantile, TimeKind};
use kgauge_scenario::{FlowPlan, Shape};

use crate::formula::{StalledHold, rank_reach};
use crate::row::{ExpectedValue, LostBy, TruthRow, TruthUnit};
use crate::runs::{Runs, TruthRun};
use crate::scenarios::{BORDER_STALLS, STALL, TWO_STALLS, TruthScenario};

/// How far a percentile may be off: the time of broker and generator in addition to the stall, and a histogram's bucket
/// of 0.1 %.
const PART: f64 = 0.01;

/// A quantile and its name.
pub(crate) type NamedQuantile = (&'static str, Quantile);

pub(crate) const P99: NamedQuantile = ("p99", Quantile::P99);
pub(crate) const P99_9: NamedQuantile = ("p99.9", Quantile::P99_9);
const P90: NamedQuantile = ("p90", Quantile::P90);
const P80: NamedQuantile = ("p80", Quantile::new(800_000));

/// The moment at which a record's latency starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LatencyStart {
    /// Acked - intended.
    Intended,
    /// Acked - sent: the recorder that is wrong.
    Sent,
}

impl LatencyStart {
    fn kind(self) -> TimeKind {
        match self {
            Self::Intended => TimeKind::Response,
            Self::Sent => TimeKind::Service,
        }
    }
}

/// The rows of one stall.
pub(crate) fn of_one(runs: &Runs, from: LatencyStart) -> Vec<TruthRow> {
    let rows = |flow| rows("stall", runs, STALL, (flow, &[P99, P99_9]), from);
    ["even", "poisson", "tiny-buffer"]
        .into_iter()
        .flat_map(rows)
        .collect()
}

/// The rows of several stalls.
pub(crate) fn of_several(runs: &Runs, from: LatencyStart) -> Vec<TruthRow> {
    let two = ("even", &[P90, P99, P99_9][..]);
    let borders = ("even", &[P80, P99, P99_9][..]);
    let mut all = rows("stalls", runs, TWO_STALLS, two, from);
    all.extend(rows("stalls", runs, BORDER_STALLS, borders, from));
    all
}

/// The same check with a recorder that starts at the actual send: it has to fail.
pub(crate) fn of_a_wrong_recorder(runs: &Runs) -> Vec<TruthRow> {
    let flow = ("tiny-buffer", &[P99][..]);
    let rows = rows("recorder", runs, STALL, flow, LatencyStart::Sent);
    rows.into_iter()
        .map(TruthRow::of_a_wrong_recorder)
        .collect()
}

fn rows(
    check: &'static str,
    runs: &Runs,
    scenario: TruthScenario,
    (flow, quantiles): (&str, &[NamedQuantile]),
    from: LatencyStart,
) -> Vec<TruthRow> {
    let ran = runs.get(scenario);
    let hold = ran.and_then(|ran| ran.stalled_hold(flow));
    let (Some(ran), Some(hold)) = (ran, hold) else {
        return Vec::new();
    };
    let times = ran.times(flow, from.kind());
    let row = |(name, quantile): &NamedQuantile| {
        let measured = times.and_then(|times| times.value_ns_at(*quantile));
        let measured = measured.map(|ns| ns as f64);
        let truth = truth(&hold, ran.flow_plan(flow), quantile.as_fraction());
        let lost = lost_by(ran, &hold, &truth, measured);
        let figure = format!("{}, {flow}, {name}", scenario.name);
        truth.with_lost(lost).row(check, figure, measured)
    };
    quantiles.iter().map(row).collect()
}

/// By how much a quantile may exceed its band because other programs took the machine. Nobody is early because of that.
///
/// What counts is time lost between the node's answer and the moment at which the generator had read it, and outages:
/// records that are not served for half a second at another moment wait that long, too.
fn lost_by(
    ran: &TruthRun,
    hold: &StalledHold,
    truth: &ExpectedValue,
    measured: Option<f64>,
) -> LostBy {
    /// A look at the machine, and how exactly the wall clock places it.
    const MARGIN_NS: f64 = 10e6;
    let excess_ns = measured.map_or(0.0, |measured| measured - truth.band.end());
    let (Some(lost), Some(trial)) = (ran.lost(), ran.trial()) else {
        return LostBy::default();
    };
    if excess_ns <= 0.0 {
        return LostBy::default();
    }
    let warm_up_ns = trial.stages.warm_up_ns as f64;
    let mut windows: Vec<(f64, f64)> = Vec::new();
    for span in &hold.spans {
        let answered_ns = warm_up_ns + span.answered_ns;
        let end_ns = answered_ns + excess_ns + MARGIN_NS;
        match windows.last_mut() {
            Some((_, last_ns)) if answered_ns - MARGIN_NS <= *last_ns => *last_ns = end_ns,
            _ => windows.push((answered_ns - MARGIN_NS, end_ns)),
        }
    }
    let near = windows
        .into_iter()
        .map(|(start, end)| lost.near_ns(&(start..end)));
    let whole = warm_up_ns..warm_up_ns + hold.hold_ns;
    LostBy {
        below: 0.0,
        above: near.sum::<f64>() + lost.outages_ns(&whole),
    }
}

/// What a quantile has to be. Evenly spaced records have no chance in them. Of Poisson arrivals, given how
/// many there are, each is due at any moment of the hold with equal probability: a quantile of them is an
/// order statistic, whose rank is binomial.
fn truth(hold: &StalledHold, plan: Option<&FlowPlan>, part: f64) -> ExpectedValue {
    let expected = hold.quantile_ns(part);
    if let Some(FlowPlan::Produce(flow)) = plan
        && let Shape::Poisson { per_second } = flow.shape
    {
        let reach = rank_reach(part, per_second * hold.hold_ns / 1e9);
        let low = hold.quantile_ns(part - reach) * (1.0 - PART);
        let high = hold.quantile_ns((part + reach).min(1.0)) * (1.0 + PART);
        let tolerance = format!("{:.0} to {:.0} ms", low / 1e6, high / 1e6);
        return ExpectedValue::in_band(TruthUnit::Nanoseconds, expected, low..=high, tolerance);
    }
    ExpectedValue::within(TruthUnit::Nanoseconds, expected, PART)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::WaitSpan;

    #[test]
    fn poisson_arrivals_get_what_chance_allows_and_no_more() {
        // The standard deviation of p99 is D sqrt(q (1 - q) / n) = 60 s sqrt(0.0099 / 1.2 M) = 5.45 ms.
        let hold = StalledHold {
            hold_ns: 60e9,
            spans: vec![WaitSpan::of_stall(7e9, 1e9)],
        };
        let scenario = kgauge_scenario::Scenario::parse("stall", STALL.text).unwrap();
        let trial = scenario.trials(kgauge_scenario::Size::Default).remove(0);
        let plan = |name: &str| trial.flows.iter().find(|flow| flow.name() == name);
        let truth = |name| super::truth(&hold, plan(name), 0.99);
        let poisson = truth("poisson");
        assert!((poisson.expected / 1e6 - 400.0).abs() < 1e-3);
        let reach_ms = 4.5 * 5.4498;
        let low = (400.0 - reach_ms) * 0.99;
        let high = (400.0 + reach_ms) * 1.01;
        assert!(
            (poisson.band.start() / 1e6 - low).abs() < 0.1,
            "{poisson:?}"
        );
        assert!((poisson.band.end() / 1e6 - high).abs() < 0.1, "{poisson:?}");
        assert!((truth("even").band.end() / 1e6 - 404.0).abs() < 1e-3);
    }
}
