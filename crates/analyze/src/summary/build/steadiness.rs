//! Whether flows were steady: within each hold, and from repeat to repeat.

use kgauge_scenario::{Shape, Trial};

use super::hold::MeasuredRepeats;
use crate::statistics::{Better, Steadiness, SteadinessCheck, check, check_logs, mean};
use crate::summary::{Compiling, FlowSteadiness, RepeatSteadiness};
use kgauge_results::folder::RepeatRead;
use kgauge_results::pace::{PACE_BIN_NS, PaceSeries};
use kgauge_results::run::{CpuRecord, FlowRecord, StageSpan};
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
/// follows does not change, although a change of throughput would have shown. Of a closed loop only the throughput
/// counts: its latency follows from that.
pub fn is_warm(pace: &PaceSeries, is_closed: bool, elapsed_ns: u64) -> bool {
    let to_ns = elapsed_ns.saturating_sub(SETTLED_NS);
    let rates = pace.rates(0, to_ns);
    if rates.len() < BINS_MIN || rates.iter().all(|rate| *rate == 0.0) {
        return false;
    }
    let has_level = |values: &[f64], is_level: &dyn Fn(&[f64]) -> bool| {
        crate::statistics::warm_up_end(values).is_some_and(|cut| is_level(&values[cut..]))
    };
    let throughput =
        |values: &[f64]| check(values, Better::Higher).steadiness == Steadiness::Steady;
    // Means of a tenth of a second are often too different to show anything.
    let latency = |values: &[f64]| check_logs(values, Better::Lower).steadiness.is_usable();
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
    let alone = repeats.iter().map(RepeatSteadiness::verdict).max()?;
    let is_undecided = |check: &SteadinessCheck| check.steadiness == Steadiness::Undecided;
    let throughput_together = repeats
        .iter()
        .any(|repeat| is_undecided(&repeat.throughput))
        .then(|| together(seen.iter().map(RepeatChecks::rates)))
        .flatten()
        .map(|rates| check(&rates, Better::Higher));
    let latency_together = repeats
        .iter()
        .any(|repeat| repeat.latency.as_ref().is_some_and(is_undecided))
        .then(|| together(seen.iter().map(RepeatChecks::log_delays)))
        .flatten()
        .map(|logs| check_logs(&logs, Better::Lower));
    let within = match alone {
        // What they do not show alone, they may show together.
        Steadiness::Undecided => [throughput_together, latency_together]
            .into_iter()
            .flatten()
            .map(|check| check.steadiness)
            .max()
            .unwrap_or(alone),
        _ => alone,
    };
    let over = [
        throughput_over_repeats.map(|change| direction(change > 0.0)),
        latency_over_repeats.map(|change| direction(change < 0.0)),
    ];
    Some(FlowSteadiness {
        verdict: over.into_iter().flatten().fold(within, Steadiness::max),
        repeats,
        throughput_over_repeats,
        latency_over_repeats,
        throughput_together,
        latency_together,
    })
}

/// The mean of several repeats at each moment, each repeat around the mean of all; `None` of a single one.
fn together(repeats: impl Iterator<Item = Vec<f64>>) -> Option<Vec<f64>> {
    let repeats: Vec<Vec<f64>> = repeats.collect();
    let means: Option<Vec<f64>> = repeats
        .iter()
        .map(|values| mean(values.iter().copied()))
        .collect();
    let means = means.filter(|means| means.len() > 1)?;
    let level = mean(means.iter().copied())?;
    let length = repeats.iter().map(Vec::len).min()?;
    let at = |index: usize| {
        let around = repeats.iter().zip(&means);
        mean(around.map(|(values, mean)| level + values[index] - mean))
    };
    (0..length).map(at).collect()
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
    compiling: Option<Compiling>,
}

impl<'a> RepeatChecks<'a> {
    fn of(repeat: &'a RepeatRead, index: u16) -> Option<RepeatChecks<'a>> {
        let record = repeat.record.as_ref()?;
        let flow: &FlowRecord = record.flows.get(usize::from(index))?;
        let warm_up = flow.stage(Stage::WarmUp);
        Some(RepeatChecks {
            pace: flow.pace.as_ref()?,
            warm_up_ns: warm_up.map_or(0, |span| span.length_ns()),
            hold: flow.stage(Stage::Hold)?,
            compiling: record.cpu.as_ref().and_then(compiling),
        })
    }

    fn rates(&self) -> Vec<f64> {
        self.pace.rates(self.hold.start_ns, self.hold.end_ns)
    }

    fn log_delays(&self) -> Vec<f64> {
        self.pace.log_delays(self.hold.start_ns, self.hold.end_ns)
    }

    fn check(&self, is_closed: bool, limit_ns: Option<u64>) -> RepeatSteadiness {
        let logs = self.log_delays();
        RepeatSteadiness {
            warm_up_ns: self.warm_up_ns,
            limit_reached: limit_ns.is_some_and(|limit_ns| self.warm_up_ns >= limit_ns),
            throughput: check(&self.rates(), Better::Higher),
            latency: (!is_closed && !logs.is_empty()).then(|| check_logs(&logs, Better::Lower)),
            compiling: self.compiling,
        }
    }

    fn rate(&self) -> f64 {
        mean(self.rates()).unwrap_or(0.0)
    }

    /// The geometric mean of the delays.
    fn delay(&self) -> Option<f64> {
        mean(self.log_delays()).map(f64::exp)
    }
}

fn compiling(cpu: &CpuRecord) -> Option<Compiling> {
    let compiling_ns = cpu.target_compiling_ns? as f64;
    let all_ns = cpu.target_process_ns.filter(|ns| *ns > 0)? as f64;
    Some(Compiling {
        part: compiling_ns / all_ns,
        cores: compiling_ns / cpu.span_ns.max(1) as f64,
    })
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
        // Nor is one of which nothing is known: every other tenth of a second has nine times as many records, and only
        // a change by more than a third would show.
        let noisy = pace((0..40).map(|bin| 1_000 + 8_000 * (bin / 3 % 2)));
        assert!(!is_warm(&noisy, true, 4 * second));
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
