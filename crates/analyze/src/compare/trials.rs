//! What differs between the trials of one scenario. One test separates real differences from chance over all trials.
//!
//! The repeats of trials take turns within one run, so nothing is assumed between them. Of each figure the lowest trial
//! is compared with the highest. These two are extremes, so any pair could have been them: the chance is taken times
//! the number of pairs (Bonferroni), and then adjusted over all figures of the scenario by Holm's method.

use super::figures::{self, ComparedFigure};
use super::holm::adjusted;
use super::power::{MoreNeeded, SampleSize, more_needed};
use super::row::{Caveat, Cell, FigureKind};
use super::welch::{self, ALPHA, RunSpread};
use crate::statistics::Interval;
use crate::summary::{FlowSummary, Summary, TrialSummary};

/// Differences that are smaller are none: one of a thousand.
const RESOLUTION: f64 = 0.001;
/// A load that was acked to this part while it lasted was kept: then the load sets the throughput, and not the target.
const KEPT_PART: f64 = 0.99;
/// A scenario of more trials is compared by its first ones: pairs grow with the square.
const TRIALS_MAX: usize = 200;

/// One figure of one flow over the trials of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialFigure {
    /// The flow; `None` for what a record of the whole trial cost.
    pub flow: Option<String>,
    /// The figure.
    pub figure: FigureKind,
    /// The trials that have it, in the order given.
    pub points: Vec<TrialPoint>,
    /// The result of the comparison.
    pub finding: TrialFinding,
}

/// A figure of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialPoint {
    /// Position of the trial among those given.
    pub trial: usize,
    /// The figure.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// Each repeat's value.
    pub values: Vec<f64>,
}

/// The result of comparing a figure over trials. Positions are those in `points`.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialFinding {
    /// The lowest and the highest differ, and not by chance.
    Differs {
        /// The one with the least.
        lowest: usize,
        /// The one with the most.
        highest: usize,
        /// How many times the lowest the highest is, of geometric means over the repeats.
        times: f64,
        /// Those that chance alone could tell from the best one.
        beside_best: Vec<usize>,
    },
    /// Chance explains what differs.
    NoDifference {
        /// The smallest change between two trials, as a fraction, that 80 of 100 such runs would show.
        detectable: f64,
        /// What would find a smaller one.
        more_needed: Option<MoreNeeded>,
    },
    /// The load set it, and the target kept up.
    SetByLoad,
    /// A count that is not the same in all trials.
    Counted,
    /// Inconclusive.
    Undecided(UndecidedCause),
}

/// Why a figure is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UndecidedCause {
    /// A trial has one repeat.
    OneRepeat,
    /// A percentile has fewer than 100 samples beyond it.
    FewSamples,
    /// The generator was the limit in a trial, or late.
    Generator,
    /// A repeat did nothing.
    Zero,
}

impl TrialFigure {
    /// The position of the best point.
    pub fn best(&self) -> Option<usize> {
        match (&self.finding, self.figure.more_is_better()) {
            (TrialFinding::Differs { highest, .. }, true) => Some(*highest),
            (TrialFinding::Differs { lowest, .. }, false) => Some(*lowest),
            _ => None,
        }
    }
}

/// The figures of trials that have any, flow by flow, then what a record cost.
pub fn trial_figures(summary: &Summary, trials: &[&TrialSummary]) -> Vec<TrialFigure> {
    let mut figures = collected(summary, trials);
    let mut tests: Vec<(usize, Test)> = Vec::new();
    for (index, (figure, marks)) in figures.iter_mut().enumerate() {
        if let Some(finding) = before_statistics(figure, marks, trials) {
            figure.finding = finding;
        } else if let Some(test) = Test::of(figure) {
            tests.push((index, test));
        } else {
            figure.finding = TrialFinding::Undecided(UndecidedCause::Zero);
        }
    }
    let chances: Vec<f64> = tests.iter().map(|(_, test)| test.p).collect();
    let alpha = ALPHA / chances.len().max(1) as f64;
    for ((index, test), p) in tests.into_iter().zip(adjusted(&chances)) {
        if let Some((figure, _)) = figures.get_mut(index) {
            figure.finding = test.finding(figure, p, alpha);
        }
    }
    let figures = figures.into_iter().map(|(figure, _)| figure);
    figures
        .filter(|figure| figure.finding != TrialFinding::Counted || has_any(figure))
        .collect()
}

