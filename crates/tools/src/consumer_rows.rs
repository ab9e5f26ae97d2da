//! The output of the consumer tools, release by release.

use kgauge_results::Counts;

use crate::java::{DatePattern, fixed};
use crate::metric_table::metric_table;
use crate::producer_lines::MB;
use crate::release::ToolRelease;

/// The columns of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Columns {
    /// 0.8: each row contains the fetch size.
    FetchSize(u32),
    /// 0.9 to 0.11, and the old consumer of 1.x.
    Plain,
    /// 1.0 and later: rebalancing is separate from fetching (KIP-177).
    Rebalance,
}

impl Columns {
    /// Those of a release; `is_old` for the consumer that asked ZooKeeper.
    pub(crate) fn of(as_of: ToolRelease, is_old: bool, fetch_bytes: u32) -> Columns {
        if as_of < ToolRelease::of(0, 9, 0) {
            Columns::FetchSize(fetch_bytes)
        } else if as_of < ToolRelease::of(1, 0, 0) || is_old {
            Columns::Plain
        } else {
            Columns::Rebalance
        }
    }

    /// The line above the rows.
    pub(crate) fn header(self, detailed: bool) -> String {
        let times = match (self, detailed) {
            (Columns::Rebalance, true) => "time, threadId",
            (_, true) => "time",
            (_, false) => "start.time, end.time",
        };
        let size = match self {
            Columns::FetchSize(_) => ", fetch.size",
            Columns::Plain | Columns::Rebalance => "",
        };
        let more = match self {
            Columns::Rebalance => {
                ", rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
            }
            Columns::FetchSize(_) | Columns::Plain => "",
        };
        format!("{times}{size}, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec{more}")
    }
}

/// The records read up to a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReadProgress {
    /// Milliseconds since 1970.
    pub(crate) at_ms: i64,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// Time spent on joining the group and rebalances.
    pub(crate) rebalance_ms: u64,
}

/// The row at the end.
pub(crate) fn total(
    columns: Columns,
    dates: &DatePattern,
    from: ReadProgress,
    to: ReadProgress,
) -> String {
    let times = format!("{}, {}", dates.format(from.at_ms), dates.format(to.at_ms));
    row(columns, &times, from, to)
}

/// The row of an interval. Old releases number the thread where their header has no name for it.
pub(crate) fn interval(
    columns: Columns,
    dates: &DatePattern,
    from: ReadProgress,
    to: ReadProgress,
) -> String {
    let times = format!("{}, 0", dates.format(to.at_ms));
    row(columns, &times, from, to)
}

fn row(columns: Columns, times: &str, from: ReadProgress, to: ReadProgress) -> String {
    let elapsed_ms = (to.at_ms - from.at_ms) as f64;
    let (bytes, records) = (to.bytes - from.bytes, to.records - from.records);
    let per_second = |amount: f64, ms: f64| match amount == 0.0 {
        true => 0.0,
        false => amount * 1_000.0 / ms,
    };
    let (mb, records_read) = (bytes as f64 / MB, records as f64);
    let size = match columns {
        Columns::FetchSize(bytes) => format!(", {bytes}"),
        Columns::Plain | Columns::Rebalance => String::new(),
    };
    let mut text = format!(
        "{times}{size}, {}, {}, {}, {}",
        fixed(to.bytes as f64 / MB, 4),
        fixed(per_second(mb, elapsed_ms), 4),
        to.records,
        fixed(per_second(records_read, elapsed_ms), 4),
    );
    if columns == Columns::Rebalance {
        let rebalance_ms = to.rebalance_ms - from.rebalance_ms;
        let fetch_ms = elapsed_ms - rebalance_ms as f64;
        text.push_str(&format!(
            ", {rebalance_ms}, {}, {}, {}",
            fetch_ms as i64,
            fixed(per_second(mb, fetch_ms), 4),
            fixed(per_second(records_read, fetch_ms), 4),
        ));
    }
    text
}

/// The warning if records did not come in time.
pub(crate) fn gave_up(timeout_ms: u64, as_of: ToolRelease) -> String {
    let records = as_of.records_word();
    format!(
        "WARNING: Exiting before consuming the expected number of {records}: timeout ({timeout_ms} ms) \
         exceeded. You can use the --timeout option to increase the timeout."
    )
}

