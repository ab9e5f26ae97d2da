//! The offset of a clock over time, from the best exchange of each second.

use std::collections::VecDeque;

use super::drift::DriftInterval;
use super::exchange::ClockExchange;
use super::interval::OffsetInterval;

/// Seconds whose best exchange is kept: older ones have been widened beyond use.
const SECONDS_KEPT: usize = 120;

/// The length of the spans whose best exchange is kept.
const SPAN_NS: u64 = 1_000_000_000;

/// What is known of an agent's clock.
#[derive(Debug, Default)]
pub struct ClockTrack {
    /// The best exchange of each finished second, oldest first.
    kept: VecDeque<KeptExchange>,
    /// The best one of the current second.
    current: Option<KeptExchange>,
    drift: DriftInterval,
    exchanges: u64,
    steps: u32,
}

/// An exchange with its time on the lead's clock.
#[derive(Debug, Clone, Copy)]
struct KeptExchange {
    at_ns: u64,
    round_trip_ns: u64,
    offset: OffsetInterval,
}

/// An agent's clock at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockEstimate {
    /// Where the offset lies.
    pub offset: OffsetInterval,
    /// How much faster the agent's clock runs, in nanoseconds per second.
    pub drift_ppb: i64,
}

impl ClockEstimate {
    /// A moment of the lead's clock, on the agent's.
    pub fn to_agent_ns(&self, lead_ns: u64) -> u64 {
        lead_ns.saturating_add_signed(self.offset.middle_ns())
    }
}

impl ClockTrack {
    /// Adds an exchange. One whose readings contradict each other, as only a broken agent sends them, is left out.
    pub fn add(&mut self, exchange: &ClockExchange) {
        let (Some(round_trip_ns), Some(offset)) = (exchange.round_trip_ns(), exchange.offset())
        else {
            return;
        };
        self.exchanges += 1;
        // The bounds hold when the agent read its clock. Until the answer returned, it drifted by 200 ppm at most.
        let drifted_ns = round_trip_ns / 5_000 + 1;
        let found = KeptExchange {
            at_ns: exchange.returned_ns,
            round_trip_ns,
            offset: offset.widened(drifted_ns, drifted_ns),
        };
        match self.current {
            Some(best) if best.at_ns / SPAN_NS == found.at_ns / SPAN_NS => {
                if found.round_trip_ns < best.round_trip_ns {
                    self.current = Some(found);
                }
            }
            Some(best) => {
                self.keep(best);
                self.current = Some(found);
            }
            None => self.current = Some(found),
        }
    }

    /// A second is over. What contradicts the seconds before makes them worthless, whether a clock stepped or only runs
    /// at another rate since then.
    fn keep(&mut self, best: KeptExchange) {
        if self.intersected(&best).is_none() {
            self.steps = self.steps.saturating_add(u32::from(self.is_step(&best)));
            self.kept.clear();
            self.drift = DriftInterval::default();
        }
        self.drift = self.drift.aged();
        for earlier in &self.kept {
            let after_ns = best.at_ns.saturating_sub(earlier.at_ns);
            self.drift.learn(earlier.offset, best.offset, after_ns);
        }
        if self.kept.len() == SECONDS_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(best);
    }

    /// Whether no rate of the clocks explains how the offset has moved since the second before.
    fn is_step(&self, found: &KeptExchange) -> bool {
        self.kept.back().is_some_and(|before| {
            let after_ns = since_ns(found.at_ns, before.at_ns);
            let moved = DriftInterval::without_steps().applied(before.offset, after_ns);
            found.offset.common(moved).is_none()
        })
    }

    /// What earlier seconds and this exchange leave of the offset at its time; `None` if a clock has stepped or changed
    /// its rate in between.
    fn intersected(&self, with: &KeptExchange) -> Option<OffsetInterval> {
        let mut common = with.offset;
        for earlier in &self.kept {
            let moved = self
                .drift
                .applied(earlier.offset, since_ns(with.at_ns, earlier.at_ns));
            common = common.common(moved)?;
        }
        Some(common)
    }

    /// The clock at a moment of the lead's clock; `None` before the first exchange.
    pub fn at(&self, lead_ns: u64) -> Option<ClockEstimate> {
        let newest = self.current.or(self.kept.back().copied())?;
        let (offset, drift) = match self.intersected(&newest) {
            Some(offset) => (offset, self.drift),
            // Earlier seconds, and the drift that they gave, are worthless now.
            None => (newest.offset, DriftInterval::default()),
        };
        Some(ClockEstimate {
            offset: drift.applied(offset, since_ns(lead_ns, newest.at_ns)),
            drift_ppb: drift.middle_ppb(),
        })
    }

    /// Exchanges so far.
    pub fn exchanges(&self) -> u64 {
        self.exchanges
    }

    /// How often a clock has stepped so far: the lead's, the agent's, or one of the machines was suspended.
    pub fn steps(&self) -> u32 {
        let is_step = self
            .current
            .is_some_and(|current| self.intersected(&current).is_none() && self.is_step(&current));
        self.steps.saturating_add(u32::from(is_step))
    }
}

