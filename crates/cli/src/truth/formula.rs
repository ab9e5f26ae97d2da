//! The arithmetic of the known answers. Nothing here has seen a measurement.

use kgauge_scenario::{DelayPlan, FaultKind, RequestFault, Trial};

/// How sure the band of a random figure is: so many standard deviations on either side. The normal
/// distribution leaves 7 in a million beyond 4.5, so that a suite of ten such figures is wrong by
/// chance once in fifteen thousand runs.
pub(super) const SIGMAS: f64 = 4.5;

/// A hold during which nothing was answered for some spans of time. Records are due evenly (or at
/// random, but as likely at any moment as at any other), and each waits until the stall is over in which it was due.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StalledHold {
    /// How long the hold is.
    pub(super) hold_ns: f64,
    /// Beginning (from that of the hold; before it when negative) and length of each stall. They do not
    /// overlap.
    pub(super) stalls: Vec<(f64, f64)>,
}

impl StalledHold {
    /// What a plan says. `begun_ns` tells when an entry of its faults really began, where that is known: a stall
    /// that begins late ends late. `None` without a hold of known length, or without a stall.
    pub(super) fn of(trial: &Trial, begun_ns: impl Fn(usize) -> Option<u64>) -> Option<Self> {
        let warm_up_ns = trial.stages.warm_up_ns;
        let faults = trial.faults.iter().enumerate();
        let stalls = faults.filter_map(|(entry, fault)| match &fault.kind {
            FaultKind::Requests {
                what: RequestFault::Stall { length_ns },
                ..
            } => {
                let at_ns = begun_ns(entry).unwrap_or_else(|| fault.at.at_ns(warm_up_ns));
                Some((at_ns as f64 - warm_up_ns as f64, *length_ns as f64))
            }
            _ => None,
        });
        let stalls: Vec<(f64, f64)> = stalls.collect();
        let hold_ns = trial.stages.hold_ns? as f64;
        (!stalls.is_empty()).then_some(Self { hold_ns, stalls })
    }

    /// The part of the hold's records that waits longer than `wait_ns`: those that are due in a stall,
    /// longer than that before its end.
    pub(super) fn part_beyond(&self, wait_ns: f64) -> f64 {
        let beyond = self.stalls.iter().map(|(start_ns, length_ns)| {
            let first_ns = start_ns.max(0.0);
            let last_ns = (start_ns + length_ns - wait_ns).min(self.hold_ns);
            (last_ns - first_ns).max(0.0)
        });
        beyond.sum::<f64>() / self.hold_ns
    }

    /// The wait that a part of all records does not exceed.
    pub(super) fn quantile_ns(&self, part: f64) -> f64 {
        let lengths = self.stalls.iter().map(|(_, length_ns)| *length_ns);
        let (mut low_ns, mut high_ns) = (0.0, lengths.fold(0.0, f64::max));
        // The part beyond falls as the wait grows: sixty halvings of 292 years are a nanosecond.
        for _ in 0..60 {
            let middle_ns = (low_ns + high_ns) / 2.0;
            if self.part_beyond(middle_ns) > 1.0 - part {
                low_ns = middle_ns;
            } else {
                high_ns = middle_ns;
            }
        }
        high_ns
    }
}

/// How far the part of `count` independent samples that lie below a quantile may be from that
/// quantile by chance: it is binomial, with the standard deviation sqrt(q (1 - q) / n).
pub(super) fn rank_reach(part: f64, count: f64) -> f64 {
    SIGMAS * (part * (1.0 - part) / count).sqrt()
}

/// The delay that a part of all requests does not exceed, as the scenario writes it.
pub(super) fn delay_quantile_ns(delay: &DelayPlan, part: f64) -> Option<f64> {
    let DelayPlan::Quantiles(points) = delay else {
        return None;
    };
    let at = (part * 1e6).clamp(0.0, 1e6);
    let pair = points.windows(2).find(|pair| at <= f64::from(pair[1].0))?;
    let (from, to) = (pair[0], pair[1]);
    let share = (at - f64::from(from.0)) / f64::from(to.0 - from.0);
    Some(from.1 as f64 + (to.1 as f64 - from.1 as f64) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: f64 = 1e9;

    fn near(found_ns: f64, expected_ms: f64) -> bool {
        (found_ns / 1e6 - expected_ms).abs() < 1e-3
    }

    #[test]
    fn a_second_in_a_minute_is_400_and_940_ms() {
        let hold = StalledHold {
            hold_ns: 60.0 * S,
            stalls: vec![(7.0 * S, S)],
        };
        assert!(near(hold.quantile_ns(0.99), 400.0));
        assert!(near(hold.quantile_ns(0.999), 940.0));
        assert!(near(hold.quantile_ns(0.5), 0.0));
        assert!((hold.part_beyond(0.25 * S) - 0.75 / 60.0).abs() < 1e-12);
    }

    #[test]
    fn two_stalls_add_up() {
        // (0.5 - x) + (2 - x) of 20 s wait longer than x below half a second, (2 - x) above.
        let hold = StalledHold {
            hold_ns: 20.0 * S,
            stalls: vec![(S, 0.5 * S), (4.0 * S, 2.0 * S)],
        };
        assert!(near(hold.quantile_ns(0.90), 250.0));
        assert!(near(hold.quantile_ns(0.95), 1_000.0));
        assert!(near(hold.quantile_ns(0.99), 1_800.0));
    }

    #[test]
    fn of_a_stall_over_a_border_only_the_records_of_the_hold_count() {
        // 1 s of the first is in the hold, and the last 0.5 s of the hold waits from 1 to 1.5 s.
        let hold = StalledHold {
            hold_ns: 5.0 * S,
            stalls: vec![(-0.4 * S, 1.4 * S), (4.5 * S, 1.5 * S)],
        };
        assert!(near(hold.quantile_ns(0.80), 500.0));
        assert!(near(hold.quantile_ns(0.99), 1_450.0));
        assert!((hold.part_beyond(S) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_rank_is_as_sure_as_a_coin() {
        // 10,000 throws: the standard deviation of the part of heads is 0.005.
        assert!((rank_reach(0.5, 10_000.0) - 4.5 * 0.005).abs() < 1e-12);
    }

    #[test]
    fn delays_lie_on_straight_lines() {
        let delay = DelayPlan::Quantiles(vec![(0, 10), (500_000, 40), (1_000_000, 200)]);
        assert_eq!(delay_quantile_ns(&delay, 0.25), Some(25.0));
        assert_eq!(delay_quantile_ns(&delay, 0.5), Some(40.0));
        assert_eq!(delay_quantile_ns(&delay, 1.0), Some(200.0));
        assert_eq!(delay_quantile_ns(&DelayPlan::Constant(1), 0.5), None);
    }
}
