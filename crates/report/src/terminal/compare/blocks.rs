//! A comparison of more than two runs: a column for each, in blocks where they do not all fit, and a line for each
//! ratio.

use super::{against_sign, figure_of, interval, is_undecided, rows, silent_word};
use crate::clean::{columns, one_line};
use crate::compare::{AgainstView, CellView, CompareView, RowView, Tone, TrialRows};
use crate::terminal::Writer;
use crate::terminal::style::Ink;
use crate::terminal::table::{cut, cut_inside};
use crate::terminal::wrap::wrap;

/// A column is not made wider for its head than this: it breaks into lines.
const HEAD_MAX: usize = 12;
/// The name column is not wider than this.
const NAME_MAX: usize = 28;
/// The column of published figures.
const PUBLISHED: &str = "published";
/// The line that compares.
const AGAINST: &str = "  x baseline";
/// The line of its interval.
const INTERVAL: &str = "  95 %";
/// The line that compares with what others published.
const BESIDE: &str = "  x published";

/// Writes the table.
pub(super) fn write(writer: &mut Writer, view: &CompareView) {
    let layout = Layout::of(view, writer.style.columns());
    for block in &layout.blocks {
        writer.gap();
        write_block(writer, view, &layout, block);
    }
}

/// A column of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockColumn {
    Run(usize),
    Published,
}

/// How the table is laid out.
struct Layout {
    /// Figure and spread on one line?
    one_line: bool,
    name_width: usize,
    cell_width: usize,
    /// Of the column of published figures.
    published_width: usize,
    gap: usize,
    /// The columns of each block; the baseline is in all of them.
    blocks: Vec<Vec<BlockColumn>>,
}

impl Layout {
    fn of(view: &CompareView, width: usize) -> Layout {
        let runs = (0..view.heads.len()).map(BlockColumn::Run);
        let has_published = rows(view).any(|row| row.published.is_some());
        let mut all = runs.collect::<Vec<_>>();
        if has_published {
            all.push(BlockColumn::Published);
        }
        let names = rows(view).map(|row| columns(row.name));
        let longest = if has_published { BESIDE } else { AGAINST };
        let name_width = names.fold(columns(longest), usize::max).min(NAME_MAX) + 2;
        let room = width.saturating_sub(name_width);
        let published_width = published_width(view);
        for (one_line, gap) in [(true, 2), (false, 2), (false, 1)] {
            let cell_width = cell_width(view, one_line);
            let published = if has_published {
                published_width + gap
            } else {
                0
            };
            if (cell_width + gap) * view.heads.len() + published <= room {
                return Layout {
                    one_line,
                    name_width,
                    cell_width,
                    published_width,
                    gap,
                    blocks: vec![all],
                };
            }
        }
        let cell_width =
            cell_width(view, false).max(if has_published { published_width } else { 0 });
        let cell_width = cell_width.min((room / 2).saturating_sub(1).max(1));
        let fitting = (room / (cell_width + 1)).max(2);
        Layout {
            one_line: false,
            name_width,
            cell_width,
            published_width: cell_width,
            gap: 1,
            blocks: blocks(&all, BlockColumn::Run(view.baseline), fitting),
        }
    }
}

impl Layout {
    fn width_of(&self, shown: BlockColumn) -> usize {
        match shown {
            BlockColumn::Run(_) => self.cell_width,
            BlockColumn::Published => self.published_width,
        }
    }
}

fn published_width(view: &CompareView) -> usize {
    let figures = rows(view).filter_map(|row| row.published.as_ref());
    let figures = figures.map(|found| columns(&found.figure));
    figures.fold(columns(PUBLISHED), usize::max)
}

/// So many columns a block, the baseline first in each.
fn blocks(all: &[BlockColumn], base: BlockColumn, fitting: usize) -> Vec<Vec<BlockColumn>> {
    let others = all.iter().copied().filter(|shown| *shown != base);
    let others = others.collect::<Vec<_>>();
    let block = |part: &[BlockColumn]| {
        let mut block = vec![base];
        block.extend_from_slice(part);
        block
    };
    others
        .chunks(fitting.saturating_sub(1).max(1))
        .map(block)
        .collect()
}

