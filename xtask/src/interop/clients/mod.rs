//! Checks: client libraries, through small programs of ours in `xtask/interop-clients`. A program is
//! installed, or built, by the ordinary client of its language; it does one action after the other
//! and prints a line of JSON about each.

mod go;
mod javascript;
mod python;
mod report;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::actions::{Action, InteropClient, REPLICATION_FACTOR};
use super::checks::{Checks, Name, Transcript};
use crate::folders::root;
use crate::kafka::{FinishedJob, Job, Tools};
use crate::stop;
use report::{ActionOutcome, ClientReport};

/// All actions of a program together; machines that also build something are slow.
const RUN_MAX: Duration = Duration::from_secs(480);
/// One call of an installer, with whatever it has to fetch.
const INSTALL_MAX: Duration = Duration::from_secs(480);

/// Whether a client can be used here.
enum Client {
    /// This starts its program.
    Ready(Command),
    /// Something that only the user can install is not there.
    Missing(String),
}

/// Installs the client of `column` below `folder`, runs its program and notes every action.
pub(super) fn run(
    checks: &mut Checks,
    column: InteropClient,
    tools: &Tools<'_>,
    folder: &Path,
) -> Result<()> {
    let name = (column.words(), "install");
    let mut log = Transcript::default();
    let start = Instant::now();
    let client = install(&mut log, column, &folder.join(column.short()));
    stop::check()?;
    let kept = checks.keep(name.into(), &log)?;
    match client {
        Ok(Client::Ready(command)) => {
            let program = command.get_program().to_string_lossy().into_owned();
            checks.record(name, Ok(program), start.elapsed());
            return act(checks, column, tools, command);
        }
        Ok(Client::Missing(why)) => {
            checks.missing(name, &why);
            for action in actions_of(column) {
                checks.missing(Name::of(column, action), &why);
            }
        }
        Err(error) => {
            let words = format!("{error:#}; all of it in {}", kept.display());
            checks.record(name, Err(words), start.elapsed());
            for action in actions_of(column) {
                let why = "it could not be installed".to_owned();
                checks.record(Name::of(column, action), Err(why), Duration::ZERO);
            }
        }
    }
    Ok(())
}

fn install(log: &mut Transcript, column: InteropClient, folder: &Path) -> Result<Client> {
    match column {
        InteropClient::Go => go::install(log, folder),
        InteropClient::JavaScript => javascript::install(log, folder),
        InteropClient::Kafka | InteropClient::Kcat | InteropClient::Python => {
            python::install(log, folder)
        }
    }
}

/// The actions that a program must report.
fn actions_of(column: InteropClient) -> impl Iterator<Item = Action> {
    Action::all().filter(move |&action| column.lacks(action).is_none())
}

fn act(
    checks: &mut Checks,
    column: InteropClient,
    tools: &Tools<'_>,
    mut command: Command,
) -> Result<()> {
    (tools.alive)()?;
    command.args(["--bootstrap", &tools.servers]);
    command.args(["--replication-factor", REPLICATION_FACTOR]);
    let words = format!("{} (actions)", column.words());
    let mut log = Transcript::default();
    let finished = log.run_any(Job::new(words, command, RUN_MAX))?;
    checks.keep((column.words(), "actions").into(), &log)?;
    note(checks, column, &finished);
    Ok(())
}

/// Turns what a program has printed into checks. An action that it says nothing of has failed.
fn note(checks: &mut Checks, column: InteropClient, finished: &FinishedJob) {
    let report = ClientReport::read(&finished.stdout);
    let took = finished.took;
    let sound = report.sound(finished);
    if let Err(words) = &sound {
        checks.record((column.words(), "actions"), Err(words.clone()), took);
    }
    for action in actions_of(column) {
        let name = Name::of(column, action);
        match report.of(action) {
            Some(entry) => match &entry.outcome {
                ActionOutcome::Done => checks.record(name, Ok(entry.detail.clone()), entry.took),
                ActionOutcome::Failed => checks.record(name, Err(entry.detail.clone()), entry.took),
                ActionOutcome::Skipped => checks.skip(name, &entry.detail),
            },
            None => {
                let why = sound.as_ref().err().map_or("", String::as_str);
                let words = format!("its program did not report it; {why}");
                let words = words.trim_end_matches("; ").to_owned();
                checks.record(name, Err(words), Duration::ZERO);
            }
        }
    }
}

/// Where our own program for a client is.
fn source(name: &str) -> PathBuf {
    root().join("xtask/interop-clients").join(name)
}

/// What a program prints when it is asked for its version; none when it is not in PATH.
fn version(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// Copies one file, so that an installer writes nothing beside our own.
fn copy(name: &str, from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let path = from.join(name);
    fs::copy(&path, to.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
    Ok(())
}

fn job(words: &str, command: Command) -> Job {
    Job::new(words.to_owned(), command, INSTALL_MAX)
}

#[cfg(test)]
mod tests {
    use super::super::checks::MissingTool;
    use super::*;

    fn checks(folder: &Path) -> Checks {
        Checks::new(folder.join("output"), MissingTool::Skips).unwrap()
    }

    fn finished(stdout: &str) -> FinishedJob {
        let status = Command::new("true").status().unwrap();
        FinishedJob {
            words: "client".into(),
            status: Some(status),
            took: Duration::ZERO,
            stdout: stdout.into(),
            stderr: String::new(),
        }
    }

    #[test]
    fn an_action_without_a_line_has_failed() {
        let folder = tempfile::tempdir().unwrap();
        let mut checks = checks(folder.path());
        let line = r#"{"action": "consume", "ok": true, "detail": "5 records"}"#;
        note(&mut checks, InteropClient::Go, &finished(line));
        let table = checks.client_table();
        let row = |action: Action| {
            let line = table.lines().find(|line| {
                line.trim_start_matches("| ")
                    .starts_with(&format!("{} ", action.words()))
            });
            line.unwrap().split('|').nth(5).unwrap().trim().to_owned()
        };
        assert_eq!(row(Action::LogDirs), "FAILED");
        assert!(checks.totals().starts_with("1 passed"));
        assert!(row(Action::EndToEnd).starts_with('–'));
    }
}
