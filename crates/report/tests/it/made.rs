//! Run folders of made-up loads: the samples go through the real recorder, so only the cluster is
//! missing.
//!
//! A producer at full speed keeps its buffer full; one at a rate is acked after about a
//! millisecond, now and then after fifty; a consumer fetches two hundred times a second.

use std::path::Path;

use kgauge_analyze::Summary;
use kgauge_results::run::{
    BrokerRecord, BuildRecord, CpuRecord, Environment, Event, EventKind, Evidence, EvidenceKind,
    FlowRecord, MachineRecord, PartitionOffsets, RepeatKey, RepeatOutcome, RepeatRecord,
    Replication, RunHead, RunStatus, StageSpan, Subject, TargetKind, TargetRecord, TopicFacts,
    TopicRecord,
};
use kgauge_results::{AnsweredRequest, Recorder, RunFolder, RunRead, Stage, StageBorders};
use kgauge_scenario::{
    ClusterFacts, FlowPlan, Plan, PlanRequest, ProduceFlow, Random, Scenario, Size, StudyRef, Trial,
};

const SECOND_NS: u64 = 1_000_000_000;
const MS_NS: u64 = 1_000_000;
/// The made-up engine acts every five milliseconds.
const TICK_NS: u64 = 5 * MS_NS;
/// 2026-03-01 12:00:00 UTC.
const STARTED_UNIX_MS: u64 = 1_772_366_400_000;
/// Where a hold has no length of its own.
const HOLD_NS: u64 = 8 * SECOND_NS;

/// How the run of a folder ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Complete,
    /// In the middle of the last trial, without a word.
    Killed,
}

/// Names that tests make hostile.
pub(crate) struct Names<'a> {
    pub(crate) topic: &'a str,
    pub(crate) cluster: &'a str,
    pub(crate) error: Option<&'a str>,
}

pub(crate) const CALM: Names<'static> = Names {
    topic: "kgauge-r1-t1",
    cluster: "xT9wQm3uR0yEo5Yh",
    error: None,
};

/// Makes the folder and reads it back.
pub(crate) fn make(
    dir: &Path,
    study: Option<StudyRef>,
    scenarios: &[Scenario],
    names: &Names<'_>,
    end: End,
) -> (RunRead, Summary) {
    let request = PlanRequest {
        run_id: "20260301-120000-7f3a".to_owned(),
        seed: 42,
        size: Size::Quick,
        study,
        cluster: ClusterFacts {
            cluster_id: names.cluster.to_owned(),
            brokers: 3,
            kind: kgauge_scenario::TargetKind::Embedded,
            version: None,
        },
    };
    let plan = Plan::new(request, scenarios).unwrap();
    let command = ["kgauge", "run", "linkedin-2014", "--quick"]
        .map(str::to_owned)
        .to_vec();
    let head = RunHead::starting(plan.run_id.clone(), command, STARTED_UNIX_MS);
    let mut folder = RunFolder::create(dir, head).unwrap();
    for scenario in scenarios {
        folder
            .write_scenario(scenario.name(), scenario.text())
            .unwrap();
    }
    folder.write_plan(&plan).unwrap();
    folder.write_environment(&environment(names)).unwrap();
    let mut clock_ms = STARTED_UNIX_MS + 800;
    for trial in &plan.trials {
        for repeat in 0..trial.repeats {
            let last = trial.index as usize + 1 == plan.trials.len() && repeat + 1 == trial.repeats;
            let key = RepeatKey {
                trial: trial.index,
                repeat,
            };
            let cut = end == End::Killed && last;
            let repeat = ToMake {
                folder: &folder,
                trial,
                key,
                names,
                started_unix_ms: clock_ms,
                cut,
            };
            clock_ms += repeat.make();
        }
    }
    if end == End::Complete {
        folder
            .end(RunStatus::Complete, None, clock_ms + 400)
            .unwrap();
    }
    let head = std::fs::read(dir.join("run.json")).unwrap();
    drop(folder);
    if end == End::Killed {
        // Who is killed writes no more.
        std::fs::write(dir.join("run.json"), head).unwrap();
    }
    let run = RunRead::open(dir).unwrap();
    let summary = Summary::of(&run);
    (run, summary)
}

