//! The report as Markdown for a pull request's comment: what a report opens with, short enough to
//! be posted whatever the run was.

pub(crate) mod compare;
mod escape;
mod lines;

use kgauge_analyze::checkup::CheckupSummary;
use kgauge_analyze::summary::GoalStatus;
use kgauge_scenario::AbKind;

use crate::terminal::figures::{explanations, latency, throughput};
use crate::terminal::table::{Alignment, TableRow, TextTable};
use crate::text::{self, checkup};
use crate::view::{DriverTable, PARTITIONS, ReportView, ScenarioView, Severity, WarningView};
use escape::fenced;
use lines::{Lines, first_that_fits};

/// What the answer of a test of two scenarios stands below.
const AB_TEST: &str = "A/B test";

/// Tables with more rows are folded.
const ROWS_OPEN_MAX: usize = 12;
/// Warnings beyond it are folded.
const WARNINGS_OPEN_MAX: usize = 3;

/// Limits of what is shown. The text refers to `report.html` for the rest.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Rows of a table.
    rows: usize,
    /// Entries of a list.
    items: usize,
    /// Letters of one text.
    letters: usize,
}

/// Tried one after the other until the text fits. With the last it always does: some ten lists and
/// tables of a few texts of 60 letters, each of which takes at most 5 bytes more.
const LIMITS: [Limits; 5] = [
    Limits {
        rows: 150,
        items: 40,
        letters: 2_000,
    },
    Limits {
        rows: 60,
        items: 20,
        letters: 800,
    },
    Limits {
        rows: 25,
        items: 10,
        letters: 300,
    },
    Limits {
        rows: 10,
        items: 5,
        letters: 120,
    },
    Limits {
        rows: 4,
        items: 3,
        letters: 60,
    },
];

/// The whole text, ending with a line break.
pub(crate) fn text(view: &ReportView) -> String {
    let texts = LIMITS.into_iter().map(|limits| {
        let mut writer = Writer {
            limits,
            out: Lines::new(limits.letters, "report.html"),
        };
        writer.write(view);
        writer.out.finish()
    });
    first_that_fits(texts, "report")
}

/// Text under construction.
struct Writer {
    limits: Limits,
    out: Lines,
}

impl Writer {
    fn write(&mut self, view: &ReportView) {
        let title = format!("{} on {}", view.title, view.target.name);
        let title = self.out.escaped(&title);
        self.out.line(&format!("### {title}"));
        self.out.gap();
        for notice in view.notices.iter().take(self.limits.items) {
            let mut words = self.out.escaped(&notice.short);
            if !notice.says_more() && !notice.remedy.is_empty() {
                words.push_str(&format!("<br>*{}*", self.out.escaped(&notice.remedy)));
            }
            self.out.quoted(notice.level, &words);
        }
        if !view.target.caution.is_empty() {
            let words = self.out.escaped(&view.target.caution);
            self.out.quoted(Severity::Caution, &words);
        }
        let conditions = self.out.escaped(&view.run.conditions.join(" · "));
        self.out.line(&conditions);
        self.out.gap();
        self.write_count_check(view);
        match view.checkup {
            Some(summary) => self.write_checkup(view, summary),
            None => self.write_answers(view),
        }
        self.write_verdicts(view);
        self.write_table("Throughput", &throughput(view));
        self.write_missing(&view.scenarios);
        let times = latency(view);
        self.write_table("Latency", &times);
        self.write_marks(&times);
        let drivers = view.drivers.iter().take(self.limits.items);
        drivers.for_each(|table| self.write_drivers(table));
        self.write_warnings(view);
        self.write_acked(&view.acked);
        self.write_commands(view);
        self.write_foot(view);
    }

    fn write_count_check(&mut self, view: &ReportView) {
        for check in view.count_check.iter().chain(&view.verification) {
            let text = self.out.escaped(&check.text);
            match check.is_good {
                true => self.out.line(&text),
                false => self.out.quoted(Severity::Grave, &text),
            }
            self.out.gap();
        }
    }

    /// The findings of a checkup, the gravest first, and its figures.
    fn write_checkup(&mut self, view: &ReportView, summary: &CheckupSummary) {
        let items = self.limits.items;
        let findings = &summary.findings;
        for (number, found) in findings.iter().take(items).enumerate() {
            let text = checkup::finding(&found.fact).line();
            let text = self.out.escaped(&text);
            self.out.line(&format!("{}. {text}", number + 1));
        }
        self.out
            .more(findings.len().saturating_sub(items), "findings");
        self.out.gap();
        let answer = checkup::capacity_answer(summary, view.capacities.first());
        let lines = [("Capacity", answer)].into_iter();
        for (name, text) in lines.chain(checkup::parts(summary)) {
            let text = self.out.escaped(&text);
            self.out.line(&format!("- {name}: {text}"));
        }
        self.out.gap();
    }

