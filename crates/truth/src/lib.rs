//! The known-answer suite: kgauge runs scenarios whose figures follow from arithmetic.
//!
//! Goals: each check is a scenario with faults that runs as any user's scenario does; the check reads the run folder as
//! any reader would, and compares it with a formula. `docs/guide/truth.md` explains what each proves.
//!
//! Non-goals: no hooks into the load engine or the recorder, no retries that hide a wrong figure, no printing.
//!
//! Where to start: [`truth`], then `formula.rs` (the arithmetic) and `stall.rs` (the simplest check).

mod capacity;
mod counts;
mod delay;
mod files;
mod formula;
mod little;
mod lost;
mod machine;
mod row;
mod runs;
mod scenarios;
mod search;
mod slices;
mod stall;
mod table;
mod tool;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kgauge_runner::{
    HostSetup, Observer, OrRunError, RunError, RunEvent, StopRequests, fresh_number, parent_dir,
};
use kgauge_scenario::format::seconds;
use kgauge_scenario::{Scenario, Size};
use serde::Serialize;

use row::{RowVerdict, TruthRow, TruthUnit};
use runs::Runs;
use scenarios::TruthScenario;
use stall::LatencyStart;

/// What the suite is asked to do.
#[derive(Debug, Clone)]
pub struct TruthRequest {
    /// Where scenarios and runs go, or come from.
    pub folder: SuiteFolder,
    /// Only these checks; all if empty.
    pub only: Vec<String>,
    /// Whether holds are shorter.
    pub is_quick: bool,
    /// Where all randomness comes from; by default a new one for each run.
    pub seed: Option<u64>,
    /// How often an inconclusive check may be measured.
    pub tries: u32,
    /// An error made on purpose: the suite has to fail.
    pub error: Option<DeliberateError>,
    /// The command that the run folders name.
    pub command: Vec<String>,
    /// The way to stop it.
    pub stop: StopRequests,
    /// What this machine offers.
    pub host: HostSetup,
}

impl TruthRequest {
    fn size(&self) -> Size {
        if self.is_quick {
            Size::Quick
        } else {
            Size::Default
        }
    }
}

/// Where scenarios and runs of a suite lie.
#[derive(Debug, Clone)]
pub enum SuiteFolder {
    /// A new folder below `kgauge-runs`.
    Default,
    /// This one, which must be empty or not exist.
    New(PathBuf),
    /// That of an earlier suite, whose runs are judged again.
    Earlier(PathBuf),
}

/// Errors made on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliberateError {
    /// Latency starts when a record was really sent.
    Recorder,
    /// The expected figures are 5 % too high.
    Figures,
}

/// What the suite came to.
#[derive(Debug)]
pub struct TruthReport {
    /// The content of `truth.json`.
    pub json: String,
    /// The same as a table for people.
    pub text: String,
    /// How many figures are wrong.
    pub failed: usize,
    /// How many figures other programs may have changed.
    pub inconclusive: usize,
}

/// A suite in progress.
pub(crate) struct Suite<'a> {
    pub(crate) request: &'a TruthRequest,
    pub(crate) dir: &'a Path,
    pub(crate) observer: &'a mut dyn Observer,
}

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
    /// From run folders, with a latency that starts at the given moment.
    Latency(fn(&Runs, LatencyStart) -> Vec<TruthRow>),
    /// By simulation, without a run.
    Simulate(fn(Size) -> Vec<TruthRow>),
    /// By cutting a run folder up.
    Cut,
    /// By a run next to Kafka's tool.
    Tool,
}

/// A check and what it came to.
struct JudgedCheck {
    check: &'static Check,
    rows: Vec<TruthRow>,
}

impl JudgedCheck {
    fn is_inconclusive(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.verdict == RowVerdict::Inconclusive)
    }
}

