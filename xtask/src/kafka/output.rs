//! Reads what Kafka's tools print. Figures are taken by the names beside them, not by position.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

/// The last line of `kafka-producer-perf-test`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PerfTestResult {
    /// Records acked.
    pub(crate) records: u64,
    /// Over all of its run.
    pub(crate) records_per_s: f64,
}

/// `1000000 records sent, 487329.4 records/sec (46.48 MB/sec), ... 3 ms 50th, ...`; the lines on the
/// way there look the same but for the percentiles.
pub(crate) fn sent(stdout: &str) -> Result<PerfTestResult> {
    let read = |line: &str| {
        let (records, rest) = line.split_once(" records sent, ")?;
        let (rate, rest) = rest.split_once(" records/sec")?;
        rest.contains(" 50th").then_some(PerfTestResult {
            records: records.trim().parse().ok()?,
            records_per_s: rate.trim().parse().ok()?,
        })
    };
    let last = stdout.lines().rev().find_map(read);
    last.context("no closing line of kafka-producer-perf-test")
}

/// What `kafka-consumer-perf-test` read.
pub(crate) fn consumed(stdout: &str) -> Result<u64> {
    let cell = of_consumer(stdout, "data.consumed.in.nMsg")?;
    cell.parse()
        .with_context(|| format!("{cell:?} is not a number"))
}

/// How long it fetched, without the time until it had its partitions, seconds.
pub(crate) fn fetch_seconds(stdout: &str) -> Result<f64> {
    let cell = of_consumer(stdout, "fetch.time.ms")?;
    let ms: u64 = cell
        .parse()
        .with_context(|| format!("{cell:?} is not a number"))?;
    Ok(ms.max(1) as f64 / 1e3)
}

