//! What limited a trial, from evidence with known answers.

use std::collections::BTreeMap;

use kgauge_analyze::summary::{Bottleneck, Summary};
use kgauge_results::metrics::{MetricId, Readings, RequestKind};
use kgauge_results::run::{
    BrokerSample, CpuLimitSample, Evidence, EvidenceKind, IdleTime, ListenerSample, MetricsSource,
    RepeatKey, Subject,
};
use kgauge_results::{AnsweredRequest, Recorder, RunRead};

use crate::made::{
    CLOSED, MS_NS, Made, PACED, SECOND_NS, closed, plan, reader, whole_closed_run, whole_paced_run,
};
use crate::texts::limit;

/// The closed run on a machine of two processors of which so much had nothing to do in each second.
fn on_machine(idle_ms: u64) -> (Made, RunRead) {
    on_virtual_machine(idle_ms, 0)
}

/// The same, where a hypervisor took so much in each second.
fn on_virtual_machine(idle_ms: u64, stolen_ms: u64) -> (Made, RunRead) {
    let (made, mut run) = whole_closed_run();
    let look = |second: u64| Evidence {
        at_unix_ms: 1_000 + second * 1_000,
        repeat: Some(RepeatKey {
            trial: 0,
            repeat: 0,
        }),
        at_ns: Some(second * SECOND_NS),
        subject: Subject::Host,
        kind: EvidenceKind::Idle(IdleTime {
            values: Readings::from([
                (MetricId::CpuIdle, second * idle_ms * MS_NS),
                (MetricId::CpuStolen, second * stolen_ms * MS_NS),
            ]),
        }),
    };
    run.evidence.extend((0..=10).map(look));
    (made, run)
}

#[test]
fn a_rate_that_was_kept_is_limited_by_nothing() {
    let (_made, run) = whole_paced_run();
    let limit = limit(&run);
    assert_eq!(limit.word, Bottleneck::Load, "{limit:?}");
    assert!(
        limit
            .sentence
            .starts_with("No bottleneck: the target kept up"),
        "{}",
        limit.sentence
    );
    assert!(limit.candidates.is_empty());
}

#[test]
fn a_machine_that_other_programs_fill_is_limited_by_them() {
    // 2 x 40 ms of 2 s: 4 %.
    let (_made, run) = on_machine(80);
    let limit = limit(&run);
    assert_eq!(limit.word, Bottleneck::OtherPrograms, "{limit:?}");
    assert_eq!(
        limit.sentence,
        "Bottleneck: other load on this host took CPU. Stop it or use an idle host, and rerun."
    );
    // The generator used 0.6, the target 0.2: nothing is left unexplained.
    limit.assert_evidence(
        "Of this machine's 2 processors: the generator used 0.60, the target 0.20, other programs \
         1.12, 0.08 were idle.",
    );
}

#[test]
fn a_machine_that_the_hypervisor_took_is_limited_by_it_and_not_by_other_programs() {
    let (_made, run) = on_virtual_machine(80, 800);
    let limit = limit(&run);
    assert_eq!(limit.word, Bottleneck::Hypervisor, "{limit:?}");
    assert_eq!(
        limit.sentence,
        "Bottleneck: the hypervisor took 40 % of the CPU. Use a machine with dedicated CPUs, and \
         rerun."
    );
    limit.assert_evidence("other programs 0.32, the hypervisor took 0.80, 0.08 were idle.");
}

/// The same, where nobody but load and target uses the processors.
fn on_own_machine(idle_ms: u64) -> (Made, RunRead) {
    let (made, mut run) = on_machine(idle_ms);
    for record in run.repeats.iter_mut().filter_map(|one| one.record.as_mut()) {
        let cpu = record.cpu.as_mut().unwrap();
        cpu.target_process_ns = Some(cpu.span_ns * 13 / 10);
    }
    (made, run)
}

#[test]
fn a_machine_without_idle_processors_is_the_limit() {
    let (_made, run) = on_own_machine(80);
    let limit = limit(&run);
    assert_eq!(limit.word, Bottleneck::Processors, "{limit:?}");
    assert_eq!(limit.sentence, "Bottleneck: CPU on this machine.");
}

