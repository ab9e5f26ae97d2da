//! Lines of `kafka-producer-perf-test`, of every release.
//!
//! A summary since 0.8.2 reads `N records sent, R records/sec (M MB/sec), A ms avg latency, X ms max latency, P ms
//! 50th, P ms 95th, P ms 99th, P ms 99.9th.`. A window, every five seconds, ends after the max. A MB is 2^20 bytes.

use crate::distribution::PublishedTimes;
use crate::number::{digits_from, number};

/// The figures of a line. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProducerLine {
    /// Records sent.
    pub records: u64,
    /// Records per second.
    pub records_per_s: f64,
    /// 2^20 bytes of keys and values per second.
    pub mib_per_s: f64,
    /// The mean.
    pub mean_ms: f64,
    /// The maximum.
    pub max_ms: f64,
    /// p50, p95, p99, p99.9 of a summary; `None` for a window.
    pub percentiles_ms: Option<[f64; 4]>,
    /// Fractions follow commas.
    pub has_commas: bool,
}

impl ProducerLine {
    /// The times of a summary.
    pub(crate) fn latency(&self) -> Option<PublishedTimes> {
        let percentiles = self.percentiles_ms?;
        Some(PublishedTimes {
            name: "latency",
            mean_ms: self.mean_ms,
            points: [0.5, 0.95, 0.99, 0.999]
                .into_iter()
                .zip(percentiles)
                .collect(),
            max_ms: self.max_ms,
        })
    }

    /// Bytes of a record's key and value, by the rates.
    pub fn record_bytes(&self) -> Option<f64> {
        (self.records_per_s > 0.0).then(|| self.mib_per_s * 1_048_576.0 / self.records_per_s)
    }
}

/// The result of a search in a line of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PerfTestLine {
    Line(ProducerLine),
    /// The text begins like a line of the tool and ends differently.
    Cut,
}

/// The text after the number of records.
const MARK: &str = " records sent, ";

/// Finds the tool's output in a line of text, which may have other text around it.
pub(crate) fn find(text: &str) -> Option<PerfTestLine> {
    let at = text.find(MARK)?;
    let from = digits_from(&text[..at]);
    // `1,000 records sent` is prose.
    let before = text[..from].bytes().next_back();
    if from == at || before.is_some_and(|byte| matches!(byte, b',' | b'.')) {
        return Some(PerfTestLine::Cut);
    }
    Some(parse(&text[from..]).map_or(PerfTestLine::Cut, PerfTestLine::Line))
}

/// Reads numbers and the words between them.
struct Reader<'a> {
    rest: &'a str,
    has_commas: bool,
}

impl Reader<'_> {
    fn number(&mut self) -> Option<f64> {
        let (number, rest) = number(self.rest, true)?;
        self.has_commas |= number.has_comma;
        self.rest = rest;
        Some(number.value)
    }

    fn words(&mut self, words: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(words)?;
        Some(())
    }

    /// A number and the words after it.
    fn figure(&mut self, words: &str) -> Option<f64> {
        let value = self.number()?;
        self.words(words)?;
        Some(value)
    }
}

fn parse(text: &str) -> Option<ProducerLine> {
    let (records, rest) = number(text, false)?;
    let mut reader = Reader {
        rest,
        has_commas: false,
    };
    reader.words(MARK)?;
    let records_per_s = reader.figure(" records/sec (")?;
    let mib_per_s = reader.figure(" MB/sec), ")?;
    let mean_ms = reader.figure(" ms avg latency, ")?;
    let max_ms = reader.number()?;
    // Windows of releases before 0.11 have no unit here.
    let _ = reader.words(" ms");
    reader.words(" max latency")?;
    let percentiles_ms = match reader.words(", ") {
        // A window ends here. A summary that ends here was cut off.
        None => {
            reader.words(".")?;
            None
        }
        Some(()) => Some([
            reader.figure(" ms 50th, ")?,
            reader.figure(" ms 95th, ")?,
            reader.figure(" ms 99th, ")?,
            reader.figure(" ms 99.9th")?,
        ]),
    };
    Some(ProducerLine {
        records: records.value as u64,
        records_per_s,
        mib_per_s,
        mean_ms,
        max_ms,
        percentiles_ms,
        has_commas: reader.has_commas,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "10000000 records sent, 107101.928906 records/sec (102.14 MB/sec), 598.85 ms avg latency, \
                           2896.00 ms max latency, 3 ms 50th, 585 ms 95th, 689 ms 99th, 710 ms 99.9th.";

    fn line(text: &str) -> ProducerLine {
        match find(text) {
            Some(PerfTestLine::Line(line)) => line,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_summary_is_read_wherever_it_stands() {
        let plain = line(SUMMARY);
        assert_eq!(plain.records, 10_000_000);
        assert_eq!(plain.percentiles_ms, Some([3.0, 585.0, 689.0, 710.0]));
        assert_eq!((plain.mean_ms, plain.max_ms), (598.85, 2_896.0));
        // 102.14 MiB/s of 107,102 records/s are 1,000 bytes each.
        assert!((plain.record_bytes().unwrap() - 1_000.0).abs() < 0.1);
        assert_eq!(line(&format!("- 1KB: {SUMMARY} (second try)")), plain);
        let comma = "5 records sent, 452324,95 records/sec (107,84 MB/sec), 94,85 ms avg latency, 776,00 ms max \
                     latency, 86 ms 50th, 330 ms 95th, 436 ms 99th, 533 ms 99.9th.";
        assert!(line(comma).has_commas && !plain.has_commas);
        assert_eq!(line(comma).mean_ms, 94.85);
    }

    #[test]
    fn windows_of_old_and_new_releases_are_read() {
        let old = "3845743 records sent, 769148.6 records/sec (183.38 MB/sec), 9.1 ms avg latency, 41.0 max latency.";
        assert_eq!((line(old).max_ms, line(old).percentiles_ms), (41.0, None));
        let new = "20269 records sent, 4053.8 records/sec (38.66 MB/sec), 505.1 ms avg latency, 605.0 ms max latency.";
        assert_eq!(line(new).max_ms, 605.0);
    }

    #[test]
    fn a_line_that_is_cut_off_is_reported() {
        let begins = SUMMARY.find("107101").unwrap();
        for end in begins..SUMMARY.len() - 1 {
            assert_eq!(find(&SUMMARY[..end]), Some(PerfTestLine::Cut), "{end}");
        }
        assert_eq!(find("nothing was sent"), None);
        assert_eq!(
            find("about 1,000 records sent, I think"),
            Some(PerfTestLine::Cut)
        );
    }
}
