//! Response times of brokers, by load.

use std::collections::BTreeMap;
use std::time::Duration;

use kgauge_results::run::BrokerRoundTrips;

/// More times of one broker in one load are only counted: two hours at ten a second.
const TIMES_MAX: usize = 72_000;

/// The times of all brokers in all loads.
#[derive(Debug, Default)]
pub(super) struct RoundTrips {
    of: BTreeMap<(u32, i32), BrokerTimes>,
}

#[derive(Debug, Default)]
struct BrokerTimes {
    times_ns: Vec<u64>,
    lost: u32,
}

impl RoundTrips {
    /// Adds one request of a load; `None` if it was not answered.
    pub(super) fn add(&mut self, trial: u32, broker: i32, took: Option<Duration>) {
        let of = self.of.entry((trial, broker)).or_default();
        match took {
            Some(took) if of.times_ns.len() < TIMES_MAX => {
                let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
                of.times_ns.push(ns);
            }
            Some(_) => {}
            None => of.lost += 1,
        }
    }

    /// Percentiles of each broker in each load.
    pub(super) fn summary(&self) -> Vec<BrokerRoundTrips> {
        let all = self.of.iter().map(|((trial, broker), of)| {
            let mut times = of.times_ns.clone();
            times.sort_unstable();
            BrokerRoundTrips {
                trial: *trial,
                broker: *broker,
                count: u32::try_from(times.len()).unwrap_or(u32::MAX),
                lost: of.lost,
                p50_ns: nearest_rank(&times, 50),
                p99_ns: nearest_rank(&times, 99),
                max_ns: times.last().copied().unwrap_or(0),
            }
        });
        all.collect()
    }
}

/// The percentile by nearest rank; 0 without times.
fn nearest_rank(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_and_lost_requests_are_counted() {
        let mut times = RoundTrips::default();
        for ns in (1..=200).rev() {
            times.add(3, 1, Some(Duration::from_nanos(ns)));
        }
        times.add(3, 2, None);
        let summary = times.summary();
        let one = summary[0];
        assert_eq!((one.trial, one.broker, one.count), (3, 1, 200));
        // Ranks 100, 198 and 200 of 1 to 200.
        assert_eq!((one.p50_ns, one.p99_ns, one.max_ns), (100, 198, 200));
        let other = summary[1];
        assert_eq!((other.count, other.lost, other.p99_ns), (0, 1, 0));
    }
}
