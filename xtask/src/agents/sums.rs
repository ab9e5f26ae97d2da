//! The same load from one process and from 1, 2, 4 and 25 agents: the same records, and figures that are the sum of the
//! agents' slices.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use kgauge_results::folder::RunRead;
use kgauge_results::slice::line::LineReader;
use kgauge_results::{Counts, Histogram, Slice, Stage, TimeKind};
use serde_json::Value;

use super::records::{StoredTopic, stored};
use crate::kgauge::Kgauge;
use crate::say::print_line;

/// Numbers of agents. Without any, the process of the run generates the load; the others must send what it sends.
const AGENTS: [u32; 5] = [0, 1, 2, 4, 25];

/// A flow with a rate that varies and a client on each agent, and one with few clients. All records have keys.
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
        let mut arguments = vec!["run", "sums.yaml", "--seed", "7", "--keep", "--out", &out];
        if agents > 0 {
            arguments.extend(["--agents", &spec]);
        }
        kgauge.call(&arguments).run()?.success()?;
        let dir = kgauge.folder.join(&out);
        let topic = stored(&dir.join("target-data"))?;
        let records = topic.records.len();
        let (acked, on_broker) = counted(&dir)?;
        let is_sum = is_sum(&dir, agents)?;
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
    is_good &= trials.len() == 6 && status.is_some_and(|status| status.success());
    let status = status.map_or_else(|| "none".to_owned(), |status| status.to_string());
    print_line(&format!("dcos-2018 producers: {status}"));
    Ok(is_good)
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

/// Whether what a reader gets is the sum of all lines of all agents' files, and every agent has sent some.
fn is_sum(dir: &Path, agents: u32) -> Result<bool> {
    let read = RunRead::open(dir)?;
    ensure!(read.defects.is_empty(), "defects: {:?}", read.defects);
    let repeat = read.repeats.first().context("no repeat")?;
    let mut of_reader: LineSums = BTreeMap::new();
    for (flow, read) in &repeat.flows {
        for (stage, slice) in &read.stages {
            let sum = of_reader.entry((*flow, *stage)).or_default();
            sum.counts = slice.counts;
            for kind in TimeKind::summarised() {
                sum.add_times(kind, slice.times(kind));
            }
        }
    }
    let (of_lines, files) = line_sums(&dir.join("repeats/0000-00"))?;
    Ok(files == agents.max(1) && !of_lines.is_empty() && of_lines == of_reader)
}

type LineSums = BTreeMap<(u16, Stage), LineSum>;

/// What lines of one flow and stage add up to. Each bucket is added here: a wrong addition of slices would agree with
/// itself.
#[derive(Debug, Default, PartialEq, Eq)]
struct LineSum {
    counts: Counts,
    /// By kind and largest time of the bucket.
    buckets: BTreeMap<(TimeKind, u64), u64>,
    /// By kind: the sum of the times.
    sums_ns: BTreeMap<TimeKind, u128>,
}

impl LineSum {
    fn add_times(&mut self, kind: TimeKind, times: &Histogram) {
        for (top_ns, count) in times.buckets() {
            *self.buckets.entry((kind, top_ns)).or_default() += count;
        }
        if !times.is_empty() {
            *self.sums_ns.entry(kind).or_default() += times.sum_ns();
        }
    }

    /// Adds a line. Records that were sent as intended stand once in it, and for three kinds.
    fn add_line(&mut self, slice: &Slice) {
        self.counts.add(&slice.counts);
        for kind in TimeKind::summarised() {
            self.add_times(kind, slice.times(kind));
        }
        let immediate = slice.times(TimeKind::Immediate);
        self.add_times(TimeKind::Response, immediate);
        self.add_times(TimeKind::Service, immediate);
        let mut lag = Histogram::new();
        lag.record(0, immediate.count(), 0);
        self.add_times(TimeKind::Lag, &lag);
    }
}

/// The sums of all lines, and the number of files that have some.
fn line_sums(repeat: &Path) -> Result<(LineSums, u32)> {
    let (mut sums, mut files, mut reader) = (LineSums::new(), 0, LineReader::new());
    for entry in fs::read_dir(repeat)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("slices") {
            continue;
        }
        let lines = fs::read(&path)?;
        files += u32::from(!lines.is_empty());
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let slice = reader.read(line.strip_suffix(b"\n").unwrap_or(line))?;
            let sum = sums.entry((slice.key.flow, slice.key.stage)).or_default();
            sum.add_line(slice);
        }
    }
    Ok((sums, files))
}

#[cfg(test)]
mod tests {
    use kgauge_results::SliceKey;
    use kgauge_results::slice::line::write_line;

    use super::*;

    #[test]
    fn lines_add_up_bucket_by_bucket_as_a_reader_adds_them() {
        let folder = tempfile::tempdir().unwrap();
        let mut sum = Slice::new(SliceKey {
            flow: 1,
            stage: Stage::Hold,
            second: 0,
        });
        for agent in 0..2_u64 {
            let mut slice = Slice::new(sum.key);
            slice.counts.records_acked = 3;
            slice.times_mut(TimeKind::Immediate).record(700, 2, 0);
            slice
                .times_mut(TimeKind::Response)
                .record(900 + agent, 1, 0);
            let mut line = Vec::new();
            write_line(&slice, &mut line).unwrap();
            let path = folder.path().join(format!("slices-{agent}.jsonl"));
            fs::write(path, &line).unwrap();
            sum.add(&slice);
        }
        fs::write(folder.path().join("slices.jsonl"), "").unwrap();
        sum.settle();
        let (sums, files) = line_sums(folder.path()).unwrap();
        let mut expected = LineSum {
            counts: sum.counts,
            ..LineSum::default()
        };
        for kind in TimeKind::summarised() {
            expected.add_times(kind, sum.times(kind));
        }
        assert_eq!(files, 2);
        assert_eq!(sums, LineSums::from([((1, Stage::Hold), expected)]));
    }
}
