//! The stages of a run and the borders between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nanoseconds in a second: the width of a slice.
pub const SECOND_NS: u64 = 1_000_000_000;

/// A span of a run. Figures come from [`Stage::Hold`] alone; the others are kept beside it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Load without counting, first.
    WarmUp,
    /// The span that figures come from.
    Hold,
    /// The answers to what was sent still come in.
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

/// Where the stages of one repeat meet, in nanoseconds since its start.
///
/// A moment belongs to the stage that begins at or before it: the borders themselves belong to
/// the later stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageBorders {
    /// End of the warm-up; 0 when there is none.
    pub warm_up_end_ns: u64,
    /// End of the hold; [`StageBorders::OPEN`] while it is not known.
    pub hold_end_ns: u64,
}

impl StageBorders {
    /// The hold's end when only the flow itself can tell it (a record count).
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
    pub fn stage_at(&self, at_ns: u64) -> Stage {
        if at_ns < self.warm_up_end_ns {
            Stage::WarmUp
        } else if at_ns < self.hold_end_ns {
            Stage::Hold
        } else {
            Stage::Drain
        }
    }

    /// From when to when (exclusive) all moments have the same second and stage as `at_ns`.
    pub fn span_around(&self, at_ns: u64) -> (u64, u64) {
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
