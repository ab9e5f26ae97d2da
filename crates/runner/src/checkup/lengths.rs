//! How the time of a checkup is shared by its parts.

use std::time::Duration;

use kgauge_results::run::CheckupPart;

/// Below this, windows and holds are shorter.
const SHORT_S: u64 = 360;
/// The part of the budget that the capacity search may take.
const SEARCH_PART: f64 = 0.55;
/// In less time, a search finds no rate, and all other parts need one. Parts that do not fit then are left out.
const SEARCH_S_MIN: u64 = 30;
/// Creating and deleting a topic, connecting, the last answers.
const BETWEEN_S: u64 = 2;

/// Lengths of stages and windows, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartLengths {
    /// A window of the search.
    pub(crate) window_s: u64,
    /// How long a load at a bound is measured.
    pub(crate) duration_s: u64,
    /// The distance of the bounds in percent.
    pub(crate) width_percent: u64,
    /// The time of the search.
    pub(crate) search_s: u64,
    /// The warm-up of every load.
    pub(crate) warm_up_s: u64,
    /// The hold of the other loads.
    pub(crate) hold_s: u64,
    /// Writing what is read from the start.
    pub(crate) preload_s: u64,
    /// Whether consumers from the start read from disk too, not only from the page cache.
    pub(crate) reads_disk: bool,
}

impl PartLengths {
    /// Those of a budget.
    pub(crate) fn of(budget: Duration, reads_disk: bool) -> PartLengths {
        let budget_s = budget.as_secs();
        let lengths = PartLengths {
            reads_disk,
            ..PartLengths::without_search(budget_s)
        };
        let others = CheckupPart::ALL
            .into_iter()
            .map(|part| lengths.seconds(part));
        let left_s = budget_s.saturating_sub(others.sum());
        PartLengths {
            search_s: left_s
                .max(SEARCH_S_MIN)
                .min((budget_s as f64 * SEARCH_PART) as u64),
            ..lengths
        }
    }

    /// Those of a budget, with no time for the search.
    fn without_search(budget_s: u64) -> PartLengths {
        match budget_s < SHORT_S {
            true => PartLengths {
                window_s: 3,
                duration_s: 9,
                width_percent: 10,
                search_s: 0,
                warm_up_s: 1,
                hold_s: 3,
                preload_s: 3,
                reads_disk: false,
            },
            false => PartLengths {
                window_s: 5,
                duration_s: 30,
                width_percent: 5,
                search_s: 0,
                warm_up_s: 2,
                hold_s: 8,
                preload_s: 8,
                reads_disk: false,
            },
        }
    }

    /// Number of loads of a part, apart from those of the search.
    pub(crate) fn loads(self, part: CheckupPart) -> u64 {
        match part {
            CheckupPart::EndToEnd => 4,
            CheckupPart::Acks | CheckupPart::Replication => 2,
            CheckupPart::FromStart => 1 + u64::from(self.reads_disk),
            CheckupPart::Idle | CheckupPart::Capacity | CheckupPart::Tail => 1,
        }
    }

    /// The time of a part.
    pub(crate) fn seconds(self, part: CheckupPart) -> u64 {
        let load_s = self.warm_up_s + self.hold_s + BETWEEN_S;
        match part {
            CheckupPart::Capacity => self.search_s,
            CheckupPart::FromStart => self.loads(part) * (load_s + self.preload_s),
            CheckupPart::Idle
            | CheckupPart::EndToEnd
            | CheckupPart::Acks
            | CheckupPart::Replication
            | CheckupPart::Tail => self.loads(part) * load_s,
        }
    }

    /// The longest single load that writes.
    pub(crate) fn longest_load_s(self) -> u64 {
        self.warm_up_s + self.duration_s.max(self.hold_s) + BETWEEN_S
    }

    /// Topics at most: a load of the search takes at least one window.
    pub(crate) fn topics(self) -> u64 {
        let of_search = self.search_s / (self.window_s + self.warm_up_s);
        let others = CheckupPart::ALL.into_iter();
        let others = others.filter(|part| *part != CheckupPart::Capacity);
        of_search + others.map(|part| self.loads(part)).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use crate::checkup::CheckupRequest;

    use super::*;

    #[test]
    fn the_parts_fit_into_the_budget() {
        for budget_s in [120, 240, 360, 900, 3_600] {
            for reads_disk in [false, true] {
                let lengths = PartLengths::of(Duration::from_secs(budget_s), reads_disk);
                let parts = CheckupPart::ALL.into_iter();
                let sum: u64 = parts.map(|part| lengths.seconds(part)).sum();
                assert!(sum <= budget_s, "{sum} of {budget_s}");
            }
        }
    }

    #[test]
    fn the_shortest_budget_leaves_the_search_its_time() {
        for reads_disk in [false, true] {
            let lengths = PartLengths::of(CheckupRequest::BUDGET_MIN, reads_disk);
            assert_eq!(lengths.search_s, SEARCH_S_MIN);
        }
    }

    #[test]
    fn the_longest_load_confirms_a_bound() {
        let lengths = PartLengths::of(Duration::from_secs(900), false);
        assert_eq!((lengths.search_s, lengths.longest_load_s()), (495, 34));
        // 70 loads of 7 s, and 11 others.
        assert_eq!(lengths.topics(), 70 + 11);
    }
}
