//! Random numbers for tests that draw repeats of which the truth is known.

use kgauge_scenario::Random;

/// A source of numbers with a place in its sequence.
pub(crate) struct RandomDraws {
    random: Random,
    at: u64,
}

impl RandomDraws {
    pub(crate) fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        Self { random, at: 0 }
    }

    pub(crate) fn exponential(&mut self) -> f64 {
        self.at += 1;
        self.random.exponential(self.at)
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        (-self.exponential()).exp()
    }

    /// Box and Muller: an exponential number is half a squared radius.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
