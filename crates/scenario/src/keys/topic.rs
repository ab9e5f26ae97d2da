//! The topic of a trial: partitions, replication, Kafka's own settings, preload.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::kafka_names::TOPIC_CONFIG;
use super::record::RecordKeys;
use crate::key_definition::{ValueForm, refuse};
use crate::key_map::key_map;
use crate::record::RecordPlan;
use crate::suggest::{nearest, shorten};
use crate::tree::Value;
use crate::value_kind::{RECORDS_MAX, ValueKind, count, flag, map};

/// Kafka's own advice ends far below this many partitions in one topic.
const PARTITIONS_MAX: u64 = 100_000;
const REPLICATION_MAX: u64 = 100;

key_map! {
    /// The topic of a trial. Its name is made from the run id by whoever creates it.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct TopicPlan, TopicKeys, "Topic",
    refuses [refuse(
        &["name"],
        "kgauge derives the name from the run's id, and writes only to topics that it created",
    )]
    {
        /// The number of partitions. No default, because with one partition a single broker does all the work; that
        /// should be a deliberate choice.
        pub partitions: u32 = "partitions" [required], count(1..=PARTITIONS_MAX);
        /// Replicas of each partition, including the leader. A cluster of one broker allows only 1.
        pub replication: u16 = "replication" ["1"], count(1..=REPLICATION_MAX);
        /// Topic settings, by their Kafka names, passed on unchanged.
        pub config: BTreeMap<String, String> = "config" [all_defaults], topic_config();
        /// Records written before the first stage, for consumers that read a backlog.
        pub preload: Option<Preload> = "preload" [optional "the topic starts empty"],
            map::<Preload>();
    }
}

key_map! {
    /// Records in the topic before a trial starts.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Preload, PreloadKeys, "Preload" {
        /// The number of records, spread evenly over the partitions.
        pub records: u64 = "records" [required], count(1..=RECORDS_MAX);
        /// The contents of each record.
        pub record: RecordPlan = "record" [required], map::<RecordKeys>();
        /// Whether brokers may read the records from the page cache. With `false`, kgauge drops them from it before
        /// each load; this needs brokers whose data is on a disk of this machine.
        pub #[serde(default = "yes", skip_serializing_if = "is_yes")]
        cached: bool = "cached" ["true"], flag();
    }
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_yes(flag: &bool) -> bool {
    *flag
}

impl TopicPlan {
    /// An empty topic with one replica and no settings.
    pub fn of_partitions(partitions: u32) -> TopicPlan {
        TopicPlan {
            partitions,
            replication: 1,
            config: BTreeMap::new(),
            preload: None,
        }
    }
}

/// Kafka's topic settings: names are checked, values are passed to the broker unchanged.
fn topic_config() -> ValueKind<BTreeMap<String, String>> {
    let form = ValueForm::Settings("Kafka's topic settings", TOPIC_CONFIG);
    ValueKind::new(form, |reader, node| {
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
    })
}
