//! What the lead sees of the agents during a repeat, and what the run folder keeps of it.

use kgauge_load::Totals;
use kgauge_results::run::{AgentClockRecord, AgentLossRecord, AgentRecord};

use super::pool::AgentPool;
use super::progress::ReportedProgress;
use crate::clock::OffsetInterval;
use crate::protocol::AgentOutcome;

/// What became of an agent's part of a repeat.
#[derive(Debug)]
pub(super) enum AgentState {
    /// Its load goes on.
    Running,
    /// Its load ended, and everything was sent.
    Ended(Box<AgentOutcome>),
    /// Its load was stopped before it began.
    NotStarted,
    /// Its load engine broke.
    Failed,
    /// The agent was lost, during the repeat or before.
    Lost,
}

impl AgentState {
    /// The results of a load that ended.
    pub(super) fn outcome(&self) -> Option<&AgentOutcome> {
        match self {
            Self::Ended(outcome) => Some(outcome),
            Self::Running | Self::NotStarted | Self::Failed | Self::Lost => None,
        }
    }

    /// Whether records may be missing from its results.
    pub(super) fn is_cut_short(&self) -> bool {
        matches!(self, Self::Running | Self::Failed | Self::Lost)
    }
}

/// What the lead sees of the agents during a repeat.
pub(super) struct RepeatTrack {
    agents: Vec<AgentTrack>,
}

#[derive(Debug)]
struct AgentTrack {
    state: AgentState,
    late_ns: Option<u64>,
    lost_ns: Option<u64>,
    bound_ns_max: u64,
    steps_before: u32,
}

impl RepeatTrack {
    /// For a repeat whose start has been announced.
    pub(super) fn new(pool: &AgentPool) -> Self {
        let agents = pool.agents.iter().map(|agent| AgentTrack {
            state: match agent.lost {
                Some(_) => AgentState::Lost,
                None => AgentState::Running,
            },
            late_ns: None,
            lost_ns: None,
            bound_ns_max: 0,
            steps_before: match agent.start {
                Some(start) => start.steps,
                None => agent.track.lock().steps(),
            },
        });
        Self {
            agents: agents.collect(),
        }
    }

    /// Reads the clocks of the agents that are there.
    pub(super) fn sample(&mut self, pool: &AgentPool) -> Vec<Option<OffsetInterval>> {
        let now_ns = pool.clock.now_ns();
        let mut offsets = Vec::new();
        for (track, agent) in self.agents.iter_mut().zip(&pool.agents) {
            let estimate = agent.track.lock().at(now_ns);
            let offset = estimate.map(|estimate| estimate.offset);
            let offset = offset.filter(|_| agent.lost.is_none());
            let bound_ns = offset.map_or(0, OffsetInterval::bound_ns);
            track.bound_ns_max = track.bound_ns_max.max(bound_ns);
            offsets.push(offset);
        }
        offsets
    }

    /// An agent's load has begun.
    pub(super) fn start(&mut self, index: usize, late_ns: u64) {
        if let Some(track) = self.agents.get_mut(index) {
            track.late_ns = Some(late_ns);
        }
    }

    /// An agent's load is over. Only the first end counts.
    pub(super) fn end(&mut self, index: usize, state: AgentState) {
        if let Some(track) = self.agents.get_mut(index)
            && matches!(track.state, AgentState::Running)
        {
            track.state = state;
        }
    }

    /// An agent whose load went on is lost.
    pub(super) fn lose(&mut self, index: usize, at_ns: u64) {
        self.end(index, AgentState::Lost);
        if let Some(track) = self.agents.get_mut(index) {
            track.lost_ns = Some(at_ns);
        }
    }

    /// Whether an agent's load goes on.
    pub(super) fn is_running(&self, index: usize) -> bool {
        let track = self.agents.get(index);
        track.is_some_and(|track| matches!(track.state, AgentState::Running))
    }

    /// Whether an agent is lost.
    pub(super) fn is_lost(&self, index: usize) -> bool {
        let track = self.agents.get(index);
        track.is_none_or(|track| matches!(track.state, AgentState::Lost))
    }

