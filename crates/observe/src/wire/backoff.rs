//! Pauses polling of brokers that do not answer, longer each time: each attempt costs time, and each request adds to
//! the broker's work when it recovers.

use std::collections::BTreeMap;

/// The first pause; it doubles each time, up to [`REST_NS_MAX`].
const REST_NS: u64 = 4_000_000_000;

/// A refusal within this time did not cost a wait.
const AT_ONCE_NS: u64 = 100_000_000;

/// A broker that recovers should be seen soon.
const REST_NS_MAX: u64 = 8_000_000_000;

#[derive(Debug, Clone, Copy)]
struct BackoffState {
    until_ns: u64,
    rest_ns: u64,
}

/// Brokers that did not answer.
#[derive(Debug)]
pub(super) struct Backoffs<K> {
    of: BTreeMap<K, BackoffState>,
}

impl<K: Ord> Backoffs<K> {
    pub(super) fn new() -> Backoffs<K> {
        let of = BTreeMap::new();
        Backoffs { of }
    }

    /// Whether polling is paused now.
    pub(super) fn rests(&self, who: &K, now_ns: u64) -> bool {
        self.of
            .get(who)
            .is_some_and(|resting| now_ns < resting.until_ns)
    }

    /// It answered.
    pub(super) fn answered(&mut self, who: &K) {
        self.of.remove(who);
    }

    /// It did not answer; returns whether polling is paused now. A broker that refuses at once costs nothing, so it is
    /// polled again as soon as it answers.
    pub(super) fn failed(&mut self, who: K, waited_ns: u64, now_ns: u64) -> bool {
        if waited_ns < AT_ONCE_NS {
            return false;
        }
        let rest_ns = self.of.get(&who).map_or(REST_NS, |resting| {
            resting.rest_ns.saturating_mul(2).min(REST_NS_MAX)
        });
        let until_ns = now_ns.saturating_add(rest_ns);
        self.of.insert(who, BackoffState { until_ns, rest_ns });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_silent_broker_is_paused_longer_each_time_until_it_answers() {
        let mut rests = Backoffs::new();
        assert!(rests.failed(2, S, 10 * S));
        assert!(rests.rests(&2, 14 * S - 1) && !rests.rests(&2, 14 * S));
        assert!(!rests.rests(&1, 11 * S));
        rests.failed(2, S, 15 * S);
        assert!(rests.rests(&2, 23 * S - 1) && !rests.rests(&2, 23 * S));
        rests.failed(2, S, 24 * S);
        assert!(rests.rests(&2, 32 * S - 1) && !rests.rests(&2, 32 * S));
        rests.answered(&2);
        assert!(!rests.rests(&2, 25 * S));
        rests.failed(2, S, 40 * S);
        assert!(!rests.rests(&2, 44 * S));
    }

    #[test]
    fn a_broker_that_refuses_at_once_is_asked_again() {
        let mut rests = Backoffs::new();
        assert!(!rests.failed("g", S / 1_000, 10 * S));
        assert!(!rests.rests(&"g", 10 * S));
    }
}
