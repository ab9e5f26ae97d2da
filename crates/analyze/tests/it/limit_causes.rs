//! Each cause by itself, at the numbers of docs/guide/report.md and just beside them.

use std::collections::BTreeMap;

use kgauge_analyze::summary::Bottleneck;
use kgauge_results::metrics::{MetricId, Readings, RequestKind};
use kgauge_results::run::{
    BrokerSample, ClientSample, DataDir, DiskSample, Evidence, EvidenceKind, IdleTime,
    MetricsSource, PartitionOffsets, RepeatKey, Subject,
};
use kgauge_results::{AnsweredRequest, Recorder, RunRead};

use crate::limit::with_each_second;
use crate::made::{CLOSED, MS_NS, Made, PACED, SECOND_NS, closed, plan, reader, topic};
use crate::texts::{LimitText, limit};

/// The word, and what it may be where that is not decided.
fn decided(run: &RunRead) -> (Bottleneck, Vec<Bottleneck>) {
    let verdict = limit(run);
    (verdict.word, verdict.candidates)
}

fn undecided(candidates: &[Bottleneck]) -> (Bottleneck, Vec<Bottleneck>) {
    (Bottleneck::Undecided, candidates.to_vec())
}

fn only(word: Bottleneck) -> (Bottleneck, Vec<Bottleneck>) {
    (word, Vec::new())
}

/// A broker in each second: what its threads were idle, and where the time of its 100 produce requests a second went.
struct Broker {
    id: i32,
    handlers_ms: u64,
    network_ms: u64,
    /// In the request queue, local, remote, in the response queue, being sent: ms.
    parts: [u64; 5],
}

/// A broker that has time, as so many ms of each second, and requests that take 8 ms, somewhere.
const EASY: Broker = Broker {
    id: 1,
    handlers_ms: 900,
    network_ms: 900,
    parts: [1, 2, 2, 2, 1],
};

impl Broker {
    fn at(&self, second: u64) -> (Subject, EvidenceKind) {
        let sum = |ms: u64| second * 100 * ms * MS_NS;
        let [queued, local, remote, answered, sent] = self.parts;
        let produce = BTreeMap::from([
            (MetricId::RequestCount, second * 100),
            (MetricId::RequestTotal, sum(self.parts.iter().sum())),
            (MetricId::RequestQueueTime, sum(queued)),
            (MetricId::RequestLocal, sum(local)),
            (MetricId::RequestRemote, sum(remote)),
            (MetricId::ResponseQueueTime, sum(answered)),
            (MetricId::ResponseSend, sum(sent)),
        ]);
        let look = BrokerSample {
            source: MetricsSource::Jolokia,
            requests: BTreeMap::from([(RequestKind::Produce, produce)]),
            values: BTreeMap::from([
                (MetricId::HandlerIdle, second * self.handlers_ms * MS_NS),
                (MetricId::NetworkIdle, second * self.network_ms * MS_NS),
            ]),
            ..BrokerSample::default()
        };
        let subject = Subject::Target {
            broker: Some(self.id),
        };
        (subject, EvidenceKind::Broker(Box::new(look)))
    }
}

fn with_broker(broker: &Broker) -> (Made, RunRead) {
    with_each_second(|second| vec![broker.at(second)])
}

#[test]
fn network_threads_without_idle_time_are_the_limit() {
    let busy = |network_ms, parts| {
        let broker = Broker {
            network_ms,
            parts,
            ..EASY
        };
        decided(&with_broker(&broker).1)
    };
    let elsewhere = [2, 2, 1, 1, 2];
    assert_eq!(busy(100, elsewhere), only(Bottleneck::NetworkThreads));
    assert_eq!(
        busy(101, elsewhere),
        undecided(&[Bottleneck::NetworkThreads])
    );
    // With more idle time it takes half of what a request takes.
    let theirs = [2, 2, 0, 1, 3];
    assert_eq!(busy(300, theirs), only(Bottleneck::NetworkThreads));
    assert_eq!(
        busy(300, elsewhere),
        undecided(&[Bottleneck::NetworkThreads])
    );
    assert_eq!(busy(301, theirs), undecided(&[]));
    let broker = Broker {
        network_ms: 50,
        ..EASY
    };
    let verdict = limit(&with_broker(&broker).1);
    assert_eq!(verdict.sentence, "Bottleneck: broker network threads.");
    verdict.assert_evidence("Broker 1: its network threads were idle for 5.0 % of the time");
}

