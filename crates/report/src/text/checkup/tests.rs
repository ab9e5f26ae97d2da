//! A checkup in words: facts, limits and findings.

use kgauge_analyze::checkup::{
    BrokerSpeed, CheckupFact, CheckupFinding, Practice, SettingDeviation,
};
use kgauge_results::run::{CAPACITY_SHARES, LogDirCensus, SkippedPart};

use super::*;

const MS: f64 = 1e6;

fn limits() -> CheckupLimits {
    CheckupLimits {
        budget_s: 900,
        load_s: 900,
        topics_max: 81,
        record_bytes: 1_000,
        partitions: 6,
        replication: 1,
        rate_max: 200_000.0,
        rate_limit: RateLimit::Disk,
        written_bytes_max: 180_000_000_000,
        disk_bytes_max: 20_000_000_000,
    }
}

fn census() -> ClusterCensus {
    let broker = |id: i32| BrokerCensus {
        id,
        release: Some("4.3".to_owned()),
        leaders: 170,
        settings: [("default.replication.factor".to_owned(), "1".to_owned())].into(),
        log_dirs: vec![LogDirCensus {
            log_bytes: 400_000_000,
            total_bytes: Some(1_000),
            usable_bytes: Some(380),
            ..LogDirCensus::default()
        }],
        ..BrokerCensus::default()
    };
    ClusterCensus {
        brokers: vec![broker(1), broker(2), broker(3)],
        topics: 42,
        partitions: 510,
        quotas: vec![AppliedQuota {
            key: "producer_byte_rate".to_owned(),
            value: 10e6,
            level: QuotaLevel::DefaultClient,
        }],
        unread: vec![UnreadFact {
            what: "free disk space".to_owned(),
            why: "the release does not report it".to_owned(),
        }],
        ..ClusterCensus::default()
    }
}

fn speed(broker: i32, p99_ms: f64) -> BrokerSpeed {
    BrokerSpeed {
        broker,
        loads: 12,
        slow_loads: if broker == 3 { 11 } else { 0 },
        p50_ns: MS,
        p99_ns: p99_ms * MS,
        others_p99_ns: Some(2.2 * MS),
        lost: 0,
    }
}

/// A checkup with three findings.
pub(crate) fn checkup() -> CheckupSummary {
    let point = |value: &str, p99_ms: f64| CheckupPoint {
        value: value.to_owned(),
        share: None,
        planned_per_s: Some(206_000.0),
        records_per_s: 206_000.0,
        kept_rate: true,
        p50_ns: Some(1.2 * MS),
        p99_ns: Some(p99_ms * MS),
    };
    let deviation = SettingDeviation {
        setting: "default.replication.factor".to_owned(),
        value: "1".to_owned(),
        brokers: vec![1, 2, 3],
        practice: Practice::Replicas { least: 3 },
        weight: 78,
    };
    let quota = CheckupFact::Quota {
        key: "producer_byte_rate".to_owned(),
        value: 10e6,
        level: QuotaLevel::DefaultClient,
        limits: true,
    };
    let finding = |weight, fact| CheckupFinding { weight, fact };
    CheckupSummary {
        goal: "p99 <= 20 ms".to_owned(),
        limits: limits(),
        before: census(),
        after: None,
        idle: Some(point("", 3.4)),
        end_to_end: CAPACITY_SHARES
            .map(|share| CheckupPoint {
                share: Some(share),
                planned_per_s: Some(412_000.0 * share),
                ..point("", 8.0)
            })
            .to_vec(),
        acks: vec![point("1", 2.1), point("all", 8.4)],
        replication: Vec::new(),
        tail: Some(ReadPoint {
            read_per_s: 206_000.0,
            bytes_per_s: 206e6,
            written_per_s: Some(206_000.0),
            lag_max: Some(2_000.0),
        }),
        from_start: None,
        from_disk: None,
        brokers: vec![speed(1, 2.1), speed(2, 2.3), speed(3, 90.0)],
        deviations: vec![deviation.clone()],
        skipped: vec![SkippedPart {
            part: CheckupPart::Replication,
            why: SkipCause::Budget,
        }],
        limited_loads: Vec::new(),
        stop: None,
        findings: vec![
            finding(78, CheckupFact::Setting(deviation)),
            finding(
                76,
                CheckupFact::SlowBroker {
                    speed: speed(3, 90.0),
                },
            ),
            finding(74, quota),
            finding(18, CheckupFact::OneRack { brokers: 3 }),
        ],
    }
}