#[test]
fn a_machine_with_some_to_spare_is_a_suspect_and_one_with_much_is_none() {
    let (_made, run) = on_own_machine(300);
    let near = limit(&run);
    assert_eq!(near.word, Bottleneck::Undecided, "{near:?}");
    assert_eq!(near.candidates, [Bottleneck::Processors]);
    let (_made, run) = on_machine(300);
    assert_eq!(limit(&run).candidates, [Bottleneck::OtherPrograms]);
    let (_made, run) = on_machine(1_000);
    let far = limit(&run);
    assert_eq!(far.word, Bottleneck::Undecided, "{far:?}");
    assert!(far.candidates.is_empty(), "{far:?}");
}

/// The closed run on a machine with one of two processors idle, and what is added in each second of its hold.
pub(crate) fn with_each_second(
    more: impl Fn(u64) -> Vec<(Subject, EvidenceKind)>,
) -> (Made, RunRead) {
    let (made, mut run) = on_machine(1_000);
    for second in 0..=10 {
        run.evidence
            .extend(more(second).into_iter().map(|(subject, kind)| Evidence {
                at_unix_ms: 1_000 + second * 1_000,
                repeat: Some(RepeatKey {
                    trial: 0,
                    repeat: 0,
                }),
                at_ns: Some(second * SECOND_NS),
                subject,
                kind,
            }));
    }
    (made, run)
}

/// A broker with so much idle time in a second, whose 100 produce requests a second take 8 ms each: so much of it
/// local.
fn broker(second: u64, handler_idle_ms: u64, local_ms: u64) -> (Subject, EvidenceKind) {
    let sum = |ms_each: u64| second * 100 * ms_each * 1_000_000;
    let produce = BTreeMap::from([
        (MetricId::RequestCount, second * 100),
        (MetricId::RequestTotal, sum(8)),
        (MetricId::RequestQueueTime, sum(0)),
        (MetricId::RequestLocal, sum(local_ms)),
        (MetricId::RequestRemote, sum(8 - local_ms)),
    ]);
    let look = BrokerSample {
        source: MetricsSource::Jolokia,
        requests: BTreeMap::from([(RequestKind::Produce, produce)]),
        values: BTreeMap::from([
            (MetricId::HandlerIdle, second * handler_idle_ms * 1_000_000),
            (MetricId::NetworkIdle, second * 900_000_000),
        ]),
        ..BrokerSample::default()
    };
    let subject = Subject::Target { broker: Some(1) };
    (subject, EvidenceKind::Broker(Box::new(look)))
}

#[test]
fn handlers_without_idle_time_are_the_limit() {
    let (_made, run) = with_each_second(|second| vec![broker(second, 50, 1)]);
    let limit = limit(&run);
    assert_eq!(limit.word, Bottleneck::RequestHandlers, "{limit:?}");
    assert_eq!(limit.sentence, "Bottleneck: broker request handlers.");
    limit.assert_evidence(
        "Broker 1: its request handlers were idle for 5.0 % of the time; a produce request took \
         8.00 ms: 1.00 ms local, 7.00 ms remote.",
    );
}

/// Changes a sample of a broker.
fn change_broker(
    (subject, kind): (Subject, EvidenceKind),
    change: impl FnOnce(&mut BrokerSample),
) -> (Subject, EvidenceKind) {
    let EvidenceKind::Broker(mut look) = kind else {
        panic!("{kind:?} is no sample of a broker");
    };
    change(&mut look);
    (subject, EvidenceKind::Broker(look))
}

/// The same of a node of the embedded cluster, which has one thread.
fn node(second: u64, idle_ms: u64, local_ms: u64) -> (Subject, EvidenceKind) {
    change_broker(broker(second, idle_ms, local_ms), |look| {
        look.source = MetricsSource::Embedded;
        look.values.remove(&MetricId::NetworkIdle);
    })
}

#[test]
fn a_node_of_the_embedded_cluster_without_idle_time_is_the_limit_by_its_one_thread() {
    let (_made, run) = with_each_second(|second| vec![node(second, 50, 8)]);
    let limit = limit(&run);
    assert_eq!(limit.word, Bottleneck::RequestHandlers, "{limit:?}");
    limit.assert_evidence(
        "Broker 1: its single thread was idle for 5.0 % of the time; a produce request took \
         8.00 ms",
    );
}

