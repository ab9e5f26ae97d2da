//! Commands for the reader: they repeat the run or remake its report.

use kgauge_results::RunRead;
use kgauge_results::run::RunStatus;

use crate::view::ReaderCommand;

/// Commands that repeat the run or remake the report.
pub(super) fn commands(run: &RunRead) -> Vec<ReaderCommand> {
    let folder = run.dir.display().to_string();
    let here = |path: &str| format!("{}/{path}", quoted(&folder));
    let mut commands = Vec::new();
    // A checkup decides its loads from the state of the cluster.
    let has_plan = run.plan.is_some() && run.checkup.is_none();
    if has_plan {
        commands.push(ReaderCommand {
            short: "Rerun",
            purpose: "Rerun from the saved plan with the same seed:".to_owned(),
            line: format!("kgauge run {}", here("plan.json")),
            line_anywhere: "kgauge run RUN-FOLDER/plan.json".to_owned(),
        });
    }
    let is_whole = matches!(run.status, RunStatus::Complete | RunStatus::Running);
    if has_plan && !is_whole {
        commands.push(ReaderCommand {
            short: "Resume",
            purpose: "Resume this run in the same folder:".to_owned(),
            line: format!("kgauge run --resume {}", quoted(&folder)),
            line_anywhere: "kgauge run --resume RUN-FOLDER".to_owned(),
        });
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
}
