//! Histograms with HdrHistogram's buckets (3 significant digits), cheap enough for every single record.
//!
//! The bucket layout is HdrHistogram's with a lowest discernible value of 1 ns and three digits: 2,048 buckets of 1 ns,
//! then 1,024 buckets per doubling. It covers 292 years, so nothing is clipped. The exact smallest, largest and total
//! time are stored as well, and when the largest occurred.

mod bands;
mod codec;

mod quantile;

pub use bands::BANDS_A_DECADE;
pub use codec::HistogramDecodeError;
pub(crate) use codec::{ExactTimes, HistogramDecoder};
pub use quantile::Quantile;

/// The first `2^SUB_BUCKET_BITS` buckets have 1 ns: 2,048 >= 2 * 10^3 gives three digits.
const SUB_BUCKET_BITS: u32 = 11;
const SUB_BUCKET_MASK: u64 = (1 << SUB_BUCKET_BITS) - 1;

/// The largest time with a bucket: 2^63 - 1 ns, 292 years, the largest `long` of the Java library.
pub const VALUE_NS_MAX: u64 = i64::MAX as u64;

/// Buckets up to [`VALUE_NS_MAX`]: 2,048, and 52 doublings.
const BUCKET_COUNT: usize = bucket_index(VALUE_NS_MAX) + 1;

/// The first time allocates buckets up to about a minute (2^36 ns).
const BUCKETS_LIKELY: usize = bucket_index((1 << 36) - 1) + 1;
/// Sums are allocated in steps of one doubling.
const BUCKETS_STEP: usize = 1 << (SUB_BUCKET_BITS - 1);

/// How many buckets to allocate when this one is needed.
const fn rooms(index: usize) -> usize {
    if index < BUCKETS_LIKELY {
        BUCKETS_LIKELY
    } else {
        BUCKET_COUNT
    }
}

/// The bucket of a time.
///
/// With `e` doublings beyond the first 2,048 ns, the top eleven bits of the value are 1,024 to 2,047, and `e * 1,024`
/// buckets are below. For `e = 0` the bucket is the value itself.
#[inline]
const fn bucket_index(value_ns: u64) -> usize {
    let doublings = (u64::BITS - SUB_BUCKET_BITS) - (value_ns | SUB_BUCKET_MASK).leading_zeros();
    ((doublings as usize) << (SUB_BUCKET_BITS - 1)) + (value_ns >> doublings) as usize
}

/// The largest time in a bucket.
const fn bucket_top_ns(index: usize) -> u64 {
    let half = 1 << (SUB_BUCKET_BITS - 1);
    if index < 2 * half {
        return index as u64;
    }
    let doublings = index / half - 1;
    let sub_bucket = (index - doublings * half) as u64;
    (sub_bucket << doublings) + ((1 << doublings) - 1)
}

/// Counts of times in nanoseconds. Adding two histograms is exact.
#[derive(Clone)]
pub struct Histogram {
    /// One count per bucket, allocated as far as needed: empty until the first time.
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    /// The smallest and the largest time; the smallest is `u64::MAX` if nothing was counted. Together, so that one
    /// comparison shows that a time is no new extreme.
    span_ns: u64,
    max_at_ns: u64,
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Histogram {
        Histogram {
            counts: Vec::new(),
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            span_ns: 0,
            max_at_ns: u64::MAX,
        }
    }

    /// Counts `records` times of `value_ns`, which occurred at `at_ns` (stored for the largest one).
    ///
    /// A value beyond [`VALUE_NS_MAX`] can only come from a broken clock; it is counted there.
    #[inline]
    pub fn record(&mut self, value_ns: u64, records: u64, at_ns: u64) {
        if records > 0 {
            self.record_some(value_ns, records, at_ns);
        }
    }

    /// The same for `records` above 0: this runs for every record of a load.
    #[inline]
    pub(crate) fn record_some(&mut self, value_ns: u64, records: u64, at_ns: u64) {
        let Some(count) = self.counts.get_mut(bucket_index(value_ns)) else {
            return self.record_first(value_ns, records, at_ns);
        };
        *count += records;
        self.count += records;
        self.sum_ns += u128::from(value_ns) * u128::from(records);
        if value_ns.wrapping_sub(self.min_ns) >= self.span_ns {
            self.note_extreme(value_ns, at_ns);
        }
    }

