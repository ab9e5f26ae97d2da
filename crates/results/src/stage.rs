//! The stages of a run and the borders between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nanoseconds in a second: the width of a slice.
pub const SECOND_NS: u64 = 1_000_000_000;

/// A span of a run. Figures come only from [`Stage::Hold`]; the others are recorded as well.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Unmeasured load, first.
    WarmUp,
    /// The measured span.
    Hold,
    /// Outstanding responses arrive.
    Drain,
}

impl Stage {
    /// All stages, in their order in time.
    pub const ALL: [Stage; 3] = [Stage::WarmUp, Stage::Hold, Stage::Drain];

    /// The word in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::WarmUp => "warm-up",
            Stage::Hold => "hold",
            Stage::Drain => "drain",
        }
    }
}

/// The borders between the stages of one repeat, in nanoseconds since its start. A border belongs to the later stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageBorders {
    /// End of the warm-up; 0 when there is none.
    pub warm_up_end_ns: u64,
    /// End of the hold; [`StageBorders::OPEN`] if unknown.
    pub hold_end_ns: u64,
}

impl StageBorders {
    /// The end of a hold that the flow itself determines (a record count).
    pub const OPEN: u64 = u64::MAX;

    /// A warm-up and a hold of known lengths.
    pub fn closed(warm_up_end_ns: u64, hold_end_ns: u64) -> StageBorders {
        StageBorders {
            warm_up_end_ns,
            hold_end_ns: hold_end_ns.max(warm_up_end_ns),
        }
    }

    /// A hold that ends when [`crate::Recorder::close_hold`] says so.
    pub fn open(warm_up_end_ns: u64) -> StageBorders {
        StageBorders {
            warm_up_end_ns,
            hold_end_ns: StageBorders::OPEN,
        }
    }

    /// The stage of a moment.
    pub(crate) fn stage_at(&self, at_ns: u64) -> Stage {
        if at_ns < self.warm_up_end_ns {
            Stage::WarmUp
        } else if at_ns < self.hold_end_ns {
            Stage::Hold
        } else {
            Stage::Drain
        }
    }

    /// The range of times (exclusive) with the same second and stage as `at_ns`.
    pub(crate) fn span_around(&self, at_ns: u64) -> (u64, u64) {
        let second_start_ns = at_ns - at_ns % SECOND_NS;
        let second_end_ns = second_start_ns.saturating_add(SECOND_NS);
        let (stage_start_ns, stage_end_ns) = match self.stage_at(at_ns) {
            Stage::WarmUp => (0, self.warm_up_end_ns),
            Stage::Hold => (self.warm_up_end_ns, self.hold_end_ns),
            Stage::Drain => (self.hold_end_ns, u64::MAX),
        };
        (
            second_start_ns.max(stage_start_ns),
            second_end_ns.min(stage_end_ns),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_border_belongs_to_the_later_stage() {
        let borders = StageBorders::closed(2_500_000_000, 4_000_000_000);
        assert_eq!(borders.stage_at(2_499_999_999), Stage::WarmUp);
        assert_eq!(borders.stage_at(2_500_000_000), Stage::Hold);
        assert_eq!(borders.stage_at(3_999_999_999), Stage::Hold);
        assert_eq!(borders.stage_at(4_000_000_000), Stage::Drain);
    }

    #[test]
    fn a_span_ends_at_the_second_or_at_the_stage_whichever_is_nearer() {
        let borders = StageBorders::closed(2_500_000_000, 4_000_000_000);
        assert_eq!(
            borders.span_around(2_100_000_000),
            (2_000_000_000, 2_500_000_000)
        );
        assert_eq!(
            borders.span_around(2_500_000_000),
            (2_500_000_000, 3_000_000_000)
        );
        assert_eq!(
            borders.span_around(3_200_000_000),
            (3_000_000_000, 4_000_000_000)
        );
        assert_eq!(
            StageBorders::open(0).span_around(9_000_000_001),
            (9_000_000_000, 10_000_000_000)
        );
    }
}
