//! Agents: how well they started together and how well their clocks are known, and what is wrong with one.

use kgauge_analyze::summary::{AgentsSummary, WarningFinding as Finding};

use crate::format;

/// What holds for all agents of a trial, then for each.
pub fn sentences(agents: &AgentsSummary) -> Vec<String> {
    let mut sentences = vec![together(agents)];
    sentences.extend(agents.agents.iter().map(|agent| {
        let mut facts = vec![format::counted(agent.records_acked, "record") + " acked"];
        if let Some(used) = agent.thread_use_max {
            facts.push(format!(
                "busiest thread {} of a core",
                format::percent(used)
            ));
        }
        if let Some(lag_ns) = agent.lag_ns_p99 {
            facts.push(format!(
                "lateness p99 {}",
                format::nanoseconds(lag_ns as f64)
            ));
        }
        if let Some(bound_ns) = agent.clock_bound_ns_max {
            facts.push(format!("clock ±{}", format::nanoseconds(bound_ns as f64)));
        }
        if let Some(part) = agent.ceiling_part {
            facts.push(format!("{} of its full speed", format::percent(part)));
        }
        if let Some(network) = &agent.network
            && let Some(used) = network.used_part
        {
            let (interface, used) = (&network.interface, format::percent(used));
            facts.push(format!("{interface} {used} of its speed"));
        }
        if let Some(part) = agent.throttled_part {
            facts.push(format!("throttled {} of the time", format::percent(part)));
        }
        format!("{}: {}.", agent.name, facts.join(", "))
    }));
    sentences
}

/// `4 agents started within ±38 µs of the agreed time, the last one 58 µs late by its own clock. The largest error of a
/// clock was ±52 µs.`
fn together(agents: &AgentsSummary) -> String {
    let count = format::counted(agents.count.into(), "agent");
    let Some(start_ns) = agents.start_bound_ns else {
        return format!("{count} generated the load.");
    };
    let mut sentence = format!(
        "{count} started within ±{} of the agreed time",
        format::nanoseconds(start_ns as f64)
    );
    if let Some(late_ns) = agents.start_late_ns_max {
        let late = format::nanoseconds(late_ns as f64);
        sentence.push_str(&format!(", the last one {late} late by its own clock"));
    }
    sentence.push('.');
    if let Some(bound_ns) = agents.clock_bound_ns_max {
        let bound = format::nanoseconds(bound_ns as f64);
        sentence.push_str(&format!(" The largest error of a clock was ±{bound}."));
    }
    sentence
}

/// `4 agents`.
pub(crate) fn condition(agents: &AgentsSummary) -> String {
    format::counted(agents.count.into(), "agent")
}

/// The text of a warning about an agent.
pub(super) fn warning(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::AgentLost {
            repeat,
            agent,
            at_ns,
            why,
        } => {
            let when = match at_ns {
                0 => "before it began".to_owned(),
                at_ns => format!("after {}", format::nanoseconds(*at_ns as f64)),
            };
            format!(
                "Repeat {repeat}: lost {agent} {when} ({why}). Its records are missing from then on, and nothing was \
                 redistributed."
            )
        }
        Finding::AgentLate {
            agent,
            lag_ns_p99,
            others_ns_p99,
        } => format!(
            "{agent} sent records late: its lateness p99 was {}; the other agents' median was {}.",
            format::nanoseconds(*lag_ns_p99 as f64),
            format::nanoseconds(*others_ns_p99 as f64)
        ),
        Finding::AgentThrottled { agent, part } => format!(
            "A CPU limit throttled {agent} in {} of its periods.",
            format::percent(*part)
        ),
        Finding::AgentNetworkFull {
            agent,
            interface,
            full_time_part,
        } => format!(
            "{interface} of {agent} was saturated for {} of the time, so it limited that agent.",
            format::percent(*full_time_part)
        ),
        Finding::AgentSlow { agent, part } => format!(
            "Each producer on {agent} sent {} of the records of the median producer on the other agents.",
            format::percent(*part)
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_start_and_clocks_are_printed() {
        let agents = AgentsSummary {
            count: 4,
            start_bound_ns: Some(38_000),
            start_late_ns_max: None,
            clock_bound_ns_max: Some(52_000),
            agents: Vec::new(),
            lost: Vec::new(),
        };
        let sentence = together(&agents);
        assert!(
            sentence.starts_with("4 agents started within ±38"),
            "{sentence}"
        );
        assert!(sentence.contains("error of a clock was ±52"), "{sentence}");
    }

    #[test]
    fn a_lost_agent_is_named_with_the_time_of_its_loss() {
        let lost = Finding::AgentLost {
            repeat: 1,
            agent: "agent 2".to_owned(),
            at_ns: 3_000_000_000,
            why: "the connection was closed".to_owned(),
        };
        let text = warning(&lost).unwrap_or_default();
        assert!(text.starts_with("Repeat 1: lost agent 2 after 3"), "{text}");
        assert_eq!(warning(&Finding::DebugBuild), None);
    }
}
