//! The suite's table, as people read it.

use crate::row::{RowVerdict, TruthRow, TruthUnit};

/// A check's part of the table.
pub(crate) struct TruthTable<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    /// The formula in words.
    pub(crate) formula: &'a str,
    pub(crate) rows: &'a [TruthRow],
}

/// Lines are not longer than this, but for figures with long names.
const WIDTH: usize = 80;
const HEADS: [&str; 5] = ["", "expected", "measured", "tolerance", "verdict"];

/// The whole table, ending with a line break.
pub(crate) fn text(parts: &[TruthTable<'_>]) -> String {
    let cells = |row: &TruthRow| -> [String; 5] {
        [
            format!("  {}", row.figure),
            row.expected
                .map_or_else(String::new, |it| amount(it, row.unit)),
            row.measured
                .map_or_else(String::new, |it| amount(it, row.unit)),
            row.tolerance.clone(),
            match row.tries {
                1 => row.verdict.words().to_owned(),
                tries => format!("{}, try {tries}", row.verdict.words()),
            },
        ]
    };
    let mut widths = HEADS.map(str::len);
    for row in parts.iter().flat_map(|part| part.rows) {
        for (width, cell) in widths.iter_mut().zip(cells(row)) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        text.push_str(&format!("{}: {}\n", part.name, part.title));
        wrap(&mut text, part.formula);
        if part.rows.iter().any(|row| row.measured.is_some()) {
            line(&mut text, HEADS.map(str::to_owned), widths);
        }
        for row in part.rows {
            line(&mut text, cells(row), widths);
            if let (Some(low), Some(high)) = (row.possible_low, row.possible_high) {
                let (low, high) = (amount(low, row.unit), amount(high, row.unit));
                let words = format!(
                    "Other programs used the machine: with that, {low} to {high} is possible."
                );
                wrap(&mut text, &words);
            }
            if let Some(note) = &row.note {
                note.lines().for_each(|note| wrap(&mut text, note));
            }
        }
    }
    text
}

/// Names to the left, figures to the right, words to the left.
fn line(text: &mut String, cells: [String; 5], widths: [usize; 5]) {
    let [name, expected, measured, tolerance, verdict] = cells;
    let [w0, w1, w2, w3, _] = widths;
    let made =
        format!("{name:<w0$}  {expected:>w1$}  {measured:>w2$}  {tolerance:<w3$}  {verdict}");
    text.push_str(made.trim_end());
    text.push('\n');
}

/// A sentence on separate lines, indented.
fn wrap(text: &mut String, words: &str) {
    let mut line = String::new();
    for word in words.split_whitespace() {
        // Two of indent, one between.
        if !line.is_empty() && line.chars().count() + 3 + word.chars().count() > WIDTH {
            text.push_str(&format!("  {line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    text.push_str(&format!("  {line}\n"));
}

/// An amount for people.
pub(crate) fn amount(value: f64, unit: TruthUnit) -> String {
    match unit {
        TruthUnit::Nanoseconds if value.abs() >= 99_950_000.0 => format!("{:.1} ms", value / 1e6),
        TruthUnit::Nanoseconds => format!("{:.2} ms", value / 1e6),
        TruthUnit::RecordsPerSecond => format!("{value:.1} /s"),
        TruthUnit::BytesPerSecond => format!("{:.3} MB/s", value / 1e6),
        TruthUnit::Records if value.fract() == 0.0 => format!("{value:.0} records"),
        TruthUnit::Records => format!("{value:.2} records"),
        TruthUnit::Count => format!("{value:.0}"),
        TruthUnit::Ratio => format!("{value:.2}"),
    }
}

/// The last sentences: how many of how many, and, when one is wrong, what else the machine did meanwhile.
pub(crate) fn closing(rows: &[TruthRow], used_by_others: Option<f64>) -> String {
    let count = |verdicts: &[RowVerdict]| {
        rows.iter()
            .filter(|row| verdicts.contains(&row.verdict))
            .count()
    };
    let good = count(&[RowVerdict::Pass, RowVerdict::Caught]);
    let bad = count(&[RowVerdict::Fail, RowVerdict::NotCaught]);
    let missing = count(&[RowVerdict::Missing]);
    let unsure = count(&[RowVerdict::Inconclusive]);
    let all = good + bad + unsure;
    let mut text = format!("figures as expected: {good} of {all}");
    if unsure > 0 {
        text.push_str(&format!(", {unsure} inconclusive"));
    }
    if missing > 0 {
        text.push_str(&format!(", {missing} unavailable"));
    }
    text.push('.');
    if let Some(part) = used_by_others.filter(|_| bad + unsure > 0) {
        text.push_str(&format!(
            "\nOther programs used up to {:.0} % of this machine's processors during the checks.",
            part * 100.0
        ));
    }
    if unsure > 0 {
        text.push_str(
            "\nInconclusive figures missed their tolerance by no more than other programs can explain; \
             run `kgauge truth` on an idle machine.",
        );
    }
    if bad > 0 {
        text.push_str(
            "\nA failed figure missed its tolerance by more than other programs can explain: this \
             is a bug in kgauge. Please report it with the run folders.",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::ExpectedValue;

    #[test]
    fn the_table_fits_and_says_what_fails() {
        let truth = ExpectedValue::within(TruthUnit::Nanoseconds, 400e6, 0.01);
        let rows = [
            truth.row("stall", "even, p99", Some(400.6e6)),
            truth.row("stall", "wrong, p99", Some(1.2e6)),
        ];
        let parts = [TruthTable {
            name: "stall",
            title: "a second of silence",
            formula: "Of a hold of 60 s the part (1 s - x) / 60 s waits longer than x, because records that \
                      are due evenly wait evenly.",
            rows: &rows,
        }];
        let expected = "\
stall: a second of silence
  Of a hold of 60 s the part (1 s - x) / 60 s waits longer than x, because
  records that are due evenly wait evenly.
              expected  measured  tolerance  verdict
  even, p99   400.0 ms  400.6 ms  ± 1 %      pass
  wrong, p99  400.0 ms   1.20 ms  ± 1 %      FAIL
";
        assert_eq!(text(&parts), expected);
        let words = "figures as expected: 1 of 2.\nOther programs used up to 83 % of this machine's \
                     processors during the checks.\nA failed figure";
        assert!(closing(&rows, Some(0.831)).starts_with(words));
        assert_eq!(
            closing(&rows[..1], Some(0.9)),
            "figures as expected: 1 of 1."
        );
    }
}
