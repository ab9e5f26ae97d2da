//! Sizes and times as text, exactly.

use std::fmt;

/// Bytes in the largest unit that is exact: `64 KiB`, `100 B`.
#[derive(Clone, Copy, Debug)]
pub struct ByteSize(pub u64);

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (1u64 << 40, "TiB"),
            (1 << 30, "GiB"),
            (1 << 20, "MiB"),
            (1 << 10, "KiB"),
        ];
        match in_largest_unit(self.0, &units) {
            Some((count, unit)) => write!(f, "{count} {unit}"),
            None => write!(f, "{} B", self.0),
        }
    }
}

/// Nanoseconds in the largest unit that is exact: `250 ms`, `2 s`.
#[derive(Clone, Copy, Debug)]
pub struct Time(pub u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (3_600_000_000_000, "h"),
            (60_000_000_000, "min"),
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "µs"),
            (1, "ns"),
        ];
        match in_largest_unit(self.0, &units) {
            Some((count, unit)) => write!(f, "{count} {unit}"),
            None => f.write_str("0 s"),
        }
    }
}

/// A positive value as a multiple of the first unit that divides it.
pub(crate) fn in_largest_unit<'a>(value: u64, units: &[(u64, &'a str)]) -> Option<(u64, &'a str)> {
    let divides = |(factor, _): &&(u64, &str)| value >= *factor && value.is_multiple_of(*factor);
    let (factor, unit) = units.iter().find(divides)?;
    Some((value / factor, unit))
}
