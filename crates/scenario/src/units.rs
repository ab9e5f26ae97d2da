//! Values with units, exactly: `100 B`, `64 KiB`, `250 ms`, `50k/s`, `1.5M/s`, `50M`.
//!
//! Everything is kept as a decimal fraction until the unit has been applied, so that `0.1 s` is
//! 100,000,000 ns and nothing else.

pub(crate) use kgauge_faults::{ByteSize, Time};

/// Why a text is not the expected quantity, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnitError {
    pub(crate) what: String,
    pub(crate) cure: String,
}

/// A kind of quantity: its units and how to speak of it.
struct Quantity {
    noun: &'static str,
    examples: &'static str,
    /// Names and factors in the smallest unit.
    units: &'static [(&'static str, u64)],
    /// The unit to propose when there is none.
    usual: &'static str,
}

const SIZE: Quantity = Quantity {
    noun: "size",
    examples: "`100 B`, `64 KiB` or `10 kB`",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ],
    usual: "B",
};

const TIME: Quantity = Quantity {
    noun: "time",
    examples: "`250 ms`, `2 s` or `5 min`",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
        ("w", 604_800_000_000_000),
    ],
    usual: "s",
};

/// Suffixes of counts, written without a space: `50M`.
const COUNT_SUFFIXES: &[(&str, u64)] = &[
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("", 1),
];

/// A count: `12`, `1_000_000`, `5k`, `50M`, `1.5M`.
pub(crate) fn count(text: &str) -> Result<u64, UnitError> {
    let examples = "write a count such as `50`, `5k`, `50M` or `1_000_000`";
    let fail = |what: String| UnitError {
        what,
        cure: examples.into(),
    };
    let (number, suffix) = split(text).ok_or_else(|| fail(format!("`{text}` is not a count")))?;
    let factor = COUNT_SUFFIXES
        .iter()
        .find(|(name, _)| *name == suffix.trim());
    match (factor, suffix) {
        (Some((_, factor)), suffix) if !suffix.starts_with(' ') => number
            .times(*factor, "")
            .map_err(|why| fail(format!("`{text}` {why}"))),
        (Some((name, _)), _) => {
            let number = text.trim_end_matches(name).trim_end();
            let cure = format!("write it without the space: `{number}{name}`");
            Err(UnitError {
                what: format!("`{text}` is not a count"),
                cure,
            })
        }
        _ => Err(fail(format!("`{text}` is not a count"))),
    }
}

/// A size with unit, in bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, UnitError> {
    quantity(text, &SIZE)
}

/// A time with unit, in ns.
pub(crate) fn time_ns(text: &str) -> Result<u64, UnitError> {
    quantity(text, &TIME)
}

fn quantity(text: &str, kind: &Quantity) -> Result<u64, UnitError> {
    let write = format!(
        "write a {} with its unit, such as {}",
        kind.noun, kind.examples
    );
    let fail = |what: String| UnitError {
        what,
        cure: write.clone(),
    };
    let (number, unit) =
        split(text).ok_or_else(|| fail(format!("`{text}` is not a {}", kind.noun)))?;
    let unit = unit.trim_start();
    if unit.is_empty() {
        let what = format!("`{text}` has no unit");
        return Err(UnitError {
            what,
            cure: format!("write a unit: `{text} {}`", kind.usual),
        });
    }
    let Some((_, factor)) = kind.units.iter().find(|(name, _)| *name == unit) else {
        let what = format!("`{unit}` is not a unit of {}", kind.noun);
        return Err(UnitError {
            what,
            cure: meant(unit, kind).unwrap_or(write),
        });
    };
    let smallest = format!(" of {}", kind.units[0].0);
    number
        .times(*factor, &smallest)
        .map_err(|why| fail(format!("`{text}` {why}")))
}

