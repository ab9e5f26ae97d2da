//! Evidence from signs: an e-process, which may be checked after every pair.

/// The evidence at which equal sides are called different in at most 5 % of all tests, however often they are checked
/// (J. Ville, 1939: a nonnegative martingale that starts at 1 reaches 20 with a probability of at most 1/20).
pub(crate) const EVIDENCE_MIN: f64 = 20.0;

/// How many values lie above and below zero. Values of zero say nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignCount {
    /// Values above zero.
    pub above: u32,
    /// Values below zero.
    pub below: u32,
}

impl SignCount {
    /// Counts values.
    pub fn of(values: &[f64]) -> SignCount {
        let mut count = SignCount::default();
        for value in values {
            if *value > 0.0 {
                count.above += 1;
            } else if *value < 0.0 {
                count.below += 1;
            }
        }
        count
    }

    /// The evidence that signs are not those of a fair coin: the capital of a gambler who starts with 1 and bets with
    /// the mixture of R. Krichevsky and V. Trofimov (1981) over all coins, `2^n B(w + 1/2, l + 1/2) / B(1/2, 1/2)`. It
    /// does not depend on the order of the values.
    pub fn evidence(self) -> f64 {
        let (mut log, mut seen) = (0.0, 0.0);
        for count in [self.above, self.below] {
            for before in 0..count {
                // The mixture's probability of the next sign, against 1/2.
                log += (2.0 * (f64::from(before) + 0.5) / (seen + 1.0)).ln();
                seen += 1.0;
            }
        }
        log.exp().min(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_of_runs_of_wins_is_that_of_the_formula() {
        // 2^n B(w + 1/2, l + 1/2) / B(1/2, 1/2), for example 7 of 7: 128 * (1*3*5*7*9*11*13) / (2*4*6*8*10*12*14).
        let known = [
            (7, 0, 26.81),
            (11, 1, 28.7),
            (14, 2, 30.6),
            (16, 3, 23.7),
            (17, 3, 39.0),
            (1, 0, 1.0),
            (1, 1, 0.5),
            (0, 0, 1.0),
        ];
        for (above, below, expected) in known {
            for (above, below) in [(above, below), (below, above)] {
                let found = SignCount { above, below }.evidence();
                let error = (found / expected - 1.0).abs();
                assert!(error < 0.003, "{above} of {below}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn the_bet_is_fair() {
        // Over both next signs of a fair coin, the capital stays the same on average.
        for (above, below) in [(0, 0), (3, 1), (10, 10), (0, 30)] {
            let next = [(above + 1, below), (above, below + 1)];
            let next = next.map(|(above, below)| SignCount { above, below }.evidence());
            let now = SignCount { above, below }.evidence();
            assert!(((next[0] + next[1]) / 2.0 / now - 1.0).abs() < 1e-9);
        }
        let many = SignCount {
            above: 5_000,
            below: 0,
        };
        assert!(many.evidence().is_finite());
    }

    #[test]
    fn zeros_count_for_neither_side() {
        let count = SignCount::of(&[0.1, -0.2, 0.0, 0.3, f64::NAN]);
        assert_eq!(count, SignCount { above: 2, below: 1 });
    }
}
