//! The top of the page: whose report, what must be known first, the questions with their answers.

use kgauge_analyze::summary::GoalStatus;

use super::scenario_id;
use crate::markup::{Markup, unbroken};
use crate::view::{GoalView, PARTITIONS, ReportView, Severity, WarningItem, WarningView};

/// Name, target, run.
pub(super) fn write_header(page: &mut Markup, view: &ReportView) {
    page.element("header", &[("class", "top")], |page| {
        page.leaf("p", &[("class", "brand")], "kgauge report");
        page.leaf("h1", &[], &view.title);
        for sentence in &view.about {
            page.leaf("p", &[("class", "about")], sentence);
        }
        page.element("dl", &[("class", "head-facts")], |page| {
            let took = view.run.took.as_deref().unwrap_or("not finished");
            let facts = [
                ("Target", view.target.name.as_str()),
                ("Started", &view.run.started),
                ("Took", took),
                ("Broker warm-up", &view.run.warmed),
                ("Run", &view.summary.run_id),
            ];
            for (name, value) in facts.into_iter().filter(|(_, value)| !value.is_empty()) {
                page.element("div", &[], |page| {
                    page.leaf("dt", &[], name);
                    page.leaf("dd", &[], value);
                });
            }
        });
    });
    page.line();
}

/// What must be known before any figure: a short sentence for each matter. Their reasons are with the warnings, so that
/// the summary stays near the top.
pub(super) fn write_notices(page: &mut Markup, view: &ReportView) {
    if !view.notices.is_empty() {
        write_box(page, Severity::Grave, |page| {
            for (index, notice) in view.notices.iter().enumerate() {
                page.element("p", &[], |page| {
                    page.text(&unbroken(&notice.short));
                    if notice.says_more() {
                        page.text(" ");
                        let link = format!("#{}", matter_id(index));
                        page.leaf("a", &[("class", "small"), ("href", &link)], "why");
                    }
                });
                if !notice.says_more() {
                    write_remedy(page, notice);
                }
            }
        });
    }
    if !view.target.caution.is_empty() {
        write_box(page, Severity::Caution, |page| {
            page.leaf("p", &[], &view.target.caution);
        });
    }
}

fn matter_id(index: usize) -> String {
    format!("matter-{}", index + 1)
}

/// What a notice at the top rests on.
fn write_matter(page: &mut Markup, index: usize, notice: &WarningView) {
    page.element("div", &[("id", &matter_id(index))], |page| {
        write_box(page, notice.level, |page| {
            page.prose("p", &[], &notice.short);
            write_evidence(page, &notice.evidence);
            write_remedy(page, notice);
        });
    });
}

/// Questions with their answers, and the verdicts.
pub(super) fn write_short(page: &mut Markup, view: &ReportView) {
    page.element(
        "section",
        &[("class", "short"), ("aria-labelledby", "short")],
        |page| {
            page.leaf("h2", &[("id", "short")], "Summary");
            for (index, scenario) in view.scenarios.iter().enumerate() {
                page.element("article", &[("class", "answer")], |page| {
                    let question = match scenario.question.is_empty() {
                        true => &scenario.name,
                        false => &scenario.question,
                    };
                    let href = format!("#{}", scenario_id(index));
                    page.element("h3", &[], |page| {
                        page.leaf("a", &[("href", &href)], question)
                    });
                    page.prose("p", &[], &scenario.answer);
                });
            }
            if let Some(sentence) = &view.partitions {
                page.element("article", &[("class", "answer")], |page| {
                    page.leaf("h3", &[], PARTITIONS);
                    page.prose("p", &[], sentence);
                });
            }
            write_limits(page, view);
            if !view.verdicts.is_empty() {
                page.leaf("h3", &[], "Goals");
                page.element("ul", &[("class", "verdicts")], |page| {
                    view.verdicts
                        .iter()
                        .for_each(|verdict| write_verdict(page, verdict));
                });
            }
        },
    );
    page.line();
}

