//! `ab.json`: the A/B test of a run, block by block.

use kgauge_scenario::AbSide;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::VoidCause;

/// The contents of `ab.json`, written again after each block. If each side has a run of its own, both folders have all
/// blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AbRecord {
    /// The blocks that are complete, in order.
    pub blocks: Vec<AbBlock>,
    /// How it ended; absent while it goes on, and if it was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<AbEnd>,
    /// The time that it has taken so far, including topics and waits.
    pub took_ns: u64,
}

/// One repeat of each side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbBlock {
    /// Which repeat of both trials it is.
    pub repeat: u32,
    /// The side that was measured first, which the run's seed decides.
    pub first: AbSide,
    /// The figure of side A, in its unit; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<f64>,
    /// The figure of side B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<f64>,
    /// Why the block does not count, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<VoidCause>,
}

impl AbBlock {
    /// The logarithm of B / A; `None` if the block does not count.
    pub fn log_ratio(&self) -> Option<f64> {
        let ratio = self.b? / self.a?;
        let is_sound = self.void.is_none() && ratio.is_finite() && ratio > 0.0;
        is_sound.then(|| ratio.ln())
    }
}

impl AbRecord {
    /// The logarithms of B / A, of all blocks that count.
    pub fn log_ratios(&self) -> Vec<f64> {
        self.blocks.iter().filter_map(AbBlock::log_ratio).collect()
    }

    /// Whether the test ended without an answer, so that more blocks may find one.
    pub fn may_continue(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end != AbEnd::Decided)
    }
}

/// How an A/B test ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum AbEnd {
    /// The pairs answer the question.
    Decided,
    /// Its time was over.
    Budget,
    /// It had all of its blocks.
    Blocks,
    /// Blocks were void several times in a row.
    Void {
        /// Why, the last time.
        cause: VoidCause,
    },
    /// The run of one side ended, so there were no more pairs.
    SideLost {
        /// Which side.
        side: AbSide,
    },
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn block(a: Option<f64>, b: Option<f64>, void: Option<VoidCause>) -> AbBlock {
        AbBlock {
            repeat: 0,
            first: AbSide::A,
            a,
            b,
            void,
        }
    }

    #[test]
    fn a_block_counts_if_both_sides_were_measured() {
        let ratio = block(Some(2.0), Some(4.0), None).log_ratio();
        assert!((ratio.unwrap() - 2.0_f64.ln()).abs() < 1e-12);
        let void = VoidCause::LeadersMoved { partitions: 1 };
        let record = AbRecord {
            blocks: vec![
                block(Some(2.0), None, None),
                block(None, Some(2.0), None),
                block(Some(0.0), Some(2.0), None),
                block(Some(2.0), Some(0.0), None),
                block(Some(2.0), Some(2.0), Some(void)),
                block(Some(2.0), Some(2.0), None),
            ],
            ..AbRecord::default()
        };
        assert_eq!(record.log_ratios(), [0.0]);
    }
}
