//! Drivers against a child that does what the test wants: this very test program.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that is its own harness"
)]

#[path = "driver_child/fake.rs"]
mod fake;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster as Broker};
use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{
    Clock, DriverProgram, LedgerFolder, LedgerName, LoadOutcome, LoadProgress, LoadSetup,
    PrepareError, PreparedLoad, VerifySetup,
};
use kgauge_results::recorder::MemorySlices;
use kgauge_results::{Quantile, Slice, SliceSink, Stage, TimeKind};
use kgauge_scenario::{Driver, Scenario, Share, Size};
use kgauge_verify::{BatchFate, LedgerEntry, LedgerReader, PARTITION_UNKNOWN, StampKey};

type Test = fn(&Bench);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == fake::CHILD) {
        return fake::main(&arguments[1]);
    }
    let tests: [(&str, Test); 10] = [
        ("times_of_the_child_are_the_samples", times_are_the_samples),
        ("every_fate_is_counted_once", every_fate_is_counted_once),
        ("a_verified_flow_has_a_ledger", a_verified_flow_has_a_ledger),
        (
            "a_closed_loop_takes_its_count",
            a_closed_loop_takes_its_count,
        ),
        ("a_child_that_dies_ends_the_load", a_child_that_dies),
        ("a_child_that_hangs_is_ended", a_child_that_hangs),
        ("a_child_that_lies_is_not_believed", a_child_that_lies),
        (
            "a_child_with_another_clock_is_refused",
            a_child_with_another_clock,
        ),
        ("a_refusal_is_bad_input", a_refusal_is_bad_input),
        ("an_interrupt_ends_it_within_a_second", an_interrupt),
    ];
    let bench = Bench::new();
    for (name, test) in tests {
        let is_filtered = |word: &String| !word.starts_with('-') && !name.contains(word.as_str());
        if arguments.iter().any(is_filtered) {
            continue;
        }
        test(&bench);
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

/// A cluster with a topic. The children here never speak to it.
struct Bench {
    _dir: tempfile::TempDir,
    _broker: ClusterHandle,
    client: ClientConfig,
}

const TOPIC: &str = "driven";

/// What came of a load.
struct Seen {
    outcome: LoadOutcome,
    slices: Vec<Slice>,
    pids: Vec<u32>,
    took: Duration,
}

impl Seen {
    /// All of a stage, or of all of them.
    fn sum(&self, stage: Option<Stage>) -> Slice {
        let mut sum = Slice::new(self.slices[0].key);
        let in_stage = |slice: &&Slice| stage.is_none_or(|stage| slice.key.stage == stage);
        self.slices
            .iter()
            .filter(in_stage)
            .for_each(|slice| sum.add(slice));
        sum.settle();
        sum
    }

    fn is_gone(&self) -> bool {
        let is_there = |pid: &u32| PathBuf::from(format!("/proc/{pid}")).exists();
        !self.pids.iter().any(is_there)
    }
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let broker = Broker::start(ClusterConfig::new(dir.path())).unwrap();
        let client = ClientConfig::from_servers(&broker.bootstrap_servers()).unwrap();
        let topic = TopicSpec {
            name: TOPIC.to_owned(),
            partitions: 1,
            replication_factor: 1,
            configs: Vec::new(),
        };
        let mut cluster = Cluster::bootstrap(client.clone()).unwrap();
        cluster.create_topic(&topic).unwrap();
        Self {
            _dir: dir,
            _broker: broker,
            client,
        }
    }

    fn run(&self, mode: &str, keys: &str) -> Seen {
        self.try_run(mode, keys, &Interrupt::new(), |_| ()).unwrap()
    }

    fn try_run(
        &self,
        mode: &str,
        keys: &str,
        interrupt: &Interrupt,
        watch: impl FnMut(&LoadProgress),
    ) -> Result<Seen, PrepareError> {
        self.try_run_verified((mode, keys), None, interrupt, watch)
    }

    fn try_run_verified(
        &self,
        (mode, keys): (&str, &str),
        verify: Option<&VerifySetup>,
        interrupt: &Interrupt,
        watch: impl FnMut(&LoadProgress),
    ) -> Result<Seen, PrepareError> {
        let share = share(keys);
        let program = DriverProgram {
            program: std::env::current_exe().unwrap(),
            arguments: vec![fake::CHILD.into(), mode.into()],
        };
        let sinks = std::cell::RefCell::new(Vec::<MemorySlices>::new());
        let sink = || {
            let (sink, slices) = SliceSink::memory();
            sinks.borrow_mut().push(slices);
            sink
        };
        let load = PreparedLoad::prepare(&LoadSetup {
            copy: None,
            verify,
            share: &share,
            topic: TOPIC,
            also: &[],
            earliest: None,
            groups: &BTreeMap::new(),
            client: &self.client,
            drivers: &[(Driver::Librdkafka, program)],
            sink: &sink,
            interrupt,
        })?;
        let pids = load.driver_pids().into_iter().map(|(_, pid)| pid).collect();
        let began = Instant::now();
        let outcome = load.run(Clock::start(), watch).unwrap();
        Ok(Seen {
            took: began.elapsed(),
            outcome,
            slices: sinks.borrow().iter().flat_map(MemorySlices::take).collect(),
            pids,
        })
    }
}

