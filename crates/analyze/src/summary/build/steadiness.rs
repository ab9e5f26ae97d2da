//! Whether flows were steady: within each hold, and from repeat to repeat.

use kgauge_scenario::{Shape, Trial};

use super::hold::MeasuredRepeats;
use crate::statistics::{Better, Steadiness, check, check_logs, mean};
use crate::summary::{FlowSteadiness, RepeatSteadiness};
use kgauge_results::folder::RepeatRead;
use kgauge_results::pace::{PACE_BIN_NS, PaceSeries};
use kgauge_results::run::{FlowRecord, StageSpan};
use kgauge_results::stage::Stage;

/// Bins of the last tenths of a second are incomplete when they are read.
const SETTLED_NS: u64 = 200_000_000;

/// With fewer bins a warm-up is not called over.
const BINS_MIN: usize = 12;

/// Before this time [`is_warm`] is never true, in ns since the start of the load.
pub const WARM_FROM_NS: u64 = BINS_MIN as u64 * PACE_BIN_NS + SETTLED_NS;

/// Three and more repeats that follow one direction are a trend when they change by this much together.
const TREND_MIN: f64 = 0.15;

/// Of two repeats chance alone makes a direction: only a change by this much is one.
const TREND_MIN_OF_TWO: f64 = 0.30;

/// Whether a load that has run for `elapsed_ns` has reached its level: MSER-5 finds the end of its warm-up, and what
/// follows does not change. Of a closed loop only the throughput counts: its latency follows from that.
pub fn is_warm(pace: &PaceSeries, is_closed: bool, elapsed_ns: u64) -> bool {
    let to_ns = elapsed_ns.saturating_sub(SETTLED_NS);
    let rates = pace.rates(0, to_ns);
    if rates.len() < BINS_MIN || rates.iter().all(|rate| *rate == 0.0) {
        return false;
    }
    let has_level = |values: &[f64], is_steady: &dyn Fn(&[f64]) -> Steadiness| {
        crate::statistics::warm_up_end(values)
            .is_some_and(|cut| is_steady(&values[cut..]).is_usable())
    };
    let throughput = |values: &[f64]| check(values, Better::Higher).steadiness;
    let latency = |values: &[f64]| check_logs(values, Better::Lower).steadiness;
    let logs = pace.log_delays(0, to_ns);
    has_level(&rates, &throughput)
        && (is_closed || logs.len() < BINS_MIN || has_level(&logs, &latency))
}

/// The verdict on one flow; `None` where its rate was to change, where something was done to the cluster meanwhile, and
/// in folders of earlier versions.
pub(super) fn steadiness(
    index: u16,
    trial: Option<&Trial>,
    measured: &MeasuredRepeats<'_>,
) -> Option<FlowSteadiness> {
    let trial = trial.filter(|trial| trial.faults.is_empty())?;
    let flow = trial.flows.get(usize::from(index))?;
    if !flow.has_level() {
        return None;
    }
    let is_closed = flow.produces().is_none_or(|flow| flow.shape == Shape::Max);
    let limit_ns = trial
        .stages
        .is_adaptive()
        .then(|| trial.stages.warm_up_limit_ns());
    let seen = measured
        .repeats
        .iter()
        .filter_map(|repeat| RepeatChecks::of(repeat, index));
    let seen: Vec<RepeatChecks<'_>> = seen.collect();
    let repeats: Vec<RepeatSteadiness> = seen
        .iter()
        .map(|seen| seen.check(is_closed, limit_ns))
        .collect();
    let rates: Vec<f64> = seen.iter().map(RepeatChecks::rate).collect();
    let throughput_over_repeats = trend(&rates);
    let latency_over_repeats = if is_closed {
        None
    } else {
        let delays: Option<Vec<f64>> = seen.iter().map(RepeatChecks::delay).collect();
        delays.as_deref().and_then(trend)
    };
    let within = repeats.iter().map(RepeatSteadiness::verdict).max()?;
    let over = [
        throughput_over_repeats.map(|change| direction(change > 0.0)),
        latency_over_repeats.map(|change| direction(change < 0.0)),
    ];
    Some(FlowSteadiness {
        verdict: over.into_iter().flatten().fold(within, Steadiness::max),
        repeats,
        throughput_over_repeats,
        latency_over_repeats,
    })
}

