//! Clients side by side, in a terminal.

use super::Writer;
use super::figures::write_table;
use super::style::Ink;
use super::table::{Alignment, Column, TableRow, TextTable};
use crate::view::{DriverTable, ReportView};

/// A table for each flow that several clients sent, and the sentences about it.
pub(super) fn write(writer: &mut Writer, view: &ReportView) {
    for table in &view.drivers {
        writer.gap();
        writer.sentence(Some(Ink::Strong), &table.title, "", "  ");
        let columns = DriverTable::COLUMNS.iter().enumerate();
        let columns = columns.map(|(index, head)| match index {
            0 => Column::new(*head, Alignment::Left, 0),
            _ => Column::new(*head, Alignment::Right, 0),
        });
        let rows = table.rows.iter();
        let laid_out = TextTable {
            columns: columns.collect(),
            rows: rows.map(|row| TableRow::Cells(row.to_vec())).collect(),
        };
        write_table(writer, &laid_out);
        for sentence in &table.sentences {
            writer.sentence(None, sentence, "  ", "  ");
        }
    }
}
