//! Numbers as people read them, in every report, message and error: three or four significant digits, thousands
//! separators, a unit.

use std::time::Duration;

/// Digits kept for a headline figure such as records per second.
const FIGURE_DIGITS: i32 = 4;
/// Digits kept for a latency or a size.
const SHORT_DIGITS: i32 = 3;

/// Shown where there is no figure, so that an empty cell never looks like a lost one.
pub const NOTHING: &str = "–";

/// A whole number with thousands separators: `1,234,567`.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A rate or another headline figure, four significant digits: `821,600`, `12.34`.
pub fn figure(value: f64) -> String {
    significant(value, FIGURE_DIGITS)
}

/// A figure with three significant digits: `78.3`, `0.0123`.
pub fn short(value: f64) -> String {
    significant(value, SHORT_DIGITS)
}

/// Processors that were used: `0.60`, `12.3`.
pub fn cores(value: f64) -> String {
    let decimals = if value < 9.95 { 2 } else { 1 };
    format!("{value:.decimals$}")
}

/// A figure that others printed: whole numbers keep all of their digits, others three decimals.
pub fn all_digits(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..1e15).contains(&value) {
        return count(value as u64);
    }
    let text = format!("{value:.3}");
    grouped(text.trim_end_matches('0').trim_end_matches('.'))
}

/// A number rounded to this many significant digits, with thousands separators.
fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // Rounding may carry into a new digit (999.96 -> 1000), so the exponent is taken after it.
    let exponent = exponent_of(value);
    let step = 10_f64.powi(exponent - digits + 1);
    let rounded = (value / step).round() * step;
    let decimals = (digits - 1 - exponent_of(rounded)).max(0) as usize;
    grouped(&format!("{rounded:.decimals$}"))
}

/// The decimal exponent: 0 for 1 to 9.99, 3 for 1,000 to 9,999.
fn exponent_of(value: f64) -> i32 {
    // `log10` of 1000 may be 2.9999999999999996; the nudge is far below any digit that is shown.
    (value.abs().log10() + 1e-12).floor() as i32
}

