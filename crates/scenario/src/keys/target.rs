//! The cluster that a trial needs: brokers and their settings, security, a second cluster.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::key_definition::{ValueForm, refuse};
use crate::key_map::key_map;
use crate::problem::SourceLocation;
use crate::reader::{Fields, ValueReader};
use crate::suggest::shorten;
use crate::tree::{Value, YamlNode};
use crate::value_kind::{ValueKind, count, map, one_of_names, size, text, words};

/// The kinds of security that a target can be started with.
pub const SECURITY_KINDS: &[&str] = &[
    "plaintext",
    "tls",
    "mtls",
    "sasl-plain",
    "scram-sha-256",
    "scram-sha-512",
    "sasl-plain+tls",
    "scram-sha-256+tls",
    "scram-sha-512+tls",
];

/// Beyond any cluster that one machine can load.
const BROKERS_MAX: u64 = 10_000;

/// More voters than any quorum has.
const CONTROLLERS_MAX: u64 = 9;

/// Less than a JVM, and more than a machine has.
const MEMORY_BYTES_MIN: u64 = 64 << 20;
const MEMORY_BYTES_MAX: u64 = 1 << 50;

/// Words in the names of settings that hold secrets.
const SECRETS: &[&str] = &["password", "jaas.config", "secret", "ssl.keystore.key"];

/// The placeholder for the topic's name in the name of its copy.
const TOPIC: &str = "{topic}";

key_map! {
    /// What a cluster must have.
    #[derive(Clone, Debug)]
    pub(crate) struct TargetNeeds, TargetKeys, "Target",
    refuses [
        refuse(
            &["bootstrap.servers", "address", "host", "hosts"],
            "`--target` selects the cluster, so that a scenario runs on every cluster",
        ),
        refuse(
            &["version", "kafka", "embedded"],
            "`--target` selects the release, so that a scenario runs on every release",
        ),
    ]
    {
        /// The minimum number of brokers, also for clusters that kgauge starts.
        pub brokers: u32 = "brokers" ["1"], count(1..=BROKERS_MAX);
        /// The number of dedicated controllers of a cluster that kgauge starts. It has no effect on releases with
        /// ZooKeeper, and on the embedded cluster, whose controller is separate.
        pub controllers: Option<u16> = "controllers" [optional "as in `--target`, or none"],
            count(1..=CONTROLLERS_MAX);
        /// The release of Apache Kafka that kgauge starts in place of the one in `--target`, for scenarios about a
        /// release. When varied, as in `target.release: [3.9.1, 4.3.1]`, each value gets a separate cluster.
        pub release: Option<String> = "release" [optional "as in `--target`"], text().then(release);
        /// Broker settings, such as `{num.io.threads: 4}`. A cluster that kgauge starts gets them; an existing one must
        /// have them. In paths, `broker.KEY` is short for `target.config.KEY`.
        pub config: BTreeMap<String, String> = "config" [all_defaults], settings(&BROKER_SETTINGS);
        /// The memory limit of each broker process, including its page cache, such as `2 GiB`. Data beyond it is read
        /// from disk. Needs Apache Kafka started by kgauge, and permission to create control groups.
        pub memory_bytes: Option<u64> = "memory" [optional "no limit"],
            size(MEMORY_BYTES_MIN..=MEMORY_BYTES_MAX);
        /// Security of client connections to a cluster that kgauge starts. When varied, as in
        /// `target.security: [plaintext, tls]`, each value gets a separate cluster.
        pub security: Option<String> = "security" [optional "as in `--target`, or plaintext"],
            one_of_names(SECURITY_KINDS);
        /// A second cluster and a replicator that copies to it. Echo flows write to the target and read the copy. See
        /// [the guide to mirrors](mirror.md).
        pub mirror: Option<MirrorNeeds> = "mirror" [optional "one cluster"], map::<MirrorNeeds>();
    }
}

