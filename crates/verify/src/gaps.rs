//! Sequences that were passed over and not seen so far.

/// Ranges of numbers, ascending and apart.
#[derive(Debug, Default)]
pub(crate) struct NumberRanges {
    ranges: Vec<(u64, u64)>,
}

impl NumberRanges {
    /// Adds a range after all others.
    pub(crate) fn push(&mut self, from: u64, end: u64) {
        if from < end {
            self.ranges.push((from, end));
        }
    }

    /// Removes a number; false if it is in no range.
    pub(crate) fn remove(&mut self, number: u64) -> bool {
        let at = self.ranges.partition_point(|&(_, end)| end <= number);
        let Some(&(from, end)) = self.ranges.get(at) else {
            return false;
        };
        if number < from {
            return false;
        }
        match (from == number, number + 1 == end) {
            (true, true) => {
                self.ranges.remove(at);
            }
            (true, false) => self.ranges[at].0 = number + 1,
            (false, true) => self.ranges[at].1 = number,
            (false, false) => {
                self.ranges[at].1 = number;
                self.ranges.insert(at + 1, (number + 1, end));
            }
        }
        true
    }

    /// The number of ranges, which bounds the memory.
    pub(crate) fn count(&self) -> usize {
        self.ranges.len()
    }

    /// The parts of `from..end` that are in a range, ascending.
    pub(crate) fn within(&self, from: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        let first = self.ranges.partition_point(|&(_, last)| last <= from);
        self.ranges[first..]
            .iter()
            .take_while(move |&&(start, _)| start < end)
            .map(move |&(start, last)| (start.max(from), last.min(end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_removed_from_either_end_and_from_the_middle() {
        let mut gaps = NumberRanges::default();
        gaps.push(2, 6);
        gaps.push(9, 10);
        gaps.push(5, 5);
        assert!(gaps.remove(4) && gaps.remove(2) && gaps.remove(5) && gaps.remove(9));
        assert!(!gaps.remove(4) && !gaps.remove(0) && !gaps.remove(10));
        assert_eq!(gaps.within(0, 99).collect::<Vec<_>>(), [(3, 4)]);
        assert_eq!(gaps.count(), 1);
    }

    #[test]
    fn a_range_is_cut_to_what_was_asked_for() {
        let mut gaps = NumberRanges::default();
        gaps.push(2, 6);
        gaps.push(8, 12);
        assert_eq!(gaps.within(4, 9).collect::<Vec<_>>(), [(4, 6), (8, 9)]);
        assert_eq!(gaps.within(6, 8).count(), 0);
    }
}
