//! Second by second how many times lay in which band, bounded in both directions.

use kgauge_analyze::summary::{FlowSummary, TrialSummary};
use kgauge_results::RunRead;
use kgauge_results::folder::{RepeatRead, SecondRead};
use kgauge_results::histogram::BANDS_A_DECADE;

use super::time::kind_of;
use crate::view::HeatMap;

/// Columns at most: on a phone each is then still two pixels wide.
const COLUMNS_MAX: u64 = 120;
/// Rows at most; where times span more, bands are put together.
const ROWS_MAX: u32 = 48;
/// Rows at least, so that times which are all alike are a line and not a wall.
const ROWS_MIN: u32 = 12;
/// Seconds that a column may stand for; beyond the last, multiples of it.
const COLUMN_SECONDS: [u64; 11] = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600];

/// A map for each flow that has times.
pub(super) fn maps(run: &RunRead, trial: &TrialSummary) -> Vec<HeatMap> {
    let of_flow = |flow: &FlowSummary| map(run, trial, flow);
    trial.flows.iter().filter_map(of_flow).collect()
}

fn map(run: &RunRead, trial: &TrialSummary, flow: &FlowSummary) -> Option<HeatMap> {
    let kind = kind_of(flow.kind);
    let measured = |repeat: &&RepeatRead| {
        let mut repeats = trial.repeats.iter();
        repeats.any(|known| known.measured && known.repeat == repeat.key.repeat)
    };
    let repeats: Vec<&[SecondRead]> = run
        .repeats_of(trial.index)
        .filter(measured)
        .filter_map(|repeat| Some(repeat.flows.get(&flow.index)?.seconds.as_slice()))
        .collect();
    let banded = || {
        let seconds = repeats.iter().flat_map(|seconds| seconds.iter());
        seconds.filter_map(|second| Some((second.second, second.bands.get(&kind)?)))
    };
    let last_second = banded().map(|(second, _)| second).max()?;
    let bands = || banded().flat_map(|(_, bands)| bands.iter().map(|(band, _)| u32::from(*band)));
    let rows = Rows::around(bands().min()?, bands().max()?);
    let seconds = repeats.iter().flat_map(|seconds| seconds.iter());
    let longest = seconds.map(|second| second.seconds).max().unwrap_or(1);
    let seconds_per_column = seconds_per_column(u64::from(last_second) + 1, longest);
    let column = |second: u32| (u64::from(second) / seconds_per_column) as usize;
    let mut counts = vec![vec![0_u64; rows.count as usize]; column(last_second) + 1];
    for (second, bands) in banded() {
        for (band, count) in bands {
            let cell = counts
                .get_mut(column(second))
                .and_then(|rows_of| rows_of.get_mut(rows.row(u32::from(*band))));
            if let Some(cell) = cell {
                *cell = cell.saturating_add(*count);
            }
        }
    }
    Some(HeatMap {
        flow: flow.name.clone(),
        kind,
        repeats: repeats.len(),
        seconds_per_column,
        borders_ns: rows.borders_ns(),
        counts,
    })
}

/// The shortest round span of which no more than [`COLUMNS_MAX`] fit into a repeat. Where a repeat that goes on has put
/// seconds together, columns are of whole spans.
fn seconds_per_column(seconds: u64, longest: u32) -> u64 {
    let (least, longest) = (seconds.div_ceil(COLUMNS_MAX), u64::from(longest.max(1)));
    let fits = |span: &u64| *span >= least && span.is_multiple_of(longest);
    let round = COLUMN_SECONDS.into_iter().find(fits);
    round.unwrap_or_else(|| least.next_multiple_of(longest.max(600)))
}

/// Which bands make which rows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rows {
    /// The lowest band.
    first: u32,
    /// Bands in a row.
    bands: u32,
    count: u32,
}

impl Rows {
    /// Rows around all bands from `low` to `high`: single bands, or 2, 5 or 10 of them where there are
    /// too many, which keeps decades whole.
    fn around(low: u32, high: u32) -> Rows {
        let spans = |bands: u32| {
            let first = low / bands * bands;
            (first, (high - first) / bands + 1)
        };
        let fits = |bands: &u32| spans(*bands).1 <= ROWS_MAX;
        let bands = [1, 2, 5].into_iter().find(fits).unwrap_or(BANDS_A_DECADE);
        let (first, count) = spans(bands);
        let missing = ROWS_MIN.saturating_sub(count);
        let below = (missing / 2).min(first / bands);
        Rows {
            first: first - below * bands,
            bands,
            count: count + missing,
        }
    }

    fn row(self, band: u32) -> usize {
        (band.saturating_sub(self.first) / self.bands) as usize
    }

    fn borders_ns(self) -> Vec<f64> {
        let border = |row: u32| {
            let band = self.first + row * self.bands;
            10_f64.powf(f64::from(band) / f64::from(BANDS_A_DECADE))
        };
        (0..=self.count).map(border).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_repeat_is_drawn_by_round_spans_and_never_by_too_many() {
        assert_eq!(seconds_per_column(12, 1), 1);
        assert_eq!(seconds_per_column(120, 1), 1);
        assert_eq!(seconds_per_column(121, 1), 2);
        assert_eq!(seconds_per_column(3_600, 1), 30);
        assert_eq!(seconds_per_column(1_300, 2), 20);
        assert_eq!(seconds_per_column(28_800, 60), 300);
        for seconds in [1_u64, 500, 86_400, 30 * 86_400] {
            assert!(seconds.div_ceil(seconds_per_column(seconds, 1)) <= COLUMNS_MAX);
        }
    }

    #[test]
    fn times_of_any_span_fit_into_the_rows() {
        for (low, high) in [
            (0, 0),
            (60, 60),
            (55, 63),
            (50, 97),
            (40, 101),
            (0, 189),
            (7, 188),
        ] {
            let rows = Rows::around(low, high);
            assert!(
                (ROWS_MIN..=ROWS_MAX).contains(&rows.count),
                "{low} to {high}: {rows:?}"
            );
            assert!(rows.first <= low && rows.row(high) < rows.count as usize);
            assert_eq!(rows.borders_ns().len(), rows.count as usize + 1);
        }
        assert_eq!(Rows::around(50, 97).bands, 1);
        assert_eq!(Rows::around(40, 101).bands, 2);
    }

    #[test]
    fn a_whole_decade_is_whole() {
        let borders = Rows::around(60, 75).borders_ns();
        assert!((borders[0] / 1e6 - 1.0).abs() < 1e-9);
        assert!((borders[10] / 1e7 - 1.0).abs() < 1e-9);
    }
}
