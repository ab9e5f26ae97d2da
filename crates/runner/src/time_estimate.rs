//! How long a run takes, as it is announced.

use std::fmt;
use std::time::Duration;

use kgauge_scenario::format::seconds;

/// How long a run takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeEstimate {
    /// If most loads are steady from the start.
    pub usual: Duration,
    /// If every warm-up needs its limit.
    pub limit: Duration,
}

impl TimeEstimate {
    /// A run that ends within its budget.
    pub(crate) fn at_most(budget: Duration) -> TimeEstimate {
        TimeEstimate {
            usual: budget,
            limit: budget,
        }
    }
}

impl fmt::Display for TimeEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [usual, limit] = [self.usual, self.limit].map(|time| plain(rounded(time)));
        match self.limit.as_secs_f64() > 1.2 * self.usual.as_secs_f64() {
            true => write!(
                f,
                "about {usual}, up to {limit} if warm-ups need their limit"
            ),
            false => write!(f, "about {usual}"),
        }
    }
}

/// `3 min` instead of `3 min 00 s`.
pub(crate) fn plain(time: Duration) -> String {
    let text = seconds(time);
    text.strip_suffix(" 00 s").unwrap_or(&text).to_owned()
}

/// To 10 s from a minute on, to a minute from a quarter of an hour on.
pub(crate) fn rounded(time: Duration) -> Duration {
    let step = match time.as_secs() {
        ..60 => return time,
        60..900 => 10,
        900.. => 60,
    };
    Duration::from_secs(time.as_secs().div_ceil(step) * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_names_its_limit_where_that_is_far_away() {
        let text = |usual, limit| {
            let [usual, limit] = [usual, limit].map(Duration::from_secs);
            TimeEstimate { usual, limit }.to_string()
        };
        assert_eq!(text(42, 50), "about 42 s");
        assert_eq!(text(601, 610), "about 10 min 10 s");
        assert_eq!(text(175, 175), "about 3 min");
        assert_eq!(
            text(183, 488),
            "about 3 min 10 s, up to 8 min 10 s if warm-ups need their limit"
        );
        assert_eq!(text(3_601, 3_601), "about 1 h 01 min");
    }
}
