//! The suite's table: what each client could do, with the reason for whatever was not done.

use std::fmt::Write as _;

use super::actions::{Action, InteropClient};

/// What one check says about a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckVerdict<'a> {
    Passed,
    Failed,
    /// Not done, and why.
    Skipped(&'a str),
}

/// What one check says, and where it belongs.
pub(super) type CheckResult<'a> = (InteropClient, Action, CheckVerdict<'a>);

/// A table in Markdown, as wide as its cells, with numbered reasons below. A cell is `ok` when all
/// that was checked for it passed, `–` when nothing was.
pub(super) fn render(entries: &[CheckResult<'_>]) -> String {
    let mut reasons = Vec::new();
    let mut lines = vec![head()];
    for action in Action::all() {
        let mut cells = vec![action.words().to_owned()];
        for column in InteropClient::ALL {
            cells.push(cell(entries, column, action, &mut reasons));
        }
        lines.push(cells);
    }
    let mut text = aligned(&lines);
    if !reasons.is_empty() {
        text.push('\n');
    }
    for (index, reason) in reasons.iter().enumerate() {
        let _ = writeln!(text, "[{}] {reason}", index + 1);
    }
    text
}

fn head() -> Vec<String> {
    let clients = InteropClient::ALL.map(|column| column.words().to_owned());
    std::iter::once("action".to_owned())
        .chain(clients)
        .collect()
}

fn cell(
    entries: &[CheckResult<'_>],
    column: InteropClient,
    action: Action,
    reasons: &mut Vec<String>,
) -> String {
    let here = entries
        .iter()
        .filter(|(of, what, _)| (*of, *what) == (column, action));
    let verdicts: Vec<CheckVerdict<'_>> = here.map(|&(_, _, verdict)| verdict).collect();
    if verdicts.contains(&CheckVerdict::Failed) {
        return "FAILED".to_owned();
    }
    if verdicts.contains(&CheckVerdict::Passed) {
        return "ok".to_owned();
    }
    let skip_reason = verdicts.iter().find_map(|verdict| match verdict {
        CheckVerdict::Skipped(why) => Some(*why),
        CheckVerdict::Passed | CheckVerdict::Failed => None,
    });
    let reason = skip_reason
        .or_else(|| column.lacks(action))
        .unwrap_or("was not run this time");
    format!("– [{}]", number(reasons, reason))
}

/// The number of a reason; equal ones share it.
fn number(reasons: &mut Vec<String>, reason: &str) -> usize {
    let known = reasons.iter().position(|known| known == reason);
    let index = known.unwrap_or_else(|| {
        reasons.push(reason.to_owned());
        reasons.len() - 1
    });
    index + 1
}

/// Lines of cells as a Markdown table whose columns stand below each other in plain text, too.
fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let widest = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        for (width, cell) in widths.iter().zip(line) {
            let _ = write!(text, "| {cell:<width$} ");
        }
        text.push_str("|\n");
        if index == 0 {
            for width in &widths {
                let _ = write!(text, "|{}", "-".repeat(width + 2));
            }
            text.push_str("|\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(table: &str, action: Action) -> Vec<String> {
        let line = table.lines().find(|line| line.contains(action.words()));
        let cells = line.unwrap().trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    }

    #[test]
    fn one_failure_fails_a_cell_and_one_pass_outweighs_a_skip() {
        let table = render(&[
            (InteropClient::Kafka, Action::Produce, CheckVerdict::Passed),
            (InteropClient::Kafka, Action::Produce, CheckVerdict::Failed),
            (
                InteropClient::Go,
                Action::Produce,
                CheckVerdict::Skipped("too late"),
            ),
            (InteropClient::Go, Action::Produce, CheckVerdict::Passed),
        ]);
        let cells = line(&table, Action::Produce);
        assert_eq!((cells[1].as_str(), cells[4].as_str()), ("FAILED", "ok"));
    }

    #[test]
    fn what_was_not_done_has_its_reason_below_and_equal_reasons_share_a_number() {
        let table = render(&[
            (
                InteropClient::Python,
                Action::LogDirs,
                CheckVerdict::Skipped("no call for it"),
            ),
            (
                InteropClient::Python,
                Action::DeleteGroupOffsets,
                CheckVerdict::Skipped("no call for it"),
            ),
        ]);
        let (one, other) = (
            line(&table, Action::LogDirs)[3].clone(),
            line(&table, Action::DeleteGroupOffsets)[3].clone(),
        );
        assert_eq!(one, other);
        let number = one.trim_start_matches("– ");
        assert!(
            table.contains(&format!("\n{number} no call for it\n")),
            "{table}"
        );
    }

    #[test]
    fn lines_are_equally_long_so_that_columns_stand_below_each_other() {
        let table = render(&[]);
        let lengths: Vec<usize> = table
            .lines()
            .take_while(|line| line.starts_with('|'))
            .map(|line| line.chars().count())
            .collect();
        assert_eq!(lengths.len(), Action::all().count() + 2);
        assert!(lengths.iter().all(|&length| length == lengths[0]));
    }
}
