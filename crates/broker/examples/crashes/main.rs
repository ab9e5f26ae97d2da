//! Lets one node of three crash and come back again and again while producers write, and then finds
//! out what became of every record that was acknowledged.
//!
//! ```text
//! cargo run --release -p kgauge-broker --example crashes -- --seconds 300
//! cargo run --release -p kgauge-broker --example crashes -- --seconds 300 --acks 1
//! ```
//!
//! A crash loses what the node had not flushed, and is over when all replicas are in sync again. With
//! `--acks all` (idempotent producers, `min.insync.replicas=2`) every acknowledged record must be there
//! once, in order, and all replicas equal: else the exit status is 1. With `--acks 1` what was lost or
//! doubled is counted. `--seed` chooses nodes and times, `--producers`, `--partitions` and `--rate` the
//! load, `--data` the folder. Everything after `--outside` is the command line of a program that
//! produces instead, such as Kafka's verifiable producer; `cargo xtask crashes` does that.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people who work on the cluster"
)]

mod trial;

use std::process::ExitCode;
use std::time::Duration;

use trial::{Acks, Failure, Outcome, Plan, Promise};

struct Options {
    plan: Plan,
    data: Option<std::path::PathBuf>,
}

fn options() -> Result<Options, Failure> {
    let mut options = Options {
        plan: Plan {
            seed: 1,
            time: Duration::from_secs(60),
            acks: Acks::All,
            partitions: 6,
            producers: 2,
            records_per_second: 10_000,
            gap_ms: 200..2_000,
            down_ms: 50..4_000,
            outside: None,
        },
        data: None,
    };
    let plan = &mut options.plan;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--outside" {
            plan.outside = Some(words.by_ref().collect());
            break;
        }
        let value = words.next().ok_or(format!("{word} wants a value"))?;
        match word.as_str() {
            "--seconds" => plan.time = Duration::from_secs(value.parse()?),
            "--seed" => plan.seed = value.parse()?,
            "--producers" => plan.producers = value.parse()?,
            "--partitions" => plan.partitions = value.parse()?,
            "--rate" => plan.records_per_second = value.parse()?,
            "--data" => options.data = Some(value.into()),
            "--acks" => {
                plan.acks = match value.as_str() {
                    "all" | "-1" => Acks::All,
                    "1" => Acks::Leader,
                    other => return Err(format!("--acks all|1, not {other}").into()),
                }
            }
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    if plan.producers == 0 || plan.partitions < 1 {
        return Err("there must be a producer and a partition".into());
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(words) => {
            eprintln!("{words}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(outcome) => report(&options.plan, &outcome),
        Err(failure) => {
            eprintln!("seed {}: {failure}", options.plan.seed);
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let tell = &mut |line: &str| eprintln!("{line}");
    match &options.data {
        Some(dir) => trial::run(&options.plan, dir, tell),
        None => trial::run(&options.plan, tempfile::tempdir()?.path(), tell),
    }
}

fn report(plan: &Plan, outcome: &Outcome) -> ExitCode {
    let (crashes, sum) = (&outcome.crashes, &outcome.reckoning);
    let (promise, name) = match plan.acks {
        Acks::All => (Promise::Exact, "acks=all"),
        Acks::Leader => (Promise::Counted, "acks=1"),
    };
    println!(
        "{name}, seed {}: {} crashes in {:.0} s ({} of leaders, {} over before they were noticed), \
         {} bytes not flushed and lost, {:.0} s with a replica out of sync",
        plan.seed,
        crashes.count,
        crashes.time.as_secs_f64(),
        crashes.leaders,
        crashes.unnoticed,
        crashes.bytes_lost,
        crashes.not_whole.as_secs_f64(),
    );
    println!(
        "{} records acknowledged, {} batches sent again; found {} records, {} of them never \
         acknowledged",
        sum.acked, sum.again, sum.found, sum.found_unacked
    );
    println!(
        "lost {}, doubled {}, out of order {}, not at their acknowledged offset {}; the replicas \
         are equal",
        sum.lost, sum.doubled, sum.disordered, sum.misplaced
    );
    let broken = sum.broken(promise);
    if broken.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("BROKEN: {}", broken.join("; "));
    ExitCode::FAILURE
}