/// What the writers hold at each of 20 looks a second: per cent of buffer.memory, and of the requests that may be under
/// way.
fn held(second: u64, buffer: u64, in_flight: u64) -> (Subject, EvidenceKind) {
    let look = ClientSample {
        looks: 20 * second,
        buffer_bytes_sum: 20 * second * buffer * 10,
        buffer_bytes_allowed_sum: 20 * second * 1_000,
        requests_in_flight_sum: second * in_flight,
        requests_allowed_sum: second * 100,
        ..ClientSample::default()
    };
    (Subject::Flow { flow: 0 }, EvidenceKind::Client(look))
}

#[test]
fn a_full_buffer_is_the_limit_while_all_others_have_time() {
    let with = |buffer, in_flight, handlers_ms| {
        let broker = Broker {
            handlers_ms,
            ..EASY
        };
        let run =
            with_each_second(|second| vec![broker.at(second), held(second, buffer, in_flight)]);
        limit(&run.1)
    };
    let full = with(60, 59, 201);
    assert_eq!(full.word, Bottleneck::Buffer, "{full:?}");
    full.assert_evidence(
        "writers: 60 % of buffer.memory and 59 % of the allowed in-flight requests were in use.",
    );
    let of = |verdict: LimitText| (verdict.word, verdict.candidates);
    assert_eq!(of(with(59, 59, 900)), undecided(&[]));
    assert_eq!(of(with(60, 60, 900)), undecided(&[]));
    // All requests are under way: that is the limit, or what is behind it.
    assert_eq!(of(with(10, 90, 900)), undecided(&[Bottleneck::Buffer]));
    assert_eq!(of(with(10, 89, 900)), undecided(&[]));
    // A broker that has no time leaves it open which of both it is.
    let both = [Bottleneck::Buffer, Bottleneck::RequestHandlers];
    assert_eq!(of(with(60, 59, 190)), undecided(&both));
}

/// The closed run of a topic with three replicas, whose broker is so.
fn replicated(acks: &str, broker: &Broker) -> LimitText {
    let (_made, mut run) = with_broker(broker);
    let scenario = CLOSED.replace("acks: 1", &format!("acks: {acks}"));
    let mut plan = plan(&scenario);
    plan.trials[0].topic.replication = 3;
    run.plan = Some(plan);
    limit(&run)
}

#[test]
fn waiting_for_followers_is_most_of_a_requests_time() {
    let with = |handlers_ms, parts| Broker {
        handlers_ms,
        parts,
        ..EASY
    };
    let half = with(201, [1, 1, 4, 1, 1]);
    let waits = replicated("all", &half);
    assert_eq!(waits.word, Bottleneck::Replication, "{waits:?}");
    assert_eq!(
        waits.sentence,
        "Bottleneck: replication (waiting for followers)."
    );
    waits.assert_evidence(
        "writers: each ack waits for 3 replicas (acks=all), 50 % of the produce request time.",
    );
    let of = |verdict: LimitText| (verdict.word, verdict.candidates);
    // Nobody waits with other acks.
    let handlers = [Bottleneck::RequestHandlers];
    assert_eq!(of(replicated("1", &half)), undecided(&handlers));
    let less = with(900, [1, 2, 3, 1, 1]);
    assert_eq!(of(replicated("all", &less)), undecided(&[]));
    // Followers' leaders that have no time may be what they wait for.
    let busy = with(190, [1, 1, 4, 1, 1]);
    assert_eq!(
        of(replicated("all", &busy)),
        undecided(&[Bottleneck::RequestHandlers, Bottleneck::Replication])
    );
}

/// The closed run on two brokers, of which the first led all: how much of a second each was idle.
fn hot(first_ms: u64, second_ms: u64) -> (Bottleneck, Vec<Bottleneck>) {
    let broker = |id, handlers_ms| Broker {
        id,
        handlers_ms,
        ..EASY
    };
    let (first, second) = (broker(1, first_ms), broker(2, second_ms));
    let (_made, mut run) = with_each_second(|at_s| vec![first.at(at_s), second.at(at_s)]);
    let record = run.repeats[0].record.as_mut().unwrap();
    record.brokers = vec![1, 2];
    let mut led = topic();
    led.partitions = vec![PartitionOffsets {
        partition: 0,
        leader: Some(1),
        end_before: Some(0),
        end_after: Some(100_000),
    }];
    record.topics = vec![led];
    decided(&run)
}

