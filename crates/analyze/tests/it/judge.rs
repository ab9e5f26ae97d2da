//! The last seconds of a repeat that goes on, judged by the report's own rules.

use kgauge_analyze::live::{LiveRepeat, LiveVerdict};
use kgauge_analyze::summary::{Bottleneck, ClientWait, LatenessCause, OutageFact};
use kgauge_results::metrics::{MetricId, Readings};
use kgauge_results::run::{
    ClientSample, DataDir, DiskSample, Event, EventKind, Evidence, EvidenceKind, IdleTime,
    NetworkSample, NetworkSpeed, OutageCause, RepeatKey, RunHead, SpeedSource, Subject,
};
use kgauge_results::{RecordLateness, Recorder, RunFolder, RunRead, SliceSink};

use crate::made::{CLOSED, MS_NS, Made, PACED, SECOND_NS};

const KEY: RepeatKey = RepeatKey {
    trial: 0,
    repeat: 0,
};
/// The second up to which is judged.
const LAST: u32 = 9;

/// What is used of each second of two processors, in ms.
#[derive(Clone, Copy)]
struct Used {
    idle_ms: u64,
    target_ms: u64,
    thread_ms: u64,
}

const USED: Used = Used {
    idle_ms: 1_000,
    target_ms: 900,
    thread_ms: 400,
};

/// A repeat that goes on.
struct Live {
    _made: Made,
    frame: RunRead,
    live: LiveRepeat,
}

impl Live {
    /// With what its writers record, and a machine whose two processors have so many ms of each second to spare.
    fn of(scenario: &str, idle_ms: u64, load: impl FnOnce(&mut Recorder)) -> Live {
        let used = Used { idle_ms, ..USED };
        Live::on(scenario, used, load)
    }

    fn on(scenario: &str, used: Used, load: impl FnOnce(&mut Recorder)) -> Live {
        let made = Made::begin(scenario);
        let frame = RunRead::frame(&made.dir()).unwrap();
        let mut live = LiveRepeat::new(KEY);
        let (sink, slices) = SliceSink::memory();
        let mut recorder = Recorder::new(0, made.borders(), sink);
        load(&mut recorder);
        recorder.finish();
        slices.take().iter().for_each(|slice| live.add(slice));
        let mut live = Live {
            _made: made,
            frame,
            live,
        };
        live.each_second(|second| {
            let idle = IdleTime {
                values: Readings::from([(MetricId::CpuIdle, second * used.idle_ms * MS_NS)]),
            };
            vec![
                (Subject::Host, EvidenceKind::Idle(idle)),
                (Subject::Generator, cpu(second * 700 * MS_NS)),
                (
                    Subject::Target { broker: None },
                    cpu(second * used.target_ms * MS_NS),
                ),
                (
                    Subject::GeneratorThread { thread: 0 },
                    cpu(second * used.thread_ms * MS_NS),
                ),
            ]
        });
        live
    }

    fn see(&mut self, second: u64, subject: Subject, kind: EvidenceKind) {
        self.live.see(&Evidence {
            at_unix_ms: 0,
            repeat: Some(KEY),
            at_ns: Some(second * SECOND_NS),
            subject,
            kind,
        });
    }

    fn each_second(&mut self, of: impl Fn(u64) -> Vec<(Subject, EvidenceKind)>) {
        for second in 0..=12 {
            for (subject, kind) in of(second) {
                self.see(second, subject, kind);
            }
        }
    }

    fn judge(&self) -> Option<LiveVerdict> {
        self.live.judge(&self.frame, LAST)
    }

    fn word(&self) -> Bottleneck {
        self.judge().unwrap().limit.word
    }
}

fn cpu(user_ns: u64) -> EvidenceKind {
    EvidenceKind::Cpu {
        user_ns,
        system_ns: 0,
    }
}

/// 1,000 records a second for 12 s, of which the target acks so many, after a millisecond.
fn paced(recorder: &mut Recorder, acked_per_s: u64) {
    for index in 0..12_000_u64 {
        let at_ns = index * MS_NS;
        recorder.scheduled(at_ns, 1);
        recorder.sent(at_ns, 1);
        let is_acked = index % 1_000 < acked_per_s;
        recorder.in_flight(at_ns, at_ns + MS_NS, MS_NS);
        if is_acked {
            recorder.acked(at_ns, at_ns, at_ns + MS_NS, 1, 100);
        }
    }
}

