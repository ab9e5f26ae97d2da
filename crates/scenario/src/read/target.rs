//! What the cluster of a trial must have: brokers, and settings of theirs.

use std::collections::BTreeMap;

use crate::keys::TARGET;
use crate::reader::{Reader, shorten};
use crate::tree::{Node, Value};

/// Beyond any cluster that one machine can load.
const BROKERS_MAX: u32 = 10_000;

/// Words in the names of settings that hold secrets.
const SECRETS: &[&str] = &["password", "jaas.config", "secret", "ssl.keystore.key"];

/// What a cluster must have.
#[derive(Clone, Debug)]
pub(crate) struct TargetNeeds {
    /// At least so many.
    pub(crate) brokers: u32,
    /// Broker settings as text, under Kafka's names.
    pub(crate) config: BTreeMap<String, String>,
}

pub(super) fn target(reader: &mut Reader<'_>, node: &Node) -> Option<TargetNeeds> {
    let fields = reader.map(node, &TARGET)?;
    let brokers = reader.field(&fields, "brokers", |reader, node| {
        reader.count_u32(node, 1..=BROKERS_MAX)
    });
    let config = reader.field(&fields, "config", config);
    Some(TargetNeeds {
        brokers: brokers?,
        config: config?,
    })
}

/// Which settings there are differs from release to release: the target checks the names.
fn config(reader: &mut Reader<'_>, node: &Node) -> Option<BTreeMap<String, String>> {
    let Value::Map(entries) = &node.value else {
        reader.wrong_type(node, "broker settings, such as `{num.io.threads: 4}`");
        return None;
    };
    let mut config = BTreeMap::new();
    for entry in entries {
        let step = format!(".{}", entry.key);
        reader.inside(&step, |reader| {
            let key = &entry.key;
            if !is_name(key) {
                let what = format!("`{}` is no name of a broker setting", shorten(key));
                reader.problem(entry.place, what, "write it as in Kafka's documentation");
            } else if is_secret(key) {
                let what = format!("`{key}` is a secret, and scenarios are kept in reports");
                let cure = "let kgauge make it: `--target kafka:VERSION,security=...`";
                reader.hidden_problem(entry.place, what, cure);
                return;
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
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !key.is_empty() && key.chars().all(fits)
}

fn is_secret(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    SECRETS.iter().any(|word| lower.contains(word))
}
