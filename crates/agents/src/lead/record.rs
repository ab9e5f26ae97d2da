//! What the run folder keeps of each agent.

use kgauge_results::run::{AgentClockRecord, AgentLossRecord, AgentRecord};

use super::pool::AgentPool;
use super::progress::ReportedProgress;
use crate::clock::OffsetInterval;
use crate::protocol::AgentOutcome;

/// What the lead sees of the agents during a repeat.
pub(super) struct RepeatTrack {
    agents: Vec<AgentTrack>,
    /// For each agent, whether its load failed.
    pub(super) failed: Vec<bool>,
}

#[derive(Debug, Clone, Default)]
struct AgentTrack {
    late_ns: Option<u64>,
    lost_ns: Option<u64>,
    bound_ns_max: u64,
    steps_before: u32,
}

impl RepeatTrack {
    pub(super) fn new(pool: &AgentPool) -> Self {
        let agents = pool.agents.iter().map(|agent| AgentTrack {
            steps_before: agent.track.lock().steps(),
            ..AgentTrack::default()
        });
        Self {
            agents: agents.collect(),
            failed: vec![false; pool.agents.len()],
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

    pub(super) fn start(&mut self, index: usize, late_ns: u64) {
        if let Some(track) = self.agents.get_mut(index) {
            track.late_ns = Some(late_ns);
        }
    }

    pub(super) fn lose(&mut self, index: usize, at_ns: u64) {
        if let Some(track) = self.agents.get_mut(index) {
            track.lost_ns = Some(at_ns);
        }
    }

    pub(super) fn fail(&mut self, index: usize) {
        if let Some(failed) = self.failed.get_mut(index) {
            *failed = true;
        }
    }
}

/// The record of each agent.
pub(super) fn records(
    pool: &AgentPool,
    track: &RepeatTrack,
    outcomes: &[Option<AgentOutcome>],
    reported: &ReportedProgress,
) -> Vec<AgentRecord> {
    let each = pool.agents.iter().zip(&track.agents).zip(outcomes);
    let each = (0..).zip(each);
    each.map(|(index, ((agent, seen), outcome))| {
        let clock = agent.track.lock();
        let now = clock.at(pool.clock.now_ns());
        let acked = match outcome {
            Some(outcome) => Some(
                outcome
                    .load
                    .flows
                    .iter()
                    .map(|flow| flow.totals.acked)
                    .sum(),
            ),
            None => reported
                .agent(index as usize)
                .and_then(|agent| agent.load.as_ref())
                .map(|load| load.flows.iter().map(|flow| flow.acked).sum()),
        };
        let threads = outcome.as_ref().map(|outcome| {
            let load = &outcome.load;
            let busy = load
                .worker_hold_cpu_ns
                .iter()
                .zip(&load.worker_hold_spun_ns);
            let busy = busy.map(|(all_ns, spun_ns)| all_ns.saturating_sub(*spun_ns));
            busy.max().unwrap_or(0)
        });
        let ended = outcome.as_ref();
        AgentRecord {
            index,
            name: agent.name.clone(),
            is_local: pool.is_local(),
            start_bound_ns: agent.start_bound_ns,
            start_late_ns: seen.late_ns,
            clock: now.map(|now| AgentClockRecord {
                bound_ns_max: seen.bound_ns_max,
                offset_ns: now.offset.middle_ns(),
                drift_ppb: now.drift_ppb,
                exchanges: clock.exchanges(),
                is_stepped: clock.steps() > seen.steps_before,
            }),
            records_acked: acked.unwrap_or(0),
            threads: agent.threads,
            thread_cpu_ns_max: threads,
            process_cpu_ns: ended.and_then(|outcome| outcome.process_hold_cpu_ns),
            lag_ns_p99: ended.and_then(|outcome| outcome.lag_ns_p99),
            lag_ns_max: ended.and_then(|outcome| outcome.lag_ns_max),
            cpu_limit_periods: ended
                .and_then(|outcome| outcome.cpu_limit_periods)
                .map(|(all, _)| all),
            cpu_limit_periods_throttled: ended
                .and_then(|outcome| outcome.cpu_limit_periods)
                .map(|(_, throttled)| throttled),
            lost: agent.lost.as_ref().map(|why| AgentLossRecord {
                at_ns: seen.lost_ns.unwrap_or(0),
                why: why.clone(),
            }),
        }
    })
    .collect()
}
