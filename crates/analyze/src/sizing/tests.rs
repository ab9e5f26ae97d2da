//! Sizing with costs that are known: 2 ns for a byte in, 1 ns for one replicated or sent, 20 µs for a batch.

use super::*;

const GIB: f64 = 1_073_741_824.0;

/// 1 kB records in batches of 10 kB, one batch in a request, on a machine of two processors.
fn trial(in_bytes: f64, replication: u32, fan_out: f64) -> TrialFacts {
    let batches = in_bytes / 10_000.0;
    let replicated = in_bytes * f64::from(replication - 1);
    let out_bytes = in_bytes * fan_out;
    TrialFacts {
        run_id: "one".to_owned(),
        machine: SizingMachine {
            processors: Some(2),
            ..SizingMachine::default()
        },
        brokers: 3,
        partitions: 6,
        replication,
        record_bytes: Some(1_000.0),
        records: in_bytes / 1_000.0,
        logical_bytes: in_bytes,
        in_bytes,
        produce_requests: batches,
        batches,
        out_bytes,
        fetch_requests: out_bytes / 100_000.0,
        cpu_cores: Some(2e-9 * in_bytes + 1e-9 * (replicated + out_bytes) + 20e-6 * batches),
        ..TrialFacts::default()
    }
}

/// Batches of other sizes, so that bytes and batches can be told apart.
fn trials() -> Vec<TrialFacts> {
    let mut trials = vec![
        trial(10e6, 1, 0.0),
        trial(40e6, 3, 0.0),
        trial(80e6, 3, 1.0),
        trial(20e6, 2, 2.0),
        trial(60e6, 1, 1.0),
    ];
    for factor in [4.0, 0.5] {
        let mut other = trial(50e6, 3, 1.0);
        let cores = other
            .cpu_cores
            .map(|cores| cores + 20e-6 * other.batches * (factor - 1.0));
        other.batches *= factor;
        other.produce_requests *= factor;
        other.cpu_cores = cores;
        other.record_bytes = Some(1_100.0);
        trials.push(other);
    }
    trials
}

fn need() -> SizingNeed {
    SizingNeed {
        rate_bytes_per_s: 50e6,
        record_bytes: 1_000.0,
        peak: 3.0,
        retention_s: 7.0 * 86_400.0,
        fan_out: 3.0,
        replication: 3,
        lose: 1,
        tls: false,
        compression_ratio: None,
        latency_ns_p99: None,
        outage_s: 3_600.0,
        catch_up_s: 3_600.0,
    }
}

fn machine(vcpus: f64) -> MachineType {
    MachineType {
        name: "one".to_owned(),
        vcpus,
        memory_bytes: 64.0 * GIB,
        network_bytes_per_s: Some(10e9 / 8.0),
        disk_bytes_per_s: Some(500e6),
        price_per_hour: Some(1.0),
        disk_price_per_gb_month: Some(0.1),
    }
}

fn brokers_for(answer: &SizeAnswer, resource: SizingResource) -> u32 {
    let mut needs = answer.choices[0].resources.iter();
    needs
        .find(|need| need.resource == resource)
        .expect("the resource")
        .brokers
}

/// By hand. The peak is 150 MB/s in, 300 MB/s replicated, 450 MB/s out, 15,000 batches/s:
/// 0.3 + 0.3 + 0.45 + 0.3 = 1.35 cores.
#[test]
fn a_size_worked_out_on_paper() {
    let answer = size(&need(), &trials(), &[machine(1.0)]).expect("an answer");
    let load = answer.load;
    assert_eq!(load.in_bytes_per_s, 150e6);
    assert_eq!(load.replicated_bytes_per_s, 300e6);
    assert_eq!(load.out_bytes_per_s, 450e6);
    assert_eq!(load.batches_per_s, 15_000.0);
    // 1.35 cores / 60 % of a processor: 3 brokers, and one that may be lost.
    assert_eq!(brokers_for(&answer, SizingResource::Cpu), 4);
    // 450 MB/s / 80 % of 1,250 MB/s: 1 + 1. 750 MB/s out: 1 + 1.
    assert_eq!(brokers_for(&answer, SizingResource::NetworkIn), 2);
    assert_eq!(brokers_for(&answer, SizingResource::NetworkOut), 2);
    // 450 MB/s / 400 MB/s: 2 + 1.
    assert_eq!(brokers_for(&answer, SizingResource::DiskThroughput), 3);
    // 450 MB/s and 150 MB/s of what it missed, over 400 MB/s: 2, none is lost.
    assert_eq!(brokers_for(&answer, SizingResource::CatchUp), 2);
    // 13.5 GB in 62.7 GB.
    assert_eq!(brokers_for(&answer, SizingResource::PageCache), 2);
    let choice = &answer.choices[0];
    assert_eq!((choice.brokers, choice.binding), (4, SizingResource::Cpu));
    let cpu = choice.resources[1].used_part.expect("a part");
    assert!((cpu - 0.45).abs() < 1e-6, "{cpu}");
    // 50 MB/s for 604,800 s and three segments of 1 GiB, three times: 90.7 TB + 9.7 GB.
    assert!((answer.stored_bytes - 3.0 * (30.24e12 + 3.0 * GIB)).abs() < 1.0);
    let disk = answer.stored_bytes / 0.7;
    assert!((choice.disk_bytes_each - disk / 4.0).abs() < 1.0);
    let price = 730.0 * 4.0 + disk / 1e9 * 0.1;
    assert!((choice.price_per_month.expect("a price") - price).abs() < 0.01);
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
}