#[test]
fn a_broker_without_time_that_leads_all_is_the_limit_while_another_one_rests() {
    assert_eq!(hot(100, 601), only(Bottleneck::HotBroker));
    // It has a little time, and its threads are no more than near their limit.
    let near = [Bottleneck::HotBroker];
    assert_eq!(hot(310, 601), undecided(&near));
    // The other one does not rest: both are busy, and one has no time.
    assert_eq!(hot(100, 590), only(Bottleneck::RequestHandlers));
}

/// A run of a writer that keeps its 1,000 records a second for 12 s, and a reader whose load `read` records.
fn read_along(read: impl Fn(&mut Recorder)) -> RunRead {
    let reader = "  - name: readers\n    kind: consume\n    consumers: 1\n    partitions: all\n    from: latest\n";
    let stages = "stages: {warm-up: 2 s, hold: 60 s, drain: 5 s}\nrepeats: 3\n";
    let shorter = "stages: {warm-up: 0 s, hold: 12 s, drain: 5 s}\nrepeats: 1\n";
    let mut made = Made::begin(&PACED.replace(stages, &format!("{reader}{shorter}")));
    made.repeat(0, |flow, recorder| match flow {
        0 => {
            for index in 0..12_000_u64 {
                let at_ns = index * MS_NS;
                recorder.scheduled(at_ns, 1);
                recorder.sent(at_ns, 1);
                recorder.acked(at_ns, at_ns, at_ns + MS_NS, 1, 100);
            }
        }
        _ => read(recorder),
    });
    made.end()
}

/// Reads so many records a second, and is so many more behind at the end of each.
fn falls_behind(recorder: &mut Recorder, seconds: u64, read: u64, more: u64) {
    for second in 0..seconds {
        let at_ns = second * SECOND_NS + 500 * MS_NS;
        recorder.fetch(at_ns, MS_NS, 100 * read, read);
        recorder.consumed(at_ns, read, 100 * read);
        recorder.behind(at_ns, more * (second + 1));
    }
}

#[test]
fn consumers_that_fall_further_and_further_behind_are_the_limit_of_a_load_that_was_kept() {
    let with = |read, more| {
        let run = read_along(|recorder| falls_behind(recorder, 12, read, more));
        limit(&run)
    };
    let half = with(500, 500);
    assert_eq!(half.word, Bottleneck::Consumer, "{half:?}");
    assert_eq!(half.sentence, "Bottleneck: slow consumers.");
    // From 500 to 6,000 in steps of 500.
    half.assert_evidence("readers: consumer lag was 3,250 records on average, 6,000 at most");
    // Of 1,000 a second a quarter is always under way: 210 in the last third is less, 315 more.
    assert_eq!(with(1_000, 20).word, Bottleneck::Load);
    assert_eq!(with(1_000, 30).word, Bottleneck::Consumer);
    // Behind, but no further.
    let run = read_along(|recorder| {
        falls_behind(recorder, 12, 1_000, 0);
        (0..12).for_each(|second| recorder.behind(second * SECOND_NS + MS_NS, 5_000));
    });
    assert_eq!(limit(&run).word, Bottleneck::Load);
}

#[test]
fn consumers_that_do_not_keep_up_with_full_speed_are_suspects_only() {
    let mut made = Made::begin(CLOSED);
    made.repeat(0, |flow, recorder| match flow {
        0 => closed(recorder),
        _ => falls_behind(recorder, 10, 5_000, 5_000),
    });
    let run = made.end();
    assert_eq!(decided(&run), undecided(&[Bottleneck::Consumer]));
}

/// The closed run, with a load thread that used so many per cent of its core.
fn with_thread(percent: u64) -> (Made, RunRead) {
    let mut made = Made::begin(CLOSED);
    made.repeat_with(
        0,
        |flow, recorder| match flow {
            0 => closed(recorder),
            _ => reader(recorder),
        },
        |record| {
            record.topics.clear();
            let cpu = record.cpu.as_mut().unwrap();
            cpu.generator_thread_ns_max = cpu.span_ns / 100 * percent;
        },
    );
    let run = made.end();
    (made, run)
}

