//! A comparison of two runs: a line for each figure, with the ratio, its interval and the verdict.

use super::{against_sign, figure_of, interval, silent_word};
use crate::compare::{AgainstView, CellView, CompareView, RowView, Tone};
use crate::terminal::Writer;
use crate::terminal::style::Ink;
use crate::terminal::table::{Alignment, Column, TableLine, TableRow, TextTable, cut_inside};

/// What a line takes besides the two runs: `  latency p99`, `0.769× + 0.59–1.00` and spaces.
const BESIDES_RUNS: usize = 34;

/// Writes the table, the baseline first.
pub(super) fn write(writer: &mut Writer, view: &CompareView) {
    let width = writer.style.columns();
    let (table, inks) = table(view, width.saturating_sub(BESIDES_RUNS) / 2);
    if !table.has_cells() {
        return;
    }
    writer.gap();
    let mut inks = inks.into_iter();
    for line in table.lines(width) {
        let (text, ink) = match line {
            TableLine::Head(text) => (text, Some(Ink::Strong)),
            TableLine::Rule(text) => (text, Some(Ink::Soft)),
            TableLine::Group(text) | TableLine::Cells(text) => (text, inks.next().flatten()),
        };
        writer.line(match ink {
            Some(ink) => writer.style.paint(ink, &text),
            None => text,
        });
    }
}

/// The table, whose heads are cut to `head_max`, and the colour of each row.
fn table(view: &CompareView, head_max: usize) -> (TextTable, Vec<Option<Ink>>) {
    let (base, other) = match view.baseline {
        0 => (0, 1),
        _ => (1, 0),
    };
    let label = |index: usize| {
        let head = view.heads.get(index);
        head.map_or(String::new(), |head| cut_inside(&head.label, head_max))
    };
    let columns = vec![
        Column::new("", Alignment::Left, 0),
        Column::new(label(base), Alignment::Right, 0),
        Column::joined(3),
        Column::new(label(other), Alignment::Right, 0),
        Column::joined(4),
        Column::new("ratio", Alignment::Right, 0),
        Column::joined(0),
        Column::joined(0),
        Column::new("published", Alignment::Right, 5),
    ];
    let mut rows = Vec::new();
    let mut inks = Vec::new();
    for group in &view.groups {
        let flows = group.parts.iter().filter_map(|part| part.flow.as_ref());
        let several = flows.count() > 1;
        for (index, part) in group.parts.iter().enumerate() {
            let title = match &part.flow {
                Some(flow) if several => Some(format!("{}, {flow}", group.title)),
                None if several => Some(format!("{}, all flows", group.title)),
                _ => (index == 0).then(|| group.title.clone()),
            };
            if let Some(title) = title {
                rows.push(TableRow::Group(title));
                inks.push(Some(Ink::Strong));
            }
            for row in &part.rows {
                let cell = |index: usize| row.cells.get(index);
                rows.push(TableRow::Cells(cells(row, cell(base), cell(other))));
                inks.push(cell(other).and_then(ink));
            }
        }
    }
    (TextTable { columns, rows }, inks)
}

fn ink(cell: &CellView) -> Option<Ink> {
    match cell.against.as_ref()?.tone {
        Tone::Better => Some(Ink::Good),
        Tone::Worse => Some(Ink::Bad),
        Tone::Same | Tone::Open | Tone::Silent => None,
    }
}

fn cells(row: &RowView, base: Option<&CellView>, other: Option<&CellView>) -> Vec<String> {
    let figure = |cell: Option<&CellView>| cell.map(figure_of).unwrap_or_default();
    let spread = |cell: Option<&CellView>| cell.map_or(String::new(), |cell| cell.spread.clone());
    let against = other.and_then(|cell| cell.against.as_ref());
    let [ratio, sign, ends] = against.map(ratio).unwrap_or_default();
    let published = row.published.as_ref();
    vec![
        format!("  {}", row.name),
        figure(base),
        spread(base),
        figure(other),
        spread(other),
        ratio,
        sign,
        ends,
        published.map_or(String::new(), |found| found.figure.clone()),
    ]
}

/// `1.30×`, its sign, `1.24–1.36`.
fn ratio(found: &AgainstView) -> [String; 3] {
    if found.tone == Tone::Silent || found.ratio.is_empty() {
        return ["", silent_word(found), ""].map(str::to_owned);
    }
    [
        format!("{}×", found.ratio),
        against_sign(found.tone).to_owned(),
        interval(found),
    ]
}