fn environment(names: &Names<'_>) -> Environment {
    let settings = [("log.segment.bytes", "1073741824"), ("num.io.threads", "8")];
    Environment {
        disk: None,
        machine: MachineRecord {
            host_name: Some("bench-1".to_owned()),
            operating_system: Some("Debian GNU/Linux 12".to_owned()),
            kernel: Some("6.1.0".to_owned()),
            architecture: Some("x86_64".to_owned()),
            cpu_model: Some("a processor".to_owned()),
            cpu_count: Some(2),
            memory_bytes: Some(25_276_514_304),
            reports_free_memory: false,
            clock_source: Some("tsc".to_owned()),
            file_system: Some("ext4".to_owned()),
        },
        kgauge: BuildRecord {
            version: "0.1.0".to_owned(),
            debug: false,
        },
        target: TargetRecord {
            kind: TargetKind::Embedded,
            cluster_id: Some(names.cluster.to_owned()),
            bootstrap_servers: vec!["127.0.0.1:40123".to_owned()],
            same_machine: Some(true),
            version: None,
            brokers: vec![BrokerRecord {
                id: 0,
                address: "127.0.0.1:40123".to_owned(),
                rack: None,
                settings: settings
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .into(),
            }],
            tls: None,
            started: None,
            notes: Vec::new(),
        },
    }
}

/// A repeat that is about to be made.
struct ToMake<'a> {
    folder: &'a RunFolder,
    trial: &'a Trial,
    key: RepeatKey,
    names: &'a Names<'a>,
    started_unix_ms: u64,
    /// It ends in the middle, without a word.
    cut: bool,
}