/// Puts thousands separators into a plain decimal number.
fn grouped(plain: &str) -> String {
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", plain),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let mut out = String::with_capacity(plain.len() + 6);
    out.push_str(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A latency: `850 ns`, `12.3 µs`, `4.56 ms`, `1.23 s`.
pub fn nanoseconds(ns: f64) -> String {
    let (divisor, unit) = match ns.abs() {
        size if size < 999.5 => (1.0, "ns"),
        size if size < 999.5e3 => (1e3, "µs"),
        size if size < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", short(ns / divisor))
}

/// A span of a run: `850 ms`, `12.3 s`, `4 min 05 s`, `2 h 03 min`.
pub fn span(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    let whole = seconds.round() as u64;
    match whole {
        0..=99 => nanoseconds(ns as f64),
        100..=3599 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A time that is left or has passed, in whole seconds: `7 s`, `4 min 10 s`, `2 h 05 min`.
pub fn seconds(time: Duration) -> String {
    let all = time.as_secs_f64().ceil() as u64;
    match (all / 3_600, all / 60 % 60, all % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

/// A size in decimal units, three digits: `100 B`, `1.05 MB`, `12.3 GB`.
pub fn decimal_bytes(value: f64) -> String {
    let (divisor, unit) = match value.abs() {
        size if size < 999.5 => (1.0, "B"),
        size if size < 999.5e3 => (1e3, "kB"),
        size if size < 999.5e6 => (1e6, "MB"),
        size if size < 999.5e9 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    format!("{} {unit}", short(value / divisor))
}

/// A size in binary units: `512 bytes`, `3.2 MiB`, `54.0 GiB`. For disks and memory.
pub fn binary_bytes(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut scaled = units.iter().zip(1_i32..6).rev();
    match scaled.find(|(_, power)| bytes as f64 >= KIB.powi(*power)) {
        None => format!("{bytes} bytes"),
        Some((unit, power)) => format!("{:.1} {unit}", bytes as f64 / KIB.powi(power)),
    }
}

/// Three digits with `k`, `M` or `G`: `1.20 M`. Zeros stay, so that columns can be compared.
pub fn thousands(value: f64) -> String {
    let (divisor, suffix) = match value.abs() {
        size if size < 999.5 => (1.0, ""),
        size if size < 999.5e3 => (1e3, " k"),
        size if size < 999.5e6 => (1e6, " M"),
        _ => (1e9, " G"),
    };
    short(value / divisor) + suffix
}

/// A large number in few characters, for axes and narrow tables: `1.2 M`, `820 k`.
pub fn compact(value: f64) -> String {
    let text = thousands(value);
    let (number, suffix) = text.split_at(text.find(' ').unwrap_or(text.len()));
    match number.contains('.') {
        true => {
            number
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
                + suffix
        }
        false => text,
    }
}

/// A share: `97.3 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", one_or_two(100.0 * share))
}

/// One decimal below ten, none from ten on; a value that is not zero never reads as zero.
fn one_or_two(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.095 => "< 0.1".to_owned(),
        size if size < 9.95 => format!("{value:.1}"),
        _ => grouped(&format!("{value:.0}")),
    }
}

/// `1.00 ms` as `1 ms`, `2.50 s` as `2.5 s`.
pub fn without_zeros(text: &str) -> String {
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!(
                "{} {unit}",
                number.trim_end_matches('0').trim_end_matches('.')
            )
        }
        _ => text.to_owned(),
    }
}

/// `1 repeat`, `3 repeats`: of a noun that takes an s.
pub fn counted(value: u64, noun: &str) -> String {
    let ending = if value == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(value))
}

/// `1 process`, `3 processes`.
pub fn plural(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_keep_four_digits_and_get_separators() {
        assert_eq!(figure(821_557.3), "821,600");
        assert_eq!(figure(1_284_321.0), "1,284,000");
        assert_eq!(figure(12.3456), "12.35");
        assert_eq!(figure(0.0), "0");
        assert_eq!(figure(999.96), "1,000");
        assert_eq!(figure(-1234.5), "-1,235");
        assert_eq!(figure(f64::NAN), "–");
    }

    #[test]
    fn latencies_choose_their_unit() {
        assert_eq!(nanoseconds(0.0), "0 ns");
        assert_eq!(nanoseconds(850.0), "850 ns");
        assert_eq!(nanoseconds(12_345.0), "12.3 µs");
        assert_eq!(nanoseconds(999_700.0), "1.00 ms");
        assert_eq!(nanoseconds(4_560_000.0), "4.56 ms");
        assert_eq!(nanoseconds(75e9), "75.0 s");
    }

    #[test]
    fn spans_become_minutes_and_hours() {
        assert_eq!(span(12_300_000_000), "12.3 s");
        assert_eq!(span(245_000_000_000), "4 min 05 s");
        assert_eq!(span(7_380_000_000_000), "2 h 03 min");
    }

    #[test]
    fn sizes_are_decimal() {
        assert_eq!(decimal_bytes(100.0), "100 B");
        assert_eq!(decimal_bytes(1_048_576.0), "1.05 MB");
        assert_eq!(without_zeros(&decimal_bytes(10_000.0)), "10 kB");
    }

    #[test]
    fn published_figures_keep_their_digits() {
        assert_eq!(all_digits(2_024_032.0), "2,024,032");
        assert_eq!(all_digits(78.3), "78.3");
    }

    #[test]
    fn compact_numbers_fit_an_axis() {
        assert_eq!(compact(0.0), "0");
        assert_eq!(compact(800_000.0), "800 k");
        assert_eq!(compact(1_200_000.0), "1.2 M");
        assert_eq!(compact(2.5), "2.5");
    }

    #[test]
    fn shares_that_are_not_zero_never_read_as_zero() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.000_5), "< 0.1 %");
        assert_eq!(percent(0.973), "97 %");
    }

    #[test]
    fn sizes_of_disks_are_binary() {
        let written = [0, 1023, 1024, 1_572_864, 58_000_000_000, u64::MAX].map(binary_bytes);
        let expected = [
            "0 bytes",
            "1023 bytes",
            "1.0 KiB",
            "1.5 MiB",
            "54.0 GiB",
            "16384.0 PiB",
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn times_that_are_left_are_whole_seconds() {
        assert_eq!(seconds(Duration::from_millis(6_200)), "7 s");
        assert_eq!(seconds(Duration::from_secs(250)), "4 min 10 s");
        assert_eq!(seconds(Duration::from_secs(7_500)), "2 h 05 min");
    }
}
