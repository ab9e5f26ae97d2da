//! An A/B test in a terminal: the answer, both sides, what it rests on.

use kgauge_analyze::summary::AbSummary;
use kgauge_scenario::AbSide;

use super::Writer;
use super::figures::write_table;
use super::style::Ink;
use super::table::{Alignment, Column, TableRow, TextTable};
use crate::format;
use crate::text::ab as words;

/// The test in about fifteen lines.
pub(super) fn write(writer: &mut Writer, test: &AbSummary) {
    writer.gap();
    writer.sentence(Some(Ink::Soft), &words::setup(test), "", "  ");
    writer.gap();
    writer.sentence(Some(Ink::Strong), &words::answer(test), "", "  ");
    writer.gap();
    write_sides(writer, test);
    writer.gap();
    for sentence in words::details(test) {
        writer.sentence(None, &sentence, "", "  ");
    }
    writer.sentence(Some(Ink::Soft), &words::cost(test), "", "  ");
}

/// A row for each side.
fn write_sides(writer: &mut Writer, test: &AbSummary) {
    let columns = vec![
        Column::new("side", Alignment::Left, 0),
        Column::new(words::metric_name(test), Alignment::Right, 1),
        Column::new("lowest to highest", Alignment::Right, 2),
    ];
    let rows = AbSide::BOTH.into_iter().map(|side| {
        let values = words::values(test, test.side(side));
        let nothing = || (format::NOTHING.to_owned(), format::NOTHING.to_owned());
        let (mean, ends) = values.unwrap_or_else(nothing);
        TableRow::Cells(vec![words::side(test, side), mean, ends])
    });
    let table = TextTable {
        columns,
        rows: rows.collect(),
    };
    write_table(writer, &table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TerminalStyle;
    use crate::text::ab::tests::different;

    #[test]
    fn a_test_fits_on_a_screen_with_its_answer_first() {
        let mut writer = Writer::new(TerminalStyle::default());
        write(&mut writer, &different());
        let text = writer.text();
        assert!(text.lines().count() <= 20, "{text}");
        let row = |name: &str| text.lines().find(|line| line.starts_with(name));
        let b = row("B: linger.ms=5").unwrap_or_default();
        assert!(b.contains("105,000 records/s"), "{text}");
        assert!(b.ends_with("104,000 to 106,000 records/s"), "{text}");
    }
}
