//! What limited a trial: each suspect with its evidence, the strongest first. Where none is strong, that is said.

use super::hold::Measured;
use super::shares;
use crate::folder::{RepeatRead, RunRead};
use crate::run::Replication;
use crate::series::{HostSeries, host_of};
use crate::stage::Stage;
use crate::summary::words;
use crate::summary::{FlowKind, FlowSummary, GeneratorWord, LimitVerdict, LimitWord, TrialSummary};

/// Pauses that take more of the connections' time than this are what is felt.
const PAUSED_PART: f64 = 0.10;
/// An open loop that did so much of what was asked for was not held back.
const DONE_PART: f64 = 0.99;
/// Processors with less to spare than this had nothing to spare: the kernel's accounts are exact to a few percent.
const IDLE_PART: f64 = 0.05;
/// From here down they are suspects.
const IDLE_PART_NEAR: f64 = 0.20;
/// A disk that had something under way for so much of the time. Disks that serve many requests at once can do
/// more even then, so that this alone does not decide.
const BUSY_PART: f64 = 0.90;
/// So many writes waiting at once is more than even those like.
const QUEUE_MEAN: f64 = 4.0;
/// From here up it is a suspect.
const BUSY_PART_NEAR: f64 = 0.60;
/// A producer at full speed with fewer records in a request pays for requests.
const RECORDS_PER_REQUEST: f64 = 10.0;

/// What is known of each suspect.
struct Findings {
    /// Strong enough alone.
    strong: Vec<LimitWord>,
    /// Not strong enough.
    weak: Vec<LimitWord>,
    evidence: Vec<String>,
}

impl Findings {
    fn note(&mut self, word: LimitWord, is_strong: bool, is_weak: bool, said: String) {
        if is_strong {
            self.strong.push(word);
        } else if is_weak {
            self.weak.push(word);
        }
        self.evidence.push(said);
    }
}

/// The verdict on a trial; `None` when nothing of it was measured.
pub(super) fn limit(
    run: &RunRead,
    trial: &TrialSummary,
    measured: &Measured<'_>,
) -> Option<LimitVerdict> {
    if trial.repeats_measured == 0 || trial.flows.iter().all(|flow| flow.throughput.is_none()) {
        return None;
    }
    let mut findings = Findings {
        strong: Vec::new(),
        weak: Vec::new(),
        evidence: Vec::new(),
    };
    if let Some(said) = all_done(trial) {
        return Some(verdict(LimitWord::Load, vec![said], Vec::new()));
    }
    if trial.generator.word == GeneratorWord::Limited {
        let evidence = trial.generator.evidence.clone();
        return Some(verdict(LimitWord::Generator, evidence, Vec::new()));
    }
    quota(trial, measured, &mut findings);
    let hosts: Vec<Hold> = measured
        .repeats
        .iter()
        .filter_map(|one| hold_of(run, one))
        .collect();
    processors(run, trial, &hosts, &mut findings);
    disks(&hosts, &mut findings);
    if let Some(said) = shares::skew(trial) {
        findings.note(LimitWord::HotBroker, false, true, said);
    }
    followers(trial, measured, &mut findings);
    requests(trial, &mut findings);
    let Findings {
        strong,
        weak,
        evidence,
    } = findings;
    Some(match strong.as_slice() {
        [one] => verdict(*one, evidence, Vec::new()),
        [] => verdict(LimitWord::Undecided, evidence, weak),
        _ => verdict(LimitWord::Undecided, evidence, strong),
    })
}

fn verdict(word: LimitWord, evidence: Vec<String>, candidates: Vec<LimitWord>) -> LimitVerdict {
    let sentence = match (word, candidates.as_slice()) {
        (LimitWord::Load, _) => {
            "Nothing held it back: what was asked for was done in time, so more may be possible."
                .to_owned()
        }
        (LimitWord::Undecided, []) => "What limited it is not known from what was seen.".to_owned(),
        (LimitWord::Undecided, candidates) => {
            let names: Vec<&str> = candidates.iter().map(|one| one.as_words()).collect();
            format!(
                "What limited it is not decided; it may be {}.",
                names.join(", or ")
            )
        }
        (word, _) => format!("The limit was {}.", word.as_words()),
    };
    LimitVerdict {
        word,
        sentence,
        evidence,
        candidates,
    }
}

/// The sentence on flows that all had a rate and kept it.
fn all_done(trial: &TrialSummary) -> Option<String> {
    if trial.generator.word == GeneratorWord::Limited {
        return None;
    }
    let mut said = Vec::new();
    for flow in &trial.flows {
        if flow.kind == FlowKind::Consume {
            // Whoever reads what others write does what they do, unless it falls behind.
            let batching = flow.batching.as_ref()?;
            let waits = batching.empty_part.is_some_and(|part| part > 0.0);
            if !waits || flow.closed_loop && trial.flows.len() == 1 {
                return None;
            }
            continue;
        }
        flow.lateness.as_ref()?;
        let records = &flow.records;
        let done = records.acked as f64 / records.scheduled.max(1) as f64;
        if done < DONE_PART || records.skipped > 0 {
            return None;
        }
        said.push(format!(
            "{}: {} of {} that were due in the hold were acked.",
            flow.name,
            words::count(records.acked),
            words::counted(records.scheduled, "record")
        ));
    }
    (!said.is_empty()).then(|| said.join(" "))
}

