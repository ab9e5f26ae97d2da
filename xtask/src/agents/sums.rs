//! The same load from 1, 2, 4 and 25 processes: the same records, and figures that are the sum of the agents' slices.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use kgauge_results::folder::RunRead;
use kgauge_results::slice::line::add_line;
use kgauge_results::{Slice, SliceKey, Stage, TimeKind};
use serde_json::Value;

use super::records::{StoredTopic, stored};
use crate::kgauge::Kgauge;
use crate::say::print_line;

/// Numbers of agents.
const AGENTS: [u32; 4] = [1, 2, 4, 25];

/// A flow whose records have keys, and one with a rate that varies; both with as many clients as there are agents.
const SCENARIO: &str = "\
kgauge: 1
name: sums
question: Do several agents send what one sends?
topic: {partitions: 7}
flows:
  - name: keyed
    kind: produce
    producers: 25
    shape: {poisson: 10k/s}
    records: 40000
    record: {size: {lognormal: {median: 100 B, p99: 1 kB}}, key: {uniform: {keys: 10000}}}
  - name: plain
    kind: produce
    producers: 3
    shape: {constant: 2k/s}
    records: 8000
    record: {size: 50 B, key: {zipf: {keys: 1k}}}
stages: {warm-up: 0 s, hold: none}
repeats: 1
";

/// Runs the part.
pub(super) fn run(kgauge: &Kgauge<'_>) -> Result<bool> {
    fs::write(kgauge.folder.join("sums.yaml"), SCENARIO)?;
    let mut first: Option<StoredTopic> = None;
    let mut is_good = true;
    for agents in AGENTS {
        let (spec, out) = (format!("local:{agents}"), format!("sums-{agents}"));
        let arguments = ["run", "sums.yaml", "--seed", "7", "--keep", "--out", &out];
        let job = kgauge.call(&[&arguments[..], &["--agents", &spec]].concat());
        job.run()?.success()?;
        let dir = kgauge.folder.join(&out);
        let topic = stored(&dir.join("target-data"))?;
        let records = topic.records.len();
        let (acked, on_broker) = counted(&dir)?;
        let is_sum = is_sum(&dir)?;
        let is_same = first
            .as_ref()
            .is_none_or(|first| first.records == topic.records);
        print_line(&format!(
            "{agents} agents: {records} records stored, {acked} acked, {on_broker} counted by the brokers; records {}, \
             histograms {}",
            if is_same { "equal" } else { "DIFFER" },
            if is_sum {
                "equal to the sum"
            } else {
                "DIFFER from the sum"
            }
        ));
        let counts = [records as u64, acked, on_broker];
        is_good &= is_same && is_sum && counts == [48_000; 3];
        first.get_or_insert(topic);
    }
    Ok(dcos(kgauge)? && is_good)
}

/// The study that was measured with 25 machines.
fn dcos(kgauge: &Kgauge<'_>) -> Result<bool> {
    let mut job = kgauge.call(&[
        "run",
        "dcos-2018",
        "--only",
        "producers",
        "--quick",
        "--repeat",
        "1",
        "--seed",
        "7",
        "--agents",
        "local:25",
        "--out",
        "dcos",
    ]);
    job.time_max *= 2;
    let status = job.run()?.status;
    let summary: Value = summary(&kgauge.folder.join("dcos"))?;
    let trials = summary["trials"].as_array().context("no trials")?;
    let mut is_good = true;
    for trial in trials {
        let counted = &trial["counted"][0];
        let agents = trial["agents"]["count"].as_u64().unwrap_or(0);
        print_line(&format!(
            "dcos-2018 producers, {}: {agents} agents, {} acked, {} counted by the brokers",
            trial["name"].as_str().unwrap_or_default(),
            counted["acked"],
            counted["on_broker"]
        ));
        // Without idempotence, a retry may be written twice.
        is_good &= agents == 25 && counted["agrees"] == true;
    }
    let status = status.map_or_else(|| "none".to_owned(), |status| status.to_string());
    print_line(&format!("dcos-2018 producers: {status}"));
    Ok(is_good && trials.len() == 6)
}

pub(super) fn summary(dir: &Path) -> Result<Value> {
    let path = dir.join("summary.json");
    let text = fs::read_to_string(&path).with_context(|| format!("no {}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// Acked records, and those that the brokers counted.
pub(super) fn counted(dir: &Path) -> Result<(u64, u64)> {
    let summary = summary(dir)?;
    let counted = &summary["trials"][0]["counted"][0];
    let number = |key: &str| counted[key].as_u64().with_context(|| format!("no {key}"));
    Ok((number("acked")?, number("on_broker")?))
}

/// Whether what a reader gets is the sum of all lines of all agents' files.
fn is_sum(dir: &Path) -> Result<bool> {
    let read = RunRead::open(dir)?;
    ensure!(read.defects.is_empty(), "defects: {:?}", read.defects);
    let repeat = read.repeats.first().context("no repeat")?;
    let mut sums: BTreeMap<(u16, Stage), Slice> = BTreeMap::new();
    for entry in fs::read_dir(dir.join("repeats/0000-00"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("slices") {
            continue;
        }
        for line in fs::read(&path)?.split_inclusive(|byte| *byte == b'\n') {
            let mut slice = Slice::new(SliceKey {
                flow: 0,
                stage: Stage::Hold,
                second: 0,
            });
            let key = add_line(line.strip_suffix(b"\n").unwrap_or(line), &mut slice)?;
            let sum = sums.entry((key.flow, key.stage));
            sum.or_insert_with(|| Slice::new(key)).add(&slice);
        }
    }
    for sum in sums.values_mut() {
        sum.settle();
    }
    let read = repeat.flows.iter();
    let mut read = read.flat_map(|(flow, read)| {
        let stages = read.stages.iter();
        stages.map(move |(stage, slice)| ((*flow, *stage), slice))
    });
    Ok(read.all(|(key, slice)| {
        sums.get(&key).is_some_and(|sum| {
            let of = |slice: &Slice| {
                let times = slice.times(TimeKind::Response);
                (
                    times.buckets().collect::<Vec<_>>(),
                    times.sum_ns(),
                    times.max_ns(),
                )
            };
            sum.counts == slice.counts && of(sum) == of(slice)
        })
    }))
}
