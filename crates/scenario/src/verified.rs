//! What `verify` demands of a scenario's flows.

use crate::keys::flow::{FlowPlan, ProduceFlow};
use crate::keys::scenario::WrittenScenario;
use crate::keys::topic::TopicPlan;
use crate::reader::ValueReader;
use crate::record::Content;
use crate::tree::YamlNode;

/// Bytes at the start of a value that identify a verified record.
pub const IDENTITY_BYTES: u32 = 40;

/// Bytes at the end of an echo flow's value that hold its times, in any case.
const ECHO_BYTES: u32 = 24;

/// The largest partition count of a topic whose records are verified: 19 bits in the ledger, of which one value stands
/// for an unknown partition.
const PARTITIONS_MAX: u32 = (1 << 19) - 1;

/// Reports flows whose records cannot be verified.
pub(crate) fn check(reader: &mut ValueReader<'_>, tree: &YamlNode, written: &WrittenScenario) {
    if !written.verify {
        if !written.finds.is_empty() {
            let what = "only `verify` finds anomalies";
            crate::check::note(reader, tree, "finds", what, "add `verify: true`");
        }
        return;
    }
    for flow in &written.flows {
        if let Some((path, what, cure)) = refusal(flow) {
            crate::check::note(reader, tree, &path, what, cure);
        }
    }
    if written.topic.partitions > PARTITIONS_MAX {
        let what = "too many partitions to verify";
        let cure = format!("write at most {PARTITIONS_MAX}");
        crate::check::note(reader, tree, "topic.partitions", what, cure);
    }
}

/// The path, the problem and the fix.
fn refusal(flow: &FlowPlan) -> Option<(String, String, String)> {
    let writes = flow.produces()?;
    let echo_bytes = match flow {
        FlowPlan::Echo(_) => ECHO_BYTES,
        FlowPlan::Produce(_) | FlowPlan::Consume(_) => 0,
    };
    let path = |key: &str| format!("{}.{key}", writes.name);
    let bytes_min = IDENTITY_BYTES + echo_bytes;
    if !is_made_here(writes) {
        let what = "each verified value contains its identity, so kgauge must generate it";
        let cure = "remove `file` and `null-values`";
        return Some((path("record"), what.into(), cure.into()));
    }
    if writes.record.value_bytes_min() < bytes_min {
        let what = "each verified value contains its identity";
        let cure = format!("make values at least {bytes_min} B");
        return Some((path("record.size"), what.into(), cure));
    }
    None
}

fn is_made_here(flow: &ProduceFlow) -> bool {
    let record = &flow.record;
    let content = matches!(record.content, Content::Random | Content::Letters);
    record.file.is_none() && record.null_values == 0.0 && content
}

impl TopicPlan {
    /// Whether the topic's settings let the cluster remove records while it is read.
    pub fn is_compacted(&self) -> bool {
        let policy = self.config.get("cleanup.policy");
        policy.is_some_and(|policy| policy.contains("compact"))
    }
}
