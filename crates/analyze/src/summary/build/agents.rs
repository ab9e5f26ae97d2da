//! What the agents of a trial did, and which of them differs from the others.

use std::collections::BTreeSet;

use kgauge_results::folder::RepeatRead;
use kgauge_results::run::AgentRecord;

use super::hold::MeasuredRepeats;
use crate::summary::{
    AgentLossSummary, AgentSummary, AgentsSummary, Warning, WarningFinding as Finding,
};

/// Lateness below this is nobody's trouble, however late the others are: five times what counts as late.
const LATE_NS: u64 = 5_000_000;

/// An agent is named if it is that many times as late as the median of the others.
const LATE_RATIO: u64 = 5;

/// A limit on CPU time that is reached in fewer periods shows in no figure.
const THROTTLED_PART: f64 = 0.01;

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
    })
}

/// Warnings about agents: lost ones, and the one that is worse than the others.
pub(super) fn warnings(summary: &AgentsSummary) -> Vec<Warning> {
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
        let summary = AgentsSummary {
            count: 1,
            start_bound_ns: None,
            start_late_ns_max: None,
            clock_bound_ns_max: None,
            agents: vec![throttled],
            lost: Vec::new(),
        };
        let kinds = warnings(&summary);
        assert_eq!(kinds.len(), 1);
        assert!(matches!(
            kinds[0].finding,
            Finding::AgentThrottled { part, .. } if part > 0.2
        ));
    }
}
