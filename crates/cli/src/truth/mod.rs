//! `kgauge truth`: known answers, put to kgauge itself.
//!
//! Each check is a scenario with faults whose outcome follows from arithmetic. It runs as any user's scenario does, and
//! the check reads the run folder as any reader would. `docs/guide/truth.md` says what each proves.

mod capacity;
mod counts;
mod delay;
mod formula;
mod little;
mod lost;
mod machine;
mod row;
mod runs;
mod scenarios;
mod slices;
mod stall;
mod table;
mod tool;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use kgauge_scenario::{Scenario, Size};
use serde::Serialize;

use crate::args::{Doubt, TruthArgs};
use crate::exit::{ExitStatus, OrStop, stop};
use crate::interrupt;
use crate::print;
use crate::progress::seconds;
use crate::run_ids::{fresh_number, run_dir, run_id, unix_ms};
use row::{RowVerdict, TruthRow, TruthUnit};
use runs::{RunOrder, Runs};
use scenarios::TruthScenario;

/// A check: what it is about, and what it needs.
struct Check {
    name: &'static str,
    title: &'static str,
    /// The formula in words.
    formula: &'static str,
    scenarios: &'static [TruthScenario],
    how: How,
}

/// How a check comes to its rows.
enum How {
    /// From run folders.
    Read(fn(&Runs) -> Vec<TruthRow>),
    /// From run folders, with a latency that begins when the order says.
    Latency(fn(&Runs, stall::From) -> Vec<TruthRow>),
    /// By cutting a run folder up.
    Cut,
    /// By a run of its own, beside Kafka's tool.
    Tool,
}

const CHECKS: &[Check] = &[
    Check {
        name: "stall",
        title: "the broker stands still for 1 s",
        formula: "A record that is due t before the stall's end waits t. Of a hold of length D the part \
                  (1 s - x) / D waits longer than x, so in 60 s p99 is 400 ms and p99.9 is 940 ms. Poisson arrivals \
                  differ from that by chance: the rank of a quantile is binomial.",
        scenarios: &[scenarios::STALL],
        how: How::Latency(stall::of_one),
    },
    Check {
        name: "stalls",
        title: "two stalls of 0.5 s and 2 s; stalls over both borders of the hold",
        formula: "Parts add up: ((0.5 s - x) + (2 s - x)) / D, each counted where it is positive. Of a stall \
                  over a border only records that were due in the hold count: 1 s before the end of the first, \
                  and from 1 s to 1.5 s before the end of the second.",
        scenarios: &[scenarios::TWO_STALLS, scenarios::BORDER_STALLS],
        how: How::Latency(stall::of_several),
    },
    Check {
        name: "capacity",
        title: "a node lets through so much and no more",
        formula: "Throughput at full speed is the capacity that was set, which no client is told.",
        scenarios: &[scenarios::CAPACITY, scenarios::CAPACITY_FETCH],
        how: How::Read(capacity::rows),
    },
    Check {
        name: "delay",
        title: "requests of one API are delayed by times from a known distribution",
        formula: "Each quantile is that of the delays drawn, plus what a request takes without a delay (from its \
                  least to its p99, measured in the run in which only the other API is delayed).",
        scenarios: &[scenarios::DELAY_PRODUCE, scenarios::DELAY_FETCH],
        how: How::Read(delay::rows),
    },
    Check {
        name: "counts",
        title: "answers fail and connections drop",
        formula: "The client's count of records by outcome is the nodes' own count of records in the requests \
                  that they struck; on a node is what was acked, and of unknown fate what it was told to carry out.",
        scenarios: &[scenarios::COUNTS],
        how: How::Read(counts::rows),
    },
    Check {
        name: "little",
        title: "Little's law",
        formula: "Records in flight, integrated over the whole run, are the rate times the mean time from sent to acked.",
        scenarios: &[scenarios::STALL, scenarios::TWO_STALLS, scenarios::CAPACITY],
        how: How::Read(little::rows),
    },
    Check {
        name: "recorder",
        title: "a recorder that is wrong on purpose",
        formula: "A latency that starts when the record was really sent leaves out how long the producer was \
                  blocked. Put to the check `stall` it has to fail.",
        scenarios: &[scenarios::STALL],
        how: How::Read(stall::of_a_wrong_recorder),
    },
    Check {
        name: "slices",
        title: "slices of a run, cut in any way",
        formula: "They add up to the same counts in every bucket, and to the same summary: so many differ.",
        scenarios: &[scenarios::STALL],
        how: How::Cut,
    },
    Check {
        name: "kafka-tool",
        title: "kafka-producer-perf-test of Kafka 4.3.1 beside kgauge, same cluster, same stall",
        formula: "The same arithmetic. The tool's clock starts when send() is called, and with a full buffer it is \
                  called late. Its figures are shown, not judged.",
        scenarios: &[],
        how: How::Tool,
    },
];

