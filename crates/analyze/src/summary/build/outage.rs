//! What the node faults of a trial did: the time without acks, and until new leaders.

use std::collections::{BTreeMap, BTreeSet};

use kgauge_scenario::{Fault, FlowPlan, Trial};

use super::hold::MeasuredRepeats;
use crate::summary::RepeatOutage;
use kgauge_results::TimeKind;
use kgauge_results::folder::{FlowRead, RepeatRead, RunRead};
use kgauge_results::run::{EventKind, EvidenceKind, PartitionChange, RepeatKey};
use kgauge_results::slice::Counts;
use kgauge_results::stage::SECOND_NS;

/// Seconds before a fault from which the usual rate of acks is taken.
const USUAL_SECONDS: u32 = 5;

/// One entry for each measured repeat in which a node fault began; none without a plan.
pub(super) fn outages(
    run: &RunRead,
    trial: Option<&Trial>,
    measured: &MeasuredRepeats<'_>,
) -> Vec<RepeatOutage> {
    let Some(trial) = trial.filter(|trial| !trial.faults.is_empty()) else {
        return Vec::new();
    };
    let repeats = measured.repeats.iter();
    repeats
        .filter_map(|repeat| outage(run, trial, repeat))
        .collect()
}

/// Whether a fault takes a node, or its links to others, away.
fn is_of_node(fault: &Fault) -> bool {
    fault.takes_down() || matches!(fault, Fault::Restart | Fault::Pause | Fault::Cut { .. })
}

fn outage(run: &RunRead, trial: &Trial, repeat: &RepeatRead) -> Option<RepeatOutage> {
    let fault_ns = fault_ns(run, trial, repeat.key)?;
    let answers = answers_ns(run, repeat.key);
    let flows = trial.flows.iter().zip(0_u16..);
    let sends = flows.filter(|(flow, _)| !matches!(flow, FlowPlan::Consume(_)));
    let reads = sends.filter_map(|(_, index)| repeat.flows.get(&index));
    let silences = reads
        .clone()
        .filter_map(|flow| Silence::longest(&acks(flow), fault_ns, &answers));
    let longest = silences.max_by_key(|silence| silence.length_ns());
    let responses = reads.filter_map(|flow| longest_response_ns(flow, fault_ns));
    Some(RepeatOutage {
        repeat: repeat.key.repeat,
        fault_ns,
        without_acks_ns: longest.map_or(0, |silence| silence.length_ns()),
        is_exact: longest.is_none_or(|silence| silence.is_exact),
        has_recovered: longest.is_none_or(|silence| silence.has_ended),
        new_leaders_ns: new_leaders_ns(run, repeat.key, fault_ns),
        longest_response_ns: responses.max(),
    })
}

/// When the first node fault of a repeat began.
fn fault_ns(run: &RunRead, trial: &Trial, key: RepeatKey) -> Option<u64> {
    let events = run.events.iter();
    let of_repeat = events.filter(|event| event.repeat == Some(key));
    let starts = of_repeat.filter_map(|event| match &event.kind {
        EventKind::Fault {
            active: true,
            entry: Some(entry),
            ..
        } => {
            let fault = trial.faults.get(usize::try_from(*entry).ok()?)?;
            event.at_ns.filter(|_| is_of_node(&fault.kind))
        }
        _ => None,
    });
    starts.min()
}

/// When brokers answered again after an outage that clients noticed.
fn answers_ns(run: &RunRead, key: RepeatKey) -> Vec<u64> {
    let events = run.events.iter();
    let of_repeat = events.filter(|event| event.repeat == Some(key));
    let back = of_repeat.filter(|event| matches!(event.kind, EventKind::BrokerBack { .. }));
    let mut answers: Vec<u64> = back.filter_map(|event| event.at_ns).collect();
    answers.sort_unstable();
    answers
}

/// What was counted in each second, stages together. A second in which nothing happened is missing.
fn acks(flow: &FlowRead) -> BTreeMap<u32, Counts> {
    let mut seconds = BTreeMap::<u32, Counts>::new();
    for read in &flow.seconds {
        seconds.entry(read.second).or_default().add(&read.counts);
    }
    seconds
}

/// A time without acks although records waited, in nanoseconds since the start of the repeat.
#[derive(Clone, Copy, Debug)]
struct Silence {
    start_ns: u64,
    end_ns: u64,
    is_exact: bool,
    has_ended: bool,
}

