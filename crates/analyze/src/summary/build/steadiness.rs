//! Whether flows were steady: within each hold, and from repeat to repeat.

use kgauge_scenario::{Shape, Trial};

use super::hold::MeasuredRepeats;
use crate::statistics::{
    Better, Steadiness, SteadinessCheck, TOGETHER_MIN, check, check_logs, check_repeats,
    check_repeats_of_logs, mean, trend,
};
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
    let throughputs = repeats.iter().map(|repeat| Some(repeat.throughput));
    let rates: Vec<Vec<f64>> = seen.iter().map(RepeatChecks::rates).collect();
    let rate = |rates: &Vec<f64>| Some(mean(rates.iter().copied()).unwrap_or(0.0));
    let latencies = repeats.iter().map(|repeat| repeat.latency);
    let logs: Vec<Vec<f64>> = seen.iter().map(RepeatChecks::log_delays).collect();
    // The geometric mean of the delays.
    let delay = |logs: &Vec<f64>| mean(logs.iter().copied()).map(f64::exp);
    let steadiness = FlowSteadiness {
        verdict: Steadiness::default(),
        throughput_over_repeats: over_repeats(throughputs.clone(), &rates, rate),
        latency_over_repeats: over_repeats(latencies.clone(), &logs, delay),
        throughput_together: is_together(throughputs)
            .then(|| check_repeats(&rates, Better::Higher))
            .flatten(),
        latency_together: is_together(latencies)
            .then(|| check_repeats_of_logs(&logs, Better::Lower))
            .flatten(),
        repeats,
    };
    (!steadiness.repeats.is_empty()).then(|| steadiness.judged())
}

/// The change from the first repeat to the last, of a figure that every repeat has.
fn over_repeats(
    checks: impl Iterator<Item = Option<SteadinessCheck>>,
    series: &[Vec<f64>],
    figure: impl Fn(&Vec<f64>) -> Option<f64>,
) -> Option<f64> {
    let figures = series.iter().zip(checks);
    let figures: Option<Vec<_>> = figures
        .map(|(values, check)| Some((figure(values)?, check?)))
        .collect();
    trend(&figures?)
}

/// Whether repeats are checked together: three and more of which each has the figure, and two that alone show nothing.
fn is_together(checks: impl Iterator<Item = Option<SteadinessCheck>>) -> bool {
    let checks: Option<Vec<SteadinessCheck>> = checks.collect();
    let Some(checks) = checks else { return false };
    let worst = checks.iter().map(|check| check.steadiness).max();
    checks.len() >= TOGETHER_MIN || worst == Some(Steadiness::Undecided)
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
        let pace = flow.pace.as_ref()?;
        let mut hold = flow.stage(Stage::Hold)?;
        // With fewer clients there are fewer records: no change of the target.
        if let Some(done_ns) = pace.first_done_ns {
            hold.end_ns = hold.end_ns.min(done_ns).max(hold.start_ns);
        }
        Some(RepeatChecks {
            pace,
            warm_up_ns: warm_up.map_or(0, |span| span.length_ns()),
            hold,
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
}
