//! How often brokers are polled: once per second, and less often if their answers take long.

const SECOND_NS: u64 = 1_000_000_000;

/// Samples may take at most this fraction of the time: brokers that need more than half a second for one are busy with
/// the load.
const PARTS: u64 = 2;

/// The longest interval between samples.
const APART_NS_MAX: u64 = 10 * SECOND_NS;

/// The time of the next sample, and the longest pause so far.
#[derive(Debug, Default)]
pub(super) struct PollPace {
    /// Whether a sample was taken. The first one connects to each broker, so its duration does not predict the others.
    has_sampled: bool,
    slowest_ns: u64,
    apart_ns_max: u64,
}

impl PollPace {
    /// The time of the next sample, a whole second of the run's clock, after a sample that began and ended at these
    /// times. `waited_ns` of it was spent on brokers that did not answer; those are paused, so this time does not
    /// count.
    pub(super) fn next_ns(&mut self, start_ns: u64, end_ns: u64, waited_ns: u64) -> u64 {
        let took_ns = if std::mem::replace(&mut self.has_sampled, true) {
            end_ns.saturating_sub(start_ns).saturating_sub(waited_ns)
        } else {
            0
        };
        let apart_ns = took_ns
            .saturating_mul(PARTS)
            .clamp(1, APART_NS_MAX.max(took_ns));
        let earliest_ns = start_ns.saturating_add(apart_ns).max(end_ns);
        let due_ns = earliest_ns.div_ceil(SECOND_NS).saturating_mul(SECOND_NS);
        self.slowest_ns = self.slowest_ns.max(took_ns);
        self.apart_ns_max = self.apart_ns_max.max(due_ns.saturating_sub(start_ns));
        due_ns
    }

    /// A note, if samples were more than two seconds apart.
    pub(super) fn note(&self) -> Option<String> {
        let seconds = |ns: u64| ns as f64 / SECOND_NS as f64;
        (self.apart_ns_max > 2 * SECOND_NS).then(|| {
            format!(
                "the topic's replicas were polled up to {:.0} s apart instead of every second, \
                 because one poll took up to {:.1} s",
                seconds(self.apart_ns_max),
                seconds(self.slowest_ns)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS_NS: u64 = 1_000_000;

    #[test]
    fn quick_answers_are_asked_for_each_second_and_slow_ones_less_often() {
        let mut pace = PollPace::default();
        // The first sample connects.
        assert_eq!(pace.next_ns(7 * MS_NS, 900 * MS_NS, 0), SECOND_NS);
        let start_ns = SECOND_NS;
        assert_eq!(
            pace.next_ns(start_ns, start_ns + 20 * MS_NS, 0),
            2 * SECOND_NS
        );
        // Half a second is the maximum for one sample per second.
        assert_eq!(
            pace.next_ns(start_ns, start_ns + 500 * MS_NS, 0),
            2 * SECOND_NS
        );
        assert_eq!(pace.note(), None);
        assert_eq!(
            pace.next_ns(start_ns, start_ns + 1_900 * MS_NS, 0),
            start_ns + 4 * SECOND_NS
        );
        let note = pace.note().unwrap();
        assert!(note.contains("up to 4 s apart"), "{note}");
        assert!(note.contains("took up to 1.9 s"), "{note}");
        // Of three seconds, all but 20 ms were spent on a dead broker.
        assert_eq!(
            pace.next_ns(start_ns, start_ns + 3_020 * MS_NS, 3_000 * MS_NS),
            start_ns + 4 * SECOND_NS
        );
        // Ten seconds are the limit, unless the sample itself took longer.
        assert_eq!(
            pace.next_ns(start_ns, start_ns + 8 * SECOND_NS, 0),
            start_ns + 10 * SECOND_NS
        );
        assert_eq!(
            pace.next_ns(start_ns, start_ns + 30 * SECOND_NS, 0),
            start_ns + 30 * SECOND_NS
        );
    }
}
