//! Whether flows did their work: connections that broke, and flows that did nothing although there was something to do.

use kgauge_scenario::Trial;

use super::hold::MeasuredRepeats;
use crate::summary::{FlowKind, FlowSummary, WarningFinding};
use kgauge_results::run::ConnectionRecord;

/// How a flow's connections fared in all repeats.
pub(super) fn connections(index: u16, measured: &MeasuredRepeats<'_>) -> Option<ConnectionRecord> {
    let records = measured
        .attempts
        .iter()
        .filter_map(|repeat| repeat.record.as_ref());
    let flows = records.filter_map(|record| record.flows.get(usize::from(index)));
    let all = flows.filter_map(|flow| flow.connections);
    all.reduce(ConnectionRecord::plus)
}

/// Marks the flows that did nothing although there was something to do. One that still runs may begin to.
pub(super) fn find_idle(
    flows: &mut [FlowSummary],
    trial: Option<&Trial>,
    measured: &MeasuredRepeats<'_>,
) {
    let is_over = measured
        .attempts
        .iter()
        .all(|repeat| repeat.record.is_some());
    if measured.attempts.is_empty() || !is_over {
        return;
    }
    let preloaded = trial.and_then(|trial| trial.topic.preload.as_ref());
    let preloaded = preloaded.map_or(0, |preload| preload.records);
    let acked: u64 = flows.iter().map(|flow| flow.records_all_stages.acked).sum();
    for flow in flows {
        let records = &flow.records_all_stages;
        let sent_in_vain = records.scheduled > records.skipped && records.acked == 0;
        flow.did_no_work = match flow.kind {
            FlowKind::Produce => sent_in_vain,
            FlowKind::Consume => records.consumed == 0 && acked + preloaded > 0,
            FlowKind::Echo => sent_in_vain || (records.echoed == 0 && records.acked > 0),
            FlowKind::Unknown => false,
        };
    }
}

/// Whether a flow's connections or its idleness make the run a failed one. What the scenario did to brokers breaks
/// connections too.
pub(super) fn has_failed(flow: &FlowSummary, has_faults: bool) -> bool {
    flow.did_no_work || broken(flow, has_faults).is_some()
}

/// The connections that broke, if that is a failure. Of producers each record has its fate, so that lost connections
/// alone are none; a reader knows nothing of what it did not get.
fn broken(flow: &FlowSummary, has_faults: bool) -> Option<ConnectionRecord> {
    let connections = flow.connections?;
    let reads = matches!(flow.kind, FlowKind::Consume | FlowKind::Echo);
    let lost = reads && !has_faults && connections.lost > 0;
    (lost || connections.malformed > 0).then_some(connections)
}

/// What is wrong with it.
pub(super) fn warnings(flow: &FlowSummary, has_faults: bool) -> Vec<WarningFinding> {
    let idle = flow.did_no_work.then_some(WarningFinding::NoWorkDone);
    let broken = broken(flow, has_faults).map(|broken| WarningFinding::ConnectionsBroken {
        lost: broken.lost,
        malformed: broken.malformed,
        timed_out: broken.timed_out,
    });
    idle.into_iter().chain(broken).collect()
}
