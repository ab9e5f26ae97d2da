//! A table that fits its width: it gives up its least important columns before it breaks a line.

use std::borrow::Cow;

use crate::clean::{columns, one_line};

/// Spaces between columns, where there is room; else a single one.
const GAP: usize = 2;
/// The first column is not cut below this.
const FIRST_MIN: usize = 14;

/// The side to which a column's texts are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alignment {
    Left,
    Right,
}

/// One column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Its heading.
    pub(crate) head: Cow<'static, str>,
    /// The alignment of its texts.
    pub(crate) side: Alignment,
    /// Columns with the largest rank are given up first; rank 0 never is.
    pub(crate) rank: u8,
    /// Whether it belongs to the column before it: a single space is between them.
    pub(crate) is_joined: bool,
}

impl Column {
    /// A separate column.
    pub(crate) fn new(head: impl Into<Cow<'static, str>>, side: Alignment, rank: u8) -> Self {
        Self {
            head: head.into(),
            side,
            rank,
            is_joined: false,
        }
    }

    /// A column without a head that belongs to the figures before it: their spread.
    pub(crate) fn joined(rank: u8) -> Self {
        Self {
            is_joined: true,
            ..Self::new("", Alignment::Left, rank)
        }
    }
}

/// One row.
#[derive(Debug, Clone)]
pub(crate) enum TableRow {
    /// A heading over the rows that follow.
    Group(String),
    /// One text for each column.
    Cells(Vec<String>),
}

/// Columns and rows.
#[derive(Debug, Clone)]
pub(crate) struct TextTable {
    /// The columns; the first holds names and is cut when all else fails.
    pub(crate) columns: Vec<Column>,
    /// The rows.
    pub(crate) rows: Vec<TableRow>,
}

/// A line and what it is, for colouring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TableLine {
    Head(String),
    Rule(String),
    Group(String),
    Cells(String),
}

impl TextTable {
    /// Whether it has any figures.
    pub(super) fn has_cells(&self) -> bool {
        self.rows
            .iter()
            .any(|row| matches!(row, TableRow::Cells(_)))
    }

    /// Lays the table out within a width in characters.
    pub(super) fn lines(&self, width: usize) -> Vec<TableLine> {
        let mut kept = self.filled_columns();
        let mut widths = self.widths(&kept);
        let mut gap = GAP;
        while self.total(&kept, &widths, gap) > width {
            if gap > 1 {
                gap = 1;
                continue;
            }
            let Some(worst) = self.least_important(&kept) else {
                break;
            };
            kept.retain(|index| *index != worst);
            widths = self.widths(&kept);
            gap = GAP;
        }
        let excess = self.total(&kept, &widths, gap).saturating_sub(width);
        if let Some(first) = widths.first_mut() {
            *first = first.saturating_sub(excess).max(FIRST_MIN.min(*first));
        }

        let heads: Vec<String> = self
            .columns
            .iter()
            .map(|column| column.head.clone().into_owned())
            .collect();
        let mut lines = vec![
            TableLine::Head(self.line(&heads, &kept, &widths, gap)),
            TableLine::Rule("─".repeat(self.total(&kept, &widths, gap).min(width))),
        ];
        for row in &self.rows {
            lines.push(match row {
                TableRow::Group(name) => TableLine::Group(cut(&one_line(name), width)),
                TableRow::Cells(cells) => TableLine::Cells(self.line(cells, &kept, &widths, gap)),
            });
        }
        lines
    }

    /// The rows, laid out within a width in characters.
    pub(super) fn texts(&self, width: usize) -> Vec<String> {
        let rows = self.lines(width).into_iter().filter_map(|line| match line {
            TableLine::Cells(text) => Some(text),
            TableLine::Head(_) | TableLine::Rule(_) | TableLine::Group(_) => None,
        });
        rows.collect()
    }

    /// Indices of the columns that have any text.
    pub(crate) fn filled_columns(&self) -> Vec<usize> {
        let filled = |index: &usize| {
            self.rows.iter().any(|row| match row {
                TableRow::Cells(cells) => cells.get(*index).is_some_and(|cell| !cell.is_empty()),
                TableRow::Group(_) => false,
            })
        };
        (0..self.columns.len())
            .filter(|index| *index == 0 || filled(index))
            .collect()
    }

