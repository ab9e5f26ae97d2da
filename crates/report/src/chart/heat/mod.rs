//! A picture of counts by two axes, as colours. [`draw`] writes it as a figure, [`data`]
//! as the numbers for the page's script.

pub(crate) mod data;
mod draw;
mod levels;

pub(crate) use draw::write_figure;

use super::Chart;
use levels::Levels;

/// One heat map.
#[derive(Debug, Clone)]
pub(crate) struct Heat {
    /// Title, axes, stages, marks and notes; without lines.
    pub(crate) frame: Chart,
    /// What is counted: `records`.
    pub(crate) counted: &'static str,
    /// Seconds that one column covers; the first begins at 0.
    pub(crate) seconds_per_column: u64,
    /// Borders of the rows, even on a log axis; one more than there are rows.
    pub(crate) borders: Vec<f64>,
    /// Column by column, row by row from below.
    pub(crate) counts: Vec<Vec<u64>>,
}

impl Heat {
    fn rows(&self) -> usize {
        self.borders.len().saturating_sub(1)
    }

    fn levels(&self) -> Levels {
        let counts = self.counts.iter().flatten();
        Levels::up_to(counts.copied().max().unwrap_or(0))
    }

    /// The parts of rows in which neighbours have one colour, by level.
    fn runs(&self) -> Vec<Vec<Run>> {
        let levels = self.levels();
        let mut runs = vec![Vec::new(); levels.len()];
        for row in 0..self.rows() {
            let mut open: Option<(usize, Run)> = None;
            for (column, counts) in self.counts.iter().enumerate() {
                let count = counts.get(row).copied().unwrap_or(0);
                let level = levels.of(count);
                match (&mut open, level) {
                    (Some((known, run)), Some(level)) if *known == level => run.length += 1,
                    _ => {
                        close(&mut runs, open.take());
                        let length = 1;
                        let run = Run {
                            row,
                            column,
                            length,
                        };
                        open = level.map(|level| (level, run));
                    }
                }
            }
            close(&mut runs, open);
        }
        runs
    }

    /// About how many bytes of a page it takes: cells, data block and table.
    pub(crate) fn bytes_about(&self) -> usize {
        const RUN: usize = 16;
        const CELL: usize = 5;
        const FRAME: usize = 11_000;
        let runs: usize = self.runs().iter().map(Vec::len).sum();
        let filled = |column: &Vec<u64>| {
            let first = column.iter().position(|count| *count > 0);
            let last = column.iter().rposition(|count| *count > 0);
            first.zip(last).map_or(1, |(first, last)| last - first + 2)
        };
        FRAME + runs * RUN + self.counts.iter().map(filled).sum::<usize>() * CELL
    }
}

/// Neighbours of one colour in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    row: usize,
    column: usize,
    length: usize,
}

fn close(runs: &mut [Vec<Run>], open: Option<(usize, Run)>) {
    if let Some((level, run)) = open
        && let Some(of_level) = runs.get_mut(level)
    {
        of_level.push(run);
    }
}
