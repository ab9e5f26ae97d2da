//! Where the load of a repeat runs: in this process, or in agents.

use std::collections::BTreeMap;

use kgauge_agents::lead::{AgentsError, AgentsRepeat, AgentsTrouble};
use kgauge_agents::protocol::{ClientSettings, PrepareOrder};
use kgauge_client::Interrupt;
use kgauge_load::{
    Clock, HoldControl, LedgerFolder, LoadOutcome, LoadProgress, LoadSetup, PreparedLoad,
    VerifySetup,
};
use kgauge_observe::WatchedProcess;
use kgauge_results::RepeatFolder;
use kgauge_results::run::{AgentRecord, Subject};
use kgauge_scenario::{FlowPlan, Share, Stripe};

use crate::error::{OrRunError, RunError};
use crate::load_errors::{load_failed, prepare_failed};
use crate::prepared_topic::PreparedTopic;
use crate::process_cpu::AgentsCpu;
use crate::session::Session;
use crate::shared_pool::SharedPool;

/// An agent learns within this time by how much its clock has drifted.
const SHIFT_DELAY_NS: u64 = 500_000_000;

/// A load that can begin.
pub(crate) enum LoadRun {
    /// In this process.
    Here(Box<PreparedLoad>),
    /// In agents, which are connected.
    Agents(AgentsLoad),
}

/// A load that agents have prepared. Dropping it ends the load, or lets them forget it.
pub(crate) struct AgentsLoad {
    pool: SharedPool,
    /// Flows of which agents read records of other agents.
    spread_echoes: Vec<usize>,
    /// Where the ledgers go that they send, if records are verified.
    ledgers: Option<LedgerFolder>,
}

impl Drop for AgentsLoad {
    fn drop(&mut self) {
        self.pool.lock().stop();
    }
}

/// A load that has ended.
pub(crate) struct EndedLoad {
    pub(crate) outcome: LoadOutcome,
    /// The agents that ran it.
    pub(crate) agents: Vec<AgentRecord>,
    pub(crate) agents_cpu: Option<AgentsCpu>,
    /// Of each flow whose end-to-end times compare two clocks, their largest error.
    pub(crate) echo_bounds_ns: Vec<(usize, u64)>,
    pub(crate) trouble: Option<AgentsTrouble>,
}

impl LoadRun {
    /// Connects everything.
    pub(crate) fn prepare(
        session: &Session<'_>,
        share: &Share,
        prepared_topic: &PreparedTopic,
        ledgers: Option<&LedgerFolder>,
        (folder, groups): (&RepeatFolder, &BTreeMap<String, String>),
    ) -> Result<Self, RunError> {
        let topic = &prepared_topic.facts.name;
        if let Some(pool) = &session.agents {
            let measures_ceilings = !pool.lock().is_local();
            let agents = session.request.agents.as_ref();
            let share = &Share {
                spreads_echoes: agents.is_some_and(|agents| agents.spreads_echoes),
                ..share.clone()
            };
            let order = |agent| {
                Some(PrepareOrder {
                    key: folder.key(),
                    share: share.of_agent(agent),
                    topic: topic.clone(),
                    earliest: prepared_topic.earliest.clone(),
                    groups: groups.clone(),
                    client: ClientSettings::of(&session.client),
                    measures_ceilings,
                })
            };
            let prepared = pool.lock().prepare(&order, &session.stopping.load);
            prepared.map_err(|error| agents_failed(session, error))?;
            let count = pool.lock().count();
            return Ok(Self::Agents(AgentsLoad {
                pool: pool.clone(),
                spread_echoes: spread_echoes(&share.of_agent(Stripe { index: 0, count })),
                ledgers: ledgers.cloned(),
            }));
        }
        let verify = ledgers.map(|ledgers| VerifySetup::of(share, ledgers.clone()));
        let setup = LoadSetup {
            verify: verify.as_ref(),
            copy: prepared_topic
                .copy
                .as_ref()
                .zip(session.mirror.as_ref())
                .map(|(copy, mirror)| copy.setup(mirror)),
            groups,
            drivers: &session.drivers,
            share,
            topic,
            also: &[],
            earliest: prepared_topic.earliest.as_deref(),
            client: &session.client,
            sink: &|| folder.sink(),
            interrupt: &session.stopping.load,
        };
        let prepared = PreparedLoad::prepare(&setup);
        Ok(Self::Here(Box::new(prepare_failed(session, prepared)?)))
    }

    /// The processes of other clients that send flows: the flow's index in the trial, and the pid.
    pub(crate) fn driver_pids(&self) -> Vec<(usize, u32)> {
        match self {
            Self::Here(load) => load.driver_pids(),
            Self::Agents(_) => Vec::new(),
        }
    }

    /// The clock of the repeat: it is zero when the load begins.
    pub(crate) fn start_clock(&self) -> Clock {
        match self {
            Self::Here(_) => Clock::start(),
            Self::Agents(agents) => agents.pool.lock().announce_start(),
        }
    }

