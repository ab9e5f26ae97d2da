//! Tuning, as planned: what is to become better, what has to stay, and which settings may be tried.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ab::{AbMetric, WIDTHS};
use crate::figure::Goal;

/// What tuning is to make better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TuneGoal {
    /// More records per second.
    Throughput,
    /// A shorter time from the intended send to the ack.
    Latency,
    /// Less CPU time of the brokers per record.
    Cost,
}

/// The four design goals of Kafka's own tuning guides: a bundle of settings each, tried as one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TunePreset {
    /// Large batches, compression.
    Throughput,
    /// No waiting, no compression.
    Latency,
    /// All replicas, idempotence.
    Durability,
    /// Writes go on with fewer replicas.
    Availability,
}

impl TunePreset {
    /// Whether it is chosen for a promise, so that what it costs is the answer; not for the figure of the goal.
    pub fn is_of_price(self) -> bool {
        match self {
            TunePreset::Durability | TunePreset::Availability => true,
            TunePreset::Throughput | TunePreset::Latency => false,
        }
    }
}

/// Where a setting belongs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SettingScope {
    /// Producers or consumers: `client.properties`.
    Client,
    /// The topic.
    Topic,
    /// The brokers: `server.properties`.
    Broker,
}

/// A setting that is tried: one path, or several that change together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneSetting {
    /// Its name: `batch.size`.
    pub name: String,
    /// Where it belongs.
    pub scope: SettingScope,
    /// The value in force; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<String>,
    /// The values to try, at least one. The screening tries the first, the race also the others.
    pub values: Vec<TuneValue>,
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneValue {
    /// As properties have it: `65536`.
    pub text: String,
    /// Paths of the scenario and their values, which make the change.
    pub changes: Vec<(String, String)>,
}

/// A search for better settings. It adds trials and repeats while the run goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunePlan {
    /// What is to become better.
    pub goal: TuneGoal,
    /// The figure that shows it.
    pub metric: AbMetric,
    /// A smaller gain counts as none: a share, 0.03 for 3 %.
    pub width: f64,
    /// The time of the whole search.
    pub budget_ns: u64,
    /// What every recommendation has to keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Goal>,
    /// Where settings may change.
    pub scopes: Vec<SettingScope>,
    /// Settings that decide what an ack means may change too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub durability_may_change: bool,
    /// A bundle that is measured in place of a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<TunePreset>,
    /// The user's own candidates, in place of those of the table of settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<TuneSetting>,
    /// What `--set` changed in the scenario: paths and values. A resumed search changes it again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(String, String)>,
    /// The folder of the scenario's file, with the files that it may name; absent for built-in scenarios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// Settings that decide what an ack means, or what survives a failure. Tuning leaves them alone unless the user allows
/// it.
const OF_DURABILITY: &[&str] = &[
    "acks",
    "enable.idempotence",
    "min.insync.replicas",
    "unclean.leader.election.enable",
    "topic.replication",
    "retries",
    "delivery.timeout.ms",
];

impl TuneValue {
    /// The value that changes make. Equal values of several paths are one value.
    pub fn of(changes: Vec<(String, String)>) -> TuneValue {
        let texts = changes.iter().map(|(_, text)| text.trim());
        TuneValue {
            text: joined(texts.collect()),
            changes,
        }
    }
}

/// Several texts as one; equal ones once.
pub(crate) fn joined(mut texts: Vec<&str>) -> String {
    if texts.windows(2).all(|pair| pair[0] == pair[1]) {
        texts.truncate(1);
    }
    texts.join(", ")
}

impl TuneSetting {
    /// Where the setting of a path belongs, and the name that Kafka gives it.
    pub fn place_of(path: &str) -> (SettingScope, &str) {
        let cut = |prefix: &str| path.strip_prefix(prefix);
        if let Some(name) = cut("broker.").or_else(|| cut("target.config.")) {
            return (SettingScope::Broker, name);
        }
        if let Some(name) = cut("topic.config.") {
            return (SettingScope::Topic, name);
        }
        if path.starts_with("topic.") {
            return (SettingScope::Topic, path);
        }
        let name = path.split_once(".settings.").map_or(path, |(_, name)| name);
        (SettingScope::Client, name)
    }

    /// Whether the setting of a path decides what an ack means.
    pub fn is_of_durability(path: &str) -> bool {
        let (_, name) = TuneSetting::place_of(path);
        let is_flush = name.starts_with("flush.") || name.starts_with("log.flush.");
        is_flush || OF_DURABILITY.contains(&name)
    }
}

impl TunePlan {
    /// Why the search cannot run.
    pub(crate) fn sound(&self) -> Result<(), String> {
        let values = self.own.iter().all(|setting| !setting.values.is_empty());
        match WIDTHS.contains(&self.width) && self.budget_ns > 0 && values {
            true => Ok(()),
            false => Err("a search for settings without width, time or values".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_shows_where_its_setting_belongs() {
        for (path, scope, name) in [
            ("linger.ms", SettingScope::Client, "linger.ms"),
            ("writers.settings.acks", SettingScope::Client, "acks"),
            ("topic.partitions", SettingScope::Topic, "topic.partitions"),
            ("topic.config.segment.ms", SettingScope::Topic, "segment.ms"),
            (
                "broker.num.io.threads",
                SettingScope::Broker,
                "num.io.threads",
            ),
        ] {
            assert_eq!(TuneSetting::place_of(path), (scope, name), "{path}");
        }
    }

    #[test]
    fn what_an_ack_means_is_protected_wherever_it_is_set() {
        for path in [
            "acks",
            "w.settings.enable.idempotence",
            "topic.config.min.insync.replicas",
            "broker.unclean.leader.election.enable",
            "broker.log.flush.interval.messages",
            "topic.config.flush.ms",
            "topic.replication",
        ] {
            assert!(TuneSetting::is_of_durability(path), "{path}");
        }
        assert!(!TuneSetting::is_of_durability("linger.ms"));
        assert!(!TuneSetting::is_of_durability("topic.partitions"));
    }
}
