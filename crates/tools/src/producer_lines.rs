//! The output of the producer tool, release by release.

use kgauge_results::{Histogram, Slice, TimeKind};

use crate::java::fixed;
use crate::release::ToolRelease;

/// Bytes in what Kafka's tools call MB.
pub(crate) const MB: f64 = 1024.0 * 1024.0;
const MS: f64 = 1e6;

/// The acked records of a span and their latencies.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProducerTally {
    pub(crate) latency: Histogram,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
}

impl ProducerTally {
    /// Adds a settled slice with its latencies of the kind `of` (response or service). `value_bytes` is the size of all
    /// values, if they have one size.
    ///
    /// Records count where their latencies do, by their intended times. The slice counts their acks by another time.
    pub(crate) fn add(&mut self, slice: &Slice, of: TimeKind, value_bytes: Option<u64>) {
        let records = slice.times(of).count();
        self.latency.add(slice.times(of));
        self.records += records;
        self.bytes += match value_bytes {
            Some(bytes) => records * bytes,
            None => slice.counts.logical_bytes_acked,
        };
    }

    fn rates(&self, elapsed_ns: u64) -> (f64, f64) {
        let seconds = elapsed_ns as f64 / 1e9;
        if self.records == 0 {
            return (0.0, 0.0);
        }
        (
            self.records as f64 / seconds,
            self.bytes as f64 / MB / seconds,
        )
    }

    fn mean_ms(&self) -> f64 {
        self.latency.mean_ns().map_or(f64::NAN, |mean| mean / MS)
    }

    fn max_ms(&self) -> f64 {
        self.latency.max_ns().map_or(0.0, |max| max as f64 / MS)
    }

    /// The old tool's percentile: element `(int)(p * n)` of the sorted sample, in whole milliseconds.
    pub(crate) fn percentile_ms(&self, part: f64) -> u64 {
        let rank = (part * self.latency.count() as f64) as u64 + 1;
        let value_ns = self.latency.value_ns_at_rank(rank).unwrap_or(0);
        (value_ns + 500_000) / 1_000_000
    }
}

/// The line of an interval.
pub(crate) fn window(tally: &ProducerTally, elapsed_ns: u64, as_of: ToolRelease) -> String {
    let (per_second, mb) = tally.rates(elapsed_ns);
    // 2.2 added the unit (KAFKA-7755).
    let unit = if as_of < ToolRelease::of(2, 2, 0) {
        ""
    } else {
        "ms "
    };
    format!(
        "{} records sent, {} records/sec ({} MB/sec), {} ms avg latency, {} {unit}max latency.",
        tally.records,
        fixed(per_second, 1),
        fixed(mb, 2),
        fixed(tally.mean_ms(), 1),
        fixed(tally.max_ms(), 1),
    )
}

/// The line at the end; `steady` for the records after the warm-up.
pub(crate) fn total(
    tally: &ProducerTally,
    elapsed_ns: u64,
    as_of: ToolRelease,
    steady: bool,
) -> String {
    let (per_second, mb) = tally.rates(elapsed_ns);
    let is_4_0 = as_of >= ToolRelease::of(4, 0, 0) && as_of < ToolRelease::of(4, 2, 0);
    let percentiles = [
        (0.5, "50th"),
        (0.95, "95th"),
        (0.99, "99th"),
        (0.999, "99.9th"),
    ]
    .map(|(part, name)| format!("{} ms {name}", tally.percentile_ms(part)));
    format!(
        "{}{} records sent, {} records/sec ({} MB/sec), {} ms avg latency, {} ms max latency, {}.",
        tally.records,
        if steady { " steady state" } else { "" },
        fixed(per_second, if is_4_0 { 1 } else { 6 }),
        fixed(mb, 2),
        fixed(tally.mean_ms(), 2),
        fixed(tally.max_ms(), 2),
        percentiles.join(", "),
    )
}

/// The only line of 0.8.1's tool; it ends without a line feed there.
pub(crate) fn total_0_8_1(tally: &ProducerTally, elapsed_ns: u64) -> String {
    let (per_second, mb) = tally.rates(elapsed_ns);
    format!(
        "{} records sent in {} ms ms. {} records per second ({} mb/sec).",
        tally.records,
        elapsed_ns / 1_000_000,
        fixed(per_second, 2),
        fixed(mb, 2),
    )
}

/// The notice of 4.2 and later about a deprecated option.
pub(crate) fn deprecated(option: &str, instead: &str) -> String {
    format!(
        "Option --{option} has been deprecated and will be removed in a future version. Use \
         --{instead} instead."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(text: &str) -> ToolRelease {
        ToolRelease::parse(text).unwrap()
    }

    /// One record per latency.
    fn tally(latencies_ms: impl IntoIterator<Item = u64>, value_bytes: u64) -> ProducerTally {
        let mut tally = ProducerTally::default();
        for ms in latencies_ms {
            tally.latency.record(ms * 1_000_000, 1, 0);
            tally.records += 1;
            tally.bytes += value_bytes;
        }
        tally
    }

    #[test]
    fn a_window_reads_as_in_its_release() {
        // 29954 records of 100 B in 5001 ms, as the tool of 4.3.1 printed them.
        let mut seen = tally([0; 29_954], 100);
        seen.latency = Histogram::new();
        seen.latency.record(885_000_000, 1, 0);
        let line = window(&seen, 5_001_000_000, release("4.3.1"));
        assert_eq!(
            line,
            "29954 records sent, 5989.6 records/sec (0.57 MB/sec), 885.0 ms avg latency, 885.0 ms \
             max latency."
        );
        assert!(
            window(&seen, 1, release("2.1.1"))
                .ends_with("885.0 ms avg latency, 885.0 max latency.")
        );
        assert!(window(&seen, 1, release("2.2.0")).ends_with("885.0 ms max latency."));
    }

    #[test]
    fn the_total_reads_as_in_its_release() {
        let seen = tally(1..=1000, 100);
        let text = |rate: &str| {
            format!(
                "1000 records sent, {rate} records/sec (0.05 MB/sec), 500.50 ms avg latency, \
                 1000.00 ms max latency, 501 ms 50th, 951 ms 95th, 991 ms 99th, 1000 ms 99.9th."
            )
        };
        let line_of = |version: &str| total(&seen, 2_000_000_000, release(version), false);
        assert_eq!(line_of("0.8.2.2"), text("500.000000"));
        assert_eq!(line_of("3.9.1"), text("500.000000"));
        assert_eq!(line_of("4.1.1"), text("500.0"));
        assert_eq!(line_of("4.3.1"), text("500.000000"));
        let steady = total(&seen, 2_000_000_000, release("4.3.1"), true);
        assert!(steady.starts_with("1000 steady state records sent, 500.0"));
    }

    #[test]
    fn nothing_sent_reads_as_in_the_old_tool() {
        // Captured from 4.3.1 with records that are too large.
        assert_eq!(
            total(
                &ProducerTally::default(),
                5_000_000,
                release("4.3.1"),
                false
            ),
            "0 records sent, 0.000000 records/sec (0.00 MB/sec), NaN ms avg latency, 0.00 ms max \
             latency, 0 ms 50th, 0 ms 95th, 0 ms 99th, 0 ms 99.9th."
        );
    }

    #[test]
    fn the_first_tool_has_its_own_line() {
        let seen = tally([1, 2], 1 << 20);
        assert_eq!(
            total_0_8_1(&seen, 4_000_000_000),
            "2 records sent in 4000 ms ms. 0.50 records per second (0.50 mb/sec)."
        );
    }
}
