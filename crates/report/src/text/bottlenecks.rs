//! The bottlenecks of several trials in one line.

use kgauge_analyze::summary::{LimitVerdict, TrialSummary};

use super::bottleneck;
use crate::format;

/// `CPU in 9 trials, producer buffer in 1`, and of a single trial the candidates; `None` where nothing was measured.
pub(crate) fn overview<'t>(trials: impl Iterator<Item = &'t TrialSummary>) -> Option<String> {
    let limits: Vec<&LimitVerdict> = trials.filter_map(|trial| trial.limit.as_ref()).collect();
    if let [only] = limits.as_slice() {
        let (word, candidates) = (bottleneck::brief(only), bottleneck::candidates(only));
        return Some(format!("{word}{candidates}"));
    }
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for word in limits.into_iter().map(bottleneck::brief) {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    // The sort is stable.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match counts.as_slice() {
        [] => None,
        [(word, 2)] => Some(format!("{word} in both trials")),
        [(word, count)] => Some(format!("{word} in all {count} trials")),
        [(first, count), others @ ..] => {
            let trials = format::counted(*count, "trial");
            let others = others.iter();
            let others = others.map(|(word, count)| format!(", {word} in {count}"));
            Some(format!("{first} in {trials}{}", others.collect::<String>()))
        }
    }
}