    fn write_answers(&mut self, view: &ReportView) {
        let items = self.limits.items;
        let answers = view.scenarios.iter().take(items).map(|scenario| {
            let question = match scenario.question.is_empty() {
                true => &scenario.name,
                false => &scenario.question,
            };
            (question.as_str(), scenario.answer.as_str())
        });
        // Of one scenario, its answer is that of the test.
        let test = view.ab.filter(|test| test.kind == AbKind::Scenarios);
        let test = test.map(text::ab::answer);
        let test = test.iter().map(|answer| (AB_TEST, answer.as_str()));
        let partitions = view.partitions.iter();
        let partitions = partitions.map(|answer| (PARTITIONS, answer.as_str()));
        for (question, answer) in test.chain(answers).chain(partitions).collect::<Vec<_>>() {
            let (question, answer) = (self.out.escaped(question), self.out.escaped(answer));
            self.out.line(&format!("**{question}**"));
            self.out.gap();
            self.out.line(&answer);
            self.out.gap();
        }
        self.out
            .more(view.scenarios.len().saturating_sub(items), "answers");
        self.out.gap();
    }

    fn write_verdicts(&mut self, view: &ReportView) {
        let items = self.limits.items;
        // Missed goals first: a cut must not hide them.
        let mut verdicts: Vec<_> = view.verdicts.iter().collect();
        verdicts.sort_by_key(|verdict| match verdict.word {
            GoalStatus::NotHeld => 0,
            GoalStatus::NotMeasured => 1,
            GoalStatus::Undecided => 2,
            GoalStatus::Held => 3,
        });
        for verdict in verdicts.iter().take(items) {
            let word = match verdict.word {
                GoalStatus::Held => "goal held:",
                GoalStatus::NotHeld => "**GOAL MISSED:**",
                GoalStatus::Undecided => "**goal inconclusive:**",
                GoalStatus::NotMeasured => "**GOAL NOT MEASURED:**",
            };
            let words = self.out.escaped(&verdict.words);
            self.out.line(&format!("- {word} {words}"));
        }
        self.out.more(verdicts.len().saturating_sub(items), "goals");
        self.out.gap();
    }

    /// Content below a summary line that a click unfolds.
    fn folded(&mut self, summary: &str, content: impl FnOnce(&mut Self)) {
        self.out.gap();
        self.out
            .line(&format!("<details><summary>{summary}</summary>"));
        self.out.gap();
        content(self);
        self.out.gap();
        self.out.line("</details>");
        self.out.gap();
    }

    fn write_table(&mut self, name: &str, table: &TextTable) {
        let is_cells = |row: &&TableRow| matches!(row, TableRow::Cells(_));
        let rows = table.rows.iter().filter(is_cells).count();
        if rows == 0 {
            return;
        }
        match rows > ROWS_OPEN_MAX {
            true => {
                let summary = format!("{name}: {rows} rows");
                self.folded(&summary, |writer| writer.write_rows(table));
            }
            false => self.write_rows(table),
        }
    }

    fn write_rows(&mut self, table: &TextTable) {
        let kept = table.filled_columns();
        let columns = kept.iter().filter_map(|index| table.columns.get(*index));
        let (heads, rules): (Vec<&str>, Vec<&str>) = columns
            .map(|column| match column.side {
                // A column without a name follows a figure and has its interval.
                Alignment::Left if column.head.is_empty() => ("95 %", "---"),
                Alignment::Left => (&*column.head, "---"),
                Alignment::Right => (&*column.head, "---:"),
            })
            .unzip();
        self.out.gap();
        self.out.line(&format!("| {} |", heads.join(" | ")));
        self.out.line(&format!("| {} |", rules.join(" | ")));
        for row in table.rows.iter().take(self.limits.rows) {
            let cells: Vec<String> = match row {
                TableRow::Group(name) => vec![format!("**{}**", self.out.escaped(name))],
                TableRow::Cells(cells) => {
                    let cells = kept.iter().map(|index| cells.get(*index));
                    cells
                        .map(|cell| self.out.escaped(cell.map_or("", String::as_str)))
                        .collect()
                }
            };
            let missing = kept.len().saturating_sub(cells.len());
            self.out.line(&format!(
                "| {} |{}",
                cells.join(" | "),
                " |".repeat(missing)
            ));
        }
        self.out.gap();
        self.out
            .more(table.rows.len().saturating_sub(self.limits.rows), "rows");
        self.out.gap();
    }

