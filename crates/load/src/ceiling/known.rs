//! What each flow of a trial does at full speed on this machine, measured before the trial. A run reports how much of
//! it a trial used. `docs/decisions/ceiling.md` has the reasons.

use std::collections::BTreeMap;
use std::time::Duration;

use kgauge_client::Interrupt;
use kgauge_results::run::FlowCeiling;
use kgauge_scenario::{Arrivals, Driver, FlowPlan, Shape, Share};

use super::{CeilingPath, CeilingSetup, ceiling};

/// Memory is touched and connections are warm after it.
const WARM_UP: Duration = Duration::from_millis(50);

/// Long enough for hundreds of thousands of records: what is taken from it is CPU time, which the kernel keeps to the
/// microsecond.
const HOLD: Duration = Duration::from_millis(150);

/// The ceilings that a run has measured so far.
#[derive(Debug, Clone, Default)]
pub struct Ceilings {
    known: BTreeMap<String, Option<FlowCeiling>>,
    /// Of the flows of the trial that runs now.
    now: Vec<Option<FlowCeiling>>,
}

impl Ceilings {
    /// Measures the flows of which the share has clients, as far as they are not known. What cannot be measured stays
    /// unknown.
    pub fn measure(&mut self, share: &Share, interrupt: &Interrupt) {
        let flows = 0..share.trial.flows.len();
        self.now = flows
            .map(|flow| {
                let name = name(share, flow)?;
                if let Some(known) = self.known.get(&name) {
                    return *known;
                }
                let found = measured(share, flow, interrupt);
                // What a stop cut off is measured again for the next trial.
                if !interrupt.is_raised() {
                    self.known.insert(name, found);
                }
                found
            })
            .collect();
    }

    /// That of a flow of the trial that runs now.
    pub fn of_flow(&self, flow: usize) -> Option<FlowCeiling> {
        self.now.get(flow).copied().flatten()
    }
}

/// Measures again with a longer hold if no record was finished: that happens where other programs take the processors.
fn measured(share: &Share, flow: usize, interrupt: &Interrupt) -> Option<FlowCeiling> {
    let mut holds = [HOLD, HOLD * 4, HOLD * 16].into_iter();
    holds.find_map(|hold| measure(share, flow, hold, interrupt))
}

fn measure(
    share: &Share,
    flow: usize,
    hold: Duration,
    interrupt: &Interrupt,
) -> Option<FlowCeiling> {
    let setup = CeilingSetup {
        share,
        flow,
        clients: 1,
        warm_up: WARM_UP,
        hold,
        interrupt,
    };
    let found = ceiling(&setup, CeilingPath::Loopback).ok()?;
    (found.records > 0).then_some(FlowCeiling {
        records: found.records,
        span_ns: found.span_ns,
        cpu_ns: found.cpu_ns,
    })
}

/// What a flow at full speed depends on: all but its name, rate, length and number of clients. For a consumer also
/// what it reads. `None` if there is nothing to measure.
fn name(share: &Share, flow: usize) -> Option<String> {
    let trial = &share.trial;
    let mut flow = trial.flows.get(flow)?.clone();
    let clients = match &flow {
        FlowPlan::Produce(flow) => flow.producers,
        FlowPlan::Consume(flow) => flow.consumers_all(),
        // Echoes have no ceiling.
        FlowPlan::Echo(_) => return None,
    };
    share.members(flow.name(), clients).next()?;
    let reads = match &mut flow {
        FlowPlan::Echo(_) => return None,
        // What another client can do is its own affair.
        FlowPlan::Produce(flow) if flow.driver != Driver::Kgauge => return None,
        FlowPlan::Produce(flow) => {
            flow.name.clear();
            flow.producers = 1;
            flow.shape = Shape::Max;
            flow.arrivals = Arrivals::Even;
            flow.records_max = None;
            flow.settings.client_id.clear();
            None
        }
        FlowPlan::Consume(flow) => {
            flow.name.clear();
            flow.consumers = 1;
            flow.group = None;
            flow.settings.client_id.clear();
            Some((&trial.flows, &trial.topic.preload))
        }
    };
    Some(format!("{:?}", (flow, reads, trial.topic.partitions)))
}
