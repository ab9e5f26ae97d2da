//! Computes what happened between two samples from counters that only rise.

use std::collections::BTreeMap;

/// Looks nearer to each other than this make no rate: some counters move in steps of 10 ms. The last look of a repeat,
/// at its end, may follow the one before at once.
const SPAN_NS_MIN: u64 = 200_000_000;
/// Samples are a second apart. A longer span is a pause; its end was written because something followed.
const SPAN_NS_MAX: u64 = 1_600_000_000;

/// Looks at several things, by thing.
pub(super) struct SamplesByThing<K, T> {
    of: BTreeMap<K, Vec<(u64, T)>>,
}

impl<K: Ord, T> SamplesByThing<K, T> {
    pub(super) fn new() -> SamplesByThing<K, T> {
        let of = BTreeMap::new();
        SamplesByThing { of }
    }

    pub(super) fn add(&mut self, key: K, at_ns: u64, look: T) {
        self.of.entry(key).or_default().push((at_ns, look));
    }

    /// The samples of each thing, in the order of time.
    pub(super) fn each(self) -> impl Iterator<Item = (K, Vec<(u64, T)>)> {
        self.of.into_iter().map(|(key, mut looks)| {
            looks.sort_by_key(|(at_ns, _)| *at_ns);
            (key, looks)
        })
    }

    /// Applies `between` to each two consecutive samples; no result if a counter went back.
    pub(super) fn between<P>(
        self,
        between: impl Fn(Span, &T, &T) -> Option<P>,
    ) -> impl Iterator<Item = (K, Vec<P>)> {
        self.each().map(move |(key, mut looks)| {
            join_short(&mut looks);
            let pairs = looks.windows(2);
            let points = pairs.filter_map(|pair| match pair {
                [(start_ns, one), (end_ns, next)] if end_ns > start_ns => {
                    let (start_ns, end_ns) = (*start_ns, *end_ns);
                    between(Span { start_ns, end_ns }, one, next)
                }
                _ => None,
            });
            (key, points.collect())
        })
    }
}

/// A look that is too near to the one before it takes its place; the first stays, and so does the end of a rest:
/// what came after would be spread over all of it.
fn join_short<T>(looks: &mut Vec<(u64, T)>) {
    let mut kept: Vec<(u64, T)> = Vec::with_capacity(looks.len());
    for look in looks.drain(..) {
        if let [.., (before_ns, _), (last_ns, _)] = kept.as_slice() {
            let is_short = look.0.saturating_sub(*last_ns) < SPAN_NS_MIN;
            let is_rest = last_ns.saturating_sub(*before_ns) > SPAN_NS_MAX;
            if is_short && !is_rest {
                kept.pop();
            }
        }
        kept.push(look);
    }
    *looks = kept;
}

/// From one look to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
}

impl Span {
    /// How long it is, at least a nanosecond.
    pub(super) fn length_ns(self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns).max(1)
    }

    /// Nanoseconds that a counter rose by, as a share of the time.
    pub(super) fn share(self, rise_ns: u64) -> f64 {
        rise_ns as f64 / self.length_ns() as f64
    }

    /// How much a counter rose per second; `None` if it went back.
    pub(super) fn per_s(self, one: u64, next: u64) -> Option<f64> {
        Some(self.share(next.checked_sub(one)?) * 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn rates(looks: &[(u64, u64)]) -> Vec<(u64, u64, f64)> {
        let mut all = SamplesByThing::new();
        for (at_ns, count) in looks {
            all.add((), *at_ns, *count);
        }
        let points = all.between(|span, one, next| {
            Some((span.start_ns, span.end_ns, span.per_s(*one, *next)?))
        });
        points.flat_map(|(_, points)| points).collect()
    }

    #[test]
    fn a_rate_is_of_the_time_between_whatever_the_order_of_the_lines() {
        let looks = [(2 * SECOND_NS, 300), (0, 0), (SECOND_NS, 100)];
        assert_eq!(
            rates(&looks),
            [(0, SECOND_NS, 100.0), (SECOND_NS, 2 * SECOND_NS, 200.0)]
        );
    }

    #[test]
    fn a_last_look_that_follows_at_once_makes_no_spike() {
        let looks = [
            (0, 0),
            (SECOND_NS, 100),
            (2 * SECOND_NS, 200),
            (2 * SECOND_NS + 1_000_000, 300),
        ];
        let rates = rates(&looks);
        assert_eq!(rates.len(), 2);
        assert_eq!(rates[1].1, 2 * SECOND_NS + 1_000_000);
        assert!((rates[1].2 - 200.0).abs() < 1.0);
    }

    #[test]
    fn a_counter_that_goes_back_and_looks_at_one_time_make_no_point() {
        assert_eq!(rates(&[(0, 5), (SECOND_NS, 4)]), []);
        assert_eq!(rates(&[(7, 5), (7, 9)]), []);
        assert_eq!(rates(&[]), []);
    }

    #[test]
    fn a_burst_after_a_rest_is_not_spread_over_the_rest() {
        let tenth = SECOND_NS / 10;
        let looks = [
            (0, 0),
            (9 * SECOND_NS, 0),
            (9 * SECOND_NS + tenth, 100),
            (10 * SECOND_NS + tenth, 100),
        ];
        let expected = [
            (0, 9 * SECOND_NS, 0.0),
            (9 * SECOND_NS, 9 * SECOND_NS + tenth, 1000.0),
            (9 * SECOND_NS + tenth, 10 * SECOND_NS + tenth, 0.0),
        ];
        assert_eq!(rates(&looks), expected);
    }
}
