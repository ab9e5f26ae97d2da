//! Whether the acked records of each side are on the brokers.

use kgauge_analyze::compare::{Comparison, RunColumn, SideCount};

use super::Sentence;
use crate::format;
use crate::view::Severity;

/// One sentence if all acked records of all sides are on the brokers; else one for each side where that is not proven.
pub(super) fn sentences(comparison: &Comparison) -> Vec<Sentence> {
    let runs = comparison.runs.iter();
    let counted = runs.filter_map(|run| Some((run, run.counted?)));
    let (proven, open): (Vec<_>, Vec<_>) = counted.partition(|(_, count)| count.is_proof());
    if !open.is_empty() {
        let sentence = |(run, count): (&RunColumn, SideCount)| of_side(&run.label, count);
        return open.into_iter().map(sentence).collect();
    }
    let acked = proven.iter().map(|(_, count)| count.acked);
    let acked = format::counted(acked.fold(0, u64::saturating_add), "acked record");
    let runs: usize = proven.iter().map(|(run, _)| 1 + run.further.len()).sum();
    let of_runs = match runs {
        0 => return Vec::new(),
        1 => String::new(),
        2 => " of both runs".to_owned(),
        _ => format!(" of all {runs} runs"),
    };
    vec![Sentence {
        level: Severity::Note,
        words: format!("All {acked}{of_runs} are on the brokers."),
    }]
}

fn of_side(label: &str, count: SideCount) -> Sentence {
    let acked = format::counted(count.acked, "acked record");
    let mut clauses = Vec::new();
    if count.missing > 0 {
        let missing = format::count(count.missing);
        clauses.push(format!("{missing} of {acked} are missing on the brokers"));
    }
    if count.extra > 0 {
        let extra = format::counted(count.extra, "record");
        clauses.push(format!(
            "{extra} on the brokers beyond those acked, such as duplicates"
        ));
    }
    let is_good = clauses.is_empty();
    if is_good && count.trials_counted > 0 {
        clauses.push(match count.possibly_missing {
            0 => format!("all {acked} are on the brokers"),
            missing => format!(
                "at least {} of {acked} are on the brokers (after retries and unknown outcomes a \
                 count cannot prove more)",
                format::count(count.acked.saturating_sub(missing))
            ),
        });
    }
    let uncounted = count.trials.saturating_sub(count.trials_counted);
    if uncounted > 0 {
        let trials = format::counted(count.trials.into(), "trial");
        clauses.push(format!("{uncounted} of {trials} could not be counted"));
    }
    Sentence {
        level: match (is_good, count.trials_counted) {
            (false, _) => Severity::Grave,
            (true, 0) => Severity::Caution,
            (true, _) => Severity::Note,
        },
        words: format!("{label}: {}.", clauses.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_has_a_line_unless_its_count_proves_that_nothing_is_missing() {
        let proof = SideCount {
            acked: 45_104,
            missing: 0,
            extra: 0,
            possibly_missing: 0,
            trials: 5,
            trials_counted: 5,
        };
        assert!(proof.is_proof());
        let missing = SideCount {
            missing: 12,
            ..proof
        };
        let retried = SideCount {
            possibly_missing: 104,
            trials_counted: 3,
            ..proof
        };
        let uncounted = SideCount {
            acked: 0,
            trials_counted: 0,
            ..proof
        };
        for (count, level, words) in [
            (
                missing,
                Severity::Grave,
                "before: 12 of 45,104 acked records are missing on the brokers.",
            ),
            (
                retried,
                Severity::Note,
                "before: at least 45,000 of 45,104 acked records are on the brokers (after retries \
                 and unknown outcomes a count cannot prove more); 2 of 5 trials could not be \
                 counted.",
            ),
            (
                uncounted,
                Severity::Caution,
                "before: 5 of 5 trials could not be counted.",
            ),
        ] {
            assert!(!count.is_proof());
            let words = words.to_owned();
            assert_eq!(of_side("before", count), Sentence { level, words });
        }
    }
}
