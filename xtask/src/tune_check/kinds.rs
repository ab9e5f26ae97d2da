//! The kinds of searches that are checked: scenarios in which one setting helps, and some in which none does.

use std::time::Duration;

/// What a search takes besides its budget: its cluster starts and warms up, and its report is made.
const AROUND: Duration = Duration::from_secs(180);

/// A setting that a search may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedSetting {
    pub(super) path: &'static str,
    pub(super) in_force: &'static str,
    pub(super) new: &'static str,
}

/// A kind of search.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchKind {
    pub(super) name: &'static str,
    pub(super) target: &'static str,
    /// The file in `xtask/compare`.
    pub(super) scenario: &'static str,
    /// Whether the figure is p99, so that less is better.
    pub(super) is_latency: bool,
    /// The budget of a search, in minutes.
    pub(super) budget_min: u32,
    /// The setting that helps, if one does.
    pub(super) planted: Option<CheckedSetting>,
    /// Settings that do nothing.
    pub(super) others: &'static [CheckedSetting],
}

impl SearchKind {
    /// How long a search takes at most, with the start of its cluster and its report.
    pub(super) fn time(&self) -> Duration {
        Duration::from_secs(60 * u64::from(self.budget_min)) + AROUND
    }

    /// All settings that may change.
    pub(super) fn settings(&self) -> impl Iterator<Item = CheckedSetting> {
        self.planted.into_iter().chain(self.others.iter().copied())
    }

    /// Whether the settings that change are right: the planted one is among them, or there are none.
    pub(super) fn is_right(&self, changed: &[String]) -> bool {
        match self.planted {
            Some(planted) => changed.iter().any(|name| name == planted.name()),
            None => changed.is_empty(),
        }
    }

    /// Whether nothing else changes either.
    pub(super) fn is_exact(&self, changed: &[String]) -> bool {
        self.is_right(changed) && changed.len() == usize::from(self.planted.is_some())
    }

    /// The kind of a name.
    pub(super) fn named(name: &str) -> Option<SearchKind> {
        KINDS.into_iter().find(|kind| kind.name == name)
    }
}

impl CheckedSetting {
    /// What the summary calls it: the name in properties, or the path where Kafka has none.
    pub(super) fn name(self) -> &'static str {
        self.path.strip_prefix(CLIENT).unwrap_or(self.path)
    }
}

const CLIENT: &str = "writers.settings.";

/// The broker has half a processor, which is the bottleneck.
const HALF_CPU: &str = "kafka:4.3.1,cpu=0.5,heap=512M";

const fn setting(path: &'static str, in_force: &'static str, new: &'static str) -> CheckedSetting {
    CheckedSetting {
        path,
        in_force,
        new,
    }
}

/// Settings of sockets, retries and metadata: none is used in a run of seconds over loopback.
const NOTHING: &[CheckedSetting] = &[
    setting("writers.settings.send.buffer.bytes", "131072", "262144"),
    setting("writers.settings.receive.buffer.bytes", "32768", "65536"),
    setting("writers.settings.retry.backoff.ms", "100", "200"),
    setting("writers.settings.metadata.max.age.ms", "300000", "200000"),
];

/// The kinds, those of Apache Kafka last.
pub(super) const KINDS: [SearchKind; 6] = [
    SearchKind {
        name: "batch",
        target: "embedded",
        scenario: "tuned-batch.yaml",
        is_latency: false,
        budget_min: 4,
        planted: Some(setting("writers.settings.batch.size", "16384", "32768")),
        others: NOTHING,
    },
    SearchKind {
        name: "linger",
        target: "embedded",
        scenario: "tuned-linger.yaml",
        is_latency: true,
        budget_min: 6,
        planted: Some(setting("writers.settings.linger.ms", "20", "0")),
        others: NOTHING,
    },
    SearchKind {
        name: "partitions",
        target: "embedded",
        scenario: "tuned-partitions.yaml",
        is_latency: false,
        budget_min: 4,
        planted: Some(setting("topic.partitions", "1", "4")),
        others: NOTHING,
    },
    SearchKind {
        name: "null",
        target: "embedded",
        scenario: "tuned-batch.yaml",
        is_latency: false,
        budget_min: 4,
        planted: None,
        others: NOTHING,
    },
    SearchKind {
        name: "kafka-codec",
        target: HALF_CPU,
        scenario: "tuned-kafka.yaml",
        is_latency: false,
        budget_min: 10,
        planted: Some(setting("writers.settings.compression.type", "none", "lz4")),
        others: NOTHING,
    },
    SearchKind {
        name: "kafka-null",
        target: HALF_CPU,
        scenario: "tuned-kafka.yaml",
        is_latency: false,
        budget_min: 10,
        planted: None,
        others: NOTHING,
    },
];

#[cfg(test)]
mod tests {
    use kgauge_scenario::{Scenario, Size};

    use super::*;
    use crate::folders::root;

    #[test]
    fn scenarios_have_the_settings_in_force() {
        for kind in KINDS {
            let file = root().join("xtask/compare").join(kind.scenario);
            let text = std::fs::read_to_string(file).unwrap();
            let scenario = Scenario::parse(kind.scenario, &text).unwrap();
            let trials = scenario.trials(Size::Default);
            assert_eq!(trials.len(), 1, "{}", kind.name);
            for setting in kind.settings() {
                for (value, is_in_force) in [(setting.in_force, true), (setting.new, false)] {
                    let mut changed = scenario.clone();
                    changed.set(setting.path, value).unwrap();
                    let then = changed.trials(Size::Default);
                    let is_same =
                        then[0].flows == trials[0].flows && then[0].topic == trials[0].topic;
                    assert_eq!(
                        is_same, is_in_force,
                        "{}: {} {value}",
                        kind.name, setting.path
                    );
                }
            }
        }
    }
}
