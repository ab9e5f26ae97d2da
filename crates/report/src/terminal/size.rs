//! The size of a cluster in a terminal: the answer, the machine types, caveats.

use kgauge_analyze::sizing::SizeAnswer;

use super::figures::write_table;
use super::style::Ink;
use super::table::{Alignment, Column, TableRow, TextTable};
use super::{TerminalDetail, TerminalStyle, Writer};
use crate::text::size as words;

/// The whole text, ending with a line break.
pub(crate) fn text(answer: &SizeAnswer, style: TerminalStyle) -> String {
    let mut writer = Writer::new(style);
    writer.sentence(Some(Ink::Soft), &words::need(&answer.need), "", "  ");
    writer.gap();
    writer.sentence(Some(Ink::Strong), &words::answer(answer), "", "  ");
    writer.sentence(None, &words::busiest(answer), "", "  ");
    write_size_table(&mut writer, &words::choices(answer));
    if style.detail == TerminalDetail::Full {
        if let Some(best) = answer.choices.first() {
            write_size_table(&mut writer, &words::resources(best));
        }
        write_size_table(&mut writer, &words::costs(answer));
    }
    if let Some(codecs) = words::codecs(answer) {
        write_size_table(&mut writer, &codecs);
    }
    writer.gap();
    for caveat in words::caveats(answer) {
        writer.sentence(Some(Ink::Caution), &caveat, "! ", "  ");
    }
    if style.detail != TerminalDetail::Brief {
        for line in words::basis(answer) {
            writer.sentence(Some(Ink::Soft), &line, "", "  ");
        }
    }
    writer.text()
}

fn write_size_table(writer: &mut Writer, table: &words::SizingTable) {
    writer.gap();
    let column = |(index, head): (usize, &&'static str)| match index {
        0 => Column::new(*head, Alignment::Left, 0),
        // The last columns are given up first; there are at most ten.
        index => Column::new(
            *head,
            Alignment::Right,
            u8::try_from(index / 2).unwrap_or(u8::MAX),
        ),
    };
    let table = TextTable {
        columns: table.heads.iter().enumerate().map(column).collect(),
        rows: table.rows.iter().cloned().map(TableRow::Cells).collect(),
    };
    write_table(writer, &table);
}
