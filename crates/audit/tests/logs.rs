//! Whole texts: honest ones in which nothing may be found, and wrong ones.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use kgauge_audit::{Audit, AuditRule, FindingSeverity, Options, audit};

fn of(text: &str) -> Audit {
    of_options(text, &Options::default())
}

fn of_options(text: &str, options: &Options) -> Audit {
    audit(&[("log".to_owned(), text.into())], options)
}

/// Numbers without order, the same each time (SplitMix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A latency in ms of one of six shapes.
    fn latency(&mut self, shape: u64) -> f64 {
        let part = self.part();
        match shape {
            0 => 7.0,
            1 => 400.0 * part,
            2 => -30.0 * (1.0 - part).ln(),
            // Nearly all are quick, the rest waits for a stall.
            3 if part < 0.98 => 2.0 * self.part(),
            3 => 8_000.0 * self.part(),
            // Two ways that differ by a hundred.
            4 if part < 0.5 => 3.0 + self.part(),
            4 => 300.0 + 30.0 * self.part(),
            // A tail without a mean to speak of.
            _ => (1.0 - part).powf(-0.9),
        }
    }
}

/// The summary that Kafka's tool prints for these times: whole milliseconds, the order statistic at `floor(p n)`.
fn summary(mut times_ms: Vec<u64>, kept_each: usize) -> String {
    let count = times_ms.len();
    let sum: u64 = times_ms.iter().sum();
    let max = times_ms.iter().max().copied().unwrap();
    times_ms = times_ms.into_iter().step_by(kept_each).collect();
    times_ms.sort_unstable();
    let at = |part: f64| times_ms[(part * times_ms.len() as f64) as usize];
    format!(
        "{count} records sent, 50000.0 records/sec (4.77 MB/sec), {:.2} ms avg latency, {max}.00 ms max latency, {} ms \
         50th, {} ms 95th, {} ms 99th, {} ms 99.9th.",
        sum as f64 / count as f64,
        at(0.5),
        at(0.95),
        at(0.99),
        at(0.999)
    )
}

#[test]
fn true_samples_never_contradict_themselves() {
    let mut random = Random(1);
    for log in 0..1_000 {
        let shape = log % 6;
        let records = 1 + random.bits() % 3_000;
        let times = (0..records).map(|_| random.latency(shape) as u64).collect();
        let text = summary(times, 1);
        let found = of(&text);
        assert_eq!(
            (found.summaries(), found.contradictions()),
            (1, 0),
            "{text}: {:?}",
            found.findings
        );
    }
}

#[test]
fn true_samples_of_which_some_were_kept_do_not_either() {
    let mut random = Random(2);
    for shape in 0..6 {
        let times = (0..1_500_000)
            .map(|_| random.latency(shape) as u64)
            .collect();
        let text = summary(times, 3);
        assert_eq!(of(&text).contradictions(), 0, "{text}");
    }
}

/// Published in 2018: five runs of one command, of which two contradict themselves.
const PUBLISHED: &str = "\
10000000 records sent, 107101.928906 records/sec (102.14 MB/sec), 598.85 ms avg latency, 2896.00 ms max latency, 3 ms 50th, 585 ms 95th, 689 ms 99th, 710 ms 99.9th.
10000000 records sent, 63005.223133 records/sec (60.09 MB/sec), 1030.05 ms avg latency, 2867.00 ms max latency, 1108 ms 50th, 1421 ms 95th, 1594 ms 99th, 1700 ms 99.9th.
10000000 records sent, 113606.670984 records/sec (108.34 MB/sec), 564.88 ms avg latency, 2677.00 ms max latency, 8 ms 50th, 922 ms 95th, 2120 ms 99th, 2662 ms 99.9th.
";

#[test]
fn impossible_figures_are_reported_with_their_arithmetic() {
    let found = of(PUBLISHED);
    assert_eq!((found.summaries(), found.contradictions()), (3, 2));
    let first = &found.findings[0];
    assert_eq!(
        (first.level, first.check),
        (
            FindingSeverity::Contradiction,
            AuditRule::MeanAndPercentiles
        )
    );
    assert_eq!(first.places[0].to_string(), "log:1");
    assert!(
        first.text.contains("0.5 x 3 + 0.45 x 585"),
        "{}",
        first.text
    );
    assert!(
        found
            .findings
            .iter()
            .any(|one| one.check == AuditRule::Spread)
    );
}

