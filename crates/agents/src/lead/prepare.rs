//! Before a repeat on all agents: what each prepares, and the start that they agree on.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;
use kgauge_load::Clock;
use kgauge_scenario::Stripe;

use super::error::AgentsError;
use super::link::AgentEvent;
use super::pool::{AgentPool, StartClock};
use crate::protocol::{AgentMessage, LeadMessage, PrepareOrder};

/// How long before the start it is announced: agents and lead need to be ready by then.
const START_NOTICE: Duration = Duration::from_millis(500);

/// How long an agent may take to connect to everything. Groups settle within a minute.
const PREPARE_MAX: Duration = Duration::from_secs(90);

impl AgentPool {
    /// Lets every agent connect to what its share needs. A lost agent is an error only if no load can go on without it.
    ///
    /// # Errors
    /// An agent cannot; the others forget the repeat.
    pub fn prepare(
        &mut self,
        order: &dyn Fn(Stripe) -> Option<PrepareOrder>,
        interrupt: &Interrupt,
    ) -> Result<(), AgentsError> {
        self.round = self.round.wrapping_add(1);
        let missing = self.send_orders(order)?;
        let prepared = self.await_prepared(missing, interrupt);
        prepared.inspect_err(|_| self.stop())
    }

    /// Sends the orders; returns the agents that answer.
    fn send_orders(
        &self,
        order: &dyn Fn(Stripe) -> Option<PrepareOrder>,
    ) -> Result<BTreeSet<usize>, AgentsError> {
        let (count, round) = (self.count(), self.round);
        let mut missing = BTreeSet::new();
        for (index, agent) in (0_u32..).zip(&self.agents) {
            if let Some(why) = &agent.lost {
                if self.is_broken() {
                    let (name, why) = (agent.name.clone(), why.clone());
                    return Err(AgentsError::Lost { name, why });
                }
                continue;
            }
            if let Some(order) = order(Stripe { index, count }) {
                let order = Box::new(order);
                // A connection that has ended reports itself.
                let _ = agent
                    .outgoing
                    .message(&LeadMessage::Prepare { round, order });
                missing.insert(index as usize);
            }
        }
        Ok(missing)
    }

    /// Waits until all of them are connected.
    fn await_prepared(
        &mut self,
        mut missing: BTreeSet<usize>,
        interrupt: &Interrupt,
    ) -> Result<(), AgentsError> {
        let deadline = Instant::now() + PREPARE_MAX;
        while let Some(&slowest) = missing.first() {
            let Some((index, event)) = self.next_event(deadline, interrupt)? else {
                let seconds = PREPARE_MAX.as_secs();
                let why = format!("it did not connect to the target within {seconds} s");
                return Err(self.lose(slowest, why));
            };
            let message = match event {
                AgentEvent::Message(message) => *message,
                AgentEvent::Slices(_) | AgentEvent::Evidence(_) | AgentEvent::Ledger(_) => continue,
                AgentEvent::Lost(why) => {
                    let error = self.lose(index, why);
                    if self.is_broken() {
                        return Err(error);
                    }
                    missing.remove(&index);
                    continue;
                }
            };
            match message {
                AgentMessage::Prepared { round, facts } if round == self.round => {
                    missing.remove(&index);
                    if let Some(agent) = self.agents.get_mut(index) {
                        agent.threads = facts.threads;
                    }
                }
                AgentMessage::PrepareFailed { round, why } if round == self.round => {
                    let name = self.name(index);
                    return Err(AgentsError::Prepare { name, why });
                }
                // What is left of a repeat before.
                _ => {}
            }
        }
        Ok(())
    }

    /// Agrees on the start with all agents. The clock is zero then, which is in half a second.
    pub fn announce_start(&mut self) -> Clock {
        let moment = Instant::now() + START_NOTICE;
        let lead_ns = self.clock.at_ns(moment);
        let clock = Clock::starting_at(moment);
        let unix_ms = clock.unix_ms(0);
        for agent in &mut self.agents {
            if agent.lost.is_some() {
                (agent.start, agent.threads) = (None, 0);
                continue;
            }
            let track = agent.track.lock();
            let (estimate, steps) = (track.at(lead_ns), track.steps());
            drop(track);
            agent.start = estimate.map(|estimate| StartClock {
                offset_ns: estimate.offset.middle_ns(),
                bound_ns: estimate.offset.bound_ns(),
                steps,
            });
            let at_ns = estimate.map_or(lead_ns, |estimate| estimate.to_agent_ns(lead_ns));
            let start = LeadMessage::Start { at_ns, unix_ms };
            // A connection that has ended reports itself.
            let _ = agent.outgoing.message(&start);
        }
        clock
    }
}
