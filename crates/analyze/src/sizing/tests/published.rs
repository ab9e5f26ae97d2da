//! The published estimates of the studies, worked out again.

use super::*;
use SizingResource as R;

/// 001 (dcos-2018): max(T / P, T / C) with T = 10 M records/s of 250 B and P = 330,000 records/s. The document rounds
/// 30.3 down to 30, and leaves out T / C.
#[test]
fn partitions_for_ten_million_records_per_second() {
    let mut trials = trials();
    for facts in &mut trials {
        facts.record_bytes = Some(250.0);
        facts.records = facts.logical_bytes / 250.0;
    }
    let mut one = trial(330e3 * 250.0, 1, 0.0);
    one.record_bytes = Some(250.0);
    one.partitions = 1;
    one.is_closed_loop = true;
    trials.push(one);
    let need = SizingNeed {
        rate_bytes_per_s: 10e6 * 250.0,
        record_bytes: 250.0,
        peak: 1.0,
        fan_out: 0.0,
        ..need()
    };
    let answer = size(&need, &trials, &[machine(64.0)]).expect("an answer");
    let partitions = answer.partitions;
    assert_eq!(partitions.partitions, 31);
    assert_eq!(partitions.rule_partitions, Some(30));
    assert_eq!(partitions.produce_bytes_per_s, Some(82.5e6));
    assert_eq!(partitions.consume_bytes_per_s, None);
    // A consumer that reads 200,000 records/s needs more: 50.
    let mut one = trial(82.5e6, 1, 1.0);
    one.record_bytes = Some(250.0);
    one.partitions = 1;
    one.setup = "one consumer".to_owned();
    one.read_bytes_repeats = vec![200e3 * 250.0];
    trials.push(one);
    let answer = size(&need, &trials, &[machine(64.0)]).expect("an answer");
    assert_eq!(answer.partitions.partitions, 50);
    // What a schedule asked for is no limit of a partition.
    let scheduled = trials.last_mut().expect("one");
    scheduled.latency_ns_p99 = Some(5e6);
    let answer = size(&need, &trials, &[machine(64.0)]).expect("an answer");
    assert_eq!(answer.partitions.partitions, 31);
}

/// 003 (aks-2019): "number of messages sent by each record size, and then by the number of replications": 50 M records
/// of 100 B are 5 GB, with three replicas 15 GB. Its machines DS3 v2 cost $0.229 an hour; its disk P10 takes 100 MB/s
/// and $17.92 a month for 128 GiB. At 835,896 records/s (three nodes, acks = -1) three replicas write 250.8 MB/s: each
/// of three brokers all 83.6 MB/s, 84 % of its disk, so that its plan has none to spare.
#[test]
fn fifty_million_records_on_three_nodes() {
    let mut trials = trials();
    for facts in &mut trials {
        facts.record_bytes = Some(100.0);
        facts.records = facts.logical_bytes / 100.0;
    }
    let rate = 835_896.0 * 100.0;
    let need = SizingNeed {
        rate_bytes_per_s: rate,
        record_bytes: 100.0,
        peak: 1.0,
        retention_s: 5e9 / rate,
        fan_out: 0.0,
        lose: 0,
        outage_s: 0.0,
        ..need()
    };
    let ds3 = MachineType {
        name: "DS3 v2".to_owned(),
        memory_bytes: 14.0 * GIB,
        network_bytes_per_s: None,
        disk_bytes_per_s: Some(100e6),
        price_per_hour: Some(0.229),
        disk_price_per_gb_month: Some(17.92 / (128.0 * GIB / 1e9)),
        ..machine(4.0)
    };
    let answer = size(&need, &trials, &[ds3]).expect("an answer");
    let choice = &answer.choices[0];
    // Of three brokers each writes 83.6 MB/s of 80 that are planned; of four three quarters, 62.7.
    assert_eq!(brokers_for(&answer, R::DiskThroughput), 4);
    near(resource(&answer, R::DiskThroughput).amount, 0.75 * rate);
    assert_eq!((choice.brokers, choice.partitions), (4, 4));
    // The 15 GB, and the newest segment of twelve replicas, which the document forgot.
    near(choice.stored_bytes, 15e9 + 12.0 * GIB);
    let price = choice.price.expect("a price");
    near(price.machines, 4.0 * 0.229 * 730.0);
    let gib = (15e9 / GIB + 12.0) / 0.7;
    near(price.disks, gib * 17.92 / 128.0);
}

