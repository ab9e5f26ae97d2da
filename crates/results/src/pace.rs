//! A flow's records over time, in short bins of equal length. Steadiness is judged by them.

use serde::{Deserialize, Serialize};

/// The initial width of a bin. A hold of three seconds then has thirty of them.
pub const PACE_BIN_NS: u64 = 100_000_000;

/// Beyond this number of bins, neighbours are added in pairs and the width doubles. A series of any length takes 8 KiB,
/// and nothing is allocated after the start.
const BINS_MAX: usize = 512;

/// Records per bin, and their delays.
///
/// Series of several threads or load machines add exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaceSeries {
    /// The width of a bin in nanoseconds; the first bin begins at the start of the repeat.
    pub bin_ns: u64,
    /// Records acked or read in each bin.
    pub records: Vec<u64>,
    /// For each bin, the sum over its records of the time from the intended time of the oldest record in their ack
    /// until that ack, in nanoseconds; 0 for records that were read.
    pub delay_ns: Vec<u64>,
    /// When the first of the clients had sent or read all that it was to. From then on there are fewer records because
    /// fewer clients are left, whatever the target does. Absent where none came to an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_done_ns: Option<u64>,
}

impl Default for PaceSeries {
    fn default() -> Self {
        Self {
            bin_ns: PACE_BIN_NS,
            records: Vec::with_capacity(BINS_MAX),
            delay_ns: Vec::with_capacity(BINS_MAX),
            first_done_ns: None,
        }
    }
}

impl PaceSeries {
    /// `records` were acked or read at `at_ns`, each after `delay_ns`.
    #[inline]
    pub fn note(&mut self, at_ns: u64, records: u64, delay_ns: u64) {
        let bin = (at_ns / self.bin_ns) as usize;
        if let (Some(count), Some(sum_ns)) = (self.records.get_mut(bin), self.delay_ns.get_mut(bin))
        {
            *count += records;
            *sum_ns = sum_ns.saturating_add(delay_ns.saturating_mul(records));
            return;
        }
        self.grow(at_ns);
        self.note(at_ns, records, delay_ns);
    }

    /// A client has sent or read all that it was to.
    pub(crate) fn note_done(&mut self, at_ns: u64) {
        self.first_done_ns = Some(self.first_done_ns.map_or(at_ns, |first| first.min(at_ns)));
    }

    /// Extends the series to a time.
    #[cold]
    fn grow(&mut self, at_ns: u64) {
        while at_ns / self.bin_ns >= BINS_MAX as u64 {
            self.halve();
        }
        let bins = (at_ns / self.bin_ns) as usize + 1;
        self.records.resize(bins, 0);
        self.delay_ns.resize(bins, 0);
    }

    /// Adds neighbours in pairs.
    fn halve(&mut self) {
        for values in [&mut self.records, &mut self.delay_ns] {
            let pairs = values.len().div_ceil(2);
            for pair in 0..pairs {
                let second = values.get(2 * pair + 1).copied().unwrap_or(0);
                values[pair] = values[2 * pair].saturating_add(second);
            }
            values.truncate(pairs);
        }
        self.bin_ns = self.bin_ns.saturating_mul(2);
    }

    /// Adds another series of the same repeat.
    pub fn add(&mut self, other: &PaceSeries) {
        let mut other = other.clone();
        // A message from elsewhere may contain anything: a width of 0 would never double.
        other.bin_ns = other.bin_ns.max(1);
        while self.bin_ns < other.bin_ns {
            self.halve();
        }
        while other.bin_ns < self.bin_ns {
            other.halve();
        }
        let bins = self.records.len().max(other.records.len());
        self.records.resize(bins, 0);
        self.delay_ns.resize(bins, 0);
        let sums = self.records.iter_mut().zip(&other.records);
        sums.for_each(|(sum, part)| *sum = sum.saturating_add(*part));
        let sums = self.delay_ns.iter_mut().zip(&other.delay_ns);
        sums.for_each(|(sum, part)| *sum = sum.saturating_add(*part));
        if let Some(done_ns) = other.first_done_ns {
            self.note_done(done_ns);
        }
    }

    /// Records per second in each bin within a span, in nanoseconds since the start.
    pub fn rates(&self, from_ns: u64, to_ns: u64) -> Vec<f64> {
        let seconds = self.bin_ns as f64 / 1e9;
        let bins = self.within(from_ns, to_ns);
        bins.map(|bin| self.records.get(bin).copied().unwrap_or(0) as f64 / seconds)
            .collect()
    }

