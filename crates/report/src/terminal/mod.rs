//! The report in a terminal: the answers and one table at a glance, caveats in a line each, and where to find the
//! rest. `evidence` writes all the rest on demand.

mod ab;
mod capacity;
mod checkup;
pub(crate) mod compare;
mod drivers;
mod evidence;
pub(crate) mod figures;
mod glance;
pub(crate) mod size;
mod style;
pub(crate) mod table;
mod tune;
pub(crate) mod wrap;

pub use style::{TerminalDetail, TerminalStyle};

use kgauge_analyze::summary::GoalStatus;

use crate::clean::{columns, one_line};
use crate::format;
use crate::text;
use crate::view::{
    BriefAnswer, GoalView, PARTITIONS, ReportView, ScenarioView, Severity, WarningView,
};
use style::Ink;
use wrap::{wrap, wrap_clauses};

/// The whole text, ending with a line break.
pub(crate) fn text(view: &ReportView, style: TerminalStyle) -> String {
    let mut writer = Writer::new(style);
    let is_brief = style.detail == TerminalDetail::Brief;
    match is_brief {
        true => write_count_check(&mut writer, view, |is_good| !is_good),
        false => write_top(&mut writer, view),
    }
    write_caveats(&mut writer, &view.notices);
    match view.scenarios.as_slice() {
        _ if let Some(test) = view.ab => ab::write(&mut writer, test),
        _ if let Some(search) = view.tune => tune::write(&mut writer, search),
        _ if let Some(summary) = view.checkup => {
            writer.gap();
            checkup::write(&mut writer, summary, view.capacities.first());
        }
        _ if !view.capacities.is_empty() => capacity::write(&mut writer, view.capacities),
        [alone] => {
            write_alone(&mut writer, alone);
            glance::write(&mut writer, view);
        }
        several => {
            glance::write(&mut writer, view);
            write_answers(&mut writer, several);
        }
    }
    if let Some(sentence) = &view.partitions {
        write_answer(&mut writer, PARTITIONS, sentence);
    }
    drivers::write(&mut writer, view);
    write_goals(&mut writer, view);
    // A checkup's page has its findings; caveats of single loads are in the report.
    if !is_brief && view.checkup.is_none() {
        if view.verdicts.is_empty() {
            writer.gap();
        }
        write_caveats(&mut writer, &view.warnings);
    }
    if style.detail == TerminalDetail::Full {
        evidence::write(&mut writer, view);
    }
    if !is_brief {
        write_places(&mut writer, view);
    }
    writer.text()
}

/// Lines under construction.
struct Writer {
    style: TerminalStyle,
    lines: Vec<String>,
}

impl Writer {
    fn new(style: TerminalStyle) -> Self {
        Self {
            style,
            lines: Vec::new(),
        }
    }

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

    /// Painted lines.
    fn painted(&mut self, ink: Option<Ink>, lines: Vec<String>) {
        for line in lines {
            let line = match ink {
                Some(ink) => self.style.paint(ink, &line),
                None => line,
            };
            self.lines.push(line);
        }
    }

    /// A sentence, wrapped and painted.
    fn sentence(&mut self, ink: Option<Ink>, text: &str, first: &str, rest: &str) {
        self.painted(ink, wrap(text, self.style.columns(), first, rest));
    }

    /// Clauses with a dot between them, wrapped and painted.
    fn clauses(&mut self, ink: Option<Ink>, clauses: &[String]) {
        self.painted(ink, wrap_clauses(clauses, self.style.columns(), "  "));
    }

    /// The whole text, ending with a line break.
    fn text(mut self) -> String {
        while self.lines.last().is_some_and(String::is_empty) {
            self.lines.pop();
        }
        self.lines.join("\n") + "\n"
    }
}

/// What was measured, where and under which conditions; and whether the brokers have what was acked.
fn write_top(writer: &mut Writer, view: &ReportView) {
    let target = match view.target.caution.is_empty() {
        true => view.target.name.clone(),
        false => format!("{} (not Apache Kafka)", view.target.name),
    };
    let mut clauses = vec![view.title.clone(), target];
    clauses.extend_from_slice(&view.run.conditions);
    writer.clauses(Some(Ink::Strong), &clauses);
    write_count_check(writer, view, |_| true);
}

/// Whether the brokers have what was acked, and whether all records were read back as they were sent, where that is to
/// be shown.
fn write_count_check(writer: &mut Writer, view: &ReportView, is_shown: impl Fn(bool) -> bool) {
    let checks = view.count_check.iter().chain(&view.verification);
    for check in checks.filter(|check| is_shown(check.is_good)) {
        let ink = match check.is_good {
            true => Ink::Good,
            false => Ink::Bad,
        };
        writer.sentence(Some(ink), &check.text, "", "  ");
    }
}

/// The only question with its answer.
fn write_alone(writer: &mut Writer, scenario: &ScenarioView) {
    writer.gap();
    writer.sentence(None, &scenario.question, "", "");
    writer.sentence(Some(Ink::Strong), &scenario.answer, "", "");
}