/// A column of its one line of figures, named in its first.
fn of_consumer(stdout: &str, name: &str) -> Result<String> {
    let cells = |line: &str| -> Vec<String> {
        line.split(',').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = stdout.lines().filter(|line| line.contains(", "));
    let is_head = |line: &&str| line.contains(name);
    let head = lines
        .find(is_head)
        .context("no head of kafka-consumer-perf-test")?;
    let column = cells(head).iter().position(|cell| cell == name);
    // Metrics may follow, with commas in them.
    let row = lines.find(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    let row = cells(row.context("no line below the head")?);
    let cell = column.and_then(|column| row.get(column));
    Ok(cell.context("the line is too short")?.clone())
}

/// What `--print-metrics` says of a metric: `group:name:{tags} : 1.000` a line. The largest, where there
/// are several of that name.
pub(crate) fn metric(stdout: &str, name: &str) -> Result<f64> {
    let read = |line: &str| {
        let (key, value) = line.rsplit_once(" : ")?;
        let of = key.split(':').nth(1)?;
        (of == name).then(|| value.trim().parse::<f64>().ok())?
    };
    let found = stdout.lines().filter_map(read);
    let largest = found.filter(|value| !value.is_nan()).reduce(f64::max);
    largest.with_context(|| format!("no figure of the metric {name}"))
}

/// `kafka-get-offsets`: `topic:partition:offset` a line. Topics have no colon in their names.
pub(crate) fn end_offsets(stdout: &str) -> BTreeMap<(String, u32), u64> {
    let read = |line: &str| {
        let mut parts = line.trim().split(':');
        let (topic, partition, offset) = (parts.next()?, parts.next()?, parts.next()?);
        let key = (topic.to_owned(), partition.parse().ok()?);
        Some((key, offset.parse().ok()?))
    };
    stdout.lines().filter_map(read).collect()
}

/// A group's standing in all of its partitions together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GroupPosition {
    /// Partitions with a committed offset.
    pub(crate) partitions: u32,
    /// Sum of the committed offsets.
    pub(crate) committed: u64,
    /// Sum of the lags.
    pub(crate) lag: u64,
}

/// `kafka-consumer-groups --describe`: columns named in the head, `-` for what is not known.
pub(crate) fn standing(stdout: &str, group: &str) -> Result<GroupPosition> {
    let words =
        |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
    let mut lines = stdout.lines().map(words);
    let head = lines.find(|cells| cells.first().is_some_and(|cell| cell == "GROUP"));
    let head = head.context("no head of kafka-consumer-groups")?;
    let column = |name: &str| {
        let at = head.iter().position(|cell| cell == name);
        at.with_context(|| format!("no column {name}"))
    };
    let (committed, lag) = (column("CURRENT-OFFSET")?, column("LAG")?);
    let mut standing = GroupPosition::default();
    for cells in lines.filter(|cells| cells.first().is_some_and(|cell| cell == group)) {
        let number = |at: usize| {
            let cell = cells.get(at).context("the line is too short")?;
            cell.parse::<u64>()
                .with_context(|| format!("{cell:?} is not a number"))
        };
        standing.partitions += 1;
        standing.committed += number(committed)?;
        standing.lag += number(lag)?;
    }
    ensure!(standing.partitions > 0, "no line of group {group}");
    Ok(standing)
}

/// `kafka-topics --describe`: partitions by its first line, and those of them with a leader.
pub(crate) fn partitions(stdout: &str) -> Result<(u32, u32)> {
    let after = |name: &str, line: &str| {
        let (_, rest) = line.split_once(name)?;
        rest.split_whitespace().next().map(str::to_owned)
    };
    let count = stdout
        .lines()
        .find_map(|line| after("PartitionCount:", line));
    let count = count.context("no PartitionCount")?;
    let leaders = stdout.lines().filter_map(|line| after("\tLeader:", line));
    let led = leaders
        .filter(|leader| leader.parse::<u32>().is_ok())
        .count();
    Ok((count.parse()?, u32::try_from(led)?))
}

/// The settings that `kafka-configs --describe --all` prints, as `name=value`.
pub(crate) fn settings(stdout: &str) -> Vec<String> {
    let lines = stdout
        .lines()
        .filter_map(|line| line.split_once(" sensitive="));
    lines
        .map(|(setting, _)| setting.trim().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_of_the_producer_tool_is_read_not_one_on_the_way() {
        let text = "\
250001 records sent, 50000.2 records/sec (4.77 MB/sec), 12.0 ms avg latency, 310.0 ms max latency.
1000000 records sent, 487329.434698 records/sec (46.48 MB/sec), 5.61 ms avg latency, 310.00 ms max \
latency, 3 ms 50th, 20 ms 95th, 41 ms 99th, 52 ms 99.9th.
";
        let expected = PerfTestResult {
            records: 1_000_000,
            records_per_s: 487_329.434_698,
        };
        assert_eq!(sent(text).unwrap(), expected);
        let on_the_way = text.lines().next().unwrap();
        assert!(sent(on_the_way).is_err());
    }

    #[test]
    fn the_consumer_tools_count_is_found_by_its_column() {
        let text = "\
start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, \
rebalance.time.ms, fetch.time.ms
2026-11-20 10:00:00:000, 2026-11-20 10:00:02:000, 95.3674, 47.6837, 1000000, 500000.0000, 500, 1500
consumer-node-metrics:request-rate:{client-id=perf, node-id=node-1} : 0.100
";
        assert_eq!(consumed(text).unwrap(), 1_000_000);
        assert!((fetch_seconds(text).unwrap() - 1.5).abs() < 1e-9);
        assert!(consumed(text.lines().next().unwrap()).is_err());
        assert!(consumed("").is_err());
    }

    #[test]
    fn a_metric_is_found_by_its_name_and_the_largest_counts() {
        let text = "\
Metric Name                                                     Value
producer-metrics:produce-throttle-time-avg:{client-id=perf} : 7.500
producer-metrics:produce-throttle-time-max:{client-id=perf} : 12.000
producer-metrics:produce-throttle-time-max:{client-id=b}    : 13.000
producer-metrics:produce-throttle-time-max:{client-id=c}    : NaN
";
        assert!((metric(text, "produce-throttle-time-max").unwrap() - 13.0).abs() < 1e-9);
        assert!(metric(text, "fetch-throttle-time-max").is_err());
    }

    #[test]
    fn end_offsets_are_read_and_other_lines_are_not() {
        let offsets = end_offsets("a warning\nt:0:10\nt:1:5\nu:0:\n");
        let expected = [(("t".to_owned(), 0), 10), (("t".to_owned(), 1), 5)];
        assert_eq!(offsets, BTreeMap::from(expected));
    }

    #[test]
    fn a_groups_lags_add_up_and_an_unknown_one_is_an_error() {
        let text = "
GROUP  TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID
g      t      0          10              12              2    -            -     -
g      t      1          5               5               0    -            -     -
";
        let expected = GroupPosition {
            partitions: 2,
            committed: 15,
            lag: 2,
        };
        assert_eq!(standing(text, "g").unwrap(), expected);
        assert!(standing(text, "h").is_err());
        assert!(standing(&text.replace("10 ", "-  "), "g").is_err());
    }

    #[test]
    fn partitions_without_leader_are_told_apart() {
        let text = "\
Topic: t\tTopicId: x\tPartitionCount: 2\tReplicationFactor: 1\tConfigs: \n\
\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1
\tTopic: t\tPartition: 1\tLeader: none\tReplicas: 1\tIsr: \n";
        assert_eq!(partitions(text).unwrap(), (2, 1));
    }

    #[test]
    fn settings_are_what_stands_before_their_synonyms() {
        let stdout = "All configs for topic t are:\n  cleanup.policy=compact,delete sensitive=false \
                      synonyms={}\n  leader.replication.throttled.replicas= sensitive=false synonyms={}\n";
        assert_eq!(
            settings(stdout),
            [
                "cleanup.policy=compact,delete",
                "leader.replication.throttled.replicas="
            ]
        );
    }
}
