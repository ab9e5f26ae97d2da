//! Run folders made without a cluster: samples with known answers go through the real recorder.

use std::path::{Path, PathBuf};

use kgauge_results::folder::write_histogram_logs;
use kgauge_results::run::{
    BrokerRecord, BuildRecord, CpuRecord, Environment, Event, EventKind, Evidence, EvidenceKind,
    FlowRecord, MachineRecord, PartitionOffsets, RepeatKey, RepeatOutcome, RepeatRecord,
    Replication, RunHead, RunStatus, StageSpan, Subject, TargetKind, TargetNote, TargetRecord,
    TopicFacts, TopicRecord,
};
use kgauge_results::{AnsweredRequest, Recorder, RunFolder, RunRead, Stage, StageBorders};
use kgauge_scenario::{ClusterFacts, Plan, PlanRequest, Scenario, Size};

pub(crate) const SECOND_NS: u64 = 1_000_000_000;
pub(crate) const MS_NS: u64 = 1_000_000;

/// An open loop at a constant rate.
pub(crate) const PACED: &str = "\
kgauge: 1
name: paced
question: How late are the records?
target: {brokers: 1}
topic: {partitions: 2, replication: 1}
flows:
  - name: writers
    kind: produce
    producers: 1
    shape: {constant: 1000/s}
    record: {size: 100 B}
    settings: {acks: all}
stages: {warm-up: 2 s, hold: 60 s, drain: 5 s}
repeats: 3
goals:
  - writers.latency.p99 <= 450 ms
  - writers.throughput >= 2000/s
published:
  - figure: writers.throughput
    value: 1050 records/s
    source: a paper
  - figure: writers.throughput
    value: 100 records/s
    source: another paper
";

/// A closed loop and a reader.
pub(crate) const CLOSED: &str = "\
kgauge: 1
name: closed
question: How many records a second?
target: {brokers: 1}
topic: {partitions: 2, replication: 1}
flows:
  - name: writers
    kind: produce
    producers: 1
    shape: max
    record: {size: 100 B}
    settings: {acks: 1}
  - name: readers
    kind: consume
    consumers: 1
    partitions: all
    from: earliest
stages: {warm-up: 0 s, hold: 10 s, drain: 5 s}
repeats: 1
published:
  - figure: writers.latency.p99
    value: 10 ms
    source: a paper
";

pub(crate) fn plan(scenario: &str) -> Plan {
    let scenario = Scenario::parse("test.yaml", scenario).unwrap();
    let request = PlanRequest {
        run_id: "r1".to_owned(),
        seed: 7,
        size: Size::Default,
        study: None,
        cluster: ClusterFacts {
            cluster_id: "c1".to_owned(),
            brokers: 1,
            kind: kgauge_scenario::TargetKind::Embedded,
            version: None,
        },
    };
    Plan::new(request, &[scenario]).unwrap()
}

pub(crate) fn environment() -> Environment {
    Environment {
        machine: MachineRecord {
            cpu_count: Some(2),
            clock_source: Some("tsc".to_owned()),
            ..MachineRecord::default()
        },
        kgauge: BuildRecord {
            version: "0.1.0".to_owned(),
            debug: false,
        },
        target: TargetRecord {
            kind: TargetKind::Embedded,
            cluster_id: Some("c1".to_owned()),
            bootstrap_servers: vec!["127.0.0.1:9092".to_owned()],
            same_machine: Some(true),
            version: None,
            brokers: vec![BrokerRecord {
                id: 0,
                address: "127.0.0.1:9092".to_owned(),
                rack: None,
                settings: [("log.segment.bytes".to_owned(), "1073741824".to_owned())].into(),
            }],
            tls: None,
            started: None,
            notes: vec![TargetNote::NotWarmed],
        },
        disk: None,
    }
}

/// A run folder that is being written.
pub(crate) struct Made {
    pub(crate) folder: RunFolder,
    plan: Plan,
    _keep: tempfile::TempDir,
}

