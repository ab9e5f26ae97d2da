//! The roles of a flow's clients: write, read, or both with a shared tracker.

use std::sync::Arc;

use kgauge_scenario::{ConsumeEnd, ConsumeFlow, FlowPlan, ProduceFlow, Share, Stripe, derive_seed};

use crate::echo::EchoTracker;
use crate::load_setup::PrepareError;
use crate::payload::{Payload, payload_for};

/// The role of a client.
pub(crate) enum Work {
    Produce(Box<ProduceFlow>, Arc<Payload>),
    Consume(Box<ConsumeFlow>),
}

/// Clients of a flow with the same role.
pub(crate) struct MemberGroup {
    pub(crate) work: Work,
    pub(crate) members: Vec<Stripe>,
    /// They have their own record count.
    pub(crate) is_limited: bool,
    /// The flow's tracker, if it reads back what it writes.
    pub(crate) echo: Option<Arc<EchoTracker>>,
}

/// The records of a flow.
pub(crate) fn payload_of(share: &Share, flow: &ProduceFlow) -> Result<Arc<Payload>, PrepareError> {
    let payload = payload_for(flow, share.flow_seed(&flow.name));
    let payload = payload.map_err(|error| PrepareError::Payload {
        flow: flow.name.clone(),
        error,
    })?;
    Ok(Arc::new(payload))
}

impl MemberGroup {
    fn producers(share: &Share, flow: &ProduceFlow) -> Result<MemberGroup, PrepareError> {
        let payload = payload_of(share, flow)?;
        Ok(MemberGroup {
            members: share.members(&flow.name, flow.producers).collect(),
            is_limited: flow.records_max.is_some(),
            work: Work::Produce(Box::new(flow.clone()), payload),
            echo: None,
        })
    }

    fn consumers(share: &Share, flow: ConsumeFlow) -> MemberGroup {
        MemberGroup {
            members: share.members(&flow.name, flow.consumers_all()).collect(),
            is_limited: flow.records != ConsumeEnd::StageEnd,
            work: Work::Consume(Box::new(flow)),
            echo: None,
        }
    }
}

/// The roles of a flow's clients.
pub(crate) fn parts_of(
    share: &Share,
    plan: &FlowPlan,
    reads_copy: bool,
) -> Result<Vec<MemberGroup>, PrepareError> {
    Ok(match plan {
        FlowPlan::Produce(flow) => vec![MemberGroup::producers(share, flow)?],
        FlowPlan::Consume(flow) => vec![MemberGroup::consumers(share, flow.clone())],
        FlowPlan::Echo(flow) => {
            let is_spread = share.spreads_echo(flow);
            if !is_spread && !share.runs_echo(&flow.produce.name) {
                return Ok(Vec::new());
            }
            // Otherwise producers and consumers of an echo flow share a clock.
            let share = &match is_spread {
                true => share.clone(),
                false => share.alone(),
            };
            let mut producers = MemberGroup::producers(share, &flow.produce)?;
            let mut consumers = MemberGroup::consumers(share, flow.consume());
            // A reader must not take records of another trial or run for its own.
            let place = format!("{} {}", share.run_id, share.trial.index);
            let seed = derive_seed(share.flow_seed(&flow.produce.name), &place);
            let partitions = share.trial.topic.partitions;
            let mut tracker = EchoTracker::new(seed, producers.members.len(), partitions);
            if is_spread {
                tracker = tracker.of_agents();
            }
            if reads_copy {
                tracker = tracker.of_copy();
            }
            if flow.produce.transaction.is_some() {
                tracker = tracker.of_transactions();
            }
            let tracker = Arc::new(tracker);
            producers.echo = Some(Arc::clone(&tracker));
            consumers.echo = Some(tracker);
            vec![producers, consumers]
        }
    })
}
