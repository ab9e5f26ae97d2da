//! Clients side by side: what an application with each of them would see.

use super::section::write_section;
use crate::markup::Markup;
use crate::view::{DriverTable, ReportView};

/// A table for each flow that several clients sent.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    if view.drivers.is_empty() {
        return;
    }
    write_section(page, "clients", "part", "Clients", |page| {
        page.leaf(
            "p",
            &[("class", "lead")],
            "The same records at the same times, sent by different clients. CPU covers the whole \
             sending process.",
        );
        view.drivers.iter().for_each(|table| write_one(page, table));
    });
}

fn write_one(page: &mut Markup, table: &DriverTable) {
    page.leaf("h3", &[], &table.title);
    page.element("table", &[("class", "figures stack")], |page| {
        page.table_head(DriverTable::COLUMNS);
        page.element("tbody", &[("class", "alone")], |page| {
            for row in &table.rows {
                page.element("tr", &[], |page| {
                    page.leaf("th", &[("scope", "row")], &row[0]);
                    let cells = row.iter().zip(DriverTable::COLUMNS).skip(1);
                    for (cell, name) in cells {
                        super::figures::cell(page, name, |page| page.text(cell));
                    }
                });
            }
        });
    });
    for sentence in &table.sentences {
        page.leaf("p", &[], sentence);
    }
}
