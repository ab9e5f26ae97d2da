//! Runs the simulated cluster under many seeds, and lets `kgauge-verify` judge.
//!
//! ```text
//! cargo run --release -p kgauge-simulation --example verified -- mutants
//! cargo run --release -p kgauge-simulation --example verified -- clean --seeds 1000
//! ```
//!
//! `mutants` breaks one rule after the other, each with 20 seeds unless `--seeds` says otherwise. `clean` breaks none.
//! The exit status is 1 if a class is never found, or if there was an alarm.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people who work on the verification"
)]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use kgauge_results::run::Anomaly;
use kgauge_simulation::{SeedPlan, VerifiedOutcome, mutants, run_verified};

const USAGE: &str = "usage: verified mutants|clean [--seeds N] [--from SEED]";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |name: &str, default: u64| match words.iter().position(|word| *word == name) {
        Some(at) => words.get(at + 1).and_then(|text| text.parse().ok()),
        None => Some(default),
    };
    let is_good = match (words.first(), number("--from", 0)) {
        (Some(&"mutants"), Some(from)) => number("--seeds", 20).map(|seeds| are_found(from, seeds)),
        (Some(&"clean"), Some(from)) => number("--seeds", 1_000).map(|seeds| is_clean(from, seeds)),
        _ => None,
    };
    match is_good {
        Some(is_good) => ExitCode::from(u8::from(!is_good)),
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs all plans, on all processors.
fn run_all(plans: &[SeedPlan]) -> Vec<VerifiedOutcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(plan) = plans.get(index) else { break };
                    let outcome = run_verified(plan);
                    let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                    outcomes.insert(index, outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner();
    let outcomes = outcomes.unwrap_or_else(PoisonError::into_inner);
    outcomes.into_values().collect()
}

/// Whether every class of every mutant was found.
fn are_found(from: u64, seeds: u64) -> bool {
    let mut are_found = true;
    println!("mutant                          class                 found        also found");
    for mutant in mutants() {
        let plans: Vec<SeedPlan> = (from..from + seeds).map(|seed| mutant.plan(seed)).collect();
        let mut found: BTreeMap<Anomaly, u64> = BTreeMap::new();
        for outcome in run_all(&plans) {
            for one in outcome.anomalies.iter().filter(|one| one.is_forbidden) {
                *found.entry(one.anomaly).or_default() += 1;
            }
        }
        let others = found.iter();
        let others = others.filter(|(class, _)| !mutant.anomalies.contains(class));
        let others = others.map(|(class, count)| format!("{class:?} {count}"));
        let others: Vec<String> = others.collect();
        for class in mutant.anomalies {
            let count = found.get(class).copied().unwrap_or(0);
            are_found &= count > 0;
            let class = format!("{class:?}");
            println!(
                "{:<32}{class:<22}{count:>3} of {seeds:<6}{}",
                mutant.name,
                others.join(", ")
            );
        }
    }
    are_found
}

/// Whether the unmodified cluster raises no alarm. A third of the seeds has a consumer group.
fn is_clean(from: u64, seeds: u64) -> bool {
    let plan = |seed: u64| SeedPlan {
        members: if seed.is_multiple_of(3) { 3 } else { 0 },
        ..SeedPlan::new(seed)
    };
    let plans: Vec<SeedPlan> = (from..from + seeds).map(plan).collect();
    let began = Instant::now();
    let (mut faults, mut acked, mut permitted, mut alarms) = (0, 0, 0, 0);
    for (plan, outcome) in plans.iter().zip(run_all(&plans)) {
        faults += outcome.faults;
        acked += outcome.acked;
        for one in outcome.anomalies {
            if one.is_forbidden {
                alarms += 1;
                println!("seed {}: {} {:?}", plan.seed, one.count, one.anomaly);
            } else {
                permitted += one.count;
            }
        }
    }
    println!(
        "{seeds} seeds in {:.0} s: {faults} faults, {acked} acked records, {permitted} permitted anomalies, {alarms} \
         alarms",
        began.elapsed().as_secs_f64()
    );
    alarms == 0
}
