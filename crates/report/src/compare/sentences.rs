//! A comparison in sentences: what else differs, what is not comparable and why.

use std::collections::BTreeMap;

use kgauge_analyze::compare::{
    AgainstReason, Caveat, Comparison, DifferenceKind, DifferenceVerdict, FurtherRun, RunColumn,
};
use kgauge_results::run::RunStatus;

use super::{ColumnHead, trial_title};
use crate::format;
use crate::text::{comparison as text, target};
use crate::view::Severity;

/// Places named in a sentence before the others are only counted.
const PLACES_SHOWN: usize = 3;

/// A caveat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// Its severity.
    pub(crate) level: Severity,
    /// The sentence.
    pub(crate) words: String,
}

/// The head of a run.
pub(super) fn head(run: &RunColumn) -> ColumnHead {
    let machine = run.machine.as_ref().map(|machine| {
        let model = machine.cpu_model.clone();
        let cpus = machine
            .cpu_count
            .map(|count| format::counted(count.into(), "processor"));
        [model, cpus]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    });
    let ended = match run.run_status {
        RunStatus::Complete => String::new(),
        status => status.as_str().to_owned(),
    };
    let size = run.size.clone().unwrap_or_default();
    let each = |first: &String, of: fn(&FurtherRun) -> &String| {
        let further = run.further.iter().map(of);
        let all = std::iter::once(first).chain(further).cloned();
        all.collect::<Vec<_>>().join(", ")
    };
    let (runs, folders) = match run.further.is_empty() {
        true => ("Run", "Folder"),
        false => ("Runs", "Folders"),
    };
    let facts = [
        ("Target", target::sentence(&run.target)),
        (runs, each(&run.run_id, |further| &further.run_id)),
        (folders, each(&run.folder, |further| &further.folder)),
        ("Size", size),
        ("Seed", seeds(run)),
        (
            "Price",
            run.price_per_hour
                .map(|price| format!("{price} per hour"))
                .unwrap_or_default(),
        ),
        ("Machine", machine.unwrap_or_default()),
        ("kgauge", run.kgauge.version.clone()),
        ("Ended", ended),
    ];
    ColumnHead {
        label: run.label.clone(),
        facts: facts
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect(),
    }
}

/// Each seed once: a side may contain the same run several times.
fn seeds(run: &RunColumn) -> String {
    let further = run.further.iter().map(|further| further.seed);
    let mut seeds: Vec<u64> = std::iter::once(run.seed).chain(further).flatten().collect();
    seeds.dedup();
    let words = seeds.iter().map(u64::to_string).collect::<Vec<_>>();
    words.join(", ")
}

/// What else than the figures differs, what bars a comparison first; each difference once.
pub(super) fn differing(comparison: &Comparison) -> Vec<Sentence> {
    let mut found = differences(comparison);
    found.retain(|sentence| sentence.level != Severity::Grave);
    found
}

/// Severe caveats, and why single figures are not comparable; each reason once.
pub(super) fn all(comparison: &Comparison) -> Vec<Sentence> {
    let mut sentences = differences(comparison);
    sentences.retain(|sentence| sentence.level == Severity::Grave);
    sentences.extend(reasons(comparison));
    if comparison.rows_left_out > 0 {
        sentences.push(Sentence {
            level: Severity::Grave,
            words: format!(
                "{} omitted: the comparison has too many rows.",
                format::counted(comparison.rows_left_out, "row")
            ),
        });
    }
    // The most severe first; the sort is stable.
    sentences.sort_by_key(|sentence| std::cmp::Reverse(sentence.level));
    sentences
}

fn differences(comparison: &Comparison) -> Vec<Sentence> {
    let mut found: Vec<(String, bool, DifferenceKind, Vec<&str>)> = Vec::new();
    let mut within: Vec<Sentence> = Vec::new();
    if let Some(base) = comparison.runs.get(comparison.baseline as usize)
        && base.run_status != RunStatus::Complete
    {
        let words = "the baseline run is incomplete".to_owned();
        found.push((words, false, DifferenceKind::NotFinished, vec![&base.label]));
    }
    for difference in &comparison.differences {
        let Some(run) = comparison.runs.get(difference.run as usize) else {
            continue;
        };
        let text = text::difference(difference);
        if difference.within {
            within.push(Sentence {
                level: Severity::Caution,
                words: format!("{}: {text}.", run.label),
            });
            continue;
        }
        match found.iter_mut().find(|(words, ..)| *words == text) {
            Some((.., runs)) => runs.push(&run.label),
            None => found.push((text, difference.bars, difference.kind, vec![&run.label])),
        }
    }
    let base = comparison.runs.get(comparison.baseline as usize);
    let base = base.map_or("the baseline", |run| run.label.as_str());
    let sentence = |(words, bars, kind, runs): (String, bool, DifferenceKind, Vec<&str>)| {
        let runs = runs.join(", ");
        match (bars, kind) {
            (true, _) => Sentence {
                level: Severity::Caution,
                words: format!("{runs} and {base} are not comparable: {words}."),
            },
            (false, DifferenceKind::NotFinished) => Sentence {
                level: Severity::Grave,
                words: format!("{runs}: {words}."),
            },
            // The text names both sides.
            (
                false,
                DifferenceKind::Settings
                | DifferenceKind::BrokerSettings
                | DifferenceKind::Brokers
                | DifferenceKind::Kgauge,
            ) => Sentence {
                level: Severity::Note,
                words: format!("{}.", format::capital(&words)),
            },
            (false, _) => Sentence {
                level: Severity::Note,
                words: format!("{runs} and {base}: {words}."),
            },
        }
    };
    within
        .into_iter()
        .chain(found.into_iter().map(sentence))
        .collect()
}

/// Why single figures are not comparable, if neither a difference of the runs nor a mark explains it.
fn reasons(comparison: &Comparison) -> Vec<Sentence> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for row in &comparison.rows {
        for (cell, run) in row.cells.iter().zip(&comparison.runs) {
            let Some(against) = &cell.against else {
                continue;
            };
            // At full speed, the mark of the latency shows it.
            let closed = row.figure.is_latency() && cell.marks.contains(&Caveat::ClosedLoop);
            let word = against.word == DifferenceVerdict::NotComparable;
            let barred = matches!(against.reason, AgainstReason::Differences { .. });
            if closed || !word || barred {
                continue;
            }
            let reason = text::reason(against);
            let index = *at.entry(reason.clone()).or_insert(found.len());
            if index == found.len() {
                found.push((reason, Vec::new()));
            }
            let place = format!("{} ({})", trial_title(row), run.label);
            if let Some((_, places)) = found.get_mut(index)
                && places.last() != Some(&place)
            {
                places.push(place);
            }
        }
    }
    let sentence = |(why, found): (String, Vec<String>)| Sentence {
        level: Severity::Caution,
        words: format!(
            "{why} Affects {}.",
            format::few_clauses(&found, PLACES_SHOWN)
        ),
    };
    found.into_iter().map(sentence).collect()
}
