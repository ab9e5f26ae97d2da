//! The arithmetic of the known answers. Nothing here has seen a measurement.

use kgauge_scenario::{DelayPlan, Fault, RequestFault, Trial};

/// The band of a random figure: this many standard deviations on either side. The normal distribution leaves 7 in a
/// million beyond 4.5, so that a suite of ten such figures is wrong by chance once in fifteen thousand runs.
const SIGMAS: f64 = 4.5;

/// A hold in which the answers of some spans of time came late. Records are due evenly (or at random, but as likely at
/// any moment as at any other).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StalledHold {
    /// How long the hold is.
    pub(crate) hold_ns: f64,
    /// The spans do not overlap. Times count from the beginning of the hold, and are negative before it.
    pub(crate) spans: Vec<WaitSpan>,
}

/// Records that are due in a span of time and answered together after it: each waits until then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WaitSpan {
    pub(crate) first_due_ns: f64,
    pub(crate) last_due_ns: f64,
    pub(crate) answered_ns: f64,
}

impl WaitSpan {
    /// A stall whose end answers everything at once.
    pub(crate) fn of_stall(begin_ns: f64, length_ns: f64) -> Self {
        Self {
            first_due_ns: begin_ns,
            last_due_ns: begin_ns + length_ns,
            answered_ns: begin_ns + length_ns,
        }
    }

    /// The spans of a stall that a node carried out. Records came at an even rate, and in order: the n-th since the
    /// stall's beginning was due n / rate after it, and was answered when the node had answered n. What is due until
    /// the first answer has waited for the stall; from then on the node answers as usual.
    pub(crate) fn of_answers(begin_ns: f64, answers: &[(f64, u64)], per_ns: f64) -> Vec<Self> {
        let mut spans: Vec<Self> = Vec::new();
        let Some((release_ns, _)) = answers.first().copied() else {
            return spans;
        };
        let mut due_ns = begin_ns;
        for (answered_ns, records) in answers {
            if due_ns >= release_ns {
                break;
            }
            let last_due_ns = (due_ns + *records as f64 / per_ns).min(*answered_ns);
            spans.push(Self {
                first_due_ns: due_ns,
                last_due_ns,
                answered_ns: *answered_ns,
            });
            due_ns = last_due_ns;
        }
        spans
    }
}

impl StalledHold {
    /// The hold of a plan. `recorded` gives the spans that nodes recorded for an entry of its faults, if any. `None`
    /// without a hold of known length, or without a stall.
    pub(crate) fn of(trial: &Trial, recorded: impl Fn(usize) -> Vec<WaitSpan>) -> Option<Self> {
        let warm_up_ns = trial.stages.warm_up_ns;
        let faults = trial.faults.iter().enumerate();
        let spans = faults.filter_map(|(entry, fault)| match &fault.kind {
            Fault::Requests {
                what: RequestFault::Stall { length_ns },
                ..
            } => {
                let spans = recorded(entry);
                let at_ns = fault.at.at_ns(warm_up_ns) as f64 - warm_up_ns as f64;
                let planned = || vec![WaitSpan::of_stall(at_ns, *length_ns as f64)];
                Some(if spans.is_empty() { planned() } else { spans })
            }
            _ => None,
        });
        let spans: Vec<WaitSpan> = spans.flatten().collect();
        let hold_ns = trial.stages.hold_ns? as f64;
        (!spans.is_empty()).then_some(Self { hold_ns, spans })
    }

    /// The part of the hold's records that waits longer than `wait_ns`: of each span those that are due longer than
    /// that before its answer.
    fn part_beyond(&self, wait_ns: f64) -> f64 {
        let beyond = self.spans.iter().map(|span| {
            let first_ns = span.first_due_ns.max(0.0);
            let last_ns = (span.answered_ns - wait_ns).min(span.last_due_ns);
            (last_ns.min(self.hold_ns) - first_ns).max(0.0)
        });
        beyond.sum::<f64>() / self.hold_ns
    }

    /// The wait that a part of all records does not exceed.
    pub(crate) fn quantile_ns(&self, part: f64) -> f64 {
        let waits = self
            .spans
            .iter()
            .map(|span| span.answered_ns - span.first_due_ns);
        let (mut low_ns, mut high_ns) = (0.0, waits.fold(0.0, f64::max));
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
pub(crate) fn rank_reach(part: f64, count: f64) -> f64 {
    SIGMAS * (part * (1.0 - part) / count).sqrt()
}

/// The delay that a part of all requests does not exceed, as the scenario writes it.
pub(crate) fn delay_quantile_ns(delay: &DelayPlan, part: f64) -> Option<f64> {
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

    fn hold(hold_s: f64, stalls: &[(f64, f64)]) -> StalledHold {
        let span = |(begin_s, length_s): &(f64, f64)| WaitSpan::of_stall(begin_s * S, length_s * S);
        StalledHold {
            hold_ns: hold_s * S,
            spans: stalls.iter().map(span).collect(),
        }
    }

    fn near(found_ns: f64, expected_ms: f64) -> bool {
        (found_ns / 1e6 - expected_ms).abs() < 1e-3
    }

    #[test]
    fn a_second_in_a_minute_is_400_and_940_ms() {
        let hold = hold(60.0, &[(7.0, 1.0)]);
        assert!(near(hold.quantile_ns(0.99), 400.0));
        assert!(near(hold.quantile_ns(0.999), 940.0));
        assert!(near(hold.quantile_ns(0.5), 0.0));
        assert!((hold.part_beyond(0.25 * S) - 0.75 / 60.0).abs() < 1e-12);
    }

    #[test]
    fn two_stalls_add_up() {
        // (0.5 - x) + (2 - x) of 20 s wait longer than x below half a second, (2 - x) above.
        let hold = hold(20.0, &[(1.0, 0.5), (4.0, 2.0)]);
        assert!(near(hold.quantile_ns(0.90), 250.0));
        assert!(near(hold.quantile_ns(0.95), 1_000.0));
        assert!(near(hold.quantile_ns(0.99), 1_800.0));
    }

    #[test]
    fn of_a_stall_over_a_border_only_the_records_of_the_hold_count() {
        // 1 s of the first is in the hold, and the last 0.5 s of the hold waits from 1 to 1.5 s.
        let hold = hold(5.0, &[(-0.4, 1.4), (4.5, 1.5)]);
        assert!(near(hold.quantile_ns(0.80), 500.0));
        assert!(near(hold.quantile_ns(0.99), 1_450.0));
        assert!((hold.part_beyond(S) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_work_after_a_stall_is_part_of_the_wait() {
        // 100 records a second. Four came during the stall and were held; what had piled up was answered 6 ms after its
        // end.
        let answers = [(8.0 * S, 4), (8.006 * S, 96), (8.02 * S, 3)];
        let spans = WaitSpan::of_answers(7.0 * S, &answers, 100.0 / S);
        let ends: Vec<f64> = spans.iter().map(|span| span.answered_ns).collect();
        assert_eq!(ends, [8.0 * S, 8.006 * S]);
        let hold = StalledHold {
            hold_ns: 60.0 * S,
            spans,
        };
        assert!(near(hold.quantile_ns(0.99), 406.0));
        assert!(near(hold.quantile_ns(0.999), 946.0));
        // The first four did not wait for it.
        assert!(near(hold.quantile_ns(1.0 - 0.01 / 60.0), 990.0));
    }

    #[test]
    fn without_answers_there_are_no_spans() {
        assert!(WaitSpan::of_answers(S, &[], 1e-6).is_empty());
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
