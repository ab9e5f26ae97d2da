//! From a planned fault to what the target is told, and what takes it back.

use kgauge_scenario::{CutDirection, CutEnd, FaultKind, FaultNode, FaultPlan};
use kgauge_target::{Instruction, LinkBetween};

use super::AwaitedRecovery;

/// What is done at once, and is one event.
#[derive(Debug)]
pub(super) struct FaultStep {
    pub(super) nodes: Vec<u16>,
    pub(super) instructions: Vec<Instruction>,
    pub(super) undo: Vec<Instruction>,
    /// What the nodes are watched for afterwards.
    pub(super) awaited: Option<AwaitedRecovery>,
}

/// The blows of a fault to some nodes. `number` names a fault of requests, `seed` begins what is
/// drawn.
pub(super) fn fault_steps(
    plan: &FaultPlan,
    nodes: &[u16],
    all: &[u16],
    (number, seed): (u64, u64),
) -> Vec<FaultStep> {
    if let FaultKind::Requests { api, times, what } = &plan.kind {
        let node = match (plan.node, nodes) {
            (FaultNode::All, _) | (_, []) => None,
            (_, [first, ..]) => Some(*first),
        };
        let set = Instruction::SetFault {
            key: number,
            node,
            api: api.clone(),
            times: *times,
            seed,
            what: what.clone(),
        };
        return vec![FaultStep {
            nodes: nodes.to_vec(),
            instructions: vec![set],
            undo: vec![Instruction::LiftFault { key: number }],
            awaited: None,
        }];
    }
    let blow = |node: &u16| {
        let node = *node;
        let (instructions, undo, awaited) = of_node(&plan.kind, node, all);
        FaultStep {
            nodes: vec![node],
            instructions,
            undo,
            awaited,
        }
    };
    nodes.iter().map(blow).collect()
}

fn of_node(
    kind: &FaultKind,
    node: u16,
    all: &[u16],
) -> (Vec<Instruction>, Vec<Instruction>, Option<AwaitedRecovery>) {
    let one = |instruction: Instruction, undo: Instruction| (vec![instruction], vec![undo]);
    let ((instructions, undo), awaited) = match kind {
        FaultKind::Stop => (
            one(Instruction::Stop { node }, Instruction::Restart { node }),
            Some(AwaitedRecovery::Down),
        ),
        FaultKind::Kill => (
            one(Instruction::Kill { node }, Instruction::Restart { node }),
            None,
        ),
        FaultKind::Crash => (
            one(Instruction::Crash { node }, Instruction::Restart { node }),
            None,
        ),
        FaultKind::Restart => (
            (vec![Instruction::Restart { node }], Vec::new()),
            Some(AwaitedRecovery::Up),
        ),
        FaultKind::Pause => (
            one(Instruction::Pause { node }, Instruction::Resume { node }),
            None,
        ),
        FaultKind::DiskFull { after_bytes } => {
            let fill = Instruction::FillDisk {
                node,
                after_bytes: *after_bytes,
            };
            (
                one(fill, Instruction::FreeDisk { node }),
                Some(AwaitedRecovery::Down),
            )
        }
        FaultKind::ClockOffset { ahead_ms } => {
            let ahead_ms = *ahead_ms;
            let right = Instruction::SetClock { node, ahead_ms: 0 };
            (one(Instruction::SetClock { node, ahead_ms }, right), None)
        }
        FaultKind::Cut { direction, end } => {
            let ways = ways(node, *direction, *end, all);
            let cut = ways.iter().copied().map(Instruction::Cut).collect();
            let mend = ways.into_iter().map(Instruction::Mend).collect();
            ((cut, mend), None)
        }
        FaultKind::Requests { .. } => ((Vec::new(), Vec::new()), None),
    };
    (instructions, undo, awaited)
}

/// The ways that a cut closes.
fn ways(node: u16, direction: CutDirection, end: CutEnd, all: &[u16]) -> Vec<LinkBetween> {
    let others = || all.iter().copied().filter(|other| *other != node).map(Some);
    let ends: Vec<Option<u16>> = match end {
        CutEnd::Node(other) => vec![Some(other)],
        CutEnd::Controller => vec![None],
        CutEnd::Nodes => others().collect(),
        CutEnd::Others => others().chain([None]).collect(),
    };
    let node = Some(node);
    let both = |end: Option<u16>| {
        let to = LinkBetween {
            from: node,
            to: end,
        };
        let from = LinkBetween {
            from: end,
            to: node,
        };
        match direction {
            CutDirection::With => vec![to, from],
            CutDirection::To => vec![to],
            CutDirection::From => vec![from],
        }
    };
    ends.into_iter().flat_map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_closes_the_ways_that_it_names() {
        let all = [1, 2, 3];
        let way = |from, to| LinkBetween { from, to };
        assert_eq!(
            ways(1, CutDirection::To, CutEnd::Nodes, &all),
            [way(Some(1), Some(2)), way(Some(1), Some(3))]
        );
        assert_eq!(
            ways(2, CutDirection::From, CutEnd::Controller, &all),
            [way(None, Some(2))]
        );
        assert_eq!(ways(3, CutDirection::With, CutEnd::Others, &all).len(), 6);
    }
}
