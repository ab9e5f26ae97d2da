//! Figures over all trials of a scenario: their course with one setting or over time, and which trial is best.

use schemars::JsonSchema;
use serde::Serialize;

use super::AnswerFacts;
use super::factor_values::FactorValues;
use super::figures::{FigureFinding, can_be_main};
use crate::compare::{FigureKind, TrialFigure, TrialFinding, trial_figures};
use crate::statistics::{Interval, SteadinessCheck};
use crate::summary::{FlowKind, FlowSummary, GeneratorState, SteadyFigure, Summary, TrialSummary};

/// A curve of times leaves its floor where a time reaches this many times the best.
const KNEE: f64 = 2.0;

/// A figure over the trials of a scenario. Trials are named by their index in the plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FigureCourse {
    /// The flow; null for a figure of the whole trial.
    pub flow: Option<String>,
    /// The figure.
    pub figure: FigureKind,
    /// The trials that have it: of a trend by rising values of the setting, otherwise in the order of the plan.
    pub points: Vec<CoursePoint>,
    /// The result of comparing the lowest with the highest.
    pub finding: FigureFinding,
    /// How many times the lowest the highest is; null if they do not differ.
    pub times: Option<f64>,
    /// The best trial; null if trials do not differ.
    pub best: Option<u32>,
    /// The worst trial; null if trials do not differ.
    pub worst: Option<u32>,
    /// Trials that chance alone may separate from the best.
    pub beside_best: Vec<u32>,
    /// The best beside the next one; null if trials do not differ.
    pub lead: Option<TrialLead>,
    /// Of a trend, the direction; null if trials do not differ.
    pub direction: Option<CourseDirection>,
    /// Of a trend, where more of the setting stops to help. Of times: the last trial before one that takes more than
    /// twice the best time. Of rates: the first trial that chance alone may separate from the best, if that is another
    /// one. Null without such a trial.
    pub knee: Option<u32>,
}

/// A figure of one trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CoursePoint {
    /// The trial.
    pub trial: u32,
    /// The value.
    pub value: f64,
    /// Its 95 % interval over the repeats; null with one repeat.
    pub interval: Option<Interval>,
}

/// The best trial beside the next one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrialLead {
    /// The next one.
    pub trial: u32,
    /// Best divided by next.
    pub ratio: f64,
    /// The 95 % interval of the ratio, of this comparison alone.
    pub interval: Interval,
}

/// The direction of a figure over rising values of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CourseDirection {
    /// From the first value to the last.
    Rises,
    /// From the first value to the last.
    Falls,
    /// The highest lies between.
    Peaks,
    /// The lowest lies between.
    Dips,
}

/// Which of the planned rates the target kept up with, by rising rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeptRates {
    /// The last trial before the first one that was missed; null if the lowest rate was missed.
    pub up_to: Option<u32>,
    /// The first trial that was missed; null if none was.
    pub missed_at: Option<u32>,
}

/// The throughput of a flow within the hold of one trial.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimeTrend {
    /// The flow.
    pub flow: String,
    /// What it does.
    pub flow_kind: FlowKind,
    /// The result, of the repeat with the largest change.
    pub check: SteadinessCheck,
    /// Measured repeats.
    pub repeats: u32,
    /// Length of the hold of one repeat in seconds, a mean.
    pub seconds: f64,
    /// Bytes of keys, values and headers meanwhile.
    pub bytes: f64,
}

/// The course of figures with the one numeric setting, or over time where nothing varies.
pub(super) fn trend(summary: &Summary, trials: &[&TrialSummary]) -> AnswerFacts {
    let Some(values) = FactorValues::of(trials) else {
        let flows = trials.iter().flat_map(|trial| &trial.flows);
        return AnswerFacts::Trend {
            setting: None,
            figures: Vec::new(),
            kept_rates: None,
            over_time: flows.filter_map(over_time).collect(),
        };
    };
    let order = values.order();
    let ordered: Vec<&TrialSummary> = order
        .iter()
        .filter_map(|position| trials.get(*position).copied())
        .collect();
    let is_rate = values.is_rate();
    let mut figures = courses(summary, &ordered);
    for course in &mut figures {
        course.add_trend();
    }
    // Of a rate that is varied the throughput follows.
    figures.retain(|course| !(is_rate && is_throughput(course.figure)));
    AnswerFacts::Trend {
        setting: Some(values.path),
        figures,
        kept_rates: is_rate.then(|| kept_rates(&ordered)),
        over_time: Vec::new(),
    }
}