    /// Runs the load to its end.
    pub(crate) fn run(
        self,
        share: &Share,
        folder: &RepeatFolder,
        (clock, interrupt): (Clock, &Interrupt),
        mut on_progress: impl FnMut(&LoadProgress, &dyn HoldControl),
    ) -> Result<EndedLoad, RunError> {
        let agents = match self {
            Self::Here(load) => {
                let ran =
                    load.run_controlled(clock, |progress, control| on_progress(progress, control));
                return Ok(EndedLoad {
                    outcome: ran.map_err(load_failed)?,
                    agents: Vec::new(),
                    agents_cpu: None,
                    echo_bounds_ns: Vec::new(),
                    trouble: None,
                });
            }
            Self::Agents(agents) => agents,
        };
        let mut pool = agents.pool.lock();
        let files = (0..pool.count()).map(|agent| folder.agent_files(agent));
        let files = files.collect::<Result<Vec<_>, _>>().or_unwritable()?;
        let repeat = AgentsRepeat {
            trial: &share.trial,
            files,
            ledgers: agents.ledgers.clone(),
            clock,
            interrupt,
            spread_echoes: agents.spread_echoes.clone(),
        };
        let ran = pool.run(repeat, &mut on_progress);
        let bound_ns = two_clocks_bound_ns(&ran.records, SHIFT_DELAY_NS);
        let flows = agents.spread_echoes.iter();
        Ok(EndedLoad {
            echo_bounds_ns: flows.map(|flow| (*flow, bound_ns)).collect(),
            outcome: ran.outcome,
            agents: ran.records,
            agents_cpu: Some(AgentsCpu(ran.process_hold_cpu_ns)),
            trouble: ran.trouble,
        })
    }
}

/// The flows that are spread so that agents read records of other agents.
fn spread_echoes(share: &Share) -> Vec<usize> {
    let flows = share.trial.flows.iter().enumerate();
    let spread = flows.filter(|(_, flow)| match flow {
        FlowPlan::Echo(flow) => share.spreads_echo(flow),
        FlowPlan::Produce(_) | FlowPlan::Consume(_) => false,
    });
    spread.map(|(index, _)| index).collect()
}

/// The largest error of a time from an event on one agent to an event on another. Each agent's clock is known within
/// its bound, and has drifted for this long since the agent knew its offset.
pub(crate) fn two_clocks_bound_ns(agents: &[AgentRecord], drifting_ns: u64) -> u64 {
    let clocks = agents.iter().filter_map(|agent| agent.clock);
    let mut bounds_ns: Vec<u64> = clocks
        .map(|clock| {
            let ppb = u128::from(clock.drift_ppb.unsigned_abs());
            let drift_ns = ppb * u128::from(drifting_ns) / 1_000_000_000;
            let drift_ns = u64::try_from(drift_ns).unwrap_or(u64::MAX);
            clock.bound_ns_max.saturating_add(drift_ns)
        })
        .collect();
    bounds_ns.sort_unstable();
    let largest = bounds_ns.iter().rev().take(2);
    largest.fold(0, |sum, bound_ns| u64::saturating_add(sum, *bound_ns))
}

/// Errors of agents, as errors of the run.
fn agents_failed(session: &Session<'_>, error: AgentsError) -> RunError {
    match error {
        // Without the user's stop, something else has ended the run: the target, most likely.
        AgentsError::Interrupted => match session.death() {
            Some(death) if !session.stopping.is_wanted() => RunError::cluster(death),
            _ => RunError::interrupted(error),
        },
        // The target refuses them, or is gone.
        AgentsError::Prepare { .. } => {
            RunError::cluster(session.death().unwrap_or_else(|| error.to_string()))
        }
        AgentsError::Lost { .. } => RunError::Load(error.to_string()),
        _ => RunError::input(error),
    }
}

/// Whether an agent is lost without which no load can go on.
pub(crate) fn has_lost_agents(session: &Session<'_>) -> bool {
    let agents = session.agents.as_ref();
    agents.is_some_and(|pool| pool.lock().is_broken())
}

/// Whether this machine generates the load.
pub(crate) fn is_on_this_machine(session: &Session<'_>) -> bool {
    let agents = session.agents.as_ref();
    agents.is_none_or(|pool| pool.lock().is_local())
}

/// The agents on this machine, for the sampler: they are no other programs.
pub(crate) fn agent_processes(session: &Session<'_>) -> Vec<WatchedProcess> {
    let pids = session.agents.as_ref().map(|pool| pool.lock().pids());
    let pids = (0..).zip(pids.unwrap_or_default());
    let watched = |(number, pid): (u32, u32)| WatchedProcess {
        pid,
        subject: Subject::Process {
            name: format!("agent {number}"),
        },
    };
    pids.map(watched).collect()
}

#[cfg(test)]
mod tests {
    use kgauge_results::run::AgentClockRecord;

    use super::*;

    fn agent(bound_ns_max: u64, drift_ppb: i64) -> AgentRecord {
        AgentRecord {
            index: 0,
            name: String::new(),
            is_local: false,
            start_bound_ns: None,
            start_late_ns: None,
            clock: Some(AgentClockRecord {
                bound_ns_max,
                offset_ns: 0,
                drift_ppb,
                exchanges: 1,
                is_stepped: false,
            }),
            records_acked: 0,
            threads: 1,
            thread_cpu_ns_max: None,
            process_cpu_ns: None,
            lag_ns_p99: None,
            lag_ns_max: None,
            cpu_limit_periods: None,
            cpu_limit_periods_throttled: None,
            full_speed_ns: None,
            network: None,
            lost: None,
        }
    }

    #[test]
    fn the_two_worst_clocks_bound_a_time_between_agents() {
        let agents = [agent(10_000, 0), agent(40_000, -20_000), agent(30_000, 0)];
        let bound_ns = |drifting_ns| two_clocks_bound_ns(&agents, drifting_ns);
        assert_eq!(bound_ns(SHIFT_DELAY_NS), 40_000 + 10_000 + 30_000);
        assert_eq!(bound_ns(60_000_000_000), 40_000 + 1_200_000 + 30_000);
        assert_eq!(two_clocks_bound_ns(&[], SHIFT_DELAY_NS), 0);
    }
}
