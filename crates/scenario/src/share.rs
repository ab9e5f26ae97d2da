//! A share: what one agent does of one repeat of a trial.

use serde::{Deserialize, Serialize};

use crate::cluster_needs::ClusterNeeds;
use crate::keys::flow::{EchoFlow, FlowPlan};
use crate::keys::stages::Stages;
use crate::keys::topic::TopicPlan;
use crate::plan::{Plan, Trial};
use crate::random::derive_seed;
use crate::schedule::Stripe;

/// One agent's part of one repeat. A local run is the same thing with one agent in-process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The run that it belongs to.
    pub run_id: String,
    /// From 0, below `agent_count`.
    pub agent_index: u32,
    /// At least 1.
    pub agent_count: u32,
    /// What is run.
    pub trial: Trial,
    /// Which execution of the trial, from 0.
    pub repeat: u32,
    /// The seed of this repeat. It is the same for the same repeat of every trial, so that trials are compared under
    /// equal arrivals. Each load of a search has its own: a load that is measured again is a new sample.
    pub seed: u64,
    /// Echo flows are spread over the agents, so that records are read with another clock than they were written with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spreads_echoes: bool,
}

impl Plan {
    /// The share of one agent in one repeat of a trial; `None` when the numbers are not in the
    /// plan.
    pub fn share(&self, trial: u32, repeat: u32, agent: Stripe) -> Option<Share> {
        let trial = self.trials.get(trial as usize)?;
        if repeat >= trial.repeats || agent.index >= agent.count {
            return None;
        }
        let purpose = match trial.load {
            Some(_) => format!("load {}", trial.index),
            None => format!("repeat {repeat}"),
        };
        Some(Share {
            run_id: self.run_id.clone(),
            agent_index: agent.index,
            agent_count: agent.count,
            trial: trial.clone(),
            repeat,
            seed: derive_seed(self.seed, &purpose),
            spreads_echoes: false,
        })
    }
}

impl Share {
    /// These flows without a scenario, all of them for the only agent.
    pub fn of_flows(flows: Vec<FlowPlan>, topic: TopicPlan, stages: Stages, seed: u64) -> Share {
        let trial = Trial {
            index: 0,
            scenario: String::new(),
            question: String::new(),
            asks: None,
            against: None,
            name: String::new(),
            factors: Vec::new(),
            changes: Vec::new(),
            cluster: ClusterNeeds::default(),
            topic,
            flows,
            stages,
            faults: Vec::new(),
            verify: false,
            finds: Vec::new(),
            repeats: 1,
            goals: Vec::new(),
            published: Vec::new(),
            search: None,
            load: None,
        };
        Share::of_trial(trial, seed)
    }

    /// The first repeat of a trial without a plan, for the only agent.
    pub fn of_trial(trial: Trial, seed: u64) -> Share {
        Share {
            run_id: String::new(),
            agent_index: 0,
            agent_count: 1,
            trial,
            repeat: 0,
            seed,
            spreads_echoes: false,
        }
    }

    /// The seed of a flow's schedule and payload: the same in every agent's share.
    pub fn flow_seed(&self, flow: &str) -> u64 {
        derive_seed(self.seed, flow)
    }

    /// The agent that runs a flow's first client: flows begin at different agents, so that several small flows are
    /// spread.
    fn first_agent(&self, flow: &str) -> u32 {
        let mut flows = self.trial.flows.iter();
        let position = flows.position(|plan| plan.name() == flow).unwrap_or(0);
        let agents = self.agent_count.max(1);
        // The remainder is below a u32.
        u32::try_from(position % agents as usize).unwrap_or(0)
    }

    /// Whether this agent runs an echo flow that is not spread. One agent runs all of it, so that each round trip is
    /// measured with one clock.
    pub fn runs_echo(&self, flow: &str) -> bool {
        self.first_agent(flow) == self.agent_index
    }

    /// Whether the clients of an echo flow are spread over several agents. Only one process knows when its transactions
    /// are committed.
    pub fn spreads_echo(&self, flow: &EchoFlow) -> bool {
        self.spreads_echoes && self.agent_count > 1 && flow.produce.transaction.is_none()
    }

    /// The share of the same repeat for an agent that runs everything.
    #[must_use]
    pub fn alone(&self) -> Share {
        self.of_agent(Stripe::WHOLE)
    }

    /// The share of the same repeat for another agent.
    #[must_use]
    pub fn of_agent(&self, agent: Stripe) -> Share {
        Share {
            agent_index: agent.index,
            agent_count: agent.count,
            ..self.clone()
        }
    }

    /// Which of a flow's `members` (producers or consumers) this agent runs: client `i` is on the agent `i` behind the
    /// flow's first one.
    ///
    /// Each is the member's number in the whole flow: for a producer its stripe of the schedule.
    pub fn members(&self, flow: &str, members: u32) -> impl Iterator<Item = Stripe> {
        let agents = self.agent_count.max(1);
        let first = (self.agent_index % agents + agents - self.first_agent(flow)) % agents;
        (first..members)
            .step_by(agents as usize)
            .map(move |index| Stripe {
                index,
                count: members,
            })
    }
}
