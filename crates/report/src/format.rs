//! Numbers as people read them: three or four significant digits, thousands separators, a unit.

use kgauge_analyze::statistics::Interval;

/// Digits kept for a headline figure such as records per second.
const FIGURE_DIGITS: i32 = 4;
/// Digits kept for a latency or a size.
const SHORT_DIGITS: i32 = 3;

/// Shown where there is no figure, so that an empty cell never looks like a lost one.
pub(crate) const NOTHING: &str = "–";

/// Shown in place of an interval where one repeat gives none.
pub(crate) const ONE_REPEAT: &str = "n=1";

/// A whole number with thousands separators: `1,234,567`.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A rate or another headline figure, four significant digits: `821,600`, `12.34`.
pub(crate) fn figure(value: f64) -> String {
    significant(value, FIGURE_DIGITS)
}

/// A figure with three significant digits: `78.3`, `0.0123`.
pub(crate) fn short(value: f64) -> String {
    significant(value, SHORT_DIGITS)
}

/// Processors that were used: `0.60`, `12.3`.
pub(crate) fn cores(value: f64) -> String {
    let decimals = if value < 9.95 { 2 } else { 1 };
    format!("{value:.decimals$}")
}

/// A figure that others printed: whole numbers keep all of their digits, others three decimals.
pub(crate) fn all_digits(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..1e15).contains(&value) {
        return count(value as u64);
    }
    let text = format!("{value:.3}");
    grouped(text.trim_end_matches('0').trim_end_matches('.'))
}

/// A number rounded to so many significant digits, with thousands separators.
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
pub(crate) fn span(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    let whole = seconds.round() as u64;
    match whole {
        0..=99 => nanoseconds(ns as f64),
        100..=3599 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A size in decimal units, three digits: `100 B`, `1.05 MB`, `12.3 GB`.
pub(crate) fn decimal_bytes(value: f64) -> String {
    let (divisor, unit) = match value.abs() {
        size if size < 999.5 => (1.0, "B"),
        size if size < 999.5e3 => (1e3, "kB"),
        size if size < 999.5e6 => (1e6, "MB"),
        size if size < 999.5e9 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    format!("{} {unit}", short(value / divisor))
}

/// A large number in few characters, for axes and narrow tables: `1.2 M`, `820 k`.
pub fn compact(value: f64) -> String {
    let (divisor, suffix) = match value.abs() {
        size if size < 999.5 => (1.0, ""),
        size if size < 999.5e3 => (1e3, " k"),
        size if size < 999.5e6 => (1e6, " M"),
        _ => (1e9, " G"),
    };
    let mut text = short(value / divisor);
    if text.contains('.') {
        text = text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text + suffix
}

/// Above so many times the figure an interval excludes nothing, and its ends would only look like knowledge:
/// two repeats that differ by half reach thousands of times the figure.
const REACH_MAX: f64 = 10.0;

/// How far an interval reaches from its figure, to the further side: `±2.4 %`.
pub(crate) fn plus_minus(value: f64, interval: Interval) -> String {
    let furthest = (interval.high - value).max(value - interval.low);
    if value == 0.0 || !furthest.is_finite() {
        return NOTHING.to_owned();
    }
    if furthest > REACH_MAX * value.abs() {
        return format!("±>{} %", grouped(&format!("{:.0}", 100.0 * REACH_MAX)));
    }
    let percent = one_or_two(100.0 * furthest / value.abs());
    format!("±{} %", percent.replace(' ', ""))
}

/// How far the interval of a figure reaches: `±2.4 %`, and `n=1` where one repeat gives none.
pub(crate) fn spread(value: f64, interval: Option<Interval>) -> String {
    interval.map_or_else(|| ONE_REPEAT.to_owned(), |ends| plus_minus(value, ends))
}

/// An interval of times in one unit: `10.9 to 14.1 ms`.
pub(crate) fn nanoseconds_between(Interval { low, high }: Interval) -> String {
    if high > REACH_MAX * REACH_MAX * low.max(1.0) {
        return "repeats differ too much for an interval".to_owned();
    }
    pair(&nanoseconds(low), "to", &nanoseconds(high))
}

/// `10.9 to 14.1 ms`: the unit once where both have it.
pub(crate) fn pair(one: &str, between: &str, other: &str) -> String {
    match (one.split_once(' '), other.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => {
            format!("{number} {between} {other}")
        }
        _ => format!("{one} {between} {other}"),
    }
}

/// A share: `97.3 %`.
pub(crate) fn percent(share: f64) -> String {
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

/// A quantile in per cent without trailing zeros: `99.999`.
pub(crate) fn percentile_number(quantile: f64) -> String {
    let text = format!("{:.6}", quantile * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `1.00 ms` as `1 ms`, `2.50 s` as `2.5 s`.
pub(crate) fn without_zeros(text: &str) -> String {
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

/// The text with a capital first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters
        .next()
        .map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

/// `1 repeat`, `3 repeats`: of a noun that takes an s.
pub(crate) fn counted(value: u64, noun: &str) -> String {
    let ending = if value == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(value))
}

/// `1 process`, `3 processes`.
pub(crate) fn plural(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(low: f64, high: f64) -> Interval {
        Interval { low, high }
    }

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
    fn small_shares_never_read_as_zero() {
        assert_eq!(plus_minus(100.0, ends(99.9999, 100.0001)), "±<0.1 %");
        assert_eq!(plus_minus(100.0, ends(97.6, 102.4)), "±2.4 %");
        // Of an interval that reaches further to one side, that side.
        assert_eq!(plus_minus(100.0, ends(74.0, 135.0)), "±35 %");
        assert_eq!(plus_minus(0.0, ends(0.0, 1.0)), "–");
        assert_eq!(plus_minus(2.0, ends(1e-9, 7.6e20)), "±>1,000 %");
        assert_eq!(
            nanoseconds_between(ends(0.1, 7.6e20)),
            "repeats differ too much for an interval"
        );
        assert_eq!(nanoseconds_between(ends(10.9e6, 14.1e6)), "10.9 to 14.1 ms");
        assert_eq!(nanoseconds_between(ends(900e3, 1.1e6)), "900 µs to 1.10 ms");
        assert_eq!(percent(0.0), "0 %");
    }

    #[test]
    fn published_figures_keep_their_digits() {
        assert_eq!(all_digits(2_024_032.0), "2,024,032");
        assert_eq!(all_digits(78.3), "78.3");
    }

    #[test]
    fn percentiles_are_named_without_trailing_zeros() {
        assert_eq!(percentile_number(0.99999), "99.999");
    }

    #[test]
    fn compact_numbers_fit_an_axis() {
        assert_eq!(compact(0.0), "0");
        assert_eq!(compact(800_000.0), "800 k");
        assert_eq!(compact(1_200_000.0), "1.2 M");
        assert_eq!(compact(2.5), "2.5");
    }
}
