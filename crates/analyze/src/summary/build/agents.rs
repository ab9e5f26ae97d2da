//! What the agents of a trial did, and which of them differs from the others.

use std::collections::BTreeSet;

use kgauge_results::folder::RepeatRead;
use kgauge_results::run::{AgentNetworkRecord, AgentRecord};
use kgauge_scenario::{FlowPlan, Shape, Share, Stripe, Trial};

use super::hold::MeasuredRepeats;
use crate::summary::{
    AgentLossSummary, AgentNetworkSummary, AgentSummary, AgentsSummary, Warning,
    WarningFinding as Finding,
};

/// Lateness below this is nobody's trouble, however late the others are: five times what counts as late.
const LATE_NS: u64 = 5_000_000;

/// An agent is named if it is that many times as late as the median of the others.
const LATE_RATIO: u64 = 5;

/// A limit on CPU time that is reached in fewer periods shows in no figure.
const THROTTLED_PART: f64 = 0.01;

/// A network card that is full for more of the time limits its agent, as the lead's own would.
const FULL_TIME_PART: f64 = 0.50;

/// A producer at full speed that sends less than this part of the others' median is slow: seconds of equal producers
/// differ much less.
const SLOW_PART: f64 = 0.50;

/// The agents of a trial; `None` if one process generated its load.
pub(super) fn agents(measured: &MeasuredRepeats<'_>) -> Option<AgentsSummary> {
    let of_repeats = |repeats: &[&RepeatRead]| -> Vec<(u32, u64, AgentRecord)> {
        let records = repeats.iter().filter_map(|repeat| repeat.record.as_ref());
        let each = records.flat_map(|record| {
            let span_ns = record.cpu.map_or(0, |cpu| cpu.span_ns);
            let agents = record.agents.iter().cloned();
            agents.map(move |agent| (record.key.repeat, span_ns, agent))
        });
        each.collect()
    };
    let attempts = of_repeats(&measured.attempts);
    let indexes: BTreeSet<u32> = attempts.iter().map(|(_, _, agent)| agent.index).collect();
    if indexes.is_empty() {
        return None;
    }
    let all = of_repeats(&measured.repeats);
    let largest = |of: fn(&AgentRecord) -> Option<u64>| {
        let each = all.iter().filter_map(|(_, _, agent)| of(agent));
        each.max()
    };
    let lost = attempts.iter().filter_map(|(repeat, _, agent)| {
        let lost = agent.lost.as_ref()?;
        Some(AgentLossSummary {
            repeat: *repeat,
            name: agent.name.clone(),
            at_ns: lost.at_ns,
            why: lost.why.clone(),
        })
    });
    Some(AgentsSummary {
        count: u32::try_from(indexes.len()).unwrap_or(u32::MAX),
        start_bound_ns: largest(|agent| agent.start_bound_ns),
        start_late_ns_max: largest(|agent| agent.start_late_ns),
        clock_bound_ns_max: largest(|agent| agent.clock.map(|clock| clock.bound_ns_max)),
        agents: indexes
            .into_iter()
            .filter_map(|index| one(index, &all))
            .collect(),
        lost: lost.collect(),
    })
}

/// Whether a repeat that figures are made from lost an agent.
pub(super) fn has_lost(measured: &MeasuredRepeats<'_>) -> bool {
    measured_agents(measured).any(|agent| agent.lost.is_some())
}

/// Whether the machine of the lead generated the load.
pub(super) fn are_local(measured: &MeasuredRepeats<'_>) -> bool {
    measured_agents(measured).all(|agent| agent.is_local)
}

fn measured_agents<'a>(measured: &'a MeasuredRepeats<'_>) -> impl Iterator<Item = &'a AgentRecord> {
    let repeats = measured.repeats.iter();
    let records = repeats.filter_map(|repeat| repeat.record.as_ref());
    records.flat_map(|record| &record.agents)
}

