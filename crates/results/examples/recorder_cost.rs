//! What the recorder costs: nanoseconds a call and a record, the writer's CPU, and how long a
//! run of an hour takes to read. `cargo run --release -p kgauge-results --example recorder_cost`
//!
//! Marks: a call with a run of equal times below 15 ns, below 3 ns a record in a realistic run.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // It is for reading by people.

use std::hint::black_box;
use std::time::{Duration, Instant};

use kgauge_results::run::{RepeatKey, RunHead};
use kgauge_results::{AnsweredRequest, Recorder, RunFolder, RunRead, SliceSink, StageBorders};

const CALLS: u64 = 20_000_000;
/// Long enough that the last call is in the ninth second.
const STEP_NS: u64 = 450;

fn main() {
    one_call(
        "acked, closed loop (times equal)",
        1,
        |recorder, at_ns, delay_ns| {
            recorder.acked(at_ns, at_ns, at_ns + delay_ns, 1, 100);
        },
    );
    one_call(
        "acked, open loop (three times)",
        1,
        |recorder, at_ns, delay_ns| {
            recorder.acked(at_ns, at_ns + lag_ns(at_ns), at_ns + delay_ns, 1, 100);
        },
    );
    one_call(
        "scheduled + sent + acked, open loop, each record its own time",
        1,
        |r, at, delay| {
            r.scheduled(at, 1);
            r.sent(at + 700, 1);
            r.acked(at, at + 700, at + delay, 1, 100);
        },
    );
    one_call(
        "closed loop, 20 records a run, with requests",
        20,
        |r, at_ns, delay_ns| {
            r.scheduled(at_ns, 20);
            r.sent(at_ns, 20);
            r.acked(at_ns, at_ns, at_ns + delay_ns, 20, 2_000);
            if at_ns % (64 * STEP_NS) == 0 {
                let request = AnsweredRequest {
                    wire_bytes: 130_000,
                    batches: 1,
                    records: 1_280,
                    round_trip_ns: Some(delay_ns),
                };
                r.request(at_ns + delay_ns, request);
            }
        },
    );
    an_hour_on_disk();
}

/// Delays as a busy broker gives them: some milliseconds, spread over a few hundred buckets.
fn delay_ns(index: u64) -> u64 {
    2_000_000 + (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44) * 4
}

/// Lags of a generator that keeps its schedule: up to some microseconds.
fn lag_ns(at_ns: u64) -> u64 {
    500 + (at_ns.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52)
}

fn one_call(what: &str, records: u64, mut call: impl FnMut(&mut Recorder, u64, u64)) {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let (sink, slices) = SliceSink::memory();
        let mut recorder = Recorder::new(0, StageBorders::closed(1_000_000_000, 1 << 40), sink);
        let begin_ns = cpu_ns();
        for index in 0..CALLS {
            call(&mut recorder, black_box(index * STEP_NS), delay_ns(index));
        }
        let took_ns = cpu_ns() - begin_ns;
        recorder.finish();
        black_box(slices.take());
        best = best.min(took_ns / CALLS as f64);
    }
    let of_loop = bare_loop_ns();
    println!(
        "{what}: {:.2} ns a turn, {:.2} ns a record",
        best - of_loop,
        (best - of_loop) / records as f64
    );
}

/// The loop and the making of delays, which are not the recorder's.
fn bare_loop_ns() -> f64 {
    let begin_ns = cpu_ns();
    for index in 0..CALLS {
        black_box((black_box(index * STEP_NS), delay_ns(index)));
    }
    (cpu_ns() - begin_ns) / CALLS as f64
}

/// CPU time of this thread: other work on the machine does not count.
fn cpu_ns() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Two threads' worth of slices over an hour, through the writer and back.
fn an_hour_on_disk() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let head = RunHead::starting("cost".to_owned(), Vec::new(), 0);
    let folder = RunFolder::create(&dir, head).unwrap();
    let repeat = folder
        .begin_repeat(RepeatKey {
            trial: 0,
            repeat: 0,
        })
        .unwrap();
    let mut recorders =
        [0, 0].map(|flow| Recorder::new(flow, StageBorders::open(0), repeat.sink()));
    let begin = Instant::now();
    for second in 0..3_600_u64 {
        for recorder in &mut recorders {
            for index in 0..5_000 {
                let at_ns = second * 1_000_000_000 + index * 200_000;
                recorder.acked(at_ns, at_ns + 900, at_ns + delay_ns(at_ns), 10, 1_000);
            }
            recorder.tick();
        }
        // Ahead of the clock the queue would fill: let the writer keep up.
        if second % 50 == 0 {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    for recorder in recorders {
        recorder.finish();
    }
    println!(
        "an hour of two threads: made in {:.1} s",
        begin.elapsed().as_secs_f64()
    );
    drop(repeat);
    let bytes = std::fs::metadata(dir.join("repeats/0000-00/slices.jsonl"))
        .unwrap()
        .len();
    let begin = Instant::now();
    let run = RunRead::open(&dir).unwrap();
    println!(
        "read back {:.1} MB, {} seconds, in {:.2} s",
        bytes as f64 / 1e6,
        run.repeats[0].flows[&0].seconds.len(),
        begin.elapsed().as_secs_f64()
    );
}
