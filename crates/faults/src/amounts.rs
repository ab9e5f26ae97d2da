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
        let fits = |(factor, _): &(u64, &str)| self.0 >= *factor && self.0.is_multiple_of(*factor);
        match units.into_iter().find(fits) {
            Some((factor, unit)) => write!(f, "{} {unit}", self.0 / factor),
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
            (3_600_000_000_000_u64, "h"),
            (60_000_000_000, "min"),
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "µs"),
            (1, "ns"),
        ];
        let fits = |(factor, _): &(u64, &str)| self.0.is_multiple_of(*factor);
        match units.into_iter().find(fits) {
            Some((factor, unit)) if self.0 > 0 => write!(f, "{} {unit}", self.0 / factor),
            _ => f.write_str("0 s"),
        }
    }
}
