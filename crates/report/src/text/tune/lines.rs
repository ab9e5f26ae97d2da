//! The lines of properties files that set what a winner changes, each with its reason.

use kgauge_analyze::summary::{SettingLine, TuneSummary};
use kgauge_analyze::tuning::table::{SettingCost, SettingRisk};
use kgauge_scenario::SettingScope;

use super::{changed, figure_name};

/// kgauge's own key for what Kafka's clients do by default since 2.4.
const STICKY: (&str, &str) = ("partitioner", "sticky");

/// `batch.size=131072, linger.ms=20`.
pub(crate) fn names(changes: &[SettingLine]) -> String {
    let lines: Vec<String> = changes.iter().flat_map(pairs).collect();
    match lines.is_empty() {
        true => "the settings in force".to_owned(),
        false => lines.join(", "),
    }
}

fn pairs(line: &SettingLine) -> Vec<String> {
    let pairs = line.names.iter().zip(&line.values);
    pairs
        .map(|(name, value)| format!("{}={value}", name.strip_prefix("topic.").unwrap_or(name)))
        .collect()
}

/// The lines of a properties file.
pub(crate) fn properties(line: &SettingLine) -> Vec<String> {
    let mut lines = pairs(line);
    let is_sticky = line.names.iter().zip(&line.values);
    for (text, (name, value)) in lines.iter_mut().zip(is_sticky) {
        if (name.as_str(), value.as_str()) == STICKY {
            *text = "# remove partitioner.class: sticky is the default of clients since Kafka 2.4"
                .to_owned();
        }
    }
    lines
}

/// Why a line is there: its value in force, its effect alone, its cost and its risk.
pub(crate) fn because(search: &TuneSummary, line: &SettingLine) -> String {
    let mut parts = Vec::new();
    parts.extend(line.today.as_ref().map(|today| format!("was {today}")));
    parts.push(match line.ratio {
        Some(ratio) => format!(
            "{} {} in the screening",
            figure_name(search),
            changed(ratio)
        ),
        None if search.preset.is_some() => "part of the preset".to_owned(),
        None => "measured in the proof".to_owned(),
    });
    parts.extend(line.cost.and_then(cost).map(|cost| format!("costs {cost}")));
    parts.extend(line.risk.and_then(risk).map(str::to_owned));
    parts.join("; ")
}

fn cost(cost: SettingCost) -> Option<&'static str> {
    Some(match cost {
        SettingCost::None => return None,
        SettingCost::Latency => "latency",
        SettingCost::ClientCpu => "CPU time of clients",
        SettingCost::ClientMemory => "memory of clients",
        SettingCost::BrokerMemory => "memory of brokers",
        SettingCost::BrokerCpu => "CPU time of brokers",
        SettingCost::BrokerFiles => "open files and replication work of brokers",
    })
}

fn risk(risk: SettingRisk) -> Option<&'static str> {
    Some(match risk {
        SettingRisk::None => return None,
        SettingRisk::CannotBeUndone => "cannot be undone",
        SettingRisk::Restart => "needs a restart of the brokers",
        SettingRisk::Loss => "acked records may be lost",
    })
}

/// The file or place that a setting belongs to.
pub(crate) fn place(scope: SettingScope) -> &'static str {
    match scope {
        SettingScope::Client => "client.properties",
        SettingScope::Topic => "topic",
        SettingScope::Broker => "server.properties",
    }
}
