//! Hidden capacities: token buckets in nodes of the embedded cluster, which the search does not know. Some are steady;
//! others vary from second to second by up to 5 % on either side.
//!
//! A goal on the median looks through stalls of the machine that are shorter than half of a window. Above the capacity,
//! a backlog grows until it is as long as the goal: in the 60 s at a bound, a rate that is too high by (15 ms + the
//! burst of 10 ms) / 60 s = 0.04 % is not found. Of a noisy capacity, the backlog is a random walk with steps of 29 ms
//! per second, so its goal has to be longer: 150 ms.

use anyhow::Result;
use kgauge_analyze::search::bisect;
use kgauge_analyze::statistics::RandomDraws;

use super::CheckedSearches;
use super::runs::{FoundCapacity, SearchJob, search_all};
use crate::say::print_line;

const WIDTH: f64 = 0.02;
/// The generator's own limit, where RFC 2544's search begins.
const RATE_MAX: f64 = 2e6;
/// A search takes at most this share of the time of RFC 2544's search.
const OF_BISECTION_MAX: f64 = 0.5;

/// A kind of capacity.
pub(super) struct HiddenKind {
    name: &'static str,
    /// How much it varies, in percent.
    noise: u32,
    /// The goal.
    p50_max_ms: u32,
    /// Of a hundred searches, those that must contain the capacity.
    least_of_100: u32,
}

/// Capacities that stay the same.
pub(super) const STEADY: HiddenKind = HiddenKind {
    name: "steady",
    noise: 0,
    p50_max_ms: 15,
    least_of_100: 95,
};

/// Capacities that vary.
pub(super) const NOISY: HiddenKind = HiddenKind {
    name: "noisy",
    noise: 5,
    p50_max_ms: 150,
    least_of_100: 90,
};

/// What the searches of a kind found.
#[derive(Default)]
struct HiddenCounts {
    /// Brackets that contain the capacity: of a noisy one from the strict lower to the typical upper bound.
    contained: u32,
    in_strict: u32,
    in_typical: u32,
    void_loads: usize,
    /// Searches that ended without a summary.
    failed: u32,
    seconds: f64,
    bisection_s: f64,
    /// The sum of the widths of the brackets, as shares.
    widths: f64,
}

/// Runs the part. True if enough brackets contain the capacity.
pub(super) fn check(kind: &HiddenKind, options: &CheckedSearches) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let seeds = options.seeds;
    let capacities: Vec<f64> = (1..=seeds).map(capacity).collect();
    let numbered = (1..=seeds).zip(&capacities);
    let jobs: Vec<SearchJob> = numbered
        .map(|(seed, capacity)| job(kind, seed, *capacity))
        .collect();
    let found = search_all(&binary, &jobs, options.jobs.get())?;
    let mut counts = HiddenCounts::default();
    for ((capacity, job), found) in capacities.iter().zip(&jobs).zip(&found) {
        match found {
            Ok(found) => counts.add(kind, *capacity, job, found),
            Err(_) => counts.failed += 1,
        }
    }
    Ok(counts.print(kind, seeds))
}

impl HiddenCounts {
    fn add(&mut self, kind: &HiddenKind, capacity: f64, job: &SearchJob, found: &FoundCapacity) {
        let bracket = match kind.noise {
            0 => found.strict,
            _ => found.whole(),
        };
        self.in_strict += u32::from(found.strict.contains(capacity));
        self.in_typical += u32::from(found.typical.contains(capacity));
        self.void_loads += found.void_loads();
        self.seconds += found.took_s;
        self.bisection_s += bisect(RATE_MAX, WIDTH, |rate| rate <= capacity).seconds;
        self.widths += bracket.width().unwrap_or(1.0);
        match bracket.contains(capacity) {
            true => self.contained += 1,
            false => print_line(&format!(
                "{}: {capacity:.0} is not in {}; strict {}, typical {}",
                job.name,
                bracket.text(),
                found.strict.text(),
                found.typical.text()
            )),
        }
    }

    /// Prints the figures. True if they are good enough.
    fn print(&self, kind: &HiddenKind, seeds: u32) -> bool {
        let ended = f64::from((seeds - self.failed).max(1));
        let of_bisection = self.seconds / self.bisection_s.max(1.0);
        let is_short = kind.noise > 0 || of_bisection <= OF_BISECTION_MAX;
        let is_good = self.contained * 100 >= seeds * kind.least_of_100 && is_short;
        print_line(&format!(
            "{}  hidden {} capacities on embedded (±{} %): {} of {seeds} brackets contain them ({} strict, {} typical), \
             {:.1} % wide on average; {} void loads, {} searches failed; {:.0} s a search, {of_bisection:.2} of RFC \
             2544's bisection with trials of 60 s",
            if is_good { "ok  " } else { "FAIL" },
            kind.name,
            kind.noise,
            self.contained,
            self.in_strict,
            self.in_typical,
            100.0 * self.widths / ended,
            self.void_loads,
            self.failed,
            self.seconds / ended,
        ));
        is_good
    }
}

/// From 2,000 to 20,000 records/s, so that some searches can run at the same time.
fn capacity(seed: u32) -> f64 {
    let part = RandomDraws::new(u64::from(seed)).uniform();
    (2_000.0 * 10f64.powf(part)).round()
}

fn job(kind: &HiddenKind, seed: u32, capacity: f64) -> SearchJob {
    // A small buffer: at full speed, more records than that would not be acked in the drain.
    let scenario = format!(
        "kgauge: 1\nname: hidden\nquestion: What does the node let through?\ntopic: {{partitions: 1}}\nflows:\n\
         \x20 - {{name: writers, kind: produce, shape: max, record: {{size: 100 B}}, settings: {{batch.size: 4 KiB, \
         buffer.memory: 256 KiB}}}}\nstages: {{warm-up: 1 s, drain: 30 s}}\n\
         search: {{goals: [p50 <= {} ms], window: 6 s, duration: 60 s, width: {:.0} %}}\n\
         faults:\n  - {{at: start, node: 1, api: produce, capacity: {capacity}/s, noise: {} %}}\n",
        kind.p50_max_ms,
        100.0 * WIDTH,
        kind.noise,
    );
    SearchJob {
        name: format!("{}-{seed}", kind.name),
        scenario,
        target: "embedded".to_owned(),
        seed,
    }
}