fn has_any(figure: &TrialFigure) -> bool {
    figure.points.iter().any(|point| point.value > 0.0)
}

/// Every figure with its points and the marks of all of them. Left out is what says nothing beside another figure, the
/// time that a closed loop spends in its own buffer, and what was measured while the target was not steady.
fn collected(summary: &Summary, trials: &[&TrialSummary]) -> Vec<(TrialFigure, Vec<Caveat>)> {
    let mut figures: Vec<(TrialFigure, Vec<Caveat>)> = Vec::new();
    for (index, trial) in trials.iter().take(TRIALS_MAX).enumerate() {
        if trial.repeats_measured == 0 {
            continue;
        }
        for ComparedFigure {
            flow, kind, cell, ..
        } in figures::of_trial(summary, trial)
        {
            // Within one run it says what records a second say.
            let says_nothing = kind == FigureKind::PerPrice;
            let of_buffer = kind.is_latency() && cell.marks.contains(&Caveat::ClosedLoop);
            let not_steady = cell.marks.contains(&Caveat::NotSteady);
            let is_left_out = says_nothing || of_buffer || not_steady;
            let (Some(value), false) = (cell.estimate, is_left_out) else {
                continue;
            };
            let mut known = figures.iter_mut();
            let known = known.find(|(known, _)| known.flow == flow && known.figure == kind);
            let Cell {
                interval,
                values,
                marks,
                ..
            } = cell;
            let point = TrialPoint {
                trial: index,
                value,
                interval,
                values,
            };
            match known {
                Some((figure, all)) => {
                    figure.points.push(point);
                    all.extend(marks);
                }
                None => figures.push((
                    TrialFigure {
                        flow,
                        figure: kind,
                        points: vec![point],
                        finding: TrialFinding::Counted,
                    },
                    marks,
                )),
            }
        }
    }
    figures.retain(|(figure, _)| figure.points.len() >= 2);
    figures
}

/// What is known of a figure without statistics; `None` where these decide.
fn before_statistics(
    figure: &TrialFigure,
    marks: &[Caveat],
    trials: &[&TrialSummary],
) -> Option<TrialFinding> {
    if figure.figure == FigureKind::Lost {
        return Some(TrialFinding::Counted);
    }
    let is_rate = matches!(
        figure.figure,
        FigureKind::Throughput | FigureKind::ThroughputBytes
    );
    let is_set_by_load = is_rate
        && figure.points.iter().all(|point| {
            let flows = trials.get(point.trial).map(|trial| trial.flows.as_slice());
            let mut flows = flows.unwrap_or_default().iter();
            flows.any(|flow| Some(&flow.name) == figure.flow.as_ref() && has_kept(flow))
        });
    if is_set_by_load {
        return Some(TrialFinding::SetByLoad);
    }
    let is_limited =
        figure.figure.hangs_on_generator() && marks.contains(&Caveat::GeneratorLimited);
    let is_late = figure.figure.is_latency() && marks.contains(&Caveat::GeneratorLate);
    let cause = if is_limited || is_late {
        UndecidedCause::Generator
    } else if figure.points.iter().any(|point| point.values.len() < 2) {
        UndecidedCause::OneRepeat
    } else if marks.contains(&Caveat::FewSamples) {
        UndecidedCause::FewSamples
    } else {
        return None;
    };
    Some(TrialFinding::Undecided(cause))
}

fn has_kept(flow: &FlowSummary) -> bool {
    let Some(throughput) = flow.throughput.as_ref().filter(|_| flow.shape.is_some()) else {
        return false;
    };
    let required = flow.records.scheduled as f64 * KEPT_PART;
    // What piled up in a buffer was acked later.
    let in_hold = throughput.records_per_s.mean * throughput.hold_s;
    !flow.closed_loop && flow.records.skipped == 0 && in_hold >= required
}

/// The lowest trial against the highest.
struct Test {
    lowest: usize,
    highest: usize,
    ratio: welch::Ratio,
    pairs: f64,
    /// Over all pairs of trials.
    p: f64,
}

