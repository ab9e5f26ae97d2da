//! Delays of known distribution: they appear as they were drawn, and only in the API that they were put on.
//!
//! The nodes draw delays from a seed, and report at the end how many they drew. So every single delay is known, and the
//! measured quantiles are those of the delays plus the time of an undelayed request. That base is measured by the other
//! run of the pair, in which the other API is delayed.

use std::ops::RangeInclusive;

use kgauge_results::{Histogram, Quantile, TimeKind};
use kgauge_scenario::{DelayPlan, Fault, RequestFault, Stripe, derive_seed};
use kgauge_target::delays_drawn;

use crate::formula::{delay_quantile_ns, rank_reach};
use crate::row::{ExpectedValue, LostBy, RowVerdict, TruthRow, TruthUnit};
use crate::runs::{Runs, TruthRun};
use crate::scenarios::{DELAY_FETCH, DELAY_PRODUCE, TruthScenario};

/// How far a quantile may be off: requests of two runs do not take exactly the same without a delay, and a histogram's
/// bucket is up to 0.1 % wide.
const PART: f64 = 0.01;

/// Requests without a delay differ by less than this on a machine that does nothing else; else a band made from them
/// would pass anything.
const BASE_SPREAD_NS_MAX: f64 = 5e6;

/// No request takes longer than this unless it is late.
const REQUEST_NS_MAX: f64 = 250e6;

const QUANTILES: &[(&str, Quantile)] = &[
    ("p10", Quantile::new(100_000)),
    ("p50", Quantile::P50),
    ("p90", Quantile::P90),
    ("p99", Quantile::P99),
];

/// An API, and where a reader of the run folder finds its delay.
struct Side {
    api: &'static str,
    delayed: TruthScenario,
    base: TruthScenario,
    flow: &'static str,
    kind: TimeKind,
    words: &'static str,
}

const SIDES: &[Side] = &[
    Side {
        api: "produce",
        delayed: DELAY_PRODUCE,
        base: DELAY_FETCH,
        flow: "writers",
        kind: TimeKind::Response,
        words: "response",
    },
    Side {
        api: "fetch",
        delayed: DELAY_FETCH,
        base: DELAY_PRODUCE,
        flow: "readers",
        kind: TimeKind::FetchRoundTrip,
        words: "fetch round trip",
    },
];

/// All rows.
pub(crate) fn rows(runs: &Runs) -> Vec<TruthRow> {
    SIDES.iter().flat_map(|side| of_side(runs, side)).collect()
}

fn of_side(runs: &Runs, side: &Side) -> Vec<TruthRow> {
    let (Some(delayed), Some(base)) = (runs.get(side.delayed), runs.get(side.base)) else {
        return Vec::new();
    };
    let with = delayed.times_of_all(side.flow, side.kind);
    let without = base.times_of_all(side.flow, side.kind);
    let (Some(with), Some(without), Some(drawn)) = (with, without, Drawn::of(delayed)) else {
        let why = "the run folders lack required data";
        return vec![TruthRow::missing("delay", side.api, why)];
    };
    let disturbed = disturbed(&without);
    let mut rows = drawn.as_written(side);
    for (name, quantile) in QUANTILES {
        let figure = format!("{}, {name}", side.words);
        let measured = with.value_ns_at(*quantile).map(|ns| ns as f64);
        match drawn.truth(&with, &without, *quantile) {
            Some(truth) => {
                let above = drawn.lost_ns(delayed, &with, *quantile);
                // The least of a disturbed run is no lower bound either.
                let least = disturbed.as_ref().and(without.min_ns());
                let below = least.map_or(0.0, |ns| ns as f64);
                let lost = LostBy { below, above };
                let row = truth.with_lost(lost).row("delay", figure, measured);
                rows.push(match disturbed {
                    Some(_) => row.compared_with_nothing(),
                    None => row,
                });
            }
            None => rows.push(TruthRow::missing("delay", figure, "too few requests")),
        }
    }
    let mut open = rows.iter_mut();
    if let Some(first) = open.find(|row| row.verdict == RowVerdict::Inconclusive) {
        first.note = disturbed;
    }
    rows
}

/// Why the run without the delay is nothing to compare with, if it is not.
fn disturbed(without: &Histogram) -> Option<String> {
    let (least_ns, most_ns) = (
        without.min_ns()? as f64,
        without.value_ns_at(Quantile::P99)? as f64,
    );
    (most_ns - least_ns > BASE_SPREAD_NS_MAX).then(|| {
        format!(
            "Undelayed requests took {:.1} to {:.1} ms: other programs disturbed that run, so the \
             tolerance would accept anything.",
            least_ns / 1e6,
            most_ns / 1e6
        )
    })
}