key_map! {
    /// A second cluster that a replicator copies to.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct MirrorNeeds, MirrorKeys, "Mirror", checked by check_mirror,
    refuses [refuse(
        &["bootstrap.servers", "address", "host", "hosts"],
        "`--destination` selects the cluster of the copy",
    )]
    {
        /// The number of brokers, if kgauge starts the destination. `--destination` selects an existing cluster;
        /// without it kgauge starts one like the target.
        pub brokers: u32 = "brokers" ["1"], count(1..=BROKERS_MAX);
        /// MirrorMaker 2 of Apache Kafka 4.3.1, which kgauge fetches and starts. With `none` you run your own
        /// replicator, which must copy topics whose names begin with `kgauge-`.
        pub replicator: Replicator = "replicator" ["mirror-maker-2"], words(&REPLICATORS);
        /// The name of the copied topic; `{topic}` is replaced by the source topic's name.
        pub topic: String = "topic" ["source.{topic}"], text();
        /// MirrorMaker 2 properties, such as `{tasks.max: 4}`, named as in its properties file.
        pub #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
            settings: BTreeMap<String, String> = "settings" [all_defaults], settings(&MIRROR_SETTINGS);
    }
}

const REPLICATORS: [(&str, Replicator); 2] = [
    ("mirror-maker-2", Replicator::MirrorMaker2),
    ("none", Replicator::None),
];

/// What copies a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replicator {
    /// Apache Kafka's, started by kgauge.
    #[serde(rename = "mirror-maker-2")]
    MirrorMaker2,
    /// One that the user runs.
    None,
}

impl MirrorNeeds {
    /// The name of a topic's copy.
    pub fn copy_of(&self, topic: &str) -> String {
        self.topic.replace(TOPIC, topic)
    }

    /// The source's name in the names of copies (`PREFIX.topic`); `None` where copies have the topic's own name.
    pub fn prefix(&self) -> Option<&str> {
        self.topic.strip_suffix(TOPIC)?.strip_suffix('.')
    }
}

/// Numbers with dots between them.
fn release(reader: &mut ValueReader<'_>, place: SourceLocation, text: String) -> Option<String> {
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    if text.contains('.') && text.split('.').all(is_number) {
        return Some(text);
    }
    let what = format!("`{}` is not a release of Apache Kafka", shorten(&text));
    reader.refuse(place, what, "write it like `4.3.1`")
}

fn check_mirror(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: &mut MirrorKeys) {
    if let Some(topic) = read.topic.take() {
        let place = fields.place("topic");
        read.topic = reader.inside(".topic", |reader| {
            copy_name(reader, place, topic, read.replicator)
        });
    }
    let has_settings = read.settings.as_ref().is_some_and(|set| !set.is_empty());
    if read.replicator == Some(Replicator::None) && has_settings {
        let what = "these are MirrorMaker 2 settings, but kgauge does not start it";
        let cure = "remove them, or write `replicator: mirror-maker-2`";
        reader.inside(".settings", |reader| {
            reader.problem(fields.map_place, what, cure);
        });
    }
}

/// The name of copies: `{topic}` once, with legal characters of topic names around it.
fn copy_name(
    reader: &mut ValueReader<'_>,
    place: SourceLocation,
    text: String,
    replicator: Option<Replicator>,
) -> Option<String> {
    let is_legal = |part: &str| part.chars().all(is_legal);
    let (before, after) = match text.split_once(TOPIC) {
        Some((before, after)) if is_legal(before) && is_legal(after) => (before, after),
        _ => {
            let what = format!("`{}` is not a valid name of a copy", shorten(&text));
            return reader.refuse(place, what, "write it like `source.{topic}`");
        }
    };
    let prefix = before.strip_suffix('.');
    let is_mirror_makers = match prefix {
        Some(prefix) => !prefix.is_empty() && !prefix.contains('.') && after.is_empty(),
        None => before.is_empty() && after.is_empty(),
    };
    if replicator == Some(Replicator::MirrorMaker2) && !is_mirror_makers {
        let what = format!("MirrorMaker 2 cannot name a copy `{}`", shorten(&text));
        let cure = "write `{topic}`, or a prefix without dots: `source.{topic}`";
        reader.problem(place, what, cure);
    }
    Some(text)
}

