//! Broker settings that deviate from good practice, by one table of rules.

use kgauge_results::run::{BrokerCensus, ClusterCensus, PRACTICE_SETTINGS};
use schemars::JsonSchema;
use serde::Serialize;

/// A setting that deviates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SettingDeviation {
    /// Kafka's name.
    pub setting: String,
    /// Its value on the first of the brokers.
    pub value: String,
    /// The brokers on which it deviates.
    pub brokers: Vec<i32>,
    /// What is good practice.
    pub practice: Practice,
    /// How much it matters, as in findings.
    #[serde(skip)]
    pub weight: u32,
}

/// Good practice for a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "practice", rename_all = "kebab-case")]
pub enum Practice {
    /// Copies on several brokers.
    Replicas {
        /// The minimum.
        least: u32,
    },
    /// Acks that survive the loss of a broker.
    InSync {
        /// The minimum number of replicas.
        least: u32,
    },
    /// Writes that survive the loss of a broker: fewer in-sync replicas are demanded than there are replicas.
    InSyncBelow {
        /// The default number of replicas.
        replicas: u32,
    },
    /// `true`.
    Enabled,
    /// `false`.
    Disabled,
    /// `producer`: brokers store batches as they come.
    AsProduced,
    /// No limit: the operating system writes pages.
    SystemFlushes,
    /// At least Kafka's default.
    Threads {
        /// Kafka's default.
        least: u32,
    },
    /// The release of the brokers.
    OwnRelease,
    /// The same on all brokers.
    Equal,
}

/// What rules know of the cluster.
#[derive(Clone, Copy)]
struct RuleContext<'a> {
    brokers: u32,
    /// `default.replication.factor`.
    replication: u32,
    /// The release of the broker.
    release: Option<&'a str>,
}

