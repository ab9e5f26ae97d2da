//! A checkup: its findings on the first screen, and a section with the facts and the figures of its parts.

use kgauge_analyze::checkup::CheckupSummary;

use crate::format;
use crate::markup::Markup;
use crate::text::checkup as words;
use crate::view::ReportView;

use super::section::write_section;

/// The columns of the table of shares.
const COLUMNS: [&str; 4] = [
    "Share of the capacity",
    "records/s",
    "End to end p50",
    "End to end p99",
];

/// Writes the section; nothing for other runs.
pub(super) fn write(page: &mut Markup, view: &ReportView) {
    let Some(summary) = view.checkup else {
        return;
    };
    write_section(page, "checkup", "", "Checkup", |page| {
        let facts = words::facts(summary);
        write_list(page, &facts);
        let capacity = view.capacities.first();
        page.prose(
            "p",
            &[("class", "lead")],
            &words::capacity_answer(summary, capacity),
        );
        write_shares(page, summary);
        write_list(page, &words::parts(summary));
    });
}

/// The three that matter most; the others are folded.
pub(super) fn write_findings(page: &mut Markup, summary: &CheckupSummary) {
    if summary.findings.is_empty() {
        let (words, _) = words::nothing_found(summary);
        page.prose("p", &[("class", "lead")], words);
        return;
    }
    let (shown, more) = summary
        .findings
        .split_at(summary.findings.len().min(words::FINDINGS_SHOWN));
    page.element("ol", &[], |page| {
        for finding in shown {
            write_finding(page, &words::finding(&finding.fact));
        }
    });
    if more.is_empty() {
        return;
    }
    page.element("details", &[], |page| {
        let title = format::counted(more.len() as u64, "more finding");
        page.leaf("summary", &[], &title);
        page.element("ul", &[], |page| {
            for finding in more {
                write_finding(page, &words::finding(&finding.fact));
            }
        });
    });
}

fn write_finding(page: &mut Markup, text: &words::FindingText) {
    page.element("li", &[], |page| {
        page.leaf("strong", &[], &text.what);
        page.text(" ");
        page.text(&text.evidence);
        page.text(" Try: ");
        page.text(&text.attempt);
    });
}

fn write_list(page: &mut Markup, facts: &[(&'static str, String)]) {
    page.element("dl", &[("class", "verdict")], |page| {
        for (name, text) in facts {
            page.element("div", &[], |page| {
                page.leaf("dt", &[], name);
                page.leaf("dd", &[], text);
            });
        }
    });
}

fn write_shares(page: &mut Markup, summary: &CheckupSummary) {
    if words::times(summary).next().is_none() {
        return;
    }
    page.element("table", &[("class", "figures stack")], |page| {
        page.table_head(COLUMNS.map(str::to_owned));
        page.element("tbody", &[("class", "alone")], |page| {
            for point in words::times(summary) {
                let time = |ns: Option<f64>| {
                    ns.map_or_else(|| format::NOTHING.to_owned(), format::nanoseconds)
                };
                let rate = point.planned_per_s.unwrap_or(point.records_per_s);
                let cells = [format::figure(rate), time(point.p50_ns), time(point.p99_ns)];
                page.element("tr", &[], |page| {
                    page.leaf("th", &[("scope", "row")], &words::share(point));
                    for (cell, column) in cells.iter().zip(COLUMNS.iter().skip(1)) {
                        super::figures::cell(page, column, |page| page.text(cell));
                    }
                });
            }
        });
    });
}