impl Made {
    pub(crate) fn begin(scenario: &str) -> Made {
        let keep = tempfile::tempdir().unwrap();
        let head = RunHead::starting("r1".to_owned(), vec!["kgauge".to_owned()], 1_000);
        let folder = RunFolder::create(&keep.path().join("run"), head).unwrap();
        let plan = plan(scenario);
        folder.write_scenario("test", scenario).unwrap();
        folder.write_plan(&plan).unwrap();
        folder.write_environment(&environment()).unwrap();
        Made {
            folder,
            plan,
            _keep: keep,
        }
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.dir().to_owned()
    }

    pub(crate) fn end(&mut self) -> RunRead {
        self.folder.end(RunStatus::Complete, None, 2_000).unwrap();
        let run = self.read();
        write_histogram_logs(&run).unwrap();
        run
    }

    pub(crate) fn read(&self) -> RunRead {
        RunRead::open(self.folder.dir()).unwrap()
    }

    /// Runs a repeat; `load` records the samples of each flow.
    pub(crate) fn repeat(&self, repeat: u32, load: impl FnMut(usize, &mut Recorder)) {
        self.repeat_with(repeat, load, |_| {});
    }

    /// The same, with a last word on the record.
    pub(crate) fn repeat_with(
        &self,
        repeat: u32,
        mut load: impl FnMut(usize, &mut Recorder),
        change: impl FnOnce(&mut RepeatRecord),
    ) {
        let key = RepeatKey { trial: 0, repeat };
        let folder = self.folder.begin_repeat(key).unwrap();
        self.note(key, 0, EventKind::RepeatStarted);
        for (index, _) in self.plan.trials[0].flows.iter().enumerate() {
            let flow = u16::try_from(index).unwrap();
            let mut recorder = Recorder::new(flow, self.borders(), folder.sink());
            load(index, &mut recorder);
            recorder.finish();
        }
        let mut record = self.record(key);
        change(&mut record);
        folder.finish(&record).unwrap();
    }

    fn note(&self, key: RepeatKey, at_ns: u64, kind: EventKind) {
        let event = Event {
            at_unix_ms: 1_000,
            repeat: Some(key),
            at_ns: Some(at_ns),
            kind,
        };
        self.folder.events().write(&event).unwrap();
        for second in 0..3 {
            let evidence = Evidence {
                at_unix_ms: 1_000,
                repeat: Some(key),
                at_ns: Some(second * SECOND_NS),
                subject: Subject::GeneratorThread { thread: 0 },
                kind: EvidenceKind::Cpu {
                    user_ns: second * SECOND_NS / 2,
                    system_ns: second * SECOND_NS / 4,
                },
            };
            self.folder.evidence().write(&evidence).unwrap();
        }
    }

    pub(crate) fn borders(&self) -> StageBorders {
        let stages = &self.plan.trials[0].stages;
        let hold_ns = stages.hold_ns.unwrap();
        StageBorders::closed(stages.warm_up_ns, stages.warm_up_ns + hold_ns)
    }

    fn record(&self, key: RepeatKey) -> RepeatRecord {
        let borders = self.borders();
        let span = |stage, start_ns, end_ns| StageSpan {
            stage,
            start_ns,
            end_ns,
        };
        let (start_ns, end_ns) = (borders.warm_up_end_ns, borders.hold_end_ns);
        let hold_ns = end_ns - start_ns;
        let flows = self.plan.trials[0].flows.iter().map(|flow| {
            let stages = vec![
                span(Stage::WarmUp, 0, start_ns),
                span(Stage::Hold, start_ns, end_ns),
                span(Stage::Drain, end_ns, end_ns + SECOND_NS),
            ];
            FlowRecord::new(flow.name().to_owned(), stages, 1)
        });
        RepeatRecord {
            key,
            started_unix_ms: 1_000,
            flows: flows.collect(),
            topics: vec![topic()],
            cpu: Some(CpuRecord {
                span_ns: hold_ns,
                generator_threads_ns: hold_ns / 2,
                generator_threads: 1,
                generator_thread_ns_max: hold_ns / 2,
                generator_spun_ns: None,
                generator_gave_way_ns: None,
                generator_process_ns: Some(hold_ns * 3 / 5),
                feeding_ns: None,
                target_process_ns: Some(hold_ns / 5),
                target_compiling_ns: None,
            }),
            replication: Some(Replication::NoFollowers),
            brokers: Vec::new(),
            verification: None,
            agents: Vec::new(),
            outcome: RepeatOutcome::Complete,
        }
    }
}

