//! Says of each figure how it stands to the baseline's.

use super::between::{self, BetweenRuns};
use super::comparability::{DifferenceKind, RunDifference};
use super::gate::of_cells;
use super::holm::adjusted;
use super::power::{SampleSize, more_needed};
use super::row::{Against, Caveat, Cell, ComparisonRow, DifferenceVerdict, FigureKind};
use super::welch::{self, ALPHA, RunSpread};
use crate::summary::words;

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

/// All that can be said of one pair by itself; where statistics decide, `p` is there and the word
/// follows when all of them are known.
fn against(
    kind: FigureKind,
    cell: &Cell,
    base: &Cell,
    bars: &[&RunDifference],
    between_runs: BetweenRuns,
) -> Against {
    let said = |word, why: &str| Against {
        ratio: None,
        interval: None,
        p: None,
        p_adjusted: None,
        between_runs: None,
        error: None,
        detectable: None,
        more_needed: None,
        word,
        why: why.to_owned(),
    };
    let (Some(ours), Some(theirs)) = (cell.estimate, base.estimate) else {
        let why = match cell.estimate {
            None => "This run does not have this figure.",
            Some(_) => "The baseline does not have this figure.",
        };
        return said(DifferenceVerdict::NotMeasured, why);
    };
    if let Some(why) = misleading(kind, cell, base, bars) {
        return said(DifferenceVerdict::NotComparable, &why);
    }
    if kind == FigureKind::Lost {
        return lost(ours, theirs);
    }
    if kind == FigureKind::ThroughputBytes {
        let why = "Covered by records per second.";
        return said(DifferenceVerdict::NotJudged, why);
    }
    if ours <= 0.0 || theirs <= 0.0 {
        return said(
            DifferenceVerdict::NotComparable,
            "One of the figures is zero.",
        );
    }
    let between = between::of_cells(cell, base, kind, between_runs);
    let found = welch::ratio(&runs_of(cell), &runs_of(base), between, RESOLUTION);
    let mut against = said(DifferenceVerdict::Undecided, "");
    against.ratio = found.map(|found| found.ratio).or(Some(ours / theirs));
    against.interval = found.map(|found| found.interval);
    if let Some(side) = marked_side(Caveat::NotSteady, cell, base) {
        against.why = format!("Inconclusive: the target was not steady {side}.");
        return against;
    }
    against.error = found.map(|found| found.error);
    if let (RunSpread::Assumed(part), Some(_)) = (between, found) {
        against.between_runs = Some(part);
    }
    let reasons = bars
        .iter()
        .map(|bar| bar.words.as_str())
        .collect::<Vec<_>>();
    let few = |cell: &Cell| cell.marks.contains(&Caveat::FewSamples);
    if !reasons.is_empty() {
        against.word = DifferenceVerdict::NotComparable;
        against.why = format!("Not comparable: {}.", reasons.join("; "));
    } else if few(cell) || few(base) {
        against.why = "Inconclusive: fewer than 100 samples lie beyond the percentile.".to_owned();
    } else {
        match found {
            Some(found) => against.p = Some(found.p),
            None if has_one_repeat(cell) || has_one_repeat(base) => {
                against.why = "Inconclusive: one repeat has no spread to compare.".to_owned();
            }
            None => against.why = "Inconclusive: a repeat's figure is zero.".to_owned(),
        }
    }
    against
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
) -> Option<String> {
    let target = bars
        .iter()
        .find(|bar| bar.kind == DifferenceKind::TargetKind);
    if let Some(bar) = target {
        return Some(format!("Not comparable: {}.", bar.words));
    }
    if kind.is_latency()
        && [cell, base]
            .iter()
            .any(|cell| cell.marks.contains(&Caveat::ClosedLoop))
    {
        let why = "Not comparable: at full speed, latency is time in the producer buffer \
                   (Little's law); compare throughput.";
        return Some(why.to_owned());
    }
    if !kind.hangs_on_generator() {
        return None;
    }
    let accused = |mark: Caveat, what: &str| {
        let side = marked_side(mark, cell, base)?;
        Some(format!("Not comparable: {what} {side}."))
    };
    let limited = accused(Caveat::GeneratorLimited, "the generator was the bottleneck");
    limited.or_else(|| {
        accused(
            Caveat::GeneratorLate,
            "records were sent late for reasons other than the target",
        )
        .filter(|_| kind.is_latency())
    })
}

/// Which of the two carry a mark; `None` where neither does.
fn marked_side(mark: Caveat, cell: &Cell, base: &Cell) -> Option<&'static str> {
    match (cell.marks.contains(&mark), base.marks.contains(&mark)) {
        (true, true) => Some("in both runs"),
        (true, false) => Some("in this run"),
        (false, true) => Some("in the baseline"),
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
    let count = |lost: f64| words::counted(lost as u64, "record");
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
        why: format!("{} lost, {} in the baseline.", count(ours), count(theirs)),
    }
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
    let low_high = format!(
        "{} to {}",
        words::number(interval.low),
        words::number(interval.high)
    );
    let alpha = ALPHA / comparisons.max(1) as f64;
    let detectable = error.detectable(alpha).exp_m1();
    against.detectable = Some(detectable);
    if p_adjusted < ALPHA && !interval.contains(1.0) {
        against.word = DifferenceVerdict::of_difference(kind, ratio);
        against.why = format!(
            "{} times the baseline, 95 % interval {low_high}.",
            words::number(ratio)
        );
        return;
    }
    against.word = DifferenceVerdict::NoDifference;
    against.more_needed = more_needed(error, alpha, measured);
    let among = match interval.contains(1.0) {
        true => String::new(),
        // Alone it would be a difference.
        false => format!(", expected by chance among {comparisons} comparisons"),
    };
    against.why = format!(
        "No difference found: {} times the baseline, 95 % interval {low_high}{among}. A change of \
         {} or more would have been detected.",
        words::number(ratio),
        words::percent(detectable)
    );
}
