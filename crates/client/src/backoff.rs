//! Pauses between attempts: doubled each time, limited, and randomised so that many clients do not return at the same
//! time.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Kafka varies each pause by a fifth in both directions (`ExponentialBackoff`, jitter 0.2).
const SPREAD_PER_MILLE: u64 = 200;

/// The pauses of one operation.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
    attempts: u32,
    seed: RandomState,
}

impl Backoff {
    /// Starts with `first` and doubles up to `longest`.
    pub(crate) fn new(first: Duration, longest: Duration) -> Backoff {
        // In Kafka, a first pause above the longest one takes precedence.
        let longest = longest.max(first);
        Backoff {
            next: first,
            longest,
            attempts: 0,
            seed: RandomState::new(),
        }
    }

    /// The number of pauses taken.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The next pause.
    pub(crate) fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (self.next * 2).min(self.longest);
        self.attempts += 1;
        // std has no random numbers, but its hash keys are random.
        let dice = self.seed.hash_one(self.attempts) % (2 * SPREAD_PER_MILLE + 1);
        let per_mille = 1000 - SPREAD_PER_MILLE + dice;
        let nanos = pause.as_nanos() * u128::from(per_mille) / 1000;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_within_a_fifth() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(500));
        for middle in [100, 200, 400, 500, 500] {
            let pause = backoff.pause().as_millis();
            let (low, high) = (middle * 8 / 10, (middle * 12 / 10).min(500));
            assert!((low..=high).contains(&pause), "{pause} around {middle}");
        }
        assert_eq!(backoff.attempts(), 5);
    }

    #[test]
    fn a_first_pause_above_the_longest_stays() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(10));
        assert!(backoff.pause() >= Duration::from_millis(80));
    }
}