/// The delays that the node has drawn for requests, ascending.
struct Drawn {
    plan: DelayPlan,
    delays_ns: Vec<u64>,
}

impl Drawn {
    fn of(ran: &TruthRun) -> Option<Self> {
        let plan = ran.read.plan.as_ref()?;
        let fault = ran.trial()?.faults.first()?;
        let Fault::Requests {
            what: RequestFault::Delay(delay),
            ..
        } = &fault.kind
        else {
            return None;
        };
        let share = plan.share(0, 0, Stripe::WHOLE)?;
        let seed = derive_seed(share.seed, "fault 0");
        let (requests, _) = ran.struck(0)?;
        let drawn = delays_drawn(delay, seed, 1);
        let mut delays_ns: Vec<u64> = drawn.take(usize::try_from(requests).ok()?).collect();
        delays_ns.sort_unstable();
        Some(Self {
            plan: delay.clone(),
            delays_ns,
        })
    }

    /// That the delays have the distribution of the scenario, as far as chance allows.
    fn as_written(&self, side: &Side) -> Vec<TruthRow> {
        let count = self.delays_ns.len() as f64;
        let row = |part: f64| {
            let at = |part: f64| delay_quantile_ns(&self.plan, part.clamp(0.0, 1.0));
            let reach = rank_reach(part, count);
            let (low, high) = (at(part - reach)?, at(part + reach)?);
            let truth = in_band(at(part)?, low..=high);
            let rank = Quantile::new((part * 1e6) as u32).rank(self.delays_ns.len() as u64);
            let found = self
                .delays_ns
                .get(usize::try_from(rank).ok()?.checked_sub(1)?);
            let figure = format!("drawn for {}, p{}", side.api, part * 100.0);
            Some(truth.row("delay", figure, found.map(|ns| *ns as f64)))
        };
        [0.5, 0.9].into_iter().filter_map(row).collect()
    }

    /// What a quantile of the delayed requests has to be.
    ///
    /// Each of them took its delay and something between the least and (but for one in a hundred) the
    /// p99 of the base. Those that were answered before the fault was set had no delay; those that were
    /// not answered when the run ended are in the list of delays only.
    fn truth(
        &self,
        with: &Histogram,
        without: &Histogram,
        quantile: Quantile,
    ) -> Option<ExpectedValue> {
        let answered = usize::try_from(with.count()).ok()?;
        let undelayed = answered.saturating_sub(self.delays_ns.len());
        let unanswered = self.delays_ns.len().saturating_sub(answered);
        let rank = usize::try_from(quantile.rank(with.count())).ok()?;
        let index = rank.checked_sub(1 + undelayed)?;
        let (least, most) = (
            *self.delays_ns.get(index)? as f64,
            *self.delays_ns.get(index + unanswered)? as f64,
        );
        let base = |quantile| without.value_ns_at(quantile).map(|ns| ns as f64);
        let low = (least + without.min_ns()? as f64) * (1.0 - PART);
        let high = (most + base(Quantile::P99)?) * (1.0 + PART);
        Some(in_band(least + base(Quantile::P50)?, low..=high))
    }

    /// By how much a quantile may exceed its band because other programs took the machine. If but for a part of them no
    /// request lost more than some time, then the quantile is at most that of the delays a part further up, plus that
    /// time.
    fn lost_ns(&self, ran: &TruthRun, with: &Histogram, quantile: Quantile) -> f64 {
        let fraction = quantile.as_fraction();
        let part = ((1.0 - fraction) / 2.0).min(0.01);
        let hold_ns = ran.trial().and_then(|trial| trial.stages.hold_ns);
        let (Some(lost), Some(hold_ns)) = (ran.lost(), hold_ns) else {
            return 0.0;
        };
        let lost_ns = lost.per_request_ns(&(0.0..hold_ns as f64), REQUEST_NS_MAX, 1.0 - part);
        let at = |fraction: f64| {
            let rank = (fraction * with.count() as f64).ceil() as usize;
            let index = rank.clamp(1, self.delays_ns.len().max(1)) - 1;
            self.delays_ns.get(index).map_or(0.0, |ns| *ns as f64)
        };
        if lost_ns > 0.0 {
            lost_ns + at(fraction + part) - at(fraction)
        } else {
            0.0
        }
    }
}

fn in_band(expected_ns: f64, band: RangeInclusive<f64>) -> ExpectedValue {
    let tolerance = format!("{:.1} to {:.1} ms", band.start() / 1e6, band.end() / 1e6);
    ExpectedValue::in_band(TruthUnit::Nanoseconds, expected_ns, band, tolerance)
}
