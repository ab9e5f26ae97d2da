//! The summary of a node fault that the scenario injected.

use schemars::JsonSchema;
use serde::Serialize;

/// What a node fault did in one repeat. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RepeatOutage {
    /// The repeat, from 0.
    pub repeat: u32,
    /// When the first node fault began, since the start of the repeat.
    pub fault_ns: u64,
    /// The longest time without acks after it, of the flow that waited longest; 0 if acks never stopped for a whole
    /// second.
    pub without_acks_ns: u64,
    /// False if the end of that time is only known to the second: it may be up to a second longer.
    pub is_exact: bool,
    /// True if acks came back before the repeat ended.
    pub has_recovered: bool,
    /// From the fault until the partitions that lost their leader had new ones, as sampled about once per second; null
    /// if no leader moved.
    pub new_leaders_ns: Option<u64>,
    /// The longest response of a record that was due from the second of the fault on; null if none was acked.
    pub longest_response_ns: Option<u64>,
}