fn direction(improves: bool) -> Steadiness {
    if improves {
        Steadiness::Warming
    } else {
        Steadiness::Slowing
    }
}

/// The change from the first repeat to the last, where all go in one direction and it is large.
fn trend(values: &[f64]) -> Option<f64> {
    let (first, last) = (*values.first()?, *values.last()?);
    let rises = values.windows(2).all(|pair| pair[1] > pair[0]);
    let falls = values.windows(2).all(|pair| pair[1] < pair[0]);
    let least = match values.len() {
        0 | 1 => return None,
        2 => TREND_MIN_OF_TWO,
        _ => TREND_MIN,
    };
    if first <= 0.0 || !(rises || falls) {
        return None;
    }
    let change = last / first - 1.0;
    // A fall by a third is as large as a rise by a half.
    ((last / first).ln().abs() >= (1.0 + least).ln()).then_some(change)
}

/// What is known of one repeat of a flow.
struct RepeatChecks<'a> {
    pace: &'a PaceSeries,
    warm_up_ns: u64,
    hold: StageSpan,
}

impl<'a> RepeatChecks<'a> {
    fn of(repeat: &'a RepeatRead, index: u16) -> Option<RepeatChecks<'a>> {
        let flow: &FlowRecord = repeat.record.as_ref()?.flows.get(usize::from(index))?;
        let warm_up = flow.stage(Stage::WarmUp);
        Some(RepeatChecks {
            pace: flow.pace.as_ref()?,
            warm_up_ns: warm_up.map_or(0, |span| span.length_ns()),
            hold: flow.stage(Stage::Hold)?,
        })
    }

    fn check(&self, is_closed: bool, limit_ns: Option<u64>) -> RepeatSteadiness {
        let (from_ns, to_ns) = (self.hold.start_ns, self.hold.end_ns);
        let logs = self.pace.log_delays(from_ns, to_ns);
        RepeatSteadiness {
            warm_up_ns: self.warm_up_ns,
            limit_reached: limit_ns.is_some_and(|limit_ns| self.warm_up_ns >= limit_ns),
            throughput: check(&self.pace.rates(from_ns, to_ns), Better::Higher),
            latency: (!is_closed && !logs.is_empty()).then(|| check_logs(&logs, Better::Lower)),
        }
    }

    fn rate(&self) -> f64 {
        mean(self.pace.rates(self.hold.start_ns, self.hold.end_ns)).unwrap_or(0.0)
    }

    /// The geometric mean of the delays.
    fn delay(&self) -> Option<f64> {
        mean(self.pace.log_delays(self.hold.start_ns, self.hold.end_ns)).map(f64::exp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records per bin, each answered after a millisecond.
    fn pace(records: impl IntoIterator<Item = u64>) -> PaceSeries {
        let mut pace = PaceSeries::default();
        for (bin, records) in records.into_iter().enumerate() {
            pace.note(bin as u64 * 100_000_000, records, 1_000_000);
        }
        pace
    }

    #[test]
    fn a_load_is_warm_when_it_has_stayed_on_a_level() {
        let second = 1_000_000_000;
        let level = pace((0..40).map(|bin| 1_000 + bin % 3));
        assert!(!is_warm(&level, true, second));
        assert!(is_warm(&level, true, 2 * second));
        // A system that doubles its throughput in four seconds is not.
        let rising = pace((0..40).map(|bin| 1_000 + 25 * bin));
        assert!(!is_warm(&rising, true, 4 * second));
        // And one that answers nothing never is.
        assert!(!is_warm(&pace([0; 40]), true, 4 * second));
    }

    #[test]
    fn repeats_that_go_one_way_are_a_trend() {
        assert_eq!(
            trend(&[100.0, 110.0, 120.0]).map(|change| (change * 100.0).round()),
            Some(20.0)
        );
        assert_eq!(
            trend(&[120.0, 110.0, 100.0]).map(|change| (change * 100.0).round()),
            Some(-17.0)
        );
        assert_eq!(trend(&[100.0, 130.0, 120.0]), None);
        assert_eq!(trend(&[100.0, 102.0, 104.0]), None);
        // Two repeats always go one way.
        assert_eq!(trend(&[100.0, 120.0]), None);
        assert!(trend(&[210.0, 382.0]).is_some());
        assert_eq!(trend(&[100.0]), None);
    }
}
