//! The studies that ship inside the binary.

use crate::study::{Study, StudyFile};

/// The shipped studies. Their texts are those of the folder `studies/`.
#[derive(Clone, Copy, Debug)]
pub struct Studies;

/// A shipped study, not yet read.
struct ShippedStudy {
    name: &'static str,
    files: &'static [StudyFile<'static>],
}

/// Names the files of one study's folder.
macro_rules! shipped {
    ($name:literal: $($file:literal),+ $(,)?) => {
        ShippedStudy {
            name: $name,
            files: &[$(StudyFile {
                path: concat!("studies/", $name, "/", $file),
                text: include_str!(concat!("../../../studies/", $name, "/", $file)),
            }),+],
        }
    };
}

const SHIPPED: &[ShippedStudy] = &[
    shipped!(
        "linkedin-2014": "study.yaml",
        "single-producer.yaml",
        "async-replication.yaml",
        "sync-replication.yaml",
        "three-producers.yaml",
        "single-consumer.yaml",
        "three-consumers.yaml",
        "producer-and-consumer.yaml",
        "message-size.yaml",
        "stored-data.yaml",
        "stored-data-reads.yaml",
        "end-to-end.yaml",
    ),
    shipped!(
        "dcos-2018": "study.yaml",
        "baseline.yaml",
        "throughput-settings.yaml",
        "consumer.yaml",
        "one-partition-producer.yaml",
        "one-partition-consumer.yaml",
        "producers.yaml",
        "partitions.yaml",
        "goals-throughput.yaml",
        "goals-latency.yaml",
        "brokers.yaml",
    ),
    shipped!(
        "compose-2024": "study.yaml",
        "one-partition.yaml",
        "one-megabyte.yaml",
        "spread.yaml",
        "consumer.yaml",
    ),
    shipped!(
        "aks-2019": "study.yaml",
        "broker-settings.yaml",
        "batch-size.yaml",
        "tls.yaml",
        "codecs.yaml",
        "codecs-letters.yaml",
        "acks-and-brokers.yaml",
        "disk-full.yaml",
        "replication.yaml",
    ),
    shipped!(
        "image-queue-2016": "study.yaml",
        "record-size.yaml",
        "producer-and-consumer.yaml",
    ),
    shipped!(
        "durability": "study.yaml",
        "leader-killed.yaml",
        "leader-fails.yaml",
        "all-fail.yaml",
        "unclean.yaml",
    ),
    shipped!(
        "known-bugs": "study.yaml",
        "kafka-4623.yaml",
        "kip-101.yaml",
        "kip-279.yaml",
        "kafka-15653.yaml",
        "kafka-17754.yaml",
        "kip-890.yaml",
        "kip-966.yaml",
        "kafka-20554.yaml",
    ),
];

impl Studies {
    /// The names, in the order in which `kgauge studies` shows them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|shipped| shipped.name)
    }

    /// The files of a study's folder.
    pub fn files(name: &str) -> Option<&'static [StudyFile<'static>]> {
        SHIPPED
            .iter()
            .find(|shipped| shipped.name == name)
            .map(|shipped| shipped.files)
    }

    /// One study, read. `None` when none has this name.
    pub fn get(name: &str) -> Option<Study> {
        let files = Studies::files(name)?;
        Some(Study::from_files(name, files).expect("a test reads every shipped study"))
    }

    /// All of them, read.
    pub fn list() -> Vec<Study> {
        Studies::names().filter_map(Studies::get).collect()
    }

    /// The shipped name that is nearest to one that is not shipped.
    pub fn nearest(name: &str) -> Option<&'static str> {
        crate::suggest::nearest(name, Studies::names())
    }
}
