//! Judges each figure against the baseline's.

use super::between::{self, BetweenRuns};
use super::comparability::{DifferenceKind, RunDifference};
use super::gate::of_cells;
use super::holm::adjusted;
use super::power::{SampleSize, more_needed};
use super::row::{
    Against, AgainstReason, Caveat, Cell, ComparisonRow, DifferenceVerdict, FigureKind, MarkedSide,
};
use super::welch::{self, ALPHA, RunSpread, SearchedValues};

/// Less of a difference than 0.1 % is none: so wide are a histogram's buckets, and of other figures
/// nobody would act on it.
pub(super) const RESOLUTION: f64 = 0.001;

/// What is judged by.
pub(super) struct Judge<'a> {
    pub(super) baseline: usize,
    pub(super) differences: &'a [RunDifference],
    /// Taken where runs do not show it themselves.
    pub(super) between_runs: BetweenRuns,
}

impl Judge<'_> {
    /// Fills `against` of all cells. Returns how many comparisons were decided by statistics.
    pub(super) fn all(&self, rows: &mut [ComparisonRow]) -> u32 {
        for row in rows.iter_mut() {
            self.row(row);
        }
        let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let comparisons: usize = (0..columns)
            .map(|column| adjust(rows, self.baseline, column))
            .sum();
        u32::try_from(comparisons).unwrap_or(u32::MAX)
    }

    fn row(&self, row: &mut ComparisonRow) {
        let Some(base) = row.cells.get(self.baseline).cloned() else {
            return;
        };
        let (kind, scenario) = (row.figure, row.scenario.clone());
        for (index, cell) in row.cells.iter_mut().enumerate() {
            if index == self.baseline {
                continue;
            }
            let bars = self.differences.iter().filter(|found| {
                found.bars && found.run as usize == index && found.concerns(&scenario)
            });
            let bars = bars.collect::<Vec<_>>();
            cell.against = Some(against(kind, cell, &base, &bars, self.between_runs));
        }
    }
}

/// Decides all comparisons of one run with the baseline, figures and trials in one family: who reads
/// how two runs stand to each other looks through all of it. Returns how many there are.
fn adjust(rows: &mut [ComparisonRow], baseline: usize, column: usize) -> usize {
    let cells = || rows.iter().filter_map(|row| row.cells.get(column));
    let chances = cells()
        .filter_map(|cell| cell.against.as_ref()?.p)
        .collect::<Vec<_>>();
    let mut in_all = adjusted(&chances).into_iter();
    for row in rows.iter_mut() {
        let kind = row.figure;
        let both = [baseline, column].into_iter();
        let measured = of_cells(both.filter_map(|index| row.cells.get(index)));
        let cell = row.cells.get_mut(column);
        let against = cell.and_then(|cell| cell.against.as_mut());
        if let Some(against) = against.filter(|against| against.p.is_some()) {
            let p_adjusted = in_all.next().unwrap_or(1.0);
            decide(kind, against, p_adjusted, chances.len(), measured);
        }
    }
    chances.len()
}

/// The result for one pair on its own. Where statistics decide, it has `p`, and the word follows when
/// all pairs are known.
fn against(
    kind: FigureKind,
    cell: &Cell,
    base: &Cell,
    bars: &[&RunDifference],
    between_runs: BetweenRuns,
) -> Against {
    let (Some(ours), Some(theirs)) = (cell.estimate, base.estimate) else {
        let is_baseline = cell.estimate.is_some();
        let reason = AgainstReason::NoFigure { is_baseline };
        return without_ratio(DifferenceVerdict::NotMeasured, reason);
    };
    if let Some(reason) = misleading(kind, cell, base, bars) {
        return without_ratio(DifferenceVerdict::NotComparable, reason);
    }
    if kind == FigureKind::Lost {
        return lost(ours, theirs);
    }
    if kind == FigureKind::ThroughputBytes {
        return without_ratio(DifferenceVerdict::NotJudged, AgainstReason::OtherRow);
    }
    if ours <= 0.0 || theirs <= 0.0 {
        return without_ratio(DifferenceVerdict::NotComparable, AgainstReason::ZeroFigure);
    }
    let between = between::of_cells(cell, base, kind, between_runs);
    let (of_cell, of_base) = (runs_of(cell), runs_of(base));
    let found = match kind.is_capacity() {
        true => {
            let of_cell = SearchedValues {
                runs: &of_cell,
                bounds: &cell.bounds,
            };
            let of_base = SearchedValues {
                runs: &of_base,
                bounds: &base.bounds,
            };
            welch::ratio_of_searches(of_cell, of_base, between, RESOLUTION)
        }
        false => welch::ratio(&of_cell, &of_base, between, RESOLUTION),
    };
    let mut against = without_ratio(DifferenceVerdict::Undecided, AgainstReason::OneRepeat);
    against.ratio = found.map(|found| found.ratio).or(Some(ours / theirs));
    against.interval = found.map(|found| found.interval);
    against.error = found.map(|found| found.error);
    if let Some(reason) = doubt(cell, base) {
        against.reason = reason;
        return against;
    }
    if let (RunSpread::Assumed(part), Some(_)) = (between, found) {
        against.between_runs = Some(part);
    }
    let few = |cell: &Cell| cell.marks.contains(&Caveat::FewSamples);
    if !bars.is_empty() {
        against.word = DifferenceVerdict::NotComparable;
        against.reason = differences(bars.iter().copied());
    } else if few(cell) || few(base) {
        against.reason = AgainstReason::FewSamples;
    } else if let Some(found) = found {
        against.p = Some(found.p);
    } else if !has_one_repeat(cell) && !has_one_repeat(base) {
        against.reason = AgainstReason::ZeroRepeat;
    }
    against
}