fn cell_width(view: &CompareView, one_line: bool) -> usize {
    let cells = rows(view).flat_map(|row| &row.cells).flat_map(|cell| {
        [
            columns(&figure_line(cell, one_line)),
            if one_line { 0 } else { columns(&cell.spread) },
            cell.against.as_ref().map_or(0, |found| {
                columns(&against_line(found)).max(columns(&interval(found)))
            }),
            beside_published(cell).map_or(0, |text| columns(&text)),
        ]
    });
    let heads = view.heads.iter().flat_map(|head| {
        let words = head.label.split_whitespace();
        words
            .map(|word| columns(&crate::clean::one_line(word)).min(HEAD_MAX))
            .collect::<Vec<_>>()
    });
    cells
        .chain(heads)
        .chain([columns("baseline")])
        .max()
        .unwrap_or(0)
}

fn figure_line(cell: &CellView, one_line: bool) -> String {
    match one_line && !cell.spread.is_empty() {
        true => format!("{} {}", figure_of(cell), cell.spread),
        false => figure_of(cell),
    }
}

/// `1.10 +` better, `0.90 -` worse, `1.01 ≈` no difference beyond a tenth, `1.39 ?` inconclusive.
fn against_line(found: &AgainstView) -> String {
    match (found.tone, found.ratio.as_str()) {
        (Tone::Silent, _) | (_, "") => silent_word(found).to_owned(),
        (tone, ratio) => format!("{ratio} {}", against_sign(tone)),
    }
}

fn beside_published(cell: &CellView) -> Option<String> {
    cell.beside_published.map(crate::format::short)
}

fn write_block(writer: &mut Writer, view: &CompareView, layout: &Layout, block: &[BlockColumn]) {
    write_heads(writer, view, layout, block);
    let cells = block
        .iter()
        .map(|shown| layout.width_of(*shown) + layout.gap);
    let width = layout.name_width + cells.sum::<usize>();
    let rule = "─".repeat(width.min(writer.style.columns()));
    let rule = writer.style.paint(Ink::Soft, &rule);
    writer.line(rule);
    for group in &view.groups {
        write_group(writer, layout, block, group);
    }
}

/// One text of a line, in its column.
struct Text {
    ink: Option<Ink>,
    text: String,
    width: usize,
}

fn write_heads(writer: &mut Writer, view: &CompareView, layout: &Layout, block: &[BlockColumn]) {
    let heads = block.iter().map(|shown| match shown {
        BlockColumn::Published => vec![PUBLISHED.to_owned()],
        BlockColumn::Run(index) => {
            let head = view.heads.get(*index);
            let label = head.map_or("", |head| head.label.as_str());
            let mut lines = wrap(label, layout.cell_width, "", "");
            if *index == view.baseline {
                lines.push("baseline".to_owned());
            }
            lines
        }
    });
    let heads = heads.collect::<Vec<_>>();
    let height = heads.iter().map(Vec::len).max().unwrap_or(0);
    for line in 0..height {
        // Heads are at the bottom, next to their columns.
        let texts = heads.iter().zip(block).map(|(head, shown)| {
            let above = height - head.len();
            let text = line.checked_sub(above).and_then(|line| head.get(line));
            let width = layout.width_of(*shown);
            Text {
                ink: Some(Ink::Strong),
                // Folders of one day differ in their ends.
                text: text.map_or_else(String::new, |text| cut_inside(text, width)),
                width,
            }
        });
        write_line(writer, layout, "", texts.collect());
    }
}