    fn write_marks(&mut self, table: &TextTable) {
        for (mark, words) in explanations(table) {
            let mark = self.out.escaped(mark);
            self.out.line(&format!("- {mark} {words}"));
        }
        self.out.gap();
    }

    fn write_missing(&mut self, scenarios: &[ScenarioView]) {
        let items = self.limits.items;
        let trials = scenarios.iter().flat_map(|scenario| &scenario.trials);
        let missing = trials.filter_map(|trial| Some((&trial.name, trial.missing.as_ref()?)));
        let missing = missing.collect::<Vec<_>>();
        for (name, why) in missing.iter().take(items) {
            let (name, why) = (self.out.escaped(name), self.out.escaped(why));
            self.out.line(&format!("- {name}: {why}"));
        }
        self.out.more(
            missing.len().saturating_sub(items),
            "trials without figures",
        );
        self.out.gap();
    }

    fn write_drivers(&mut self, table: &DriverTable) {
        let title = self.out.escaped(&table.title);
        self.out.line(&format!("**{title}**"));
        self.out.gap();
        self.out
            .line(&format!("| {} |", DriverTable::COLUMNS.join(" | ")));
        self.out.line("| --- | ---: | ---: | ---: | ---: |");
        for row in table.rows.iter().take(self.limits.items) {
            let cells = row.each_ref().map(|cell| self.out.escaped(cell));
            self.out.line(&format!("| {} |", cells.join(" | ")));
        }
        self.out.gap();
        for sentence in table.sentences.iter().take(self.limits.items) {
            let sentence = self.out.escaped(sentence);
            self.out.line(&format!("- {sentence}"));
        }
        self.out.gap();
    }

    fn write_warnings(&mut self, view: &ReportView) {
        let items = self.limits.items;
        let warnings: Vec<&WarningView> = view.to_mind().collect();
        let (shown, left_out) = warnings.split_at(warnings.len().min(items));
        let write = |writer: &mut Self| {
            shown
                .iter()
                .for_each(|warning| writer.write_warning(warning));
            writer.out.more(left_out.len(), "warnings");
        };
        match warnings.len() > WARNINGS_OPEN_MAX {
            true => {
                let count = crate::format::counted(warnings.len() as u64, "warning");
                let summary = format!("Caveats: {count}");
                self.folded(&summary, write);
            }
            false => write(self),
        }
    }

    fn write_warning(&mut self, warning: &WarningView) {
        let mut sentences: Vec<String> = Vec::new();
        sentences.extend((!warning.words.is_empty()).then(|| self.out.escaped(&warning.words)));
        let shown = self.limits.items.min(4);
        for item in warning.items.iter().take(shown) {
            let words = self.out.escaped(&item.words);
            sentences.push(match item.place.as_str() {
                "" => words,
                place => format!("{}: {words}", self.out.escaped(place)),
            });
        }
        let more = warning.items.len().saturating_sub(shown);
        sentences.extend((more > 0).then(|| format!("And {more} more in `report.html`.")));
        let remedy = (!warning.remedy.is_empty()).then(|| self.out.escaped(&warning.remedy));
        sentences.extend(remedy.map(|remedy| format!("*{remedy}*")));
        self.out.quoted(warning.level, &sentences.join("<br>"));
    }

    fn write_acked(&mut self, sentences: &[String]) {
        if sentences.is_empty() {
            return;
        }
        self.folded("Durability", |writer| {
            for sentence in sentences.iter().take(writer.limits.items) {
                let sentence = writer.out.escaped(sentence);
                writer.out.line(&format!("- {sentence}"));
            }
        });
    }

    fn write_commands(&mut self, view: &ReportView) {
        // A command that is cut would be another one.
        let commands = view
            .commands
            .iter()
            .filter(|command| !command.short.is_empty())
            .map(|command| command.line_anywhere.clone())
            .filter(|line| line.len() <= self.limits.letters);
        let commands: Vec<String> = commands.collect();
        if !commands.is_empty() {
            self.out.line("To repeat this run:");
            self.out.gap();
            self.out.block(&fenced(&commands));
        }
    }

    fn write_foot(&mut self, view: &ReportView) {
        let took = view.run.took.as_deref().unwrap_or("not finished");
        let parts = [
            format!("kgauge {}", view.summary.kgauge.version),
            format!("run {}", view.summary.run_id),
            format!("started {}", view.run.started),
            format!("took {took}"),
        ];
        let warmed = &view.run.warmed;
        let warmed = (!warmed.is_empty()).then(|| format!("broker warm-up: {warmed}"));
        let parts = parts.into_iter().chain(warmed);
        let foot: Vec<String> = parts.map(|part| self.out.escaped(&part)).collect();
        let foot = foot.join(" · ");
        self.out.line(&foot);
    }
}
