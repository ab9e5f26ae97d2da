//! A comparison as a gate of an automatic build: is any figure worse than in the baseline by more than is allowed?
//!
//! A figure *passes* where a change for the worse of the allowed size is excluded: the 95 % interval of the ratio does
//! not contain it, and such a change would have been found in 80 of 100 comparisons. It is *worse* where it is worse by
//! the allowed size or more and chance does not explain it, Holm's method over the figures of a run. Everything else is
//! *undecided*, and no gate opens on it. `docs/decisions/intervals.md` has how often which is the case.

use super::holm::adjusted;
use super::power::{LogRatioError, SampleSize, needed};
use super::row::{
    AgainstReason, Caveat, Cell, ComparisonRow, DifferenceVerdict, FigureKind, MissingFigure,
};
use super::welch::ALPHA;
use super::{Comparison, DifferenceKind, RunDifference};
use crate::statistics::Interval;
use kgauge_results::run::RunStatus;

/// The figures that a gate judges.
#[derive(Clone, Debug, PartialEq)]
pub struct GateRequest {
    /// How much worse a figure may be, as a fraction: 0.1 for 10 %.
    pub allowed: f64,
    /// The figures; empty for [`GateRequest::USUAL`].
    pub figures: Vec<GateChoice>,
}

/// A figure that a gate judges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateChoice {
    /// Which.
    pub figure: FigureKind,
    /// How much worse it may be, if not as much as the others.
    pub allowed: Option<f64>,
}

impl GateRequest {
    /// The figures of a gate by default: capacities, rates, latencies where a schedule sets the rate, and losses.
    pub const USUAL: [FigureKind; 5] = [
        FigureKind::Capacity,
        FigureKind::Throughput,
        FigureKind::LatencyP50,
        FigureKind::LatencyP99,
        FigureKind::Lost,
    ];

    /// How much worse a figure may be; `None` where the gate does not look at it.
    fn allowed(&self, figure: FigureKind) -> Option<f64> {
        if self.figures.is_empty() {
            return Self::USUAL.contains(&figure).then_some(self.allowed);
        }
        let mut figures = self.figures.iter();
        let choice = figures.find(|choice| choice.figure == figure)?;
        Some(choice.allowed.unwrap_or(self.allowed))
    }
}

/// What a gate found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gate {
    /// Every checked figure of every run.
    pub figures: Vec<GateFigure>,
    /// Runs of which no figure could be judged.
    pub unjudged: Vec<String>,
}

/// One figure of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct GateFigure {
    /// The run's label.
    pub run: String,
    /// The trial and flow: `message-size, 10 B, writers`.
    pub place: String,
    /// The figure.
    pub figure: FigureKind,
    /// How much worse it may be.
    pub allowed: f64,
    /// This run / baseline.
    pub ratio: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The smallest change for the worse that would have been found in 80 of 100 such comparisons, as a fraction.
    pub detectable: Option<f64>,
    /// Repeats of each run that would find the allowed change.
    pub repeats: Option<u32>,
    /// Runs of each side that would, where more repeats would not.
    pub runs: Option<u32>,
    /// The verdict.
    pub word: GateVerdict,
    /// Why it was not judged, or what was counted; none where the numbers say it.
    pub reason: Option<AgainstReason>,
}

/// What a gate does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateVerdict {
    /// A change of the allowed size is excluded.
    Passed,
    /// Neither that nor a change is shown.
    Undecided,
    /// Worse by the allowed size or more.
    Worse,
}

impl Gate {
    /// The gate's own word: the gravest of its figures.
    pub fn word(&self) -> GateVerdict {
        let words = self.figures.iter().map(|figure| figure.word);
        let unjudged = self.unjudged.iter().map(|_| GateVerdict::Undecided);
        words
            .chain(unjudged)
            .max()
            .unwrap_or(GateVerdict::Undecided)
    }
}

impl Comparison {
    /// Judges the figures of all runs against the baseline.
    pub fn gate(&self, request: &GateRequest) -> Gate {
        let mut gate = Gate::default();
        for (column, run) in self.runs.iter().enumerate() {
            if column == self.baseline as usize {
                continue;
            }
            let found = self.gate_of(column, request);
            if found.is_empty() {
                gate.unjudged.push(run.label.clone());
            }
            gate.figures.extend(found);
        }
        gate
    }

