//! Which count has which colour: steps of a log scale, so that a single slow record is seen beside
//! the many.

use crate::format;

/// Colours in the style sheet (`.h0` to `.h7`), one hue, evenly lighter or darker.
pub(super) const COLOURS: usize = 8;
/// From here on a step is a decade, and half of one below.
const DECADES_FROM: u64 = 10_000;

/// The steps of one picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Levels {
    /// The least count of each level, rising from 1; empty where nothing was counted.
    from: Vec<u64>,
    max: u64,
}

impl Levels {
    /// Round steps from 1 to the largest count: 1, 3, 10, 30, ... or 1, 10, 100, ...
    pub(super) fn up_to(max: u64) -> Levels {
        let halves = [1_u64, 3, 10, 30, 100, 300, 1_000, 3_000];
        let decades = (0..COLOURS as u32).map(|power| 10_u64.pow(power));
        let from: Vec<u64> = match max < DECADES_FROM {
            true => halves.into_iter().filter(|from| *from <= max).collect(),
            false => decades.filter(|from| *from <= max).collect(),
        };
        Levels { from, max }
    }

    pub(super) fn len(&self) -> usize {
        self.from.len()
    }

    /// The level of a count; `None` for none.
    pub(super) fn of(&self, count: u64) -> Option<usize> {
        self.from.iter().rposition(|from| *from <= count)
    }

    /// Its class in the style sheet: levels are spread over all colours, so few are far apart.
    pub(super) fn class(&self, level: usize) -> &'static str {
        const CLASSES: [&str; COLOURS] = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"];
        let last = self.len().saturating_sub(1);
        let colour = match last {
            0 => COLOURS / 2,
            last => (level * (COLOURS - 1) + last / 2) / last,
        };
        CLASSES[colour.min(COLOURS - 1)]
    }

    /// Its counts as text: `3 to 9`.
    pub(super) fn words(&self, level: usize) -> String {
        let low = self.from.get(level).copied().unwrap_or(0);
        let next = self.from.get(level + 1).copied();
        let high = next.map_or(self.max, |next| next - 1);
        match low == high {
            true => format::count(low),
            false => format!("{} to {}", format::count(low), format::count(high)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sample_has_a_colour_of_its_own_level_and_none_has_none() {
        let levels = Levels::up_to(45);
        assert_eq!(levels.of(0), None);
        assert_eq!(levels.of(1), Some(0));
        assert_eq!(levels.of(29), Some(2));
        assert_eq!(levels.of(45), Some(3));
        assert_eq!(levels.words(0), "1 to 2");
        assert_eq!(levels.words(3), "30 to 45");
    }

    #[test]
    fn no_count_is_beyond_the_colours() {
        for max in [0, 1, 2, 9_999, 10_000, 123_456_789, u64::MAX] {
            let levels = Levels::up_to(max);
            assert!(levels.len() <= COLOURS);
            assert_eq!(
                levels.of(max).map(|level| level + 1).unwrap_or(0),
                levels.len()
            );
        }
    }

    #[test]
    fn the_fewest_and_the_most_have_the_outer_colours() {
        for max in [5, 400, 9_999, 2_000_000] {
            let levels = Levels::up_to(max);
            let classes: Vec<_> = (0..levels.len()).map(|level| levels.class(level)).collect();
            assert_eq!(
                (classes.first(), classes.last()),
                (Some(&"h0"), Some(&"h7"))
            );
            assert!(classes.is_sorted_by(|one, next| one < next), "{classes:?}");
        }
    }
}
