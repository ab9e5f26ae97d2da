//! A verified load on two agents: the lead has the ledgers of all clients, as one process would have written them.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

mod bench;

use std::collections::BTreeMap;
use std::fs::File;

use bench::Bench;
use kgauge_load::{LedgerFolder, LedgerName};
use kgauge_scenario::Share;
use kgauge_verify::{BatchFate, LedgerEntry, LedgerReader, producer_number};

fn share() -> Share {
    let flows = "  - {name: writers, kind: produce, producers: 3, shape: {constant: 3k/s}, record: {size: 100 B}}\n  - \
                 {name: readers, kind: consume, consumers: 2, from: earliest}";
    let mut share = bench::share(flows, "1 s");
    share.trial.verify = true;
    share
}

fn entries(ledgers: &LedgerFolder, name: LedgerName, number: u32) -> Vec<LedgerEntry> {
    let mut reader = LedgerReader::new(File::open(ledgers.path(name)).unwrap()).unwrap();
    assert_eq!(reader.producer(), number);
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        entries.push(entry);
    }
    assert_eq!(entries.last(), Some(&LedgerEntry::Closed), "{name}");
    entries
}

#[test]
fn ledgers_of_all_agents_reach_the_lead_whole() {
    let mut bench = Bench::new();
    let mut pool = bench.gather().unwrap();
    let share = share();
    bench.prepare(&mut pool, &share).unwrap();
    let clock = pool.announce_start();
    let run = bench.run(&mut pool, &share, clock, &mut |_, _| {});
    assert_eq!(run.trouble, None);
    assert_eq!(run.outcome.flows[0].totals.acked, 3_000);
    let ledgers = bench.ledgers.clone().unwrap();
    for producer in 0..3 {
        let name = LedgerName::of_producer(0, producer);
        let mut next: BTreeMap<u32, u64> = BTreeMap::new();
        for entry in entries(&ledgers, name, producer_number(0, producer)) {
            match entry {
                LedgerEntry::Batch(batch) => {
                    assert_eq!(batch.fate, BatchFate::Acked);
                    let next = next.entry(batch.partition).or_default();
                    assert_eq!(batch.sequence, *next, "nothing is missing before");
                    *next += u64::from(batch.count);
                }
                LedgerEntry::Clock(unix_ms) => {
                    let start_ms = clock.unix_ms(0).unsigned_abs();
                    assert!((start_ms..start_ms + 60_000).contains(&unix_ms));
                }
                _ => {}
            }
        }
        assert_eq!(next.values().sum::<u64>(), 1_000, "{name}");
    }
    let consumed: u64 = (0..2)
        .flat_map(|consumer| entries(&ledgers, LedgerName::of_consumer(1, consumer), consumer))
        .map(|entry| match entry {
            LedgerEntry::Read(span) => span.end - span.from,
            _ => 0,
        })
        .sum();
    assert_eq!(consumed, run.outcome.flows[1].totals.consumed);
}