/// What a unit that is not one probably means.
fn meant(unit: &str, kind: &Quantity) -> Option<String> {
    let cure = match (kind.noun, unit.to_ascii_lowercase().as_str()) {
        ("size", "k" | "kb" | "kib") => "write kB for 1,000 bytes or KiB for 1,024",
        ("size", "m" | "mb" | "mib") => "write MB for 1,000,000 bytes or MiB for 1,048,576",
        ("size", "g" | "gb" | "gib") => "write GB for 10^9 bytes or GiB for 2^30",
        ("size", "b" | "byte" | "bytes") => "write B",
        ("time", "m") => "write min for minutes or ms for milliseconds",
        ("time", "sec" | "secs" | "second" | "seconds") => "write s",
        ("time", "minute" | "minutes" | "mins") => "write min",
        ("time", "hour" | "hours" | "hr") => "write h",
        ("time", "milliseconds" | "millis" | "msec") => "write ms",
        ("time", "day" | "days") => "write d",
        ("time", "week" | "weeks") => "write w",
        _ => return None,
    };
    Some(cure.to_owned())
}

/// Records a second: `50k/s`, `1.5M/s`, `821557 records/s`, `30/min`.
pub(crate) fn rate(text: &str) -> Result<f64, UnitError> {
    let cure = "write a rate, such as `50k/s`, `1.5M/s` or `30/min`";
    let fail = |what: &str| UnitError {
        what: format!("`{text}` {what}"),
        cure: cure.into(),
    };
    if count(text).is_ok() {
        let cure = format!("add a unit of time: `{text}/s`");
        return Err(UnitError {
            what: format!("`{text}` is a count, not a rate"),
            cure,
        });
    }
    let (amount, seconds) = per(text).ok_or_else(|| fail("is not a rate"))?;
    let amount = amount.strip_suffix("records").map_or(amount, str::trim_end);
    let (number, suffix) = split(amount).ok_or_else(|| fail("is not a rate"))?;
    let factor = COUNT_SUFFIXES.iter().find(|(name, _)| *name == suffix);
    let (_, factor) = factor.ok_or_else(|| fail("is not a rate"))?;
    Ok(number.as_f64(*factor) / seconds)
}

/// A decimal number: `4`, `0.99`.
pub(crate) fn number(text: &str) -> Result<f64, UnitError> {
    match split(text) {
        Some((number, "")) => Ok(number.as_f64(1)),
        _ => Err(UnitError {
            what: format!("`{text}` is not a number"),
            cure: "write a decimal number, such as `4` or `0.99`".into(),
        }),
    }
}

/// A part of a whole: `0.05`, `5 %`.
pub(crate) fn part(text: &str) -> Result<f64, UnitError> {
    let part = match text.strip_suffix('%') {
        Some(percent) => number(percent.trim_end()).map(|percent| percent / 100.0),
        None => number(text),
    };
    match part {
        Ok(part) if part <= 1.0 => Ok(part),
        _ => Err(UnitError {
            what: format!("`{text}` is not a fraction"),
            cure: "write 0 to 1, or 0 % to 100 %".into(),
        }),
    }
}

/// Milliseconds since 1970 of a moment: as written, or `2026-01-31T08:00:00Z`, with
/// up to three decimals of a second.
pub(crate) fn unix_ms(text: &str) -> Result<u64, UnitError> {
    let plain = text.parse::<u64>().ok();
    plain.or_else(|| date_ms(text)).ok_or_else(|| UnitError {
        what: format!("`{text}` is not a date and time"),
        cure: "write `2026-01-31T08:00:00Z`, in UTC, or milliseconds since 1970".into(),
    })
}

fn date_ms(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, sign: char, widths: [usize; 3]| -> Option<[u64; 3]> {
        let mut found = [0; 3];
        let mut parts = text.split(sign);
        for (slot, width) in found.iter_mut().zip(widths) {
            let part = parts.next()?;
            let is_plain = part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit());
            *slot = is_plain.then(|| part.parse().ok())??;
        }
        parts.next().is_none().then_some(found)
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (time, decimals) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    if decimals.is_empty() || decimals.len() > 3 || !decimals.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let ms: u64 = format!("{decimals:0<3}").parse().ok()?;
    let in_range = year >= 1970
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !in_range {
        return None;
    }
    // Days from the civil calendar, years beginning in March: the leap day comes last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days_to_1970 = 719_468;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year - days_to_1970;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + ms)
}