/// One agent over its repeats.
fn one(index: u32, all: &[(u32, u64, AgentRecord)]) -> Option<AgentSummary> {
    let own = || all.iter().filter(|(_, _, agent)| agent.index == index);
    let first = own().next()?;
    let largest =
        |of: fn(&AgentRecord) -> Option<u64>| own().filter_map(|(_, _, agent)| of(agent)).max();
    let part_max = |of: fn(&AgentRecord) -> Option<u64>| {
        let parts = own().filter(|(_, span_ns, _)| *span_ns > 0);
        let parts =
            parts.filter_map(|(_, span_ns, agent)| Some(of(agent)? as f64 / *span_ns as f64));
        parts.reduce(f64::max)
    };
    // A file from elsewhere may contain anything.
    let sum = |of: fn(&AgentRecord) -> Option<u64>| {
        let each = own().filter_map(|(_, _, agent)| of(agent));
        each.fold(0, u64::saturating_add)
    };
    let periods = sum(|agent| agent.cpu_limit_periods);
    let throttled = sum(|agent| agent.cpu_limit_periods_throttled);
    Some(AgentSummary {
        name: first.2.name.clone(),
        records_acked: sum(|agent| Some(agent.records_acked)),
        threads: own().map(|(_, _, agent)| agent.threads).max().unwrap_or(0),
        thread_use_max: part_max(|agent| agent.thread_cpu_ns_max),
        cores_max: part_max(|agent| agent.process_cpu_ns),
        lag_ns_p99: largest(|agent| agent.lag_ns_p99),
        throttled_part: (periods > 0).then(|| throttled as f64 / periods as f64),
        clock_bound_ns_max: largest(|agent| agent.clock.map(|clock| clock.bound_ns_max)),
        ceiling_part: own()
            .filter(|(_, span_ns, agent)| *span_ns > 0 && agent.threads > 0)
            .filter_map(|(_, span_ns, agent)| {
                let can_ns = *span_ns as f64 * f64::from(agent.threads);
                Some(agent.full_speed_ns? as f64 / can_ns)
            })
            .reduce(f64::max),
        network: own()
            .filter_map(|(_, _, agent)| network(agent.network.as_ref()?))
            .max_by(|one, other| carried(one).total_cmp(&carried(other))),
    })
}

fn network(record: &AgentNetworkRecord) -> Option<AgentNetworkSummary> {
    let per_s = |bytes: u64| bytes as f64 * 1e9 / record.span_ns as f64;
    let (received, sent) = (per_s(record.received_bytes), per_s(record.sent_bytes));
    let speed = record.bits_per_s.filter(|bits_per_s| *bits_per_s > 0);
    let speed = speed.map(|bits_per_s| bits_per_s as f64 / 8.0);
    (record.span_ns > 0).then(|| AgentNetworkSummary {
        interface: record.interface.clone(),
        received_bytes_per_s: received,
        sent_bytes_per_s: sent,
        speed_bytes_per_s: speed,
        used_part: speed.map(|speed| received.max(sent) / speed),
        full_time_part: record.full_ns as f64 / record.span_ns as f64,
    })
}

fn carried(network: &AgentNetworkSummary) -> f64 {
    network.received_bytes_per_s + network.sent_bytes_per_s
}

/// Warnings about agents: lost ones, and the one that is worse than the others.
pub(super) fn warnings(trial: Option<&Trial>, summary: &AgentsSummary) -> Vec<Warning> {
    let mut found: Vec<Finding> = Vec::new();
    for lost in &summary.lost {
        found.push(Finding::AgentLost {
            repeat: lost.repeat,
            agent: lost.name.clone(),
            at_ns: lost.at_ns,
            why: lost.why.clone(),
        });
    }
    found.extend(late_agent(&summary.agents));
    for agent in &summary.agents {
        if let Some(part) = agent.throttled_part.filter(|part| *part > THROTTLED_PART) {
            found.push(Finding::AgentThrottled {
                agent: agent.name.clone(),
                part,
            });
        }
    }
    for agent in &summary.agents {
        let network = agent.network.as_ref();
        if let Some(network) = network.filter(|network| network.full_time_part > FULL_TIME_PART) {
            found.push(Finding::AgentNetworkFull {
                agent: agent.name.clone(),
                interface: network.interface.clone(),
                full_time_part: network.full_time_part,
            });
        }
    }
    if let Some(trial) = trial.filter(|_| summary.lost.is_empty()) {
        found.extend(slow_agent(&full_speed_producers(trial, summary), summary));
    }
    let warning = |finding| Warning {
        flow: None,
        finding,
    };
    found.into_iter().map(warning).collect()
}

