//! Other clients that send in place of kgauge's engine: their programs, and what their processes used.

use std::collections::BTreeMap;

use kgauge_load::{DriverProgram, LoadOutcome};
use kgauge_observe::ProcessSampler;
use kgauge_results::run::DriverRecord;
use kgauge_scenario::{Driver, FlowPlan, Trial};
use kgauge_target::driver::{DriverBuildError, prepare};

use crate::error::{RunError, with_fix};
use crate::request::RunRequest;
use kgauge_observe::CpuTrack;

/// Prepares the programs of all drivers that trials name. This happens first, so that a missing requirement is
/// reported at once.
pub(crate) fn programs(
    trials: &[Trial],
    request: &RunRequest<'_>,
) -> Result<Vec<(Driver, DriverProgram)>, RunError> {
    let mut programs: Vec<(Driver, DriverProgram)> = Vec::new();
    let setup = request.host.kafka_setup();
    for flow in trials.iter().flat_map(|trial| &trial.flows) {
        let FlowPlan::Produce(flow) = flow else {
            continue;
        };
        if programs.iter().any(|(known, _)| *known == flow.driver) {
            continue;
        }
        let made = prepare(&flow.driver, &setup, &request.stop.load);
        let Some(command) = made.map_err(refused)? else {
            continue;
        };
        let program = DriverProgram {
            program: command.program,
            arguments: command.arguments,
        };
        programs.push((flow.driver.clone(), program));
    }
    Ok(programs)
}

fn refused(error: DriverBuildError) -> RunError {
    let message = with_fix(&error, &error.fix());
    match error.is_interrupt() {
        true => RunError::Interrupted(message),
        false => RunError::Input(message),
    }
}

/// CPU of a driver's process, and of each of its threads.
pub(crate) struct DriverTrack {
    /// Position of the flow in the trial.
    flow: usize,
    process: CpuTrack,
    sampler: Option<ProcessSampler>,
    threads: BTreeMap<u32, CpuTrack>,
    next_look_ns: u64,
}

/// A JVM has about thirty threads, and sampling one takes a few microseconds.
const THREADS_EACH_NS: u64 = 500_000_000;

impl DriverTrack {
    /// Of a flow's process.
    pub(crate) fn of((flow, pid): (usize, u32)) -> Self {
        Self {
            flow,
            process: CpuTrack::of(Some(pid)),
            sampler: ProcessSampler::new(pid).ok(),
            threads: BTreeMap::new(),
            next_look_ns: 0,
        }
    }

    /// Takes one sample.
    pub(crate) fn sample(&mut self, at_ns: u64) {
        self.process.sample(at_ns);
        if at_ns < self.next_look_ns {
            return;
        }
        self.next_look_ns = at_ns + THREADS_EACH_NS;
        let threads = self.sampler.as_ref().map(ProcessSampler::threads);
        for thread in threads.and_then(Result::ok).into_iter().flatten() {
            let track = self.threads.entry(thread.tid);
            let track = track.or_insert_with(|| CpuTrack::of(None));
            track.note(at_ns, thread.user_ns + thread.system_ns);
        }
    }

    /// CPU time of the process from one moment to another.
    pub(crate) fn between(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        self.process.between(start_ns, end_ns)
    }

    /// How many threads it has had, and what the busiest of them used.
    pub(crate) fn threads_between(&self, start_ns: u64, end_ns: u64) -> (u32, u64) {
        let used = self.threads.values();
        let used = used.filter_map(|track| track.between(start_ns, end_ns));
        (self.threads.len() as u32, used.max().unwrap_or(0))
    }
}

/// The driver facts in the record of a flow, if it has a driver.
pub(crate) fn record(
    flow: usize,
    load: &LoadOutcome,
    tracks: &[DriverTrack],
) -> Option<DriverRecord> {
    let used = load.drivers.iter().find(|used| used.flow == flow)?;
    let own = tracks.iter().filter(|track| track.flow == flow);
    let cpu_ns = own
        .map(|track| track.between(load.hold_start_ns, load.hold_end_ns))
        .sum::<Option<u64>>();
    Some(DriverRecord {
        client: used.client.clone(),
        processes: used.processes,
        cpu_ns,
        starved_ns: used.starved_ns,
    })
}
