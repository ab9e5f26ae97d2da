//! Records as the embedded cluster stored them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use kgauge_wire::compress::Decompressor;
use kgauge_wire::record_batch::batches;

/// A decompressed batch is never larger.
const BATCH_BYTES_MAX: usize = 64 << 20;

/// A record, and the batch that it was stored in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StoredRecord {
    /// The folder of its partition, without the topic's name.
    pub(super) partition: String,
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
}

/// When a producer's first batch was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstAppend {
    pub(super) producer: i64,
    pub(super) at_ms: i64,
}

/// What a data folder contains of the run's topics.
#[derive(Debug, Default)]
pub(super) struct StoredTopic {
    /// In a fixed order.
    pub(super) records: Vec<StoredRecord>,
    pub(super) first_appends: Vec<FirstAppend>,
}

/// Reads all partitions of the run's topics below a folder.
pub(super) fn stored(data: &Path) -> Result<StoredTopic> {
    let mut found = StoredTopic::default();
    let mut dirs = vec![data.to_owned()];
    while let Some(dir) = dirs.pop() {
        let entries = fs::read_dir(&dir).with_context(|| format!("no {}", dir.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            let is_log = path.extension().is_some_and(|ending| ending == "log");
            if let (true, Some((topic, partition))) = (is_log, name.rsplit_once('-'))
                && topic.starts_with("kgauge-")
            {
                read_log(&fs::read(&path)?, partition, &mut found)?;
            }
        }
    }
    found.records.sort();
    Ok(found)
}

fn read_log(bytes: &[u8], partition: &str, found: &mut StoredTopic) -> Result<()> {
    let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
    for batch in batches(bytes) {
        let batch = batch?;
        note_append(
            FirstAppend {
                producer: batch.header.producer_id,
                at_ms: batch.header.max_timestamp_ms,
            },
            found,
        );
        for record in batch.records(&mut decompressor, &mut scratch, BATCH_BYTES_MAX)? {
            let record = record?;
            found.records.push(StoredRecord {
                partition: partition.to_owned(),
                key: record.key.unwrap_or_default().to_vec(),
                value: record.value.unwrap_or_default().to_vec(),
            });
        }
    }
    Ok(())
}

fn note_append(append: FirstAppend, found: &mut StoredTopic) {
    let mut known = found.first_appends.iter_mut();
    match known.find(|known| known.producer == append.producer) {
        Some(known) => known.at_ms = known.at_ms.min(append.at_ms),
        None => found.first_appends.push(append),
    }
}
