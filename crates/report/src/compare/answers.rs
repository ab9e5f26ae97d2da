//! What a comparison found, figure by figure: the ratio with its interval, or what could have been found.

use std::collections::BTreeMap;

use kgauge_analyze::compare::{
    Against, Comparison, DifferenceVerdict, FigureKind, MoreNeeded, RunColumn,
};

use crate::format;
use crate::text::comparison as text;

/// Ratios within a tenth are called the same where the whole interval is.
const SAME_FROM: f64 = 0.9;

/// How a run compares with the baseline.
#[derive(Debug, Clone)]
pub(crate) struct RunAnswer {
    /// `after against before`
    pub(crate) head: String,
    /// A sentence for each figure, the most important first.
    pub(crate) figures: Vec<String>,
}

/// How each run compares with the baseline.
pub(super) fn answers(comparison: &Comparison) -> Vec<RunAnswer> {
    let baseline = comparison.baseline as usize;
    let Some(base) = comparison.runs.get(baseline) else {
        return Vec::new();
    };
    let runs = comparison.runs.iter().enumerate();
    let others = runs.filter(|(index, _)| *index != baseline);
    let answer = |(index, run): (usize, &RunColumn)| RunAnswer {
        head: format!("{} against {}", run.label, base.label),
        figures: figures(comparison, index),
    };
    others.map(answer).collect()
}

/// Whether the whole interval of a ratio is within a tenth of 1: then nothing larger changed.
pub(super) fn is_same(against: &Against) -> bool {
    let interval = against.interval;
    against.word == DifferenceVerdict::NoDifference
        && interval.is_some_and(|found| found.low >= SAME_FROM && found.high <= 1.0 / SAME_FROM)
}

fn figures(comparison: &Comparison, column: usize) -> Vec<String> {
    let mut of_kind: BTreeMap<FigureKind, Vec<&Against>> = BTreeMap::new();
    let mut not_comparable = 0_u64;
    for row in &comparison.rows {
        let found = row.cells.get(column).and_then(|cell| cell.against.as_ref());
        let Some(against) = found else { continue };
        match against.word {
            DifferenceVerdict::NotJudged => {}
            DifferenceVerdict::NotComparable => not_comparable += 1,
            _ if row.figure == FigureKind::Lost
                && against.word == DifferenceVerdict::NoDifference => {}
            DifferenceVerdict::Faster
            | DifferenceVerdict::Slower
            | DifferenceVerdict::Cheaper
            | DifferenceVerdict::Dearer
            | DifferenceVerdict::Smaller
            | DifferenceVerdict::Larger
            | DifferenceVerdict::NoDifference
            | DifferenceVerdict::Undecided
            | DifferenceVerdict::NotMeasured => {
                of_kind.entry(row.figure).or_default().push(against)
            }
        }
    }
    let figures = of_kind.into_iter().map(|(figure, found)| {
        let words = match found.as_slice() {
            [against] => of_one(against),
            found => of_many(found),
        };
        format!("{}: {words}.", text::figure_name(figure))
    });
    let mut figures: Vec<String> = figures.collect();
    if not_comparable > 0 {
        let count = format::plural(not_comparable, "figure is", "figures are");
        figures.push(format!("{count} not comparable."));
    }
    if figures.is_empty() {
        figures.push("The runs have no figures in common.".to_owned());
    }
    figures
}

/// `1.39× (0.52 to 3.72)`
pub(super) fn ratio(against: &Against) -> Option<String> {
    let ratio = against.ratio?;
    let interval = against.interval.map_or_else(String::new, |found| {
        format!(
            " ({} to {})",
            format::short(found.low),
            format::short(found.high)
        )
    });
    Some(format!("{}×{interval}", format::short(ratio)))
}

/// `1.39× (0.52 to 3.72), inconclusive: a change of 180 % or more would have been detected; for 20 % use --repeat 12`
fn of_one(against: &Against) -> String {
    let ratio = ratio(against).map_or_else(String::new, |ratio| ratio + ", ");
    let words = match against.word {
        DifferenceVerdict::NoDifference => {
            format!("{}: {}", word(against), would_have_shown(against))
        }
        // The reason has it.
        DifferenceVerdict::Undecided | DifferenceVerdict::NotMeasured => text::clause(against),
        _ if ratio.is_empty() => format!("{}: {}", word(against), text::clause(against)),
        _ => word(against).to_owned(),
    };
    format!("{ratio}{words}")
}

/// In a word, for reports: what statistics did not tell from chance is the same only where nothing large is left.
pub(super) fn word(against: &Against) -> &'static str {
    match (against.word, is_same(against)) {
        (DifferenceVerdict::NoDifference, true) => "no difference beyond 10 %",
        (DifferenceVerdict::NoDifference | DifferenceVerdict::Undecided, _) => "inconclusive",
        (word, _) => text::verdict(word),
    }
}

pub(super) fn would_have_shown(against: &Against) -> String {
    let Some(detectable) = against.detectable else {
        return text::clause(against);
    };
    format!(
        "a change of {} or more would have been detected{}",
        format::percent(detectable),
        for_smaller(against.more_needed.as_ref())
    )
}

/// `; for 10 % use --repeat 9`
fn for_smaller(more: Option<&MoreNeeded>) -> String {
    let Some(more) = more else {
        return String::new();
    };
    let change = format::percent(more.change);
    match (more.repeats, more.runs) {
        (Some(repeats), _) => format!("; for {change} use --repeat {repeats}"),
        (None, Some(runs)) => format!("; for {change} compare {runs} runs per side (--with)"),
        (None, None) => String::new(),
    }
}

/// `faster in 3 of 7 (1.20× to 6.40×); inconclusive in 4 (a change of 40 % or more would have been detected)`
fn of_many(found: &[&Against]) -> String {
    let mut words: Vec<(&str, Vec<&Against>)> = Vec::new();
    for against in found {
        let name = word(against);
        match words.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(against),
            None => words.push((name, vec![against])),
        }
    }
    let total = found.len();
    let clauses = words.into_iter().map(|(word, all)| {
        let widest = all
            .iter()
            .filter(|against| against.detectable.is_some())
            .max_by(|one, next| {
                one.detectable
                    .unwrap_or(0.0)
                    .total_cmp(&next.detectable.unwrap_or(0.0))
            });
        let aside = match (all.first().map(|against| against.word), widest) {
            (Some(DifferenceVerdict::NoDifference), Some(widest)) => {
                format!(" ({})", would_have_shown(widest))
            }
            (Some(DifferenceVerdict::NoDifference | DifferenceVerdict::Undecided), _) => {
                String::new()
            }
            _ => range(&all).map_or_else(String::new, |range| format!(" ({range})")),
        };
        match all.len() {
            of if of == total => format!("{word} in all {total}{aside}"),
            of => format!("{word} in {of} of {total}{aside}"),
        }
    });
    clauses.collect::<Vec<_>>().join("; ")
}

/// `1.20× to 6.40×`
pub(super) fn range(found: &[&Against]) -> Option<String> {
    let ratios = || found.iter().filter_map(|against| against.ratio);
    let (low, high) = (ratios().reduce(f64::min)?, ratios().reduce(f64::max)?);
    Some(match (format::short(low), format::short(high)) {
        (low, high) if low == high => format!("{low}×"),
        (low, high) => format!("{low}× to {high}×"),
    })
}
