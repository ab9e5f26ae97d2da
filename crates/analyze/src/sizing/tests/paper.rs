//! Sizes that are worked out on paper.

use super::*;
use SizingResource as R;

/// The peak is 150 MB/s in, 300 MB/s replicated, 450 MB/s out, 15,000 batches/s: 0.3 + 0.3 + 0.45 + 0.3 = 1.35 cores.
#[test]
fn a_size_worked_out_on_paper() {
    let answer = size(&need(), &trials(), &[machine(1.0)]).expect("an answer");
    let load = answer.load;
    near(load.in_bytes_per_s, 150e6);
    near(load.replicated_bytes_per_s, 300e6);
    near(load.out_bytes_per_s, 450e6);
    near(load.batches_per_s, 15_000.0);
    // 1.35 cores / 60 % of a processor: three brokers, and one that may be lost.
    assert_eq!(brokers_for(&answer, R::Cpu), 4);
    // Three brokers are enough for all else, as three replicas ask for: two are left, and hold everything once each.
    for other in [R::Replicas, R::NetworkIn, R::NetworkOut, R::DiskThroughput] {
        assert_eq!(brokers_for(&answer, other), 3, "{other:?}");
    }
    let choice = &answer.choices[0];
    assert_eq!((choice.brokers, choice.binding), (4, R::Cpu));
    // Four partitions on three brokers after the loss are uneven; twelve are not.
    assert_eq!(choice.partitions, 12);
    let partitions = choice.partitions_interval;
    assert_eq!((partitions.low, partitions.high), (12.0, 12.0));
    near(resource(&answer, R::Cpu).amount, 0.45);
    // Each of the three that are left has a replica of everything, leads a third, and sends that five times.
    near(resource(&answer, R::NetworkIn).amount, 150e6);
    near(resource(&answer, R::NetworkOut).amount, 250e6);
    near(resource(&answer, R::DiskThroughput).amount, 150e6);
    // Without measured memory, 6 GB of heap; and 30 s of writes.
    near(resource(&answer, R::Memory).amount, 6e9 + 4.5e9);
    near(resource(&answer, R::Partitions).amount, 9.0);
    assert_eq!(resource(&answer, R::Storage).brokers, None);
    // 50 MB/s for 604,800 s and twelve segments of 1 GiB, three times: 90.72 TB + 38.7 GB, a quarter each.
    let kept = 30.24e12 + 12.0 * GIB;
    near(choice.stored_bytes, 3.0 * kept);
    near(choice.disk_bytes_each, 0.75 * kept / 0.7);
    let price = choice.price.expect("a price");
    near(price.machines, 730.0 * 4.0);
    near(price.disks, 3.0 * kept / 0.7 / 1e9 * 0.1);
    near(price.traffic, 0.0);
    // The trials follow the model exactly, so nothing is uncertain.
    assert!(choice.brokers_interval.low == 4.0 && choice.brokers_interval.high == 4.0);
    assert_eq!(
        (answer.extrapolated.len(), choice.extrapolated.len()),
        (0, 0)
    );
}

/// Four brokers without a loss: each leads a quarter of 150 MB/s, has replicas of three quarters, and missed as much at
/// 50 MB/s. It receives 112.5 + 37.5 MB/s and needs 1.35 / 4 + 0.0375 cores.
#[test]
fn a_broker_that_was_down_catches_up() {
    let answer = size(&need(), &trials(), &[machine(1.0)]).expect("an answer");
    near(resource(&answer, R::CatchUp).amount, 0.3375 + 0.0375);
    // With five hours to be made up in one, the network takes 112.5 + 187.5 MB/s; the card has 1,250, the disk 300.
    let slow = MachineType {
        disk_bytes_per_s: Some(300e6),
        ..machine(64.0)
    };
    let long = SizingNeed {
        outage_s: 5.0 * 3_600.0,
        ..need()
    };
    let answer = size(&long, &trials(), &[slow]).expect("an answer");
    // Of three brokers each has all 150 + 250 MB/s, of four 112.5 + 187.5 of 240, of five 90 + 150.
    assert_eq!(brokers_for(&answer, R::CatchUp), 5);
    assert_eq!(answer.choices[0].binding, R::CatchUp);
}

