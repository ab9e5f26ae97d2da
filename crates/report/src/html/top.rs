//! The bottleneck, the goals and the caveats in full: the first screen has a line of each.

use kgauge_analyze::summary::GoalStatus;

use super::section::write_section;
use crate::format;
use crate::markup::{Markup, unbroken};
use crate::view::{GoalView, ReportView, Severity, WarningItem, WarningView};

/// The anchor of a notice.
pub(super) fn matter_id(index: usize) -> String {
    format!("matter-{}", index + 1)
}

/// What limited the trials; of a single one with the evidence.
pub(super) fn write_limits(page: &mut Markup, view: &ReportView) {
    if view.limits.is_empty() {
        return;
    }
    write_section(page, "limits", "part", "Bottleneck", |page| {
        page.element("ul", &[("class", "sentences")], |page| {
            let limits = view.limits.iter();
            limits.for_each(|sentence| page.prose("li", &[], sentence));
        });
    });
}

/// Every goal with what was measured.
pub(super) fn write_goals(page: &mut Markup, view: &ReportView) {
    if view.verdicts.is_empty() {
        return;
    }
    write_section(page, "goals", "part", "Goals", |page| {
        page.element("ul", &[("class", "verdicts")], |page| {
            for goal in &view.verdicts {
                page.element("li", &[], |page| write_goal(page, goal));
            }
        });
    });
}

/// A goal with its result.
pub(super) fn write_goal(page: &mut Markup, goal: &GoalView) {
    let (class, word) = goal_badge(goal.word);
    page.leaf("span", &[("class", class)], word);
    page.text(" ");
    page.text(&unbroken(&goal.words));
}

/// The class and the word of a goal's result.
pub(super) fn goal_badge(status: GoalStatus) -> (&'static str, &'static str) {
    match status {
        GoalStatus::Held => ("badge good", "held"),
        GoalStatus::NotHeld => ("badge bad", "missed"),
        GoalStatus::Undecided => ("badge", "inconclusive"),
        GoalStatus::NotMeasured => ("badge bad", "not measured"),
    }
}

/// Whether there is any caveat.
pub(super) fn has_warnings(view: &ReportView) -> bool {
    !view.notices.is_empty() || !view.warnings.is_empty()
}

/// Caveats, the most severe first: a line each, with evidence and fix folded below it.
pub(super) fn write_warnings(page: &mut Markup, view: &ReportView) {
    if !has_warnings(view) {
        return;
    }
    write_section(page, "caveats", "part", "Caveats", |page| {
        for (index, notice) in view.notices.iter().enumerate() {
            write_warning(page, Some(&matter_id(index)), notice);
        }
        view.warnings
            .iter()
            .for_each(|warning| write_warning(page, None, warning));
    });
}

fn write_warning(page: &mut Markup, id: Option<&str>, warning: &WarningView) {
    let (class, word) = match warning.level {
        Severity::Note => ("notice note-box", "Note"),
        Severity::Caution => ("notice caution", "Caution"),
        Severity::Grave => ("notice grave", "Important"),
    };
    let mut attributes = vec![("class", class)];
    attributes.extend(id.map(|id| ("id", id)));
    // The line of the terminal has the number of places and the fix; severe caveats are worded as on the first screen.
    let has_line = warning.level != Severity::Grave && !warning.line.is_empty();
    let (head, evidence) = match (has_line, warning.items.as_slice()) {
        (true, items) => {
            let head = format::capital(&warning.line);
            match items {
                [only] if is_complete(only, &head) => (head, &[][..]),
                items => (head, items),
            }
        }
        (false, _) => (head(warning), warning.evidence.as_slice()),
    };
    let write_head = |page: &mut Markup| {
        page.leaf("span", &[("class", "notice-word")], word);
        page.text(" ");
        page.text(&unbroken(&head));
    };
    if evidence.is_empty() && warning.remedy.is_empty() {
        page.element("p", &attributes, write_head);
        return page.line();
    }
    page.element("details", &attributes, |page| {
        page.element("summary", &[], write_head);
        write_evidence(page, evidence);
        if !warning.remedy.is_empty() {
            page.leaf("p", &[("class", "remedy")], &warning.remedy);
        }
    });
    page.line();
}

/// Whether a headline has all that there is.
fn is_complete(item: &WarningItem, head: &str) -> bool {
    item.place.is_empty() && format::capital(item.words.trim_end_matches('.')) == head
}

/// The matter in a line: of a grave one the headline, of others what their items share, or the first of them.
fn head(warning: &WarningView) -> String {
    match (warning.level, warning.items.as_slice()) {
        (Severity::Grave, _) | (_, []) => warning.short.clone(),
        _ if !warning.words.is_empty() => warning.words.clone(),
        (_, [first, others @ ..]) => {
            let place = match first.place.as_str() {
                "" => String::new(),
                place => format!("{place}: "),
            };
            let more = match others.len() {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            format!("{place}{}{more}", first.words)
        }
    }
}

fn write_evidence(page: &mut Markup, items: &[WarningItem]) {
    match items {
        [] => {}
        [item] => page.element("p", &[], |page| write_item(page, item)),
        items => page.element("ul", &[], |page| {
            for item in items {
                page.element("li", &[], |page| write_item(page, item));
            }
        }),
    }
}

fn write_item(page: &mut Markup, item: &WarningItem) {
    if !item.place.is_empty() {
        page.leaf("strong", &[], &item.place);
        page.text(": ");
    }
    page.text(&unbroken(&item.words));
}
