//! The numbers of a heat map as the page's script reads them.

use serde::Serialize;

use super::Heat;
use crate::chart::data::{AxisData, rounded};

/// One heat map's numbers.
#[derive(Serialize)]
pub(crate) struct HeatData<'a> {
    id: &'a str,
    x: AxisData<'a>,
    y: AxisData<'a>,
    counted: &'a str,
    /// Seconds that a column covers.
    step: u64,
    /// Borders of the rows, from below.
    borders: Vec<f64>,
    /// A column each: the first row that is not empty, then the counts from there up.
    cells: Vec<Vec<u64>>,
}

impl<'a> HeatData<'a> {
    /// Takes the numbers out of a heat map.
    pub(crate) fn of(heat: &'a Heat) -> Self {
        let cells = |column: &Vec<u64>| {
            let first = column.iter().position(|count| *count > 0);
            let last = column.iter().rposition(|count| *count > 0);
            let Some((first, last)) = first.zip(last) else {
                return Vec::new();
            };
            let mut cells = vec![first as u64];
            cells.extend(&column[first..=last]);
            cells
        };
        Self {
            id: &heat.frame.id,
            x: AxisData::of(&heat.frame.x),
            y: AxisData::of(&heat.frame.y),
            counted: heat.counted,
            step: heat.seconds_per_column,
            borders: heat.borders.iter().copied().map(rounded).collect(),
            cells: heat.counts.iter().map(cells).collect(),
        }
    }
}