#[test]
fn nodes_at_ease_that_wait_for_followers_are_limited_by_them() {
    let followed = |idle_ms: u64, local_ms: u64| {
        let (made, mut run) = with_each_second(|second| vec![node(second, idle_ms, local_ms)]);
        let mut followed = plan(&CLOSED.replace("acks: 1", "acks: all"));
        followed.trials[0].topic.replication = 3;
        run.plan = Some(followed);
        (made, run)
    };
    let (_made, run) = followed(800, 1);
    let waits = limit(&run);
    assert_eq!(waits.word, Bottleneck::Replication, "{waits:?}");
    let (_made, run) = followed(800, 7);
    assert_ne!(limit(&run).word, Bottleneck::Replication);
}

#[test]
fn a_listener_without_idle_time_is_the_limit_though_another_one_rests() {
    let (_made, run) = with_each_second(|second| {
        let listener = |name: &str, idle_ms: u64| ListenerSample {
            listener: name.to_owned(),
            threads: 3,
            idle_ns: second * idle_ms * 1_000_000,
        };
        vec![change_broker(broker(second, 900, 1), |look| {
            // All together are idle for half of the time.
            look.listeners = vec![listener("INTERNAL", 980), listener("TLS", 20)];
        })]
    });
    let limit = limit(&run);
    assert_eq!(limit.word, Bottleneck::NetworkThreads, "{limit:?}");
    limit.assert_evidence(
        "Broker 1: its network threads of listener TLS were idle for 2.0 % of the time",
    );
}

#[test]
fn handlers_with_little_idle_time_are_it_where_requests_spend_their_time_with_them() {
    let (_made, run) = with_each_second(|second| vec![broker(second, 200, 7)]);
    assert_eq!(limit(&run).word, Bottleneck::RequestHandlers);
    let (_made, run) = with_each_second(|second| vec![broker(second, 200, 1)]);
    let elsewhere = limit(&run);
    assert_eq!(elsewhere.word, Bottleneck::Undecided, "{elsewhere:?}");
    assert_eq!(elsewhere.candidates, [Bottleneck::RequestHandlers]);
}

#[test]
fn a_group_that_stands_still_explains_handlers_without_time() {
    let (_made, run) = with_each_second(|second| {
        let limit = CpuLimitSample {
            level: 0,
            milli_cores: 300,
            periods: 10 * second,
            held_periods: 8 * second,
        };
        let subject = Subject::Target { broker: Some(1) };
        vec![
            broker(second, 20, 7),
            (subject, EvidenceKind::CpuLimit(limit)),
        ]
    });
    let held = limit(&run);
    assert_eq!(held.word, Bottleneck::CpuLimit, "{held:?}");
    held.assert_evidence(
        "Broker 1 is limited to 30 % of a core and was throttled in 80 % of the periods.",
    );
}

#[test]
fn a_broker_that_flushes_most_of_the_time_has_a_slow_disk() {
    let (_made, run) = with_each_second(|second| {
        vec![change_broker(broker(second, 700, 7), |look| {
            // 100 a second of 7 ms.
            look.values.extend([
                (MetricId::Flushes, 100 * second),
                (MetricId::FlushTime, 700_000_000 * second),
            ]);
        })]
    });
    let disk = limit(&run);
    assert_eq!(disk.word, Bottleneck::Disk, "{disk:?}");
}

#[test]
fn a_node_whose_one_thread_flushes_has_a_slow_disk_though_no_part_is_most() {
    let flushing = |flush_us: u64| {
        with_each_second(move |second| {
            // 200 a second: 3 ms of 8 in the log, 2 before it and 3 behind it.
            let sum = |ms_each: u64| second * 200 * ms_each * 1_000_000;
            let produce = BTreeMap::from([
                (MetricId::RequestCount, second * 200),
                (MetricId::RequestTotal, sum(8)),
                (MetricId::RequestQueueTime, sum(2)),
                (MetricId::RequestLocal, sum(3)),
                (MetricId::RequestRemote, sum(0)),
                (MetricId::ResponseQueueTime, sum(3)),
            ]);
            vec![change_broker(node(second, 50, 3), |look| {
                look.requests = BTreeMap::from([(RequestKind::Produce, produce)]);
                look.values.extend([
                    (MetricId::Flushes, 200 * second),
                    (MetricId::FlushTime, 200 * flush_us * second * 1_000),
                ]);
            })]
        })
    };
    // 55 and 10 % of the thread's time.
    let (_made, run) = flushing(2_750);
    assert_eq!(limit(&run).word, Bottleneck::Disk);
    let (_made, run) = flushing(500);
    assert_eq!(limit(&run).word, Bottleneck::RequestHandlers);
}