/// After a loss of consumers, 150 MB/s are read again beside 750 MB/s sent: of three brokers each sends 300 MB/s.
#[test]
fn consumers_that_were_down_catch_up() {
    let fast = MachineType {
        network_bytes_per_s: Some(360e6),
        disk_bytes_per_s: None,
        ..machine(64.0)
    };
    let answer = size(&SizingNeed { lose: 0, ..need() }, &trials(), &[fast]).expect("an answer");
    // 250 of 288 MB/s in normal times, but 300 of them then: four brokers send 225 each.
    assert_eq!(brokers_for(&answer, R::NetworkOut), 3);
    assert_eq!(brokers_for(&answer, R::CatchUp), 4);
}

#[test]
fn rules_of_thumb_are_worked_out_too() {
    let answer = size(&need(), &trials(), &[machine(4.0)]).expect("an answer");
    let of_rule = |rule| {
        let mut rules = answer.choices[0].rules.iter();
        rules
            .find(|answer| answer.rule == rule)
            .and_then(|answer| answer.brokers)
    };
    // 143.05 MiB/s / 5 = 28.6 and 429.2 MiB/s / 15 = 28.6 processors: 8 machines of 4.
    assert_eq!(of_rule(SizingRule::CoreRates), Some(8));
    // 150 MB/s × (3 + 2) / 1,250 MB/s, and 450 MB/s / 500 MB/s: 1.
    assert_eq!(of_rule(SizingRule::Throughput), Some(1));
    assert_eq!(of_rule(SizingRule::BytesWithoutReplicas), Some(1));
    // 150 MB/s / (4 × 154 / 64 MB/s) = 15.6.
    assert_eq!(of_rule(SizingRule::MskRate), Some(16));
}

#[test]
fn a_skewed_cluster_needs_more() {
    let mut trials = trials();
    trials.iter_mut().for_each(|facts| facts.skew = Some(1.5));
    let answer = size(&need(), &trials, &[machine(1.0)]).expect("an answer");
    // 1.35 × 1.5 / 0.6 = 3.375: 4 + 1.
    assert_eq!(brokers_for(&answer, R::Cpu), 5);
    // What four partitions on three brokers explain is not counted again.
    for facts in &mut trials {
        facts.partitions = 4;
    }
    let answer = size(&need(), &trials, &[machine(1.0)]).expect("an answer");
    assert_eq!(answer.habits.skew, 1.0);
}

#[test]
fn memory_is_that_of_the_runs() {
    let mut trials = trials();
    for (facts, gb) in trials.iter_mut().zip([1.0, 1.2, 1.4].iter().cycle()) {
        facts.resident_bytes = Some(gb * 1e9);
    }
    let small = MachineType {
        memory_bytes: 4e9,
        ..machine(1.0)
    };
    let answer = size(&need(), &trials, &[small]).expect("an answer");
    // 30 s of 150 MB/s do not fit into 4 GB. With a broker more, each has a replica of three quarters: 1.4 + 3.4 GB; of
    // seven, of which six are left, half: 1.4 + 2.25.
    assert_eq!(answer.choices[0].binding, R::Memory);
    let memory = resource(&answer, R::Memory);
    assert_eq!(memory.brokers, Some(7));
    assert!(memory.amount_interval.high >= memory.amount);
}

