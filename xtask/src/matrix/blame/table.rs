//! Trouble by sentence.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::cells::BlameCell;
use super::party::{BlameVerdict, BlamedParty};

/// All runs.
#[derive(Debug, Default)]
pub(in crate::matrix) struct BlameTable {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    trouble: &'static str,
    target: &'static str,
    party: BlamedParty,
    runs: Vec<BlameVerdict>,
    errors: Vec<String>,
    left_out: Option<String>,
}

impl BlameTable {
    fn row(&mut self, cell: &BlameCell) -> &mut Row {
        let same = |row: &Row| row.trouble == cell.trouble && row.target == cell.target;
        let position = self.rows.iter().position(same);
        let position = position.unwrap_or_else(|| {
            self.rows.push(Row {
                trouble: cell.trouble,
                target: cell.target,
                party: cell.party,
                runs: Vec::new(),
                errors: Vec::new(),
                left_out: None,
            });
            self.rows.len() - 1
        });
        &mut self.rows[position]
    }

    pub(super) fn add(&mut self, cell: &BlameCell, blamed: BlameVerdict) {
        self.row(cell).runs.push(blamed);
    }

    pub(super) fn broken(&mut self, cell: &BlameCell, error: &anyhow::Error) {
        self.row(cell).errors.push(format!("{error:#}"));
    }

    pub(super) fn left_out(&mut self, cell: &BlameCell, why: &str) {
        self.row(cell).left_out = Some(format!("left out: {why}"));
    }

    /// Nobody was blamed wrongly, and every run ended.
    pub(in crate::matrix) fn is_good(&self) -> bool {
        self.rows
            .iter()
            .all(|row| row.count("WRONG") == 0 && row.errors.is_empty())
    }

    /// No trouble was selected.
    pub(in crate::matrix) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(in crate::matrix) fn text(&self) -> String {
        let mut text = format!(
            "\n{:<12} {:<44} {:<10} {:>5} {:>5} {:>5} {:>5}\n",
            "trouble", "target", "party", "right", "vague", "WRONG", "of"
        );
        let (mut all, mut wrong, mut right) = (0, 0, 0);
        for row in &self.rows {
            let _ = writeln!(
                text,
                "{:<12} {:<44} {:<10} {:>5} {:>5} {:>5} {:>5}",
                row.trouble,
                row.target,
                format!("{:?}", row.party).to_lowercase(),
                row.count("right"),
                row.count("vague"),
                row.count("WRONG"),
                row.runs.len(),
            );
            (all, wrong) = (all + row.runs.len(), wrong + row.count("WRONG"));
            right += row.count("right");
            let mut forms = BTreeMap::<(&str, String), usize>::new();
            for run in &row.runs {
                *forms.entry((run.mark(row.party), run.form())).or_default() += 1;
            }
            for ((mark, form), count) in forms {
                let _ = writeln!(text, "    {count:>3} {mark} {form}");
            }
            for error in row.errors.iter().chain(&row.left_out) {
                let _ = writeln!(text, "    {}", error.lines().next().unwrap_or_default());
            }
        }
        let _ = write!(
            text,
            "\n{all} runs: {right} name the party, {wrong} blame a wrong one"
        );
        text
    }
}

impl Row {
    fn count(&self, mark: &str) -> usize {
        let runs = self.runs.iter();
        runs.filter(|run| run.mark(self.party) == mark).count()
    }
}