/// `keys` are those of the flow and, after a semicolon, of the stages.
fn share(keys: &str) -> Share {
    let (flow, stages) = keys.split_once(';').unwrap_or((keys, "hold: 500 ms"));
    let text = format!(
        "kgauge: 1\nname: driven\nquestion: Are the outcomes recorded?\ntopic: {{partitions: 1}}\nflows:\n  \
         - {{name: w, kind: produce, driver: librdkafka, record: {{size: 100 B}}, {flow}}}\nstages: \
         {{warm-up: 0 s, {stages}}}\n"
    );
    let scenario = Scenario::parse("driven.yaml", &text).unwrap();
    Share::of_trial(scenario.trials(Size::Default).remove(0), 7)
}

const MS: u64 = 1_000_000;

/// The fake takes each record 1 ms after it is due, and reports an ack 5 ms after it is due.
fn times_are_the_samples(bench: &Bench) {
    let seen = bench.run("acks", "producers: 2, shape: {constant: 1k/s}");
    assert_eq!(seen.outcome.driver_trouble, None);
    let totals = seen.outcome.flows[0].totals;
    assert_eq!((totals.scheduled, totals.acked), (500, 500));
    assert_eq!(totals.logical_bytes, 50_000);
    let hold = seen.sum(Some(Stage::Hold));
    assert_eq!(hold.counts.records_scheduled, 500);
    for (kind, ms) in [
        (TimeKind::Response, 5),
        (TimeKind::Service, 4),
        (TimeKind::Lag, 1),
    ] {
        let times = hold.times(kind);
        assert_eq!(times.count(), 500, "{kind:?}");
        for quantile in [Quantile::new(0), Quantile::P50, Quantile::new(1_000_000)] {
            // The clocks' offset is known to some hundred nanoseconds, the histogram to 0.1 %.
            let off = times.value_ns_at(quantile).unwrap().abs_diff(ms * MS);
            assert!(off < MS / 100, "{kind:?}: {off} ns off");
        }
    }
    // 1,000 records/s that take 4 ms each.
    let in_flight = seen.sum(None).counts.in_flight_record_ns;
    assert!(in_flight.abs_diff(500 * 4 * MS) < 500 * MS / 100);
    assert_eq!(seen.outcome.drivers.len(), 1);
    assert_eq!(seen.outcome.drivers[0].client, "fake 1.0");
    assert_eq!(seen.outcome.drivers[0].processes, 2);
    assert!(seen.is_gone());
}

fn every_fate_is_counted_once(bench: &Bench) {
    // By turns: acked, failed with code 10, of unknown fate, skipped, failed for want of room.
    let seen = bench.run("fates", "shape: {constant: 1k/s}");
    let totals = seen.outcome.flows[0].totals;
    assert_eq!(totals.scheduled, 500);
    let counted = (
        totals.acked,
        totals.failed,
        totals.indeterminate,
        totals.skipped,
    );
    assert_eq!(counted, (100, 200, 100, 100));
    let sum = seen.sum(None);
    assert_eq!(
        sum.counts.records_sent, 300,
        "what found no room was never sent"
    );
    assert_eq!(sum.counts.records_failed, 200);
    let errors: Vec<(i16, u64)> = sum
        .errors
        .iter()
        .map(|one| (one.code, one.records))
        .collect();
    assert_eq!(errors, [(-104, 100), (10, 100), (-103, 100)]);
    assert_eq!(sum.times(TimeKind::BufferWait).max_ns(), Some(3 * MS));
}

fn a_verified_flow_has_a_ledger(bench: &Bench) {
    let folder = tempfile::tempdir().unwrap();
    let ledgers = LedgerFolder(folder.path().to_owned());
    let verify = VerifySetup {
        key: StampKey::new(1),
        ledgers: Box::new(ledgers.clone()),
    };
    let run = ("placed", "shape: {constant: 1k/s}");
    let seen = bench.try_run_verified(run, Some(&verify), &Interrupt::new(), |_| ());
    assert_eq!(seen.unwrap().outcome.flows[0].totals.acked, 400);
    let ledger = ledgers.path(LedgerName::of_producer(0, 0));
    let file = std::fs::File::open(ledger).unwrap();
    let mut reader = LedgerReader::new(std::io::BufReader::new(file)).unwrap();
    let (mut outcomes, mut last) = (Vec::new(), None);
    while let Some(entry) = reader.next_entry().unwrap() {
        if let LedgerEntry::Batch(batch) = entry {
            assert_eq!(batch.count, 1, "no offset follows the one before");
            outcomes.push((batch.sequence, batch.fate, batch.partition, batch.offset));
        }
        last = Some(entry);
    }
    let expected = (0..500_u64).map(|index| match index % 5 {
        2 => (index, BatchFate::Unknown, PARTITION_UNKNOWN, None),
        _ => (index, BatchFate::Acked, 0, Some(index * 10)),
    });
    assert_eq!(outcomes, expected.collect::<Vec<_>>());
    assert_eq!(last, Some(LedgerEntry::Closed));
}

