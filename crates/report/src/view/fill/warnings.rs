//! Which warnings precede the figures, and how those of many trials become few boxes.

use std::collections::BTreeSet;

use kgauge_analyze::summary;
use kgauge_analyze::summary::{Summary, TrialSummary, WarningFinding, WarningKind};
use kgauge_results::run::RunStatus;

use super::headline;
use crate::text::trial::name as trial_name;
use crate::text::warning::{self, WarningText};
use crate::text::warning_kind::{about, remedy};
use crate::text::warning_line::{self, WarningContext};
use crate::view::{Severity, WarningItem, WarningView};

/// (Notices before any figure, other warnings), each with the most severe first.
pub(super) fn sorted(context: &WarningContext<'_>) -> (Vec<WarningView>, Vec<WarningView>) {
    let summary = context.summary;
    let mut groups: Vec<Group<'_>> = Vec::new();
    for warning in &summary.warnings {
        add(&mut groups, warning, None);
    }
    for (index, trial) in summary.trials.iter().enumerate() {
        for warning in &trial.warnings {
            add(&mut groups, warning, Some((index, trial)));
        }
    }
    let has_unfinished = groups
        .iter()
        .any(|group| group.kind == WarningKind::NotFinished);
    let mut all: Vec<WarningView> = groups.iter().map(|group| group.warning(context)).collect();
    if !has_unfinished {
        all.extend(unfinished(context));
    }
    all.extend(defects(summary));
    all.sort_by_key(|warning| std::cmp::Reverse(warning.level));
    all.into_iter()
        .partition(|warning| warning.level == Severity::Grave)
}

/// All warnings of one kind.
struct Group<'a> {
    kind: WarningKind,
    /// The run has ended, and early.
    has_ended: bool,
    /// All of them.
    findings: Vec<&'a WarningFinding>,
    /// Texts, and where they are true.
    items: Vec<(WarningText, Vec<WarningPlace<'a>>)>,
}

/// A trial by its position in the summary, and one of its flows where only that is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
struct WarningPlace<'a> {
    trial: usize,
    flow: Option<&'a str>,
}

fn add<'a>(
    groups: &mut Vec<Group<'a>>,
    warning: &'a summary::Warning,
    trial: Option<(usize, &'a TrialSummary)>,
) {
    let kind = warning.kind();
    let known = groups.iter().position(|group| group.kind == kind);
    let position = known.unwrap_or_else(|| {
        groups.push(Group {
            kind,
            has_ended: false,
            findings: Vec::new(),
            items: Vec::new(),
        });
        groups.len() - 1
    });
    let Some(group) = groups.get_mut(position) else {
        return;
    };
    if let WarningFinding::NotFinished { status, .. } = warning.finding {
        group.has_ended |= status != Some(RunStatus::Running);
    }
    group.findings.push(&warning.finding);
    let text = warning::text(warning, trial.map(|(_, trial)| trial));
    let flow = warning.flow.as_deref();
    let place = trial.map(|(trial, _)| WarningPlace { trial, flow });
    match group.items.iter_mut().find(|(known, _)| *known == text) {
        Some((_, places)) => places.extend(place),
        None => group.items.push((text, place.into_iter().collect())),
    }
}

