//! Brokers that did not answer, as suspects: by the outages that clients noticed, and by whole seconds in which records
//! waited and nothing was acked.

use std::collections::BTreeMap;

use super::facts::{Facts, HoldEvidence};
use super::{Findings, Weight};
use crate::summary::{Bottleneck, FlowKind, FlowSummary, words};
use kgauge_results::folder::RepeatRead;
use kgauge_results::run::{Event, EventKind, OutageCause};
use kgauge_results::stage::{SECOND_NS, Stage};

/// Without answers for so much of the hold, that is what limited it.
const SILENT_PART: f64 = 0.05;
/// From here up it is a suspect.
const SILENT_PART_NEAR: f64 = 0.01;
/// Fewer seconds in a row may be one slow request.
const SILENT_S: u64 = 2;
/// A record that waited for so much of a second makes it one without answers.
const WAITING_NS: u64 = 900_000_000;

/// An outage of one broker, over all holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outage {
    broker: i32,
    address: String,
    ns: u64,
    cause: OutageCause,
    /// No other broker took over what it led.
    is_felt: bool,
}

/// How a broker did not answer, for the verdict's sentence: `broker 1 (127.0.0.1:9092) did not answer for 4.00 s of
/// 8.00 s`.
pub(super) fn find(facts: &Facts<'_>, findings: &mut Findings) -> Option<String> {
    let hold_ns: u64 = facts.holds.iter().map(HoldEvidence::length_ns).sum();
    let outages = outages(facts);
    let silent_ns = silent_ns(facts);
    let felt = outages.iter().filter(|outage| outage.is_felt);
    let felt_ns = felt.map(|outage| outage.ns).max().unwrap_or(0);
    let part = |ns: u64| ns as f64 / hold_ns.max(1) as f64;
    let lost = waited_part(facts).max(part(felt_ns)).max(part(silent_ns));
    let any = outages.iter().map(|outage| part(outage.ns));
    let any = any.fold(lost, f64::max);
    let weight = Weight::of(lost >= SILENT_PART, any >= SILENT_PART_NEAR);
    if weight == Weight::None {
        return None;
    }
    let of = words::time(hold_ns as f64);
    let named: Vec<String> = outages.iter().map(|outage| outage.words(&of)).collect();
    for words in &named {
        findings.note(Bottleneck::Broker, weight, format!("{}.", capital(words)));
    }
    if silent_ns > 0 {
        let said = format!(
            "No record was acked for {} of {of} although records were waiting.",
            words::time(silent_ns as f64)
        );
        findings.note(Bottleneck::Broker, weight, said);
    }
    if named.is_empty() && silent_ns == 0 {
        let said = format!(
            "For {} of the time, clients lacked a connection to a required broker or a partition \
             had no leader.",
            words::percent(lost)
        );
        findings.note(Bottleneck::Broker, weight, said);
    }
    let why = facts
        .measured
        .begun
        .iter()
        .filter_map(|repeat| failure(repeat));
    findings.evidence.extend(why);
    let silent = words::time(silent_ns as f64);
    Some(match named.is_empty() {
        false => named.join(", and "),
        true if silent_ns > 0 => format!("the target did not respond for {silent} of {of}"),
        true => "a broker was unreachable".to_owned(),
    })
}

impl Outage {
    fn words(&self, of: &str) -> String {
        let how = match self.cause {
            OutageCause::Unconnected => " (connections failed)",
            OutageCause::Silent => " (connections stayed open)",
            OutageCause::Unknown => "",
        };
        format!(
            "broker {} at {} did not respond for {} of {of}{how}",
            self.broker,
            self.address,
            words::time(self.ns as f64)
        )
    }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Why a repeat failed, in the target's own words where there are any.
fn failure(repeat: &RepeatRead) -> Option<String> {
    let record = repeat.record.as_ref()?;
    match &record.outcome {
        kgauge_results::run::RepeatOutcome::Failed { why } => {
            Some(format!("Repeat {} failed: {why}", repeat.key.repeat + 1))
        }
        kgauge_results::run::RepeatOutcome::Complete
        | kgauge_results::run::RepeatOutcome::Interrupted => None,
    }
}

/// All that clients noticed, by broker, as far as it lies in a hold.
fn outages(facts: &Facts<'_>) -> Vec<Outage> {
    let mut by_broker = BTreeMap::<i32, Outage>::new();
    for hold in &facts.holds {
        let events: Vec<&Event> = facts
            .run
            .events
            .iter()
            .filter(|event| event.repeat == Some(hold.key))
            .collect();
        for event in &events {
            let EventKind::BrokerUnreachable {
                broker,
                address,
                since_ns,
                cause,
                partitions_without_leader,
                ..
            } = &event.kind
            else {
                continue;
            };
            let end_ns = end_of(&events, *broker, *since_ns).unwrap_or(hold.end_ns);
            let ns = end_ns
                .min(hold.end_ns)
                .saturating_sub((*since_ns).max(hold.start_ns));
            if ns == 0 {
                continue;
            }
            let outage = by_broker.entry(*broker).or_insert_with(|| Outage {
                broker: *broker,
                address: address.clone(),
                ns: 0,
                cause: *cause,
                is_felt: false,
            });
            outage.ns = outage.ns.saturating_add(ns);
            outage.is_felt |= *partitions_without_leader != Some(0);
        }
    }
    by_broker.into_values().collect()
}

/// When an outage ended.
fn end_of(events: &[&Event], of: i32, since: u64) -> Option<u64> {
    events.iter().find_map(|event| match event.kind {
        EventKind::BrokerBack {
            broker, since_ns, ..
        } if broker == of && since_ns == since => event.at_ns,
        _ => None,
    })
}

/// For how long nothing was acked although records waited, of the flow that waited longest.
fn silent_ns(facts: &Facts<'_>) -> u64 {
    let flows = facts.trial.flows.iter();
    let sends = flows.filter(|flow| matches!(flow.kind, FlowKind::Produce | FlowKind::Echo));
    let silent = sends.map(|flow| {
        let repeats = facts.measured.repeats.iter();
        let seconds: u64 = repeats.map(|repeat| silent_seconds(repeat, flow)).sum();
        seconds * SECOND_NS
    });
    silent.max().unwrap_or(0)
}

/// Seconds in the hold without an ack, several in a row.
fn silent_seconds(repeat: &RepeatRead, flow: &FlowSummary) -> u64 {
    let Some(read) = repeat.flows.get(&flow.index) else {
        return 0;
    };
    let (mut all, mut in_a_row, mut next) = (0, 0, None);
    for second in read.seconds.iter().filter(|one| one.stage == Stage::Hold) {
        let counts = &second.counts;
        let is_silent = counts.records_acked == 0 && counts.in_flight_record_ns >= WAITING_NS;
        in_a_row = match is_silent && next.is_none_or(|next| next == second.second) {
            true => in_a_row + 1,
            false => u64::from(is_silent),
        };
        next = Some(second.second + second.seconds);
        all += match in_a_row {
            SILENT_S => SILENT_S,
            longer if longer > SILENT_S => 1,
            _ => 0,
        };
    }
    all
}

/// For which part of the time clients without room had no connection or no leader, of the flow that had least.
fn waited_part(facts: &Facts<'_>) -> f64 {
    let flows = facts.trial.flows.iter();
    let parts = flows.flat_map(|flow| facts.clients(flow.index));
    let parts =
        parts.filter_map(|client| Some(client.waits?.unconnected + client.waits?.leaderless));
    parts.fold(0.0, f64::max)
}
