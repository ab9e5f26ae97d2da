//! Releases of Kafka, as `--as-of` names them. The output of a tool depends on its release.

use std::fmt;

/// A release: up to four numbers, `0.8.2.2` or `4.3.1`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ToolRelease([u16; 4]);

impl ToolRelease {
    /// The default.
    pub(crate) const NEWEST: ToolRelease = ToolRelease([4, 3, 1, 0]);

    /// The release with these numbers.
    pub(crate) const fn of(first: u16, second: u16, third: u16) -> ToolRelease {
        ToolRelease([first, second, third, 0])
    }

    /// Kafka's word for records.
    pub(crate) fn records_word(self) -> &'static str {
        match self < ToolRelease::of(4, 2, 0) {
            true => "messages",
            false => "records",
        }
    }

    /// Whether the consumer's reporting interval counts records instead of milliseconds (KAFKA-3111 changed it).
    pub(crate) fn counts_records(self) -> bool {
        self < ToolRelease::of(0, 10, 1)
    }

    /// Reads `4.3.1`, `2.8` or `0.10.1.0`.
    pub(crate) fn parse(text: &str) -> Result<ToolRelease, String> {
        let wrong = || format!("{text:?} is not a Kafka release; write it like 4.3.1 or 0.8.2.2");
        let mut numbers = [0; 4];
        let parts: Vec<&str> = text.split('.').collect();
        if !(2..=4).contains(&parts.len()) {
            return Err(wrong());
        }
        for (number, part) in numbers.iter_mut().zip(&parts) {
            *number = part.parse().map_err(|_| wrong())?;
        }
        let release = ToolRelease(numbers);
        if release < ToolRelease::of(0, 8, 0) {
            return Err(format!(
                "Kafka {text} is older than 0.8.0, where the tools begin"
            ));
        }
        Ok(release)
    }
}

impl fmt::Display for ToolRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third, fourth] = self.0;
        write!(f, "{first}.{second}.{third}")?;
        if first == 0 {
            write!(f, ".{fourth}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered_by_their_numbers() {
        let sorted = [
            "0.8.0", "0.8.2.2", "0.10.1.0", "0.11", "1.0.2", "2.8", "4.3.1",
        ];
        let sorted: Vec<ToolRelease> = sorted
            .iter()
            .map(|text| ToolRelease::parse(text).unwrap())
            .collect();
        assert!(sorted.is_sorted(), "{sorted:?}");
        assert_eq!(sorted[6], ToolRelease::NEWEST);
        assert_eq!(sorted[1].to_string(), "0.8.2.2");
        assert_eq!(sorted[5].to_string(), "2.8.0");
    }

    #[test]
    fn what_is_no_release_is_refused() {
        for wrong in ["", "4", "newest", "4.x", "1.2.3.4.5", "0.7.2"] {
            assert!(ToolRelease::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