#[test]
fn a_skewed_cluster_needs_more() {
    let mut trials = trials();
    trials.iter_mut().for_each(|facts| facts.skew = Some(1.5));
    let answer = size(&need(), &trials, &[machine(1.0)]).expect("an answer");
    // 1.35 × 1.5 / 0.6 = 3.375: 4 + 1.
    assert_eq!(brokers_for(&answer, SizingResource::Cpu), 5);
}

/// Seed 001's formula: 10 M records/s of 100 B with 330,000 records/s on one partition are 31 partitions, not 30.
#[test]
fn partitions_come_from_one_partition() {
    let mut trials = trials();
    let mut one = trial(33e6, 1, 0.0);
    one.partitions = 1;
    one.is_closed_loop = true;
    trials.push(one);
    let need = SizingNeed {
        rate_bytes_per_s: 1e9,
        peak: 1.0,
        ..need()
    };
    let answer = size(&need, &trials, &[machine(16.0)]).expect("an answer");
    assert_eq!(answer.partitions.partitions, 31);
    assert_eq!(answer.partitions.produce_bytes_per_s, Some(33e6));
    assert_eq!(answer.partitions.consume_bytes_per_s, None);
}

/// Seed 004: ten million images of 400 kB a day are 4 TB, and 12 TB with three replicas, which its estimate forgot; in
/// twelve hours 231.5 images/s, ten times that at the peak: 926 MB/s, of which three replicas write 2.78 GB/s.
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
    assert!((answer.load.records_per_s - 2_314.8).abs() < 0.1);
    assert!((answer.load.in_bytes_per_s - 925.9e6).abs() < 0.1e6);
    // 2,777.8 MB/s / 100 MB/s of network: 28 + 1; the disks: 24 + 1.
    assert_eq!(brokers_for(&answer, SizingResource::NetworkIn), 29);
    assert_eq!(brokers_for(&answer, SizingResource::DiskThroughput), 25);
    let kept = answer.stored_bytes - 3.0 * 3.0 * GIB;
    assert!((kept - 12e12).abs() < 1.0, "{kept}");
}

#[test]
fn what_is_missing_is_named() {
    let missing =
        |need: &SizingNeed, trials: &[TrialFacts]| match size(need, trials, &[machine(1.0)]) {
            Err(SizeError::Missing { trials, .. }) => trials,
            other => panic!("{other:?}"),
        };
    let plain = [trial(1e7, 1, 0.0), trial(2e7, 1, 0.0)];
    let tls = SizingNeed {
        tls: true,
        ..need()
    };
    let expected = [
        MissingTrial::More { trials: 2 },
        MissingTrial::Replication,
        MissingTrial::Consumers,
        MissingTrial::Tls,
    ];
    assert_eq!(missing(&tls, &plain), expected);
    let goal = SizingNeed {
        latency_ns_p99: Some(20e6),
        ..need()
    };
    assert_eq!(missing(&goal, &trials()), [MissingTrial::ScheduledRate]);
    let large = SizingNeed {
        record_bytes: 2_300.0,
        ..need()
    };
    assert_eq!(
        missing(&large, &trials()),
        [MissingTrial::RecordBytes { bytes: 2_300.0 }]
    );
    let larger = SizingNeed {
        record_bytes: 2_000.0,
        ..need()
    };
    let marked = size(&larger, &trials(), &[machine(1.0)])
        .expect("an answer")
        .extrapolated;
    assert_eq!(marked.len(), 1);
    assert_eq!((marked[0].needed, marked[0].measured), (2_000.0, 1_100.0));
}

#[test]
fn trials_of_other_releases_or_machines_are_refused() {
    let mut mixed = trials();
    mixed[0].release.version = Some("3.9.1".to_owned());
    assert!(
        matches!(size(&need(), &mixed, &[machine(1.0)]), Err(SizeError::Releases(all)) if all.len() == 2)
    );
    let mut mixed = trials();
    mixed[1].machine.processors = Some(4);
    assert!(
        matches!(size(&need(), &mixed, &[machine(1.0)]), Err(SizeError::Machines(all)) if all.len() == 2)
    );
    // A trial that says nothing does not count.
    mixed[1].unusable = Some(UnusableTrial::Warming);
    assert_eq!(
        size(&need(), &mixed, &[machine(1.0)])
            .expect("an answer")
            .basis
            .trials,
        6
    );
}

#[test]
fn a_latency_goal_limits_the_rate_of_a_core() {
    let mut trials = trials();
    // 20 MB/s for a core kept 10 ms, 40 MB/s did not.
    trials[1].latency_ns_p99 = Some(10e6);
    trials[2].latency_ns_p99 = Some(50e6);
    let goal = |ns| SizingNeed {
        latency_ns_p99: Some(ns),
        ..need()
    };
    let answer = size(&goal(20e6), &trials, &[machine(1.0)]).expect("an answer");
    // 150 MB/s / 20 MB/s: 8 + 1.
    assert_eq!(brokers_for(&answer, SizingResource::Latency), 9);
    assert_eq!(answer.choices[0].binding, SizingResource::Latency);
    let error = size(&goal(5e6), &trials, &[machine(1.0)]);
    assert_eq!(error, Err(SizeError::GoalOutOfReach { best_ns: 10e6 }));
}