/// A closed loop, and nobody who reads.
fn alone() -> String {
    let (writers, rest) = CLOSED.split_once("  - name: readers").unwrap();
    let (_, rest) = rest.split_once("    from: earliest\n").unwrap();
    format!("{writers}{rest}")
}

/// 100 records in flight, each acked after 10 ms.
fn full_speed(recorder: &mut Recorder) {
    for turn in 0..1_200_u64 {
        let at_ns = turn * 10 * MS_NS;
        recorder.scheduled(at_ns, 100);
        recorder.sent(at_ns, 100);
        recorder.acked(at_ns, at_ns, at_ns + 10 * MS_NS - 1, 100, 10_000);
        recorder.in_flight(at_ns, at_ns + 10 * MS_NS, 100 * 10 * MS_NS);
    }
}

#[test]
fn a_rate_that_is_kept_is_the_limit_and_one_that_is_not_is_the_targets() {
    let kept = Live::of(PACED, 1_000, |recorder| paced(recorder, 1_000));
    assert_eq!(kept.word(), Bottleneck::Load);
    let half = Live::of(PACED, 1_000, |recorder| paced(recorder, 500));
    assert_eq!(half.word(), Bottleneck::Target);
    let closed = Live::of(&alone(), 1_000, full_speed);
    assert_eq!(closed.word(), Bottleneck::Undecided);
}

#[test]
fn answers_that_take_seconds_are_no_loss_while_as_many_come_as_go() {
    let live = Live::of(PACED, 1_000, |recorder| {
        for index in 0..12_000_u64 {
            let at_ns = index * MS_NS;
            recorder.scheduled(at_ns, 1);
            recorder.sent(at_ns, 1);
            let acked_ns = at_ns + 2 * SECOND_NS;
            if acked_ns < 12 * SECOND_NS {
                recorder.acked(at_ns, at_ns, acked_ns, 1, 100);
            }
        }
    });
    assert_eq!(live.word(), Bottleneck::Load);
}

#[test]
fn a_machine_without_time_and_a_thread_without_time_are_told_apart() {
    let full = Live::of(&alone(), 50, full_speed);
    assert_eq!(full.word(), Bottleneck::Processors);
    let used = Used {
        thread_ms: 960,
        ..USED
    };
    let mut busy = Live::on(&alone(), used, full_speed);
    assert_eq!(busy.word(), Bottleneck::Generator);
    // What it spins away until the moments of sends is no work.
    for second in 0..=12 {
        busy.live.spun(second * SECOND_NS, &[second * 500 * MS_NS]);
    }
    assert_eq!(busy.word(), Bottleneck::Undecided);
}

#[test]
fn other_programs_are_told_apart_from_load_and_target() {
    let mut crowded = Live::of(&alone(), 50, full_speed);
    crowded
        .each_second(|second| vec![(Subject::Target { broker: None }, cpu(second * 100 * MS_NS))]);
    assert_eq!(crowded.word(), Bottleneck::OtherPrograms);
}

#[test]
fn a_disk_and_a_network_card_are_named_by_the_report_s_thresholds() {
    let disk = |busy_ms: u64, queued: u64| {
        let mut live = Live::of(&alone(), 1_000, full_speed);
        let dir = DataDir {
            disks: vec!["sda".to_owned()],
            ..DataDir::default()
        };
        live.see(
            0,
            Subject::Target { broker: None },
            EvidenceKind::DataDir(dir),
        );
        live.each_second(|second| {
            let look = DiskSample {
                disk: "sda".to_owned(),
                values: Readings::from([
                    (MetricId::DiskBusy, second * busy_ms * MS_NS),
                    (MetricId::DiskQueued, second * queued * SECOND_NS),
                ]),
            };
            vec![(Subject::Host, EvidenceKind::Disk(look))]
        });
        live.word()
    };
    assert_eq!(disk(950, 5), Bottleneck::Disk);
    // In use, with nothing that waits: disks that serve many at once can do more.
    assert_eq!(disk(950, 1), Bottleneck::Undecided);
    let card = |bytes: u64| {
        let mut live = Live::of(&alone(), 1_000, full_speed);
        let speed = NetworkSpeed {
            interface: "eth0".to_owned(),
            bits_per_s: 1_000_000_000,
            is_half_duplex: false,
            told_by: SpeedSource::Kernel,
        };
        live.see(0, Subject::Host, EvidenceKind::NetworkSpeed(speed));
        live.each_second(|second| {
            let look = NetworkSample {
                interface: "eth0".to_owned(),
                values: Readings::from([(MetricId::SentBytes, second * bytes)]),
            };
            vec![(Subject::Host, EvidenceKind::Network(look))]
        });
        live.word()
    };
    // 1 Gbit/s are 125 MB/s. What carries more than its speed has another one.
    assert_eq!(card(120_000_000), Bottleneck::NetworkCard);
    assert_eq!(card(140_000_000), Bottleneck::Undecided);
}

