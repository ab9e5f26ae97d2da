//! Commands for the reader: they repeat the run or remake its report.

use std::path::Path;

use kgauge_results::RunRead;
use kgauge_results::run::{AbRecord, RunStatus};
use kgauge_scenario::AbKind;

use crate::view::ReaderCommand;

/// Commands that repeat the run or remake the report.
pub(super) fn commands(run: &RunRead) -> Vec<ReaderCommand> {
    let folder = run.dir.display().to_string();
    let here = |path: &str| format!("{}/{path}", quoted(&folder));
    let test = run.plan.as_ref().and_then(|plan| plan.ab.as_ref());
    let mut commands = Vec::new();
    // A checkup decides its loads from the state of the cluster.
    let has_plan = run.plan.is_some() && run.checkup.is_none();
    if has_plan && !is_side(run) {
        commands.push(ReaderCommand {
            short: "Rerun",
            purpose: "Rerun from the saved plan with the same seed:".to_owned(),
            line: format!("kgauge run {}", here("plan.json")),
            line_anywhere: "kgauge run RUN-FOLDER/plan.json".to_owned(),
        });
    }
    let is_whole = matches!(run.status, RunStatus::Complete | RunStatus::Running);
    let has_answer = test.is_none_or(|test| test.kind == AbKind::Same)
        || !run.ab.as_ref().is_some_and(AbRecord::may_continue);
    if has_plan && !(is_whole && has_answer) {
        commands.push(resume(run));
    }
    if !run.head.command.is_empty() {
        let words: Vec<String> = run.head.command.iter().map(|word| quoted(word)).collect();
        commands.push(ReaderCommand {
            short: "Command",
            purpose: "Original command:".to_owned(),
            line: words.join(" "),
            line_anywhere: words.join(" "),
        });
    }
    commands.push(ReaderCommand {
        short: "",
        purpose: "Regenerate this page:".to_owned(),
        line: format!("kgauge report {}", quoted(&folder)),
        line_anywhere: "kgauge report RUN-FOLDER".to_owned(),
    });
    commands
}

/// Whether the run is one of the two of an A/B test.
fn is_side(run: &RunRead) -> bool {
    let test = run.plan.as_ref().and_then(|plan| plan.ab.as_ref());
    test.is_some_and(|test| test.own_sides().len() == 1)
}

/// Continues a run, or an A/B test, of which the run may be one side.
pub(super) fn resume(run: &RunRead) -> ReaderCommand {
    let is_test = run.plan.as_ref().is_some_and(|plan| plan.ab.is_some());
    resume_folder(&run.dir.display().to_string(), is_test, is_side(run))
}

fn resume_folder(folder: &str, is_test: bool, is_side: bool) -> ReaderCommand {
    let parent = Path::new(folder).parent();
    let (folder, place) = match parent.and_then(Path::to_str).filter(|_| is_side) {
        Some("") => (".", "FOLDER-OF-BOTH-RUNS"),
        Some(parent) => (parent, "FOLDER-OF-BOTH-RUNS"),
        None => (folder, "RUN-FOLDER"),
    };
    let command = if is_test { "ab" } else { "run" };
    ReaderCommand {
        short: "Resume",
        purpose: "Resume this run in the same folder:".to_owned(),
        line: format!("kgauge {command} --resume {}", quoted(folder)),
        line_anywhere: format!("kgauge {command} --resume {place}"),
    }
}

/// A word of a command line as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_argument_stays_one_argument() {
        assert_eq!(quoted("linkedin-2014"), "linkedin-2014");
        assert_eq!(quoted("a b; rm -rf '~'"), "'a b; rm -rf '\\''~'\\'''");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_side_of_an_ab_test_is_resumed_with_the_other_one() {
        let line = |is_test, is_side| resume_folder("out/1-x", is_test, is_side).line;
        assert_eq!(line(false, false), "kgauge run --resume out/1-x");
        assert_eq!(line(true, false), "kgauge ab --resume out/1-x");
        assert_eq!(line(true, true), "kgauge ab --resume out");
        assert_eq!(
            resume_folder("1-x", true, true).line,
            "kgauge ab --resume ."
        );
    }
}