const CHECKS: &[Check] = &[
    Check {
        name: "stall",
        title: "the broker holds all produce requests for 1 s",
        formula: "A record that is due t before the end of the stall waits t. In a hold of length \
                  D, the share (1 s - x) / D waits longer than x, so in 60 s p99 is 400 ms and \
                  p99.9 is 940 ms. Poisson arrivals deviate from that by chance: the rank of a \
                  quantile is binomial.",
        scenarios: &[scenarios::STALL],
        how: How::Latency(stall::of_one),
    },
    Check {
        name: "stalls",
        title: "two stalls of 0.5 s and 2 s; stalls across both borders of the hold",
        formula: "Shares add up: ((0.5 s - x) + (2 s - x)) / D, counting only positive terms. Of \
                  a stall across a border, only records that were due in the hold count: up to 1 \
                  s before the end of the first, and from 1 s to 1.5 s before the end of the \
                  second.",
        scenarios: &[scenarios::TWO_STALLS, scenarios::BORDER_STALLS],
        how: How::Latency(stall::of_several),
    },
    Check {
        name: "capacity",
        title: "a node has a limited capacity",
        formula: "Throughput at full speed equals the configured capacity, which clients do not \
                  know.",
        scenarios: &[scenarios::CAPACITY, scenarios::CAPACITY_FETCH],
        how: How::Read(capacity::rows),
    },
    Check {
        name: "delay",
        title: "requests of one API are delayed by random times from a known distribution",
        formula: "Each quantile is that of the drawn delays, plus the time of an undelayed \
                  request (from its minimum to its p99, measured in the run that delays only the \
                  other API).",
        scenarios: &[scenarios::DELAY_PRODUCE, scenarios::DELAY_FETCH],
        how: How::Read(delay::rows),
    },
    Check {
        name: "counts",
        title: "requests fail and connections close",
        formula: "The client's counts by outcome equal the nodes' counts of records in the \
                  affected requests. A node's log has the acked records, and those of unknown \
                  fate whose requests were processed.",
        scenarios: &[scenarios::COUNTS],
        how: How::Read(counts::rows),
    },
    Check {
        name: "little",
        title: "Little's law",
        formula: "The number of records in flight, integrated over the whole run, equals the rate \
                  times the mean time from sent to acked.",
        scenarios: &[scenarios::STALL, scenarios::TWO_STALLS, scenarios::CAPACITY],
        how: How::Read(little::rows),
    },
    Check {
        name: "recorder",
        title: "a deliberately wrong recorder",
        formula: "A latency that starts at the actual send omits the time in which the producer \
                  was blocked. The check `stall` must fail for it.",
        scenarios: &[scenarios::STALL],
        how: How::Read(stall::of_a_wrong_recorder),
    },
    Check {
        name: "slices",
        title: "slices of a run, split at random",
        formula: "They must add up to the same bucket counts and the same summary. The figures \
                  count differences.",
        scenarios: &[scenarios::STALL],
        how: How::Cut,
    },
    Check {
        name: "search",
        title: "searches for the capacity of simulated targets",
        formula: "The search does not know the capacity. Of a steady target, its bracket contains \
                  it in 95 of 100 searches, in half of the time that RFC 2544's bisection takes \
                  with trials of 60 s. If the capacity differs by ±5 % from window to window, the \
                  typical bracket or the 95 % band contains it in 90 of 100.",
        scenarios: &[],
        how: How::Simulate(search::rows),
    },
    Check {
        name: "kafka-tool",
        title: "kafka-producer-perf-test of Kafka 4.3.1 next to kgauge, same cluster, same stall",
        formula: "The same arithmetic. The tool's clock starts when send() is called; with a full \
                  buffer, that is late. Its figures are shown, not judged.",
        scenarios: &[],
        how: How::Tool,
    },
];

/// The limit of `--tries`.
const TRIES_MAX: u32 = 10;

/// What `--json` prints and `truth.json` holds.
#[derive(Debug, Serialize)]
struct TruthJson<'a> {
    format: u32,
    kgauge_version: &'static str,
    quick: bool,
    seconds: f64,
    /// The part of the machine's processors that other programs used, in the run in which it was most.
    used_by_others_max: Option<f64>,
    /// Whether all figures are as expected.
    good: bool,
    /// How many are not.
    failed: usize,
    /// How many other programs may have changed.
    inconclusive: usize,
    rows: &'a [TruthRow],
}

