//! Reads records of assigned partitions, one request a broker at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use kgauge_client::{Cluster, Connection};
use kgauge_wire::api::ApiKey;
use kgauge_wire::compress::Decompressor;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::message_set::messages;
use kgauge_wire::messages::FetchRequest;
use kgauge_wire::messages::fetch::{FetchPartition, FetchTopic};
use kgauge_wire::record_batch::{BYTES_TO_MAGIC, batches};

use super::BY_NAME_MAX;

/// One decompressed section may not grow beyond this.
const DECOMPRESSED_BYTES_MAX: usize = 256 << 20;

/// A record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadRecord {
    pub(crate) partition: u32,
    pub(crate) offset: i64,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Option<Vec<u8>>,
}

/// What a reader is made from.
pub(crate) struct ReaderSetup {
    pub(crate) cluster: Cluster,
    pub(crate) topic: String,
    /// How long a broker may wait for records.
    pub(crate) wait: Duration,
    pub(crate) request_timeout: Duration,
    /// The most bytes of one partition in one answer.
    pub(crate) partition_bytes_max: u32,
}

/// Reads one topic.
pub(crate) struct TopicReader {
    setup: ReaderSetup,
    links: BTreeMap<i32, Connection>,
    /// For each partition the next offset.
    positions: BTreeMap<u32, i64>,
    /// Which broker is asked next, so that all have their turn.
    turn: usize,
    decompressor: Decompressor,
    scratch: Vec<u8>,
}

impl TopicReader {
    /// A reader that has no partitions.
    pub(crate) fn new(setup: ReaderSetup) -> TopicReader {
        TopicReader {
            setup,
            links: BTreeMap::new(),
            positions: BTreeMap::new(),
            turn: 0,
            decompressor: Decompressor::new(),
            scratch: Vec::new(),
        }
    }

    /// Reads these partitions from these offsets, and no others.
    pub(crate) fn assign(&mut self, positions: impl IntoIterator<Item = (u32, i64)>) {
        self.positions = positions.into_iter().collect();
    }

    /// The next offset of each partition.
    pub(crate) fn positions(&self) -> &BTreeMap<u32, i64> {
        &self.positions
    }

    /// Goes back (or on) to an offset.
    pub(crate) fn seek(&mut self, partition: u32, offset: i64) {
        self.positions.insert(partition, offset);
    }

    /// Asks one broker for what its partitions have; empty when nothing came.
    ///
    /// # Errors
    /// In words: a connection that broke, an answer that cannot be read, a refusal.
    pub(crate) fn poll(&mut self) -> Result<Vec<ReadRecord>, String> {
        let mut by_leader: BTreeMap<i32, Vec<(u32, i64)>> = BTreeMap::new();
        for (&partition, &offset) in &self.positions {
            let index = i32::try_from(partition).unwrap_or(i32::MAX);
            let leader = self.setup.cluster.leader(&self.setup.topic, index);
            let leader = leader.map_err(|error| error.to_string())?.broker_id;
            by_leader
                .entry(leader)
                .or_default()
                .push((partition, offset));
        }
        if by_leader.is_empty() {
            return Ok(Vec::new());
        }
        self.turn = (self.turn + 1) % by_leader.len();
        let Some((&leader, partitions)) = by_leader.iter().nth(self.turn) else {
            return Ok(Vec::new());
        };
        let asked = self.ask(leader, partitions);
        if asked.is_err() {
            self.links.remove(&leader);
            // A leader may have moved: look again before the next time.
            let topic = self.setup.topic.clone();
            let _ = self.setup.cluster.refresh(&[&topic]);
        }
        asked
    }

