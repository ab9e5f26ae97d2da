//! Release numbers.

use std::fmt;
use std::str::FromStr;

/// A release of Apache Kafka, such as `4.3.1` or `0.8.2.2`. Ordered numerically, not as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(Vec<u16>);

/// A text that is not a release number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an Apache Kafka release; write it like 4.3.1 or 0.8.2.2")]
pub struct VersionError {
    /// The text.
    pub text: String,
}

impl Version {
    /// Whether it is this release or a later one; `parts` may be shorter, as in `[0, 11]`.
    pub(crate) fn is_at_least(&self, parts: &[u16]) -> bool {
        self.0.as_slice() >= parts
    }

    /// Whether it belongs to a release line, such as `[2, 8]`.
    pub fn is_of(&self, line: &[u16]) -> bool {
        self.0.starts_with(line)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Version, VersionError> {
        let error = || VersionError {
            text: text.chars().take(40).collect(),
        };
        let part = |part: &str| match part {
            // Rejects `+1` and `01`.
            _ if part.len() > 3 || !part.bytes().all(|byte| byte.is_ascii_digit()) => None,
            _ if part.len() > 1 && part.starts_with('0') => None,
            _ => part.parse().ok(),
        };
        let parts: Option<Vec<u16>> = text.split('.').map(part).collect();
        match parts {
            // Four numbers until 0.11, three since 1.0.
            Some(parts) if parts.len() == if parts[0] == 0 { 4 } else { 3 } => Ok(Version(parts)),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(u16::to_string).collect();
        f.write_str(&parts.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered_as_numbers() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        assert!(version("0.8.2.2") < version("0.10.1.0"));
        assert!(version("2.8.2") < version("2.12.0"));
        assert!(version("0.10.1.0").is_at_least(&[0, 10, 1]));
        assert!(!version("0.10.0.1").is_at_least(&[0, 10, 1]));
        assert!(version("1.0.0").is_at_least(&[0, 11]));
        assert!(version("2.8.2").is_of(&[2, 8]));
        assert_eq!(version("0.10.1.0").to_string(), "0.10.1.0");
    }

    #[test]
    fn other_texts_are_no_releases() {
        for text in [
            "",
            "4",
            "4.3",
            "4.3.1.0",
            "0.8.2",
            "4.3.x",
            "4.3.01",
            "+4.3.1",
            "4.3.1-rc0",
        ] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
