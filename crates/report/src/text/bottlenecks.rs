//! The bottlenecks of several trials in one line.

use kgauge_analyze::summary::TrialSummary;

use super::bottleneck;
use crate::format;

/// `CPU in 9 trials, producer buffer in 1`; `None` where nothing was measured.
pub(crate) fn overview<'t>(trials: impl Iterator<Item = &'t TrialSummary>) -> Option<String> {
    let words = trials.filter_map(|trial| Some(bottleneck::brief(trial.limit.as_ref()?)));
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for word in words {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    // The sort is stable.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match counts.as_slice() {
        [] => None,
        [(word, 1)] => Some((*word).to_owned()),
        [(word, 2)] => Some(format!("{word} in both trials")),
        [(word, count)] => Some(format!("{word} in all {count} trials")),
        [(first, count), others @ ..] => {
            let trials = format::plural(*count, "trial", "trials");
            let others = others.iter();
            let others = others.map(|(word, count)| format!(", {word} in {count}"));
            Some(format!("{first} in {trials}{}", others.collect::<String>()))
        }
    }
}
