//! Named checks: run one after the other, their tools' output kept, a table at the end.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::actions::{Action, InteropClient};
use super::table::{self, CheckResult, CheckVerdict};
use crate::folders::make_empty;
use crate::kafka::{FinishedJob, Job, KafkaScript, Tools};
use crate::say::print_line;
use crate::stop;

/// So much of a failed check's transcript is shown; all of every check's is in its file.
const SHOWN_LINES: usize = 40;

/// What a check is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    /// The program that is judged, or that judges, such as `kafka-topics`.
    pub(super) client: &'static str,
    /// What it does.
    pub(super) action: &'static str,
    /// The cell of the client table that it counts for, if any.
    cell: Option<(InteropClient, Action)>,
}

impl Name {
    /// Counts for this cell of the client table, too. While the cluster cannot do the action, the
    /// check is skipped.
    pub(super) fn cell(self, column: InteropClient, action: Action) -> Name {
        let cell = Some((column, action));
        Name { cell, ..self }
    }

    /// Of one of Kafka's tools.
    pub(super) fn tool(tool: KafkaScript, action: &'static str, row: Action) -> Name {
        Name::from((tool.name, action)).cell(InteropClient::Kafka, row)
    }

    /// Of a client program, which says no more than the action.
    pub(super) fn of(column: InteropClient, action: Action) -> Name {
        Name::from((column.words(), action.words())).cell(column, action)
    }
}

impl From<(&'static str, &'static str)> for Name {
    fn from((client, action): (&'static str, &'static str)) -> Name {
        let cell = None;
        Name {
            client,
            action,
            cell,
        }
    }
}

/// What it means when a program that a check needs is not installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingTool {
    Skips,
    Fails,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Passed,
    Failed,
    Skipped,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Mark::Passed => "PASS",
            Mark::Failed => "FAIL",
            Mark::Skipped => "SKIPPED",
        }
    }
}

#[derive(Debug)]
struct Row {
    target: &'static str,
    name: Name,
    mark: Mark,
    took: Duration,
    note: String,
}

impl Row {
    /// What it says about its cell of the client table.
    fn entry(&self) -> Option<CheckResult<'_>> {
        let (column, action) = self.name.cell?;
        let verdict = match self.mark {
            Mark::Passed => CheckVerdict::Passed,
            Mark::Failed => CheckVerdict::Failed,
            Mark::Skipped => CheckVerdict::Skipped(&self.note),
        };
        Some((column, action, verdict))
    }
}

/// All checks so far.
#[derive(Debug)]
pub(super) struct Checks {
    target: &'static str,
    kept: PathBuf,
    missing: MissingTool,
    rows: Vec<Row>,
}

impl Checks {
    /// No check yet. Transcripts go to the folder `kept`, which is emptied.
    pub(super) fn new(kept: PathBuf, missing: MissingTool) -> Result<Checks> {
        make_empty(&kept)?;
        Ok(Checks {
            target: "",
            kept,
            missing,
            rows: Vec::new(),
        })
    }

    /// The checks that follow run against this.
    pub(super) fn against(&mut self, target: &'static str) {
        self.target = target;
    }

    /// Runs one check and returns whether it passed: when `body` returns a note on what was seen. The
    /// only errors are that the user wants to stop and that transcripts cannot be kept.
    pub(super) fn check(
        &mut self,
        name: impl Into<Name>,
        body: impl FnOnce(&mut Transcript) -> Result<String>,
    ) -> Result<bool> {
        let name = name.into();
        let mut transcript = Transcript::default();
        let start = Instant::now();
        let ended = body(&mut transcript);
        let took = start.elapsed();
        stop::check()?;
        let (mark, note) = match ended {
            Ok(note) => {
                let _ = writeln!(transcript.text, "=> {note}");
                self.keep(name, &transcript)?;
                (Mark::Passed, note)
            }
            Err(error) => {
                let _ = writeln!(transcript.text, "=> {error:#}");
                let path = self.keep(name, &transcript)?;
                print_line(&format!("------- all of it in {}", path.display()));
                print_line(tail(&transcript.text, SHOWN_LINES));
                print_line("-------");
                let words = error.to_string();
                let first = words.lines().next().unwrap_or_default();
                (Mark::Failed, first.to_owned())
            }
        };
        self.add(name, mark, took, note);
        Ok(mark == Mark::Passed)
    }

    /// Runs a check that says something only when an earlier one has passed; else it is skipped.
    pub(super) fn follow(
        &mut self,
        passed: bool,
        name: impl Into<Name>,
        body: impl FnOnce(&mut Transcript) -> Result<String>,
    ) -> Result<bool> {
        let name = name.into();
        if passed {
            return self.check(name, body);
        }
        self.skip(name, "what it rests on failed");
        Ok(false)
    }

    /// Notes that a check could not be made.
    pub(super) fn skip(&mut self, name: impl Into<Name>, why: &str) {
        self.add(name.into(), Mark::Skipped, Duration::ZERO, why.to_owned());
    }

    /// Notes that a check could not be made because a program is not there: skipped, or failed
    /// where everything is required.
    pub(super) fn missing(&mut self, name: impl Into<Name>, why: &str) {
        let mark = match self.missing {
            MissingTool::Skips => Mark::Skipped,
            MissingTool::Fails => Mark::Failed,
        };
        self.add(name.into(), mark, Duration::ZERO, why.to_owned());
    }