#[test]
fn facts_are_a_line_each() {
    let summary = checkup();
    let facts = facts(&summary);
    let of = |name: &str| {
        let found = facts.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text.as_str()).unwrap_or_default()
    };
    assert_eq!(
        of("Cluster"),
        "3 brokers without racks, release 4.3; 42 topics, 510 partitions"
    );
    assert_eq!(
        of("Replicas"),
        "all in sync; leaders per broker 170, 170, 170; default replication 1"
    );
    let mut unread = summary.clone();
    unread
        .before
        .brokers
        .iter_mut()
        .for_each(|broker| broker.settings.clear());
    let (_, text) = &super::facts(&unread)[1];
    assert!(
        text.contains("; default replication unknown, loads with "),
        "{text}"
    );
    assert_eq!(of("Disks"), "fullest 62 % (broker 3); 1.20 GB of logs");
    assert_eq!(
        of("Settings"),
        "1 deviates from good practice: default.replication.factor=1"
    );
    assert_eq!(
        of("Quotas"),
        "producer_byte_rate 10.0 MB/s per broker (any client id)"
    );
    assert_eq!(
        of("Not read"),
        "free disk space (the release does not report it)"
    );
}

#[test]
fn parts_have_their_figures_or_the_reason_for_none() {
    let summary = checkup();
    let parts = parts(&summary);
    let of = |name: &str| {
        let found = parts.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text.as_str()).unwrap_or_default()
    };
    assert_eq!(
        of("Acks"),
        "p99 2.10 ms with acks=1, 8.40 ms with acks=all at 206,000 records/s"
    );
    assert_eq!(
        of("Consumers"),
        "at the tail 206,000 of 206,000 records/s, lag at most 2,000"
    );
    let reads = |bytes_per_s| {
        summary.tail.map(|tail| ReadPoint {
            bytes_per_s,
            ..tail
        })
    };
    let from_disk = CheckupSummary {
        tail: None,
        from_start: reads(1.2e9),
        from_disk: reads(420e6),
        ..summary.clone()
    };
    assert_eq!(
        consumers(&from_disk).as_deref(),
        Some("from the start 1.20 GB/s (page cache), 420 MB/s (disk)")
    );
    assert_eq!(of("Replication"), "not measured: the budget was spent");
    assert_eq!(
        of("Brokers"),
        "round trip p99 per broker: 1: 2.10 ms, 2: 2.30 ms, 3: 90.0 ms"
    );
}

#[test]
fn findings_have_evidence_and_what_to_try() {
    let texts: Vec<FindingText> = checkup()
        .findings
        .iter()
        .map(|found| finding(&found.fact))
        .collect();
    assert_eq!(
        texts[0].evidence,
        "default.replication.factor=1 on brokers 1, 2 and 3."
    );
    assert!(
        texts[0]
            .attempt
            .starts_with("set default.replication.factor=3;")
    );
    assert_eq!(texts[1].what, "Broker 3 is much slower than the others.");
    assert_eq!(
        texts[1].evidence,
        "It takes 90.0 ms (p99) for the smallest request, the others 2.20 ms, in 11 of 12 loads."
    );
    assert_eq!(texts[2].what, "A quota limits these clients.");
    assert!(
        texts
            .iter()
            .all(|text| !text.what.is_empty() && text.attempt.ends_with('.'))
    );
}

#[test]
fn the_announcement_names_bytes_topics_and_seconds() {
    let text = announcement(&census(), &limits(), true);
    for line in [
        "topics   at most 81, one after another; 6 partitions, 1 replica",
        "writes   at most 180 GB in all, replicas included",
        "disks    at most 20.0 GB at any time, deleted topics included",
        "rate     at most 200,000 records/s of 1.00 kB (because of the disks)",
        "time     at most 15 min 00 s",
    ] {
        assert!(
            text.lines().any(|known| known.trim() == line),
            "{line}\n{text}"
        );
    }
    assert!(text.contains("85 % full"), "{text}");
    assert!(!announcement(&census(), &limits(), false).contains("85 %"));
}

#[test]
fn a_stop_says_what_was_seen_and_what_to_do() {
    let stop = HealthStop::UnderReplicated {
        partitions: 3,
        before: 0,
    };
    assert_eq!(
        stop_message(&stop),
        "stopped the load to protect the cluster: 3 partitions under-replicated, 0 before\n  check \
         the brokers, then try again with a lower --max-rate"
    );
}