/// Figures over the trials, the main one first.
pub(super) fn best(summary: &Summary, trials: &[&TrialSummary]) -> Vec<FigureCourse> {
    courses(summary, trials)
}

fn is_throughput(figure: FigureKind) -> bool {
    matches!(figure, FigureKind::Throughput | FigureKind::ThroughputBytes)
}

fn courses(summary: &Summary, trials: &[&TrialSummary]) -> Vec<FigureCourse> {
    let mut figures = trial_figures(summary, trials);
    figures.sort_by_key(TrialFigure::rank);
    let courses = figures
        .iter()
        .map(|figure| FigureCourse::of(figure, trials));
    courses.collect()
}

impl FigureCourse {
    /// The main figure of an answer: the first rate or time, unless that is a percentile with too few samples beside
    /// one with enough.
    pub fn main_of(figures: &[FigureCourse]) -> Option<&FigureCourse> {
        let mains = || figures.iter().filter(|figure| can_be_main(figure.figure));
        let usable = mains().find(|figure| !figure.finding.has_few_samples());
        usable.or_else(|| mains().next())
    }

    fn of(figure: &TrialFigure, trials: &[&TrialSummary]) -> FigureCourse {
        let index_of = |point: usize| {
            let point = figure.points.get(point)?;
            trials.get(point.trial).map(|trial| trial.index)
        };
        let points = figure.points.iter().enumerate();
        let points = points.filter_map(|(position, point)| {
            Some(CoursePoint {
                trial: index_of(position)?,
                value: point.value,
                interval: point.interval,
            })
        });
        let mut course = FigureCourse {
            flow: figure.flow.clone(),
            figure: figure.figure,
            points: points.collect(),
            finding: FigureFinding::from(&figure.finding),
            times: None,
            best: None,
            worst: None,
            beside_best: Vec::new(),
            lead: None,
            direction: None,
            knee: None,
        };
        let TrialFinding::Differs {
            lowest,
            highest,
            times,
            beside_best,
        } = &figure.finding
        else {
            return course;
        };
        let (best, worst) = match figure.figure.more_is_better() {
            true => (*highest, *lowest),
            false => (*lowest, *highest),
        };
        course.times = Some(*times);
        (course.best, course.worst) = (index_of(best), index_of(worst));
        let beside = beside_best.iter();
        course.beside_best = beside.filter_map(|point| index_of(*point)).collect();
        course.lead = lead(figure, best).and_then(|(next, ratio, interval)| {
            Some(TrialLead {
                trial: index_of(next)?,
                ratio,
                interval,
            })
        });
        course
    }

    fn is_differing(&self) -> bool {
        self.finding == FigureFinding::Differs
    }

    /// Direction and knee; the points are in the order of the setting.
    fn add_trend(&mut self) {
        if !self.is_differing() {
            return;
        }
        self.direction = self.direction_of_points();
        self.knee = self.knee_of_points();
    }

    fn direction_of_points(&self) -> Option<CourseDirection> {
        let last = self.points.len().checked_sub(1)?;
        let at = |trial: Option<u32>| {
            let mut points = self.points.iter();
            points.position(|point| Some(point.trial) == trial)
        };
        let (mut best, worst) = (at(self.best)?, at(self.worst)?);
        // An end that chance alone separates from the best is as good.
        for end in [0, last] {
            let is_beside = self
                .points
                .get(end)
                .is_some_and(|point| self.beside_best.contains(&point.trial) && end != worst);
            if is_beside && best != 0 && best != last {
                best = end;
            }
        }
        let (lowest, highest) = match self.figure.more_is_better() {
            true => (worst, best),
            false => (best, worst),
        };
        Some(match (lowest, highest) {
            (0, highest) if highest == last => CourseDirection::Rises,
            (lowest, 0) if lowest == last => CourseDirection::Falls,
            (_, highest) if highest != 0 && highest != last => CourseDirection::Peaks,
            _ => CourseDirection::Dips,
        })
    }