/// 004 (image-queue-2016): ten million images of 400 kB a day are 4 TB, and 12 TB with three replicas, which its
/// estimate forgot; in twelve hours 231.5 images/s, ten times that at the peak: 926 MB/s, of which three replicas write
/// 2.78 GB/s.
#[test]
fn ten_million_images_a_day() {
    let mut trials = trials();
    for facts in &mut trials {
        facts.record_bytes = Some(400_000.0);
        facts.records = facts.logical_bytes / 400_000.0;
    }
    let need = SizingNeed {
        rate_bytes_per_s: 1e7 * 400_000.0 / 43_200.0,
        record_bytes: 400_000.0,
        peak: 10.0,
        retention_s: 43_200.0,
        fan_out: 1.0,
        ..need()
    };
    let disk = MachineType {
        // One SATA disk and a network card of 1 Gbit/s.
        network_bytes_per_s: Some(125e6),
        disk_bytes_per_s: Some(150e6),
        ..machine(2.0)
    };
    let answer = size(&need, &trials, &[disk]).expect("an answer");
    near(answer.load.records_per_s, 1e8 / 43_200.0);
    near(answer.load.in_bytes_per_s, 40e12 / 43_200.0);
    // An image is larger than a batch of the runs.
    near(answer.load.batches_per_s, answer.load.records_per_s);
    // 3 × 926 MB/s / 100 MB/s of network: 27.8. With 29 left, leaders of 12 or 13 partitions each: a broker leads
    // 13 / 360 and has 2 / 28 of the rest: 97 MB/s.
    assert_eq!(brokers_for(&answer, R::NetworkIn), 30);
    // It sends what it leads three times: 13 / 360 × 2,778 is 100.3 MB/s, 13 / 372 is 97.1.
    assert_eq!(brokers_for(&answer, R::NetworkOut), 31);
    // 120 MB/s of disk: with 24 left, 12 / 275 and 2 / 23 of the rest are 117 MB/s.
    assert_eq!(brokers_for(&answer, R::DiskThroughput), 25);
    let choice = &answer.choices[0];
    assert_eq!((choice.binding, choice.partitions), (R::NetworkOut, 372));
    near(choice.stored_bytes, 12e12 + 3.0 * 372.0 * GIB);
    // The document's arithmetic: 926 MB/s by one disk each.
    let rule = choice.rules.iter();
    let mut rule = rule.filter(|one| one.rule == SizingRule::BytesWithoutReplicas);
    assert_eq!(rule.next().and_then(|one| one.brokers), Some(7));
}

/// AutoMQ's page for 1 GiB/s: $138,240 for 30 days of traffic between three zones at $0.02 per GiB, without consumers.
#[test]
fn a_published_price_of_traffic_is_found_again() {
    let need = SizingNeed {
        rate_bytes_per_s: GIB,
        peak: 1.0,
        fan_out: 0.0,
        zones: 3,
        ..need()
    };
    let dear = MachineType {
        zone_price_per_gb: Some(0.02 / GIB * 1e9),
        ..machine(64.0)
    };
    let answer = size(&need, &trials(), std::slice::from_ref(&dear)).expect("an answer");
    let price = answer.choices[0].price.expect("a price");
    near(price.traffic, 138_240.0 * 730.0 / 720.0);
    // Controllers are of the cheapest type.
    let with = SizingNeed {
        controllers: 3,
        ..need
    };
    let small = MachineType {
        name: "small".to_owned(),
        price_per_hour: Some(0.1),
        ..machine(0.001)
    };
    let answer = size(&with, &trials(), &[dear, small]).expect("an answer");
    let more = answer.choices[0].price.expect("a price").machines - price.machines;
    near(more, 3.0 * 0.1 * 730.0);
}
