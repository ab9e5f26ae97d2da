//! The report in a terminal: answers, tables of figures, warnings, and where to find the rest.

mod capacity;
pub(crate) mod compare;
mod drivers;
pub(crate) mod figures;
mod style;
pub(crate) mod table;
mod wrap;

pub use style::TerminalStyle;

use kgauge_analyze::summary::GoalStatus;

use crate::format;
use crate::view::{PARTITIONS, ReportView, ScenarioView, Severity, WarningView};
use style::Ink;
use wrap::wrap;

/// The whole text, ending with a line break.
pub(crate) fn text(view: &ReportView, style: TerminalStyle) -> String {
    let mut writer = Writer {
        style,
        lines: Vec::new(),
    };
    write_top(&mut writer, view);
    if !view.capacities.is_empty() {
        capacity::write(&mut writer, view.capacities);
        write_warnings(&mut writer, view);
        write_places(&mut writer, view);
        return writer.text();
    }
    write_answers(&mut writer, &view.scenarios);
    if let Some(sentence) = &view.partitions {
        writer.gap();
        writer.sentence(Some(Ink::Soft), PARTITIONS, "", "");
        writer.sentence(None, sentence, "  ", "  ");
    }
    figures::write(&mut writer, view);
    drivers::write(&mut writer, view);
    write_faults(&mut writer, view);
    write_warnings(&mut writer, view);
    write_verdicts(&mut writer, view);
    write_headroom(&mut writer, view);
    write_list(&mut writer, "Bottleneck", &view.limits);
    write_list(&mut writer, "Consumer groups", &view.groups);
    write_list(&mut writer, "Transactions", &view.transactions);
    write_list(&mut writer, "Copies on the target cluster", &view.mirrors);
    write_list(&mut writer, "Durability", &view.acked);
    write_places(&mut writer, view);
    writer.text()
}

/// Lines under construction.
struct Writer {
    style: TerminalStyle,
    lines: Vec<String>,
}

impl Writer {
    /// A blank line between parts, never two.
    fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// A finished line of our own.
    fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    /// All lines.
    fn text(self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    /// A sentence, wrapped and painted.
    fn sentence(&mut self, ink: Option<Ink>, text: &str, first: &str, rest: &str) {
        for line in wrap(text, self.style.columns(), first, rest) {
            let line = match ink {
                Some(ink) => self.style.paint(ink, &line),
                None => line,
            };
            self.lines.push(line);
        }
    }
}

fn write_top(writer: &mut Writer, view: &ReportView) {
    let title = format!("{} on {}", view.title, view.target.name);
    writer.sentence(Some(Ink::Strong), &title, "", "  ");
    for notice in &view.notices {
        let (ink, mark) = marked(notice.level);
        writer.sentence(Some(ink), &notice.short, mark, "  ");
        if !notice.says_more() {
            write_remedy(writer, notice);
        }
    }
    if !view.run.warmed.is_empty() {
        let text = format!("broker warm-up: {}", view.run.warmed);
        writer.sentence(Some(Ink::Soft), &text, "", "  ");
    }
    if !view.target.caution.is_empty() {
        writer.sentence(Some(Ink::Caution), &view.target.caution, "caution: ", "  ");
    }
}

fn write_answers(writer: &mut Writer, scenarios: &[ScenarioView]) {
    for scenario in scenarios {
        let question = match scenario.question.is_empty() {
            true => &scenario.name,
            false => &scenario.question,
        };
        writer.gap();
        writer.sentence(Some(Ink::Soft), question, "", "");
        writer.sentence(None, &scenario.answer, "  ", "  ");
    }
}

/// Items beyond it are only counted: the page has them all.
const ITEMS_MAX: usize = 3;

fn marked(level: Severity) -> (Ink, &'static str) {
    match level {
        Severity::Note => (Ink::Soft, "note: "),
        Severity::Caution => (Ink::Caution, "caution: "),
        Severity::Grave => (Ink::Bad, "IMPORTANT: "),
    }
}

fn write_warning(writer: &mut Writer, warning: &WarningView) {
    let (ink, mark) = marked(warning.level);
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
        writer.sentence(
            Some(ink),
            &format!("and {more} more in the report"),
            "  ",
            "  ",
        );
    }
    write_remedy(writer, warning);
}

fn write_remedy(writer: &mut Writer, warning: &WarningView) {
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
    let repeats = format::plural(repeats as u64, "repeat", "repeats");
    let words = match (more, view.faults.len()) {
        (0, 1) => return,
        (more, 1) => format!("and {more} more in events.jsonl"),
        (0, _) => format!("and those of {repeats} more in events.jsonl"),
        _ => format!("and {more} more, and those of {repeats} more, in events.jsonl"),
    };
    writer.sentence(Some(Ink::Soft), &words, "  ", "  ");
}

fn write_warnings(writer: &mut Writer, view: &ReportView) {
    writer.gap();
    view.to_mind()
        .for_each(|warning| write_warning(writer, warning));
}

fn write_verdicts(writer: &mut Writer, view: &ReportView) {
    writer.gap();
    for verdict in &view.verdicts {
        let (ink, word) = match verdict.word {
            GoalStatus::Held => (Ink::Good, "goal held: "),
            GoalStatus::NotHeld => (Ink::Bad, "GOAL MISSED: "),
            GoalStatus::Undecided => (Ink::Caution, "goal inconclusive: "),
            GoalStatus::NotMeasured => (Ink::Bad, "GOAL NOT MEASURED: "),
        };
        writer.sentence(Some(ink), &verdict.words, word, "  ");
    }
}

fn write_headroom(writer: &mut Writer, view: &ReportView) {
    if view.headroom.is_empty() {
        return;
    }
    writer.gap();
    let title = writer.style.paint(Ink::Strong, "Generator headroom");
    writer.line(title);
    writer.sentence(None, &view.headroom, "  ", "  ");
}

fn write_list(writer: &mut Writer, title: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    writer.gap();
    let title = writer.style.paint(Ink::Strong, title);
    writer.line(title);
    for sentence in sentences {
        writer.sentence(None, sentence, "  ", "  ");
    }
}

fn write_places(writer: &mut Writer, view: &ReportView) {
    writer.gap();
    let mut rows: Vec<(&str, String)> = Vec::new();
    if !view.run.folder.is_empty() {
        rows.push(("Report", format!("{}/report.html", view.run.folder)));
        rows.push(("Run folder", view.run.folder.clone()));
    }
    let commands = view
        .commands
        .iter()
        .filter(|command| !command.short.is_empty());
    rows.extend(commands.map(|command| (command.short, command.line.clone())));
    for (name, value) in rows {
        // Paths and commands are never wrapped: they are copied.
        writer.line(format!("{name:<11} {}", crate::clean::one_line(&value)));
    }
}