    fn knee_of_points(&self) -> Option<u32> {
        let last = self.points.last()?;
        let best = self
            .points
            .iter()
            .find(|point| Some(point.trial) == self.best)?;
        if self.figure.is_latency() {
            let is_low = |point: &&CoursePoint| point.value <= KNEE * best.value;
            let low = self.points.iter().take_while(is_low).count();
            let knee = self.points.get(low.checked_sub(1)?)?;
            return (low < self.points.len()).then_some(knee.trial);
        }
        if !self.figure.more_is_better() {
            return None;
        }
        let is_best = |point: &&CoursePoint| {
            Some(point.trial) == self.best || self.beside_best.contains(&point.trial)
        };
        let first = self.points.iter().find(is_best)?;
        let is_useful = first.trial != last.trial && Some(first.trial) != self.best;
        is_useful.then_some(first.trial)
    }
}

/// The next one, and the best divided by it.
fn lead(figure: &TrialFigure, best: usize) -> Option<(usize, f64, Interval)> {
    let more_is_better = figure.figure.more_is_better();
    let mut others: Vec<(usize, f64)> = figure
        .points
        .iter()
        .enumerate()
        .filter(|(position, _)| *position != best)
        .map(|(position, point)| (position, point.value))
        .collect();
    others.sort_by(|one, next| match more_is_better {
        true => next.1.total_cmp(&one.1),
        false => one.1.total_cmp(&next.1),
    });
    let (next, _) = others.first()?;
    let found = figure.ratio(best, *next)?;
    Some((*next, found.ratio, found.interval))
}

fn kept_rates(ordered: &[&TrialSummary]) -> KeptRates {
    let measured = ordered.iter().filter(|trial| trial.repeats_measured > 0);
    let has_kept = |trial: &&&TrialSummary| {
        let mut flows = trial.flows.iter().filter(|flow| flow.shape.is_some());
        flows.all(FlowSummary::has_kept_rate)
    };
    let kept = measured.clone().take_while(has_kept).count();
    let at = |position: usize| measured.clone().nth(position);
    // A rate that the generator did not offer says nothing about the target.
    let is_offered = |trial: &&&TrialSummary| match trial.generator.word {
        GeneratorState::Limited | GeneratorState::Late | GeneratorState::Crowded => false,
        GeneratorState::Fine | GeneratorState::Unknown => true,
    };
    KeptRates {
        up_to: kept.checked_sub(1).and_then(at).map(|trial| trial.index),
        missed_at: at(kept).filter(is_offered).map(|trial| trial.index),
    }
}

fn over_time(flow: &FlowSummary) -> Option<TimeTrend> {
    let throughput = flow.throughput.as_ref()?;
    let steadiness = flow.steadiness.as_ref()?;
    let checks = steadiness.deciding(SteadyFigure::Throughput);
    let check = checks.map(|(_, check)| check).max_by(|one, next| {
        let grave = |check: &SteadinessCheck| (check.steadiness.is_usable(), check.change.abs());
        let (one, next) = (grave(one), grave(next));
        next.0.cmp(&one.0).then(one.1.total_cmp(&next.1))
    })?;
    // Each repeat has a topic of its own.
    let repeats = throughput.records_per_s.n.max(1);
    let seconds = throughput.hold_s / f64::from(repeats);
    Some(TimeTrend {
        flow: flow.name.clone(),
        flow_kind: flow.kind,
        check,
        repeats,
        seconds,
        bytes: throughput.logical_bytes_per_s.mean * seconds,
    })
}