/// Every tenth record is 5 ms late.
fn late(recorder: &mut Recorder, lateness: RecordLateness) {
    for index in 0..12_000_u64 {
        let at_ns = index * MS_NS;
        let sent_ns = at_ns + if index % 10 == 0 { 5 * MS_NS } else { 10 };
        recorder.scheduled(at_ns, 1);
        if index % 10 == 0 {
            recorder.late_each(&[at_ns], lateness);
        }
        recorder.sent(sent_ns, 1);
        recorder.acked(at_ns, sent_ns, sent_ns + MS_NS, 1, 100);
    }
}

#[test]
fn late_is_the_generator_only_while_its_buffers_have_room() {
    let blame = |live: &Live| live.judge().unwrap().generator.blame;
    let own = Live::of(PACED, 1_000, |recorder| {
        late(recorder, RecordLateness::HadRoom)
    });
    assert_eq!(blame(&own), LatenessCause::Generator { is_busy: false });
    let mut waited = Live::of(PACED, 1_000, |recorder| {
        late(recorder, RecordLateness::Waited)
    });
    waited.each_second(|second| {
        let look = ClientSample {
            looks: 20 * second,
            looks_waiting: 10 * second,
            ..ClientSample::default()
        };
        vec![(Subject::Flow { flow: 0 }, EvidenceKind::Client(look))]
    });
    let waited_for = ClientWait::Response;
    assert_eq!(blame(&waited), LatenessCause::Target { waited_for });
}

#[test]
fn a_broker_that_does_not_answer_is_named_before_it_is_back() {
    let mut dead = Live::of(PACED, 50, |recorder| {
        for index in 0..7_000_u64 {
            let at_ns = index * MS_NS;
            recorder.scheduled(at_ns, 1);
            recorder.sent(at_ns, 1);
            recorder.acked(at_ns, at_ns, at_ns + MS_NS, 1, 100);
        }
        // Its buffer is full from then on: nothing is taken, and nothing answered.
        recorder.in_flight(7 * SECOND_NS, 12 * SECOND_NS, 5_000 * SECOND_NS);
    });
    assert_eq!(dead.word(), Bottleneck::Broker);
    dead.live.happened(&Event {
        at_unix_ms: 0,
        repeat: Some(KEY),
        at_ns: Some(9 * SECOND_NS),
        kind: EventKind::BrokerUnreachable {
            broker: 0,
            address: "127.0.0.1:9092".to_owned(),
            since_ns: 7 * SECOND_NS,
            cause: OutageCause::Silent,
            partitions: 2,
            partitions_without_leader: None,
        },
    });
    let outage = dead.judge().unwrap().limit.outage;
    let Some(OutageFact::Brokers { brokers }) = outage else {
        panic!("{outage:?}");
    };
    let named = brokers.iter().map(|one| (one.broker, one.address.as_str()));
    assert_eq!(named.collect::<Vec<_>>(), [(0, "127.0.0.1:9092")]);
}

#[test]
fn nothing_is_said_of_what_was_not_seen() {
    let keep = tempfile::tempdir().unwrap();
    let head = RunHead::starting("r1".to_owned(), Vec::new(), 0);
    drop(RunFolder::create(keep.path(), head).unwrap());
    let frame = RunRead::frame(keep.path()).unwrap();
    assert_eq!(LiveRepeat::new(KEY).judge(&frame, LAST), None);
    let live = Live::of(PACED, 1_000, |_| ());
    assert_eq!(
        live.live.judge(&live.frame, 1),
        None,
        "before the third second"
    );
    assert_eq!(live.judge(), None);
}
