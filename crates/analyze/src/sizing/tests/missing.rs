//! What cannot be answered, and what lies outside of what was measured.

use super::*;

fn missing(need: &SizingNeed, trials: &[TrialFacts]) -> Vec<MissingTrial> {
    match size(need, trials, &[machine(1.0)]) {
        Err(SizeError::Missing { trials, .. }) => trials,
        other => panic!("{other:?}"),
    }
}

fn nearer(respect: SizingRespect, needed: f64, measured: f64) -> MissingTrial {
    MissingTrial::Nearer(Extrapolation {
        respect,
        needed,
        measured,
    })
}

#[test]
fn what_is_missing_is_named() {
    let plain = [trial(1e7, 1, 0.0), trial(2e7, 1, 0.0)];
    let all = SizingNeed {
        tls: true,
        recompressed: true,
        latency_ns_p99: Some(20e6),
        compression: Some(NeededCompression {
            codec: Some("zstd".to_owned()),
            ratio: 3.0,
            interval: None,
        }),
        ..need()
    };
    let expected = [
        MissingTrial::More { trials: 2 },
        MissingTrial::Tls,
        MissingTrial::Compression,
        MissingTrial::Recompression,
        MissingTrial::ScheduledRate,
        nearer(SizingRespect::FanOut, 3.0, 0.0),
        nearer(SizingRespect::Replication, 3.0, 1.0),
    ];
    assert_eq!(missing(&all, &plain), expected);
    // Bytes in, batches, replicas and readers need six setups.
    assert_eq!(
        missing(&need(), &trials()[1..6]),
        [MissingTrial::More { trials: 1 }]
    );
}

#[test]
fn far_extrapolation_is_refused_and_near_one_is_marked() {
    let of_size = |record_bytes| SizingNeed {
        record_bytes,
        ..need()
    };
    assert_eq!(
        missing(&of_size(2_500.0), &trials()),
        [nearer(SizingRespect::RecordBytes, 2_500.0, 1_200.0)]
    );
    assert_eq!(
        missing(&of_size(450.0), &trials()),
        [nearer(SizingRespect::RecordBytes, 450.0, 1_000.0)]
    );
    let marked = |need: &SizingNeed| {
        let answer = size(need, &trials(), &[machine(1.0)]).expect("an answer");
        let marked = answer.extrapolated.iter();
        marked
            .map(|one| (one.respect, one.needed, one.measured))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        marked(&of_size(2_000.0)),
        [(SizingRespect::RecordBytes, 2_000.0, 1_200.0)]
    );
    assert_eq!(marked(&of_size(1_100.0)), []);
    let read_often = SizingNeed {
        fan_out: 5.0,
        ..need()
    };
    assert_eq!(marked(&read_often), [(SizingRespect::FanOut, 5.0, 3.0)]);
    let replicated = SizingNeed {
        replication: 4,
        ..need()
    };
    assert_eq!(
        marked(&replicated),
        [(SizingRespect::Replication, 4.0, 3.0)]
    );
}

/// The brokers used at most 8 % of their CPU, but 45 % are planned: nobody knows how they do then.
#[test]
fn brokers_that_were_idle_show_nothing_of_full_ones() {
    let mut trials = trials();
    for facts in &mut trials {
        facts.machine.processors = Some(8);
    }
    let missing = missing(&need(), &trials);
    let [MissingTrial::Nearer(outside)] = missing[..] else {
        panic!("{missing:?}");
    };
    assert_eq!(outside.respect, SizingRespect::CpuPart);
    near(outside.needed, 0.45);
    near(outside.measured, 0.65 / 8.0);
    // A type of which less is used is still recommended.
    let answer = size(&need(), &trials, &[machine(1.0), machine(16.0)]).expect("an answer");
    assert_eq!(answer.choices.len(), 1);
    assert_eq!(answer.choices[0].machine.vcpus, 16.0);
}

#[test]
fn many_replicas_are_refused_and_few_are_marked() {
    let one = |partitions: u32, rate: f64| {
        let mut trials = trials();
        for facts in &mut trials {
            facts.partitions = partitions;
        }
        let mut slow = trial(rate, 1, 0.0);
        slow.partitions = 1;
        slow.is_closed_loop = true;
        trials.push(slow);
        trials
    };
    // 150 MB/s with 10 MB/s on one partition: 15, on four brokers 20, of which each has 15 replicas.
    let answer = size(&need(), &one(6, 10e6), &[machine(1.0)]).expect("an answer");
    let marked = answer.choices[0].extrapolated[0];
    assert_eq!(marked.respect, SizingRespect::ReplicasPerBroker);
    assert_eq!((marked.needed, marked.measured), (15.0, 6.0));
    // With 1 MB/s: 150 partitions, on four brokers 152, of which each has 114 replicas.
    assert_eq!(
        missing(&need(), &one(6, 1e6)),
        [nearer(SizingRespect::ReplicasPerBroker, 114.0, 6.0)]
    );
}

#[test]
fn trials_of_other_releases_or_machines_are_refused() {
    let mut mixed = trials();
    mixed[0].release.version = Some("3.9.1".to_owned());
    let found = size(&need(), &mixed, &[machine(1.0)]);
    assert!(matches!(found, Err(SizeError::Releases(all)) if all.len() == 2));
    let mut mixed = trials();
    mixed[1].machine.processors = Some(4);
    let found = size(&need(), &mixed, &[machine(1.0)]);
    assert!(matches!(found, Err(SizeError::Machines(all)) if all.len() == 2));
    // A kernel that keeps a little more memory for itself makes no other machine.
    let mut one = trials();
    let memory = [8_000_000_000, 8_100_000_000].into_iter().cycle();
    for (facts, bytes) in one.iter_mut().zip(memory) {
        facts.machine.memory_bytes = Some(bytes);
    }
    assert!(size(&need(), &one, &[machine(1.0)]).is_ok());
    // A trial that says nothing does not count.
    mixed[1].unusable = Some(UnusableTrial::Warming);
    let answer = size(&need(), &mixed, &[machine(1.0)]).expect("an answer");
    assert_eq!(answer.basis.trials, 7);
    assert_eq!(answer.basis.unusable[0].why, UnusableTrial::Warming);
}

#[test]
fn no_machine_is_an_answer() {
    let tiny = MachineType {
        memory_bytes: 1e6,
        ..machine(1.0)
    };
    assert_eq!(
        size(&need(), &trials(), std::slice::from_ref(&tiny)),
        Err(SizeError::NoMachine)
    );
    assert_eq!(size(&need(), &trials(), &[]), Err(SizeError::NoMachine));
    let answer = size(&need(), &trials(), &[tiny, machine(1.0)]).expect("an answer");
    assert_eq!(answer.choices.len(), 1);
}

#[test]
fn a_limited_generator_shows_costs_but_no_partition() {
    let mut trials = trials();
    let mut one = trial(33e6, 1, 0.0);
    one.partitions = 1;
    one.is_closed_loop = true;
    one.is_generator_limited = true;
    trials.push(one);
    let answer = size(&need(), &trials, &[machine(1.0)]).expect("an answer");
    assert_eq!(answer.basis.generator_limited, 1);
    assert_eq!(answer.partitions.produce_bytes_per_s, None);
}
