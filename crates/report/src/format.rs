//! Intervals as people read them. Numbers are written by [`kgauge_scenario::format`], as everywhere.

use kgauge_analyze::statistics::Interval;
pub(crate) use kgauge_scenario::format::*;

/// Shown in place of an interval where one repeat gives none.
pub(crate) const ONE_REPEAT: &str = "n=1";

/// An interval that reaches further than this many times its figure excludes nothing, so its ends are not printed: two
/// repeats that differ by half reach thousands of times the figure.
const REACH_MAX: f64 = 10.0;

/// How far an interval reaches from its figure, to the further side: `±2.4 %`.
pub(crate) fn plus_minus(value: f64, interval: Interval) -> String {
    let furthest = (interval.high - value).max(value - interval.low);
    if value == 0.0 || !furthest.is_finite() {
        return NOTHING.to_owned();
    }
    if furthest > REACH_MAX * value.abs() {
        return format!("±>{}", percent(REACH_MAX));
    }
    format!("±{}", percent(furthest / value.abs()).replace("< ", "<"))
}

/// How far the interval of a figure reaches: `±2.4 %`, and `n=1` where one repeat gives none.
pub(crate) fn spread(value: f64, interval: Option<Interval>) -> String {
    interval.map_or_else(|| ONE_REPEAT.to_owned(), |ends| plus_minus(value, ends))
}

/// A change with its sign: `+33 %`, `−26 %`; `0 %` and `< 0.1 %` have none.
pub(crate) fn signed_percent(share: f64) -> String {
    let size = percent(share.abs());
    match share {
        _ if size == "0 %" || size.starts_with('<') => size,
        more if more > 0.0 => format!("+{size}"),
        _ => format!("−{size}"),
    }
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

/// `10.9 to 14.1 ms`, or one of them where they read alike.
pub(crate) fn range(low: &str, high: &str) -> String {
    match low == high {
        true => low.to_owned(),
        false => pair(low, "to", high),
    }
}

/// A quantile in per cent without trailing zeros: `99.999`.
pub(crate) fn percentile_number(quantile: f64) -> String {
    let text = format!("{:.6}", quantile * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The first few names, and how many there are besides: `A, B and 3 more`.
pub(crate) fn few(names: &[String], max: usize) -> String {
    // Names with several values have commas of their own.
    let between = match names.iter().any(|name| name.contains(',')) {
        true => "; ",
        false => ", ",
    };
    first(names, max, between, " and")
}

/// The first few clauses, and how many there are besides: `one; two; and 3 more`.
pub(crate) fn few_clauses(clauses: &[String], max: usize) -> String {
    first(clauses, max, "; ", "; and")
}

fn first(texts: &[String], max: usize, between: &str, and: &str) -> String {
    let shown = texts.get(..max).unwrap_or(texts);
    let more = match texts.len() - shown.len() {
        0 => String::new(),
        more => format!("{and} {more} more"),
    };
    shown.join(between) + &more
}

/// The text with a capital first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters
        .next()
        .map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(low: f64, high: f64) -> Interval {
        Interval { low, high }
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
    fn changes_have_their_sign_unless_nothing_is_shown() {
        let texts = [0.33, -0.26, 0.004, 0.0, 1e-6, -1e-6].map(signed_percent);
        assert_eq!(
            texts,
            ["+33 %", "−26 %", "+0.4 %", "0 %", "< 0.1 %", "< 0.1 %"]
        );
    }

    #[test]
    fn only_the_first_names_are_listed() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(few(&names, 2), "a, b and 1 more");
        assert_eq!(few(&names, 3), "a, b, c");
        assert_eq!(few_clauses(&names, 1), "a; and 2 more");
    }

    #[test]
    fn percentiles_are_named_without_trailing_zeros() {
        assert_eq!(percentile_number(0.99999), "99.999");
    }
}
