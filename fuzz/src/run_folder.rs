//! A small run folder, written as runs write theirs, and the inputs that put other content into one of its files.

use std::fs;
use std::io;
use std::path::Path;

use kgauge_results::run::{RepeatOutcome, RepeatKey, RepeatRecord, RunHead, RunStatus};
use kgauge_results::{Recorder, RunFolder, StageBorders};
use kgauge_scenario::{ClusterFacts, Plan, PlanRequest, Scenario, Size, TargetKind};

const SCENARIO: &str = "\
kgauge: 1
name: fuzzed
question: What is left of a folder?
target: {brokers: 1}
topic: {partitions: 1, replication: 1}
flows:
  - {name: writers, kind: produce, shape: {constant: 200/s}, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 2 s, drain: 5 s}
repeats: 1
goals:
  - writers.latency.p99 <= 20 ms
";

/// The files, by the first byte of an input.
pub const FILES: [&str; 6] = [
    "run.json",
    "plan.json",
    "events.jsonl",
    "evidence.jsonl",
    "repeats/0000-00/slices.jsonl",
    "repeats/0000-00/repeat.json",
];

/// The file and content that an input stands for.
pub fn choose(input: &[u8]) -> Option<(&'static str, &[u8])> {
    let (first, bytes) = input.split_first()?;
    Some((FILES[usize::from(*first) % FILES.len()], bytes))
}

/// The input that stands for the content of the file at this position of [`FILES`].
pub fn input(position: usize, bytes: &[u8]) -> Vec<u8> {
    [&[position as u8], bytes].concat()
}

/// Makes the folder.
pub fn make(dir: &Path) -> io::Result<()> {
    let scenario = Scenario::parse("fuzzed.yaml", SCENARIO).map_err(io::Error::other)?;
    let request = PlanRequest {
        run_id: "20260301-120000-7f3a".to_owned(),
        seed: 1,
        size: Size::Quick,
        study: None,
        cluster: ClusterFacts {
            cluster_id: "fuzzed".to_owned(),
            brokers: 1,
            kind: TargetKind::Embedded,
            version: None,
        },
    };
    let plan = Plan::new(request, std::slice::from_ref(&scenario)).map_err(io::Error::other)?;
    let started = 1_772_366_400_000;
    let head = RunHead::starting(plan.run_id.clone(), vec!["kgauge".to_owned()], started);
    let mut folder = RunFolder::create(dir, head).map_err(io::Error::other)?;
    folder
        .write_scenario(scenario.name(), scenario.text())
        .map_err(io::Error::other)?;
    folder.write_plan(&plan).map_err(io::Error::other)?;
    let key = RepeatKey {
        trial: 0,
        repeat: 0,
    };
    let repeat = folder.begin_repeat(key).map_err(io::Error::other)?;
    let mut recorder = Recorder::new(0, StageBorders::closed(0, 2_000_000_000), repeat.sink());
    for number in 0..400_u64 {
        let at = number * 5_000_000;
        recorder.scheduled(at, 1);
        recorder.sent(at + 10_000, 1);
        recorder.acked(at, at + 10_000, at + 900_000 + number * 1_000, 1, 100);
    }
    recorder.finish();
    let record = RepeatRecord {
        brokers: Vec::new(),
        key,
        started_unix_ms: started,
        flows: Vec::new(),
        topics: Vec::new(),
        cpu: None,
        replication: None,
        verification: None,
        agents: Vec::new(),
        outcome: RepeatOutcome::Complete,
    };
    repeat.finish(&record).map_err(io::Error::other)?;
    folder
        .end(RunStatus::Complete, None, started + 3_000)
        .map_err(io::Error::other)?;
    // Runs that nobody watched have none.
    for name in ["events.jsonl", "evidence.jsonl"] {
        let path = dir.join(name);
        if !path.exists() {
            fs::write(path, "")?;
        }
    }
    Ok(())
}