    /// The logarithm of the mean delay in each bin within a span; a bin without a delay repeats the previous one.
    pub fn log_delays(&self, from_ns: u64, to_ns: u64) -> Vec<f64> {
        let mut logs: Vec<f64> = Vec::new();
        for bin in self.within(from_ns, to_ns) {
            let records = self.records.get(bin).copied().unwrap_or(0);
            let sum_ns = self.delay_ns.get(bin).copied().unwrap_or(0);
            if records > 0 && sum_ns > 0 {
                logs.push((sum_ns as f64 / records as f64).ln());
            } else if let Some(&before) = logs.last() {
                logs.push(before);
            }
        }
        logs
    }

    /// The bins that lie completely within a span. Bins without records count as 0.
    fn within(&self, from_ns: u64, to_ns: u64) -> std::ops::Range<usize> {
        // A file from elsewhere may contain anything.
        let bin_ns = self.bin_ns.max(1);
        let first = from_ns.div_ceil(bin_ns);
        let last = (to_ns / bin_ns).min(first.saturating_add(2 * BINS_MAX as u64));
        first as usize..last.max(first) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_add_up_to_the_records_however_long_the_repeat_is() {
        let mut pace = PaceSeries::default();
        let seconds = 3_600;
        for second in 0..seconds {
            pace.note(second * 1_000_000_000, 10, 5);
        }
        assert_eq!(pace.records.iter().sum::<u64>(), 10 * seconds);
        assert_eq!(pace.delay_ns.iter().sum::<u64>(), 50 * seconds);
        // 3,600 s in at most 512 bins: the width has doubled from 0.1 s to 12.8 s.
        assert_eq!(pace.bin_ns, 12_800_000_000);
        assert!(pace.records.len() <= BINS_MAX);
    }

    #[test]
    fn series_of_two_threads_add_exactly_also_when_their_bins_differ() {
        let (mut long, mut short) = (PaceSeries::default(), PaceSeries::default());
        long.note(60_000_000_000, 7, 1);
        short.note(50_000_000, 5, 2);
        short.note(250_000_000, 1, 2);
        assert_eq!(long.bin_ns, 200_000_000);
        long.add(&short);
        assert_eq!(long.records[0], 5);
        assert_eq!(long.records[1], 1);
        assert_eq!(long.records[300], 7);
        let mut other_way = short;
        let mut first = PaceSeries::default();
        first.note(60_000_000_000, 7, 1);
        other_way.add(&first);
        assert_eq!(other_way, long);
    }

    #[test]
    fn the_first_client_that_is_done_counts_whatever_the_order_in_which_series_are_added() {
        let (mut early, mut late) = (PaceSeries::default(), PaceSeries::default());
        early.note_done(9);
        early.note_done(5);
        late.note_done(7);
        let mut sum = PaceSeries::default();
        assert_eq!(sum.first_done_ns, None);
        sum.add(&late);
        sum.add(&PaceSeries::default());
        sum.add(&early);
        assert_eq!(sum.first_done_ns, Some(5));
        early.add(&late);
        assert_eq!(early.first_done_ns, Some(5));
    }

    #[test]
    fn a_series_without_a_width_is_added_and_ends() {
        let mut pace = PaceSeries::default();
        pace.note(0, 7, 1);
        let broken = PaceSeries {
            bin_ns: 0,
            records: vec![1, 2],
            delay_ns: Vec::new(),
            first_done_ns: None,
        };
        pace.add(&broken);
        assert_eq!(pace.records.iter().sum::<u64>(), 10);
    }

    #[test]
    fn only_whole_bins_of_a_span_are_looked_at() {
        let mut pace = PaceSeries::default();
        for (at_ms, records) in [(0, 1), (100, 2), (200, 3), (300, 4)] {
            pace.note(at_ms * 1_000_000, records, 1_000);
        }
        let ms = 1_000_000;
        assert_eq!(pace.rates(50 * ms, 399 * ms), [20.0, 30.0]);
        assert_eq!(pace.rates(0, 600 * ms), [10.0, 20.0, 30.0, 40.0, 0.0, 0.0]);
        assert_eq!(pace.log_delays(0, 600 * ms), [1_000.0_f64.ln(); 6]);
    }
}