    fn ask(&mut self, leader: i32, partitions: &[(u32, i64)]) -> Result<Vec<ReadRecord>, String> {
        if !self.links.contains_key(&leader) {
            let link = self.setup.cluster.open(leader);
            self.links
                .insert(leader, link.map_err(|error| error.to_string())?);
        }
        let Some(link) = self.links.get_mut(&leader) else {
            return Ok(Vec::new());
        };
        let version = link
            .api_versions()
            .highest_common(ApiKey::Fetch, 0..=BY_NAME_MAX)
            .unwrap_or(0);
        let bytes_max = i32::try_from(self.setup.partition_bytes_max).unwrap_or(i32::MAX);
        let wanted = |&(partition, offset): &(u32, i64)| FetchPartition {
            partition: i32::try_from(partition).unwrap_or(i32::MAX),
            fetch_offset: offset,
            partition_max_bytes: bytes_max,
            ..FetchPartition::default()
        };
        let request = FetchRequest {
            max_wait_ms: i32::try_from(self.setup.wait.as_millis()).unwrap_or(i32::MAX),
            min_bytes: 1,
            max_bytes: 50 << 20,
            topics: vec![FetchTopic {
                topic: self.setup.topic.as_str().into(),
                partitions: partitions.iter().map(wanted).collect(),
                ..FetchTopic::default()
            }],
            ..FetchRequest::default()
        };
        let limit = self.setup.request_timeout + self.setup.wait;
        let reply = link
            .call_between(&request, version..=version, limit)
            .map_err(|error| error.to_string())?;
        let answer = reply.decode().map_err(|error| error.to_string())?;
        let mut taken = Vec::new();
        for told in answer.responses.iter().flat_map(|topic| &topic.partitions) {
            let partition = u32::try_from(told.partition_index).unwrap_or(u32::MAX);
            let from = self.positions.get(&partition).copied().unwrap_or(0);
            match ErrorCode::from(told.error_code) {
                ErrorCode::None => {}
                code => return Err(format!("partition {partition} at offset {from}: {code}")),
            }
            let records = told.records.as_deref().unwrap_or_default();
            let before = taken.len();
            self.scratch.clear();
            read(
                records,
                partition,
                from,
                (&mut self.decompressor, &mut self.scratch),
                &mut taken,
            )?;
            if let Some(last) = taken[before..].last() {
                self.positions.insert(partition, last.offset + 1);
            }
        }
        Ok(taken)
    }
}

/// The records from an offset on, whatever their format.
fn read(
    bytes: &[u8],
    partition: u32,
    from: i64,
    (decompressor, scratch): (&mut Decompressor, &mut Vec<u8>),
    taken: &mut Vec<ReadRecord>,
) -> Result<(), String> {
    const MAGIC_BATCH: u8 = 2;
    let mut take = |offset: i64, key: Option<&[u8]>, value: Option<&[u8]>| {
        if offset >= from {
            taken.push(ReadRecord {
                partition,
                offset,
                key: key.map(<[u8]>::to_vec),
                value: value.map(<[u8]>::to_vec),
            });
        }
    };
    let is_batch = bytes
        .get(BYTES_TO_MAGIC - 1)
        .is_none_or(|&magic| magic == MAGIC_BATCH);
    if !is_batch {
        for entry in messages(bytes) {
            let entry = entry.map_err(|error| error.to_string())?;
            let codec = entry.codec().map_err(|error| error.to_string())?;
            if codec != kgauge_wire::compress::Codec::None {
                return Err("compressed messages of before Kafka 0.11 are not read here".to_owned());
            }
            let message = entry.message().map_err(|error| error.to_string())?;
            take(entry.offset, message.key, message.value);
        }
        return Ok(());
    }
    for batch in batches(bytes) {
        let batch = batch.map_err(|error| error.to_string())?;
        if batch.header.attributes.is_control() {
            continue;
        }
        let records = batch
            .records(decompressor, scratch, DECOMPRESSED_BYTES_MAX)
            .map_err(|error| error.to_string())?;
        for record in records {
            let record = record.map_err(|error| error.to_string())?;
            take(record.offset, record.key, record.value);
        }
    }
    Ok(())
}
