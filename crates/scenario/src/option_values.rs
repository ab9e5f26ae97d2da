//! Values with units outside of scenario files: options of a command, written as in a scenario.

use crate::units::{self, UnitError};

fn message(error: &UnitError) -> String {
    format!("{}; {}", error.what, error.cure)
}

/// A rate in records per second: `50k/s`.
///
/// # Errors
/// What is wrong with the text, and what to write.
pub fn rate_value(text: &str) -> Result<f64, String> {
    units::rate(text).map_err(|error| message(&error))
}

/// A number without a unit: `12`, `50k`, `0.99`.
///
/// # Errors
/// What is wrong with the text, and what to write.
pub fn number_value(text: &str) -> Result<f64, String> {
    let count = units::count(text).map(|count| count as f64);
    let number = count.or_else(|_| units::number(text));
    number.map_err(|error| message(&error))
}

/// A size in bytes: `1 kB`, `20 GB`.
///
/// # Errors
/// What is wrong with the text, and what to write.
pub fn size_value(text: &str) -> Result<u64, String> {
    units::bytes(text).map_err(|error| message(&error))
}

/// A rate in bytes per second: `50 MB/s`.
///
/// # Errors
/// What is wrong with the text, and what to write.
pub fn byte_rate_value(text: &str) -> Result<f64, String> {
    units::byte_rate(text.trim()).map_err(|error| message(&error))
}

/// A time in nanoseconds: `15 min`, `7 d`.
///
/// # Errors
/// What is wrong with the text, and what to write.
pub fn time_value(text: &str) -> Result<u64, String> {
    units::time_ns(text).map_err(|error| message(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_units() {
        assert_eq!(rate_value("50k/s"), Ok(50_000.0));
        assert_eq!(number_value("1.5k"), Ok(1_500.0));
        assert_eq!(number_value("0.99"), Ok(0.99));
        assert_eq!(size_value("20 GB"), Ok(20_000_000_000));
        assert_eq!(time_value("15 min"), Ok(900_000_000_000));
        assert_eq!(byte_rate_value("50MB/s"), Ok(50e6));
        assert_eq!(time_value("7d"), Ok(604_800_000_000_000));
        assert!(byte_rate_value("50/s").is_err());
        assert!(rate_value("50k").is_err() && time_value("15").is_err());
    }
}
