//! A latency knee that theory gives: a node that serves one record after the other in a fixed time, and records that
//! are due at random, are an M/D/1 queue.

use anyhow::Result;

use super::CheckedSearches;
use super::runs::{SearchJob, search_all};
use crate::say::print_line;

/// The node serves so many records per second.
const CAPACITY: f64 = 1_000.0;
/// The goal, in seconds.
const P99_MAX_S: f64 = 0.015;
/// So many of twenty brackets contain the rate.
const LEAST_OF_20: u32 = 18;

/// Runs the part. True if enough brackets contain the rate of the theory.
pub(super) fn check(options: &CheckedSearches) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let knee = rate_at(CAPACITY, 0.99, P99_MAX_S);
    let jobs: Vec<SearchJob> = (1..=options.knees).map(job).collect();
    let found = search_all(&binary, &jobs, options.jobs.get())?;
    let (mut contained, mut in_whole, mut in_typical, mut seconds) = (0, 0, 0, 0.0);
    for (job, found) in jobs.iter().zip(&found) {
        let Ok(found) = found else {
            continue;
        };
        seconds += found.took_s;
        let is_contained = found.whole().contains(knee) || found.is_in_band(knee);
        contained += u32::from(is_contained);
        in_whole += u32::from(found.whole().contains(knee));
        in_typical += u32::from(found.typical.contains(knee));
        let band = found.typical_band.map_or("none".to_owned(), |band| {
            format!("{:.0}..{:.0}", band.low, band.high)
        });
        print_line(&format!(
            "{}: strict {}, typical {}, band {band}{}",
            job.name,
            found.strict.text(),
            found.typical.text(),
            if is_contained { "" } else { ": not there" },
        ));
    }
    print_line(&format!(
        "knee at {knee:.0} records/s (M/D/1, {CAPACITY}/s, p99 {:.0} ms): in bracket or band of {contained} of {} \
         searches: from strict lower to typical upper bound in {in_whole}, in the typical bracket in {in_typical}; {:.0} \
         s a search",
        P99_MAX_S * 1e3,
        options.knees,
        seconds / f64::from(options.knees)
    ));
    Ok(contained * 20 >= options.knees * LEAST_OF_20)
}

fn job(number: u32) -> SearchJob {
    // Batches of one record, so that records are served one by one, in order.
    let scenario = format!(
        "kgauge: 1\nname: knee\nquestion: Where does p99 reach the goal?\ntopic: {{partitions: 1}}\n\
         flows:\n  - name: writers\n    kind: produce\n    shape: {{poisson: 500/s}}\n    record: {{size: 100 B}}\n\
         \x20   settings: {{batch.size: 1, linger.ms: 0}}\nstages: {{warm-up: 2 s}}\n\
         search: {{goals: [p99 <= {:.0} ms], window: 10 s, duration: 60 s, width: 2 %}}\n\
         faults:\n  - {{at: start, node: 1, api: produce, capacity: {CAPACITY}/s, burst: 0}}\n",
        P99_MAX_S * 1e3
    );
    SearchJob {
        name: format!("knee-{number}"),
        scenario,
        target: "embedded".to_owned(),
        seed: number,
    }
}

/// The rate of arrivals at which the quantile `part` of the time in an M/D/1 queue is `limit_s`, by halving.
fn rate_at(capacity: f64, part: f64, limit_s: f64) -> f64 {
    let (mut low, mut high) = (0.0, capacity);
    for _ in 0..50 {
        let rate = f64::midpoint(low, high);
        match within(capacity, rate, limit_s) >= part {
            true => low = rate,
            false => high = rate,
        }
    }
    low
}

/// The share of records that spend at most `time_s` in an M/D/1 queue: waiting, then served in `1 / capacity`.
///
/// Erlang 1909: with service time D, arrivals at rate r and load u = rD,
/// `P(wait <= t) = (1 - u) sum_{k = 0}^{floor(t / D)} (r(kD - t))^k / k! e^{-r(kD - t)}`.
fn within(capacity: f64, rate: f64, time_s: f64) -> f64 {
    let service_s = 1.0 / capacity;
    let wait_s = time_s - service_s;
    if wait_s < 0.0 {
        return 0.0;
    }
    let last = (wait_s / service_s + 1e-9).floor() as u32;
    let term = |k: u32| {
        let exponent = rate * (f64::from(k) * service_s - wait_s);
        // (r(kD - t))^k / k!, factor by factor: the powers alone would overflow.
        let power: f64 = (1..=k).map(|i| exponent / f64::from(i)).product();
        power * (-exponent).exp()
    };
    (1.0 - rate * service_s) * (0..=last).map(term).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_in_a_queue_is_that_of_the_books() {
        // Nobody waits with the probability that the queue is empty.
        assert!((within(1.0, 0.5, 1.0) - 0.5).abs() < 1e-12);
        // Waiting at most D at half load: 0.5 (e^0.5 + 0) = 0.824.
        assert!((within(1.0, 0.5, 2.0) - 0.5 * 0.5f64.exp()).abs() < 1e-9);
        // The mean wait is uD / 2(1 - u): at 80 % of the load, 2 D. The integral of what lies beyond is that mean.
        let step = 0.01;
        let beyond = |index: u32| 1.0 - within(1.0, 0.8, 1.0 + step * f64::from(index));
        let mean: f64 = (0..2_000).map(|index| beyond(index) * step).sum();
        assert!((mean - 2.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn the_rate_at_the_goal_is_below_the_capacity() {
        let rate = rate_at(1_000.0, 0.99, 0.015);
        assert!((within(1_000.0, rate, 0.015) - 0.99).abs() < 1e-6, "{rate}");
        assert!(rate > 800.0 && rate < 900.0, "{rate}");
    }
}