    /// Counts, for each of these ascending times, the duration until `end_ns`, which is not before any of them. Each
    /// occurred at its time.
    ///
    /// Records that are due in close succession mostly share a bucket: a group of them then needs one lookup.
    #[inline]
    pub(crate) fn record_since(&mut self, moments_ns: &[u64], end_ns: u64) {
        const TOGETHER: usize = 16;
        let (groups, rest) = moments_ns.as_chunks::<TOGETHER>();
        for group in groups {
            let [first_ns, .., last_ns] = *group;
            let (most_ns, least_ns) = (end_ns - first_ns, end_ns - last_ns);
            let index = bucket_index(most_ns);
            // Up to this number the group's sum fits into 64 bits.
            let is_one = index == bucket_index(least_ns) && most_ns < u64::MAX / TOGETHER as u64;
            let Some(count) = self.counts.get_mut(index).filter(|_| is_one) else {
                group
                    .iter()
                    .for_each(|&at_ns| self.record_some(end_ns - at_ns, 1, at_ns));
                continue;
            };
            *count += TOGETHER as u64;
            self.count += TOGETHER as u64;
            self.sum_ns += u128::from(group.iter().map(|at_ns| end_ns - at_ns).sum::<u64>());
            for (value_ns, at_ns) in [(most_ns, first_ns), (least_ns, last_ns)] {
                if value_ns.wrapping_sub(self.min_ns) >= self.span_ns {
                    self.note_extreme(value_ns, at_ns);
                }
            }
        }
        rest.iter()
            .for_each(|&at_ns| self.record_some(end_ns - at_ns, 1, at_ns));
    }

    /// The first time of this size: allocates all buckets that are likely to follow.
    #[cold]
    fn record_first(&mut self, value_ns: u64, records: u64, at_ns: u64) {
        let value_ns = value_ns.min(VALUE_NS_MAX);
        self.make_room(rooms(bucket_index(value_ns)));
        self.record_some(value_ns, records, at_ns);
    }

    /// Allocates this many buckets. Fresh zeroed memory is not touched.
    fn make_room(&mut self, buckets: usize) {
        if self.counts.is_empty() {
            self.counts = vec![0; buckets];
        } else if self.counts.len() < buckets {
            self.counts.resize(buckets, 0);
        }
    }

    /// Of several equal maxima, the earliest is kept, whatever the order of recording.
    #[cold]
    fn note_extreme(&mut self, value_ns: u64, at_ns: u64) {
        let empty = self.min_ns == u64::MAX;
        let max_ns = self.top_ns();
        self.min_ns = self.min_ns.min(value_ns);
        if empty || value_ns > max_ns {
            self.span_ns = value_ns - self.min_ns;
            self.max_at_ns = at_ns;
        } else {
            self.span_ns = max_ns - self.min_ns;
            if value_ns == max_ns {
                self.max_at_ns = self.max_at_ns.min(at_ns);
            }
        }
    }

    /// The largest time; meaningless if nothing was counted.
    fn top_ns(&self) -> u64 {
        self.min_ns.wrapping_add(self.span_ns)
    }

    /// Adds the counts of `other`. Exact; the order of additions does not matter.
    pub fn add(&mut self, other: &Histogram) {
        let Some(touched) = other.touched() else {
            return;
        };
        self.make_room(touched.end.next_multiple_of(BUCKETS_STEP));
        let (own, added) = (&mut self.counts[touched.clone()], &other.counts[touched]);
        for (count, more) in own.iter_mut().zip(added) {
            *count = count.saturating_add(*more);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.note_extreme(other.top_ns(), other.max_at_ns);
        if other.min_ns < self.min_ns {
            self.span_ns = self.top_ns() - other.min_ns;
            self.min_ns = other.min_ns;
        }
    }

    /// Clears it; touches only the buckets in use.
    pub fn clear(&mut self) {
        if let Some(touched) = self.touched() {
            self.counts[touched].fill(0);
        }
        self.count = 0;
        self.sum_ns = 0;
        self.min_ns = u64::MAX;
        self.span_ns = 0;
        self.max_at_ns = u64::MAX;
    }

    /// The buckets from the smallest to the largest time.
    fn touched(&self) -> Option<std::ops::Range<usize>> {
        (self.count > 0).then(|| bucket_index(self.min_ns)..bucket_index(self.top_ns()) + 1)
    }

    /// The non-empty buckets, ascending: their largest time, and their count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let touched = self.touched().unwrap_or(0..0);
        touched
            .map(|index| (bucket_top_ns(index), self.counts[index]))
            .filter(|(_, count)| *count > 0)
    }