impl ToMake<'_> {
    fn borders(&self) -> StageBorders {
        let stages = &self.trial.stages;
        let hold_ns = stages.hold_ns.unwrap_or(HOLD_NS).min(HOLD_NS);
        StageBorders::closed(stages.warm_up_ns, stages.warm_up_ns + hold_ns)
    }

    fn note(&self, at_ns: u64, kind: EventKind) {
        let at_unix_ms = self.started_unix_ms + at_ns / MS_NS;
        let event = Event {
            at_unix_ms,
            repeat: Some(self.key),
            at_ns: Some(at_ns),
            kind,
        };
        self.folder.events().write(&event).unwrap();
    }

    /// Makes it; returns how many milliseconds it took.
    fn make(&self) -> u64 {
        let folder = self.folder.begin_repeat(self.key).unwrap();
        self.note(
            0,
            EventKind::TopicCreated {
                topic: self.names.topic.to_owned(),
            },
        );
        self.note(0, EventKind::RepeatStarted);
        if let Some(text) = self.names.error {
            self.note(
                SECOND_NS,
                EventKind::Error {
                    text: text.to_owned(),
                    code: Some(7),
                },
            );
        }
        let borders = self.borders();
        let end_ns = borders.hold_end_ns / if self.cut { 2 } else { 1 };
        let mut written = 0;
        for (index, flow) in self.trial.flows.iter().enumerate() {
            let recorder = Recorder::new(u16::try_from(index).unwrap(), borders, folder.sink());
            written += self.load(recorder, end_ns, flow);
        }
        watch(self.folder, self.key, self.started_unix_ms, end_ns);
        if self.cut {
            return end_ns / MS_NS;
        }
        folder.finish(&self.record(&borders, written)).unwrap();
        self.note(
            end_ns + SECOND_NS / 4,
            EventKind::RepeatEnded {
                outcome: RepeatOutcome::Complete,
            },
        );
        end_ns / MS_NS + 250
    }

    /// Returns how many records were written.
    fn load(&self, recorder: Recorder, end_ns: u64, flow: &FlowPlan) -> u64 {
        let repeat = self.key.repeat;
        let random = Random::new(u64::from(self.key.trial) * 100 + u64::from(repeat) * 10);
        let mut load = Load {
            recorder,
            random,
            drawn: 0,
            end_ns,
            repeat,
        };
        let written = match flow {
            FlowPlan::Produce(flow) => load.produce(flow),
            FlowPlan::Echo(flow) => load.produce(&flow.produce),
            FlowPlan::Consume(flow) => {
                load.consume(flow.consumers);
                0
            }
        };
        load.recorder.finish();
        written
    }

    fn record(&self, borders: &StageBorders, written: u64) -> RepeatRecord {
        let hold_ns = borders.hold_end_ns - borders.warm_up_end_ns;
        let flow = |flow: &FlowPlan| FlowRecord::new(flow.name().to_owned(), spans(borders), 1);
        RepeatRecord {
            brokers: Vec::new(),
            verification: None,
            key: self.key,
            started_unix_ms: self.started_unix_ms,
            flows: self.trial.flows.iter().map(flow).collect(),
            topics: vec![topic(self.names.topic, written)],
            cpu: Some(CpuRecord {
                span_ns: hold_ns,
                generator_threads_ns: hold_ns / 2,
                generator_threads: 1,
                generator_thread_ns_max: hold_ns / 2,
                generator_spun_ns: None,
                generator_gave_way_ns: None,
                generator_process_ns: Some(hold_ns * 62 / 100),
                feeding_ns: None,
                target_process_ns: Some(hold_ns * 85 / 100),
                target_compiling_ns: None,
            }),
            replication: Some(Replication::NoFollowers),
            agents: Vec::new(),
            outcome: RepeatOutcome::Complete,
        }
    }
}

fn spans(borders: &StageBorders) -> Vec<StageSpan> {
    let (start_ns, end_ns) = (borders.warm_up_end_ns, borders.hold_end_ns);
    let span = |stage, start_ns, end_ns| StageSpan {
        stage,
        start_ns,
        end_ns,
    };
    let spans = [
        span(Stage::WarmUp, 0, start_ns),
        span(Stage::Hold, start_ns, end_ns),
        span(Stage::Drain, end_ns, end_ns + SECOND_NS / 4),
    ];
    spans
        .into_iter()
        .filter(|span| span.length_ns() > 0)
        .collect()
}

