//! Text as Java prints it: numbers by `String.format` and `Double.toString`, times by `SimpleDateFormat`.

use jiff::Zoned;
use jiff::tz::TimeZone;

/// `%.Nf`.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        half_up(value, decimals)
    }
}

/// Java rounds the shortest decimal text of a double half up; Rust rounds the binary value half to even. They differ if
/// the decimal text ends in a 5 and the binary value is below it.
fn half_up(value: f64, decimals: usize) -> String {
    let text = format!("{}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    if fraction.len() <= decimals {
        return format!("{value:.decimals$}");
    }
    let rounds_up = u128::from(fraction.as_bytes()[decimals] >= b'5');
    // Digits beyond the precision of a double are zeros, so that a number that does not fit needs no rounding.
    let Ok(digits) = format!("{whole}{}", &fraction[..decimals]).parse::<u128>() else {
        return format!("{value:.decimals$}");
    };
    let digits = format!("{:0width$}", digits + rounds_up, width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    match decimals {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    }
}

/// `Double.toString`, for numbers between a thousandth and ten million: at least one decimal.
pub(crate) fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value != 0.0 && !(1e-3..1e7).contains(&value.abs()) && value.is_finite() {
        let text = format!("{value:E}");
        let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
        let point = if mantissa.contains('.') { "" } else { ".0" };
        return format!("{mantissa}{point}E{exponent}");
    }
    let text = format!("{value}");
    if text.contains('.') || !value.is_finite() {
        text.replace("inf", "Infinity")
    } else {
        format!("{text}.0")
    }
}

/// The tools' default pattern.
pub(crate) const DATE_FORMAT: &str = "yyyy-MM-dd HH:mm:ss:SSS";

/// A pattern of `SimpleDateFormat`.
#[derive(Debug, Clone)]
pub(crate) struct DatePattern(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// A letter and its number of repetitions.
    Field(char, usize),
    /// Literal text.
    Text(String),
}

/// The letters that kgauge supports.
const FIELDS: &str = "yMdHhkKmsSaEzZXDuG";

impl DatePattern {
    /// Reads a pattern.
    pub(crate) fn parse(pattern: &str) -> Result<DatePattern, String> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut letters = pattern.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter == '\'' {
                pieces.push(Piece::Text(quoted(&mut letters)));
            } else if letter.is_ascii_alphabetic() {
                if !FIELDS.contains(letter) {
                    return Err(format!("Illegal pattern character '{letter}'"));
                }
                match pieces.last_mut() {
                    Some(Piece::Field(last, count)) if *last == letter => *count += 1,
                    _ => pieces.push(Piece::Field(letter, 1)),
                }
            } else {
                pieces.push(Piece::Text(letter.to_string()));
            }
        }
        Ok(DatePattern(pieces))
    }

    /// A moment, in milliseconds since 1970, in the machine's own time zone.
    pub(crate) fn format(&self, unix_ms: i64) -> String {
        let moment = jiff::Timestamp::from_millisecond(unix_ms).unwrap_or_default();
        self.format_zoned(&moment.to_zoned(TimeZone::system()))
    }

    fn format_zoned(&self, at: &Zoned) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(words) => text.push_str(words),
                Piece::Field(letter, count) => text.push_str(&field(at, *letter, *count)),
            }
        }
        text
    }
}

/// The text between quotes; two quotes in a row are one.
fn quoted(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    if letters.next_if_eq(&'\'').is_some() {
        return "'".to_owned();
    }
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        if letter == '\'' && letters.next_if_eq(&'\'').is_none() {
            break;
        }
        text.push(letter);
    }
    text
}

fn field(at: &Zoned, letter: char, count: usize) -> String {
    let number = |value: i64| format!("{value:0count$}");
    let hour = i64::from(at.hour());
    let named = |pattern: &str| at.strftime(pattern).to_string();
    match letter {
        'y' if count == 2 => format!("{:02}", at.year().rem_euclid(100)),
        'y' => number(at.year().into()),
        'M' if count == 3 => named("%b"),
        'M' if count > 3 => named("%B"),
        'M' => number(at.month().into()),
        'd' => number(at.day().into()),
        'D' => number(at.day_of_year().into()),
        'u' => number(at.weekday().to_monday_one_offset().into()),
        'H' => number(hour),
        'k' => number(if hour == 0 { 24 } else { hour }),
        'K' => number(hour % 12),
        'h' => number(if hour % 12 == 0 { 12 } else { hour % 12 }),
        'm' => number(at.minute().into()),
        's' => number(at.second().into()),
        'S' => number(at.millisecond().into()),
        'a' => named("%p"),
        'E' if count > 3 => named("%A"),
        'E' => named("%a"),
        'Z' => named("%z"),
        'X' if count == 1 => named("%z")[..3].to_owned(),
        'X' if count == 2 => named("%z"),
        'X' => named("%:z"),
        'G' => "AD".to_owned(),
        _ => named("%Z"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_java_does() {
        // What `String.format` of OpenJDK 17 prints.
        for (value, decimals, text) in [
            (0.125, 2, "0.13"),
            (2.675, 2, "2.68"),
            (1.005, 2, "1.01"),
            (0.5, 0, "1"),
            (9.999, 2, "10.00"),
            (-9.995, 2, "-10.00"),
            (65.4, 1, "65.4"),
            (5_979.073_243_647, 6, "5979.073244"),
            (0.0, 6, "0.000000"),
            (f64::NAN, 2, "NaN"),
            (f64::INFINITY, 4, "Infinity"),
        ] {
            assert_eq!(fixed(value, decimals), text, "{value}");
        }
    }

    #[test]
    fn doubles_look_as_java_prints_them() {
        for (value, text) in [
            (184.116872, "184.116872"),
            (8.0, "8.0"),
            (0.0, "0.0"),
            (1.6447159999999998, "1.6447159999999998"),
            (12345678.9, "1.23456789E7"),
            (1e-5, "1.0E-5"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn the_tools_own_pattern_gives_what_they_print() {
        let at: jiff::Timestamp = "2026-11-20T21:55:20.120Z".parse().unwrap();
        let at = at.to_zoned(TimeZone::UTC);
        let shown = |pattern: &str| DatePattern::parse(pattern).unwrap().format_zoned(&at);
        assert_eq!(shown(DATE_FORMAT), "2026-11-20 21:55:20:120");
        assert_eq!(shown("dd/MM/yy hh:mm a"), "20/11/26 09:55 PM");
        assert_eq!(
            shown("yyyy-MM-dd'T'HH:mm:ss''XXX"),
            "2026-11-20T21:55:20'+00:00"
        );
        assert_eq!(shown("EEE d MMM"), "Fri 20 Nov");
        assert!(DatePattern::parse("yyyy-bb").is_err());
    }
}
