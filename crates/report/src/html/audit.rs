//! What arithmetic says of published lines: how it ended beside each figure, the sentences below the table.

use crate::format;
use crate::markup::Markup;
use crate::view::{Published, Trial, View};

/// What a finding's sentence begins with, and the word for several.
const LEVELS: [(&str, &str); 3] = [
    ("contradiction", "contradictions"),
    ("artefact", "artefacts"),
    ("caution", "cautions"),
];

/// How the audit of one published line ended, as a link to its sentences.
pub(super) fn write_summary(page: &mut Markup, trial: &Trial, findings: &[String]) {
    if findings.is_empty() {
        return;
    }
    let link = format!("#{}", id(trial));
    page.element("span", &[("class", "small block")], |page| {
        page.leaf(
            "a",
            &[("href", &link)],
            &format!("audit: {}", told(findings)),
        );
    });
}

/// The sentences, folded, for each trial with a line that arithmetic finds something in.
pub(super) fn write(page: &mut Markup, view: &View) {
    let trials = || view.scenarios.iter().flat_map(|scenario| &scenario.trials);
    if !trials().any(|trial| audited(trial).next().is_some()) {
        return;
    }
    page.leaf("h3", &[], "Audit of the published lines");
    page.leaf(
        "p",
        &[("class", "small")],
        "Only arithmetic on the published lines and what their tool is known to print; nothing of it was measured here.",
    );
    for trial in trials() {
        write_trial(page, trial);
    }
}

fn write_trial(page: &mut Markup, trial: &Trial) {
    let findings = by_sentence(trial);
    if findings.is_empty() {
        return;
    }
    let lines = audited(trial).count();
    page.element("details", &[("class", "audit")], |page| {
        let sentences: Vec<String> = findings.iter().map(|(one, _)| (*one).to_owned()).collect();
        let summary = format!("{}: {}", trial.name, told(&sentences));
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

fn audited(trial: &Trial) -> impl Iterator<Item = &Published> {
    let all = trial.flows.iter().flat_map(|flow| &flow.published);
    all.filter(|published| !published.audit.is_empty())
}

/// Each sentence once, with the published figures of whose lines it is true, contradictions first.
fn by_sentence(trial: &Trial) -> Vec<(&str, Vec<&str>)> {
    let mut sentences: Vec<(&str, Vec<&str>)> = Vec::new();
    for published in audited(trial) {
        for finding in &published.audit {
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
fn told(findings: &[String]) -> String {
    let levels = LEVELS.iter().filter_map(|(one, several)| {
        let found = findings.iter().filter(|finding| finding.starts_with(one));
        let count = found.count() as u64;
        (count > 0).then(|| format::plural(count, one, several))
    });
    levels.collect::<Vec<_>>().join(", ")
}

fn id(trial: &Trial) -> String {
    format!("audit-{}", trial.id)
}