#[test]
fn a_latency_goal_limits_the_use_of_the_cpu() {
    let mut trials = trials();
    // 24 % of the CPU kept 10 ms, 56 % did not.
    for (index, p99) in [(1, 10e6), (2, 50e6)] {
        trials[index].latency_ns_p99 = Some(p99);
        trials[index].setup = "curve".to_owned();
    }
    let goal = |ns| SizingNeed {
        latency_ns_p99: Some(ns),
        ..need()
    };
    let answer = size(&goal(20e6), &trials, &[machine(1.0)]).expect("an answer");
    // 1.35 cores / 0.24 = 5.6: six that are left; 35 partitions, of which one leads 6.
    assert_eq!(brokers_for(&answer, R::Latency), 7);
    assert_eq!(answer.choices[0].partitions, 35);
    assert_eq!(answer.choices[0].binding, R::Latency);
    let reading = answer.choices[0].latency.expect("a reading");
    near(reading.planned_part, 1.35 * 6.0 / 35.0);
    near(reading.measured_part, 0.24);
    assert_eq!(reading.latency_ns_p99, 10e6);
    // The true edge is somewhere up to 56 %, so fewer may do.
    let interval = answer.choices[0].brokers_interval;
    assert!(interval.low < 7.0 && interval.high == 7.0, "{interval:?}");
    let error = size(&goal(5e6), &trials, &[machine(1.0)]);
    let expected = SizeError::GoalOutOfReach {
        goal_ns: 5e6,
        best_ns: 10e6,
    };
    assert_eq!(error, Err(expected));
}

/// Costs are 10 % apart, records compress differently, and brokers are skewed by chance: everything has an interval.
#[test]
fn every_estimated_resource_has_an_interval() {
    let mut trials = trials();
    for (index, facts) in trials.iter_mut().enumerate() {
        let up = if index % 2 == 0 { 1.0 } else { -1.0 };
        facts.cpu_cores = facts.cpu_cores.map(|cores| cores * (1.0 + 0.05 * up));
        facts.skew = Some(1.1 + 0.1 * up);
        facts.resident_bytes = Some(1e9 + 0.1e9 * up);
    }
    let need = SizingNeed {
        compression: Some(NeededCompression {
            codec: None,
            ratio: 1.01,
            interval: Some(crate::statistics::Interval {
                low: 0.91,
                high: 1.11,
            }),
        }),
        ..need()
    };
    let large = MachineType {
        disk_bytes: Some(100e12),
        ..machine(4.0)
    };
    let answer = size(&need, &trials, &[large]).expect("an answer");
    let choice = &answer.choices[0];
    for of in [
        R::Cpu,
        R::NetworkIn,
        R::NetworkOut,
        R::DiskThroughput,
        R::Storage,
        R::Memory,
        R::CatchUp,
    ] {
        let found = resource(&answer, of);
        let interval = found.amount_interval;
        assert!(
            interval.low < found.amount && found.amount < interval.high,
            "{of:?}: {found:?}"
        );
        assert!(interval.high / interval.low < 2.0, "{of:?}: {found:?}");
    }
    let disk = choice.disk_interval;
    assert!(disk.low < choice.disk_bytes_each && choice.disk_bytes_each < disk.high);
    let price = choice.price_interval.expect("an interval");
    assert!(price.low < price.high);
}

/// 6 ns of CPU for each byte: 2 in, 2 replicated, 2 for its batch.
#[test]
fn the_capacity_of_a_given_cluster() {
    let need = SizingNeed {
        fan_out: 0.0,
        ..need()
    };
    let cluster = |machine: MachineType, brokers, partitions| GivenCluster {
        machine,
        brokers,
        partitions,
    };
    let bare = MachineType {
        network_bytes_per_s: None,
        disk_bytes_per_s: None,
        ..machine(0.5)
    };
    let capacity =
        |cluster: &GivenCluster| predict_capacity(&need, &trials(), cluster).expect("a capacity");
    let found = capacity(&cluster(bare.clone(), 3, 12));
    near(found.bytes_per_s, 1.5 / 6e-9);
    assert_eq!(found.binding, R::Cpu);
    near(found.interval.low, found.bytes_per_s);
    // Of four partitions one broker leads two: half of the load instead of a third.
    near(capacity(&cluster(bare, 3, 4)).bytes_per_s, 1.0 / 6e-9);
    // Each of three brokers writes everything.
    let disk = MachineType {
        disk_bytes_per_s: Some(20e6),
        ..machine(64.0)
    };
    let found = capacity(&cluster(disk, 3, 12));
    near(found.bytes_per_s, 20e6);
    assert_eq!(found.binding, R::DiskThroughput);
}