/// A rule: the practice that a value deviates from, and how much that matters; none if it is fine.
type Rule = fn(&str, RuleContext<'_>) -> Option<(Practice, u32)>;

const RULES: &[(&str, Rule)] = &[
    ("default.replication.factor", |value, context| {
        replicas(value, context, 78, 58)
    }),
    ("offsets.topic.replication.factor", |value, context| {
        replicas(value, context, 66, 50)
    }),
    (
        "transaction.state.log.replication.factor",
        |value, context| replicas(value, context, 56, 44),
    ),
    ("transaction.state.log.min.isr", |value, context| {
        let is_low = number(value)? < 2 && context.brokers >= 3;
        is_low.then_some((Practice::InSync { least: 2 }, 40))
    }),
    ("min.insync.replicas", min_insync),
    ("unclean.leader.election.enable", |value, _| {
        (value == "true").then_some((Practice::Disabled, 70))
    }),
    ("auto.create.topics.enable", |value, _| {
        (value == "true").then_some((Practice::Disabled, 25))
    }),
    ("auto.leader.rebalance.enable", |value, _| {
        (value == "false").then_some((Practice::Enabled, 28))
    }),
    ("controlled.shutdown.enable", |value, _| {
        (value == "false").then_some((Practice::Enabled, 45))
    }),
    ("delete.topic.enable", |value, _| {
        (value == "false").then_some((Practice::Enabled, 20))
    }),
    ("compression.type", |value, _| {
        (value != "producer").then_some((Practice::AsProduced, 35))
    }),
    ("log.flush.interval.messages", flushes),
    ("log.flush.interval.ms", flushes),
    ("num.io.threads", |value, _| threads(value, 8)),
    ("num.network.threads", |value, _| threads(value, 3)),
    ("inter.broker.protocol.version", own_release),
    ("log.message.format.version", own_release),
];

/// Settings of single brokers, which may differ.
const OF_SINGLE_BROKERS: [&str; 2] = ["num.io.threads", "num.network.threads"];
/// How much a difference between brokers matters.
const DIFFERENCE_WEIGHT: u32 = 48;

fn number(value: &str) -> Option<u64> {
    value.trim().parse().ok()
}

fn replicas(
    value: &str,
    context: RuleContext<'_>,
    of_one: u32,
    of_more: u32,
) -> Option<(Practice, u32)> {
    let (value, least) = (number(value)?, context.brokers.min(3));
    let weight = if value <= 1 { of_one } else { of_more };
    (value < u64::from(least)).then_some((Practice::Replicas { least }, weight))
}

fn min_insync(value: &str, context: RuleContext<'_>) -> Option<(Practice, u32)> {
    let value = number(value)?;
    let replicas = context.replication;
    let below = Practice::InSyncBelow { replicas };
    match value {
        // Topics with the default replication take no record with acks=all.
        value if value > u64::from(replicas) => Some((below, 79)),
        // One broker that restarts stops all writes with acks=all.
        value if value == u64::from(replicas) && replicas > 1 => Some((below, 64)),
        1 if replicas >= 3 => Some((Practice::InSync { least: 2 }, 68)),
        _ => None,
    }
}

/// Kafka's default is the largest number, and none for the time.
fn flushes(value: &str, _: RuleContext<'_>) -> Option<(Practice, u32)> {
    let is_limited = number(value)? < i64::MAX.unsigned_abs();
    is_limited.then_some((Practice::SystemFlushes, 46))
}

fn threads(value: &str, least: u32) -> Option<(Practice, u32)> {
    (number(value)? < u64::from(least)).then_some((Practice::Threads { least }, 30))
}

/// A cluster that speaks an older protocol than its brokers support. From 3.0 on, the format of messages follows the
/// protocol.
fn own_release(value: &str, context: RuleContext<'_>) -> Option<(Practice, u32)> {
    let own = major_and_minor(context.release?)?;
    let is_older = major_and_minor(value)? < own && own.0 < 4;
    is_older.then_some((Practice::OwnRelease, 36))
}

/// 2 and 8 of `2.8`, `2.8-IV1` or `at least 2.8`; 0 and 10 of `0.10.2`.
fn major_and_minor(text: &str) -> Option<(u64, u64)> {
    let start = text.find(|letter: char| letter.is_ascii_digit())?;
    let text = &text[start..];
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let mut parts = text[..end.unwrap_or(text.len())].split('.');
    Some((number(parts.next()?)?, number(parts.next()?)?))
}

/// The settings that deviate, the gravest first.
pub(super) fn deviations(census: &ClusterCensus) -> Vec<SettingDeviation> {
    let mut deviations: Vec<SettingDeviation> = Vec::new();
    let brokers = u32::try_from(census.brokers.len()).unwrap_or(u32::MAX);
    for (setting, rule) in RULES {
        for broker in &census.brokers {
            let replication = broker.settings.get("default.replication.factor");
            let replication = replication.and_then(|value| value.parse().ok());
            let context = RuleContext {
                brokers,
                replication: replication.unwrap_or(1),
                release: broker.release.as_deref(),
            };
            let Some(value) = broker.settings.get(*setting) else {
                continue;
            };
            if let Some((practice, weight)) = rule(value, context) {
                add(&mut deviations, broker, (setting, value), practice, weight);
            }
        }
    }
    for setting in PRACTICE_SETTINGS {
        if !OF_SINGLE_BROKERS.contains(setting) {
            differences(&mut deviations, census, setting);
        }
    }
    deviations.sort_by_key(|one| std::cmp::Reverse(one.weight));
    deviations
}

fn add(
    deviations: &mut Vec<SettingDeviation>,
    broker: &BrokerCensus,
    (setting, value): (&str, &str),
    practice: Practice,
    weight: u32,
) {
    let is_same = |one: &&mut SettingDeviation| one.setting == setting && one.practice == practice;
    match deviations.iter_mut().find(is_same) {
        Some(known) => known.brokers.push(broker.id),
        None => deviations.push(SettingDeviation {
            setting: setting.to_owned(),
            value: value.to_owned(),
            brokers: vec![broker.id],
            practice,
            weight,
        }),
    }
}

/// Brokers whose value differs from that of the first.
fn differences(deviations: &mut Vec<SettingDeviation>, census: &ClusterCensus, setting: &str) {
    let mut brokers = census.brokers.iter();
    let Some(first) = brokers.find_map(|broker| broker.settings.get(setting)) else {
        return;
    };
    for broker in &census.brokers {
        if let Some(value) = broker.settings.get(setting).filter(|value| *value != first) {
            let (practice, weight) = (Practice::Equal, DIFFERENCE_WEIGHT);
            add(deviations, broker, (setting, value), practice, weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(brokers: &[&[(&str, &str)]]) -> ClusterCensus {
        let brokers = brokers.iter().zip(1..).map(|(settings, id)| BrokerCensus {
            id,
            release: Some("3.9".to_owned()),
            settings: settings
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            ..BrokerCensus::default()
        });
        ClusterCensus {
            brokers: brokers.collect(),
            ..ClusterCensus::default()
        }
    }

    fn found(brokers: &[&[(&str, &str)]]) -> Vec<(String, Practice)> {
        let deviations = deviations(&census(brokers)).into_iter();
        deviations.map(|one| (one.setting, one.practice)).collect()
    }

    #[test]
    fn a_cluster_of_good_practice_has_no_deviation() {
        let settings: &[(&str, &str)] = &[
            ("auto.create.topics.enable", "false"),
            ("compression.type", "producer"),
            ("default.replication.factor", "3"),
            ("inter.broker.protocol.version", "3.9-IV0"),
            ("log.flush.interval.messages", "9223372036854775807"),
            ("min.insync.replicas", "2"),
            ("num.io.threads", "8"),
            ("offsets.topic.replication.factor", "3"),
            ("unclean.leader.election.enable", "false"),
        ];
        assert_eq!(found(&[settings, settings, settings]), []);
        // One broker can have one replica only.
        let alone: &[(&str, &str)] = &[
            ("default.replication.factor", "1"),
            ("min.insync.replicas", "1"),
            ("offsets.topic.replication.factor", "1"),
        ];
        assert_eq!(found(&[alone]), []);
    }

    #[test]
    fn the_gravest_deviation_comes_first_with_all_its_brokers() {
        let settings: &[(&str, &str)] = &[
            ("auto.create.topics.enable", "true"),
            ("default.replication.factor", "1"),
            ("unclean.leader.election.enable", "true"),
        ];
        let deviations = deviations(&census(&[settings, settings, settings]));
        let names: Vec<&str> = deviations.iter().map(|one| one.setting.as_str()).collect();
        assert_eq!(
            names,
            [
                "default.replication.factor",
                "unclean.leader.election.enable",
                "auto.create.topics.enable"
            ]
        );
        assert_eq!(deviations[0].brokers, [1, 2, 3]);
        assert_eq!(deviations[0].practice, Practice::Replicas { least: 3 });
    }

    #[test]
    fn in_sync_replicas_are_compared_with_the_default_replication() {
        let of = |replication: &str, least: &str| {
            let settings: &[(&str, &str)] = &[
                ("default.replication.factor", replication),
                ("min.insync.replicas", least),
            ];
            let found = found(&[settings, settings, settings]);
            let of_least = found
                .into_iter()
                .find(|(name, _)| name == "min.insync.replicas");
            of_least.map(|(_, practice)| practice)
        };
        assert_eq!(of("3", "1"), Some(Practice::InSync { least: 2 }));
        assert_eq!(of("3", "2"), None);
        assert_eq!(of("3", "3"), Some(Practice::InSyncBelow { replicas: 3 }));
        assert_eq!(of("1", "2"), Some(Practice::InSyncBelow { replicas: 1 }));
    }

    #[test]
    fn brokers_that_differ_and_old_protocols_are_found() {
        let one: &[(&str, &str)] = &[("inter.broker.protocol.version", "2.8-IV1")];
        let other: &[(&str, &str)] = &[("inter.broker.protocol.version", "3.9-IV0")];
        let deviations = deviations(&census(&[other, one]));
        let practices: Vec<Practice> = deviations.iter().map(|one| one.practice).collect();
        assert_eq!(practices, [Practice::Equal, Practice::OwnRelease]);
        assert!(deviations.iter().all(|one| one.brokers == [2]));
        assert_eq!(major_and_minor("at least 4.3"), Some((4, 3)));
        assert_eq!(major_and_minor("0.10.2"), Some((0, 10)));
    }
}
