//! The delays that a node draws for single requests.

use kgauge_faults::DelayPlan;

use crate::ids::NodeId;
use crate::random::SmallRandom;

/// Delays in nanoseconds as a node draws them, without an end. A test that knows the seed knows every delay.
#[derive(Debug, Clone)]
pub struct Delays {
    plan: DelayPlan,
    random: SmallRandom,
}

impl Delays {
    /// The delays of one node, in order.
    #[must_use]
    pub fn of(plan: &DelayPlan, seed: u64, node: NodeId) -> Self {
        let seed = seed.wrapping_add(u64::from(node.0.unsigned_abs()));
        Self {
            plan: plan.clone(),
            random: SmallRandom::new(seed),
        }
    }
}

impl Iterator for Delays {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        // 53 bits are what a float holds: from 0 to below 1.
        let share = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        Some(self.plan.quantile_ns(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn mean_and_p99_ms(plan: &DelayPlan) -> (f64, f64) {
        let draws = Delays::of(plan, 7, NodeId(1)).take(200_000);
        let mut all: Vec<f64> = draws.map(|ns| ns as f64 / 1e6).collect();
        all.sort_by(f64::total_cmp);
        (all.iter().sum::<f64>() / all.len() as f64, all[198_000])
    }

    #[test]
    fn draws_have_the_mean_and_the_tail_of_their_distribution() {
        let quantiles = vec![(0, MS), (500_000, 3 * MS), (1_000_000, 103 * MS)];
        let (low_ns, high_ns) = (2 * MS, 6 * MS);
        let cases = [
            (DelayPlan::Constant(5 * MS), 5.0, 5.0),
            (DelayPlan::Uniform { low_ns, high_ns }, 4.0, 5.96),
            // The 99th percentile of an exponential is ln 100 means.
            (DelayPlan::Exponential { mean_ns: 10 * MS }, 10.0, 46.05),
            // Half of 2 ms and half of 53 ms; 98 % of the way from 3 to 103.
            (DelayPlan::Quantiles(quantiles), 27.5, 101.0),
        ];
        for (delay, mean, tail) in cases {
            assert!(delay.is_sound());
            let (found_mean, found_tail) = mean_and_p99_ms(&delay);
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
        let plan = DelayPlan::Exponential { mean_ns: MS };
        let draws = |node| {
            Delays::of(&plan, 3, NodeId(node))
                .take(5)
                .collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }
}