/// Bytes a second: `78.3 MB/s`, `100 MiB/s`.
pub(crate) fn byte_rate(text: &str) -> Result<f64, UnitError> {
    let cure = "write a byte rate, such as `78.3 MB/s` or `100 MiB/s`";
    let fail = |what: &str| UnitError {
        what: format!("`{text}` {what}"),
        cure: cure.into(),
    };
    let (amount, seconds) = per(text).ok_or_else(|| fail("is not a byte rate"))?;
    let (number, unit) = split(amount).ok_or_else(|| fail("is not a byte rate"))?;
    let factor = SIZE
        .units
        .iter()
        .find(|(name, _)| *name == unit.trim_start());
    let (_, factor) = factor.ok_or_else(|| fail("has no unit of size"))?;
    Ok(number.as_f64(*factor) / seconds)
}

/// Splits `amount/time` and returns the time in seconds.
fn per(text: &str) -> Option<(&str, f64)> {
    let (amount, time) = text.rsplit_once('/')?;
    let seconds = match time.trim() {
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    };
    Some((amount.trim_end(), seconds))
}

/// A decimal fraction: `digits / 10^scale`.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    digits: u128,
    scale: u32,
}

impl Decimal {
    /// The product, or why it is not a whole number of `unit` that fits.
    fn times(self, factor: u64, unit: &str) -> Result<u64, String> {
        let too_large = || "is far too large".to_owned();
        let product = self
            .digits
            .checked_mul(u128::from(factor))
            .ok_or_else(too_large)?;
        let divisor = 10u128.checked_pow(self.scale).ok_or_else(too_large)?;
        if product % divisor != 0 {
            return Err(format!("is not a whole number{unit}"));
        }
        u64::try_from(product / divisor).map_err(|_| too_large())
    }

    fn as_f64(self, factor: u64) -> f64 {
        self.digits as f64 * factor as f64 / 10f64.powi(self.scale as i32)
    }
}

