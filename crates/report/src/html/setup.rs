//! The end of the page: how it was measured, what happened, how to repeat it.

use super::section::write_section;
use super::words::{write_facts, write_fold};
use crate::markup::Markup;
use crate::view::{EventView, ReportView, Sheet, SheetKind, Verbatim};

/// Writes setup, settings, environment, scenario text, events and commands.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    write_section(page, "setup", "setup", "Setup", |page| {
        if !view.commands.is_empty() {
            page.leaf("h3", &[], "Reproduce");
            for command in &view.commands {
                page.leaf("p", &[("class", "purpose")], &command.purpose);
                write_pre(page, &command.purpose, &command.line_anywhere);
            }
        }
        for kind in [SheetKind::Run, SheetKind::Settings, SheetKind::Brokers] {
            let sheets = view.sheets.iter().filter(|sheet| sheet.kind == kind);
            write_sheets(page, kind, &sheets.collect::<Vec<_>>());
        }
        write_texts(page, &view.texts);
        write_events(page, &view.events);
    });
}

/// Sheets of one kind. Several of a kind that may have many share a fold.
fn write_sheets(page: &mut Markup, kind: SheetKind, sheets: &[&Sheet]) {
    let title = match kind {
        SheetKind::Run => None,
        SheetKind::Settings => Some("Settings"),
        SheetKind::Brokers => Some("Brokers"),
    };
    let each = |page: &mut Markup| {
        for sheet in sheets {
            write_fold(page, &sheet.title, |page| write_facts(page, &sheet.facts));
        }
    };
    match (title, sheets) {
        (_, []) => {}
        (None, _) => each(page),
        (Some(title), [only]) => write_fold(page, title, |page| write_facts(page, &only.facts)),
        (Some(title), _) => write_fold(page, title, each),
    }
}

fn write_texts(page: &mut Markup, texts: &[Verbatim]) {
    let each = |page: &mut Markup| {
        for text in texts {
            write_fold(page, &text.title, |page| {
                write_pre(page, &text.title, &text.text)
            });
        }
    };
    match texts.len() {
        0 | 1 => each(page),
        _ => write_fold(page, "Scenarios as written", each),
    }
}

/// Text as it is; wide lines scroll inside their box, which keys can reach.
fn write_pre(page: &mut Markup, label: &str, text: &str) {
    let attributes = [("tabindex", "0"), ("role", "region"), ("aria-label", label)];
    page.leaf("pre", &attributes, text);
}

fn write_events(page: &mut Markup, events: &[EventView]) {
    if events.is_empty() {
        return;
    }
    write_fold(page, "Events", |page| {
        page.element("dl", &[("class", "facts events")], |page| {
            for event in events {
                page.element("div", &[], |page| {
                    page.leaf("dt", &[], &event.at);
                    page.leaf("dd", &[], &event.words);
                });
            }
        });
    });
}

/// Who made the page, from what.
pub(super) fn write_footer(page: &mut Markup, view: &ReportView) {
    page.element("footer", &[], |page| {
        let made = format!(
            "Measured by kgauge {}, run {}. The same run folder always produces the same page.",
            view.summary.kgauge.version, view.summary.run_id
        );
        page.leaf("p", &[], &made);
    });
    page.line();
}
