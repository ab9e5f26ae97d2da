//! Clients side by side, in a terminal.

use super::Writer;
use super::figures::write_table;
use super::style::Ink;
use super::table::{Column, Row, Side, Table};
use crate::view::{DriverTable, View};

/// A table for each flow that several clients sent, and what is to be said of them.
pub(super) fn write(writer: &mut Writer, view: &View) {
    for table in &view.drivers {
        writer.gap();
        writer.sentence(Some(Ink::Strong), &table.title, "", "  ");
        let columns = DriverTable::COLUMNS.iter().enumerate();
        let columns = columns.map(|(index, head)| Column {
            head,
            side: if index == 0 { Side::Left } else { Side::Right },
            rank: 0,
        });
        let rows = table.rows.iter();
        let laid_out = Table {
            columns: columns.collect(),
            rows: rows.map(|row| Row::Cells(row.to_vec())).collect(),
        };
        write_table(writer, &laid_out);
        for sentence in &table.sentences {
            writer.sentence(None, sentence, "  ", "  ");
        }
    }
}