    /// The number of times counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The smallest time, exact; `None` if nothing was counted.
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// The largest time, exact; `None` if nothing was counted.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then(|| self.top_ns())
    }

    /// When the largest time occurred; the earliest of equal ones.
    pub fn max_at_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_at_ns)
    }

    /// The exact sum of all times.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The mean, from the exact sum; `None` if nothing was counted.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        let facts = |h: &Histogram| {
            (
                h.count,
                h.min_ns,
                h.span_ns,
                h.max_at_ns,
                h.sum_ns,
                h.touched(),
            )
        };
        facts(self) == facts(other)
            && self
                .touched()
                .is_none_or(|touched| self.counts[touched.clone()] == other.counts[touched])
    }
}

impl Eq for Histogram {}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min_ns", &self.min_ns())
            .field("max_ns", &self.max_ns())
            .field("max_at_ns", &self.max_at_ns())
            .field("mean_ns", &self.mean_ns())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_hdr_histogram() {
        let theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, VALUE_NS_MAX, 3).unwrap();
        let mut value_ns = 1_u64;
        while value_ns < VALUE_NS_MAX / 3 {
            for near in [value_ns - 1, value_ns, value_ns + 1, value_ns * 3 / 2] {
                let top_ns = bucket_top_ns(bucket_index(near));
                assert_eq!(top_ns, theirs.highest_equivalent(near), "{near}");
            }
            value_ns *= 2;
        }
        assert_eq!(bucket_top_ns(BUCKET_COUNT - 1), VALUE_NS_MAX);
    }

    #[test]
    fn a_bucket_is_at_most_a_thousandth_wide() {
        for index in 2_048..BUCKET_COUNT {
            let (below, top) = (bucket_top_ns(index - 1), bucket_top_ns(index));
            assert_eq!(bucket_index(top), index);
            assert_eq!(bucket_index(below + 1), index);
            assert!((top - below) as f64 / below as f64 <= 1.0 / 1_000.0);
        }
    }

    #[test]
    fn extremes_and_sum_are_exact_where_buckets_are_not() {
        let mut times = Histogram::new();
        times.record(1_000_000_007, 2, 70);
        times.record(3, 1, 80);
        times.record(9_000_000_000_000_000_001, 1, 90);
        assert_eq!(times.count(), 4);
        assert_eq!(times.min_ns(), Some(3));
        assert_eq!(times.max_ns(), Some(9_000_000_000_000_000_001));
        assert_eq!(times.max_at_ns(), Some(90));
        assert_eq!(times.sum_ns(), 9_000_000_002_000_000_018);
    }

    #[test]
    fn times_are_counted_together_as_one_by_one() {
        // Steps of 0 to some ms, so that groups of sixteen share a bucket or not.
        for step_ns in [0, 1, 70, 3_000, 40_000, 7_000_000] {
            for records in [0, 1, 15, 16, 17, 400] {
                let moments: Vec<u64> = (0..records).map(|n| 5 + n * step_ns).collect();
                for after_ns in [0, 900, 2_500_000_000, u64::MAX >> 3, u64::MAX >> 1] {
                    let end_ns = moments.last().unwrap_or(&5) + after_ns;
                    let (mut one_by_one, mut together) = (Histogram::new(), Histogram::new());
                    for histogram in [&mut one_by_one, &mut together] {
                        histogram.record(1_000_000, 1, 3);
                    }
                    for &at_ns in &moments {
                        one_by_one.record(end_ns - at_ns, 1, at_ns);
                    }
                    together.record_since(&moments, end_ns);
                    assert_eq!(
                        one_by_one, together,
                        "{records} in {step_ns} ns, {after_ns}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_time_is_too_large_to_be_counted() {
        let mut times = Histogram::new();
        times.record(u64::MAX, 5, 1);
        assert_eq!(times.count(), 5);
        assert_eq!(times.max_ns(), Some(VALUE_NS_MAX));
    }

    #[test]
    fn of_equal_maxima_the_earliest_is_kept_in_any_order() {
        let (mut early, mut late) = (Histogram::new(), Histogram::new());
        early.record(50, 1, 7);
        late.record(50, 1, 9);
        let mut sum = late.clone();
        sum.add(&early);
        early.add(&late);
        assert_eq!(sum, early);
        assert_eq!(sum.max_at_ns(), Some(7));
    }

    #[test]
    fn a_cleared_histogram_equals_a_new_one() {
        let mut times = Histogram::new();
        times.record(0, 1, 3);
        times.record(123_456_789, 7, 4);
        times.clear();
        assert_eq!(times, Histogram::new());
        assert!(times.counts.iter().all(|count| *count == 0));
    }
}
