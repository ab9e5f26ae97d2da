//! Brokers that did not answer, as suspects: by the outages that clients noticed, and by whole seconds in which records
//! waited and nothing was acked.

use std::collections::BTreeMap;

use super::super::unreachable::broker_silences;
use super::facts::{Facts, HoldEvidence};
use super::{Findings, Weight};
use crate::summary::{Bottleneck, BrokerOutage, FlowKind, FlowSummary, LimitFact, OutageFact};
use kgauge_results::folder::RepeatRead;
use kgauge_results::run::RepeatOutcome;
use kgauge_results::stage::{SECOND_NS, Stage};

/// Without responses for this share of the hold, an outage is the bottleneck.
const SILENT_PART: f64 = 0.05;
/// From here up it is a suspect.
const SILENT_PART_NEAR: f64 = 0.01;
/// Fewer seconds in a row may be one slow request.
const SILENT_S: u64 = 2;
/// A second counts as one without responses if a record waited for this share of it.
const WAITING_NS: u64 = 900_000_000;

/// An outage of one broker, over all holds.
#[derive(Debug, Clone, PartialEq)]
struct Outage {
    fact: BrokerOutage,
    /// No other broker took over what it led.
    is_felt: bool,
}

/// Which brokers did not answer.
pub(super) fn find(facts: &Facts<'_>, findings: &mut Findings) -> Option<OutageFact> {
    let hold_ns: u64 = facts.holds.iter().map(HoldEvidence::length_ns).sum();
    let outages = outages(facts, hold_ns);
    // Seconds at the edges of a hold count in whole.
    let silent_ns = silent_ns(facts).min(hold_ns);
    let felt = outages.iter().filter(|outage| outage.is_felt);
    let felt_ns = felt.map(|outage| outage.fact.length_ns).max().unwrap_or(0);
    let part = |ns: u64| ns as f64 / hold_ns.max(1) as f64;
    let lost = waited_part(facts).max(part(felt_ns)).max(part(silent_ns));
    let any = outages.iter().map(|outage| part(outage.fact.length_ns));
    let any = any.fold(lost, f64::max);
    let weight = Weight::of(lost >= SILENT_PART, any >= SILENT_PART_NEAR);
    if weight == Weight::None {
        return None;
    }
    let brokers: Vec<BrokerOutage> = outages.into_iter().map(|outage| outage.fact).collect();
    for outage in &brokers {
        let outage = outage.clone();
        findings.note(Bottleneck::Broker, weight, LimitFact::Outage { outage });
    }
    if silent_ns > 0 {
        let silence = LimitFact::NothingAcked { silent_ns, hold_ns };
        findings.note(Bottleneck::Broker, weight, silence);
    }
    if brokers.is_empty() && silent_ns == 0 {
        let unreachable = LimitFact::Unreachable { time_part: lost };
        findings.note(Bottleneck::Broker, weight, unreachable);
    }
    let attempts = facts.measured.attempts.iter();
    findings
        .evidence
        .extend(attempts.filter_map(|repeat| failure(repeat)));
    Some(if !brokers.is_empty() {
        OutageFact::Brokers { brokers }
    } else if silent_ns > 0 {
        OutageFact::Target { silent_ns, hold_ns }
    } else {
        OutageFact::Unreachable
    })
}

/// Why a repeat failed, with the target's own message if there is one.
fn failure(repeat: &RepeatRead) -> Option<LimitFact> {
    match &repeat.record.as_ref()?.outcome {
        RepeatOutcome::Failed { why } => Some(LimitFact::RepeatFailed {
            repeat: repeat.key.repeat + 1,
            why: why.clone(),
        }),
        RepeatOutcome::Complete | RepeatOutcome::Interrupted => None,
    }
}

/// All that clients noticed, by broker, as far as it lies in a hold.
fn outages(facts: &Facts<'_>, hold_ns: u64) -> Vec<Outage> {
    let mut by_broker = BTreeMap::<(i32, String), Outage>::new();
    for hold in &facts.holds {
        for silence in broker_silences(facts.run, hold.key) {
            let end_ns = silence.end_ns.unwrap_or(hold.end_ns);
            let ns = end_ns
                .min(hold.end_ns)
                .saturating_sub(silence.since_ns.max(hold.start_ns));
            if ns == 0 {
                continue;
            }
            let address = silence.address.to_owned();
            let outage = by_broker
                .entry((silence.broker, address))
                .or_insert_with_key(|(broker, address)| Outage {
                    fact: BrokerOutage {
                        broker: *broker,
                        address: address.clone(),
                        length_ns: 0,
                        hold_ns,
                        cause: silence.cause,
                    },
                    is_felt: false,
                });
            outage.fact.length_ns = outage.fact.length_ns.saturating_add(ns);
            outage.is_felt |= silence.is_felt;
        }
    }
    by_broker.into_values().collect()
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
