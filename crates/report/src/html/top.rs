//! The top of the page: whose report, what must be known first, the questions with their answers.

use super::scenario_id;
use crate::markup::Markup;
use crate::view::{Level, Notice, Verdict, View, Warning};

/// Name, target, run.
pub(super) fn write_header(page: &mut Markup, view: &View) {
    page.element("header", &[("class", "top")], |page| {
        page.leaf("p", &[("class", "brand")], "kgauge report");
        page.leaf("h1", &[], &view.title);
        for sentence in &view.about {
            page.leaf("p", &[("class", "about")], sentence);
        }
        page.element("dl", &[("class", "head-facts")], |page| {
            let took = view.run.took.as_deref().unwrap_or("unknown");
            let facts = [
                ("Target", view.target.name.as_str()),
                ("Started", &view.run.started),
                ("Took", took),
                ("Run", &view.run.id),
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

/// What must be known before any figure.
pub(super) fn write_notices(page: &mut Markup, view: &View) {
    for Notice {
        level,
        words,
        remedy,
    } in &view.notices
    {
        write_box(page, *level, "", words, remedy);
    }
    if !view.target.caution.is_empty() {
        write_box(
            page,
            Level::Caution,
            &view.target.name,
            &view.target.caution,
            "",
        );
    }
}

/// Questions with their answers, and the verdicts.
pub(super) fn write_short(page: &mut Markup, view: &View) {
    page.element(
        "section",
        &[("class", "short"), ("aria-labelledby", "short")],
        |page| {
            page.leaf("h2", &[("id", "short")], "In short");
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
                    page.leaf("p", &[], &scenario.answer);
                });
            }
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

fn write_verdict(page: &mut Markup, verdict: &Verdict) {
    let (class, word) = match verdict.held {
        Some(true) => ("badge good", "held"),
        Some(false) => ("badge bad", "missed"),
        None => ("badge", "undecided"),
    };
    page.element("li", &[], |page| {
        page.leaf("span", &[("class", class)], word);
        page.text(" ");
        page.text(&verdict.words);
    });
}

/// Warnings with their cure, gravest first as the view orders them.
pub(super) fn write_warnings(page: &mut Markup, view: &View) {
    if view.warnings.is_empty() {
        return;
    }
    page.element("section", &[("aria-labelledby", "warnings")], |page| {
        page.leaf("h2", &[("id", "warnings")], "Mind this");
        for Warning {
            level,
            place,
            words,
            remedy,
        } in &view.warnings
        {
            write_box(page, *level, place, words, remedy);
        }
    });
    page.line();
}

fn write_box(page: &mut Markup, level: Level, place: &str, words: &str, remedy: &str) {
    let (class, word) = match level {
        Level::Note => ("notice note-box", "Note"),
        Level::Caution => ("notice caution", "Caution"),
        Level::Grave => ("notice grave", "Important"),
    };
    page.element("div", &[("class", class)], |page| {
        page.leaf("span", &[("class", "notice-word")], word);
        page.element("div", &[], |page| {
            page.element("p", &[], |page| {
                if !place.is_empty() {
                    page.leaf("strong", &[], place);
                    page.text(": ");
                }
                page.text(words);
            });
            if !remedy.is_empty() {
                page.leaf("p", &[("class", "remedy")], remedy);
            }
        });
    });
    page.line();
}