fn since_ns(now_ns: u64, before_ns: u64) -> i64 {
    let since = i128::from(now_ns) - i128::from(before_ns);
    i64::try_from(since).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::ops::Range;

    use super::*;

    const MS: u64 = 1_000_000;

    /// Two clocks: the agent's starts at an offset and runs faster by a drift for some time.
    struct Clocks {
        offset_ns: i64,
        drift_ppb: i64,
        drifts_ns: Range<u64>,
    }

    impl Clocks {
        fn new(offset_ns: i64, drift_ppb: i64) -> Self {
            Self {
                offset_ns,
                drift_ppb,
                drifts_ns: 0..u64::MAX,
            }
        }

        fn offset_at(&self, lead_ns: u64) -> i64 {
            let Range { start, end } = self.drifts_ns;
            let drifting_ns = lead_ns.clamp(start, end) - start;
            let drifted = i128::from(drifting_ns) * i128::from(self.drift_ppb) / 1_000_000_000;
            self.offset_ns + i64::try_from(drifted).unwrap()
        }

        fn agent_ns(&self, lead_ns: u64) -> u64 {
            lead_ns.checked_add_signed(self.offset_at(lead_ns)).unwrap()
        }

        fn exchange(&self, at_ns: u64, there_ns: u64, back_ns: u64) -> ClockExchange {
            let arrived_ns = at_ns + there_ns;
            ClockExchange {
                sent_ns: at_ns,
                received_ns: self.agent_ns(arrived_ns),
                answered_ns: self.agent_ns(arrived_ns + 2_000),
                returned_ns: arrived_ns + 2_000 + back_ns,
            }
        }
    }

    /// Delays between 50 us and a millisecond, the way back ten times as slow.
    fn delays(number: u64) -> (u64, u64) {
        let there_ns = 50_000 + number * 7_919 % 97 * 1_000;
        (there_ns, 10 * there_ns)
    }

    #[test]
    fn the_true_offset_lies_within_the_bound_in_every_second_and_the_drift_is_found() {
        let clocks = Clocks::new(3_600_000_000_000, 37_000);
        let mut track = ClockTrack::default();
        for number in 0..1_200 {
            let (there_ns, back_ns) = delays(number);
            track.add(&clocks.exchange(number * 100 * MS, there_ns, back_ns));
            let now_ns = number * 100 * MS + 50 * MS;
            let offset = track.at(now_ns).unwrap().offset;
            let is_inside = |true_ns| offset.low_ns <= true_ns && true_ns <= offset.high_ns;
            assert!(is_inside(clocks.offset_at(now_ns)), "{number}: {offset:?}");
        }
        let found = track.at(120_000 * MS).unwrap();
        assert_eq!((track.exchanges(), track.steps()), (1_200, 0));
        assert!((found.drift_ppb - 37_000).abs() < 3_000, "{found:?}");
        // A round trip of 0.55 ms at best, and what it drifts in a second.
        assert!(found.offset.bound_ns() < 400_000, "{found:?}");
    }

    #[test]
    fn a_clock_that_jumps_is_noticed_once_and_known_again_afterwards() {
        let before = Clocks::new(1_000_000, 0);
        let after = Clocks::new(31_000_000, 0);
        let mut track = ClockTrack::default();
        for number in 0..100 {
            track.add(&before.exchange(number * 100 * MS, 60_000, 60_000));
        }
        assert_eq!(track.steps(), 0);
        for number in 100..200 {
            track.add(&after.exchange(number * 100 * MS, 60_000, 60_000));
        }
        assert_eq!(track.steps(), 1);
        let offset = track.at(20_000 * MS).unwrap().offset;
        assert!(offset.middle_ns().abs_diff(31_000_000) <= offset.bound_ns());
    }

    /// For each exchange, ten per second for two minutes: a time soon afterwards, and whether the true offset lies
    /// within the bound then. No clock steps.
    fn readings(clocks: &Clocks) -> Vec<(u64, bool)> {
        let mut track = ClockTrack::default();
        let mut readings = Vec::new();
        for number in 0..1_200 {
            track.add(&clocks.exchange(number * 100 * MS, 60_000, 60_000));
            assert_eq!(track.steps(), 0, "{number}");
            let now_ns = number * 100 * MS + 50 * MS;
            let offset = track.at(now_ns).unwrap().offset;
            let true_ns = clocks.offset_at(now_ns);
            let is_inside = offset.low_ns <= true_ns && true_ns <= offset.high_ns;
            readings.push((now_ns, is_inside));
        }
        readings
    }

    #[test]
    fn a_small_correction_by_a_time_daemon_stays_within_the_bound() {
        let clocks = Clocks {
            drifts_ns: 60_000 * MS..u64::MAX,
            ..Clocks::new(0, 4_000)
        };
        let readings = readings(&clocks);
        assert!(readings.iter().all(|(_, is_inside)| *is_inside));
    }

    #[test]
    fn a_clock_that_a_time_daemon_slews_has_not_stepped_and_is_known_again_soon() {
        // A millisecond, as fast as the kernel does it.
        let clocks = Clocks {
            drifts_ns: 60_000 * MS..62_000 * MS,
            ..Clocks::new(0, 500_000)
        };
        for (now_ns, is_inside) in readings(&clocks) {
            let is_slewed = (60_000 * MS..64_000 * MS).contains(&now_ns);
            assert!(is_inside || is_slewed, "{now_ns}");
        }
    }

    #[test]
    fn a_start_time_is_converted_with_the_offset() {
        let clocks = Clocks::new(-5_000_000, 0);
        let mut track = ClockTrack::default();
        track.add(&clocks.exchange(10_000 * MS, 100_000, 100_000));
        let estimate = track.at(10_000 * MS).unwrap();
        let agent_ns = estimate.to_agent_ns(12_000 * MS);
        assert!(agent_ns.abs_diff(11_995 * MS) <= estimate.offset.bound_ns());
        assert_eq!(ClockTrack::default().at(0), None);
    }
}