/// The only agent that is late.
fn late_agent(agents: &[AgentSummary]) -> Option<Finding> {
    let mut by_lag: Vec<(u64, &AgentSummary)> = agents
        .iter()
        .filter(|agent| agent.threads > 0)
        .filter_map(|agent| Some((agent.lag_ns_p99?, agent)))
        .collect();
    by_lag.sort_by_key(|(lag_ns, _)| *lag_ns);
    let (worst_ns, worst) = by_lag.pop()?;
    let others_ns = by_lag.get(by_lag.len() / 2)?.0;
    let second_ns = by_lag.last()?.0;
    let is_late = |lag_ns: u64| lag_ns >= LATE_NS.max(others_ns.saturating_mul(LATE_RATIO));
    (is_late(worst_ns) && !is_late(second_ns)).then(|| Finding::AgentLate {
        agent: worst.name.clone(),
        lag_ns_p99: worst_ns,
        others_ns_p99: others_ns,
    })
}

/// How many producers at full speed each agent runs; none if other flows, or numbers of records, decide what it sends.
fn full_speed_producers(trial: &Trial, summary: &AgentsSummary) -> Vec<u32> {
    let is_at_full_speed = |flow: &FlowPlan| match flow {
        FlowPlan::Produce(flow) => flow.shape == Shape::Max && flow.records_max.is_none(),
        FlowPlan::Consume(_) | FlowPlan::Echo(_) => false,
    };
    if !trial.flows.iter().all(is_at_full_speed) {
        return Vec::new();
    }
    let (share, count) = (Share::of_trial(trial.clone(), 0), summary.count);
    let of_agent = |index: u32| {
        let share = share.of_agent(Stripe { index, count });
        let flows = trial.flows.iter().filter_map(FlowPlan::produces);
        flows
            .map(|flow| share.members(&flow.name, flow.producers).count() as u32)
            .sum::<u32>()
    };
    (0..count).map(of_agent).collect()
}

