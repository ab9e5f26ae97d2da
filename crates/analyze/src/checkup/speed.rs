//! Brokers that answer more slowly than the others.

use std::collections::BTreeMap;

use kgauge_results::run::BrokerRoundTrips;

use super::BrokerSpeed;
use crate::statistics::median;

/// Fewer answers in a load say nothing about its percentiles.
const COUNT_MIN: u32 = 20;
/// A broker is slow if it takes this many times as long as the others,
const SLOW_RATIO: f64 = 3.0;
/// and this much longer: a few milliseconds are a pause of the garbage collector.
const SLOW_NS: f64 = 5e6;

/// The speed of each broker, sorted by id.
pub(super) fn speeds(round_trips: &[BrokerRoundTrips]) -> Vec<BrokerSpeed> {
    let mut loads: BTreeMap<u32, Vec<&BrokerRoundTrips>> = BTreeMap::new();
    for one in round_trips.iter().filter(|one| one.count >= COUNT_MIN) {
        loads.entry(one.trial).or_default().push(one);
    }
    let mut brokers: Vec<i32> = round_trips.iter().map(|one| one.broker).collect();
    brokers.sort_unstable();
    brokers.dedup();
    let speed = |broker: i32| {
        let lost = round_trips.iter().filter(|one| one.broker == broker);
        speed_of(broker, &loads, lost.map(|one| one.lost).sum())
    };
    brokers.into_iter().filter_map(speed).collect()
}

fn speed_of(
    broker: i32,
    loads: &BTreeMap<u32, Vec<&BrokerRoundTrips>>,
    lost: u32,
) -> Option<BrokerSpeed> {
    let (mut p50, mut p99, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let mut slow_loads = 0;
    for load in loads.values() {
        let Some(own) = load.iter().find(|one| one.broker == broker) else {
            continue;
        };
        p50.push(own.p50_ns as f64);
        p99.push(own.p99_ns as f64);
        let of_others = load.iter().filter(|one| one.broker != broker);
        if let Some(theirs) = median(of_others.map(|one| one.p99_ns as f64).collect()) {
            others.push(theirs);
            slow_loads += u32::from(is_slow(own.p99_ns as f64, theirs));
        }
    }
    Some(BrokerSpeed {
        broker,
        loads: u32::try_from(p99.len()).unwrap_or(u32::MAX),
        slow_loads,
        p50_ns: median(p50)?,
        p99_ns: median(p99)?,
        others_p99_ns: median(others),
        lost,
    })
}

fn is_slow(own_ns: f64, others_ns: f64) -> bool {
    own_ns >= SLOW_RATIO * others_ns && own_ns - others_ns >= SLOW_NS
}

impl BrokerSpeed {
    /// Whether it is slower than the others in most loads.
    pub fn is_slow(&self) -> bool {
        self.loads >= 2 && self.slow_loads * 2 > self.loads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn trips(trial: u32, broker: i32, p99_ms: u64, count: u32) -> BrokerRoundTrips {
        BrokerRoundTrips {
            trial,
            broker,
            count,
            lost: 1,
            p50_ns: MS,
            p99_ns: p99_ms * MS,
            max_ns: p99_ms * MS,
        }
    }

    #[test]
    fn a_broker_is_slow_if_it_is_in_most_loads() {
        let mut all = Vec::new();
        for (trial, third) in [(0, 90), (1, 80), (2, 4)] {
            all.extend([trips(trial, 1, 4, 80), trips(trial, 2, 6, 80)]);
            all.push(trips(trial, 3, third, 80));
        }
        let speeds = speeds(&all);
        let slow: Vec<bool> = speeds.iter().map(BrokerSpeed::is_slow).collect();
        assert_eq!(slow, [false, false, true]);
        let third = speeds[2];
        assert_eq!((third.loads, third.slow_loads, third.lost), (3, 2, 3));
        assert_eq!((third.p99_ns, third.others_p99_ns), (80e6, Some(6e6)));
    }

    #[test]
    fn few_answers_and_small_differences_say_nothing() {
        let few = [trips(0, 1, 1, 80), trips(0, 2, 900, 19)];
        assert_eq!(speeds(&few).len(), 1);
        let mut small = Vec::new();
        for trial in 0..3 {
            small.extend([trips(trial, 1, 1, 80), trips(trial, 2, 5, 80)]);
        }
        assert!(!speeds(&small).iter().any(BrokerSpeed::is_slow));
    }
}
