//! What the numbers of an axis are, and how one of them is written.

use crate::format;

/// The unit of an axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AxisUnit {
    /// Seconds since the start of a repeat.
    Seconds,
    /// Records per second.
    RecordsPerSecond,
    /// Megabytes (10⁶) per second.
    MegabytesPerSecond,
    /// A latency in nanoseconds.
    Nanoseconds,
    /// A size in bytes.
    Bytes,
    /// A share of the samples, 0 to 1.
    Quantile,
    /// A share of the time, 0 to 100.
    Percent,
    /// Processor cores in use.
    Cores,
    /// A number without unit.
    #[default]
    Plain,
}

impl AxisUnit {
    /// The unit's name in the page's data, which the script knows too.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::RecordsPerSecond => "records/s",
            Self::MegabytesPerSecond => "MB/s",
            Self::Nanoseconds => "ns",
            Self::Bytes => "B",
            Self::Quantile => "quantile",
            Self::Percent => "%",
            Self::Cores => "cores",
            Self::Plain => "",
        }
    }

    /// A label on an axis: short, without a unit that the caption has.
    pub(crate) fn tick(self, value: f64) -> String {
        match self {
            Self::Seconds => seconds_text(value),
            Self::RecordsPerSecond | Self::MegabytesPerSecond => format::compact(value),
            Self::Cores | Self::Plain => format::compact(value),
            Self::Percent => format!("{} %", format::compact(value)),
            Self::Nanoseconds => format::without_zeros(&format::nanoseconds(value)),
            Self::Bytes => format::without_zeros(&format::decimal_bytes(value)),
            Self::Quantile => format!("{} %", format::percentile_number(value)),
        }
    }

    /// A value in a table.
    pub(crate) fn value(self, value: f64) -> String {
        match self {
            Self::Seconds => seconds_text(value),
            Self::Plain if value.fract() == 0.0 && value.abs() < 1e4 => value.to_string(),
            Self::RecordsPerSecond | Self::Plain => format::figure(value),
            Self::MegabytesPerSecond | Self::Cores => format::short(value),
            Self::Percent => format!("{} %", format::short(value)),
            Self::Nanoseconds => format::nanoseconds(value),
            Self::Bytes => format::decimal_bytes(value),
            Self::Quantile => format!("{} %", format::percentile_number(value)),
        }
    }
}

/// Seconds on a clock face: `0:05`, `1:30`, `2:05:00`.
pub(super) fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    let (hours, minutes, rest) = (whole / 3600, whole % 3600 / 60, whole % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{rest:02}")
    } else {
        format!("{minutes}:{rest:02}")
    }
}

/// Seconds as `12 s`, `1:30`, `2:05:00`.
fn seconds_text(seconds: f64) -> String {
    if seconds >= 100.0 {
        return clock(seconds);
    }
    let text = format!("{seconds:.1}");
    format!("{} s", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short_and_values_are_exact() {
        assert_eq!(AxisUnit::Nanoseconds.tick(1e6), "1 ms");
        assert_eq!(AxisUnit::Nanoseconds.value(1e6), "1.00 ms");
        assert_eq!(AxisUnit::Plain.value(7.0), "7");
        assert_eq!(AxisUnit::Plain.value(0.5), "0.5000");
        assert_eq!(AxisUnit::Seconds.tick(90.0), "90 s");
        assert_eq!(AxisUnit::Seconds.tick(120.0), "2:00");
        assert_eq!(AxisUnit::Seconds.tick(7500.0), "2:05:00");
        assert_eq!(AxisUnit::RecordsPerSecond.tick(800_000.0), "800 k");
        assert_eq!(AxisUnit::Quantile.tick(0.99999), "99.999 %");
    }
}
