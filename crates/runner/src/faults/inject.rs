//! The injections of a planned fault.

use kgauge_scenario::{Fault, FaultNode, FaultPlan};
use kgauge_target::Injection;

use super::AwaitedRecovery;

/// Everything that is injected for one event.
#[derive(Debug)]
pub(super) struct FaultStep {
    pub(super) nodes: Vec<u16>,
    pub(super) injection: Injection,
    /// The state that the nodes are expected to reach.
    pub(super) awaited: Option<AwaitedRecovery>,
}

/// The steps of a fault of some nodes. `key` distinguishes faults of requests, `seed` is for random numbers.
pub(super) fn fault_steps(
    plan: &FaultPlan,
    nodes: &[u16],
    (key, seed): (u64, u64),
) -> Vec<FaultStep> {
    let step = |nodes: &[u16], node: Option<u16>| FaultStep {
        nodes: nodes.to_vec(),
        injection: Injection {
            key,
            node,
            fault: plan.kind.clone(),
            seed,
        },
        awaited: awaited(&plan.kind),
    };
    match &plan.kind {
        Fault::Requests { .. } => {
            let is_all = plan.node == FaultNode::All;
            vec![step(nodes, nodes.first().copied().filter(|_| !is_all))]
        }
        _ => nodes
            .iter()
            .map(|node| step(&[*node], Some(*node)))
            .collect(),
    }
}

fn awaited(fault: &Fault) -> Option<AwaitedRecovery> {
    match fault {
        Fault::Stop => Some(AwaitedRecovery::Down),
        fault if fault.stops_node() => Some(AwaitedRecovery::Down),
        Fault::Restart => Some(AwaitedRecovery::Up),
        Fault::Kill
        | Fault::Crash
        | Fault::Pause
        | Fault::Cut { .. }
        | Fault::Requests { .. }
        | Fault::Flush(_)
        | Fault::DiskFull { .. }
        | Fault::ClockOffset { .. } => None,
    }
}