#[test]
fn a_load_thread_without_time_is_the_limit_and_takes_the_machine_with_it() {
    let (_made, mut run) = with_thread(95);
    let busy = limit(&run);
    assert_eq!(busy.word, Bottleneck::Generator, "{busy:?}");
    busy.assert_evidence("The busiest load thread used 95 % of a core");
    assert_eq!(decided(&with_thread(94).1), undecided(&[]));
    // The machine has nothing to spare because of it.
    run.evidence.extend((0..=10).map(|second| Evidence {
        at_unix_ms: 1_000,
        repeat: Some(RepeatKey {
            trial: 0,
            repeat: 0,
        }),
        at_ns: Some(second * SECOND_NS),
        subject: Subject::Host,
        kind: EvidenceKind::Idle(IdleTime {
            values: Readings::from([(MetricId::CpuIdle, second * 40 * MS_NS)]),
        }),
    }));
    assert_eq!(decided(&run), only(Bottleneck::Generator));
}

/// The closed run, whose disk was in use for so many ms of each second, and had so many tenths of requests under way.
fn with_disk(busy_ms: u64, tenths: u64, disk: &str) -> (Bottleneck, Vec<Bottleneck>) {
    let (_made, run) = with_each_second(|second| {
        let look = DiskSample {
            disk: disk.to_owned(),
            values: Readings::from([
                (MetricId::DiskWrites, 50 * second),
                (MetricId::DiskBusy, second * busy_ms * MS_NS),
                (MetricId::DiskQueued, second * tenths * 100 * MS_NS),
            ]),
        };
        let dir = DataDir {
            path: "/data".to_owned(),
            disks: vec!["vda".to_owned()],
            ..DataDir::default()
        };
        let mut seen = vec![(Subject::Host, EvidenceKind::Disk(look))];
        if second == 0 {
            let target = Subject::Target { broker: None };
            seen.push((target, EvidenceKind::DataDir(dir)));
        }
        seen
    });
    decided(&run)
}

#[test]
fn a_disk_with_the_data_that_is_always_in_use_with_a_queue_is_the_limit() {
    assert_eq!(with_disk(900, 40, "vda"), only(Bottleneck::Disk));
    // Quick disks are always in use, and could do more.
    assert_eq!(with_disk(950, 39, "vda"), undecided(&[Bottleneck::Disk]));
    assert_eq!(with_disk(890, 90, "vda"), undecided(&[Bottleneck::Disk]));
    assert_eq!(with_disk(600, 10, "vda"), undecided(&[Bottleneck::Disk]));
    assert_eq!(with_disk(590, 10, "vda"), undecided(&[]));
    assert_eq!(with_disk(999, 90, "sdb"), undecided(&[]));
}

/// The evidence about linger.ms of a flow at a rate with linger.ms at 2. Its records are acked after `service_us`, in
/// requests of `wire_bytes`.
fn lingering(service_us: u64, wire_bytes: u64) -> Option<String> {
    let mut made = Made::begin(&PACED.replace("acks: all", "acks: all, linger.ms: 2"));
    made.repeat(0, |_, recorder| {
        for index in 0..62_000_u64 {
            let at_ns = index * MS_NS;
            let acked_ns = at_ns + service_us * 1_000;
            recorder.scheduled(at_ns, 1);
            recorder.sent(at_ns, 1);
            recorder.acked(at_ns, at_ns, acked_ns, 1, 100);
            let request = AnsweredRequest {
                wire_bytes,
                batches: 1,
                records: 1,
                round_trip_ns: Some(MS_NS / 10),
            };
            recorder.request(acked_ns, request);
        }
    });
    let verdict = limit(&made.end());
    assert_eq!(verdict.word, Bottleneck::Load, "{verdict:?}");
    let mut evidence = verdict.evidence.into_iter();
    evidence.find(|sentence| sentence.contains("linger.ms"))
}

#[test]
fn times_that_are_mostly_linger_are_reported_though_linger_limits_no_rate() {
    let sentence = lingering(2_000, 200).unwrap();
    assert_eq!(
        sentence,
        "writers: the median service time is 2.00 ms with linger.ms at 2.00 ms, so most of it is \
         lingering."
    );
    // From a third of linger.ms to one and a half of it.
    assert!(lingering(700, 200).is_some());
    assert_eq!(lingering(600, 200), None);
    assert!(lingering(2_900, 200).is_some());
    assert_eq!(lingering(3_100, 200), None);
    // Batches of 16 KiB that are half full may have left before.
    assert!(lingering(2_000, 8_000).is_some());
    assert_eq!(lingering(2_000, 8_192), None);
}
