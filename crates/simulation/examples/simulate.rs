//! Runs the cluster's logic in virtual time under many seeds.
//!
//! ```text
//! cargo run --release -p kgauge-simulation --example simulate -- --seeds 10000
//! cargo run --release -p kgauge-simulation --example simulate -- --from 4711 --seeds 1 --tell
//! cargo run --release -p kgauge-simulation --example simulate -- --seeds 1000 --members 3
//! cargo run --release -p kgauge-simulation --example simulate -- --break dedupe
//! ```
//!
//! `--members` adds a consumer group. `--break ack|commit|truncate|dedupe` breaks a rule on purpose and stops at the
//! first seed that notices.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people who work on the cluster"
)]

use std::process::ExitCode;
use std::time::Instant;

use kgauge_broker::node::Deviations;
use kgauge_simulation::{SeedPlan, run};

struct Options {
    from: u64,
    seeds: u64,
    members: u16,
    tell: bool,
    deviations: Deviations,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        from: 0,
        seeds: 100,
        members: 0,
        tell: false,
        deviations: Deviations::default(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is not a number"));
        match word.as_str() {
            "--from" => options.from = number(value()?)?,
            "--seeds" => options.seeds = number(value()?)?,
            "--members" => {
                let members = number(value()?)?;
                options.members = u16::try_from(members).map_err(|_| "too many members")?;
            }
            "--tell" => options.tell = true,
            "--break" => match value()?.as_str() {
                "ack" => options.deviations.ack_before_replication = true,
                "commit" => options.deviations.commit_before_replication = true,
                "truncate" => options.deviations.truncate_to_high_watermark = true,
                "dedupe" => options.deviations.batches_kept = Some(4),
                other => return Err(format!("--break ack|commit|truncate|dedupe, not {other}")),
            },
            other => return Err(format!("unknown option {other}")),
        }
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
    let start = Instant::now();
    let broken = options.deviations != Deviations::default();
    let (mut events, mut faults, mut acked, mut elections) = (0, 0, 0, 0);
    let (mut by_leader, mut lost) = (0, 0);
    let (mut commits, mut generations) = (0, 0);
    for seed in options.from..options.from + options.seeds {
        let plan = SeedPlan {
            deviations: options.deviations,
            members: options.members,
            ..SeedPlan::new(seed)
        };
        let tell = options.tell;
        let outcome = run(&plan, &mut |line| {
            if tell {
                println!("{line}");
            }
        });
        match outcome {
            Ok(outcome) => {
                events += outcome.events;
                faults += outcome.faults;
                acked += outcome.acked;
                elections += outcome.elections;
                by_leader += outcome.acked_by_leader;
                lost += outcome.lost_by_leader;
                commits += outcome.commits;
                generations += outcome.generations;
            }
            Err(failure) => {
                println!("{failure}");
                let after = seed - options.from + 1;
                println!(
                    "found after {after} seeds, {:.1} s",
                    start.elapsed().as_secs_f64()
                );
                return ExitCode::from(u8::from(!broken));
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} seeds, {:.1} per second: {events} events, {faults} faults, {elections} leaders; acks=all: \
         {acked} records, none lost; acks=1: {by_leader} records, {lost} lost",
        options.seeds,
        options.seeds as f64 / seconds
    );
    if options.members > 0 {
        println!("the group: {generations} generations, {commits} commits, none lost");
    }
    ExitCode::from(u8::from(broken))
}