/// More tries than this are not made.
const TRIES_MAX: u32 = 10;

/// What `--json` prints, and what stands in `truth.json`.
#[derive(Debug, Serialize)]
struct TruthJson<'a> {
    format: u32,
    kgauge_version: &'static str,
    quick: bool,
    seconds: f64,
    /// The part of the machine's processors that other programs used, in the run in which it was most.
    used_by_others_max: Option<f64>,
    /// Whether all figures are what they must be.
    good: bool,
    /// How many are not.
    failed: usize,
    /// How many other programs may have changed.
    inconclusive: usize,
    rows: &'a [TruthRow],
}

/// Runs the suite, or reads an earlier one; prints its table, and gives 1 when a figure is wrong, else 2 when one is
/// inconclusive.
pub(crate) fn truth(arguments: &TruthArgs) -> anyhow::Result<ExitStatus> {
    let checks = chosen(arguments)?;
    let started = Instant::now();
    let number = fresh_number();
    let seed = arguments.seed.unwrap_or(number);
    if let Some(dir) = &arguments.again {
        let mut runs = Runs::default();
        for scenario in needed(&checks).into_iter().chain([scenarios::BESIDE]) {
            runs.read(scenario, dir, 1)?;
        }
        let mut rows = judge(arguments, &checks, &mut runs, (dir, None), seed)?;
        for tries in 2..=TRIES_MAX {
            let open = inconclusive(&checks, &rows);
            let mut found = false;
            for scenario in needed(&open) {
                found |= runs.read(scenario, dir, tries)?;
            }
            if !found {
                break;
            }
            let again = judge(arguments, &open, &mut runs, (dir, None), seed)?;
            merge((&checks, &mut rows), (&open, again), tries);
        }
        let others = runs.used_by_others_max();
        return write_results(arguments, (&checks, rows), others, (started, dir));
    }
    let id = run_id(unix_ms(), number);
    let dir = run_dir(arguments.out.as_deref(), "truth", &id)?;
    check_is_free(&dir)?;
    let stopping = interrupt::listen("stopping")?;
    let order = RunOrder {
        dir: &dir,
        quick: arguments.quick,
        seed: arguments.seed,
        stopping: &stopping,
    };
    announce(&checks, &order);
    let mut runs = Runs::default();
    for scenario in needed(&checks) {
        runs.make(scenario, &order, 1, None)?;
    }
    let mut rows = judge(arguments, &checks, &mut runs, (&dir, Some(&order)), seed)?;
    for tries in 2..=arguments.tries.min(TRIES_MAX) {
        let open = inconclusive(&checks, &rows);
        if open.is_empty() {
            break;
        }
        announce_again(&open, &rows, (tries, arguments.tries));
        for scenario in needed(&open) {
            runs.make(scenario, &order, tries, None)?;
        }
        let again = judge(arguments, &open, &mut runs, (&dir, Some(&order)), seed)?;
        merge((&checks, &mut rows), (&open, again), tries);
    }
    let others = runs.used_by_others_max();
    write_results(arguments, (&checks, rows), others, (started, &dir))
}

