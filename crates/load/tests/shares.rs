//! Shares of several agents: together they send exactly what one process sends, record for record.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

mod bench;

use std::path::Path;

use bench::{Bench, TOPIC};
use kgauge_scenario::{Share, Stripe};
use kgauge_wire::compress::Decompressor;
use kgauge_wire::record_batch::batches;

/// Seven producers with keys, three with rates that change, and records of varying sizes.
const FLOWS: &str = "  - {name: keyed, kind: produce, producers: 7, shape: max, records: 5000, record: {size: \
                     {lognormal: {median: 100 B, p99: 1 kB}}, key: {uniform: {keys: 1000}}}}\n  - {name: \
                     timed, kind: produce, producers: 3, shape: {poisson: 4k/s}, records: 2000, record: \
                     {size: 50 B, key: {zipf: {keys: 1k}}, headers: {count: 1}}}";

/// A record as a reader gets it: its partition's folder, key, value.
type StoredRecord = (String, Vec<u8>, Vec<u8>);

fn stored(dir: &Path) -> Vec<StoredRecord> {
    let (mut dirs, mut found) = (vec![dir.to_owned()], Vec::new());
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let partition = dir.file_name().unwrap().to_string_lossy().into_owned();
            let is_log = path.extension().is_some_and(|ending| ending == "log");
            if is_log && partition.starts_with(TOPIC) {
                read_log(&std::fs::read(&path).unwrap(), &partition, &mut found);
            }
        }
    }
    found.sort();
    found
}

fn read_log(bytes: &[u8], partition: &str, found: &mut Vec<StoredRecord>) {
    let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
    for batch in batches(bytes) {
        let records = batch
            .unwrap()
            .records(&mut decompressor, &mut scratch, 1 << 24);
        for record in records.unwrap() {
            let record = record.unwrap();
            let bytes = |part: Option<&[u8]>| part.unwrap_or_default().to_vec();
            found.push((partition.to_owned(), bytes(record.key), bytes(record.value)));
        }
    }
}

/// What agents write, one after the other: each knows only its share.
fn written_by(agents: u32) -> Vec<StoredRecord> {
    let bench = Bench::new();
    let whole = bench.share(FLOWS, "warm-up: 0 s, hold: none");
    for index in 0..agents {
        let stripe = Stripe {
            index,
            count: agents,
        };
        let share: Share = whole.of_agent(stripe);
        bench
            .try_run(&share)
            .unwrap_or_else(|error| panic!("agent {index}: {error}"));
    }
    stored(&bench.stop())
}

#[test]
fn several_agents_write_the_records_of_one_process() {
    let alone = written_by(1);
    assert_eq!(alone.len(), 7_000);
    for agents in [2, 4, 25] {
        let together = written_by(agents);
        assert_eq!(together.len(), alone.len(), "{agents} agents");
        assert!(together == alone, "{agents} agents wrote other records");
    }
}