    /// Whether no agent's load goes on.
    pub(super) fn is_over(&self) -> bool {
        let mut states = self.states();
        states.all(|state| !matches!(state, AgentState::Running))
    }

    /// Of each agent.
    pub(super) fn states(&self) -> impl Iterator<Item = &AgentState> + Clone {
        self.agents.iter().map(|track| &track.state)
    }

    /// CPU time of all agents' processes within the hold; `None` if one of them did not report it.
    pub(super) fn process_hold_cpu_ns(&self) -> Option<u64> {
        let mut sum_ns = 0_u64;
        for state in self.states() {
            match state {
                AgentState::Ended(outcome) => {
                    sum_ns = sum_ns.saturating_add(outcome.process_hold_cpu_ns?);
                }
                AgentState::NotStarted => {}
                AgentState::Running | AgentState::Failed | AgentState::Lost => return None,
            }
        }
        Some(sum_ns)
    }
}

/// The record of each agent.
pub(super) fn records(
    pool: &AgentPool,
    track: &RepeatTrack,
    reported: &ReportedProgress,
) -> Vec<AgentRecord> {
    let each = (0_u32..).zip(pool.agents.iter().zip(&track.agents));
    each.map(|(index, (agent, seen))| {
        let clock = agent.track.lock();
        let now = clock.at(pool.clock.now_ns());
        let ended = seen.state.outcome();
        let limited = ended.and_then(|outcome| outcome.cpu_limit_periods);
        AgentRecord {
            index,
            name: agent.name.clone(),
            is_local: pool.is_local(),
            start_bound_ns: agent.start.map(|start| start.bound_ns),
            start_late_ns: seen.late_ns,
            clock: now.map(|now| AgentClockRecord {
                bound_ns_max: seen.bound_ns_max,
                offset_ns: now.offset.middle_ns(),
                drift_ppb: now.drift_ppb,
                exchanges: clock.exchanges(),
                is_stepped: clock.steps() > seen.steps_before,
            }),
            records_acked: match ended {
                Some(outcome) => acked(outcome.load.flows.iter().map(|flow| &flow.totals)),
                None => reported
                    .agent(index as usize)
                    .and_then(|agent| agent.load.as_ref())
                    .map_or(0, |load| acked(load.flows.iter())),
            },
            threads: agent.threads,
            thread_cpu_ns_max: ended.map(busiest_thread_ns),
            process_cpu_ns: ended.and_then(|outcome| outcome.process_hold_cpu_ns),
            lag_ns_p99: ended.and_then(|outcome| outcome.lag_ns_p99),
            lag_ns_max: ended.and_then(|outcome| outcome.lag_ns_max),
            cpu_limit_periods: limited.map(|(all, _)| all),
            cpu_limit_periods_throttled: limited.map(|(_, throttled)| throttled),
            full_speed_ns: ended.and_then(|outcome| outcome.full_speed_ns),
            network: ended.and_then(|outcome| outcome.network.clone()),
            lost: match seen.state {
                AgentState::Lost => Some(AgentLossRecord {
                    at_ns: seen.lost_ns.unwrap_or(0),
                    why: agent.lost.clone().unwrap_or_default(),
                }),
                _ => None,
            },
        }
    })
    .collect()
}

/// Acked records of all flows.
fn acked<'a>(flows: impl Iterator<Item = &'a Totals>) -> u64 {
    flows.fold(0_u64, |sum, flow| sum.saturating_add(flow.acked))
}

/// CPU time of the busiest load thread within the hold, without spinning.
fn busiest_thread_ns(outcome: &AgentOutcome) -> u64 {
    let load = &outcome.load;
    let threads = load.worker_hold_cpu_ns.iter();
    let threads = threads.zip(&load.worker_hold_spun_ns);
    let busy = threads.map(|(all_ns, spun_ns)| all_ns.saturating_sub(*spun_ns));
    busy.max().unwrap_or(0)
}