/// Splits a number from what follows it. `_` may separate digits.
fn split(text: &str) -> Option<(Decimal, &str)> {
    /// More digits than any u64 has, few enough for the arithmetic above.
    const DIGITS_MAX: u32 = 24;
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let well_grouped = |part: &str| {
        !part.is_empty()
            && !part.starts_with('_')
            && !part.ends_with('_')
            && !part.contains("__")
            && !part.contains('.')
    };
    if !well_grouped(whole) || !well_grouped(decimals) {
        return None;
    }
    let mut decimal = Decimal {
        digits: 0,
        scale: 0,
    };
    let mut count = 0;
    let decimals = decimals
        .trim_end_matches('0')
        .chars()
        .map(|digit| (digit, 1));
    for (character, scale) in whole.chars().map(|digit| (digit, 0)).chain(decimals) {
        let Some(digit) = character.to_digit(10) else {
            continue;
        };
        count += 1;
        if count > DIGITS_MAX {
            return None;
        }
        decimal.digits = decimal.digits * 10 + u128::from(digit);
        decimal.scale += scale;
    }
    Some((decimal, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts() {
        for (text, value) in [
            ("0", 0),
            ("12", 12),
            ("5k", 5_000),
            ("50M", 50_000_000),
            ("1.5M", 1_500_000),
            ("1_000_000", 1_000_000),
            ("2G", 2_000_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(value), "{text}");
        }
        for text in [
            "", "M", "1.5", "-1", "5 k", "5K", "1e6", "1__0", "_1", "1_", "1.", ".5", "1.2.3k",
            "0x10",
        ] {
            assert!(count(text).is_err(), "{text}");
        }
        assert!(count("18446744073709551616").is_err());
        assert!(count(&"9".repeat(1_000)).is_err());
    }

    #[test]
    fn sizes() {
        for (text, value) in [
            ("100 B", 100),
            ("100B", 100),
            ("64 KiB", 65_536),
            ("10 kB", 10_000),
            ("64 MiB", 67_108_864),
            ("1.5 KiB", 1_536),
            ("1_000 MB", 1_000_000_000),
        ] {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
        assert_eq!(bytes("100").unwrap_err().cure, "write a unit: `100 B`");
        assert!(bytes("64 KB").unwrap_err().cure.contains("KiB for 1,024"));
        assert!(
            bytes("64 m")
                .unwrap_err()
                .cure
                .contains("MiB for 1,048,576")
        );
        assert!(
            bytes("0.3 B")
                .unwrap_err()
                .what
                .contains("not a whole number of B")
        );
        assert!(
            bytes("99999999 TiB")
                .unwrap_err()
                .what
                .contains("far too large")
        );
        assert!(bytes("many").is_err() && bytes("-1 B").is_err() && bytes("").is_err());
    }

    #[test]
    fn times() {
        for (text, value) in [
            ("250 ms", 250_000_000),
            ("2 s", 2_000_000_000),
            ("5 min", 300_000_000_000),
            ("0.1 s", 100_000_000),
            ("10 us", 10_000),
            ("10 µs", 10_000),
            ("0 s", 0),
            ("7d", 604_800_000_000_000),
            ("1 w", 604_800_000_000_000),
        ] {
            assert_eq!(time_ns(text), Ok(value), "{text}");
        }
        assert!(time_ns("5 m").unwrap_err().cure.contains("min for minutes"));
        assert_eq!(time_ns("5").unwrap_err().cure, "write a unit: `5 s`");
        assert!(time_ns("0.5 ns").is_err());
    }

    #[test]
    fn rates() {
        for (text, value) in [
            ("50k/s", 50_000.0),
            ("1.5M/s", 1_500_000.0),
            ("821557 records/s", 821_557.0),
            ("821_557/s", 821_557.0),
            ("30/min", 0.5),
            ("50k records / s", 50_000.0),
        ] {
            assert_eq!(rate(text), Ok(value), "{text}");
        }
        for text in ["50k", "50 MB/s", "k/s", "/s", "50k/d", "50k//s", "50 k/s"] {
            assert!(rate(text).is_err(), "{text}");
        }
        assert_eq!(byte_rate("78.3 MB/s"), Ok(78_300_000.0));
        assert_eq!(byte_rate("100MiB/s"), Ok(104_857_600.0));
        assert!(byte_rate("100/s").is_err() && byte_rate("100 MB").is_err());
    }

    #[test]
    fn numbers_parts_and_moments() {
        assert_eq!((number("4"), number("0.99")), (Ok(4.0), Ok(0.99)));
        assert!(number("4x").is_err() && number("-1").is_err() && number("").is_err());
        assert_eq!(
            (part("5 %"), part("0.05"), part("100%")),
            (Ok(0.05), Ok(0.05), Ok(1.0))
        );
        assert!(part("1.5").is_err() && part("101 %").is_err());
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600_000),
            ("2026-01-31T08:00:00.25Z", 1_769_846_400_250),
            ("1769846400250", 1_769_846_400_250),
        ] {
            assert_eq!(unix_ms(text), Ok(ms), "{text}");
        }
        for text in [
            "2026-01-31",
            "2026-13-01T00:00:00Z",
            "2026-01-31T08:00:00",
            "soon",
        ] {
            assert!(unix_ms(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(value: u64) {
            prop_assert_eq!(bytes(&ByteSize(value).to_string()), Ok(value));
            prop_assert_eq!(time_ns(&Time(value).to_string()), Ok(value));
            prop_assert_eq!(count(&value.to_string()), Ok(value));
            prop_assert_eq!(rate(&format!("{}/s", value >> 12)), Ok((value >> 12) as f64));
        }

        #[test]
        fn no_text_makes_a_panic(text in "[0-9._]{0,40}[ ]?[a-zA-Zµ/]{0,8}|.{0,40}") {
            let _ = (count(&text), bytes(&text), time_ns(&text), rate(&text), byte_rate(&text));
            let _ = (number(&text), part(&text), unix_ms(&text));
        }
    }
}
