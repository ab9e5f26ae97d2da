//! Caveats of published lines: a few words next to each figure, sentences below the table. Why a figure cannot be
//! compared, and the findings of its audit.

use kgauge_analyze::summary::{PublishedComparison, PublishedStatus};

use crate::format;
use crate::markup::Markup;
use crate::text;
use crate::view::{ReportView, TrialView, published};

/// What the reason of a figure that cannot be compared begins with.
const NOT_COMPARABLE: &str = "Not comparable";

/// How a finding's sentence begins, and its plural.
const LEVELS: [(&str, &str); 4] = [
    (NOT_COMPARABLE, "not comparable"),
    ("contradiction", "contradictions"),
    ("artefact", "artefacts"),
    ("caution", "cautions"),
];

/// A link to the reason why a figure cannot be compared.
pub(super) fn write_why(page: &mut Markup, trial: &TrialView, published: &PublishedComparison) {
    if published.word == PublishedStatus::NotComparable {
        let link = format!("#{}", id(trial));
        page.text(" ");
        page.leaf("a", &[("class", "small"), ("href", &link)], "why");
    }
}

/// How the audit of one published line ended, as a link to its sentences.
pub(super) fn write_summary(page: &mut Markup, trial: &TrialView, findings: &[String]) {
    if findings.is_empty() {
        return;
    }
    let link = format!("#{}", id(trial));
    page.element("span", &[("class", "small block")], |page| {
        page.leaf(
            "a",
            &[("href", &link)],
            &format!("audit: {}", count_by_level(findings)),
        );
    });
}

/// The sentences, folded, for each trial with a line of which something must be known.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    let trials = || view.scenarios.iter().flat_map(|scenario| &scenario.trials);
    let target = &view.target.words;
    if trials().all(|trial| by_sentence(trial, target).is_empty()) {
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
    let findings = by_sentence(trial, target);
    if findings.is_empty() {
        return;
    }
    let lines = lines(trial).count();
    page.element("details", &[("class", "audit")], |page| {
        let sentences: Vec<String> = findings.iter().map(|(one, _)| one.clone()).collect();
        let summary = match count_by_level(&sentences) {
            told if told.is_empty() => trial.name.clone(),
            told => format!("{}: {told}", trial.name),
        };
        page.leaf("summary", &[], &summary);
        page.element("ul", &[("id", &id(trial))], |page| {
            for (finding, published) in &findings {
                page.element("li", &[], |page| {
                    page.text(finding);
                    if lines > 1 {
                        let of = format!("Published: {}", published.join("; "));
                        page.leaf("span", &[("class", "small block")], &of);
                    }
                });
            }
        });
    });
}

fn lines<'a>(trial: &TrialView<'a>) -> impl Iterator<Item = &'a PublishedComparison> {
    trial.flows.iter().flat_map(|flow| flow.published())
}

/// Each sentence once, with the published figures of whose lines it is true, in the order of the levels.
fn by_sentence(trial: &TrialView, target: &str) -> Vec<(String, Vec<String>)> {
    let mut sentences: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines(trial) {
        let is_other = line.word == PublishedStatus::NotComparable;
        let reason = is_other.then(|| text::goal::published(line, target));
        for finding in reason.into_iter().chain(line.audit.iter().cloned()) {
            match sentences.iter_mut().find(|(one, _)| *one == finding) {
                Some((_, of)) => of.push(published::value(line)),
                None => sentences.push((finding, vec![published::value(line)])),
            }
        }
    }
    let level = |finding: &str| LEVELS.iter().position(|(one, _)| finding.starts_with(one));
    sentences.sort_by_key(|(finding, _)| level(finding));
    sentences
}

/// `1 contradiction, 2 artefacts`.
fn count_by_level(findings: &[String]) -> String {
    let levels = LEVELS.iter().filter_map(|(one, several)| {
        let found = findings.iter().filter(|finding| finding.starts_with(one));
        let count = found.count() as u64;
        (count > 0).then(|| format::plural(count, one, several))
    });
    levels.collect::<Vec<_>>().join(", ")
}

fn id(trial: &TrialView) -> String {
    format!("audit-{}", trial.id)
}