fn a_closed_loop_takes_its_count(bench: &Bench) {
    let seen = bench.run("acks", "shape: max, records: 2000; hold: 60 s");
    assert_eq!(seen.outcome.driver_trouble, None);
    let totals = seen.outcome.flows[0].totals;
    assert_eq!((totals.scheduled, totals.acked), (2_000, 2_000));
    assert!(seen.outcome.hold_end_ns < 30_000 * MS, "the count ends it");
    assert!(!seen.outcome.abandoned && seen.is_gone());
    assert_eq!(seen.outcome.drivers[0].starved_ns, 77);
}

fn a_child_that_dies(bench: &Bench) {
    let seen = bench.run("dies", "shape: {constant: 1k/s}; hold: 60 s");
    let words = seen.outcome.driver_trouble.as_deref().unwrap_or_default();
    assert!(words.contains("exited (status 7)"), "{words}");
    assert!(words.contains("nothing to live for"), "{words}");
    let totals = seen.outcome.flows[0].totals;
    assert_eq!(totals.acked, 100);
    assert_eq!(totals.scheduled, 100 + totals.indeterminate);
    assert!(seen.took < Duration::from_secs(30) && seen.is_gone());
}

fn a_child_that_hangs(bench: &Bench) {
    let seen = bench.run(
        "hangs",
        "shape: {constant: 1k/s}; hold: 500 ms, drain: 300 ms",
    );
    assert_eq!(
        seen.outcome.driver_trouble, None,
        "a slow cluster looks the same"
    );
    assert!(seen.outcome.abandoned);
    let totals = seen.outcome.flows[0].totals;
    assert_eq!(totals.scheduled, 500, "nothing goes unsaid");
    assert_eq!(totals.acked + totals.indeterminate + totals.skipped, 500);
    assert!(totals.acked == 100 && seen.is_gone());
}

fn a_child_that_lies(bench: &Bench) {
    for mode in ["twice", "future", "garbage"] {
        let seen = bench.run(mode, "shape: {constant: 1k/s}; hold: 60 s");
        let words = seen.outcome.driver_trouble.as_deref().unwrap_or_default();
        assert!(words.contains("broke the protocol"), "{mode}: {words}");
        assert!(seen.is_gone(), "{mode}");
    }
}

fn refused(bench: &Bench, mode: &str) -> (bool, String) {
    let seen = bench.try_run(mode, "shape: max", &Interrupt::new(), |_| ());
    match seen.map(|_| ()).unwrap_err() {
        PrepareError::Driver { error, .. } => (error.is_bad_input(), error.to_string()),
        other => panic!("{other}"),
    }
}

fn a_child_with_another_clock(bench: &Bench) {
    let (is_bad_input, words) = refused(bench, "clock");
    assert!(!is_bad_input && words.contains("monotonic"), "{words}");
}

fn a_refusal_is_bad_input(bench: &Bench) {
    let refusal = (true, "driver librdkafka: fake 1.0 has no acks".to_owned());
    assert_eq!(refused(bench, "refuses"), refusal);
    let (is_bad_input, words) = refused(bench, "fails");
    assert!(
        !is_bad_input && words.contains("no cluster there"),
        "{words}"
    );
    let (is_bad_input, words) = refused(bench, "stillborn");
    assert!(!is_bad_input && words.contains("status 3"), "{words}");
}

fn an_interrupt(bench: &Bench) {
    for keys in [
        "shape: {constant: 1k/s}; hold: 60 s",
        "shape: max; hold: 60 s",
    ] {
        for mode in ["acks", "hangs"] {
            let interrupt = Interrupt::new();
            let mut raised = None;
            let watch = |progress: &LoadProgress| {
                if progress.flows[0].acked >= 100 && raised.is_none() {
                    interrupt.raise();
                    raised = Some(Instant::now());
                }
            };
            let seen = bench.try_run(mode, keys, &interrupt, watch).unwrap();
            let took = raised.unwrap().elapsed();
            // A second, and what a busy machine adds.
            assert!(took < Duration::from_secs(3), "{mode}, {keys}: {took:?}");
            assert!(seen.outcome.interrupted && seen.is_gone());
        }
    }
}