/// Runs the suite, or judges an earlier one again.
pub fn truth(request: &TruthRequest, observer: &mut dyn Observer) -> Result<TruthReport, RunError> {
    let checks = chosen(&request.only)?;
    let started = Instant::now();
    let (dir, seed) = match &request.folder {
        SuiteFolder::Earlier(dir) => (dir.clone(), request.seed.unwrap_or_else(fresh_number)),
        SuiteFolder::New(dir) => parent_dir(Some(dir), None, "truth", request.seed)?,
        SuiteFolder::Default => parent_dir(None, None, "truth", request.seed)?,
    };
    let mut suite = Suite {
        request,
        dir: &dir,
        observer,
    };
    let is_earlier = suite.is_earlier();
    if !is_earlier {
        suite.announce(&checks);
    }
    let mut runs = Runs::default();
    if is_earlier {
        runs.read(scenarios::BESIDE, &dir, 1)?;
    }
    suite.make_runs(&checks, &mut runs, 1)?;
    let mut judged = suite.judge(&checks, &mut runs, seed)?;
    let tries_max = if is_earlier {
        TRIES_MAX
    } else {
        request.tries.min(TRIES_MAX)
    };
    for tries in 2..=tries_max {
        let open = judged.iter().filter(|judged| judged.is_inconclusive());
        let open: Vec<&Check> = open.map(|judged| judged.check).collect();
        if open.is_empty() {
            break;
        }
        if !is_earlier {
            suite.announce_again(&judged, tries);
        }
        if !suite.make_runs(&open, &mut runs, tries)? {
            break;
        }
        let again = suite.judge(&open, &mut runs, seed)?;
        merge(&mut judged, again, tries);
    }
    suite.report(judged, runs.used_by_others_max(), started)
}

/// Adds the rows of another try to those before.
fn merge(judged: &mut [JudgedCheck], again: Vec<JudgedCheck>, tries: u32) {
    for again in again {
        let name = again.check.name;
        let Some(before) = judged.iter_mut().find(|judged| judged.check.name == name) else {
            continue;
        };
        for new in again.rows {
            let mut rows = before.rows.iter_mut();
            if let Some(row) = rows.find(|row| row.figure == new.figure) {
                *row = row.clone().or_again(new, tries);
            }
        }
    }
}

