//! The topic of a trial: partitions, replication, Kafka's own settings, preload.

use std::collections::BTreeMap;

use super::record::record;
use crate::keys::{PRELOAD, TOPIC, TOPIC_CONFIG};
use crate::plan::{Preload, TopicPlan};
use crate::reader::{ValueReader, shorten};
use crate::suggest::nearest;
use crate::tree::{Value, YamlNode};

/// Kafka's own advice ends far below this many partitions in one topic.
const PARTITIONS_MAX: u32 = 100_000;
const REPLICATION_MAX: u32 = 100;
/// 10^12 records; more than a year at 30,000 a second.
pub(super) const RECORDS_MAX: u64 = 1_000_000_000_000;

pub(super) fn topic(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<TopicPlan> {
    let fields = reader.map(node, &TOPIC)?;
    let partitions = reader.field(&fields, "partitions", |reader, node| {
        reader.count_u32(node, 1..=PARTITIONS_MAX)
    });
    let replication = reader.field(&fields, "replication", |reader, node| {
        reader.count_u32(node, 1..=REPLICATION_MAX)
    });
    let config = reader.field(&fields, "config", config);
    let preload = match fields.has("preload") {
        true => reader.field(&fields, "preload", preload).map(Some),
        false => Some(None),
    };
    Some(TopicPlan {
        partitions: partitions?,
        replication: u16::try_from(replication?).ok()?,
        config: config?,
        preload: preload?,
    })
}

/// Kafka's topic settings: names are checked, values are the broker's business.
fn config(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<BTreeMap<String, String>> {
    let Value::Map(entries) = &node.value else {
        reader.wrong_type(node, "topic settings, such as `{retention.bytes: -1}`");
        return None;
    };
    let mut config = BTreeMap::new();
    for entry in entries {
        let step = format!(".{}", entry.key);
        reader.inside(&step, |reader| {
            if !TOPIC_CONFIG.contains(&entry.key.as_str()) {
                let what = format!("Kafka has no topic setting `{}`", shorten(&entry.key));
                let cure = match nearest(&entry.key, TOPIC_CONFIG.iter().copied()) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => "Kafka's documentation lists them under Topic Configs".to_owned(),
                };
                reader.problem(entry.place, what, cure);
            }
            if let Some(value) = reader.text(&entry.node) {
                config.insert(entry.key.clone(), value);
            }
        });
    }
    Some(config)
}

fn preload(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Preload> {
    let fields = reader.map(node, &PRELOAD)?;
    let records = reader.field(&fields, "records", |reader, node| {
        reader.count(node, 1..=RECORDS_MAX)
    });
    let record = reader.field(&fields, "record", record);
    Some(Preload {
        records: records?,
        record: record?,
    })
}
