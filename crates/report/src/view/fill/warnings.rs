//! Which warnings stand before the figures, and how those of many trials become few boxes.

use kgauge_results::run::RunStatus;
use kgauge_results::summary;
use kgauge_results::summary::{Summary, WarningKind};

use super::trial_name;
use crate::format;
use crate::view::{Level, Warning, WarningItem};

/// (Notices before any figure, other warnings), each gravest first.
pub(super) fn sorted(summary: &Summary) -> (Vec<Warning>, Vec<Warning>) {
    let mut groups: Vec<(WarningKind, Warning)> = Vec::new();
    for (place, warning) in places(summary) {
        let words = without_flow(warning);
        let item = WarningItem { place, words };
        let known = groups
            .iter_mut()
            .find(|(kind, group)| *kind == warning.kind && group.remedy == warning.remedy);
        match known {
            Some((_, group)) => group.items.push(item),
            None => groups.push((
                warning.kind,
                Warning {
                    level: level(warning.kind),
                    words: String::new(),
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
        .map(|(_, warning)| shared_words(warning))
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

/// The words of a warning without the flow's name before them: the place tells it.
fn without_flow(warning: &summary::Warning) -> String {
    let flow = warning.flow.as_deref().unwrap_or_default();
    let rest = warning
        .text
        .strip_prefix(flow)
        .and_then(|rest| rest.strip_prefix(": "));
    rest.map_or_else(|| warning.text.clone(), format::capital)
}

/// What several places have in common is said once: all of their words, or their first sentence.
fn shared_words(mut warning: Warning) -> Warning {
    let [first, _, ..] = warning.items.as_slice() else {
        return warning;
    };
    let first = first.words.clone();
    let all = |shared: &str| {
        warning
            .items
            .iter()
            .all(|item| item.words.starts_with(shared))
    };
    if warning.items.iter().all(|item| item.words == first) {
        let places: Vec<&str> = warning
            .items
            .iter()
            .map(|item| item.place.as_str())
            .collect();
        warning.items = vec![WarningItem {
            place: places.join(", "),
            words: first,
        }];
    } else if let Some(end) = first.find(". ").filter(|end| all(&first[..end + 2])) {
        warning.words = first[..=end].to_owned();
        for item in &mut warning.items {
            item.words.drain(..end + 2);
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
        words: String::new(),
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
        words: String::new(),
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
