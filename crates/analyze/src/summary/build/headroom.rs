//! How much of what this machine can generate a trial has used.

use super::hold::MeasuredRepeats;
use crate::summary::{FlowHeadroom, FlowSummary, Headroom};
use kgauge_results::run::FlowRecord;

/// What the flows did beside what each does at full speed. `None` when the ceiling of one of them is not known:
/// the sum would be too low.
pub(super) fn headroom(flows: &[FlowSummary], measured: &MeasuredRepeats<'_>) -> Option<Headroom> {
    let record = measured.repeats.first()?.record.as_ref()?;
    let pairs = flows.iter().zip(&record.flows);
    let each = pairs.map(|(flow, record)| of_flow(flow, record));
    let each = each.collect::<Option<Vec<_>>>()?;
    let threads = record.flows.iter().map(|flow| flow.threads).max()?;
    Some(Headroom {
        used_part: used_part(&each, threads)?,
        flows: each,
        threads,
    })
}

fn of_flow(flow: &FlowSummary, record: &FlowRecord) -> Option<FlowHeadroom> {
    let a_thread = record.ceiling.as_ref()?.records_per_s_thread()?;
    // A client lives on one thread; with more threads than clients some of them are other flows'.
    let threads = flow.members.unwrap_or(1).clamp(1, record.threads.max(1));
    Some(FlowHeadroom {
        flow: flow.name.clone(),
        records_per_s: flow.throughput.as_ref()?.records_per_s.mean,
        ceiling_records_per_s: a_thread * f64::from(threads),
        threads,
    })
}

/// Flows share the threads, so what each takes of them adds up; and none can do more than its own can.
fn used_part(flows: &[FlowHeadroom], threads: u32) -> Option<f64> {
    let own = |flow: &FlowHeadroom| flow.records_per_s / flow.ceiling_records_per_s;
    let busy = flows.iter().map(|flow| own(flow) * f64::from(flow.threads));
    let all = busy.sum::<f64>() / f64::from(threads.max(1));
    flows.iter().map(own).chain([all]).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(records_per_s: f64, ceiling_records_per_s: f64, threads: u32) -> FlowHeadroom {
        FlowHeadroom {
            flow: "f".to_owned(),
            records_per_s,
            ceiling_records_per_s,
            threads,
        }
    }

    #[test]
    fn a_flow_that_does_half_of_what_it_can_uses_half() {
        assert_eq!(used_part(&[flow(1e6, 2e6, 1)], 1), Some(0.5));
        // With another thread idle it is still as near to its limit.
        assert_eq!(used_part(&[flow(1e6, 2e6, 1)], 2), Some(0.5));
        assert_eq!(used_part(&[flow(2e6, 4e6, 2)], 2), Some(0.5));
    }

    #[test]
    fn flows_on_the_same_threads_add_up() {
        let two = [flow(1e6, 4e6, 2), flow(3e6, 8e6, 2)];
        assert_eq!(used_part(&two, 2), Some(0.25 + 0.375));
        assert_eq!(used_part(&[], 2), Some(0.0));
    }
}
