//! What differs between the trials of one scenario. One test separates real differences from chance over all trials.
//!
//! The repeats of trials take turns within one run, so nothing is assumed between them. Of each figure the lowest trial
//! is compared with the highest. These two are extremes, so any pair could have been them: the chance is taken times
//! the number of pairs (Bonferroni), and then adjusted over all figures of the scenario by Holm's method.
//!
//! Of a trial and the one that it is compared with, the main figure is what the question asks for. It is adjusted over
//! the pairs of the scenario only, and the other figures among themselves.

use schemars::JsonSchema;
use serde::Serialize;

use super::figures::{self, ComparedFigure};
use super::holm::adjusted;
use super::power::{MoreNeeded, SampleSize, more_needed};
use super::row::{Caveat, Cell, FigureKind};
use super::welch::{self, ALPHA, RunSpread};
use crate::statistics::{FigureRatio, Interval};
use crate::summary::{GeneratorState, Summary, TrialSummary};

/// Differences that are smaller are none: one of a thousand.
const RESOLUTION: f64 = 0.001;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UndecidedCause {
    /// A trial has one repeat.
    OneRepeat,
    /// A percentile has fewer than 100 samples beyond it.
    FewSamples,
    /// The generator was the limit in a trial, or late.
    Generator,
    /// Other programs or the hypervisor delayed the load of a trial.
    OtherPrograms,
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

    /// A point divided by another one, with the 95 % interval of this comparison alone; `None` where a repeat is zero,
    /// or one of the two has a single repeat.
    pub fn ratio(&self, point: usize, base: usize) -> Option<FigureRatio> {
        let found = ratio(self.points.get(point)?, self.points.get(base)?)?;
        Some(FigureRatio {
            ratio: found.ratio,
            interval: found.interval,
        })
    }
}

/// The figures of trials that have any, flow by flow, then what a record cost.
pub(crate) fn trial_figures(summary: &Summary, trials: &[&TrialSummary]) -> Vec<TrialFigure> {
    let mut figures = FigureGroup::of(summary, trials);
    let tests = figures.before_statistics(trials);
    judge(std::slice::from_mut(&mut figures), &[(0, tests)]);
    figures.finished()
}

/// The figures of pairs of trials, each with the trial that is compared with first. The main figure comes first.
pub(crate) fn pair_figures(
    summary: &Summary,
    pairs: &[[&TrialSummary; 2]],
) -> Vec<Vec<TrialFigure>> {
    let mut groups = Vec::new();
    let (mut of_main, mut of_others) = (Vec::new(), Vec::new());
    for (index, pair) in pairs.iter().enumerate() {
        let mut group = FigureGroup::of(summary, pair);
        let tests = group.before_statistics(pair);
        let main = group.main();
        let (main, others): (Tests, Tests) = tests
            .into_iter()
            .partition(|(figure, _)| Some(*figure) == main);
        of_main.push((index, main));
        of_others.push((index, others));
        groups.push(group);
    }
    judge(&mut groups, &of_main);
    judge(&mut groups, &of_others);
    let finished = groups.into_iter().map(|group| {
        let mut figures = group.finished();
        figures.sort_by_key(TrialFigure::rank);
        figures
    });
    finished.collect()
}

impl TrialFigure {
    /// The place of a figure in an answer: first what the target decided, rates before times before costs.
    pub fn rank(&self) -> u8 {
        let is_set = self.finding == TrialFinding::SetByLoad;
        match self.figure {
            FigureKind::Capacity | FigureKind::CapacityTypical => 0,
            FigureKind::Throughput if !is_set => 0,
            FigureKind::ThroughputBytes if !is_set => 1,
            FigureKind::LatencyP99 => 2,
            FigureKind::LatencyP50 => 3,
            FigureKind::LatencyP999 => 4,
            FigureKind::WireBytes => 5,
            FigureKind::TargetCpu => 6,
            FigureKind::GeneratorCpu => 7,
            FigureKind::PerPrice | FigureKind::Lost => 8,
            FigureKind::Throughput | FigureKind::ThroughputBytes => 9,
        }
    }
}

/// Positions of figures in their group, and the test of each.
type Tests = Vec<(usize, Test)>;

/// The figures of some trials, each with the marks of all of its points.
struct FigureGroup(Vec<(TrialFigure, Vec<Caveat>)>);

impl FigureGroup {
    fn of(summary: &Summary, trials: &[&TrialSummary]) -> FigureGroup {
        FigureGroup(collected(summary, trials))
    }

    /// Decides what needs no statistics, and gives the tests of the rest.
    fn before_statistics(&mut self, trials: &[&TrialSummary]) -> Tests {
        let mut tests = Vec::new();
        for (index, (figure, marks)) in self.0.iter_mut().enumerate() {
            if let Some(finding) = before_statistics(figure, marks, trials) {
                figure.finding = finding;
            } else if let Some(test) = Test::of(figure) {
                tests.push((index, test));
            } else {
                figure.finding = TrialFinding::Undecided(UndecidedCause::Zero);
            }
        }
        tests
    }

    /// The position of the main figure.
    fn main(&self) -> Option<usize> {
        let figures = self.0.iter().enumerate();
        let main = figures.min_by_key(|(_, (figure, _))| figure.rank());
        main.map(|(index, _)| index)
    }

    fn finished(self) -> Vec<TrialFigure> {
        let figures = self.0.into_iter().map(|(figure, _)| figure);
        figures
            .filter(|figure| figure.finding != TrialFinding::Counted || has_any(figure))
            .collect()
    }
}

/// Judges tests as one family; each list belongs to the group at its position.
fn judge(groups: &mut [FigureGroup], tests: &[(usize, Tests)]) {
    let all = || {
        let of_groups = tests.iter();
        of_groups.flat_map(|(group, tests)| tests.iter().map(move |test| (*group, test)))
    };
    let chances: Vec<f64> = all().map(|(_, (_, test))| test.p).collect();
    let alpha = ALPHA / chances.len().max(1) as f64;
    for ((group, (index, test)), p) in all().zip(adjusted(&chances)) {
        let figures = groups.get_mut(group);
        if let Some((figure, _)) = figures.and_then(|group| group.0.get_mut(*index)) {
            figure.finding = test.finding(figure, p, alpha);
        }
    }
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
            flows.any(|flow| Some(&flow.name) == figure.flow.as_ref() && flow.has_kept_rate())
        });
    if is_set_by_load {
        return Some(TrialFinding::SetByLoad);
    }
    let is_limited =
        figure.figure.hangs_on_generator() && marks.contains(&Caveat::GeneratorLimited);
    let is_late = figure.figure.is_latency() && marks.contains(&Caveat::GeneratorLate);
    // By which trials: whoever else delayed the load, the generator did not.
    let is_own = || {
        let mut trials = figure
            .points
            .iter()
            .filter_map(|point| trials.get(point.trial));
        trials.any(|trial| trial.generator.word == GeneratorState::Late)
    };
    let cause = if is_limited || is_late && is_own() {
        UndecidedCause::Generator
    } else if is_late {
        UndecidedCause::OtherPrograms
    } else if figure.points.iter().any(|point| point.values.len() < 2) {
        UndecidedCause::OneRepeat
    } else if marks.contains(&Caveat::FewSamples) {
        UndecidedCause::FewSamples
    } else {
        return None;
    };
    Some(TrialFinding::Undecided(cause))
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