/// The checks with a figure that is inconclusive.
fn inconclusive(checks: &[&'static Check], rows: &[Vec<TruthRow>]) -> Vec<&'static Check> {
    let is_open = |rows: &Vec<TruthRow>| {
        rows.iter()
            .any(|row| row.verdict == RowVerdict::Inconclusive)
    };
    let open = checks.iter().zip(rows).filter(|(_, rows)| is_open(rows));
    open.map(|(check, _)| *check).collect()
}

/// Puts the rows of another try to those before.
fn merge(
    (checks, rows): (&[&Check], &mut [Vec<TruthRow>]),
    (open, again): (&[&Check], Vec<Vec<TruthRow>>),
    tries: u32,
) {
    for (check, again) in open.iter().zip(again) {
        let place = checks.iter().position(|one| one.name == check.name);
        let Some(rows) = place.and_then(|place| rows.get_mut(place)) else {
            continue;
        };
        for new in again {
            if let Some(row) = rows.iter_mut().find(|row| row.figure == new.figure) {
                *row = row.clone().or_again(new, tries);
            }
        }
    }
}

/// The rows of each check. Without an order nothing is run.
fn judge(
    arguments: &TruthArgs,
    checks: &[&Check],
    runs: &mut Runs,
    (dir, order): (&Path, Option<&RunOrder<'_>>),
    seed: u64,
) -> anyhow::Result<Vec<Vec<TruthRow>>> {
    let mut rows = Vec::new();
    for check in checks {
        let mut found = match &check.how {
            How::Read(read) => read(runs),
            How::Latency(read) => read(runs, latency_from(arguments)),
            How::Cut => slices::rows(runs, &dir.join("cut"), seed)?,
            How::Tool => match order {
                Some(order) => tool::rows(runs, order)?,
                None => tool::rows_again(runs, dir),
            },
        };
        if found.is_empty() {
            let words = format!("{} has no runs for it", dir.display());
            found.push(TruthRow::missing(check.name, "nothing", words));
        }
        if arguments.doubt == Some(Doubt::Figures) {
            found.iter_mut().for_each(doubt_figures);
        }
        rows.push(found);
    }
    Ok(rows)
}

fn write_results(
    arguments: &TruthArgs,
    (checks, rows): (&[&Check], Vec<Vec<TruthRow>>),
    used_by_others: Option<f64>,
    (started, dir): (Instant, &Path),
) -> anyhow::Result<ExitStatus> {
    let parts = checks
        .iter()
        .zip(&rows)
        .map(|(check, rows)| table::TruthTable {
            name: check.name,
            title: check.title,
            formula: check.formula,
            rows,
        });
    let text = table::text(&parts.collect::<Vec<_>>());
    let all: Vec<TruthRow> = rows.into_iter().flatten().collect();
    let failed = all.iter().filter(|row| row.verdict.is_bad()).count();
    let inconclusive = all.iter();
    let inconclusive = inconclusive
        .filter(|row| row.verdict == RowVerdict::Inconclusive)
        .count();
    let told = TruthJson {
        format: 1,
        kgauge_version: env!("CARGO_PKG_VERSION"),
        quick: arguments.quick,
        seconds: started.elapsed().as_secs_f64(),
        used_by_others_max: used_by_others,
        good: failed + inconclusive == 0,
        failed,
        inconclusive,
        rows: &all,
    };
    if arguments.again.is_none() {
        let json = serde_json::to_string_pretty(&told)? + "\n";
        let path = dir.join("truth.json");
        std::fs::create_dir_all(dir)
            .and_then(|()| std::fs::write(&path, json))
            .with_context(|| format!("cannot write {}", path.display()))
            .or_unwritable()?;
    }
    if arguments.json {
        print::json(&told)?;
    } else {
        print::result(&format!(
            "{text}\n{}\n\nRun folders  {}\n",
            table::closing(&all, used_by_others),
            dir.display()
        ));
    }
    Ok(match (failed, inconclusive) {
        (0, 0) => ExitStatus::Good,
        (0, _) => ExitStatus::BadInput,
        _ => ExitStatus::Failed,
    })
}

fn chosen(arguments: &TruthArgs) -> anyhow::Result<Vec<&'static Check>> {
    let is_known = |name: &String| CHECKS.iter().any(|check| check.name == name);
    if let Some(unknown) = arguments.only.iter().find(|name| !is_known(name)) {
        let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        let words = format!(
            "--only {unknown}: there is no such check\n  checks: {}",
            names.join(", ")
        );
        return Err(stop(ExitStatus::BadInput, words));
    }
    let is_wanted = |check: &&Check| {
        arguments.only.is_empty() || arguments.only.iter().any(|it| it == check.name)
    };
    Ok(CHECKS.iter().filter(is_wanted).collect())
}

/// Each scenario once, in the order of the checks.
fn needed(checks: &[&Check]) -> Vec<TruthScenario> {
    let mut needed: Vec<TruthScenario> = Vec::new();
    for scenario in checks.iter().flat_map(|check| check.scenarios) {
        if !needed.contains(scenario) {
            needed.push(*scenario);
        }
    }
    needed
}

fn check_is_free(dir: &Path) -> anyhow::Result<()> {
    let is_used = dir
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_some());
    if is_used {
        let words = format!("{} is not empty; name another folder", dir.display());
        return Err(stop(ExitStatus::BadInput, words));
    }
    Ok(())
}

fn announce_again(open: &[&Check], rows: &[Vec<TruthRow>], (tries, of): (u32, u32)) {
    let figures = rows.iter().flatten();
    let figures = figures.filter(|row| row.verdict == RowVerdict::Inconclusive);
    let names: Vec<&str> = open.iter().map(|check| check.name).collect();
    print::message(&format!(
        "kgauge: {} inconclusive, because other programs used the machine; measuring {} again (try {tries} of {of})",
        figures.count(),
        names.join(", "),
    ));
}

fn announce(checks: &[&Check], order: &RunOrder<'_>) {
    /// Starting and ending a cluster, connecting, the last answers.
    const BETWEEN: Duration = Duration::from_millis(1_500);
    let mut scenarios = needed(checks);
    if checks.iter().any(|check| matches!(check.how, How::Tool)) {
        scenarios.push(scenarios::BESIDE);
    }
    let size = if order.quick {
        Size::Quick
    } else {
        Size::Default
    };
    let lengths = scenarios.iter().flat_map(|shipped| {
        let parsed = Scenario::parse(shipped.name, shipped.text);
        parsed.map_or_else(|_| Vec::new(), |scenario| scenario.trials(size))
    });
    let lengths = lengths.map(|trial| {
        let ns = trial.stages.warm_up_ns + trial.stages.hold_ns.unwrap_or(0);
        Duration::from_nanos(ns) + BETWEEN
    });
    print::message(&format!(
        "kgauge: truth, {} checks from {} runs, about {}; results in {}",
        checks.len(),
        scenarios.len(),
        seconds(lengths.sum()),
        order.dir.display()
    ));
}

fn latency_from(arguments: &TruthArgs) -> stall::From {
    match arguments.doubt {
        Some(Doubt::Recorder) => stall::From::Sent,
        _ => stall::From::Intended,
    }
}

/// The same row with a wrong expectation: 5 % more, and of what is counted one more.
fn doubt_figures(row: &mut TruthRow) {
    let is_count = matches!(row.unit, TruthUnit::Records | TruthUnit::Count);
    let wrong = |value: f64| value * 1.05 + f64::from(u8::from(is_count));
    let (Some(low), Some(high), Some(measured)) = (row.low, row.high, row.measured) else {
        return;
    };
    row.expected = row.expected.map(wrong);
    (row.possible_low, row.possible_high) = (None, None);
    (row.low, row.high) = (Some(wrong(low)), Some(wrong(high)));
    let fits = (wrong(low)..=wrong(high)).contains(&measured);
    row.verdict = match (row.verdict, fits) {
        (RowVerdict::Pass | RowVerdict::Fail | RowVerdict::Inconclusive, true) => RowVerdict::Pass,
        (RowVerdict::Pass | RowVerdict::Fail | RowVerdict::Inconclusive, false) => RowVerdict::Fail,
        (
            verdict @ (RowVerdict::Caught
            | RowVerdict::NotCaught
            | RowVerdict::Information
            | RowVerdict::Missing),
            _,
        ) => verdict,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_valid_and_one_trial() {
        for shipped in scenarios::ALL {
            let scenario = Scenario::parse(shipped.name, shipped.text).unwrap();
            assert_eq!(scenario.name(), shipped.name);
            for size in [Size::Quick, Size::Default] {
                let trials = scenario.trials(size);
                assert_eq!(trials.len(), 1, "{}", shipped.name);
                assert_eq!(trials[0].repeats, 1, "{}", shipped.name);
            }
        }
    }

    #[test]
    fn every_stall_is_over_before_its_hold_in_every_size_but_those_at_the_border() {
        for shipped in [scenarios::STALL, scenarios::TWO_STALLS, scenarios::BESIDE] {
            let scenario = Scenario::parse(shipped.name, shipped.text).unwrap();
            for size in [Size::Quick, Size::Default] {
                let trial = scenario.trials(size).remove(0);
                let hold = formula::StalledHold::of(&trial, |_| Vec::new()).unwrap();
                for span in hold.spans {
                    assert!(span.first_due_ns > 0.0 && span.answered_ns < hold.hold_ns);
                }
            }
        }
    }

    #[test]
    fn a_wrong_expectation_fails_every_figure() {
        let exact = row::ExpectedValue::exact(TruthUnit::Count, 0.0);
        let within = row::ExpectedValue::within(TruthUnit::Nanoseconds, 400e6, 0.01);
        for mut row in [
            exact.row("slices", "buckets", Some(0.0)),
            within.row("stall", "p99", Some(401e6)),
        ] {
            assert_eq!(row.verdict, RowVerdict::Pass);
            doubt_figures(&mut row);
            assert_eq!(row.verdict, RowVerdict::Fail, "{row:?}");
        }
    }
}
