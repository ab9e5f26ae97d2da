//! What the cluster of a trial must have: brokers, and settings of theirs.

use std::collections::BTreeMap;

use crate::keys::{MIRROR, SECURITY, TARGET};
use crate::mirror::{self, MirrorNeeds, Replicator};
use crate::reader::{ValueReader, shorten};
use crate::tree::{Value, YamlNode};

/// Beyond any cluster that one machine can load.
const BROKERS_MAX: u32 = 10_000;

/// Less than a JVM, and more than a machine has.
const MEMORY_BYTES_MIN: u64 = 64 << 20;
const MEMORY_BYTES_MAX: u64 = 1 << 50;

/// Words in the names of settings that hold secrets.
const SECRETS: &[&str] = &["password", "jaas.config", "secret", "ssl.keystore.key"];

/// What a cluster must have.
#[derive(Clone, Debug)]
pub(crate) struct TargetNeeds {
    /// The minimum number.
    pub(crate) brokers: u32,
    /// Broker settings as text, under Kafka's names.
    pub(crate) config: BTreeMap<String, String>,
    /// A bound on each broker's memory.
    pub(crate) memory_bytes: Option<u64>,
    /// Security of client connections, if the scenario sets it.
    pub(crate) security: Option<String>,
    /// The second cluster.
    pub(crate) mirror: Option<MirrorNeeds>,
}

pub(super) fn target(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<TargetNeeds> {
    let fields = reader.map(node, &TARGET)?;
    let brokers = reader.field(&fields, "brokers", |reader, node| {
        reader.count_u32(node, 1..=BROKERS_MAX)
    });
    let config = reader.field(&fields, "config", |reader, node| {
        settings(reader, node, &BROKER_SETTINGS)
    });
    let mirror = match fields.has("mirror") {
        true => reader.field(&fields, "mirror", mirror).map(Some),
        false => Some(None),
    };
    let memory_bytes = match fields.has("memory") {
        true => reader
            .field(&fields, "memory", |reader, node| {
                reader.bytes(node, MEMORY_BYTES_MIN..=MEMORY_BYTES_MAX)
            })
            .map(Some),
        false => Some(None),
    };
    let security = match fields.has("security") {
        true => reader.field(&fields, "security", security).map(Some),
        false => Some(None),
    };
    Some(TargetNeeds {
        brokers: brokers?,
        config: config?,
        memory_bytes: memory_bytes?,
        security: security?,
        mirror: mirror?,
    })
}

fn security(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<String> {
    let kinds: Vec<(&str, &str)> = SECURITY.iter().map(|kind| (*kind, *kind)).collect();
    reader.choice(node, &kinds).map(str::to_owned)
}

fn mirror(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<MirrorNeeds> {
    let fields = reader.map(node, &MIRROR)?;
    let brokers = reader.field(&fields, "brokers", |reader, node| {
        reader.count_u32(node, 1..=BROKERS_MAX)
    });
    let replicator = reader.field(&fields, "replicator", |reader, node| {
        let choices = [
            ("mirror-maker-2", Replicator::MirrorMaker2),
            ("none", Replicator::None),
        ];
        reader.choice(node, &choices)
    });
    let topic = reader.field(&fields, "topic", |reader, node| {
        copy_name(reader, node, replicator)
    });
    let settings = reader.field(&fields, "settings", |reader, node| {
        settings(reader, node, &MIRROR_SETTINGS)
    });
    if let (Some(Replicator::None), Some(settings)) = (replicator, &settings)
        && !settings.is_empty()
    {
        let what = "these are MirrorMaker 2 settings, but kgauge does not start it";
        let cure = "remove them, or write `replicator: mirror-maker-2`";
        reader.inside(".settings", |reader| reader.problem(node.place, what, cure));
    }
    Some(MirrorNeeds {
        brokers: brokers?,
        replicator: replicator?,
        topic: topic?,
        settings: settings?,
    })
}

/// The name of copies: `{topic}` once, with legal characters of topic names around it.
fn copy_name(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    replicator: Option<Replicator>,
) -> Option<String> {
    let text = reader.text(node)?;
    let is_legal = |part: &str| part.chars().all(is_legal);
    let (before, after) = match text.split_once(mirror::TOPIC) {
        Some((before, after)) if is_legal(before) && is_legal(after) => (before, after),
        _ => {
            let what = format!("`{}` is not a valid name of a copy", shorten(&text));
            reader.problem(node.place, what, "write it like `source.{topic}`");
            return None;
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
        reader.problem(node.place, what, cure);
    }
    Some(text)
}

/// Whether a character is legal in the name of a topic or of a setting.
fn is_legal(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Settings of other programs than kgauge.
struct Foreign {
    /// What is expected, for error messages.
    wanted: &'static str,
    /// One of them.
    one: &'static str,
    /// How a secret can be avoided.
    secret_cure: &'static str,
    /// Whether kgauge sets one itself.
    is_ours: fn(&str) -> bool,
}

static BROKER_SETTINGS: Foreign = Foreign {
    wanted: "broker settings, such as `{num.io.threads: 4}`",
    one: "broker setting",
    secret_cure: "let kgauge create it: `--target kafka:VERSION,security=...`",
    is_ours: |_| false,
};

static MIRROR_SETTINGS: Foreign = Foreign {
    wanted: "properties of MirrorMaker 2, such as `{tasks.max: 4}`",
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

/// Which settings there are differs from release to release: the target checks the names.
fn settings(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    foreign: &Foreign,
) -> Option<BTreeMap<String, String>> {
    let Value::Map(entries) = &node.value else {
        reader.wrong_type(node, foreign.wanted);
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