/// Answers, then the questions that the figures do not answer, each reason once.
fn write_answers(writer: &mut Writer, scenarios: &[ScenarioView]) {
    writer.gap();
    let is_measured = |scenario: &&ScenarioView| {
        // What was not measured is listed below the table.
        let mut trials = scenario.trials.iter();
        trials.any(|trial| trial.missing.is_none())
    };
    let question = |scenario: &ScenarioView| match scenario.question.is_empty() {
        true => scenario.name.clone(),
        false => scenario.question.clone(),
    };
    let is_full = writer.style.detail == TerminalDetail::Full;
    let mut doubts: Vec<(&str, Vec<&ScenarioView>)> = Vec::new();
    for scenario in scenarios.iter().filter(is_measured) {
        match &scenario.brief {
            _ if is_full => write_answer(writer, &question(scenario), &scenario.answer),
            BriefAnswer::Sentences(answer) => write_answer(writer, &question(scenario), answer),
            BriefAnswer::Doubt(reason) => {
                let known = doubts.iter_mut().find(|(known, _)| known == reason);
                match known {
                    Some((_, others)) => others.push(scenario),
                    None => doubts.push((reason, vec![scenario])),
                }
            }
        }
    }
    for (reason, scenarios) in doubts {
        let names: Vec<&str> = scenarios.iter().map(|one| one.name.as_str()).collect();
        let words = text::answer::inconclusive_scenarios(reason, &names);
        writer.sentence(None, &words, "", "  ");
    }
}

/// Question and answer, on one line where they fit.
fn write_answer(writer: &mut Writer, question: &str, answer: &str) {
    let (short_question, short_answer) = (one_line(question), one_line(answer));
    let width = columns(&short_question) + 2 + columns(&short_answer);
    if width <= writer.style.columns() {
        let question = writer.style.paint(Ink::Strong, &short_question);
        writer.line(format!("{question}  {short_answer}"));
        return;
    }
    writer.sentence(Some(Ink::Strong), question, "", "");
    writer.sentence(None, answer, "  ", "  ");
}

/// A line each, the gravest first.
fn write_caveats(writer: &mut Writer, warnings: &[WarningView]) {
    for warning in warnings {
        let (ink, mark) = match warning.level {
            Severity::Note | Severity::Caution => (Ink::Caution, "! "),
            Severity::Grave => (Ink::Bad, "IMPORTANT: "),
        };
        if !warning.line.is_empty() {
            writer.sentence(Some(ink), &warning.line, mark, "  ");
        }
    }
}

/// Goals beyond it are only counted.
const GOALS_MAX: usize = 5;

/// Goals that were not held, a sentence each; the others are counted.
fn write_goals(writer: &mut Writer, view: &ReportView) {
    let (held, others): (Vec<&GoalView>, Vec<&GoalView>) = view
        .verdicts
        .iter()
        .partition(|verdict| verdict.word == GoalStatus::Held);
    writer.gap();
    for verdict in others.iter().take(GOALS_MAX) {
        write_goal(writer, verdict);
    }
    let more = others.len().saturating_sub(GOALS_MAX);
    if more > 0 {
        let more = format::counted(more as u64, "more goal");
        writer.sentence(Some(Ink::Bad), &format!("and {more} not held"), "", "");
    }
    match held.as_slice() {
        [] => {}
        [only] if others.is_empty() => write_goal(writer, only),
        held => {
            let (held, all) = (held.len(), view.verdicts.len());
            let text = format!("goals held: {held} of {all}");
            writer.sentence(Some(Ink::Good), &text, "", "");
        }
    }
}

fn write_goal(writer: &mut Writer, verdict: &GoalView) {
    let (ink, word) = match verdict.word {
        GoalStatus::Held => (Ink::Good, "goal held: "),
        GoalStatus::NotHeld => (Ink::Bad, "GOAL MISSED: "),
        GoalStatus::Undecided => (Ink::Caution, "goal inconclusive: "),
        GoalStatus::NotMeasured => (Ink::Bad, "GOAL NOT MEASURED: "),
    };
    writer.sentence(Some(ink), &verdict.words, word, "  ");
}

/// Where the rest is. Paths and commands are never wrapped: they are copied.
fn write_places(writer: &mut Writer, view: &ReportView) {
    writer.gap();
    let is_full = writer.style.detail == TerminalDetail::Full;
    let folder = &view.run.folder;
    let mut rows: Vec<(&str, String)> = Vec::new();
    if !folder.is_empty() {
        rows.push(("Report", format!("{folder}/report.html")));
    }
    if !folder.is_empty() && is_full {
        rows.push(("Run folder", folder.clone()));
    }
    let commands = view.commands.iter().filter_map(|command| {
        Some(match command.short {
            // Regenerates the report, here with its evidence.
            "" => (!is_full).then(|| ("Details", format!("{} -v", command.line)))?,
            "Rerun" | "Command" if !is_full => return None,
            short => (short, command.line.clone()),
        })
    });
    rows.extend(commands);
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in rows {
        writer.line(format!("{name:<width$} {}", one_line(&value)));
    }
}
