//! Cause by verdict.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::cells::BottleneckCell;

/// What a summary says of one trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JudgedTrial {
    pub(super) word: String,
    candidates: Vec<String>,
    pub(super) sentence: String,
}

impl JudgedTrial {
    pub(super) fn of(trial: &Value) -> JudgedTrial {
        let limit = &trial["limit"];
        let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
        let candidates = limit["candidates"].as_array();
        JudgedTrial {
            word: text(&limit["word"]),
            candidates: candidates.into_iter().flatten().map(text).collect(),
            sentence: text(&limit["sentence"]),
        }
    }
}

/// All verdicts.
#[derive(Debug, Default)]
pub(super) struct VerdictTable {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    cause: &'static str,
    target: &'static str,
    verdicts: Vec<JudgedTrial>,
    error: Option<String>,
    left_out: Option<String>,
}

impl Row {
    fn of(cell: &BottleneckCell) -> Row {
        Row {
            cause: cell.cause,
            target: cell.target,
            verdicts: Vec::new(),
            error: None,
            left_out: None,
        }
    }

    fn right(&self) -> usize {
        let verdicts = self.verdicts.iter();
        verdicts.filter(|one| one.word == self.cause).count()
    }

    /// Not decided, with the cause among the candidates.
    fn near(&self) -> usize {
        let near = |one: &&JudgedTrial| {
            one.word == "undecided" && one.candidates.iter().any(|word| word == self.cause)
        };
        self.verdicts.iter().filter(near).count()
    }

    /// Trials with a definite verdict that names another bottleneck.
    fn wrong(&self) -> usize {
        let wrong = |one: &&JudgedTrial| one.word != self.cause && one.word != "undecided";
        self.verdicts.iter().filter(wrong).count()
    }
}

impl VerdictTable {
    pub(super) fn add(&mut self, cell: &BottleneckCell, verdicts: Vec<JudgedTrial>) {
        self.rows.push(Row {
            verdicts,
            ..Row::of(cell)
        });
    }

    pub(super) fn broken(&mut self, cell: &BottleneckCell, error: &anyhow::Error) {
        self.rows.push(Row {
            error: Some(format!("{error:#}")),
            ..Row::of(cell)
        });
    }

    /// A cause that cannot be put there on this machine.
    pub(super) fn left_out(&mut self, cell: &BottleneckCell, why: &str) {
        self.rows.push(Row {
            left_out: Some(format!("left out: {why}")),
            ..Row::of(cell)
        });
    }

    /// No cell was selected.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn count(&self) -> usize {
        self.rows.iter().map(|row| row.verdicts.len()).sum()
    }

    /// The part of all verdicts that is right.
    pub(super) fn right_part(&self) -> f64 {
        let right: usize = self.rows.iter().map(Row::right).sum();
        right as f64 / self.count().max(1) as f64
    }

    /// Causes of which there is no verdict.
    pub(super) fn broken_cells(&self) -> usize {
        self.rows.iter().filter(|row| row.error.is_some()).count()
    }

    /// Trials that nothing limited, of which something was accused without doubt.
    pub(super) fn false_alarms(&self) -> usize {
        let rows = self.rows.iter().filter(|row| row.cause == "load");
        rows.map(Row::wrong).sum()
    }

    /// The table; `trials` is the number of trials of each cause and target.
    pub(super) fn text(&self, trials: usize) -> String {
        let mut text = format!(
            "\n{:<18} {:<54} {:>5} {:>5} {:>5} {:>5}  verdicts\n",
            "cause", "target", "right", "near", "wrong", "of"
        );
        for row in &self.rows {
            let mut words = BTreeMap::<&str, usize>::new();
            for one in &row.verdicts {
                *words.entry(&one.word).or_default() += 1;
            }
            let counted = |(word, count): (&str, usize)| format!("{word} {count}");
            let words: Vec<String> = words.into_iter().map(counted).collect();
            let why = row.error.as_ref().or(row.left_out.as_ref());
            let detail = why.cloned().unwrap_or_else(|| words.join(", "));
            let _ = writeln!(
                text,
                "{:<18} {:<54} {:>5} {:>5} {:>5} {:>5}  {detail}",
                row.cause,
                row.target,
                row.right(),
                row.near(),
                row.wrong(),
                row.verdicts.len(),
            );
        }
        let left_out = self.rows.iter().filter(|row| row.left_out.is_some());
        let left_out = left_out.count();
        let _ = write!(
            text,
            "\n{:.1} % of {} verdicts are right ({} trials of each of {} causes and targets, {} left out); {} of those on nothing \
             but the load accuse something else",
            self.right_part() * 100.0,
            self.count(),
            trials,
            self.rows.len() - left_out,
            left_out,
            self.false_alarms()
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(word: &str, candidates: &[&str]) -> JudgedTrial {
        JudgedTrial {
            word: word.to_owned(),
            candidates: candidates.iter().map(|one| (*one).to_owned()).collect(),
            sentence: String::new(),
        }
    }

    #[test]
    fn right_near_and_wrong_are_counted_and_a_false_alarm_is_told() {
        let row = |cause, verdicts| Row {
            cause,
            target: "embedded",
            verdicts,
            error: None,
            left_out: None,
        };
        let not_here = Row {
            left_out: Some("left out: no tc".to_owned()),
            ..row("network-card", Vec::new())
        };
        let table = VerdictTable {
            rows: vec![
                not_here,
                row(
                    "disk",
                    vec![
                        judged("disk", &[]),
                        judged("undecided", &["disk", "load"]),
                        judged("quota", &[]),
                    ],
                ),
                row("load", vec![judged("load", &[]), judged("disk", &[])]),
            ],
        };
        let disk = &table.rows[1];
        assert_eq!((disk.right(), disk.near(), disk.wrong()), (1, 1, 1));
        assert_eq!(table.right_part(), 0.4);
        assert_eq!(table.false_alarms(), 1);
        let text = table.text(3);
        assert!(text.contains("left out: no tc"), "{text}");
        let expected = "40.0 % of 5 verdicts are right (3 trials of each of 2 causes and targets, 1 left out); 1 of";
        assert!(text.contains(expected), "{text}");
        assert_eq!(table.broken_cells(), 0);
    }

    #[test]
    fn a_verdict_is_read_from_a_summary() {
        let trial = serde_json::json!({"limit": {"word": "undecided", "sentence": "s", "candidates": ["disk"]}});
        let of = JudgedTrial::of(&trial);
        assert_eq!((of.word.as_str(), of.candidates.len()), ("undecided", 1));
        assert_eq!(JudgedTrial::of(&serde_json::json!({})).word, "none");
    }
}