fn quota(trial: &TrialSummary, measured: &Measured<'_>, findings: &mut Findings) {
    for flow in &trial.flows {
        let Some(throttling) = &flow.throttling else {
            continue;
        };
        let holds = measured.holds(flow.index);
        let hold_ns: f64 = holds.iter().map(|hold| hold.length_ns as f64).sum();
        let members = f64::from(flow.members.unwrap_or(1).max(1));
        let part = throttling.total_ns as f64 / (hold_ns * members).max(1.0);
        let said = format!(
            "{}: brokers asked for {}, {} of its time.",
            flow.name,
            words::counted(throttling.count, "pause"),
            words::percent(part)
        );
        findings.note(LimitWord::Quota, part >= PAUSED_PART, part > 0.01, said);
    }
}

/// What the machine did in the hold of one repeat.
struct Hold {
    host: HostSeries,
    start_ns: u64,
    end_ns: u64,
}

fn hold_of(run: &RunRead, repeat: &RepeatRead) -> Option<Hold> {
    let flows = &repeat.record.as_ref()?.flows;
    let spans: Vec<_> = flows
        .iter()
        .filter_map(|flow| flow.stage(Stage::Hold))
        .collect();
    Some(Hold {
        host: host_of(run, repeat.key),
        start_ns: spans.iter().map(|span| span.start_ns).min()?,
        end_ns: spans.iter().map(|span| span.end_ns).max()?,
    })
}

impl Hold {
    /// The mean over the hold of something that is known between looks: (from, to, value).
    fn mean(&self, points: impl Iterator<Item = (u64, u64, f64)>) -> Option<(f64, f64)> {
        let (mut sum, mut length) = (0.0, 0.0);
        for (start_ns, end_ns, value) in points {
            let from = start_ns.max(self.start_ns);
            let to = end_ns.min(self.end_ns);
            let within = to.saturating_sub(from) as f64;
            sum += value * within;
            length += within;
        }
        (length > 0.0).then_some((sum, length))
    }
}

/// The mean over all repeats.
fn mean_of(parts: impl Iterator<Item = Option<(f64, f64)>>) -> Option<f64> {
    let parts = parts.flatten();
    let (sum, length) = parts.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    (length > 0.0).then(|| sum / length)
}

/// Where load and target share a machine, it may be the machine that has no more to give.
fn processors(run: &RunRead, trial: &TrialSummary, holds: &[Hold], findings: &mut Findings) {
    let Some(environment) = &run.environment else {
        return;
    };
    let (Some(count), Some(true)) = (
        environment.machine.cpu_count,
        environment.target.same_machine,
    ) else {
        return;
    };
    let idle = holds.iter().map(|hold| {
        let points = hold.host.idle.iter();
        hold.mean(points.map(|point| (point.start_ns, point.end_ns, point.idle_cores)))
    });
    let Some(idle) = mean_of(idle) else { return };
    let part = idle / f64::from(count);
    let (generator, target) = (trial.cpu.generator_cores, trial.cpu.target_cores);
    let used = |cores: Option<f64>| cores.map_or_else(|| "?".to_owned(), words::number);
    let others = generator
        .zip(target)
        .map(|(generator, target)| (f64::from(count) - idle - generator - target).max(0.0));
    let said = format!(
        "Of the {} processors that load and target share {} had nothing to do: the generator used {}, the target {}, all \
         others {}.",
        words::count(u64::from(count)),
        words::number(idle),
        used(generator),
        used(target),
        used(others),
    );
    let (strong, weak) = (part <= IDLE_PART, part <= IDLE_PART_NEAR);
    findings.note(LimitWord::Processors, strong, weak, said);
}

fn disks(holds: &[Hold], findings: &mut Findings) {
    let mut names: Vec<&str> = Vec::new();
    for disk in holds.iter().flat_map(|hold| &hold.host.disks) {
        if disk.holds_data && !names.contains(&disk.disk.as_str()) {
            names.push(&disk.disk);
        }
    }
    for name in names {
        let mean = |of: fn(&crate::series::DiskPoint) -> f64| {
            mean_of(holds.iter().map(|hold| {
                let disk = hold.host.disks.iter().find(|disk| disk.disk == name)?;
                hold.mean(
                    disk.points
                        .iter()
                        .map(|point| (point.start_ns, point.end_ns, of(point))),
                )
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
        let strong = busy >= BUSY_PART && queue >= QUEUE_MEAN;
        findings.note(LimitWord::Disk, strong, busy >= BUSY_PART_NEAR, said);
    }
}

fn followers(trial: &TrialSummary, measured: &Measured<'_>, findings: &mut Findings) {
    let behind = measured.repeats.iter().any(|repeat| {
        let record = repeat.record.as_ref();
        matches!(
            record.and_then(|one| one.replication),
            Some(Replication::Behind { .. })
        )
    });
    let replicas = trial.topic.map_or(1, |topic| topic.replication_factor);
    let waits = |flow: &&FlowSummary| {
        flow.ack.as_ref().is_some_and(|ack| ack.acks == "all") && flow.closed_loop
    };
    if behind {
        let said = "Followers had not caught up at the end.".to_owned();
        findings.note(LimitWord::Replication, false, true, said);
    } else if let (true, Some(flow)) = (replicas > 1, trial.flows.iter().find(waits)) {
        let said = format!(
            "{}: each ack waits for {replicas} replicas (acks=all).",
            flow.name
        );
        findings.note(LimitWord::Replication, false, true, said);
    }
}

fn requests(trial: &TrialSummary, findings: &mut Findings) {
    for flow in trial.flows.iter().filter(|flow| flow.closed_loop) {
        let Some(batching) = flow
            .batching
            .as_ref()
            .filter(|_| flow.kind == FlowKind::Produce)
        else {
            continue;
        };
        let records = batching.records_per_request;
        if records >= RECORDS_PER_REQUEST {
            continue;
        }
        let said = format!(
            "{}: {} records in a request, {} requests a second.",
            flow.name,
            words::number(records),
            words::number(batching.requests_per_s.mean)
        );
        findings.note(LimitWord::Batching, false, true, said);
    }
}
