//! Values of arguments: percentages, figures and ages.

use std::time::Duration;

use kgauge_analyze::compare::{FigureKind, GateChoice};
use kgauge_scenario::time_value;

/// Parses an age, such as `12h`, `30d` or `8w`.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    let age = time_value(text.trim()).map(Duration::from_nanos);
    age.map_err(|_| "expected a time, such as 12h, 30d or 8w".to_owned())
}

/// Parses a percentage, such as `1.5` or `1.5%`, into a fraction.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a percentage between 0 and 100, such as 1.5".to_owned()),
    }
}

/// Parses a limit: `10%`, `10 %` and `10` are percentages, `0.1` (below 1, no sign) is a fraction.
pub(crate) fn allowed(text: &str) -> Result<f64, String> {
    let (number, is_percent) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (text.trim(), false),
    };
    let fraction = number
        .parse::<f64>()
        .map(|number| match is_percent || number >= 1.0 {
            true => number / 100.0,
            false => number,
        });
    match fraction {
        Ok(fraction) if fraction > 0.0 && fraction < 1.0 => Ok(fraction),
        _ => Err("expected a percentage above 0 and below 100, such as 10%".to_owned()),
    }
}

/// Parses `p99` or `p99=30%`; one name may select several figures.
pub(crate) fn metric(text: &str) -> Result<Vec<GateChoice>, String> {
    let (name, limit) = match text.split_once('=') {
        Some((name, limit)) => (name.trim(), Some(allowed(limit)?)),
        None => (text.trim(), None),
    };
    let figures = FigureKind::named(name);
    if figures.is_empty() {
        return Err(format!(
            "unknown figure; expected one of {}",
            FigureKind::NAMES.join(", ")
        ));
    }
    let choice = |figure: &FigureKind| GateChoice {
        figure: *figure,
        allowed: limit,
    };
    Ok(figures.iter().map(choice).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_unit() {
        let hours = |hours: u64| Ok(Duration::from_secs(3_600 * hours));
        assert_eq!(age("12h"), hours(12));
        assert_eq!(age("30d"), hours(720));
        assert_eq!(age(" 2 w"), hours(336));
        assert_eq!(age("1.5 d"), hours(36));
        for wrong in ["", "30", "d", "-1d", "30m", "30µ"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