impl Suite<'_> {
    fn is_earlier(&self) -> bool {
        matches!(self.request.folder, SuiteFolder::Earlier(_))
    }

    /// Makes the runs of checks, or reads those of an earlier suite. False if there are none.
    fn make_runs(
        &mut self,
        checks: &[&Check],
        runs: &mut Runs,
        tries: u32,
    ) -> Result<bool, RunError> {
        let mut is_any = !self.is_earlier();
        for scenario in needed(checks) {
            if self.is_earlier() {
                is_any |= runs.read(scenario, self.dir, tries)?;
            } else {
                runs.make(scenario, self, tries, None)?;
            }
        }
        Ok(is_any)
    }

    fn judge(
        &mut self,
        checks: &[&'static Check],
        runs: &mut Runs,
        seed: u64,
    ) -> Result<Vec<JudgedCheck>, RunError> {
        let error = self.request.error;
        let from = match error {
            Some(DeliberateError::Recorder) => LatencyStart::Sent,
            Some(DeliberateError::Figures) | None => LatencyStart::Intended,
        };
        let mut judged = Vec::new();
        for &check in checks {
            let mut rows = match &check.how {
                How::Read(read) => read(runs),
                How::Latency(read) => read(runs, from),
                How::Simulate(rows) => rows(self.request.size()),
                How::Cut => slices::rows(runs, &self.dir.join("cut"), seed)?,
                How::Tool if self.is_earlier() => tool::rows_again(runs, self.dir),
                How::Tool => tool::rows(runs, self)?,
            };
            if rows.is_empty() {
                let why = format!("{} has no runs for it", self.dir.display());
                rows.push(TruthRow::missing(check.name, "nothing", why));
            }
            if error == Some(DeliberateError::Figures) {
                rows.iter_mut().for_each(doubt_figures);
            }
            judged.push(JudgedCheck { check, rows });
        }
        Ok(judged)
    }

    fn report(
        &self,
        judged: Vec<JudgedCheck>,
        used_by_others: Option<f64>,
        started: Instant,
    ) -> Result<TruthReport, RunError> {
        let parts = judged.iter().map(|judged| table::TruthTable {
            name: judged.check.name,
            title: judged.check.title,
            formula: judged.check.formula,
            rows: &judged.rows,
        });
        let text = table::text(&parts.collect::<Vec<_>>());
        let all: Vec<TruthRow> = judged.into_iter().flat_map(|judged| judged.rows).collect();
        let count = |is: fn(&RowVerdict) -> bool| all.iter().filter(|row| is(&row.verdict)).count();
        let failed = count(|verdict| verdict.is_bad());
        let inconclusive = count(|verdict| *verdict == RowVerdict::Inconclusive);
        let json = TruthJson {
            format: 1,
            kgauge_version: env!("CARGO_PKG_VERSION"),
            quick: self.request.is_quick,
            seconds: started.elapsed().as_secs_f64(),
            used_by_others_max: used_by_others,
            good: failed + inconclusive == 0,
            failed,
            inconclusive,
            rows: &all,
        };
        let json = serde_json::to_string_pretty(&json).or_unwritable()? + "\n";
        if !self.is_earlier() {
            files::write(&self.dir.join("truth.json"), &json)?;
        }
        Ok(TruthReport {
            json,
            text: format!(
                "{text}\n{}\n\nRun folders  {}\n",
                table::closing(&all, used_by_others),
                self.dir.display()
            ),
            failed,
            inconclusive,
        })
    }

    fn remark(&mut self, message: &str) {
        self.observer.observe(&RunEvent::Remark(message));
    }

    fn announce_again(&mut self, judged: &[JudgedCheck], tries: u32) {
        let figures = judged.iter().flat_map(|judged| &judged.rows);
        let figures = figures.filter(|row| row.verdict == RowVerdict::Inconclusive);
        let open = judged.iter().filter(|judged| judged.is_inconclusive());
        let names: Vec<&str> = open.map(|judged| judged.check.name).collect();
        self.remark(&format!(
            "{} inconclusive, because other programs used the machine; measuring {} again (try {tries} of {})",
            figures.count(),
            names.join(", "),
            self.request.tries
        ));
    }

    fn announce(&mut self, checks: &[&Check]) {
        /// Starting and ending a cluster, connecting, the last answers.
        const BETWEEN: Duration = Duration::from_millis(1_500);
        let mut scenarios = needed(checks);
        if checks.iter().any(|check| matches!(check.how, How::Tool)) {
            scenarios.push(scenarios::BESIDE);
        }
        let size = self.request.size();
        let lengths = scenarios.iter().flat_map(|shipped| {
            let parsed = Scenario::parse(shipped.name, shipped.text);
            parsed.map_or_else(|_| Vec::new(), |scenario| scenario.trials(size))
        });
        let lengths = lengths.map(|trial| {
            let ns = trial.stages.warm_up_ns + trial.stages.hold_ns.unwrap_or(0);
            Duration::from_nanos(ns) + BETWEEN
        });
        self.remark(&format!(
            "truth, checks: {}, runs: {}, about {}; results in {}",
            checks.len(),
            scenarios.len(),
            seconds(lengths.sum()),
            self.dir.display()
        ));
    }
}

fn chosen(only: &[String]) -> Result<Vec<&'static Check>, RunError> {
    let is_known = |name: &String| CHECKS.iter().any(|check| check.name == name);
    if let Some(unknown) = only.iter().find(|name| !is_known(name)) {
        let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        return Err(RunError::input(format!(
            "--only {unknown}: unknown check\n  checks: {}",
            names.join(", ")
        )));
    }
    let is_wanted = |check: &&Check| only.is_empty() || only.iter().any(|it| it == check.name);
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

/// Gives a row a wrong expectation: 5 % more, and of what is counted one more.
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
    row.verdict = match row.verdict {
        RowVerdict::Pass | RowVerdict::Fail | RowVerdict::Inconclusive if fits => RowVerdict::Pass,
        RowVerdict::Pass | RowVerdict::Fail | RowVerdict::Inconclusive => RowVerdict::Fail,
        verdict => verdict,
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
