//! Which warnings stand before the figures, and how those of many trials become few boxes.

use kgauge_results::run::RunStatus;
use kgauge_results::summary;
use kgauge_results::summary::{Summary, WarningKind};

use super::trial_name;
use crate::view::{Level, Warning, WarningItem};

/// (Notices before any figure, other warnings), each gravest first.
pub(super) fn sorted(summary: &Summary) -> (Vec<Warning>, Vec<Warning>) {
    let mut groups: Vec<(WarningKind, Warning)> = Vec::new();
    for (place, warning) in places(summary) {
        let item = WarningItem {
            place,
            words: warning.text.clone(),
        };
        let known = groups
            .iter_mut()
            .find(|(kind, group)| *kind == warning.kind && group.remedy == warning.remedy);
        match known {
            Some((_, group)) => group.items.push(item),
            None => groups.push((
                warning.kind,
                Warning {
                    level: level(warning.kind),
                    items: vec![item],
                    remedy: warning.remedy.clone(),
                },
            )),
        }
    }
    let said = groups
        .iter()
        .any(|(kind, _)| *kind == WarningKind::NotFinished);
    let mut all: Vec<Warning> = groups
        .into_iter()
        .map(|(_, warning)| same_words(warning))
        .collect();
    all.extend(unfinished(summary).filter(|_| !said));
    all.extend(defects(summary));
    all.sort_by_key(|warning| std::cmp::Reverse(warning.level));
    all.into_iter()
        .partition(|warning| warning.level == Level::Grave)
}

/// All warnings with the place that they are about.
fn places(summary: &Summary) -> Vec<(String, &summary::Warning)> {
    let of_run = summary
        .warnings
        .iter()
        .map(|warning| (warning.flow.clone().unwrap_or_default(), warning));
    let of_trials = summary.trials.iter().flat_map(|trial| {
        trial.warnings.iter().map(move |warning| {
            let place = match &warning.flow {
                Some(flow) if trial.flows.len() > 1 => format!("{}, {flow}", trial_name(trial)),
                _ => trial_name(trial),
            };
            (place, warning)
        })
    });
    of_run.chain(of_trials).collect()
}

/// When all places have the same words, one item says them, with the places in a row.
fn same_words(mut warning: Warning) -> Warning {
    let same = warning.items.windows(2).all(|pair| match pair {
        [one, next] => one.words == next.words,
        _ => true,
    });
    if same && warning.items.len() > 1 {
        let places: Vec<String> = warning
            .items
            .iter()
            .map(|item| item.place.clone())
            .collect();
        warning.items.truncate(1);
        if let Some(item) = warning.items.first_mut() {
            item.place = places.join(", ");
        }
    }
    warning
}

/// A run that did not end as planned always says so, even if the summary has no warning of it.
fn unfinished(summary: &Summary) -> impl Iterator<Item = Warning> {
    let words = match summary.run.status {
        RunStatus::Complete => None,
        RunStatus::Running => Some("This run still goes on; these are the figures so far."),
        RunStatus::Failed => {
            Some("This run failed; the figures are of what was measured until then.")
        }
        RunStatus::Interrupted => {
            Some("This run was interrupted; the figures are of what was measured until then.")
        }
        RunStatus::CutShort => Some(
            "This run was cut short: its process ended without a word. The figures are of what was \
             on disk by then.",
        ),
    };
    let why = summary
        .run
        .why
        .as_ref()
        .map_or_else(String::new, |why| format!(" {why}"));
    words.into_iter().map(move |words| Warning {
        level: Level::Grave,
        items: vec![WarningItem {
            place: String::new(),
            words: format!("{words}{why}"),
        }],
        remedy: String::new(),
    })
}

/// What is missing in the folder, as one caution.
fn defects(summary: &Summary) -> Option<Warning> {
    let items: Vec<WarningItem> = summary
        .defects
        .iter()
        .map(|defect| WarningItem {
            place: match defect.line {
                Some(line) => format!("{}, line {line}", defect.file),
                None => defect.file.clone(),
            },
            words: defect.what.clone(),
        })
        .collect();
    (!items.is_empty()).then(|| Warning {
        level: Level::Caution,
        items,
        remedy: "The run folder is not whole. What is missing is not in the figures.".to_owned(),
    })
}

fn level(kind: WarningKind) -> Level {
    match kind {
        WarningKind::NotFinished
        | WarningKind::CountsDisagree
        | WarningKind::CorruptRecords
        | WarningKind::SendsFailed
        | WarningKind::SendsIndeterminate
        | WarningKind::RecordsUnresolved
        | WarningKind::GeneratorLimited
        | WarningKind::GeneratorLate
        | WarningKind::DebugBuild => Level::Grave,
        WarningKind::GeneratorUnknown
        | WarningKind::RecordsSkipped
        | WarningKind::LittlesLawBroken
        | WarningKind::FollowersBehind
        | WarningKind::AcksNone
        | WarningKind::ClockAnomalies
        | WarningKind::Throttled
        | WarningKind::SameMachine
        | WarningKind::RepeatsMissing
        | WarningKind::TwoModes => Level::Caution,
        WarningKind::ClockSource
        | WarningKind::SingleRepeat
        | WarningKind::WideInterval
        | WarningKind::ShortHold
        | WarningKind::FewSamples => Level::Note,
    }
}
