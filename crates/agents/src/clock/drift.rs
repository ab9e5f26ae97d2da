//! How fast two clocks move apart.

use super::interval::OffsetInterval;

/// Assumed before anything is measured: oscillators of computers stay within 100 ppm each.
const DRIFT_PPB_MAX: i64 = 200_000;

/// A measured drift may change this much: with the temperature by about 1 ppm, and by some more when a time daemon
/// corrects an offset of some milliseconds.
const DRIFT_SLACK_PPB: i64 = 5_000;

/// How much a rate may change within a second: what was learned minutes ago holds less and less.
const AGING_PPB: i64 = 50;

/// While time daemons correct large offsets, each clock runs up to 500 ppm faster or slower (adjtimex(2)), and its
/// oscillator adds 100 ppm. A clock that moves faster than this has stepped.
const SLEW_PPB_MAX: i64 = 1_200_000;

/// The possible drifts, in nanoseconds per second (parts per billion).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DriftInterval {
    low_ppb: i64,
    high_ppb: i64,
}

impl Default for DriftInterval {
    fn default() -> Self {
        Self {
            low_ppb: -DRIFT_PPB_MAX,
            high_ppb: DRIFT_PPB_MAX,
        }
    }
}

impl DriftInterval {
    /// Every drift that is no step.
    pub(super) fn without_steps() -> Self {
        Self {
            low_ppb: -SLEW_PPB_MAX,
            high_ppb: SLEW_PPB_MAX,
        }
    }

    /// What is known of the drift a second later.
    pub(super) fn aged(self) -> Self {
        Self {
            low_ppb: (self.low_ppb - AGING_PPB).max(-DRIFT_PPB_MAX),
            high_ppb: (self.high_ppb + AGING_PPB).min(DRIFT_PPB_MAX),
        }
    }

    /// The best single value.
    pub(super) fn middle_ppb(self) -> i64 {
        (self.low_ppb + self.high_ppb) / 2
    }

    /// Uses that the offset was in one interval first, and in another `after_ns` later. Drift is never narrowed below
    /// what temperature and small corrections change.
    pub(super) fn learn(&mut self, first: OffsetInterval, later: OffsetInterval, after_ns: u64) {
        if after_ns == 0 {
            return;
        }
        let least = i128::from(later.low_ns) - i128::from(first.high_ns);
        let most = i128::from(later.high_ns) - i128::from(first.low_ns);
        let low_ppb = ppb(least, after_ns).saturating_sub(DRIFT_SLACK_PPB);
        let high_ppb = ppb(most, after_ns).saturating_add(DRIFT_SLACK_PPB);
        let learned = Self {
            low_ppb: self.low_ppb.max(low_ppb),
            high_ppb: self.high_ppb.min(high_ppb),
        };
        // What is left of contradicting intervals is a step or another rate, which the offsets show.
        if learned.low_ppb <= learned.high_ppb {
            *self = learned;
        }
    }

    /// Where an offset can be after some time, or was before it (`after_ns` negative).
    pub(super) fn applied(self, offset: OffsetInterval, after_ns: i64) -> OffsetInterval {
        let ends = [self.low_ppb, self.high_ppb].map(|ppb| {
            let moved = i128::from(after_ns) * i128::from(ppb) / 1_000_000_000;
            i64::try_from(moved).unwrap_or(if moved < 0 { i64::MIN } else { i64::MAX })
        });
        let (least, most) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        OffsetInterval {
            low_ns: offset.low_ns.saturating_add(least),
            high_ns: offset.high_ns.saturating_add(most),
        }
        // The division rounds towards zero.
        .widened(1, 1)
    }
}

fn ppb(moved_ns: i128, after_ns: u64) -> i64 {
    let ppb = moved_ns * 1_000_000_000 / i128::from(after_ns);
    i64::try_from(ppb).unwrap_or(if ppb < 0 { i64::MIN } else { i64::MAX })
}