#[test]
fn what_piles_up_and_is_acked_after_the_hold_was_not_done_in_time() {
    let mut made = Made::begin(PACED);
    // 1,000 records a second from 0 to 62 s; the broker takes 900: the last are acked 6.9 s late.
    made.repeat(0, |_, recorder| {
        for index in 0..62_000_u64 {
            let intended_ns = index * MS_NS;
            let acked_ns = index * SECOND_NS / 900 + MS_NS;
            recorder.scheduled(intended_ns, 1);
            recorder.sent(intended_ns, 1);
            recorder.acked(intended_ns, intended_ns, acked_ns, 1, 100);
        }
    });
    let run = made.end();
    let summary = Summary::of(&run);
    let trial = &summary.trials[0];
    assert_eq!(
        trial.flows[0].records.acked,
        trial.flows[0].records.scheduled
    );
    let limit = trial.limit.clone().unwrap();
    assert_eq!(limit.word, Bottleneck::Target, "{limit:?}");
}

/// The closed run, with more samples of its writers.
fn closed_with(more: impl Fn(&mut Recorder)) -> RunRead {
    let mut made = Made::begin(CLOSED);
    made.repeat_with(
        0,
        |flow, recorder| match flow {
            0 => {
                closed(recorder);
                more(recorder);
            }
            _ => reader(recorder),
        },
        |record| record.topics.clear(),
    );
    made.end()
}

#[test]
fn requests_of_one_record_are_the_limit_and_large_ones_are_not() {
    let of_request = |records: u64, wire_bytes: u64| {
        closed_with(|recorder| {
            for turn in 0..1_000_u64 {
                let request = AnsweredRequest {
                    wire_bytes,
                    batches: 1,
                    records,
                    round_trip_ns: Some(MS_NS),
                };
                recorder.request(turn * 10 * MS_NS + 1, request);
            }
        })
    };
    let small = limit(&of_request(1, 300));
    assert_eq!(small.word, Bottleneck::Batching, "{small:?}");
    small.assert_evidence("writers: 1.00 records per request");
    // A megabyte fills a request by itself.
    assert_eq!(limit(&of_request(1, 1_000_000)).word, Bottleneck::Undecided);
    assert_eq!(limit(&of_request(100, 12_000)).word, Bottleneck::Undecided);
}

#[test]
fn pauses_count_in_the_hold_and_as_a_part_of_its_time() {
    // 10 s of one producer to one broker: 100 pauses of 20 ms are a fifth of it.
    let run = closed_with(|recorder| {
        for pause in 0..100_u64 {
            recorder.throttled(pause * 100 * MS_NS, 20 * MS_NS);
        }
    });
    let quota = limit(&run);
    assert_eq!(quota.word, Bottleneck::Quota, "{quota:?}");
    quota.assert_evidence(
        "writers: brokers requested 100 pauses, 20 % of its connection time in the hold.",
    );
}

#[test]
fn a_rate_that_was_kept_through_faults_is_not_said_to_be_in_time() {
    let (_made, mut run) = whole_paced_run();
    let faults = "faults:\n  - {at: 1 s, node: 1, pause: true, for: 1 s}\n";
    run.plan = Some(plan(
        &PACED.replace("repeats: 3\n", &format!("repeats: 3\n{faults}")),
    ));
    let limit = limit(&run);
    assert_eq!(limit.word, Bottleneck::Load, "{limit:?}");
    assert!(
        limit.sentence.starts_with(
            "No lasting bottleneck: all records due were acked by the end of the hold"
        ),
        "{}",
        limit.sentence
    );
    limit.assert_evidence("1 fault during the hold; records due then may have waited");
}

#[test]
fn with_faults_nothing_is_sure() {
    let (_made, mut run) = with_each_second(|second| vec![broker(second, 50, 1)]);
    let faults = "faults:\n  - {at: 1 s, node: 1, pause: true, for: 1 s}\n";
    run.plan = Some(plan(
        &CLOSED.replace("repeats: 1\n", &format!("repeats: 1\n{faults}")),
    ));
    let doubted = limit(&run);
    assert_eq!(doubted.word, Bottleneck::Undecided, "{doubted:?}");
    assert_eq!(doubted.candidates, [Bottleneck::RequestHandlers]);
    doubted.assert_evidence("The scenario injected 1 fault");
}