/// What limited it; of a single trial with what that rests on, folded.
fn write_limits(page: &mut Markup, view: &ReportView) {
    let Some((first, others)) = view.limits.split_first() else {
        return;
    };
    page.leaf("h3", &[("id", "limits")], "Bottleneck");
    let list = |page: &mut Markup, sentences: &[String]| {
        page.element("ul", &[], |page| {
            sentences
                .iter()
                .for_each(|sentence| page.prose("li", &[], sentence));
        });
    };
    let trials = view.scenarios.iter().map(|scenario| scenario.trials.len());
    match trials.sum::<usize>() {
        1 if !others.is_empty() => page.element("details", &[("class", "matter")], |page| {
            page.prose("summary", &[], first);
            list(page, others);
        }),
        1 => page.prose("p", &[], first),
        _ => list(page, &view.limits),
    }
}

fn write_verdict(page: &mut Markup, verdict: &GoalView) {
    let (class, word) = match verdict.word {
        GoalStatus::Held => ("badge good", "held"),
        GoalStatus::NotHeld => ("badge bad", "missed"),
        GoalStatus::Undecided => ("badge", "inconclusive"),
        GoalStatus::NotMeasured => ("badge bad", "not measured"),
    };
    page.element("li", &[], |page| {
        page.leaf("span", &[("class", class)], word);
        page.text(" ");
        page.text(&unbroken(&verdict.words));
    });
}

/// Warnings with their fix, the most severe first.
pub(super) fn write_warnings(page: &mut Markup, view: &ReportView) {
    if view.to_mind().next().is_none() {
        return;
    }
    page.element("section", &[("aria-labelledby", "warnings")], |page| {
        page.leaf("h2", &[("id", "warnings")], "Caveats");
        for (index, notice) in view.notices.iter().enumerate() {
            if notice.says_more() {
                write_matter(page, index, notice);
            }
        }
        view.warnings
            .iter()
            .for_each(|warning| write_warning(page, warning));
    });
    page.line();
}

fn write_warning(page: &mut Markup, warning: &WarningView) {
    write_box(page, warning.level, |page| {
        if !warning.words.is_empty() {
            page.prose("p", &[], &warning.words);
        }
        write_evidence(page, &warning.items);
        write_remedy(page, warning);
    });
}

/// A box with its severity.
fn write_box(page: &mut Markup, level: Severity, content: impl FnOnce(&mut Markup)) {
    let (class, word) = match level {
        Severity::Note => ("notice note-box", "Note"),
        Severity::Caution => ("notice caution", "Caution"),
        Severity::Grave => ("notice grave", "Important"),
    };
    page.element("div", &[("class", class)], |page| {
        page.leaf("span", &[("class", "notice-word")], word);
        page.element("div", &[], content);
    });
    page.line();
}

fn write_evidence(page: &mut Markup, items: &[WarningItem]) {
    match items {
        [] => {}
        [item] => page.element("p", &[], |page| write_item(page, item)),
        items => write_items(page, items),
    }
}

fn write_remedy(page: &mut Markup, warning: &WarningView) {
    if !warning.remedy.is_empty() {
        page.leaf("p", &[("class", "remedy")], &warning.remedy);
    }
}

/// The first few; the others are folded.
fn write_items(page: &mut Markup, items: &[WarningItem]) {
    const SHOWN: usize = 4;
    let list = |page: &mut Markup, items: &[WarningItem]| {
        page.element("ul", &[], |page| {
            items
                .iter()
                .for_each(|item| page.element("li", &[], |page| write_item(page, item)));
        });
    };
    let (shown, folded) = items.split_at(items.len().min(SHOWN));
    list(page, shown);
    if !folded.is_empty() {
        page.element("details", &[], |page| {
            page.leaf("summary", &[], &format!("{} more", folded.len()));
            list(page, folded);
        });
    }
}

fn write_item(page: &mut Markup, item: &WarningItem) {
    if !item.place.is_empty() {
        page.leaf("strong", &[], &item.place);
        page.text(": ");
    }
    page.text(&unbroken(&item.words));
}
