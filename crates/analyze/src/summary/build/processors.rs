//! Who used the machine's processors in the hold: generator, target, and all others, so that nothing of it is
//! unexplained.

use std::collections::BTreeMap;

use super::agents;
use super::hold::MeasuredRepeats;
use crate::series::{MetricPoint, cpu_hold, cpu_limits_of, host_of, programs_of};
use crate::statistics::weighted_mean;
use crate::summary::{CpuSummary, ProgramCores};
use kgauge_results::folder::{RepeatRead, RunRead};
use kgauge_results::metrics::MetricId;
use kgauge_results::run::{RepeatKey, Subject};
use kgauge_results::stage::Stage;

/// Programs that are named.
const NAMED_MAX: usize = 5;
/// Fewer cores are not worth a word.
const CORES_MIN: f64 = 0.01;

/// One hold.
struct Account {
    length_ns: f64,
    busy: Option<f64>,
    idle: Option<f64>,
    stolen: Option<f64>,
    queued: Option<f64>,
    target_queued: Option<f64>,
    held: Option<f64>,
    beside: f64,
    /// Processes that kgauge started, over the whole repeat: also those that nobody watched.
    started: f64,
}

/// All holds of a trial.
struct Holds(Vec<Account>);

impl Holds {
    /// The mean over the holds, by their lengths, of what is known of them.
    fn mean(&self, of: fn(&Account) -> Option<f64>) -> Option<f64> {
        let holds = self.0.iter();
        weighted_mean(holds.filter_map(|one| Some((one.length_ns, of(one)?))))
    }

    /// What is left of the busy processors when all that take part are taken away.
    fn others(&self, run: &RunRead, cpu: &CpuSummary) -> Option<f64> {
        let environment = run.environment.as_ref()?;
        let processors = cpu.processors.map(f64::from);
        let target = match (cpu.target_cores, environment.target.same_machine) {
            (Some(cores), _) => cores,
            (None, Some(false)) => 0.0,
            (None, Some(true) | None) => return None,
        };
        // Brokers that were started again meanwhile are not watched one by one.
        let target = target.max(self.mean(|one| Some(one.started)).unwrap_or(0.0));
        let stolen = cpu.stolen_cores.unwrap_or(0.0);
        let left_over = || Some((processors? - cpu.idle_cores? - stolen).max(0.0));
        let busy = self.mean(|one| one.busy).or_else(left_over)?;
        let beside = self.mean(|one| Some(one.beside)).unwrap_or(0.0);
        let feeding = cpu.feeding_cores.unwrap_or(0.0);
        Some((busy - cpu.generator_cores? - feeding - target - beside).max(0.0))
    }
}

/// Adds the machine's CPU figures of the holds.
pub(super) fn account(run: &RunRead, measured: &MeasuredRepeats<'_>, cpu: &mut CpuSummary) {
    // Of other machines than the lead's, nobody kept such accounts.
    if !agents::are_local(measured) {
        return;
    }
    let environment = run.environment.as_ref();
    cpu.processors = environment.and_then(|environment| environment.machine.cpu_count);
    let holds = measured.repeats.iter();
    let holds = Holds(holds.filter_map(|one| Account::of(run, one)).collect());
    cpu.idle_cores = holds.mean(|one| one.idle);
    cpu.stolen_cores = holds
        .mean(|one| one.stolen)
        .filter(|cores| *cores >= CORES_MIN);
    let queued = holds.0.iter().filter_map(|one| one.queued);
    cpu.generator_queued_part = queued.max_by(f64::total_cmp);
    let queued = holds.0.iter().filter_map(|one| one.target_queued);
    cpu.target_queued_part = queued.max_by(f64::total_cmp);
    cpu.generator_held_part = holds.mean(|one| one.held);
    cpu.others_cores = holds.others(run, cpu);
    cpu.other_programs = programs(run, measured.repeats.iter().map(|repeat| repeat.key));
}

impl Account {
    fn of(run: &RunRead, repeat: &RepeatRead) -> Option<Account> {
        let flows = &repeat.record.as_ref()?.flows;
        let spans = flows.iter().filter_map(|flow| flow.stage(Stage::Hold));
        let spans: Vec<_> = spans.collect();
        let start_ns = spans.iter().map(|span| span.start_ns).min()?;
        let end_ns = spans.iter().map(|span| span.end_ns).max()?;
        let cpu = cpu_hold(run, repeat.key, start_ns, end_ns);
        let idle = host_of(run, repeat.key).idle;
        let mean = |of: fn(&MetricPoint) -> Option<f64>| {
            weighted_mean(idle.iter().filter_map(|point| {
                let (from, to) = (point.start_ns.max(start_ns), point.end_ns.min(end_ns));
                Some((to.saturating_sub(from) as f64, of(point)?))
            }))
        };
        let limits = cpu_limits_of(run, repeat.key).into_iter();
        let limits = limits.filter(|limit| limit.subject == Subject::Generator);
        let held = limits.filter_map(|limit| limit.held_part(start_ns, end_ns));
        let programs = programs_of(run, repeat.key);
        Some(Account {
            length_ns: end_ns.saturating_sub(start_ns) as f64,
            busy: cpu.busy_cores,
            // What waits for a disk needs no processor.
            idle: mean(|point| {
                let iowait = point.get(MetricId::CpuIowait).unwrap_or(0.0);
                Some(point.get(MetricId::CpuIdle)? + iowait)
            }),
            stolen: mean(|point| point.get(MetricId::CpuStolen)),
            queued: cpu.queued_part,
            target_queued: cpu.target_queued_part,
            held: held.max_by(f64::total_cmp),
            beside: cpu.beside_cores,
            started: programs.map_or(0.0, |look| {
                look.started_ns as f64 / look.span_ns.max(1) as f64
            }),
        })
    }
}

/// The other programs that used most, over all repeats.
fn programs(run: &RunRead, repeats: impl Iterator<Item = RepeatKey>) -> Vec<ProgramCores> {
    let mut span_ns = 0.0;
    let mut by_name = BTreeMap::<&str, f64>::new();
    for look in repeats.filter_map(|key| programs_of(run, key)) {
        span_ns += look.span_ns as f64;
        for program in &look.programs {
            *by_name.entry(&program.name).or_default() += program.cpu_ns as f64;
        }
    }
    let cores = |cpu_ns: f64| cpu_ns / f64::max(span_ns, 1.0);
    let mut programs: Vec<ProgramCores> = by_name
        .into_iter()
        .map(|(name, cpu_ns)| ProgramCores {
            name: name.to_owned(),
            cores: cores(cpu_ns),
        })
        .filter(|program| program.cores >= CORES_MIN)
        .collect();
    programs.sort_by(|one, other| other.cores.total_cmp(&one.cores));
    programs.truncate(NAMED_MAX);
    programs
}