impl Group<'_> {
    fn warning(&self, context: &WarningContext<'_>) -> WarningView {
        let summary = context.summary;
        let about = about(self.kind);
        let shared = self.shared();
        let item = |(text, places): &(WarningText, Vec<WarningPlace<'_>>)| WarningItem {
            place: place_words(places, summary),
            words: match shared {
                Some(_) => text.rest.clone(),
                None => text.whole(),
            },
        };
        let items: Vec<WarningItem> = self.items.iter().map(item).collect();
        let of_one = || match (self.items.as_slice(), items.as_slice()) {
            ([(text, _)], [item]) => {
                headline::of_one(&item.place, text, self.is_everywhere(summary))
            }
            _ => None,
        };
        let (short, evidence) = match shared {
            // Why it ended is a text from anywhere: it is not shown before the answer.
            _ if self.has_ended => None,
            Some(shared) if headline::is_short(shared) => Some((shared.to_owned(), items.clone())),
            _ => of_one(),
        }
        .unwrap_or_else(|| (about.title.to_owned(), items.clone()));
        // The loads of a checkup are short on purpose, and have no warm-up to lengthen.
        let is_minor = self.kind == WarningKind::NotSteady && summary.checkup.is_some();
        let is_quick = summary.run.size.as_deref() == Some("quick");
        WarningView {
            level: if is_minor {
                Severity::Note
            } else {
                about.level
            },
            short,
            line: warning_line::line(self.kind, &self.findings, self.trials(), context),
            evidence,
            words: shared.unwrap_or_default().to_owned(),
            items,
            remedy: remedy(&self.findings, is_quick),
        }
    }

    /// How many trials have it; 0 if it is about the whole run.
    fn trials(&self) -> usize {
        let places = self.items.iter().flat_map(|(_, places)| places);
        let trials: BTreeSet<usize> = places.map(|place| place.trial).collect();
        trials.len()
    }

    /// Whether each trial has it, so that its places need no names.
    fn is_everywhere(&self, summary: &Summary) -> bool {
        let of_run = |(_, places): &(WarningText, Vec<WarningPlace<'_>>)| places.is_empty();
        let has = |index: usize| {
            let mut places = self.items.iter().flat_map(|(_, places)| places);
            places.any(|place| place.trial == index && place.flow.is_none())
        };
        self.items.iter().all(of_run) || (0..summary.trials.len()).all(has)
    }

    /// The opening that several items have in common: it is shown once, before them.
    fn shared(&self) -> Option<&str> {
        let [(first, _), others @ ..] = self.items.as_slice() else {
            return None;
        };
        let is_same = |(text, _): &(WarningText, _)| text.opening == first.opening;
        let is_shared = !others.is_empty() && !first.rest.is_empty() && others.iter().all(is_same);
        is_shared.then_some(first.opening.as_str())
    }
}

/// A whole scenario by its name, else trial by trial.
fn place_words(places: &[WarningPlace<'_>], summary: &Summary) -> String {
    let mut words: Vec<String> = Vec::new();
    for place in places {
        let Some(trial) = summary.trials.get(place.trial) else {
            continue;
        };
        let of_scenario = |index: &usize| {
            summary
                .trials
                .get(*index)
                .is_some_and(|other| other.scenario == trial.scenario)
        };
        let mut others = (0..summary.trials.len()).filter(of_scenario);
        let whole = others.all(|index| places.iter().any(|place| place.trial == index));
        let name = match whole {
            true => trial.scenario.clone(),
            false => trial_name(trial),
        };
        let every_flow = trial.flows.iter().all(|flow| {
            let flow = Some(flow.name.as_str());
            places
                .iter()
                .any(|other| other.trial == place.trial && other.flow == flow)
        });
        let name = match place.flow {
            Some(flow) if !every_flow => format!("{name} ({flow})"),
            _ => name,
        };
        if !words.contains(&name) {
            words.push(name);
        }
    }
    words.join(", ")
}

/// A run that did not end as planned always has a caveat, even if the summary has no warning about it.
fn unfinished(context: &WarningContext<'_>) -> Option<WarningView> {
    let summary = context.summary;
    let words = match summary.run.status {
        RunStatus::Complete => None,
        RunStatus::Running => Some("This run is still in progress; these figures are preliminary."),
        RunStatus::Failed => {
            Some("This run failed; the figures cover what was measured before that.")
        }
        RunStatus::Interrupted => {
            Some("This run was interrupted; the figures cover what was measured before that.")
        }
        RunStatus::CutShort => Some(
            "This run was cut short: its process ended unexpectedly. The figures cover what was \
             on disk.",
        ),
    };
    let why = summary
        .run
        .why
        .as_ref()
        .map_or_else(String::new, |why| format!(" {why}"));
    words.map(|words| WarningView {
        words: String::new(),
        level: Severity::Grave,
        short: about(WarningKind::NotFinished).title.to_owned(),
        line: warning_line::line(WarningKind::NotFinished, &[], 0, context),
        evidence: vec![WarningItem {
            place: String::new(),
            words: format!("{words}{why}"),
        }],
        items: vec![WarningItem {
            place: String::new(),
            words: format!("{words}{why}"),
        }],
        remedy: String::new(),
    })
}

/// What is missing in the folder, as one caution.
fn defects(summary: &Summary) -> Option<WarningView> {
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
    (!items.is_empty()).then(|| WarningView {
        words: String::new(),
        level: Severity::Caution,
        short: "The run folder is incomplete.".to_owned(),
        line: "the run folder is incomplete; the figures exclude what is missing".to_owned(),
        evidence: items.clone(),
        items,
        remedy: "The figures exclude what is missing from the run folder.".to_owned(),
    })
}
