//! Measures what the record batch codec costs a record:
//! `cargo run --release -p kgauge-wire --example record_batch_speed`.
//!
//! Each figure is the best of several rounds, for batches of 128 KiB that stay in the cache.

#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::hint::black_box;
use std::time::Instant;

use kgauge_wire::compress::{Codec, Compressor, Decompressor};
use kgauge_wire::record_batch::{
    BatchEncoder, ProducerState, TallyDepth, crc32c, tally, validate_for_append,
};

const BATCH_BYTES: usize = 128 * 1024;
const ROUNDS: usize = 400;
const BATCHES_PER_ROUND: usize = 10;

/// Nanoseconds a record of the fastest round; `batch` does one batch and returns its records.
fn best_ns_per_record(rounds: usize, mut batch: impl FnMut() -> u32) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let mut records = 0;
        let start = Instant::now();
        for _ in 0..BATCHES_PER_ROUND {
            records += batch();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(records));
    }
    best
}

fn report(what: &str, value_bytes: usize, ns: f64) {
    println!(
        "{what:<34} {value_bytes:>6} B {ns:>9.2} ns/record {:>9.1} M records/s",
        1e3 / ns
    );
}

/// A payload that compresses to about half: every second byte is random.
fn payload(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..bytes)
        .map(|index| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if index % 16 < 8 { state as u8 } else { b'x' }
        })
        .collect()
}

fn fill(encoder: &mut BatchEncoder, pool: &[u8], value_bytes: usize) {
    encoder.start(1_700_000_000_000);
    let mut offset = 0;
    let mut index = 0;
    while encoder.has_room_for(value_bytes + 20, BATCH_BYTES) {
        let value = &pool[offset..offset + value_bytes];
        encoder.append_value_only(index >> 7, value_bytes, |to| to.copy_from_slice(value));
        offset += value_bytes;
        if offset + value_bytes > pool.len() {
            offset = 0;
        }
        index += 1;
    }
}

fn encode(pool: &[u8]) {
    for value_bytes in [10, 100, 1_000, 10_000] {
        let mut encoder = BatchEncoder::with_capacity(BATCH_BYTES);
        let ns = best_ns_per_record(ROUNDS, || {
            fill(&mut encoder, pool, value_bytes);
            black_box(encoder.bytes());
            encoder.records()
        });
        report("append_value_only", value_bytes, ns);
        let ns = best_ns_per_record(ROUNDS, || {
            fill(&mut encoder, pool, value_bytes);
            black_box(encoder.finish(&ProducerState::NONE));
            encoder.records()
        });
        report("append_value_only, finish", value_bytes, ns);
        let ns = best_ns_per_record(ROUNDS, || {
            encoder.start(0);
            while encoder.has_room_for(value_bytes + 30, BATCH_BYTES) {
                encoder.append(1, Some(&pool[..8]), Some(&pool[8..8 + value_bytes]), &[]);
            }
            black_box(encoder.finish(&ProducerState::NONE));
            encoder.records()
        });
        report("append with key, finish", value_bytes, ns);
    }
}

fn read(pool: &[u8]) {
    let mut encoder = BatchEncoder::with_capacity(BATCH_BYTES);
    fill(&mut encoder, pool, 100);
    let records = encoder.records();
    let batch = encoder.finish(&ProducerState::NONE);
    let ns = best_ns_per_record(ROUNDS, || {
        black_box(crc32c(black_box(batch)));
        records
    });
    report("CRC alone", 100, ns);
    let ns = best_ns_per_record(ROUNDS, || {
        black_box(validate_for_append(black_box(batch)).is_ok());
        records
    });
    report("validate_for_append", 100, ns);
    let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
    for depth in [TallyDepth::Headers, TallyDepth::Crc, TallyDepth::Records] {
        let ns = best_ns_per_record(ROUNDS, || {
            let buffers = (&mut decompressor, &mut scratch);
            let sum = tally(batch, 0, depth, buffers, 1 << 20, |_, _| ());
            black_box(sum.is_ok());
            records
        });
        report(&format!("tally {depth:?}"), 100, ns);
    }
}

fn codecs(pool: &[u8]) {
    let mut encoder = BatchEncoder::with_capacity(BATCH_BYTES);
    let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
    for codec in Codec::ALL {
        let Ok(mut compressor) = Compressor::new(codec, None) else {
            println!("{codec}: not there");
            continue;
        };
        let ns = best_ns_per_record(ROUNDS / 20, || {
            fill(&mut encoder, pool, 100);
            black_box(
                encoder
                    .finish_compressed(&ProducerState::NONE, &mut compressor)
                    .is_ok(),
            );
            encoder.records()
        });
        report(&format!("encode {codec}"), 100, ns);
        let (batch, records) = (encoder.bytes(), encoder.records());
        let ratio = f64::from(records) * 110.0 / batch.len() as f64;
        let ns = best_ns_per_record(ROUNDS / 20, || {
            let (depth, buffers) = (TallyDepth::Records, (&mut decompressor, &mut scratch));
            let sum = tally(batch, 0, depth, buffers, 1 << 20, |_, _| ());
            assert!(sum.is_ok_and(|sum| sum.records == u64::from(records)));
            records
        });
        report(&format!("read {codec} (ratio {ratio:.2})"), 100, ns);
    }
}

fn main() {
    let pool = payload(1 << 20);
    encode(&pool);
    read(&pool);
    codecs(&pool);
}