fn topic(name: &str, written: u64) -> TopicRecord {
    let settings = [
        ("min.insync.replicas", "1"),
        ("flush.messages", "9223372036854775807"),
        ("flush.ms", "9223372036854775807"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    TopicRecord {
        facts: TopicFacts {
            name: name.to_owned(),
            partitions: 1,
            replication_factor: 1,
            settings: settings.into(),
        },
        partitions: vec![PartitionOffsets {
            partition: 0,
            leader: Some(0),
            end_before: Some(0),
            end_after: i64::try_from(written).ok(),
        }],
    }
}

/// CPU of both sides, once a second.
fn watch(folder: &RunFolder, key: RepeatKey, started_unix_ms: u64, end_ns: u64) {
    let seconds = end_ns / SECOND_NS;
    for second in 0..=seconds {
        let sides = [
            (Subject::Generator, 62),
            (Subject::Target { broker: None }, 85),
            (Subject::Host, 151),
        ];
        for (subject, percent) in sides {
            let wave = (second * 7 + u64::from(key.repeat) * 3) % 5;
            let used_ns = second * SECOND_NS / 100 * percent + wave * 8 * MS_NS;
            let evidence = Evidence {
                at_unix_ms: started_unix_ms + second * 1_000,
                repeat: Some(key),
                at_ns: Some(second * SECOND_NS),
                subject,
                kind: EvidenceKind::Cpu {
                    user_ns: used_ns / 3,
                    system_ns: used_ns - used_ns / 3,
                },
            };
            folder.evidence().write(&evidence).unwrap();
        }
    }
}

/// A made-up flow.
struct Load {
    recorder: Recorder,
    random: Random,
    drawn: u64,
    end_ns: u64,
    repeat: u32,
}

impl Load {
    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.random.bits(self.drawn)
    }

    /// 0.9 to 1.1.
    fn wave(&mut self) -> f64 {
        0.9 + 0.2 * (self.draw() % 1_000) as f64 / 1_000.0
    }

    fn produce(&mut self, flow: &ProduceFlow) -> u64 {
        match flow.shape.per_second_max() {
            None => self.produce_closed(flow),
            Some(per_second) => self.produce_open(flow, per_second),
        }
    }

    /// A full buffer: records in flight are what fits into it, and the rate makes the time.
    fn produce_closed(&mut self, flow: &ProduceFlow) -> u64 {
        let bytes = u64::from(flow.record.value_bytes);
        // About 600 ns a record and 2.5 ns a byte.
        let rate = 1e9 / (600.0 + 2.5 * bytes as f64) * (1.0 + 0.01 * f64::from(self.repeat));
        let in_flight = (flow.settings.buffer_bytes / (bytes + 20)) as f64;
        let mut written = 0;
        let mut at_ns = 0;
        while at_ns < self.end_ns {
            let wave = self.wave();
            let records = ((rate * wave * TICK_NS as f64 / 1e9) as u64).max(1);
            let taken_ns = (in_flight / rate * 1e9 * self.wave()) as u64;
            self.sent(at_ns, at_ns, at_ns + taken_ns, records, bytes);
            written += records;
            at_ns += TICK_NS;
        }
        written
    }

    /// A rate: most are acked after a millisecond, a few after fifty.
    fn produce_open(&mut self, flow: &ProduceFlow, per_second: f64) -> u64 {
        let bytes = u64::from(flow.record.value_bytes);
        let gap_ns = (1e9 / per_second) as u64;
        let mut written = 0;
        let mut intended_ns = 0;
        while intended_ns < self.end_ns {
            let sent_ns = intended_ns + 3_000 + self.draw() % 20_000;
            let slow = self.draw().is_multiple_of(2_000);
            let taken_ns = (if slow { 50e6 } else { 1e6 } * self.wave()) as u64;
            self.sent(intended_ns, sent_ns, sent_ns + taken_ns, 1, bytes);
            written += 1;
            intended_ns += gap_ns;
        }
        written
    }

    fn sent(&mut self, intended_ns: u64, sent_ns: u64, acked_ns: u64, records: u64, bytes: u64) {
        self.recorder.scheduled(intended_ns, records);
        self.recorder.sent(sent_ns, records);
        self.recorder
            .acked(intended_ns, sent_ns, acked_ns, records, records * bytes);
        self.recorder
            .in_flight(sent_ns, acked_ns, records * (acked_ns - sent_ns));
        let round_trip_ns = (1.5e6 * self.wave()) as u64;
        self.recorder.request(
            acked_ns,
            AnsweredRequest {
                wire_bytes: records * (bytes + 8) + 90,
                batches: 1,
                records,
                round_trip_ns: Some(round_trip_ns),
            },
        );
    }

    fn consume(&mut self, consumers: u32) {
        let mut at_ns = TICK_NS;
        while at_ns < self.end_ns {
            let records = (16_000.0 * f64::from(consumers).sqrt() * self.wave()) as u64;
            let round_trip_ns = (2.2e6 * self.wave()) as u64;
            self.recorder
                .fetch(at_ns, round_trip_ns, records * 108, records);
            self.recorder.consumed(at_ns, records, records * 100);
            at_ns += TICK_NS;
        }
    }
}
