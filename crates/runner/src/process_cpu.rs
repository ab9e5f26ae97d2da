//! CPU time of every process that takes part in a repeat, over its hold.

use kgauge_load::LoadOutcome;
use kgauge_results::run::CpuRecord;

use crate::drivers::DriverTrack;
use kgauge_observe::{CompilerTrack, CpuTrack, WatchedProcess};

/// CPU time of agents' processes within the hold; `None` if one of them did not report it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentsCpu(pub(crate) Option<u64>);

/// CPU of the processes that take part.
pub(crate) struct ProcessCpu {
    /// This process, which is the load generator unless there are agents.
    pub(crate) generator: CpuTrack,
    /// The agents that generated the load.
    pub(crate) agents: Option<AgentsCpu>,
    /// Other clients that sent flows.
    pub(crate) drivers: Vec<DriverTrack>,
    pub(crate) targets: TargetsCpu,
    pub(crate) replicator: Option<CpuTrack>,
}

/// CPU of the target's processes on this machine.
pub(crate) struct TargetsCpu(Vec<(CpuTrack, CompilerTrack)>);

impl TargetsCpu {
    pub(crate) fn of(processes: &[WatchedProcess]) -> Self {
        let tracks = processes.iter().map(|process| {
            let pid = process.pid;
            (CpuTrack::of(Some(pid)), CompilerTrack::of(pid))
        });
        Self(tracks.collect())
    }

    pub(crate) fn sample(&mut self, at_ns: u64) {
        for (process, compilers) in &mut self.0 {
            process.sample(at_ns);
            compilers.sample(at_ns);
        }
    }

    /// Forgets processes that are no longer the target's.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// All processes together; none when one of them cannot be seen.
    pub(crate) fn between(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        self.sum(|(process, _)| process.between(start_ns, end_ns))
    }

    /// The time of their compilers; none when they cannot be told from other threads.
    fn compiling_between(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        self.sum(|(_, compilers)| compilers.between(start_ns, end_ns))
    }

    /// Over all processes; none without any, or when one of them has none.
    fn sum(&self, of: impl Fn(&(CpuTrack, CompilerTrack)) -> Option<u64>) -> Option<u64> {
        let all = self.0.iter().map(of).sum::<Option<u64>>();
        all.filter(|_| !self.0.is_empty())
    }

    /// The compilers' part of that CPU time.
    pub(crate) fn compiling_part(&self, start_ns: u64, end_ns: u64) -> Option<f64> {
        let all_ns = self.between(start_ns, end_ns).filter(|ns| *ns > 0)?;
        let compiling_ns = self.compiling_between(start_ns, end_ns)?;
        Some(compiling_ns as f64 / all_ns as f64)
    }
}

impl ProcessCpu {
    pub(crate) fn sample(&mut self, at_ns: u64) {
        self.generator.sample(at_ns);
        for track in &mut self.drivers {
            track.sample(at_ns);
        }
        self.targets.sample(at_ns);
        if let Some(track) = &mut self.replicator {
            track.sample(at_ns);
        }
    }

    /// What kgauge's replicator used in the hold.
    pub(crate) fn replicator_between(&self, (start_ns, end_ns): (u64, u64)) -> Option<u64> {
        self.replicator.as_ref()?.between(start_ns, end_ns)
    }

    pub(crate) fn record(&self, outcome: &LoadOutcome) -> CpuRecord {
        let (start_ns, end_ns) = (outcome.hold_start_ns, outcome.hold_end_ns);
        let (all, spun) = (&outcome.worker_hold_cpu_ns, &outcome.worker_hold_spun_ns);
        let threads = all.iter().zip(spun);
        let threads = threads.map(|(all_ns, spun_ns)| all_ns.saturating_sub(*spun_ns));
        let feeding_ns = outcome.feeding_hold_cpu_ns;
        let others = self.drivers.iter();
        let others_ns = others
            .clone()
            .map(|track| track.between(start_ns, end_ns))
            .sum::<Option<u64>>();
        let seen = others.map(|track| track.threads_between(start_ns, end_ns));
        let (count, max_ns) = seen.fold((0, 0), |(count, max_ns), (threads, ns)| {
            (count + threads, max_ns.max(ns))
        });
        let own_ns = match self.agents {
            Some(AgentsCpu(agents_ns)) => agents_ns,
            None => self.generator.between(start_ns, end_ns),
        };
        CpuRecord {
            span_ns: end_ns.saturating_sub(start_ns),
            generator_threads_ns: threads.clone().sum::<u64>() + others_ns.unwrap_or(0),
            generator_threads: all.len() as u32 + count,
            generator_thread_ns_max: threads.fold(max_ns, u64::max),
            generator_spun_ns: Some(spun.iter().sum()),
            generator_gave_way_ns: Some(outcome.worker_hold_gave_way_ns.iter().sum()),
            generator_process_ns: own_ns
                .zip(others_ns)
                .map(|(own_ns, others_ns)| own_ns.saturating_sub(feeding_ns) + others_ns),
            feeding_ns: (!self.drivers.is_empty()).then_some(feeding_ns),
            target_process_ns: self.targets.between(start_ns, end_ns),
            target_compiling_ns: self.targets.compiling_between(start_ns, end_ns),
        }
    }
}
