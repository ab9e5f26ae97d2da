//! Commands for the reader: they repeat the run or remake its report.

use std::path::Path;

use kgauge_results::RunRead;
use kgauge_results::run::{AbRecord, RunStatus, TuneEnd, TuneRecord};
use kgauge_scenario::AbKind;

use crate::text::tune::budget_text;
use crate::view::ReaderCommand;

/// Commands that repeat the run or remake the report.
pub(super) fn commands(run: &RunRead) -> Vec<ReaderCommand> {
    let folder = run.dir.display().to_string();
    let here = |path: &str| format!("{}/{path}", quoted(&folder));
    let test = run.plan.as_ref().and_then(|plan| plan.ab.as_ref());
    let is_tune = run.plan.as_ref().is_some_and(|plan| plan.tune.is_some());
    let mut commands = Vec::new();
    // A checkup decides its loads from the state of the cluster.
    let has_plan = run.plan.is_some() && run.checkup.is_none();
    // A search for settings needs its scenario; the plan only has what it measured.
    if has_plan && !is_side(run) && !is_tune {
        commands.push(ReaderCommand {
            short: "Rerun",
            purpose: "Rerun from the saved plan with the same seed:".to_owned(),
            line: format!("kgauge run {}", here("plan.json")),
            line_anywhere: "kgauge run RUN-FOLDER/plan.json".to_owned(),
        });
    }
    let may_continue = match test {
        Some(test) if test.kind == AbKind::Same => false,
        Some(_) => run.ab.as_ref().is_some_and(AbRecord::may_continue),
        None => run.tune.as_ref().is_some_and(TuneRecord::may_continue),
    };
    let can_resume = match run.status {
        RunStatus::Running => false,
        RunStatus::Complete => may_continue,
        RunStatus::Failed | RunStatus::Interrupted | RunStatus::CutShort => true,
    };
    if has_plan && can_resume {
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

/// The flag without which a search for settings has no time left.
fn more_time(run: &RunRead) -> String {
    let plan = run.plan.as_ref().and_then(|plan| plan.tune.as_ref());
    let end = run.tune.as_ref().and_then(|search| search.end.as_ref());
    let budget_ns = match (plan, end) {
        (_, Some(TuneEnd::BudgetTooShort { needed_ns })) => *needed_ns,
        (Some(plan), Some(TuneEnd::Budget)) => plan.budget_ns.saturating_mul(2),
        _ => return String::new(),
    };
    format!(" --budget '{}'", budget_text(budget_ns))
}

/// Continues a run, a search for settings, or an A/B test, of which the run may be one side.
pub(super) fn resume(run: &RunRead) -> ReaderCommand {
    let plan = run.plan.as_ref();
    let is_test = plan.is_some_and(|plan| plan.ab.is_some());
    let is_tune = plan.is_some_and(|plan| plan.tune.is_some());
    let command = match (is_test, is_tune) {
        (true, _) => "ab",
        (false, true) => "tune",
        (false, false) => "run",
    };
    resume_folder(
        &run.dir.display().to_string(),
        command,
        is_side(run),
        &more_time(run),
    )
}

fn resume_folder(folder: &str, command: &str, is_side: bool, more: &str) -> ReaderCommand {
    let parent = Path::new(folder).parent();
    let (folder, place) = match parent.and_then(Path::to_str).filter(|_| is_side) {
        Some("") => (".", "FOLDER-OF-BOTH-RUNS"),
        Some(parent) => (parent, "FOLDER-OF-BOTH-RUNS"),
        None => (folder, "RUN-FOLDER"),
    };
    ReaderCommand {
        short: "Resume",
        purpose: "Resume this run in the same folder:".to_owned(),
        line: format!("kgauge {command} --resume {}{more}", quoted(folder)),
        line_anywhere: format!("kgauge {command} --resume {place}{more}"),
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
        let line = |command, is_side| resume_folder("out/1-x", command, is_side, "").line;
        assert_eq!(line("run", false), "kgauge run --resume out/1-x");
        assert_eq!(line("ab", false), "kgauge ab --resume out/1-x");
        assert_eq!(line("ab", true), "kgauge ab --resume out");
        let line = resume_folder("1-x", "ab", true, "").line;
        assert_eq!(line, "kgauge ab --resume .");
    }
}