/// The only agent whose producers at full speed send much less than those of the others.
fn slow_agent(producers: &[u32], summary: &AgentsSummary) -> Option<Finding> {
    if producers.len() != summary.agents.len() {
        return None;
    }
    let each = producers.iter().zip(&summary.agents);
    let each = each.filter(|(producers, _)| **producers > 0);
    let mut by_rate: Vec<(f64, &AgentSummary)> = each
        .map(|(producers, agent)| (agent.records_acked as f64 / f64::from(*producers), agent))
        .collect();
    by_rate.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let (slowest, agent) = by_rate.pop()?;
    let others = by_rate.get(by_rate.len() / 2)?.0;
    let second = by_rate.last()?.0;
    let is_slow = |records: f64| records < SLOW_PART * others;
    (is_slow(slowest) && !is_slow(second)).then(|| Finding::AgentSlow {
        agent: agent.name.clone(),
        part: slowest / others,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str, lag_ms: u64) -> AgentSummary {
        AgentSummary {
            name: name.to_owned(),
            records_acked: 1,
            threads: 1,
            thread_use_max: None,
            cores_max: None,
            lag_ns_p99: Some(lag_ms * 1_000_000),
            throttled_part: None,
            clock_bound_ns_max: None,
            ceiling_part: None,
            network: None,
        }
    }

    fn agents(agents: Vec<AgentSummary>) -> AgentsSummary {
        AgentsSummary {
            count: u32::try_from(agents.len()).unwrap_or(0),
            start_bound_ns: None,
            start_late_ns_max: None,
            clock_bound_ns_max: None,
            agents,
            lost: Vec::new(),
        }
    }

    #[test]
    fn a_single_bad_agent_is_named_and_agents_that_are_all_late_are_not() {
        let agents = [agent("a", 1), agent("b", 40), agent("c", 2)];
        let late = late_agent(&agents);
        let expected = Finding::AgentLate {
            agent: "b".to_owned(),
            lag_ns_p99: 40_000_000,
            others_ns_p99: 2_000_000,
        };
        assert_eq!(late, Some(expected));
        assert_eq!(late_agent(&[agent("a", 50), agent("b", 40)]), None);
        assert_eq!(late_agent(&[agent("a", 1), agent("b", 4)]), None);
        assert_eq!(late_agent(&[agent("a", 900)]), None);
        let two_of_four = [agent("a", 1), agent("b", 40), agent("c", 50), agent("d", 1)];
        assert_eq!(late_agent(&two_of_four), None);
    }

    #[test]
    fn an_agent_that_its_cpu_limit_held_back_is_named() {
        let mut throttled = agent("a", 0);
        throttled.throttled_part = Some(0.3);
        let kinds = warnings(None, &agents(vec![throttled]));
        assert_eq!(kinds.len(), 1);
        assert!(matches!(
            kinds[0].finding,
            Finding::AgentThrottled { part, .. } if part > 0.2
        ));
    }

    #[test]
    fn a_full_network_card_is_named_and_one_of_unknown_speed_is_not() {
        let record = AgentNetworkRecord {
            interface: "eth0".to_owned(),
            span_ns: 10_000_000_000,
            received_bytes: 5_000,
            sent_bytes: 1_180_000_000,
            bits_per_s: Some(1_000_000_000),
            full_ns: 9_000_000_000,
        };
        let mut busy = agent("a", 0);
        busy.network = network(&record);
        let mut unknown = agent("b", 0);
        unknown.network = network(&AgentNetworkRecord {
            bits_per_s: None,
            full_ns: 0,
            ..record.clone()
        });
        assert_eq!(unknown.network.as_ref().and_then(|one| one.used_part), None);
        let used = busy.network.as_ref().and_then(|one| one.used_part);
        assert!(
            used.is_some_and(|used| (used - 0.944).abs() < 1e-9),
            "{used:?}"
        );
        let found = warnings(None, &agents(vec![busy, unknown]));
        let expected = Finding::AgentNetworkFull {
            agent: "a".to_owned(),
            interface: "eth0".to_owned(),
            full_time_part: 0.9,
        };
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].finding, expected);
        assert_eq!(
            network(&AgentNetworkRecord {
                span_ns: 0,
                ..record
            }),
            None
        );
    }

    #[test]
    fn a_slow_agent_is_judged_by_its_number_of_producers() {
        let sent = |records: [u64; 4]| {
            let names = ["a", "b", "c", "d"].into_iter().zip(records);
            agents(
                names
                    .map(|(name, records_acked)| AgentSummary {
                        records_acked,
                        ..agent(name, 0)
                    })
                    .collect(),
            )
        };
        // The first agent has two producers, and the last one none.
        let producers = [2, 1, 1, 0];
        assert_eq!(slow_agent(&producers, &sent([200, 100, 90, 0])), None);
        let slow = slow_agent(&producers, &sent([200, 100, 30, 0]));
        let expected = Finding::AgentSlow {
            agent: "c".to_owned(),
            part: 0.3,
        };
        assert_eq!(slow, Some(expected));
        assert_eq!(slow_agent(&[1, 1, 1, 1], &sent([100, 90, 10, 10])), None);
        assert_eq!(slow_agent(&[], &sent([1, 2, 3, 4])), None);
    }
}
