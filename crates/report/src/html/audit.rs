//! Caveats of published lines: a few words next to each figure, sentences below the table. Why a figure cannot be
//! compared, and the findings of its audit.

use kgauge_analyze::summary::{PublishedComparison, PublishedStatus};
use kgauge_scenario::{FindingSeverity, PublishedFinding};

use crate::format;
use crate::markup::Markup;
use crate::text;
use crate::view::{ReportView, TrialView, published};

/// The level of a sentence: a finding's severity, or `None` for the reason why a figure cannot be compared.
type AuditLevel = Option<FindingSeverity>;

/// The levels in the order of the page.
const LEVELS: [AuditLevel; 4] = [
    None,
    Some(FindingSeverity::Contradiction),
    Some(FindingSeverity::Artefact),
    Some(FindingSeverity::Caution),
];

/// `2 artefacts`.
fn counted(level: AuditLevel, count: u64) -> String {
    let (one, several) = match level {
        None => ("not comparable", "not comparable"),
        Some(FindingSeverity::Contradiction) => ("contradiction", "contradictions"),
        Some(FindingSeverity::Artefact) => ("artefact", "artefacts"),
        Some(FindingSeverity::Caution) => ("caution", "cautions"),
    };
    format::plural(count, one, several)
}

/// A sentence about one or more published figures of a trial.
struct AuditSentence {
    level: AuditLevel,
    text: String,
    /// The published figures.
    figures: Vec<String>,
}

/// A link to the reason why a figure cannot be compared.
pub(super) fn write_why(page: &mut Markup, trial: &TrialView, published: &PublishedComparison) {
    if published.word == PublishedStatus::NotComparable {
        let link = format!("#{}", id(trial));
        page.text(" ");
        page.leaf("a", &[("class", "small"), ("href", &link)], "why");
    }
}

/// How the audit of one published line ended, as a link to its sentences.
pub(super) fn write_summary(page: &mut Markup, trial: &TrialView, findings: &[PublishedFinding]) {
    if findings.is_empty() {
        return;
    }
    let link = format!("#{}", id(trial));
    let levels = findings.iter().map(|finding| Some(finding.level));
    let counts = format!("audit: {}", count_by_level(levels));
    page.element("span", &[("class", "small block")], |page| {
        page.leaf("a", &[("href", &link)], &counts);
    });
}

/// The sentences, folded, for each trial with a line of which something must be known.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    let trials = || view.scenarios.iter().flat_map(|scenario| &scenario.trials);
    let target = &view.target.words;
    if trials().all(|trial| sentences(trial, target).is_empty()) {
        return;
    }
    page.leaf("h3", &[], "About the published lines");
    page.leaf(
        "p",
        &[("class", "small")],
        "Consistency checks on the published lines, from arithmetic and known tool behaviour. \
         None of this was measured here.",
    );
    for trial in trials() {
        write_trial(page, trial, target);
    }
}

fn write_trial(page: &mut Markup, trial: &TrialView, target: &str) {
    let sentences = sentences(trial, target);
    if sentences.is_empty() {
        return;
    }
    let lines = lines(trial).count();
    page.element("details", &[("class", "audit")], |page| {
        let counts = count_by_level(sentences.iter().map(|one| one.level));
        page.leaf("summary", &[], &format!("{}: {counts}", trial.name));
        page.element("ul", &[("id", &id(trial))], |page| {
            for sentence in &sentences {
                page.element("li", &[], |page| {
                    page.text(&sentence.text);
                    if lines > 1 {
                        let figures = format!("Published: {}", sentence.figures.join("; "));
                        page.leaf("span", &[("class", "small block")], &figures);
                    }
                });
            }
        });
    });
}

fn lines<'a>(trial: &TrialView<'a>) -> impl Iterator<Item = &'a PublishedComparison> {
    trial.flows.iter().flat_map(|flow| flow.published())
}

/// Each sentence once, with the published figures that it is about, in the order of the levels.
fn sentences(trial: &TrialView, target: &str) -> Vec<AuditSentence> {
    let mut sentences: Vec<AuditSentence> = Vec::new();
    for line in lines(trial) {
        let is_comparable = line.word != PublishedStatus::NotComparable;
        let reason = (!is_comparable).then(|| {
            let text = text::goal::published(line, target);
            (None, text)
        });
        let findings = line.audit.iter().map(|finding| {
            let text = format!("{}: {}", finding.level, finding.text);
            (Some(finding.level), text)
        });
        for (level, text) in reason.into_iter().chain(findings) {
            let figure = published::value(line);
            match sentences.iter_mut().find(|one| one.text == text) {
                Some(sentence) => sentence.figures.push(figure),
                None => sentences.push(AuditSentence {
                    level,
                    text,
                    figures: vec![figure],
                }),
            }
        }
    }
    sentences.sort_by_key(|sentence| LEVELS.iter().position(|level| *level == sentence.level));
    sentences
}

/// `1 contradiction, 2 artefacts`.
fn count_by_level(levels: impl Iterator<Item = AuditLevel>) -> String {
    let levels: Vec<AuditLevel> = levels.collect();
    let counts = LEVELS.into_iter().filter_map(|level| {
        let count = levels.iter().filter(|one| **one == level).count() as u64;
        (count > 0).then(|| counted(level, count))
    });
    counts.collect::<Vec<_>>().join(", ")
}

fn id(trial: &TrialView) -> String {
    format!("audit-{}", trial.id)
}
