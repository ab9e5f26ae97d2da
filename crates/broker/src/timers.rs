//! Moments at which the core must act, as data: no thread sleeps for them.

use std::collections::BTreeMap;

/// Names one timer that was set, for cancelling it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TimerId {
    at_ns: u64,
    sequence: u64,
}

/// Timers in order of their moment, and in order of setting within one moment.
#[derive(Debug)]
pub(crate) struct Timers<K> {
    set: BTreeMap<TimerId, K>,
    sequence: u64,
}

impl<K> Default for Timers<K> {
    fn default() -> Self {
        Self {
            set: BTreeMap::new(),
            sequence: 0,
        }
    }
}

impl<K> Timers<K> {
    /// Sets a timer for the monotonic moment `at_ns`.
    pub(crate) fn set(&mut self, at_ns: u64, key: K) -> TimerId {
        let id = TimerId {
            at_ns,
            sequence: self.sequence,
        };
        self.sequence += 1;
        self.set.insert(id, key);
        id
    }

    /// Takes a timer back. One that fired or was cancelled already is no error.
    pub(crate) fn cancel(&mut self, id: TimerId) {
        self.set.remove(&id);
    }

    /// The moment of the earliest timer.
    #[must_use]
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.set.first_key_value().map(|(id, _)| id.at_ns)
    }

    /// Takes the earliest timer that is due at `now_ns`.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<K> {
        let entry = self.set.first_entry()?;
        (entry.key().at_ns <= now_ns).then(|| entry.remove())
    }
}

#[cfg(test)]
mod tests {
    use super::Timers;

    #[test]
    fn timers_fire_in_order_of_moment_then_of_setting() {
        let mut timers = Timers::default();
        timers.set(20, "late");
        timers.set(10, "first");
        timers.set(10, "second");
        assert_eq!(timers.next_ns(), Some(10));
        assert_eq!(timers.pop_due(9), None);
        assert_eq!(timers.pop_due(10), Some("first"));
        assert_eq!(timers.pop_due(10), Some("second"));
        assert_eq!(timers.pop_due(10), None);
        assert_eq!(timers.pop_due(25), Some("late"));
        assert_eq!(timers.next_ns(), None);
    }

    #[test]
    fn a_cancelled_timer_does_not_fire() {
        let mut timers = Timers::default();
        let gone = timers.set(5, "gone");
        timers.set(6, "stays");
        timers.cancel(gone);
        timers.cancel(gone);
        assert_eq!(timers.pop_due(100), Some("stays"));
    }
}