    fn gate_of(&self, column: usize, request: &GateRequest) -> Vec<GateFigure> {
        let mut figures: Vec<GateFigure> = Vec::new();
        // Those that statistics judge, by their positions, and how far for the worse.
        let mut judged: Vec<(usize, LogRatioError, f64, SampleSize)> = Vec::new();
        // Those that a reason leaves undecided although their spread is known.
        let mut doubted: Vec<(usize, LogRatioError)> = Vec::new();
        for row in &self.rows {
            let allowed = request.allowed(row.figure);
            let (Some(allowed), Some(cell)) = (allowed, row.cells.get(column)) else {
                continue;
            };
            let Some(mut figure) = self.figure(row, cell, column, allowed) else {
                continue;
            };
            let against = cell.against.as_ref();
            let known = against.and_then(|against| Some((against, against.error?, against.ratio?)));
            if let Some((against, error, ratio)) = known {
                if against.p.is_none() {
                    let is_in_doubt = against.word == DifferenceVerdict::Undecided;
                    doubted.extend(is_in_doubt.then_some((figures.len(), error)));
                    figures.push(figure);
                    continue;
                }
                let worse = if row.more_is_better {
                    -ratio.ln()
                } else {
                    ratio.ln()
                };
                figure.reason = None;
                judged.push((figures.len(), error, worse, measured(self, row, column)));
            }
            figures.push(figure);
        }
        let chances: Vec<f64> = judged
            .iter()
            .map(|(_, error, worse, _)| error.chance(*worse))
            .collect();
        let alpha = ALPHA / chances.len().max(1) as f64;
        for ((index, error, worse, measured), p) in judged.into_iter().zip(adjusted(&chances)) {
            if let Some(figure) = figures.get_mut(index) {
                figure.judge(error, worse, p, alpha, measured);
            }
        }
        for (index, error) in doubted {
            if let Some(figure) = figures.get_mut(index) {
                figure.detectable = Some(figure.as_part(error.detectable(alpha)));
            }
        }
        figures
    }

    /// A figure before statistics: undecided, unless it is a count. `None` where it is not one to judge.
    fn figure(
        &self,
        row: &ComparisonRow,
        cell: &Cell,
        column: usize,
        allowed: f64,
    ) -> Option<GateFigure> {
        let (run, against) = (self.runs.get(column)?, cell.against.as_ref()?);
        let base = row.cells.get(self.baseline as usize)?;
        // At full speed it is the producer's own buffer.
        let of_buffer = |cell: &Cell| cell.marks.contains(&Caveat::ClosedLoop);
        if row.figure.is_latency() && (of_buffer(cell) || of_buffer(base)) {
            return None;
        }
        let never_started =
            cell.missing == Some(MissingFigure::NotRun) && run.run_status == RunStatus::Complete;
        let is_nowhere = base.estimate.is_none() && cell.estimate.is_none();
        if is_nowhere || never_started {
            return None;
        }
        let word = match (row.figure, against.word) {
            (FigureKind::Lost, DifferenceVerdict::Larger) => GateVerdict::Worse,
            (FigureKind::Lost, DifferenceVerdict::Smaller | DifferenceVerdict::NoDifference) => {
                GateVerdict::Passed
            }
            _ => GateVerdict::Undecided,
        };
        Some(GateFigure {
            run: run.label.clone(),
            place: place(row),
            figure: row.figure,
            allowed,
            ratio: against.ratio,
            interval: against.interval,
            detectable: None,
            repeats: None,
            runs: None,
            word,
            reason: Some(against.reason.clone()),
        })
    }

    /// Why runs do not measure the same at all: one target is the embedded cluster, another is not.
    pub fn unlike(&self) -> Option<&RunDifference> {
        let mut found = self.differences.iter();
        found.find(|found| found.bars && found.kind == DifferenceKind::TargetKind)
    }
}

impl GateFigure {
    /// `worse` is the logarithm of the ratio for the worse, `p` its adjusted chance, `alpha` the share of each figure
    /// of the chance of a false alarm.
    fn judge(
        &mut self,
        error: LogRatioError,
        worse: f64,
        p: f64,
        alpha: f64,
        measured: SampleSize,
    ) {
        let allowed = match self.figure.more_is_better() {
            true => -(-self.allowed).ln_1p(),
            false => self.allowed.ln_1p(),
        };
        let detectable = error.detectable(alpha);
        self.detectable = Some(self.as_part(detectable));
        let excluded = worse + error.reach(ALPHA) < allowed;
        self.word = if worse >= allowed && p < ALPHA {
            GateVerdict::Worse
        } else if excluded && detectable <= allowed {
            GateVerdict::Passed
        } else {
            GateVerdict::Undecided
        };
        if self.word == GateVerdict::Undecided && detectable > allowed {
            (self.repeats, self.runs) = needed(error, alpha, measured, allowed);
        }
    }

    /// The logarithm of a ratio for the worse as a fraction: of a drop, or of a rise.
    fn as_part(&self, logarithm: f64) -> f64 {
        match self.figure.more_is_better() {
            true => -(-logarithm).exp_m1(),
            false => logarithm.exp_m1(),
        }
    }
}

/// What the side with less was measured with.
pub(super) fn measured(comparison: &Comparison, row: &ComparisonRow, column: usize) -> SampleSize {
    let cells = [comparison.baseline as usize, column].map(|index| row.cells.get(index));
    of_cells(cells.into_iter().flatten())
}

/// What the one of some cells with less was measured with.
pub(super) fn of_cells<'a>(cells: impl Iterator<Item = &'a Cell> + Clone) -> SampleSize {
    let runs = |cell: &Cell| cell.values_of_runs.len() as u32;
    let fewest = cells.clone().map(runs).min().unwrap_or(0);
    match fewest >= 2 {
        true => SampleSize::Runs(fewest),
        false => SampleSize::Repeats(cells.map(|cell| cell.repeats).min().unwrap_or(0)),
    }
}

/// `message-size, 10 B, writers`.
fn place(row: &ComparisonRow) -> String {
    let flow = row.flow.as_deref().unwrap_or_default();
    let parts = [&*row.scenario, &*row.trial, flow];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}