/// The table of `--print-metrics`.
pub(crate) fn metrics(client_id: &str, counts: &Counts, elapsed_ns: u64) -> Vec<String> {
    let rate = |count: u64| count as f64 / (elapsed_ns as f64 / 1e9);
    let per_fetch = |count: u64| count as f64 / counts.fetches as f64;
    let (bytes, records) = (counts.wire_bytes_consumed, counts.records_consumed);
    let metrics = [
        ("bytes-consumed-rate", rate(bytes)),
        ("bytes-consumed-total", bytes as f64),
        ("fetch-rate", rate(counts.fetches)),
        ("fetch-size-avg", per_fetch(bytes)),
        ("fetch-total", counts.fetches as f64),
        ("records-consumed-rate", rate(records)),
        ("records-consumed-total", records as f64),
        ("records-per-request-avg", per_fetch(records)),
    ];
    metric_table("consumer-fetch-manager-metrics", client_id, &metrics)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dates() -> DatePattern {
        DatePattern::parse("SSS").unwrap()
    }

    fn columns(version: &str) -> Columns {
        Columns::of(ToolRelease::parse(version).unwrap(), false, 1_048_576)
    }

    #[test]
    fn headers_are_those_of_their_releases() {
        assert_eq!(
            columns("0.8.2.2").header(false),
            "start.time, end.time, fetch.size, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"
        );
        assert_eq!(
            columns("0.8.2.2").header(true),
            "time, fetch.size, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"
        );
        assert_eq!(
            columns("0.11.0.3").header(false),
            "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"
        );
        assert_eq!(
            columns("4.3.1").header(false),
            "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, \
             rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
        );
        assert_eq!(
            columns("1.0.2").header(true),
            "time, threadId, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, \
             rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
        );
        assert_eq!(
            Columns::of(ToolRelease::of(1, 0, 2), true, 1),
            Columns::Plain,
            "with --zookeeper 1.0.2 prints the old columns"
        );
    }

    #[test]
    fn a_row_of_4_3_1_is_repeated_digit_by_digit() {
        // 2026-11-20 21:55:20:120, 2026-11-20 21:55:22:461, as printed for 1,000,182 records of 100 B.
        let from = ReadProgress {
            at_ms: 120,
            ..ReadProgress::default()
        };
        let to = ReadProgress {
            at_ms: 2_461,
            records: 1_000_182,
            bytes: 100_018_200,
            rebalance_ms: 946,
        };
        assert_eq!(
            total(columns("4.3.1"), &dates(), from, to),
            "120, 461, 95.3848, 40.7453, 1000182, 427245.6215, 946, 1395, 68.3762, 716976.3441"
        );
        let plain = total(columns("0.9.0"), &dates(), from, to);
        assert_eq!(plain, "120, 461, 95.3848, 40.7453, 1000182, 427245.6215");
        let old = total(columns("0.8.1"), &dates(), from, to);
        assert_eq!(
            old,
            "120, 461, 1048576, 95.3848, 40.7453, 1000182, 427245.6215"
        );
    }

    #[test]
    fn an_interval_counts_from_the_one_before() {
        let from = ReadProgress {
            at_ms: 740,
            records: 501,
            bytes: 50_100,
            rebalance_ms: 5,
        };
        let to = ReadProgress {
            at_ms: 753,
            records: 1_001,
            bytes: 100_100,
            rebalance_ms: 5,
        };
        // 500 records of 100 B in 13 ms.
        assert_eq!(
            interval(columns("4.3.1"), &dates(), from, to),
            "753, 0, 0.0955, 3.6680, 1001, 38461.5385, 0, 13, 3.6680, 38461.5385"
        );
    }

    #[test]
    fn nothing_read_is_0_and_not_a_division_by_it() {
        let at = ReadProgress {
            at_ms: 5,
            ..ReadProgress::default()
        };
        let row = total(columns("4.3.1"), &dates(), at, at);
        assert!(
            row.ends_with("0.0000, 0.0000, 0, 0.0000, 0, 0, 0.0000, 0.0000"),
            "{row}"
        );
    }

    #[test]
    fn the_warning_has_the_wording_of_its_release() {
        assert!(gave_up(2_000, ToolRelease::NEWEST).starts_with(
            "WARNING: Exiting before consuming the expected number of records: timeout (2000 ms) exceeded."
        ));
        assert!(gave_up(1, ToolRelease::of(3, 9, 1)).contains("number of messages:"));
    }
}
