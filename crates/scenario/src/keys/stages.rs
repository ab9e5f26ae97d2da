//! The stages of a run: their keys and their lengths.

use serde::{Deserialize, Serialize};

use crate::key_definition::refuse;
use crate::key_map::key_map;
use crate::value_kind::{DAY_NS, time};

/// A hold shorter than this has no figure worth printing.
const HOLD_NS_MIN: u64 = 100_000_000;

key_map! {
    /// The spans of a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Stages, StagesKeys, "Stages",
    refuses [refuse(&["ramp-up", "cool-down"], "not supported yet")]
    {
        /// Unmeasured load that lets connections, metadata and the page cache settle. The warm-up continues until
        /// throughput and latency are steady; this is its minimum length. `0 s` skips it.
        pub warm_up_ns: u64 = "warm-up" ["2 s"], time(0..=DAY_NS);
        /// Maximum length of the warm-up. A load that is not steady by then is measured and marked. The warm-up takes
        /// exactly `warm-up` if the limit is not above it. This also holds with faults, shapes that change the rate,
        /// consumers of a fixed number of records, and other clients.
        pub #[serde(default, skip_serializing_if = "is_zero")]
            warm_up_ns_max: u64 = "warm-up-limit" ["20 s"], time(0..=DAY_NS);
        /// The measured stage. It ends early when every flow has completed its `records`; with `none`, only then. 15 s
        /// gives 15 slices of one second.
        pub hold_ns: Option<u64> = "hold" ["15 s"],
            time(HOLD_NS_MIN..=DAY_NS).map(Some).or_word("none", None);
        /// How long kgauge waits after the hold for outstanding responses. Requests still unanswered then count as
        /// failed. 30 s is Kafka's `request.timeout.ms`.
        pub drain_ns_max: u64 = "drain" ["30 s"], time(0..=DAY_NS);
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

impl Stages {
    /// The longest that the warm-up may take.
    pub fn warm_up_limit_ns(&self) -> u64 {
        self.warm_up_ns.max(self.warm_up_ns_max)
    }

    /// Whether the warm-up is prolonged until the load is steady.
    pub fn is_adaptive(&self) -> bool {
        self.warm_up_ns_max > self.warm_up_ns
    }

    /// The latest end of the hold, in ns since the start; `None` where record counts end it.
    pub fn hold_end_limit_ns(&self) -> Option<u64> {
        let hold_ns = self.hold_ns?;
        Some(self.warm_up_limit_ns().saturating_add(hold_ns))
    }
}
