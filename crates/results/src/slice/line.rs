//! A slice as one line of JSON.

use serde::{Deserialize, Serialize};

use super::{Counts, ErrorCount, Slice, SliceKey, TimeKind};
use crate::histogram::{ExactTimes, Histogram, HistogramDecodeError};
use crate::stage::{SECOND_NS, Stage};

/// The contents of a line in `slices.jsonl`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    flow: u16,
    stage: Stage,
    second: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    counts: Counts,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorCount>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    times: Vec<Times>,
}

/// One distribution: its exact times and its buckets.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Times {
    kind: TimeKind,
    min_ns: u64,
    max_ns: u64,
    max_at_ns: u64,
    /// Whole seconds and remaining nanoseconds: JSON numbers end at 2^64.
    sum: (u64, u32),
    hdr: String,
}

/// Only the key of a line.
#[derive(Debug, Deserialize)]
pub(crate) struct LineKey {
    flow: u16,
    stage: Stage,
    second: u32,
}

impl LineKey {
    pub(crate) fn key(&self) -> SliceKey {
        SliceKey {
            flow: self.flow,
            stage: self.stage,
            second: self.second,
        }
    }
}

/// Why a line is not a slice.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The sentences say it.
pub enum LineError {
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("{} times: {source}", kind.as_str())]
    Times {
        kind: TimeKind,
        source: HistogramDecodeError,
    },
}

fn is_default(counts: &Counts) -> bool {
    *counts == Counts::default()
}

/// Appends `slice` to `text` as a line.
pub fn write_line(slice: &Slice, text: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let filled = TimeKind::ALL
        .iter()
        .filter(|kind| !slice.times(**kind).is_empty());
    let line = Line {
        flow: slice.key.flow,
        stage: slice.key.stage,
        second: slice.key.second,
        counts: slice.counts,
        errors: slice.errors.iter().collect(),
        times: filled
            .map(|kind| Times::of(*kind, slice.times(*kind)))
            .collect(),
    };
    serde_json::to_writer(&mut *text, &line)?;
    text.push(b'\n');
    Ok(())
}

/// Adds the slice in a line to `slice`, whatever their keys; returns the line's key.
///
/// On an error nothing is added.
pub fn add_line(text: &[u8], slice: &mut Slice) -> Result<SliceKey, LineError> {
    let line: Line = serde_json::from_slice(text)?;
    let times = line.times.iter().map(|times| {
        let histogram = times.read().map_err(|source| LineError::Times {
            kind: times.kind,
            source,
        })?;
        Ok((times.kind, histogram))
    });
    let times = times.collect::<Result<Vec<_>, LineError>>()?;
    slice.counts.add(&line.counts);
    for error in &line.errors {
        slice
            .errors
            .record(error.outcome, error.code, error.records);
    }
    for (kind, histogram) in &times {
        slice.times_mut(*kind).add(histogram);
    }
    Ok(SliceKey {
        flow: line.flow,
        stage: line.stage,
        second: line.second,
    })
}

impl Times {
    fn of(kind: TimeKind, times: &Histogram) -> Times {
        let second_ns = u128::from(SECOND_NS);
        Times {
            kind,
            min_ns: times.min_ns().unwrap_or_default(),
            max_ns: times.max_ns().unwrap_or_default(),
            max_at_ns: times.max_at_ns().unwrap_or_default(),
            // The remainder is below 10^9, and the seconds cannot overflow in practice.
            sum: (
                u64::try_from(times.sum_ns() / second_ns).unwrap_or(u64::MAX),
                (times.sum_ns() % second_ns) as u32,
            ),
            hdr: times.to_base64(),
        }
    }

    fn read(&self) -> Result<Histogram, HistogramDecodeError> {
        let seconds_ns = u128::from(self.sum.0) * u128::from(SECOND_NS);
        Histogram::from_base64(
            &self.hdr,
            ExactTimes {
                min_ns: self.min_ns,
                max_ns: self.max_ns,
                max_at_ns: self.max_at_ns,
                sum_ns: seconds_ns + u128::from(self.sum.1),
            },
        )
    }
}
