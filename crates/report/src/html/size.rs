//! The page of a size: the answer first, then machine types, resources, costs, and what it rests on.

use kgauge_analyze::sizing::SizeAnswer;

use super::STYLE;
use super::head::{PageHead, write_head};
use super::section::write_section;
use crate::markup::Markup;
use crate::text::size as words;

/// The whole page.
pub(crate) fn page(answer: &SizeAnswer) -> String {
    let mut page = Markup::new();
    page.own("<!DOCTYPE html>\n");
    page.element("html", &[("lang", "en")], |page| {
        let head = PageHead {
            title: "Size of a cluster · kgauge",
            version: env!("CARGO_PKG_VERSION"),
            styles: vec![STYLE],
            script: None,
            asks: false,
        };
        write_head(page, &head);
        page.element("body", &[], |page| {
            page.element("div", &[("class", "column")], |page| {
                page.element("main", &[], |page| write_main(page, answer));
                let made = format!("kgauge {}", env!("CARGO_PKG_VERSION"));
                page.leaf("footer", &[], &made);
            });
        });
    });
    page.line();
    page.finish()
}

fn write_main(page: &mut Markup, answer: &SizeAnswer) {
    page.element(
        "section",
        &[("class", "first"), ("aria-label", "Answer")],
        |page| {
            page.element("header", &[("class", "top")], |page| {
                page.leaf("p", &[("class", "meta")], "Size of a cluster");
                page.leaf("h1", &[], &words::need(&answer.need));
            });
            page.prose("p", &[("class", "answer")], &words::answer(answer));
            page.prose("p", &[], &words::busiest(answer));
            for caveat in words::caveats(answer) {
                page.leaf("p", &[("class", "notice caution")], &caveat);
            }
        },
    );
    write_size_table(page, "types", &words::choices(answer));
    if let Some(best) = answer.choices.first() {
        write_size_table(page, "resources", &words::resources(best));
    }
    if let Some(codecs) = words::codecs(answer) {
        write_size_table(page, "codecs", &codecs);
    }
    write_size_table(page, "costs", &words::costs(answer));
    write_section(page, "basis", "", "How it was made", |page| {
        page.element("ul", &[], |page| {
            for line in words::basis(answer) {
                page.leaf("li", &[], &line);
            }
        });
    });
}

fn write_size_table(page: &mut Markup, id: &str, table: &words::SizingTable) {
    write_section(page, id, "", table.title, |page| {
        page.element("div", &[("class", "side-by-side")], |page| {
            page.element("table", &[("class", "figures")], |page| {
                page.table_head(&table.heads);
                page.element("tbody", &[], |page| {
                    for row in &table.rows {
                        page.element("tr", &[], |page| {
                            for (index, cell) in row.iter().enumerate() {
                                match index {
                                    0 => page.leaf("th", &[("scope", "row")], cell),
                                    _ => page.leaf("td", &[], cell),
                                }
                            }
                        });
                    }
                });
            });
        });
    });
}