pub(crate) fn topic() -> TopicRecord {
    let settings = [
        ("min.insync.replicas", "1"),
        ("flush.messages", "9223372036854775807"),
        ("flush.ms", "9223372036854775807"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    TopicRecord {
        facts: TopicFacts {
            name: "kgauge-r1".to_owned(),
            partitions: 2,
            replication_factor: 1,
            settings: settings.into(),
        },
        partitions: vec![
            PartitionOffsets {
                partition: 0,
                leader: Some(0),
                end_before: Some(10),
                end_after: Some(31_010),
            },
            PartitionOffsets {
                partition: 1,
                leader: Some(0),
                end_before: Some(0),
                end_after: Some(31_000),
            },
        ],
    }
}

/// 1,000 records a second for 62 s, acked after 1 ms; the broker stands still from 20 s to 21 s.
///
/// Of the 60,000 records of the hold 1,000 wait for it, evenly between 0 and 1 s.
pub(crate) fn stalled(recorder: &mut Recorder) {
    for index in 0..62_000_u64 {
        let intended_ns = index * MS_NS;
        let sent_ns = intended_ns + 1_000;
        let awake_ns = if (20 * SECOND_NS..21 * SECOND_NS).contains(&sent_ns) {
            21 * SECOND_NS
        } else {
            sent_ns
        };
        record_one(recorder, index, intended_ns, sent_ns, awake_ns + MS_NS);
    }
}

/// A record of 100 bytes in a request of its own; the recorder ticks after every thousand.
pub(crate) fn record_one(
    recorder: &mut Recorder,
    index: u64,
    intended_ns: u64,
    sent_ns: u64,
    acked_ns: u64,
) {
    recorder.scheduled(intended_ns, 1);
    recorder.sent(sent_ns, 1);
    recorder.acked(intended_ns, sent_ns, acked_ns, 1, 100);
    recorder.in_flight(sent_ns, acked_ns, acked_ns - sent_ns);
    recorder.request(
        acked_ns,
        AnsweredRequest {
            wire_bytes: 200,
            batches: 1,
            records: 1,
            round_trip_ns: Some(acked_ns - sent_ns),
        },
    );
    if index % 1_000 == 999 {
        recorder.tick();
    }
}

/// A closed loop of 100 records in flight, each acked after 10 ms: 10,000 a second for 10 s.
pub(crate) fn closed(recorder: &mut Recorder) {
    for turn in 0..1_000_u64 {
        let sent_ns = turn * 10 * MS_NS;
        let acked_ns = sent_ns + 10 * MS_NS;
        recorder.scheduled(sent_ns, 100);
        recorder.sent(sent_ns, 100);
        recorder.acked(sent_ns, sent_ns, acked_ns - 1, 100, 10_000);
        recorder.in_flight(sent_ns, acked_ns, 100 * 10 * MS_NS);
    }
}

/// Reads 5,000 records a second for 10 s.
pub(crate) fn reader(recorder: &mut Recorder) {
    for turn in 0..1_000_u64 {
        let at_ns = turn * 10 * MS_NS + 5;
        recorder.fetch(at_ns, 2 * MS_NS, 6_000, 50);
        recorder.consumed(at_ns, 50, 5_000);
    }
}

pub(crate) fn whole_paced_run() -> (Made, RunRead) {
    let mut made = Made::begin(PACED);
    for repeat in 0..3 {
        made.repeat(repeat, |_, recorder| stalled(recorder));
    }
    let run = made.end();
    (made, run)
}

pub(crate) fn whole_closed_run() -> (Made, RunRead) {
    let mut made = Made::begin(CLOSED);
    made.repeat_with(
        0,
        |flow, recorder| match flow {
            0 => closed(recorder),
            _ => reader(recorder),
        },
        |record| record.topics.clear(),
    );
    let run = made.end();
    (made, run)
}

/// Every file below a folder, sorted.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
