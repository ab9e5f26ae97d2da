//! The end of the page: how it was measured, what happened, how to repeat it.

use super::words::write_facts;
use crate::markup::Markup;
use crate::view::{EventView, ReportView};

/// Writes setup, settings, environment, scenario text, events and commands.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    page.element(
        "section",
        &[("class", "setup"), ("aria-labelledby", "setup")],
        |page| {
            page.leaf("h2", &[("id", "setup")], "Setup");
            if !view.commands.is_empty() {
                page.leaf("h3", &[], "Reproduce");
                for command in &view.commands {
                    page.leaf("p", &[("class", "purpose")], &command.purpose);
                    write_pre(page, &command.purpose, &command.line_anywhere);
                }
            }
            for sheet in &view.sheets {
                page.element("details", &[("class", "sheet")], |page| {
                    page.element("summary", &[], |page| page.leaf("h3", &[], &sheet.title));
                    write_facts(page, &sheet.facts);
                });
                page.line();
            }
            for text in &view.texts {
                page.element("details", &[("class", "sheet")], |page| {
                    page.element("summary", &[], |page| page.leaf("h3", &[], &text.title));
                    write_pre(page, &text.title, &text.text);
                });
                page.line();
            }
            write_events(page, &view.events);
        },
    );
    page.line();
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
    page.element("details", &[("class", "sheet")], |page| {
        page.element("summary", &[], |page| page.leaf("h3", &[], "Events"));
        page.element("dl", &[("class", "facts events")], |page| {
            for event in events {
                page.element("div", &[], |page| {
                    page.leaf("dt", &[], &event.at);
                    page.leaf("dd", &[], &event.words);
                });
            }
        });
    });
    page.line();
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
