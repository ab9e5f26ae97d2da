//! A slice as one line of JSON.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Counts, ErrorCount, Slice, SliceKey, TimeKind};
use crate::histogram::{ExactTimes, Histogram, HistogramDecodeError, HistogramDecoder};
use crate::stage::{SECOND_NS, Stage};

/// The contents of a line in `slices.jsonl`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    flow: u16,
    stage: Stage,
    second: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    counts: Counts,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorCount>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    times: Vec<Times<'a>>,
}

/// One distribution: its exact times and its buckets.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Times<'a> {
    kind: TimeKind,
    min_ns: u64,
    max_ns: u64,
    max_at_ns: u64,
    /// Whole seconds and remaining nanoseconds: JSON numbers end at 2^64.
    sum: (u64, u32),
    #[serde(borrow)]
    hdr: Cow<'a, str>,
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
    #[error("it has {} times twice", .0.as_str())]
    Twice(TimeKind),
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

/// Reads lines. Its memory is used again for each, so that a line costs no allocation.
#[derive(Debug)]
pub struct LineReader {
    slice: Slice,
    decoder: HistogramDecoder,
}

impl LineReader {
    /// A reader that has not read anything.
    pub fn new() -> LineReader {
        LineReader {
            slice: Slice::new(SliceKey {
                flow: 0,
                stage: Stage::Hold,
                second: 0,
            }),
            decoder: HistogramDecoder::new(),
        }
    }

    /// The slice in a line, without the line's end.
    pub fn read(&mut self, line: &[u8]) -> Result<&Slice, LineError> {
        let line: Line<'_> = serde_json::from_slice(line)?;
        let slice = &mut self.slice;
        slice.reset(SliceKey {
            flow: line.flow,
            stage: line.stage,
            second: line.second,
        });
        slice.counts = line.counts;
        for error in &line.errors {
            slice
                .errors
                .record(error.outcome, error.code, error.records);
        }
        for times in &line.times {
            let histogram = slice.times_mut(times.kind);
            if !histogram.is_empty() {
                return Err(LineError::Twice(times.kind));
            }
            let decoded = self.decoder.decode(&times.hdr, times.exact(), histogram);
            decoded.map_err(|source| LineError::Times {
                kind: times.kind,
                source,
            })?;
        }
        Ok(slice)
    }
}

impl Default for LineReader {
    fn default() -> LineReader {
        LineReader::new()
    }
}

impl Times<'_> {
    fn of(kind: TimeKind, times: &Histogram) -> Times<'static> {
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
            hdr: times.to_base64().into(),
        }
    }

    fn exact(&self) -> ExactTimes {
        let seconds_ns = u128::from(self.sum.0) * u128::from(SECOND_NS);
        ExactTimes {
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            max_at_ns: self.max_at_ns,
            sum_ns: seconds_ns + u128::from(self.sum.1),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The line of a slice with these response times, and the slice.
    fn line_of(second: u32, times_ns: &[u64]) -> (String, Slice) {
        let mut slice = Slice::new(SliceKey {
            flow: 3,
            stage: Stage::Hold,
            second,
        });
        slice.counts.records_acked = times_ns.len() as u64;
        for time_ns in times_ns {
            slice.times_mut(TimeKind::Response).record(*time_ns, 2, 5);
        }
        let mut line = Vec::new();
        write_line(&slice, &mut line).unwrap();
        (
            String::from_utf8(line).unwrap().trim_end().to_owned(),
            slice,
        )
    }

    #[test]
    fn nothing_of_one_line_is_left_in_the_next() {
        let mut reader = LineReader::new();
        let (long, of_long) = line_of(1, &[7, 3_000, 90_000_000_000, 1 << 62]);
        let (short, of_short) = line_of(2, &[12_345]);
        let damaged = long.replace("HISTF", "HISTE");
        assert_eq!(reader.read(long.as_bytes()).unwrap(), &of_long);
        assert_eq!(reader.read(short.as_bytes()).unwrap(), &of_short);
        reader.read(damaged.as_bytes()).unwrap_err();
        assert_eq!(reader.read(short.as_bytes()).unwrap(), &of_short);
    }

    #[test]
    fn times_of_a_kind_stand_once_in_a_line() {
        let (line, _) = line_of(1, &[7]);
        let begin = line.find("{\"kind\"").unwrap();
        let times = &line[begin..line.len() - 2];
        let twice = line.replace(times, &format!("{times},{times}"));
        let error = LineReader::new().read(twice.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "it has response times twice");
    }
}