    fn least_important(&self, kept: &[usize]) -> Option<usize> {
        kept.iter()
            .copied()
            .filter(|index| {
                self.columns
                    .get(*index)
                    .is_some_and(|column| column.rank > 0)
            })
            .max_by_key(|index| (self.columns.get(*index).map(|column| column.rank), *index))
    }

    fn widths(&self, kept: &[usize]) -> Vec<usize> {
        kept.iter()
            .map(|index| {
                let head = self
                    .columns
                    .get(*index)
                    .map_or(0, |column| columns(&column.head));
                let cells = self.rows.iter().map(|row| match row {
                    TableRow::Cells(cells) => cells.get(*index).map_or(0, |cell| columns(cell)),
                    TableRow::Group(_) => 0,
                });
                cells.fold(head, usize::max)
            })
            .collect()
    }

    /// The spaces before a column that follows another.
    fn gap_before(&self, index: usize, gap: usize) -> usize {
        match self.columns.get(index) {
            Some(column) if column.is_joined => gap.min(1),
            _ => gap,
        }
    }

    fn total(&self, kept: &[usize], widths: &[usize], gap: usize) -> usize {
        let gaps = kept.iter().skip(1);
        let gaps: usize = gaps.map(|index| self.gap_before(*index, gap)).sum();
        widths.iter().sum::<usize>() + gaps
    }

    fn line(&self, cells: &[String], kept: &[usize], widths: &[usize], gap: usize) -> String {
        let mut line = String::new();
        for (position, (index, width)) in kept.iter().zip(widths).enumerate() {
            if position > 0 {
                line.push_str(&" ".repeat(self.gap_before(*index, gap)));
            }
            let cell = one_line(cells.get(*index).map_or("", String::as_str));
            let cell = match position {
                0 => cut_inside(&cell, *width),
                _ => cut(&cell, *width),
            };
            let space = " ".repeat(width.saturating_sub(columns(&cell)));
            match self.columns.get(*index).map(|column| column.side) {
                Some(Alignment::Right) => line.extend([space.as_str(), &cell]),
                _ => line.extend([cell.as_str(), &space]),
            }
        }
        line.trim_end().to_owned()
    }
}

/// The text, or its beginning and its end with an ellipsis in between when it is too wide: what tells rows apart is at
/// the end of their names.
pub(super) fn cut_inside(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut end = String::new();
    for character in text.chars().rev() {
        if columns(&end) + columns(character.encode_utf8(&mut [0; 4])) > width / 2 {
            break;
        }
        end.insert(0, character);
    }
    cut(text, width.saturating_sub(columns(&end))) + &end
}

/// The text, or its beginning with an ellipsis when it is too wide.
pub(super) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    for character in text.chars() {
        if columns(&out) + columns(character.encode_utf8(&mut [0; 4])) + 1 > width {
            break;
        }
        out.push(character);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        TextTable {
            columns: vec![
                Column::new("flow", Alignment::Left, 0),
                Column::new("records/s", Alignment::Right, 0),
                Column::joined(0),
                Column::new("published", Alignment::Right, 1),
            ],
            rows: vec![
                TableRow::Group("first".to_owned()),
                TableRow::Cells(
                    ["producer of records", "1,284,000", "±9 %", "821,557"]
                        .map(str::to_owned)
                        .to_vec(),
                ),
            ],
        }
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(
            table().lines(80),
            [
                TableLine::Head("flow                 records/s       published".to_owned()),
                TableLine::Rule("─".repeat(46)),
                TableLine::Group("first".to_owned()),
                TableLine::Cells("producer of records  1,284,000 ±9 %    821,557".to_owned()),
            ]
        );
    }

    #[test]
    fn a_narrow_table_gives_up_columns_and_then_cuts_names() {
        let lines = table().lines(36);
        assert_eq!(
            lines[0],
            TableLine::Head("flow                 records/s".to_owned())
        );
        // Both ends of a name stay.
        let lines = table().lines(31);
        assert_eq!(
            lines[3],
            TableLine::Cells("produce… records 1,284,000 ±9 %".to_owned())
        );
    }
}
