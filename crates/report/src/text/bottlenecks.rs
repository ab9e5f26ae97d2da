//! The bottlenecks of several trials in one line.

use kgauge_analyze::summary::{Bottleneck, TrialSummary};

use super::bottleneck;
use crate::format;

/// A bottleneck in a few words.
pub(crate) fn short(word: Bottleneck) -> &'static str {
    match word {
        Bottleneck::Load => "none (the target kept up)",
        Bottleneck::Undecided => "undetermined",
        word => bottleneck::name(word),
    }
}

/// `CPU on this machine in 9 trials, producer buffer in 1`; `None` where nothing was measured.
pub(crate) fn overview<'t>(trials: impl Iterator<Item = &'t TrialSummary>) -> Option<String> {
    let words = trials.filter_map(|trial| Some(trial.limit.as_ref()?.word));
    let mut counts: Vec<(Bottleneck, u64)> = Vec::new();
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
        [(word, 1)] => Some(short(*word).to_owned()),
        [(word, count)] => Some(format!("{} in all {count} trials", short(*word))),
        [(first, count), others @ ..] => {
            let trials = format::plural(*count, "trial", "trials");
            let first = format!("{} in {trials}", short(*first));
            let others = others.iter();
            let others = others.map(|(word, count)| format!(", {} in {count}", short(*word)));
            Some(first + &others.collect::<String>())
        }
    }
}
