//! The machine as a suspect: processors, limits on them, disks.

use super::facts::{Facts, Hold, mean_of};
use super::{Findings, Weight};
use crate::run::Subject;
use crate::series::DiskPoint;
use crate::summary::{LimitWord, words};

/// Processors with less to spare than this had nothing to spare: the kernel's accounts are exact to a few percent.
const IDLE_PART: f64 = 0.05;
/// From here down they are suspects.
const IDLE_PART_NEAR: f64 = 0.20;
/// Programs that took this part of the machine's processors, and are no part of the measurement, are worth a word.
const OTHERS_PART: f64 = 0.20;
/// A limit on CPU time that was met in more of the periods than this is what is felt.
const HELD_PART: f64 = 0.50;
/// From here up it is a suspect.
const HELD_PART_NEAR: f64 = 0.10;
/// A disk that had something under way for so much of the time. Disks that serve many requests at once can do
/// more even then, so that this alone does not decide.
const BUSY_PART: f64 = 0.90;
/// So many writes waiting at once is more than even those like.
const QUEUE_MEAN: f64 = 4.0;
/// From here up it is a suspect.
const BUSY_PART_NEAR: f64 = 0.60;

/// Processors of the machine that load and target share: how many, how much of them had nothing to do, and what
/// neither generator nor target used of the rest.
struct Shared {
    count: f64,
    idle: f64,
    others: Option<f64>,
}

impl Shared {
    /// `None` where load and target do not share a machine, or nobody looked.
    fn of(facts: &Facts<'_>) -> Option<Shared> {
        let machine = facts.run.environment.as_ref();
        let count = machine.and_then(|one| one.machine.cpu_count).unwrap_or(1);
        let count = f64::from(count);
        let idle = facts.idle_part()? * count;
        let cpu = &facts.trial.cpu;
        let used = cpu.generator_cores.zip(cpu.target_cores);
        let others = used.map(|(generator, target)| (count - idle - generator - target).max(0.0));
        Some(Shared {
            count,
            idle,
            others,
        })
    }
}

/// Beside the verdict where programs that are no part of the measurement took much of the processors. How much stands in the
/// evidence: so trials of which it is true share the sentence.
pub(super) const OTHERS: &str =
    "Other programs on this machine used a fifth of them or more: end them, and run it again.";

/// Whether that is so.
pub(super) fn others_took_much(facts: &Facts<'_>) -> bool {
    Shared::of(facts).is_some_and(|shared| {
        let enough = OTHERS_PART * shared.count;
        shared.others.is_some_and(|others| others >= enough)
    })
}

/// Where load and target share a machine, it may be the machine that has no more to give.
pub(super) fn processors(facts: &Facts<'_>, findings: &mut Findings) {
    let Some(shared) = Shared::of(facts) else {
        return;
    };
    let part = shared.idle / shared.count;
    let cpu = &facts.trial.cpu;
    let used = |cores: Option<f64>| cores.map_or_else(|| "?".to_owned(), words::number);
    let said = format!(
        "Of the {} processors that load and target share {} had nothing to do: the generator used {}, the target {}, all \
         others {}.",
        words::count(shared.count as u64),
        words::number(shared.idle),
        used(cpu.generator_cores),
        used(cpu.target_cores),
        used(shared.others),
    );
    let weight = Weight::of(part <= IDLE_PART, part <= IDLE_PART_NEAR);
    findings.note(LimitWord::Processors, weight, said);
}

/// A control group's limit on the CPU time of brokers, or of the generator.
pub(super) fn cpu_limits(facts: &Facts<'_>, findings: &mut Findings) {
    for (subject, cores, held) in held_parts(facts) {
        let (word, who) = match &subject {
            Subject::Target { broker: Some(id) } => (LimitWord::CpuLimit, format!("Broker {id}")),
            Subject::Target { broker: None } => (LimitWord::CpuLimit, "The target".to_owned()),
            Subject::Generator => (LimitWord::Generator, "The generator".to_owned()),
            _ => continue,
        };
        let said = format!(
            "{who} may use {} of a core's time, and had used it up in {} of the periods.",
            words::percent(cores),
            words::percent(held)
        );
        let weight = Weight::of(held >= HELD_PART, held >= HELD_PART_NEAR);
        findings.note(word, weight, said);
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
        let of_hold = |hold: &Hold| {
            let mut limits = hold.cpu_limits.iter();
            let limit = limits.find(|limit| limit.subject == *subject && limit.cores == cores)?;
            let points = limit.points.iter();
            hold.mean(points.map(|point| (point.start_ns, point.end_ns, point.held_share)))
        };
        let held = mean_of(facts.holds.iter().map(of_hold))?;
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
        let mean = |of: fn(&DiskPoint) -> f64| {
            mean_of(holds.iter().map(|hold| {
                let disk = hold.host.disks.iter().find(|disk| disk.disk == name)?;
                let points = disk.points.iter();
                hold.mean(points.map(|point| (point.start_ns, point.end_ns, of(point))))
            }))
        };
        let (Some(busy), Some(queue)) = (mean(|one| one.busy_share), mean(|one| one.queue_mean))
        else {
            continue;
        };
        let said = format!(
            "Disk {name}, with the target's data, was in use for {} of the time, {} reads and writes under way.",
            words::percent(busy),
            words::number(queue)
        );
        let is_strong = busy >= BUSY_PART && queue >= QUEUE_MEAN;
        let weight = Weight::of(is_strong, busy >= BUSY_PART_NEAR);
        findings.note(LimitWord::Disk, weight, said);
    }
}