    /// Notes what a program has found out by itself.
    pub(super) fn record(
        &mut self,
        name: impl Into<Name>,
        ended: Result<String, String>,
        took: Duration,
    ) {
        let (mark, note) = match ended {
            Ok(note) => (Mark::Passed, note),
            Err(note) => (Mark::Failed, note),
        };
        self.add(name.into(), mark, took, note);
    }

    fn add(&mut self, name: Name, mark: Mark, took: Duration, note: String) {
        let row = Row {
            target: self.target,
            name,
            mark,
            took,
            note,
        };
        print_line(&format!(
            "{:<7} {} {}: {} ({:.1} s)",
            mark.word(),
            name.client,
            name.action,
            row.note,
            took.as_secs_f64()
        ));
        self.rows.push(row);
    }

    /// Writes the transcript to a file and returns its path.
    pub(super) fn keep(&self, name: Name, transcript: &Transcript) -> Result<PathBuf> {
        let words = format!("{} {} {}", self.target, name.client, name.action);
        let number = self.rows.len() + 1;
        let path = self
            .kept
            .join(format!("{number:02}-{}.txt", file_stem(&words)));
        fs::write(&path, &transcript.text)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// Target, client and action of every check with its result.
    pub(super) fn table(&self) -> String {
        let head = ["against", "client", "action", "result", "seconds", "seen"];
        let cells = self.rows.iter().map(|row| {
            [
                row.target.to_owned(),
                row.name.client.to_owned(),
                row.name.action.to_owned(),
                row.mark.word().to_owned(),
                format!("{:.1}", row.took.as_secs_f64()),
                row.note.clone(),
            ]
        });
        let lines: Vec<[String; 6]> = std::iter::once(head.map(str::to_owned))
            .chain(cells)
            .collect();
        columns(&lines)
    }

    /// Clients and actions, for those checks that count for a cell.
    pub(super) fn client_table(&self) -> String {
        let entries: Vec<CheckResult<'_>> = self.rows.iter().filter_map(Row::entry).collect();
        table::render(&entries)
    }

    /// The closing line.
    pub(super) fn totals(&self) -> String {
        let count = |mark| self.rows.iter().filter(|row| row.mark == mark).count();
        format!(
            "{} passed, {} failed, {} skipped",
            count(Mark::Passed),
            count(Mark::Failed),
            count(Mark::Skipped)
        )
    }

    /// True when no check failed and at least one passed.
    pub(super) fn all_good(&self) -> bool {
        let any = |mark| self.rows.iter().any(|row| row.mark == mark);
        any(Mark::Passed) && !any(Mark::Failed)
    }
}

/// Left-aligned columns, two spaces apart.
fn columns<const N: usize>(lines: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for line in lines {
        let mut text = String::new();
        for (width, cell) in widths.iter().zip(line) {
            let _ = write!(text, "{cell:<width$}  ");
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

/// Words as a file name: `kgauge run`, `-C consume` make `kgauge-run-C-consume`.
fn file_stem(words: &str) -> String {
    let words = words.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-")
}

fn tail(text: &str, lines_max: usize) -> &str {
    let starts = text.trim_end().rmatch_indices('\n').map(|(at, _)| at + 1);
    let from = starts.take(lines_max).nth(lines_max - 1).unwrap_or(0);
    text[from..].trim_end()
}

/// The commands of one check and their output.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    text: String,
}

impl Transcript {
    /// Runs a program to its end, however that is.
    pub(super) fn run_any(&mut self, job: Job) -> Result<FinishedJob> {
        let _ = writeln!(self.text, "$ {}", job.words);
        let finished = job.run()?;
        for stream in [&finished.stdout, &finished.stderr] {
            self.text.push_str(stream);
            if !stream.is_empty() && !stream.ends_with('\n') {
                self.text.push('\n');
            }
        }
        Ok(finished)
    }

    /// Runs a program that must end well.
    pub(super) fn run(&mut self, job: Job) -> Result<FinishedJob> {
        self.run_any(job)?.success()
    }

    /// Runs one of Kafka's tools, which must end well. Returns its stdout.
    pub(super) fn run_tool(
        &mut self,
        tools: &Tools<'_>,
        script: KafkaScript,
        arguments: &[&str],
    ) -> Result<String> {
        Ok(self.run(tools.call(script, arguments)?)?.stdout)
    }

    /// Adds output that a program wrote to files.
    pub(super) fn note(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_has_the_last_lines_only() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("a\nb", 5), "a\nb");
        assert_eq!(tail("", 5), "");
    }

    #[test]
    fn a_missing_program_skips_or_fails_as_was_asked_for() {
        let kept = tempfile::tempdir().unwrap();
        for (missing, totals) in [
            (MissingTool::Skips, "0 passed, 0 failed, 1 skipped"),
            (MissingTool::Fails, "0 passed, 1 failed, 0 skipped"),
        ] {
            let mut checks = Checks::new(kept.path().join("output"), missing).unwrap();
            checks.missing(
                Name::of(InteropClient::Go, Action::Produce),
                "no go in PATH",
            );
            assert_eq!(checks.totals(), totals);
        }
    }

    #[test]
    fn transcripts_get_plain_file_names() {
        assert_eq!(file_stem("kcat -P, every codec"), "kcat-P-every-codec");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let line = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let text = columns(&[line("client", "x"), line("ü", "y")]);
        assert_eq!(text, "client  x\nü       y\n");
    }
}
