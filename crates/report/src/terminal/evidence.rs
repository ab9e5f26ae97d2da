//! The parts of a report that `-v` adds: all figures, the evidence behind caveats and bottlenecks, faults and settings.

use super::Writer;
use super::figures;
use super::style::Ink;
use crate::format;
use crate::view::{ReportView, Severity, Sheet, WarningView};

/// Writes all of it.
pub(super) fn write(writer: &mut Writer, view: &ReportView) {
    figures::write(writer, view);
    write_faults(writer, view);
    writer.gap();
    for warning in view.notices.iter().chain(&view.warnings) {
        write_warning(writer, warning);
    }
    if !view.target.caution.is_empty() {
        writer.sentence(Some(Ink::Caution), &view.target.caution, "caution: ", "  ");
    }
    let headroom = Some(view.headroom.clone()).filter(|sentence| !sentence.is_empty());
    write_list(writer, "Generator headroom", headroom.as_slice());
    write_list(writer, "Bottleneck", &view.limits);
    write_list(writer, "Consumer groups", &view.groups);
    write_list(writer, "Transactions", &view.transactions);
    write_list(writer, "Agents", &view.agents);
    write_list(writer, "Copies on the target cluster", &view.mirrors);
    write_list(writer, "Durability", &view.acked);
    let warmed = Some(view.run.warmed.clone()).filter(|sentence| !sentence.is_empty());
    write_list(writer, "Broker warm-up", warmed.as_slice());
    view.sheets
        .iter()
        .for_each(|sheet| write_sheet(writer, sheet));
}

/// Items beyond it are only counted: the page has them all.
const ITEMS_MAX: usize = 3;

fn write_warning(writer: &mut Writer, warning: &WarningView) {
    let (ink, mark) = match warning.level {
        Severity::Note => (Ink::Soft, "note: "),
        Severity::Caution => (Ink::Caution, "caution: "),
        Severity::Grave => (Ink::Bad, "IMPORTANT: "),
    };
    let shared = !warning.words.is_empty();
    if shared {
        writer.sentence(Some(ink), &warning.words, mark, "  ");
    }
    for (index, item) in warning.items.iter().take(ITEMS_MAX).enumerate() {
        let first = if index == 0 && !shared { mark } else { "  " };
        match item.place.as_str() {
            "" => writer.sentence(Some(ink), &item.words, first, "  "),
            place => writer.sentence(Some(ink), &format!("{place}: {}", item.words), first, "  "),
        }
    }
    let more = warning.items.len().saturating_sub(ITEMS_MAX);
    if more > 0 {
        let more = format!("and {more} more in the report");
        writer.sentence(Some(ink), &more, "  ", "  ");
    }
    if !warning.remedy.is_empty() {
        writer.sentence(None, &warning.remedy, "  -> ", "     ");
    }
}

/// Faults beyond it are only counted, and repeats beyond the first: the page has them all.
const FAULTS_MAX: usize = 16;

fn write_faults(writer: &mut Writer, view: &ReportView) {
    let Some(list) = view.faults.first() else {
        return;
    };
    writer.gap();
    let title = format!("Faults of {}", list.repeat);
    writer.sentence(Some(Ink::Strong), &title, "", "");
    for fault in list.faults.iter().take(FAULTS_MAX) {
        let end = if fault.begins { "" } else { " (ended)" };
        let words = format!("{}{end}", fault.words);
        let first = format!("  {:8.3} s  ", fault.at_s);
        writer.sentence(None, &words, &first, "              ");
    }
    let more = list.faults.len().saturating_sub(FAULTS_MAX);
    let repeats = view.faults.len() - 1;
    let repeats = format::counted(repeats as u64, "more repeat");
    let words = match (more, view.faults.len()) {
        (0, 1) => return,
        (more, 1) => format!("and {more} more in events.jsonl"),
        (0, _) => format!("and those of {repeats} in events.jsonl"),
        _ => format!("and {more} more, and those of {repeats}, in events.jsonl"),
    };
    writer.sentence(Some(Ink::Soft), &words, "  ", "  ");
}

fn write_list(writer: &mut Writer, title: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    writer.gap();
    writer.sentence(Some(Ink::Strong), title, "", "");
    for sentence in sentences {
        writer.sentence(None, sentence, "  ", "  ");
    }
}

fn write_sheet(writer: &mut Writer, sheet: &Sheet) {
    writer.gap();
    writer.sentence(Some(Ink::Strong), &sheet.title, "", "  ");
    for fact in &sheet.facts {
        let text = format!("{}: {}", fact.name, fact.value);
        writer.sentence(None, &text, "  ", "    ");
    }
}