impl Test {
    fn of(figure: &TrialFigure) -> Option<Test> {
        let points = || figure.points.iter().enumerate();
        let (lowest, low) = points().min_by(|one, next| one.1.value.total_cmp(&next.1.value))?;
        let (highest, high) = points()
            .rev()
            .max_by(|one, next| one.1.value.total_cmp(&next.1.value))?;
        // All are alike.
        let highest = if lowest == highest {
            figure.points.len() - 1
        } else {
            highest
        };
        let ratio = ratio(figure.points.get(highest).unwrap_or(high), low)?;
        let count = figure.points.len();
        let pairs = (count * (count - 1) / 2).max(1) as f64;
        Some(Test {
            lowest,
            highest,
            ratio,
            pairs,
            p: (ratio.p * pairs).min(1.0),
        })
    }

    fn finding(&self, figure: &TrialFigure, p: f64, alpha: f64) -> TrialFinding {
        if p >= ALPHA {
            let alpha = alpha / self.pairs;
            let repeats = figure.points.iter().map(|point| point.values.len());
            let repeats = repeats.min().unwrap_or(0) as u32;
            return TrialFinding::NoDifference {
                detectable: self.ratio.error.detectable(alpha).exp_m1(),
                more_needed: more_needed(self.ratio.error, alpha, SampleSize::Repeats(repeats)),
            };
        }
        let best = match figure.figure.more_is_better() {
            true => self.highest,
            false => self.lowest,
        };
        let others = figure.points.len().saturating_sub(1).max(1) as f64;
        let is_beside = |index: &usize| {
            let both = figure.points.get(*index).zip(figure.points.get(best));
            let found = both.and_then(|(one, best)| ratio(one, best));
            *index != best && found.is_some_and(|found| found.p * others >= ALPHA)
        };
        TrialFinding::Differs {
            lowest: self.lowest,
            highest: self.highest,
            times: self.ratio.ratio,
            beside_best: (0..figure.points.len()).filter(is_beside).collect(),
        }
    }
}

fn ratio(one: &TrialPoint, base: &TrialPoint) -> Option<welch::Ratio> {
    let between = RunSpread::Assumed(0.0);
    welch::ratio(&[&one.values], &[&base.values], between, RESOLUTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(kind: FigureKind, trials: &[&[f64]]) -> TrialFigure {
        let point = |(trial, values): (usize, &&[f64])| TrialPoint {
            trial,
            value: values.iter().sum::<f64>() / values.len() as f64,
            interval: None,
            values: values.to_vec(),
        };
        TrialFigure {
            flow: None,
            figure: kind,
            points: trials.iter().enumerate().map(point).collect(),
            finding: TrialFinding::Counted,
        }
    }

    fn found(figure: &TrialFigure) -> TrialFinding {
        let test = Test::of(figure).unwrap();
        test.finding(figure, test.p, ALPHA)
    }

    #[test]
    fn the_best_is_named_with_those_that_chance_tells_from_it() {
        let rates: [&[f64]; 4] = [
            &[100.0, 102.0, 98.0],
            &[300.0, 310.0, 290.0],
            &[305.0, 295.0, 303.0],
            &[200.0, 205.0, 195.0],
        ];
        let mut of_rate = figure(FigureKind::Throughput, &rates);
        of_rate.finding = found(&of_rate);
        let TrialFinding::Differs {
            times, beside_best, ..
        } = &of_rate.finding
        else {
            panic!("{of_rate:?}");
        };
        assert!((times - 3.01).abs() < 0.02, "{times}");
        assert_eq!(
            (of_rate.best(), beside_best.as_slice()),
            (Some(2), &[1][..])
        );
        // Of times the least is the best.
        let mut of_time = figure(FigureKind::LatencyP50, &rates);
        of_time.finding = found(&of_time);
        assert_eq!(of_time.best(), Some(0));
    }

    #[test]
    fn no_difference_says_what_would_have_shown() {
        let times: [&[f64]; 2] = [&[100.0, 130.0, 80.0], &[120.0, 95.0, 150.0]];
        let TrialFinding::NoDifference {
            detectable,
            more_needed,
        } = found(&figure(FigureKind::LatencyP99, &times))
        else {
            panic!("three repeats that spread by a quarter tell nothing");
        };
        assert!(detectable > 0.5, "{detectable}");
        let more = more_needed.unwrap();
        assert!(
            more.change < detectable && more.repeats > Some(3),
            "{more:?}"
        );
        let alike: [&[f64]; 3] = [&[5.0, 5.0], &[5.0, 5.0], &[5.0, 5.0]];
        assert!(matches!(
            found(&figure(FigureKind::WireBytes, &alike)),
            TrialFinding::NoDifference { .. }
        ));
    }
}