/// Whether a character is legal in the name of a topic or of a setting.
fn is_legal(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Settings of other programs than kgauge.
struct Foreign {
    /// What they are, for the guide.
    name: &'static str,
    /// How to write them, for error messages.
    form: &'static str,
    /// One of them.
    one: &'static str,
    /// How a secret can be avoided.
    secret_cure: &'static str,
    /// Whether kgauge sets one itself.
    is_ours: fn(&str) -> bool,
}

const BROKER_SETTINGS: Foreign = Foreign {
    name: "Kafka's broker settings",
    form: "broker settings, such as `{num.io.threads: 4}`",
    one: "broker setting",
    secret_cure: "let kgauge create it: `--target kafka:VERSION,security=...`",
    is_ours: |_| false,
};

const MIRROR_SETTINGS: Foreign = Foreign {
    name: "properties of MirrorMaker 2",
    form: "properties of MirrorMaker 2, such as `{tasks.max: 4}`",
    one: "property of MirrorMaker 2",
    secret_cure: "remove it; kgauge configures MirrorMaker's access to the clusters",
    is_ours: |key| {
        let names = ["clusters", "topics", "replication.policy.class"];
        names.contains(&key)
            || [".bootstrap.servers", ".enabled", ".topics"]
                .iter()
                .any(|end| key.ends_with(end))
    },
};

/// The known settings differ from release to release: the target checks the names.
fn settings(foreign: &'static Foreign) -> ValueKind<BTreeMap<String, String>> {
    ValueKind::new(ValueForm::Settings(foreign.name, &[]), |reader, node| {
        read_settings(reader, node, foreign)
    })
}

fn read_settings(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    foreign: &Foreign,
) -> Option<BTreeMap<String, String>> {
    let Value::Map(entries) = &node.value else {
        reader.wrong_type(node, foreign.form);
        return None;
    };
    let mut config = BTreeMap::new();
    for entry in entries {
        let step = format!(".{}", entry.key);
        reader.inside(&step, |reader| {
            let key = &entry.key;
            if !is_name(key) {
                let what = format!(
                    "`{}` is not a valid name of a {}",
                    shorten(key),
                    foreign.one
                );
                reader.problem(entry.place, what, "write it as in Kafka's documentation");
            } else if is_secret(key) {
                let what = format!("`{key}` is a secret, and reports include the scenario");
                reader.hidden_problem(entry.place, what, foreign.secret_cure);
                return;
            } else if (foreign.is_ours)(key) {
                let what = format!("`{key}` is set by kgauge");
                reader.problem(entry.place, what, "remove it");
            }
            let Some(value) = reader.text(&entry.node) else {
                return;
            };
            if value.contains(['\n', '\r']) {
                let what = "a setting has one line";
                reader.problem(entry.node.place, what, "remove the line break");
            }
            config.insert(entry.key.clone(), value);
        });
    }
    Some(config)
}

fn is_name(key: &str) -> bool {
    // `source->destination.` is the prefix of settings for one direction of copying.
    let key = key.replacen("->", "", 1);
    !key.is_empty() && key.chars().all(is_legal)
}

fn is_secret(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    SECRETS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_called_as_the_replicator_calls_it() {
        let needs = |topic: &str| MirrorNeeds {
            brokers: 1,
            replicator: Replicator::MirrorMaker2,
            topic: topic.to_owned(),
            settings: BTreeMap::new(),
        };
        let east = needs("east.{topic}");
        assert_eq!(east.copy_of("orders"), "east.orders");
        assert_eq!(east.prefix(), Some("east"));
        assert_eq!(needs("{topic}").copy_of("orders"), "orders");
        assert_eq!(needs("{topic}").prefix(), None);
    }
}
