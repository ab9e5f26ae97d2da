//! The result of a comparison in one sentence. What decides comes first, and noise is not called equal.

use std::collections::BTreeMap;

use kgauge_analyze::compare::{Against, AgainstReason, Comparison, DifferenceVerdict, FigureKind};

use super::answers;
use crate::format;
use crate::text::comparison as text;

/// Figures named on each side of a sentence.
const NAMED_MAX: usize = 3;
/// The last rank of a figure that tables without `-v` show.
const SHOWN_RANK_MAX: u8 = 7;

/// Comparisons of a run by the rank of their figure and the figure.
type ByFigure<'a> = BTreeMap<(u8, FigureKind), Vec<&'a Against>>;

/// The place of a figure in a sentence: lost records, then what is asked for most.
fn rank(figure: FigureKind) -> u8 {
    match figure {
        FigureKind::Lost => 0,
        FigureKind::Capacity => 1,
        FigureKind::CapacityTypical => 2,
        FigureKind::Throughput => 3,
        FigureKind::PerPrice => 4,
        FigureKind::LatencyP99 => 5,
        FigureKind::LatencyP50 => 6,
        FigureKind::TargetCpu => SHOWN_RANK_MAX,
        FigureKind::LatencyP999 => 8,
        FigureKind::WireBytes => 9,
        FigureKind::GeneratorCpu => 10,
        FigureKind::ThroughputBytes => 11,
    }
}

/// A sentence for each run but the baseline.
pub(super) fn decisions(comparison: &Comparison) -> Vec<String> {
    let baseline = comparison.baseline as usize;
    let base = comparison.runs.get(baseline);
    let base = base.map_or("", |run| run.label.as_str());
    let runs = comparison.runs.iter().enumerate();
    let others = runs.filter(|(index, _)| *index != baseline);
    others
        .map(|(index, run)| Findings::of(comparison, index).decision(&run.label, base))
        .collect()
}

/// What decides how a run compares with the baseline.
#[derive(Default)]
struct Findings<'a> {
    judged: ByFigure<'a>,
    not_comparable: ByFigure<'a>,
}

impl<'a> Findings<'a> {
    fn of(comparison: &'a Comparison, column: usize) -> Findings<'a> {
        let mut findings = Findings::default();
        for row in &comparison.rows {
            let found = row.cells.get(column).and_then(|cell| cell.against.as_ref());
            if let Some(against) = found {
                findings.add(row.figure, against);
            }
        }
        findings
    }

    fn add(&mut self, figure: FigureKind, against: &'a Against) {
        let rank = rank(figure);
        // At full speed the rate has the information of the latency.
        let is_closed = matches!(against.reason, AgainstReason::ClosedLoop);
        let of_word = match against.word {
            // That nothing was lost on either side is no finding.
            DifferenceVerdict::NoDifference if figure == FigureKind::Lost => return,
            DifferenceVerdict::Faster
            | DifferenceVerdict::Slower
            | DifferenceVerdict::Cheaper
            | DifferenceVerdict::Dearer
            | DifferenceVerdict::Smaller
            | DifferenceVerdict::Larger
            | DifferenceVerdict::NoDifference
            | DifferenceVerdict::Undecided => &mut self.judged,
            DifferenceVerdict::NotComparable if rank <= SHOWN_RANK_MAX && !is_closed => {
                &mut self.not_comparable
            }
            DifferenceVerdict::NotComparable
            | DifferenceVerdict::NotMeasured
            | DifferenceVerdict::NotJudged => return,
        };
        of_word.entry((rank, figure)).or_default().push(against);
    }

    fn decision(&self, run: &str, base: &str) -> String {
        let better = named(&self.judged, is_better);
        let worse = named(&self.judged, DifferenceVerdict::is_worse);
        let mut lost = self.judged.iter().filter(|((rank, _), _)| *rank == 0);
        let has_lost_more = lost.any(|(_, all)| all.iter().any(|one| one.word.is_worse()));
        // What is not comparable may be worse.
        let aside = self.aside();
        match (better, worse) {
            (Some(better), Some(worse)) if has_lost_more => {
                format!("{run} is worse than {base} in {worse}, and better in {better}{aside}.")
            }
            (Some(better), Some(worse)) => {
                format!("{run} is better than {base} in {better}, and worse in {worse}{aside}.")
            }
            (Some(better), None) => format!("{run} is better than {base}: {better}{aside}."),
            (None, Some(worse)) => format!("{run} is worse than {base}: {worse}."),
            (None, None) => undecided(&self.judged, run, base, &aside),
        }
    }

    /// `; latency p99 and latency p50 are not comparable: …`; empty if all figures are comparable.
    fn aside(&self) -> String {
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for (key, all) in &self.not_comparable {
            let Some(first) = all.first() else { continue };
            let name = text::figure_name(key.1);
            let name = match self.judged.get(key) {
                Some(judged) => format!("{name} in {} of {}", all.len(), all.len() + judged.len()),
                None => name.to_owned(),
            };
            let reason = text::clause(first);
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(name),
                None => reasons.push((reason, vec![name])),
            }
        }
        let clauses = reasons.into_iter().map(|(reason, names)| {
            let verb = if names.len() == 1 { "is" } else { "are" };
            format!("; {} {verb} {reason}", names.join(" and "))
        });
        clauses.collect()
    }
}