#[test]
fn a_saturated_latency_is_the_buffer_of_the_command_above() {
    let command = "$ kafka-producer-perf-test --topic t --num-records 10000000 --record-size 1000 --throughput -1 \
                   --producer-props acks=1 buffer.memory=67108864 batch.size=8196\n";
    let text = format!("{command}{PUBLISHED}");
    let found = of(&text);
    let saturated: Vec<_> = found
        .findings
        .iter()
        .filter(|one| one.check == AuditRule::SaturatedBuffer)
        .collect();
    assert_eq!(saturated.len(), 3);
    assert!(
        saturated[0].text.contains("67108864 bytes (its command)"),
        "{}",
        saturated[0].text
    );
    // A limit that was reached: the load was the limit, and no buffer was full.
    let limited = text.replace("--throughput -1", "--throughput 60000");
    let found = of(&limited);
    assert!(
        found
            .findings
            .iter()
            .all(|one| one.check != AuditRule::SaturatedBuffer)
    );
    // Another buffer does not fit.
    let options = Options {
        buffer_bytes: Some(8 << 20),
        ..Options::default()
    };
    let found = of_options(&text, &options);
    assert!(
        found
            .findings
            .iter()
            .all(|one| one.check != AuditRule::SaturatedBuffer)
    );
}

#[test]
fn what_is_known_beside_the_text_finds_more() {
    let prose = "Three producers, asynchronous: 2,024,032 records/sec (193.0 MB/sec).\n";
    let options = Options {
        nic_bits_per_s: Some(1e9),
        brokers: Some(3),
        replication: Some(3),
        partitions: Some(10),
        ..Options::default()
    };
    let found = of_options(prose, &options);
    assert_eq!(found.contradictions(), 1);
    // 193 MiB/s into each broker, 119.2 MiB/s in a gigabit.
    assert!(
        found.findings[0].text.contains("1.62 times"),
        "{}",
        found.findings[0].text
    );
    let sampled = of_options(PUBLISHED, &options);
    let one = sampled
        .findings
        .iter()
        .find(|one| one.check == AuditRule::Sampling)
        .unwrap();
    assert!(one.text.contains("1 of 10 partitions"), "{}", one.text);
    let nine = Options {
        partitions: Some(9),
        ..options.clone()
    };
    let sampled = of_options(PUBLISHED, &nine);
    assert!(
        sampled
            .findings
            .iter()
            .all(|one| one.check != AuditRule::Sampling)
    );
    let newer = Options {
        as_of: Some((2, 4)),
        ..options
    };
    let sampled = of_options(PUBLISHED, &newer);
    assert!(
        sampled
            .findings
            .iter()
            .all(|one| one.check != AuditRule::Sampling)
    );
}

#[test]
fn equal_records_were_compressed_until_3_0() {
    let text = format!(
        "kafka-producer-perf-test --num-records 10000000 --record-size 1000 --throughput -1 --producer-props \
         compression.type=lz4\n{PUBLISHED}"
    );
    let finds = |text: &str, as_of| {
        let options = Options {
            as_of,
            ..Options::default()
        };
        let found = of_options(text, &options);
        found
            .findings
            .iter()
            .any(|one| one.check == AuditRule::Compression)
    };
    assert!(finds(&text, None) && finds(&text, Some((2, 8))));
    assert!(!finds(&text, Some((3, 0))));
    assert!(!finds(
        &text.replace("--record-size 1000", "--payload-file values --num-x 1"),
        None
    ));
}

#[test]
fn text_without_output_is_reported_and_nothing_is_guessed() {
    let remark = |bytes: &[u8]| {
        let found = audit(&[("log".to_owned(), bytes.to_vec())], &Options::default());
        assert!(found.findings.is_empty() && found.lines.is_empty());
        found.remarks.join("\n")
    };
    assert_eq!(remark(b""), "log has no line of a known tool");
    assert!(remark(&[0, 159, 255, 10, 0]).contains("is binary"));
    let cut = &PUBLISHED.as_bytes()[..130];
    assert!(
        remark(cut).contains("line 1 begins like a line of the tool"),
        "{}",
        remark(cut)
    );
    assert!(remark(b"| 1 | 259.,913 records/sec (24.79 MB/sec) |").contains("no line"));
    let comma = PUBLISHED.lines().next().unwrap().replace('.', ",");
    let found = of(&comma.replace(",9th,", ".9th."));
    assert_eq!((found.summaries(), found.contradictions()), (1, 1));
    assert!(found.remarks[0].contains("commas"), "{:?}", found.remarks);
}

#[test]
fn thousands_of_lines_are_read() {
    let text = PUBLISHED.repeat(2_000);
    let found = of(&text);
    assert_eq!((found.summaries(), found.contradictions()), (6_000, 4_000));
}
