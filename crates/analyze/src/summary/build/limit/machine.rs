//! The machine as a suspect: processors, limits on them, disks.

use super::super::blame::Crowd;
use super::super::{agents, blame};
use super::facts::Facts;
use super::{Findings, Weight};
use crate::statistics::weighted_mean;
use crate::summary::{Bottleneck, LimitFact, LimitedProcess};
use kgauge_results::metrics::MetricId;
use kgauge_results::run::Subject;

/// Processors with less to spare than this had nothing to spare: the kernel's accounts are exact to a few percent.
const IDLE_PART: f64 = 0.05;
/// From here down they are suspects.
const IDLE_PART_NEAR: f64 = 0.20;
/// A limit on CPU time that was met in more of the periods than this is what is felt.
const HELD_PART: f64 = 0.50;
/// From here up it is a suspect.
const HELD_PART_NEAR: f64 = 0.10;
/// A disk that had requests in flight for this share of the time. Disks that serve many requests at once can do
/// more even then, so that this alone does not decide.
const BUSY_PART: f64 = 0.90;
/// So many writes waiting at once is more than even those like.
const QUEUE_MEAN: f64 = 4.0;
/// From here up it is a suspect.
const BUSY_PART_NEAR: f64 = 0.60;

/// The machine that makes the load may have no more to give: to load and target where they share it, or because other
/// programs or the hypervisor use it.
pub(super) fn processors(facts: &Facts<'_>, findings: &mut Findings) {
    let cpu = &facts.trial.cpu;
    let (Some(count), Some(_)) = (cpu.processors, cpu.generator_cores) else {
        return;
    };
    let idle = cpu.idle_cores.map(|idle| idle / f64::from(count));
    let crowd = blame::crowd(cpu);
    let (word, part) = match crowd {
        Some(Crowd::Programs { .. }) => (Bottleneck::OtherPrograms, idle),
        Some(Crowd::Hypervisor { .. }) => (Bottleneck::Hypervisor, idle),
        None => (Bottleneck::Processors, facts.idle_part()),
    };
    let Some(part) = part else { return };
    // Others that kept nobody waiting took what was free.
    let is_felt = crowd.is_none() || blame::is_kept_waiting(cpu);
    let weight = Weight::of(part <= IDLE_PART && is_felt, part <= IDLE_PART_NEAR);
    findings.note(word, weight, LimitFact::Processors);
}

/// A control group's limit on the CPU time of brokers, or of the generator.
pub(super) fn cpu_limits(facts: &Facts<'_>, findings: &mut Findings) {
    for (subject, cores, held_part) in held_parts(facts) {
        let (word, process) = match subject {
            Subject::Target { broker: Some(id) } => {
                (Bottleneck::CpuLimit, LimitedProcess::Broker(id))
            }
            Subject::Target { broker: None } => (Bottleneck::CpuLimit, LimitedProcess::Target),
            // The lead's own limit says nothing about agents on other machines.
            Subject::Generator if agents::are_local(facts.measured) => {
                (Bottleneck::Generator, LimitedProcess::Generator)
            }
            Subject::Generator
            | Subject::GeneratorThread { .. }
            | Subject::Process { .. }
            | Subject::Host
            | Subject::Cluster { .. }
            | Subject::Flow { .. } => continue,
        };
        let limit = LimitFact::CpuLimit {
            process,
            cores,
            held_part,
        };
        let weight = Weight::of(held_part >= HELD_PART, held_part >= HELD_PART_NEAR);
        findings.note(word, weight, limit);
    }
}

/// Brokers that a limit on CPU time held back.
pub(super) fn held_brokers(facts: &Facts<'_>) -> Vec<i32> {
    let held = held_parts(facts).into_iter();
    let brokers = held.filter_map(|(subject, _, held)| match subject {
        Subject::Target { broker } if held >= HELD_PART => broker,
        _ => None,
    });
    brokers.collect()
}

/// Each process under a limit: cores that it may use, and the part of the periods in which it was held back.
fn held_parts(facts: &Facts<'_>) -> Vec<(Subject, f64, f64)> {
    let mut known: Vec<(&Subject, f64)> = Vec::new();
    for limit in facts.holds.iter().flat_map(|hold| &hold.cpu_limits) {
        if !known.contains(&(&limit.subject, limit.cores)) {
            known.push((&limit.subject, limit.cores));
        }
    }
    let parts = known.into_iter().filter_map(|(subject, cores)| {
        let held = facts.holds.iter().flat_map(|hold| {
            let limits = hold.cpu_limits.iter();
            let own = limits.filter(|limit| limit.subject == *subject && limit.cores == cores);
            let points = own.take(1).flat_map(|limit| &limit.points);
            hold.weighed(points.map(|point| (point.start_ns, point.end_ns, point.held_share)))
        });
        let held = weighted_mean(held)?;
        Some((subject.clone(), cores, held))
    });
    parts.collect()
}

pub(super) fn disks(facts: &Facts<'_>, findings: &mut Findings) {
    let holds = &facts.holds;
    let mut names: Vec<&str> = Vec::new();
    for disk in holds.iter().flat_map(|hold| &hold.host.disks) {
        if disk.holds_data && !names.contains(&disk.disk.as_str()) {
            names.push(&disk.disk);
        }
    }
    for name in names {
        let mean =
            |metric: MetricId| {
                weighted_mean(holds.iter().flat_map(|hold| {
                    let disks = hold.host.disks.iter().filter(|disk| disk.disk == name);
                    let points = disks.flat_map(|disk| &disk.points);
                    hold.weighed(points.filter_map(|point| {
                        Some((point.start_ns, point.end_ns, point.get(metric)?))
                    }))
                }))
            };
        let (Some(busy), Some(queue)) = (mean(MetricId::DiskBusy), mean(MetricId::DiskQueued))
        else {
            continue;
        };
        let disk = LimitFact::Disk {
            disk: name.to_owned(),
            busy_part: busy,
            queue_mean: queue,
        };
        let is_strong = busy >= BUSY_PART && queue >= QUEUE_MEAN;
        let weight = Weight::of(is_strong, busy >= BUSY_PART_NEAR);
        findings.note(Bottleneck::Disk, weight, disk);
    }
}
