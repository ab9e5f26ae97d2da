//! Hidden capacities: token buckets in nodes of the embedded cluster, which the search does not know. The capacity is
//! steady: of one that varies from second to second, a backlog makes less than its mean. `simulated.rs` has noise.

use anyhow::Result;

use super::CheckedSearches;
use super::runs::{SearchJob, search_all};
use super::simulated::Draws;
use crate::say::print_line;

/// So many of a hundred brackets contain the capacity.
const LEAST_OF_100: u32 = 95;

/// Runs the part. True if enough brackets contain the capacity.
pub(super) fn check(options: &CheckedSearches) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let seeds = options.seeds;
    let capacities: Vec<f64> = (1..=seeds).map(capacity).collect();
    let numbered = (1..=seeds).zip(&capacities);
    let jobs: Vec<SearchJob> = numbered
        .map(|(seed, capacity)| job(seed, *capacity))
        .collect();
    let found = search_all(&binary, &jobs, options.jobs.get())?;
    let (mut contained, mut void_loads, mut seconds) = (0, 0, 0.0);
    for ((capacity, job), found) in capacities.iter().zip(&jobs).zip(&found) {
        let Ok(found) = found else {
            continue;
        };
        void_loads += found.void_loads();
        seconds += found.took_s;
        match found.strict.contains(*capacity) {
            true => contained += 1,
            false => print_line(&format!(
                "{}: {capacity:.0} is not in {}, typical {}",
                job.name,
                found.strict.text(),
                found.typical.text()
            )),
        }
    }
    print_line(&format!(
        "hidden capacities on embedded: {contained} of {seeds} brackets contain them; {void_loads} void loads; {:.0} s a \
         search",
        seconds / f64::from(seeds)
    ));
    Ok(contained * 100 >= seeds * LEAST_OF_100)
}

/// From 2,000 to 20,000 records/s, so that some searches can run at the same time.
fn capacity(seed: u32) -> f64 {
    let part = Draws::new(u64::from(seed)).uniform();
    (2_000.0 * 10f64.powf(part)).round()
}

fn job(seed: u32, capacity: f64) -> SearchJob {
    let scenario = format!(
        "kgauge: 1\nname: hidden\nquestion: What does the node let through?\ntopic: {{partitions: 1}}\nflows:\n\
         \x20 - {{name: writers, kind: produce, shape: max, record: {{size: 100 B}}}}\nstages: {{warm-up: 1 s}}\n\
         search: {{goals: [p99 <= 15 ms], window: 2 s, duration: 12 s, width: 2 %}}\n\
         faults:\n  - {{at: start, node: 1, api: produce, capacity: {capacity}/s}}\n"
    );
    SearchJob {
        name: format!("hidden-{seed}"),
        scenario,
        target: "embedded".to_owned(),
    }
}
