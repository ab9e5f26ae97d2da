//! How long single requests are delayed: a fixed time, or one drawn from a distribution.

use std::time::Duration;

use crate::random::SmallRandom;

/// The distribution of a delay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delay {
    /// Always the same.
    Constant(Duration),
    /// Anything between two times, each equally likely.
    Uniform {
        /// The least.
        low: Duration,
        /// The most.
        high: Duration,
    },
    /// Exponentially distributed: the longer the rarer, without an upper end.
    Exponential {
        /// The mean.
        mean: Duration,
    },
    /// What a measurement gave: (parts in a million, delay), both rising, from 0 to 1,000,000.
    /// Between two points it is a straight line.
    Quantiles(Vec<(u32, Duration)>),
}

/// Parts of a whole in [`Delay::Quantiles`].
const WHOLE: u32 = 1_000_000;

impl From<Duration> for Delay {
    fn from(length: Duration) -> Self {
        Self::Constant(length)
    }
}

impl Delay {
    /// Whether its numbers make a distribution.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Constant(_) | Self::Exponential { .. } => Ok(()),
            Self::Uniform { low, high } if low <= high => Ok(()),
            Self::Uniform { .. } => Err("a uniform delay's minimum is above its maximum"),
            Self::Quantiles(points) => {
                let ends = points.first().map(|(part, _)| *part) == Some(0)
                    && points.last().map(|(part, _)| *part) == Some(WHOLE);
                let rises = points
                    .windows(2)
                    .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
                match ends && rises {
                    true => Ok(()),
                    false => Err("a delay's quantiles must rise from 0 to 100 %"),
                }
            }
        }
    }

    /// The delay that a part of all requests (from 0 to below 1) does not exceed: the inverse of the
    /// distribution function.
    #[must_use]
    pub fn quantile(&self, part: f64) -> Duration {
        match self {
            Self::Constant(length) => *length,
            Self::Uniform { low, high } => *low + high.saturating_sub(*low).mul_f64(part),
            // -ln(1 - u), u in [0, 1): at most 36.8 means.
            Self::Exponential { mean } => mean.mul_f64(-(-part).ln_1p()),
            Self::Quantiles(points) => {
                let at = part * f64::from(WHOLE);
                let beyond = points.iter().position(|(place, _)| f64::from(*place) > at);
                let Some((before, after)) = beyond
                    .and_then(|index| Some((points.get(index.checked_sub(1)?)?, &points[index])))
                else {
                    return points.last().map_or(Duration::ZERO, |(_, length)| *length);
                };
                let share = (at - f64::from(before.0)) / f64::from(after.0 - before.0);
                before.1 + after.1.saturating_sub(before.1).mul_f64(share)
            }
        }
    }

    /// What is drawn from it on one node, in order. A test that knows the seed knows every delay.
    #[must_use]
    pub fn draws(&self, seed: u64, node: crate::ids::NodeId) -> Delays {
        let seed = seed.wrapping_add(u64::from(node.0.unsigned_abs()));
        Delays {
            delay: self.clone(),
            random: SmallRandom::new(seed),
        }
    }
}

/// Delays as they are drawn, without an end.
#[derive(Debug, Clone)]
pub struct Delays {
    delay: Delay,
    random: SmallRandom,
}

impl Iterator for Delays {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        // 53 bits are what a float holds: from 0 to below 1.
        let part = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        Some(self.delay.quantile(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;

    const MS: Duration = Duration::from_millis(1);

    /// Mean and 99th percentile of many draws, in ms.
    fn of_many(delay: &Delay) -> (f64, f64) {
        let mut all: Vec<f64> = delay
            .draws(7, NodeId(1))
            .take(200_000)
            .map(|length| length.as_secs_f64() * 1e3)
            .collect();
        all.sort_by(f64::total_cmp);
        (all.iter().sum::<f64>() / all.len() as f64, all[198_000])
    }

    #[test]
    fn draws_have_the_mean_and_the_tail_of_their_distribution() {
        let quantiles = vec![(0, MS), (500_000, 3 * MS), (1_000_000, 103 * MS)];
        let cases = [
            (Delay::from(5 * MS), 5.0, 5.0),
            (
                Delay::Uniform {
                    low: 2 * MS,
                    high: 6 * MS,
                },
                4.0,
                5.96,
            ),
            // The 99th percentile of an exponential is ln 100 means.
            (Delay::Exponential { mean: 10 * MS }, 10.0, 46.05),
            // Half of 2 ms and half of 53 ms; 98 % of the way from 3 to 103.
            (Delay::Quantiles(quantiles), 27.5, 101.0),
        ];
        for (delay, mean, tail) in cases {
            delay.check().unwrap();
            let (found_mean, found_tail) = of_many(&delay);
            assert!(
                (found_mean / mean - 1.0).abs() < 0.01,
                "{found_mean} {delay:?}"
            );
            assert!(
                (found_tail / tail - 1.0).abs() < 0.02,
                "{found_tail} {delay:?}"
            );
        }
    }

    #[test]
    fn equal_seeds_draw_equal_delays_and_nodes_differ() {
        let delay = Delay::Exponential { mean: MS };
        let draws = |node| delay.draws(3, NodeId(node)).take(5).collect::<Vec<_>>();
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }

    #[test]
    fn numbers_that_are_no_distribution_are_refused() {
        let upside_down = Delay::Uniform {
            low: 2 * MS,
            high: MS,
        };
        assert!(upside_down.check().is_err());
        for points in [
            vec![],
            vec![(0, MS)],
            vec![(0, MS), (999_999, MS)],
            vec![(0, 2 * MS), (1_000_000, MS)],
            vec![(0, MS), (0, MS), (1_000_000, MS)],
        ] {
            assert!(
                Delay::Quantiles(points.clone()).check().is_err(),
                "{points:?}"
            );
        }
    }
}