fn without_ratio(word: DifferenceVerdict, reason: AgainstReason) -> Against {
    Against {
        ratio: None,
        interval: None,
        p: None,
        p_adjusted: None,
        between_runs: None,
        error: None,
        detectable: None,
        more_needed: None,
        word,
        reason,
    }
}

fn differences<'a>(bars: impl Iterator<Item = &'a RunDifference>) -> AgainstReason {
    AgainstReason::Differences {
        differences: bars.map(|bar| bar.fact.clone()).collect(),
    }
}

/// The values of each run of a cell.
fn runs_of(cell: &Cell) -> Vec<&[f64]> {
    match cell.values_of_runs.as_slice() {
        [] => vec![&cell.values],
        runs => runs.iter().map(Vec::as_slice).collect(),
    }
}

fn has_one_repeat(cell: &Cell) -> bool {
    runs_of(cell).iter().any(|values| values.len() < 2)
}

/// Why even a ratio would mislead.
fn misleading(
    kind: FigureKind,
    cell: &Cell,
    base: &Cell,
    bars: &[&RunDifference],
) -> Option<AgainstReason> {
    let target = bars
        .iter()
        .find(|bar| bar.kind == DifferenceKind::TargetKind);
    if let Some(bar) = target {
        return Some(differences(std::iter::once(*bar)));
    }
    if kind.is_latency()
        && [cell, base]
            .iter()
            .any(|cell| cell.marks.contains(&Caveat::ClosedLoop))
    {
        return Some(AgainstReason::ClosedLoop);
    }
    if !kind.hangs_on_generator() {
        return None;
    }
    let limited = marked_side(Caveat::GeneratorLimited, cell, base);
    let late = marked_side(Caveat::GeneratorLate, cell, base).filter(|_| kind.is_latency());
    let limited = limited.map(|side| AgainstReason::GeneratorLimited { side });
    limited.or(late.map(|side| AgainstReason::GeneratorLate { side }))
}

/// Why a ratio decides nothing, whatever its interval is.
fn doubt(cell: &Cell, base: &Cell) -> Option<AgainstReason> {
    let not_steady = marked_side(Caveat::NotSteady, cell, base);
    let not_steady = not_steady.map(|side| AgainstReason::NotSteady { side });
    let wide = marked_side(Caveat::WideBounds, cell, base);
    not_steady.or(wide.map(|side| AgainstReason::WideBounds { side }))
}

/// Which of the two carry a mark; `None` where neither does.
fn marked_side(mark: Caveat, cell: &Cell, base: &Cell) -> Option<MarkedSide> {
    match (cell.marks.contains(&mark), base.marks.contains(&mark)) {
        (true, true) => Some(MarkedSide::Both),
        (true, false) => Some(MarkedSide::Run),
        (false, true) => Some(MarkedSide::Baseline),
        (false, false) => None,
    }
}

/// Losses are counted, and need no statistics. A ratio to none is none.
fn lost(ours: f64, theirs: f64) -> Against {
    let word = match ours.total_cmp(&theirs) {
        std::cmp::Ordering::Less => DifferenceVerdict::Smaller,
        std::cmp::Ordering::Equal => DifferenceVerdict::NoDifference,
        std::cmp::Ordering::Greater => DifferenceVerdict::Larger,
    };
    let (ours, theirs) = (ours as u64, theirs as u64);
    without_ratio(word, AgainstReason::Lost { ours, theirs })
}

fn decide(
    kind: FigureKind,
    against: &mut Against,
    p_adjusted: f64,
    comparisons: usize,
    measured: SampleSize,
) {
    against.p_adjusted = Some(p_adjusted);
    let (Some(ratio), Some(interval), Some(error)) =
        (against.ratio, against.interval, against.error)
    else {
        return;
    };
    let alpha = ALPHA / comparisons.max(1) as f64;
    against.detectable = Some(error.detectable(alpha).exp_m1());
    against.reason = AgainstReason::Statistics {
        comparisons: comparisons as u32,
    };
    if p_adjusted < ALPHA && !interval.contains(1.0) {
        against.word = DifferenceVerdict::of_difference(kind, ratio);
        return;
    }
    against.word = DifferenceVerdict::NoDifference;
    against.more_needed = more_needed(error, alpha, measured);
}
