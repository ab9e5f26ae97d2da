//! How other tools search for a rate, to compare the time that they take and what they find: `kgauge truth` does.

/// Trials of RFC 2544 last this long (section 24).
const TRIAL_S: f64 = 60.0;
/// No network carries less than a record per second.
const RATE_MIN: f64 = 1.0;
/// OpenMessaging Benchmark's controller looks at the rate this often.
const PERIOD_S: f64 = 3.0;
/// It starts at this rate, in records per second.
const RATE_FIRST: f64 = 10_000.0;
/// A backlog of this number of records makes it slow down.
const BACKLOG_MAX: f64 = 1_000.0;
/// Its smallest step.
const STEP_MIN: f64 = 0.01;
/// It has no end of its own: it has arrived when its rate has stayed within the width for this long.
const ARRIVED_S: f64 = 60.0;
/// Nobody waits longer.
const TIME_MAX_S: f64 = 1_800.0;

/// What RFC 2544's search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bisection {
    /// The highest rate that passed, in records per second; 0 if none did.
    pub lower: f64,
    /// The lowest rate that did not.
    pub upper: f64,
    /// Seconds of its trials.
    pub seconds: f64,
}

/// RFC 2544's search (section 26.1): trials of a minute, halving from nothing to `rate_max`, which the network allows,
/// until the bracket is as narrow as `width`, a share of its upper end. `passes(rate)` is the result of one trial.
pub fn bisect(rate_max: f64, width: f64, mut passes: impl FnMut(f64) -> bool) -> Bisection {
    let mut found = Bisection {
        lower: 0.0,
        upper: rate_max,
        seconds: 0.0,
    };
    while 1.0 - found.lower / found.upper > width && found.upper > RATE_MIN {
        let rate = f64::midpoint(found.lower, found.upper);
        found.seconds += TRIAL_S;
        match passes(rate) {
            true => found.lower = rate,
            false => found.upper = rate,
        }
    }
    found
}

/// Seconds until a controller that works as OpenMessaging Benchmark's has arrived at the capacity; `None` if it does
/// not within half an hour. Every period it raises the rate by a step, which doubles up to the whole rate; or, with a
/// backlog, takes the rate that the target did and halves the step. Latency and consumers are left out.
pub fn ramping_s(capacity: f64, width: f64) -> Option<f64> {
    let (mut rate, mut step, mut seconds, mut within_s) = (RATE_FIRST, 1.0, 0.0, 0.0);
    while seconds < TIME_MAX_S {
        seconds += PERIOD_S;
        within_s = match (rate / capacity - 1.0).abs() <= width {
            true => within_s + PERIOD_S,
            false => 0.0,
        };
        if within_s >= ARRIVED_S {
            return Some(seconds);
        }
        let done = rate.min(capacity);
        if (rate - done) * PERIOD_S > BACKLOG_MAX {
            step = f64::max(step / 2.0, STEP_MIN);
            rate = done;
        } else {
            rate *= 1.0 + step;
            step = f64::min(step * 2.0, 1.0);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_takes_a_minute_for_each_halving() {
        // 50, 75, 62.5, 68.75, 71.875: then 70 lies in 68.75 to 71.875, 4.3 % of its upper end.
        let found = bisect(100.0, 0.05, |rate| rate <= 70.0);
        let expected = Bisection {
            lower: 68.75,
            upper: 71.875,
            seconds: 300.0,
        };
        assert_eq!(found, expected);
        assert!(bisect(100.0, 0.05, |_| false).upper <= 1.0);
    }

    #[test]
    fn the_controller_does_not_stay_at_a_small_capacity() {
        // At 5,000 records/s, a backlog of 1,000 records takes a rate that is 6.7 % too high.
        assert_eq!(ramping_s(5_000.0, 0.02), None);
        // It doubles the rate and falls back, for ever.
        assert_eq!(ramping_s(500_000.0, 0.2), None);
        assert!(ramping_s(500_000.0, 1.0).is_some());
    }
}
