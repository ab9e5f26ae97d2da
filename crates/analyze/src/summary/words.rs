//! Numbers as words in the sentences of the summary.

/// `821,557`
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate or a mean: no decimals from a hundred on, three digits below.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        "not a number".to_owned()
    } else if size >= 100.0 {
        let sign = if value < 0.0 { "-" } else { "" };
        // Far below 2^53 in every use; larger ones lose digits nobody reads.
        format!("{sign}{}", count(size.round() as u64))
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// `850 ns`, `12.3 µs`, `1.50 ms`, `2.00 s`.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        // What would be rounded to a thousand is one of the next unit.
        size if size >= 999.5e6 => (ns / 1e9, "s"),
        size if size >= 999.5e3 => (ns / 1e6, "ms"),
        size if size >= 999.5 => (ns / 1e3, "µs"),
        _ => (ns, "ns"),
    };
    format!("{} {unit}", number(value))
}

/// `12.5 %`; small parts keep two digits.
pub(crate) fn percent(part: f64) -> String {
    let value = part * 100.0;
    let size = value.abs();
    if size >= 10.0 {
        format!("{value:.0} %")
    } else if size >= 1.0 || size == 0.0 {
        format!("{value:.1} %")
    } else {
        format!("{value:.2} %")
    }
}

/// `1 repeat`, `3 repeats`.
pub(crate) fn counted(value: u64, noun: &str) -> String {
    let ending = if value == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(number(821_557.4), "821,557");
        assert_eq!(number(12.34), "12.3");
        assert_eq!(number(-0.5), "-0.50");
        assert_eq!(time(1_500_000.0), "1.50 ms");
        assert_eq!(time(850.0), "850 ns");
        assert_eq!(time(2e9), "2.00 s");
        assert_eq!(time(999.7e6), "1.00 s");
        assert_eq!(time(999.4e6), "999 ms");
        assert_eq!(percent(0.125), "12 %");
        assert_eq!(percent(0.012), "1.2 %");
        assert_eq!(percent(0.000_5), "0.05 %");
        assert_eq!(counted(1, "record"), "1 record");
        assert_eq!(counted(2_000, "record"), "2,000 records");
    }
}
