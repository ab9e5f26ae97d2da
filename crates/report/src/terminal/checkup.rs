//! A checkup in a terminal: one page with facts, figures and the findings that matter most.

use kgauge_analyze::checkup::{CheckupPoint, CheckupSummary};
use kgauge_analyze::summary::{CapacityLoad, CapacitySearch, CapacitySummary};

use super::Writer;
use super::figures::write_table;
use super::style::{Ink, TerminalDetail};
use super::table::{Alignment, Column, TableRow, TextTable};
use crate::format;
use crate::text::checkup as words;

/// The width of the names before facts.
const NAME_COLUMNS: usize = 12;

/// Writes the page.
pub(super) fn write(
    writer: &mut Writer,
    summary: &CheckupSummary,
    capacity: Option<&CapacitySummary>,
) {
    for (name, text) in words::facts(summary) {
        write_fact(writer, name, &text);
    }
    writer.gap();
    let answer = words::capacity_answer(summary, capacity);
    writer.sentence(Some(Ink::Strong), &answer, "", "  ");
    write_shares(writer, summary, capacity);
    for (name, text) in words::parts(summary) {
        write_fact(writer, name, &text);
    }
    write_findings(writer, summary);
}

fn write_fact(writer: &mut Writer, name: &str, text: &str) {
    let first = format!("{name:<NAME_COLUMNS$}");
    writer.sentence(None, text, &first, &" ".repeat(NAME_COLUMNS));
}

/// Latency without load and at shares of the capacity: of producers from the search, end to end from its part.
fn write_shares(writer: &mut Writer, summary: &CheckupSummary, capacity: Option<&CapacitySummary>) {
    let points: Vec<&CheckupPoint> = words::times(summary).collect();
    if points.is_empty() {
        return;
    }
    let search = capacity.and_then(|capacity| capacity.searches.first());
    let response = |point: &CheckupPoint| near(search?, point.share?)?.value_ns;
    let time = |ns: Option<f64>| ns.map_or_else(|| format::NOTHING.to_owned(), format::nanoseconds);
    let row = |name: String, cell: &dyn Fn(&CheckupPoint) -> String| {
        let cells = points.iter().map(|point| cell(point));
        TableRow::Cells(std::iter::once(name).chain(cells).collect())
    };
    let mut rows = vec![row("records/s".to_owned(), &|point| {
        format::thousands(point.planned_per_s.unwrap_or(point.records_per_s))
    })];
    if let Some(figure) = capacity.and_then(crate::text::capacity::figure_name)
        && points.iter().any(|point| response(point).is_some())
    {
        let name = format!("produce {figure}");
        rows.push(row(name, &|point| time(response(point))));
    }
    rows.push(row("end to end p50".to_owned(), &|point| {
        time(point.p50_ns)
    }));
    rows.push(row("end to end p99".to_owned(), &|point| {
        time(point.p99_ns)
    }));
    let names = points.iter().map(|point| words::share(point));
    let heads = std::iter::once("of capacity".to_owned()).chain(names);
    let heads = heads.enumerate().map(|(index, head)| match index {
        0 => Column::new(head, Alignment::Left, 0),
        _ => Column::new(head, Alignment::Right, 0),
    });
    let table = TextTable {
        columns: heads.collect(),
        rows,
    };
    write_table(writer, &table);
}

/// The load of the search's curve at a share of the capacity.
fn near(search: &CapacitySearch, part: f64) -> Option<&CapacityLoad> {
    let lower = search.strict.lower?;
    let mut loads = search.loads.iter();
    loads.find(|load| (load.rate / (part * lower) - 1.0).abs() < 1e-3)
}

fn write_findings(writer: &mut Writer, summary: &CheckupSummary) {
    writer.gap();
    let all = &summary.findings;
    if all.is_empty() {
        let (words, is_good) = words::nothing_found(summary);
        writer.sentence(is_good.then_some(Ink::Good), words, "", "  ");
        return;
    }
    let shown = match writer.style.detail {
        TerminalDetail::Full => all.len(),
        TerminalDetail::Brief | TerminalDetail::Usual => words::FINDINGS_SHOWN,
    };
    for (number, finding) in all.iter().take(shown).enumerate() {
        let text = words::finding(&finding.fact);
        let first = format!("{}. ", number + 1);
        let line = format!("{} {}", text.what, text.evidence);
        writer.sentence(Some(Ink::Strong), &line, &first, "   ");
        writer.sentence(None, &text.attempt, "   Try: ", "   ");
    }
    let more = all.len().saturating_sub(shown);
    if more > 0 {
        let more = format::counted(more as u64, "more finding");
        writer.sentence(Some(Ink::Soft), &format!("{more} in the report."), "", "  ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TerminalStyle;
    use crate::text::capacity::tests::capacity;
    use crate::text::checkup::tests::checkup;

    #[test]
    fn a_checkup_is_one_page_that_ends_with_three_findings() {
        let mut writer = Writer::new(TerminalStyle::default());
        write(&mut writer, &checkup(), Some(&capacity()));
        let text = writer.text();
        assert!(text.lines().count() <= 34, "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        let row = |name: &str| text.lines().find(|line| line.starts_with(name));
        let produce = row("produce p99").unwrap_or_default();
        assert!(
            produce.contains("3.10 ms") && produce.ends_with("11.0 ms"),
            "{text}"
        );
        for start in [
            "1. New topics",
            "2. Broker 3",
            "3. A quota",
            "1 more finding in the report.",
        ] {
            assert!(row(start).is_some(), "{start}\n{text}");
        }
    }

    #[test]
    fn a_checkup_without_load_has_its_facts_and_findings() {
        let mut summary = checkup();
        summary.end_to_end.clear();
        summary.idle = None;
        summary.findings.clear();
        summary.after = None;
        let mut writer = Writer::new(TerminalStyle::default());
        write(&mut writer, &summary, None);
        let text = writer.text();
        assert!(
            text.contains("\nThe capacity was not measured.\n"),
            "{text}"
        );
        let last = "Nothing was found that needs attention, but parts of the checkup are missing.";
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.ends_with(last), "{text}");
    }
}
