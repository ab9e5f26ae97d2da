//! Random numbers that a seed decides.

use kgauge_scenario::Random;

/// Random numbers in order.
pub(super) struct Draws {
    random: Random,
    at: u64,
}

impl Draws {
    pub(super) fn new(seed: u64) -> Draws {
        let random = Random::new(seed);
        Draws { random, at: 0 }
    }

    /// From 0 to 1.
    pub(super) fn uniform(&mut self) -> f64 {
        self.at += 1;
        (-self.random.exponential(self.at)).exp()
    }
}
