//! What must be known of published lines: in a few words beside each figure, in sentences below the table. Why a figure
//! cannot be compared, and what arithmetic says of its line.

use crate::format;
use crate::markup::Markup;
use crate::view::{PublishedFigureView, PublishedStatusView, ReportView, TrialView};

/// What the reason of a figure that cannot be compared begins with.
const NOT_COMPARABLE: &str = "Not comparable";

/// What a finding's sentence begins with, and the word for it in a list.
const LEVELS: [(&str, &str); 4] = [
    (NOT_COMPARABLE, "not comparable"),
    ("contradiction", "contradictions"),
    ("artefact", "artefacts"),
    ("caution", "cautions"),
];

/// Where it stands why a figure cannot be compared.
pub(super) fn write_why(page: &mut Markup, trial: &TrialView, published: &PublishedFigureView) {
    if reason(published).is_some() {
        let link = format!("#{}", id(trial));
        page.text(" ");
        page.leaf("a", &[("class", "small"), ("href", &link)], "why");
    }
}

fn reason(published: &PublishedFigureView) -> Option<&String> {
    let told = published.word == PublishedStatusView::NotComparable && !published.reason.is_empty();
    told.then_some(&published.reason)
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
    if !trials().any(|trial| !by_sentence(trial).is_empty()) {
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
        write_trial(page, trial);
    }
}

fn write_trial(page: &mut Markup, trial: &TrialView) {
    let findings = by_sentence(trial);
    if findings.is_empty() {
        return;
    }
    let lines = lines(trial).count();
    page.element("details", &[("class", "audit")], |page| {
        let sentences: Vec<String> = findings.iter().map(|(one, _)| (*one).to_owned()).collect();
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

fn lines(trial: &TrialView) -> impl Iterator<Item = &PublishedFigureView> {
    trial.flows.iter().flat_map(|flow| &flow.published)
}

/// Each sentence once, with the published figures of whose lines it is true, in the order of the levels.
fn by_sentence(trial: &TrialView) -> Vec<(&str, Vec<&str>)> {
    let mut sentences: Vec<(&str, Vec<&str>)> = Vec::new();
    for published in lines(trial) {
        for finding in reason(published).into_iter().chain(&published.audit) {
            match sentences.iter_mut().find(|(one, _)| one == finding) {
                Some((_, of)) => of.push(&published.text),
                None => sentences.push((finding, vec![&published.text])),
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
