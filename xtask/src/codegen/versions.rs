//! Ranges of message versions, as the definitions write them: `0+`, `3`, `1-4`, `none`.

use anyhow::{Context, Result};

/// An inclusive range of versions; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Versions {
    pub(super) low: i16,
    pub(super) high: i16,
}

impl Versions {
    /// Reads a range; `none` and the empty text are no range.
    pub(super) fn parse(text: &str) -> Result<Option<Self>> {
        let number = |digits: &str| {
            digits
                .parse::<i16>()
                .with_context(|| format!("{text:?} is not a version range"))
        };
        if text == "none" || text.is_empty() {
            return Ok(None);
        }
        let (low, high) = if let Some(low) = text.strip_suffix('+') {
            (number(low)?, i16::MAX)
        } else if let Some((low, high)) = text.split_once('-') {
            (number(low)?, number(high)?)
        } else {
            (number(text)?, number(text)?)
        };
        anyhow::ensure!(low <= high, "{text:?} is an empty version range");
        Ok(Some(Self { low, high }))
    }

    /// The versions that both have.
    pub(super) fn intersect(self, other: Self) -> Option<Self> {
        let low = self.low.max(other.low);
        let high = self.high.min(other.high);
        (low <= high).then_some(Self { low, high })
    }

    /// The versions that either has, if these are one range.
    pub(super) fn join(self, other: Self) -> Option<Self> {
        let apart =
            self.high < other.low.saturating_sub(1) || other.high < self.low.saturating_sub(1);
        (!apart).then(|| self.span(other))
    }

    /// The smallest range around both.
    pub(super) fn span(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    pub(super) fn contains(self, version: i16) -> bool {
        (self.low..=self.high).contains(&version)
    }

    /// Whether every version of `other` is in this range.
    pub(super) fn covers(self, other: Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    pub(super) fn iter(self) -> impl Iterator<Item = i16> {
        self.low..=self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: i16, high: i16) -> Versions {
        Versions { low, high }
    }

    #[test]
    fn the_forms_of_the_definitions_are_understood() {
        let parse = |text| Versions::parse(text).ok().flatten();
        assert_eq!(parse("0+"), Some(range(0, i16::MAX)));
        assert_eq!(parse("3"), Some(range(3, 3)));
        assert_eq!(parse("1-4"), Some(range(1, 4)));
        assert_eq!(parse("none"), None);
        assert!(Versions::parse("4-1").is_err());
        assert!(Versions::parse("a+").is_err());
    }

    #[test]
    fn neighbours_join_and_gaps_do_not() {
        assert_eq!(range(0, 2).join(range(3, 5)), Some(range(0, 5)));
        assert_eq!(range(0, 2).join(range(4, 5)), None);
        assert_eq!(range(0, 2).intersect(range(3, 5)), None);
    }
}