fn is_better(word: DifferenceVerdict) -> bool {
    matches!(
        word,
        DifferenceVerdict::Faster | DifferenceVerdict::Cheaper | DifferenceVerdict::Smaller
    )
}

/// The figures with such a verdict, each with its ratio.
fn named(judged: &ByFigure<'_>, is_one: impl Fn(DifferenceVerdict) -> bool) -> Option<String> {
    let clauses: Vec<String> = judged
        .iter()
        .filter_map(|((_, figure), all)| {
            let found = all.iter().filter(|against| is_one(against.word));
            let found: Vec<&Against> = found.copied().collect();
            (!found.is_empty()).then(|| clause(*figure, &found, all.len()))
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

/// `records/s 1.30× (1.24 to 1.36) in 5 of 6`. Several rows have the range of their ratios and the ends of all
/// intervals.
fn clause(figure: FigureKind, found: &[&Against], rows: usize) -> String {
    let mut clause = text::figure_name(figure).to_owned();
    if figure == FigureKind::Lost {
        clause.push_str(&lost(found));
    }
    if let Some(ratios) = answers::range(found) {
        clause.push_str(&format!(" {ratios}"));
    }
    let intervals = || found.iter().filter_map(|against| against.interval);
    let low = intervals().map(|ends| ends.low).reduce(f64::min);
    let high = intervals().map(|ends| ends.high).reduce(f64::max);
    if let (Some(low), Some(high)) = (low, high) {
        let (low, high) = (format::short(low), format::short(high));
        clause.push_str(&format!(" ({low} to {high})"));
    }
    // Rows without a loss on either side are no findings, so nothing is counted among them.
    if rows > 1 && figure != FigureKind::Lost {
        clause.push_str(&format!(" in {} of {rows}", found.len()));
    }
    clause
}

/// ` 12 (0 in the baseline)`
fn lost(found: &[&Against]) -> String {
    let (mut run, mut base) = (0_u64, 0_u64);
    for against in found {
        if let AgainstReason::Lost { ours, theirs } = against.reason {
            run = run.saturating_add(ours);
            base = base.saturating_add(theirs);
        }
    }
    format!(
        " {} ({} in the baseline)",
        format::count(run),
        format::count(base)
    )
}

/// No difference, or none that this comparison could have shown.
fn undecided(judged: &ByFigure<'_>, run: &str, base: &str, aside: &str) -> String {
    if judged.is_empty() {
        return format!("{run} and {base} have no comparable figures.");
    }
    // A figure that only `-v` shows is named if there is nothing else.
    let has_shown = judged.keys().any(|(rank, _)| *rank <= SHOWN_RANK_MAX);
    let shown = || {
        let all = judged.iter();
        all.filter(move |((rank, _), _)| !has_shown || *rank <= SHOWN_RANK_MAX)
    };
    let least_known = shown().find_map(|((_, figure), all)| {
        let against = all.iter().find(|against| !answers::is_same(against))?;
        Some((text::figure_name(*figure), *against))
    });
    let Some((name, against)) = least_known else {
        let names = shown().map(|((_, figure), _)| text::figure_name(*figure));
        let mut all = judged.values().flatten();
        let of_figures = match all.all(|against| answers::is_same(against)) {
            true => String::new(),
            false => format!(" in {}", names.collect::<Vec<_>>().join(", ")),
        };
        return format!("No difference beyond 10 % between {run} and {base}{of_figures}{aside}.");
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
    use kgauge_analyze::compare::MarkedSide;
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

    /// What statistics do not decide.
    fn counted(word: DifferenceVerdict, reason: AgainstReason) -> Against {
        Against {
            ratio: None,
            interval: None,
            detectable: None,
            reason,
            ..against(word, 1.0, 1.0)
        }
    }

    fn words(found: &[(FigureKind, &Against)]) -> String {
        let mut findings = Findings::default();
        for (figure, against) in found {
            findings.add(*figure, against);
        }
        findings.decision("after", "before")
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
            "after is worse than before: records/s 2.00× (1.60 to 2.50) in 2 of 2."
        );
        let slowest = against(DifferenceVerdict::Slower, 4.0, 1.25);
        let noisy = against(DifferenceVerdict::NoDifference, 1.0, 2.0);
        assert_eq!(
            words(&[
                (FigureKind::LatencyP50, &slower),
                (FigureKind::LatencyP50, &slowest),
                (FigureKind::LatencyP50, &noisy),
            ]),
            "after is worse than before: latency p50 2.00× to 4.00× (1.60 to 5.00) in 2 of 3.",
            "of several rows the ends of all intervals"
        );
    }

    #[test]
    fn lost_records_come_first_and_are_never_hidden() {
        let slower = against(DifferenceVerdict::Slower, 2.0, 1.25);
        let faster = against(DifferenceVerdict::Faster, 1.3, 1.04);
        let reason = AgainstReason::Lost { ours: 7, theirs: 1 };
        let lost = counted(DifferenceVerdict::Larger, reason);
        assert_eq!(
            words(&[
                (FigureKind::Throughput, &slower),
                (FigureKind::LatencyP50, &slower),
                (FigureKind::LatencyP99, &slower),
                (FigureKind::Lost, &lost),
                (FigureKind::Lost, &lost),
            ]),
            "after is worse than before: records lost 14 (2 in the baseline), records/s 2.00× \
             (1.60 to 2.50), latency p99 2.00× (1.60 to 2.50) and 1 more figure."
        );
        assert_eq!(
            words(&[(FigureKind::Throughput, &faster), (FigureKind::Lost, &lost)]),
            "after is worse than before in records lost 7 (1 in the baseline), and better in \
             records/s 1.30× (1.25 to 1.35)."
        );
    }

    #[test]
    fn a_side_is_not_better_without_what_is_not_comparable() {
        let cheaper = against(DifferenceVerdict::Cheaper, 0.5, 1.25);
        let side = MarkedSide::Run;
        let reason = AgainstReason::GeneratorLate { side };
        let late = counted(DifferenceVerdict::NotComparable, reason);
        let closed = counted(DifferenceVerdict::NotComparable, AgainstReason::ClosedLoop);
        let found = [
            (FigureKind::LatencyP50, &late),
            (FigureKind::LatencyP99, &late),
            (FigureKind::LatencyP999, &late),
        ];
        assert_eq!(
            words(&[&found[..], &[(FigureKind::TargetCpu, &cheaper)]].concat()),
            "after is better than before: CPU target 0.500× (0.400 to 0.625); latency p99 and \
             latency p50 are not comparable: records were sent late for reasons other than the \
             target in this run."
        );
        assert_eq!(
            words(&[
                (FigureKind::TargetCpu, &cheaper),
                (FigureKind::TargetCpu, &late),
                (FigureKind::LatencyP99, &closed),
            ]),
            "after is better than before: CPU target 0.500× (0.400 to 0.625); CPU target in 1 of 2 \
             is not comparable: records were sent late for reasons other than the target in this \
             run.",
            "a closed loop's latency is left out"
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

    #[test]
    fn what_is_asked_for_most_is_named_where_nothing_is_decided() {
        let same = against(DifferenceVerdict::NoDifference, 1.0, 1.05);
        let noisy = against(DifferenceVerdict::NoDifference, 1.4, 2.0);
        let found = [
            (FigureKind::GeneratorCpu, &noisy),
            (FigureKind::LatencyP50, &noisy),
            (FigureKind::LatencyP99, &noisy),
        ];
        let start = "after against before is inconclusive: latency p99 1.40×";
        assert!(words(&found).starts_with(start), "{}", words(&found));
        let start = "after against before is inconclusive: CPU generator 1.40×";
        assert!(words(&found[..1]).starts_with(start), "nothing else");
        assert_eq!(
            words(&[
                (FigureKind::GeneratorCpu, &noisy),
                (FigureKind::Throughput, &same),
            ]),
            "No difference beyond 10 % between after and before in records/s."
        );
    }
}