impl Silence {
    fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// The longest one from the second of the fault on.
    fn longest(seconds: &BTreeMap<u32, Counts>, fault_ns: u64, answers: &[u64]) -> Option<Silence> {
        let since = u32::try_from(fault_ns / SECOND_NS).ok()?;
        let is_silent = |counts: &Counts| {
            let waits = counts.in_flight_record_ns > 0 || counts.records_scheduled > 0;
            counts.records_acked == 0 && waits
        };
        let silent = seconds.range(since..);
        let silent = silent.filter(|(_, counts)| is_silent(counts));
        let silent: Vec<u32> = silent.map(|(second, _)| *second).collect();
        let spans = silent.chunk_by(|one, next| one.checked_add(1) == Some(*next));
        let silences = spans.filter_map(|span| {
            let span = (*span.first()?, *span.last()?);
            Some(Silence::over(seconds, span, fault_ns, answers))
        });
        silences.max_by_key(Silence::length_ns)
    }

    /// From the last ack before some silent seconds to the first one after them. The last ack is where the acks of its
    /// second end at the usual rate; the first one is when a broker answered again.
    fn over(
        seconds: &BTreeMap<u32, Counts>,
        (first, last): (u32, u32),
        fault_ns: u64,
        answers: &[u64],
    ) -> Silence {
        let second_ns = |second: u64| second * SECOND_NS;
        let acked_before = |second: u32| {
            let counts = seconds.get(&second)?;
            let usual = usual_acks(seconds, second);
            let part = (usual > 0.0).then(|| (counts.records_acked as f64 / usual).min(1.0))?;
            Some(second_ns(u64::from(second)) + (part * SECOND_NS as f64) as u64)
        };
        let last_ack_ns = first.checked_sub(1).and_then(acked_before);
        let start_ns = last_ack_ns.unwrap_or(second_ns(u64::from(first)));
        let end = u64::from(last) + 1;
        let (earliest, latest) = (second_ns(end), second_ns(end + 1));
        let answer = answers
            .iter()
            .find(|at_ns| (earliest..latest).contains(*at_ns));
        let mut later = seconds.range(last..);
        Silence {
            start_ns: start_ns.max(fault_ns),
            end_ns: answer.copied().unwrap_or(earliest),
            is_exact: answer.is_some(),
            has_ended: later.any(|(_, counts)| counts.records_acked > 0),
        }
    }
}

/// Acks in a second before this one, a mean over a few.
fn usual_acks(seconds: &BTreeMap<u32, Counts>, before: u32) -> f64 {
    let known = seconds.range(before.saturating_sub(USUAL_SECONDS)..before);
    let acked: Vec<f64> = known
        .map(|(_, counts)| counts.records_acked as f64)
        .collect();
    acked.iter().sum::<f64>() / acked.len().max(1) as f64
}

fn longest_response_ns(flow: &FlowRead, fault_ns: u64) -> Option<u64> {
    let since = fault_ns / SECOND_NS;
    let seconds = flow.seconds.iter();
    let due = seconds.filter(|read| u64::from(read.second) >= since);
    let times = due.filter_map(|read| read.times.get(&TimeKind::Response));
    times.map(|times| times.max_ns).max()
}

/// From the fault until leaders had moved and every partition had one.
fn new_leaders_ns(run: &RunRead, key: RepeatKey, fault_ns: u64) -> Option<u64> {
    let evidence = run.evidence.iter();
    let of_repeat = evidence.filter(|line| line.repeat == Some(key));
    let mut changes: Vec<(u64, &PartitionChange)> = of_repeat
        .filter_map(|line| match &line.kind {
            EvidenceKind::Partition(change) => Some((line.at_ns?, change)),
            _ => None,
        })
        .filter(|(at_ns, _)| *at_ns >= fault_ns)
        .collect();
    changes.sort_by_key(|(at_ns, _)| *at_ns);
    let mut leaderless: BTreeSet<(&str, i32)> = BTreeSet::new();
    // Changes of one sample belong together.
    for sample in changes.chunk_by(|one, next| one.0 == next.0) {
        let mut is_any_moved = false;
        for (_, change) in sample {
            let partition = (change.topic.as_str(), change.partition);
            match change.leader {
                None => {
                    leaderless.insert(partition);
                }
                Some(_) => {
                    is_any_moved |= change.leader != change.leader_before;
                    leaderless.remove(&partition);
                }
            }
        }
        if is_any_moved && leaderless.is_empty() {
            return sample.first().map(|(at_ns, _)| at_ns - fault_ns);
        }
    }
    None
}
