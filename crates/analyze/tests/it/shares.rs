//! Which brokers led what was written.

use kgauge_analyze::summary::{Summary, WarningKind};
use kgauge_results::run::PartitionOffsets;

use crate::made::whole_paced_run;
use crate::texts;

/// The summary of a run on three brokers whose topic's partitions were led and filled so in each repeat.
fn summed(led: &[(i32, i64)]) -> Summary {
    let (_made, mut run) = whole_paced_run();
    for repeat in &mut run.repeats {
        let record = repeat.record.as_mut().unwrap();
        record.brokers = vec![0, 1, 2];
        let topic = &mut record.topics[0];
        let partition = |(index, (leader, records)): (usize, &(i32, i64))| PartitionOffsets {
            partition: index as i32,
            leader: Some(*leader),
            end_before: Some(100),
            end_after: Some(100 + records),
        };
        topic.partitions = led.iter().enumerate().map(partition).collect();
    }
    Summary::of(&run)
}

fn skew(summary: &Summary) -> Option<String> {
    texts::warnings(&summary.trials[0], WarningKind::BrokerSkew).pop()
}

#[test]
fn one_broker_that_did_all_the_work_is_named() {
    let summary = summed(&[(1, 9_000)]);
    let shares = &summary.trials[0].broker_shares;
    assert_eq!(shares.len(), 3, "one for each repeat");
    let brokers: Vec<(i32, u32, u64)> = shares[0]
        .brokers
        .iter()
        .map(|one| (one.broker, one.partitions, one.records))
        .collect();
    assert_eq!(brokers, [(1, 1, 9_000), (0, 0, 0), (2, 0, 0)]);
    let text = skew(&summary).unwrap();
    assert!(
        text.starts_with("Broker 1 led 100 % of the records"),
        "{text}"
    );
    assert!(text.contains("2 of 3 brokers led nothing"), "{text}");
}

#[test]
fn four_of_ten_partitions_are_no_skew() {
    // 4, 3 and 3 of 10 partitions: 40 % where 33 % would be even.
    let led: Vec<(i32, i64)> = (0..10).map(|index| (index % 3, 1_000)).collect();
    let summary = summed(&led);
    assert_eq!(skew(&summary), None);
    let shares = &summary.trials[0].broker_shares[0].brokers;
    let parts: Vec<f64> = shares.iter().map(|one| one.part).collect();
    assert_eq!(parts, [0.4, 0.3, 0.3]);
}

#[test]
fn a_hot_partition_is_a_skew_though_all_lead_one() {
    let summary = summed(&[(0, 8_000), (1, 1_000), (2, 1_000)]);
    let text = skew(&summary).unwrap();
    assert!(
        text.starts_with("Broker 0 led 80 % of the records"),
        "{text}"
    );
    assert!(text.contains("busier ones"), "{text}");
}

#[test]
fn what_was_not_counted_is_not_shared_out() {
    assert_eq!(summed(&[(0, 0)]).trials[0].broker_shares, []);
    assert_eq!(skew(&summed(&[(0, 10)])), None, "ten records are no load");
}
