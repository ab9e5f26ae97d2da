//! The result of a comparison in one sentence. What decides comes first, and noise is not called equal.

use std::collections::BTreeMap;

use kgauge_analyze::compare::{Against, Comparison, DifferenceVerdict, FigureKind};

use super::answers;
use crate::text::comparison as text;

/// Figures named on each side of a sentence.
const NAMED_MAX: usize = 3;

/// The judged figures of a run, by kind.
type Judged<'a> = BTreeMap<FigureKind, Vec<&'a Against>>;

/// A sentence for each run but the baseline.
pub(super) fn decisions(comparison: &Comparison) -> Vec<String> {
    let baseline = comparison.baseline as usize;
    let base = comparison.runs.get(baseline);
    let base = base.map_or("", |run| run.label.as_str());
    let runs = comparison.runs.iter().enumerate();
    let others = runs.filter(|(index, _)| *index != baseline);
    others
        .map(|(index, run)| decision(&judged(comparison, index), &run.label, base))
        .collect()
}

fn judged(comparison: &Comparison, column: usize) -> Judged<'_> {
    let mut judged = Judged::new();
    for row in &comparison.rows {
        let found = row.cells.get(column).and_then(|cell| cell.against.as_ref());
        let Some(against) = found else { continue };
        // That nothing was lost on either side is no finding.
        let is_nothing =
            row.figure == FigureKind::Lost && against.word == DifferenceVerdict::NoDifference;
        if !is_nothing && is_judged(against.word) {
            judged.entry(row.figure).or_default().push(against);
        }
    }
    judged
}

fn is_judged(word: DifferenceVerdict) -> bool {
    match word {
        DifferenceVerdict::Faster
        | DifferenceVerdict::Slower
        | DifferenceVerdict::Cheaper
        | DifferenceVerdict::Dearer
        | DifferenceVerdict::Smaller
        | DifferenceVerdict::Larger
        | DifferenceVerdict::NoDifference
        | DifferenceVerdict::Undecided => true,
        DifferenceVerdict::NotComparable
        | DifferenceVerdict::NotMeasured
        | DifferenceVerdict::NotJudged => false,
    }
}

fn is_better(word: DifferenceVerdict) -> bool {
    matches!(
        word,
        DifferenceVerdict::Faster | DifferenceVerdict::Cheaper | DifferenceVerdict::Smaller
    )
}

fn decision(judged: &Judged<'_>, run: &str, base: &str) -> String {
    let better = named(judged, is_better);
    let worse = named(judged, DifferenceVerdict::is_worse);
    match (better, worse) {
        (Some(better), Some(worse)) => {
            format!("{run} is better than {base} in {better}, and worse in {worse}.")
        }
        (Some(better), None) => format!("{run} is better than {base}: {better}."),
        (None, Some(worse)) => format!("{run} is worse than {base}: {worse}."),
        (None, None) => undecided(judged, run, base),
    }
}

/// The figures with such a verdict, each with its ratio.
fn named(judged: &Judged<'_>, is_one: impl Fn(DifferenceVerdict) -> bool) -> Option<String> {
    let clauses: Vec<String> = judged
        .iter()
        .filter_map(|(figure, all)| {
            let found = all.iter().filter(|against| is_one(against.word));
            let found: Vec<&Against> = found.copied().collect();
            let name = text::figure_name(*figure);
            match found.as_slice() {
                [] => None,
                [against] if all.len() == 1 => {
                    let ratio = answers::ratio(against);
                    Some(ratio.map_or_else(|| name.to_owned(), |ratio| format!("{name} {ratio}")))
                }
                found => {
                    let range = answers::range(found);
                    Some(format!("{name} in {} of {}{range}", found.len(), all.len()))
                }
            }
        })
        .collect();
    let (shown, more) = clauses.split_at(clauses.len().min(NAMED_MAX));
    let more = match more.len() {
        0 => String::new(),
        1 => " and 1 more figure".to_owned(),
        more => format!(" and {more} more figures"),
    };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

/// No difference, or none that this comparison could have shown.
fn undecided(judged: &Judged<'_>, run: &str, base: &str) -> String {
    let mut all = judged.values().flatten();
    if all.clone().next().is_none() {
        return format!("{run} and {base} have no comparable figures.");
    }
    if all.all(|against| answers::is_same(against)) {
        return format!("No difference beyond 10 % between {run} and {base}.");
    }
    let least_known = judged.iter().find_map(|(figure, all)| {
        let against = all.iter().find(|against| !answers::is_same(against))?;
        Some((text::figure_name(*figure), *against))
    });
    let Some((name, against)) = least_known else {
        return format!("{run} against {base} is inconclusive.");
    };
    let ratio = answers::ratio(against).map_or_else(String::new, |ratio| format!(" {ratio}"));
    let why = match against.detectable {
        Some(_) => answers::would_have_shown(against),
        None => text::without_verdict(against),
    };
    format!("{run} against {base} is inconclusive: {name}{ratio}; {why}.")
}

#[cfg(test)]
mod tests {
    use kgauge_analyze::compare::AgainstReason;
    use kgauge_analyze::statistics::Interval;

    use super::*;

    fn against(word: DifferenceVerdict, ratio: f64, reach: f64) -> Against {
        Against {
            ratio: Some(ratio),
            interval: Some(Interval {
                low: ratio / reach,
                high: ratio * reach,
            }),
            p: None,
            p_adjusted: None,
            between_runs: None,
            error: None,
            detectable: Some(0.12),
            more_needed: None,
            word,
            reason: AgainstReason::Statistics { comparisons: 2 },
        }
    }

    fn words(found: &[(FigureKind, &Against)]) -> String {
        let mut judged = Judged::new();
        for (figure, against) in found {
            judged.entry(*figure).or_default().push(against);
        }
        decision(&judged, "after", "before")
    }

    #[test]
    fn a_difference_decides_and_both_ways_are_named() {
        let faster = against(DifferenceVerdict::Faster, 1.3, 1.04);
        let slower = against(DifferenceVerdict::Slower, 2.0, 1.25);
        assert_eq!(
            words(&[(FigureKind::Throughput, &faster)]),
            "after is better than before: records/s 1.30× (1.25 to 1.35)."
        );
        assert_eq!(
            words(&[
                (FigureKind::Throughput, &faster),
                (FigureKind::LatencyP99, &slower),
            ]),
            "after is better than before in records/s 1.30× (1.25 to 1.35), and worse in latency \
             p99 2.00× (1.60 to 2.50)."
        );
        assert_eq!(
            words(&[
                (FigureKind::Throughput, &slower),
                (FigureKind::Throughput, &slower),
            ]),
            "after is worse than before: records/s in 2 of 2 (2.00×)."
        );
    }

    #[test]
    fn noise_is_not_called_equal() {
        let same = against(DifferenceVerdict::NoDifference, 1.0, 1.05);
        let noisy = against(DifferenceVerdict::NoDifference, 1.4, 2.0);
        assert_eq!(
            words(&[(FigureKind::Throughput, &same)]),
            "No difference beyond 10 % between after and before."
        );
        assert_eq!(
            words(&[
                (FigureKind::Throughput, &same),
                (FigureKind::LatencyP99, &noisy),
            ]),
            "after against before is inconclusive: latency p99 1.40× (0.700 to 2.80); a change of \
             12 % or more would have been detected."
        );
        assert_eq!(words(&[]), "after and before have no comparable figures.");
    }
}
