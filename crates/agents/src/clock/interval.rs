//! An interval of clock offsets.

/// The smallest and the largest offset that are possible, in nanoseconds: agent's clock - lead's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetInterval {
    /// The smallest.
    pub low_ns: i64,
    /// The largest; at least `low_ns`.
    pub high_ns: i64,
}

impl OffsetInterval {
    /// The best single value.
    pub fn middle_ns(self) -> i64 {
        let sum = i128::from(self.low_ns) + i128::from(self.high_ns);
        // The mean of two i64 is an i64.
        i64::try_from(sum.div_euclid(2)).unwrap_or(self.low_ns)
    }

    /// How far the true offset can be from [`OffsetInterval::middle_ns`].
    pub fn bound_ns(self) -> u64 {
        self.high_ns.abs_diff(self.low_ns).div_ceil(2)
    }

    /// Moves both ends apart.
    pub(super) fn widened(self, below_ns: u64, above_ns: u64) -> Self {
        Self {
            low_ns: self.low_ns.saturating_sub_unsigned(below_ns),
            high_ns: self.high_ns.saturating_add_unsigned(above_ns),
        }
    }

    /// What lies in both; `None` if nothing does.
    pub(super) fn common(self, other: Self) -> Option<Self> {
        let both = Self {
            low_ns: self.low_ns.max(other.low_ns),
            high_ns: self.high_ns.min(other.high_ns),
        };
        (both.low_ns <= both.high_ns).then_some(both)
    }
}
