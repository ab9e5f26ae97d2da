//! Numbers as Java's `String.format` prints them, which follows the locale of the machine.

/// A number at the start of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    /// Its fraction followed a comma.
    pub(crate) has_comma: bool,
}

/// Reads digits with at most one point or comma; returns the rest. Ambiguous text is `None`: `1,234` may be a thousand
/// or a fraction, and is `None` if `fraction` is false.
pub(crate) fn number(text: &str, fraction: bool) -> Option<(Number, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    if whole == 0 {
        return None;
    }
    let rest = &text[whole..];
    let mark = rest
        .bytes()
        .next()
        .filter(|mark| matches!(mark, b'.' | b','));
    let behind = mark.map_or(0, |_| digits(&rest[1..]));
    if mark.is_none() || behind == 0 {
        let value = text[..whole].parse().ok()?;
        return Some((
            Number {
                value,
                has_comma: false,
            },
            rest,
        ));
    }
    if !fraction {
        return None;
    }
    let has_comma = mark == Some(b',');
    let end = whole + 1 + behind;
    let after = &text[end..];
    // A second mark with digits: thousands, a version, or an address.
    let goes_on = after
        .bytes()
        .next()
        .is_some_and(|mark| matches!(mark, b'.' | b','));
    if goes_on && digits(&after[1..]) > 0 {
        return None;
    }
    let value = text[..end].replace(',', ".").parse().ok()?;
    Some((Number { value, has_comma }, after))
}

/// The start of the digits at the end of a text.
pub(crate) fn digits_from(text: &str) -> usize {
    text.trim_end_matches(|one: char| one.is_ascii_digit())
        .len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, fraction: bool) -> Option<(f64, bool, &str)> {
        number(text, fraction).map(|(number, rest)| (number.value, number.has_comma, rest))
    }

    #[test]
    fn points_and_commas_are_fractions() {
        assert_eq!(
            read("452324.950244 r", true),
            Some((452_324.950_244, false, " r"))
        );
        assert_eq!(read("94,85 ms", true), Some((94.85, true, " ms")));
        assert_eq!(read("86 ms", true), Some((86.0, false, " ms")));
        assert_eq!(read("5.", true), Some((5.0, false, ".")));
        assert_eq!(read("10000000,", false), Some((10_000_000.0, false, ",")));
    }

    #[test]
    fn what_could_be_two_things_is_neither() {
        assert_eq!(read("1,297,353 records", true), None);
        assert_eq!(read("10.4.3.1", true), None);
        assert_eq!(read("1,297 records", false), None);
        assert_eq!(read("", true), None);
        assert_eq!(read("-1", true), None);
    }
}