fn write_group(writer: &mut Writer, layout: &Layout, block: &[BlockColumn], group: &TrialRows) {
    let width = writer.style.columns();
    let title = cut(&one_line(&group.title), width);
    let title = writer.style.paint(Ink::Strong, &title);
    writer.line(title);
    let flows = group
        .parts
        .iter()
        .filter(|part| part.flow.is_some())
        .count();
    for part in &group.parts {
        if flows > 1 {
            let name = part.flow.as_deref().unwrap_or("per record, whole trial");
            let name = cut(&one_line(&format!(" {name}")), width);
            let name = writer.style.paint(Ink::Soft, &name);
            writer.line(name);
        }
        for row in &part.rows {
            write_row(writer, layout, block, row);
        }
    }
}

fn write_row(writer: &mut Writer, layout: &Layout, block: &[BlockColumn], row: &RowView) {
    let cells = |of_run: &dyn Fn(&CellView) -> (Option<Ink>, String), published: Option<&str>| {
        let cell = |shown: &BlockColumn| {
            let (ink, text) = match shown {
                BlockColumn::Published => (None, published.unwrap_or_default().to_owned()),
                BlockColumn::Run(index) => {
                    row.cells.get(*index).map_or((None, String::new()), of_run)
                }
            };
            Text {
                ink,
                text,
                width: layout.width_of(*shown),
            }
        };
        block.iter().map(cell).collect::<Vec<_>>()
    };
    let published = row.published.as_ref().map(|found| found.figure.as_str());
    let figures = cells(
        &|cell| (None, figure_line(cell, layout.one_line)),
        published,
    );
    write_line(writer, layout, row.name, figures);
    if !layout.one_line {
        let spreads = cells(&|cell| (Some(Ink::Soft), cell.spread.clone()), None);
        write_if_any(writer, layout, "", spreads);
    }
    // A line with only "not comparable" repeats the sentences below.
    let is_shown = |found: &AgainstView| found.tone != Tone::Silent || is_undecided(found);
    let mut against = row.cells.iter().filter_map(|cell| cell.against.as_ref());
    if against.any(is_shown) {
        let line = |cell: &CellView| {
            let found = cell.against.as_ref();
            let ink = found.and_then(|found| match found.tone {
                Tone::Better => Some(Ink::Good),
                Tone::Worse => Some(Ink::Bad),
                Tone::Same | Tone::Open | Tone::Silent => None,
            });
            (ink, found.map(against_line).unwrap_or_default())
        };
        write_if_any(writer, layout, AGAINST, cells(&line, None));
        let interval = |cell: &CellView| {
            let found = cell.against.as_ref().map(interval).unwrap_or_default();
            (Some(Ink::Soft), found)
        };
        write_if_any(writer, layout, INTERVAL, cells(&interval, None));
    }
    let beside = |cell: &CellView| (Some(Ink::Soft), beside_published(cell).unwrap_or_default());
    write_if_any(writer, layout, BESIDE, cells(&beside, None));
}

fn write_if_any(writer: &mut Writer, layout: &Layout, name: &str, cells: Vec<Text>) {
    if cells.iter().any(|cell| !cell.text.is_empty()) {
        write_line(writer, layout, name, cells);
    }
}

fn write_line(writer: &mut Writer, layout: &Layout, name: &str, cells: Vec<Text>) {
    let name = cut(name, layout.name_width.saturating_sub(2));
    let mut line = String::new();
    // What colours add takes no column, so spaces are counted apart.
    let mut waiting = layout.name_width;
    if !name.is_empty() {
        line.push_str("  ");
        line.push_str(&name);
        waiting = waiting.saturating_sub(2 + columns(&name));
    }
    for cell in cells {
        let text = cut(&one_line(&cell.text), cell.width);
        waiting += layout.gap + cell.width.saturating_sub(columns(&text));
        if text.is_empty() {
            continue;
        }
        line.push_str(&" ".repeat(waiting));
        waiting = 0;
        match cell.ink {
            Some(ink) => line.push_str(&writer.style.paint(ink, &text)),
            None => line.push_str(&text),
        }
    }
    writer.line(line);
}
