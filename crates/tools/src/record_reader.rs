//! Reads records of assigned partitions, one request to one broker at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use kgauge_client::Cluster;
use kgauge_wire::compress::{Codec, Decompressor};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::message_set::messages;
use kgauge_wire::messages::FetchRequest;
use kgauge_wire::messages::fetch::{FetchPartition, FetchTopic};
use kgauge_wire::record_batch::{BYTES_TO_MAGIC, batches};

use crate::failure::ToolFailure;
use crate::record_writer::VERSION_MAX;

/// Limits the size of a decompressed batch.
const DECOMPRESSED_BYTES_MAX: usize = 256 << 20;

/// The version of record batches, as opposed to message sets.
const MAGIC_BATCH: u8 = 2;

/// A record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadRecord {
    pub(crate) partition: u32,
    pub(crate) offset: i64,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Option<Vec<u8>>,
}

/// The settings of a reader.
pub(crate) struct ReaderSettings {
    /// How long a broker may wait for records.
    pub(crate) wait: Duration,
    pub(crate) request_timeout: Duration,
    /// The maximum per partition and response.
    pub(crate) partition_bytes_max: i32,
}

/// Reads one topic.
pub(crate) struct RecordReader {
    cluster: Cluster,
    topic: String,
    settings: ReaderSettings,
    /// The next offset of each partition.
    pub(crate) positions: BTreeMap<u32, i64>,
    /// Counts requests, so that brokers take turns.
    turn: usize,
    decoder: RecordDecoder,
}

/// Decodes records of either format.
struct RecordDecoder {
    decompressor: Decompressor,
    scratch: Vec<u8>,
}

impl RecordReader {
    /// A reader without partitions.
    pub(crate) fn new(cluster: Cluster, topic: &str, settings: ReaderSettings) -> RecordReader {
        RecordReader {
            cluster,
            topic: topic.to_owned(),
            settings,
            positions: BTreeMap::new(),
            turn: 0,
            decoder: RecordDecoder {
                decompressor: Decompressor::new(),
                scratch: Vec::new(),
            },
        }
    }

    /// Fetches from one broker. The result is empty if no records came.
    pub(crate) fn poll(&mut self) -> Result<Vec<ReadRecord>, ToolFailure> {
        let mut by_leader: BTreeMap<i32, Vec<FetchPartition>> = BTreeMap::new();
        for (&partition, &fetch_offset) in &self.positions {
            let partition = i32::try_from(partition).unwrap_or(i32::MAX);
            let leader = self.cluster.leader(&self.topic, partition)?;
            let partitions = by_leader.entry(leader.broker_id).or_default();
            partitions.push(FetchPartition {
                partition,
                fetch_offset,
                partition_max_bytes: self.settings.partition_bytes_max,
                ..FetchPartition::default()
            });
        }
        self.turn += 1;
        let index = self.turn % by_leader.len().max(1);
        let Some((leader, partitions)) = by_leader.into_iter().nth(index) else {
            return Ok(Vec::new());
        };
        let records = self.fetch(leader, partitions);
        if records.is_err() {
            // A leader may have moved. The next call reports if the cluster cannot be reached.
            let _ = self.cluster.refresh(&[&self.topic]);
        }
        records
    }

    fn fetch(
        &mut self,
        leader: i32,
        partitions: Vec<FetchPartition>,
    ) -> Result<Vec<ReadRecord>, ToolFailure> {
        let ReaderSettings {
            wait,
            request_timeout,
            ..
        } = self.settings;
        let request = FetchRequest {
            max_wait_ms: i32::try_from(wait.as_millis()).unwrap_or(i32::MAX),
            min_bytes: 1,
            max_bytes: 50 << 20,
            topics: vec![FetchTopic {
                topic: self.topic.as_str().into(),
                partitions,
                ..FetchTopic::default()
            }],
            ..FetchRequest::default()
        };
        let limit = request_timeout + wait;
        let reply = self
            .cluster
            .call_between(leader, &request, 0..=VERSION_MAX, limit)?;
        let response = reply.decode().map_err(ToolFailure::of)?;
        let mut all = Vec::new();
        for answer in response
            .responses
            .iter()
            .flat_map(|topic| &topic.partitions)
        {
            let partition = u32::try_from(answer.partition_index).unwrap_or(u32::MAX);
            let from = self.positions.get(&partition).copied().unwrap_or(0);
            let code = ErrorCode::from(answer.error_code);
            if !code.is_none() {
                return Err(ToolFailure::Failed(format!(
                    "partition {partition} at offset {from}: {code}"
                )));
            }
            let bytes = answer.records.as_deref().unwrap_or_default();
            let records = self.decoder.decode(bytes, partition)?;
            let new = records.into_iter().filter(|record| record.offset >= from);
            let before = all.len();
            all.extend(new);
            if let Some(last) = all[before..].last() {
                self.positions.insert(partition, last.offset + 1);
            }
        }
        Ok(all)
    }
}

impl RecordDecoder {
    /// All records of a partition's answer.
    fn decode(&mut self, bytes: &[u8], partition: u32) -> Result<Vec<ReadRecord>, ToolFailure> {
        let mut records = Vec::new();
        let mut add = |offset: i64, key: Option<&[u8]>, value: Option<&[u8]>| {
            records.push(ReadRecord {
                partition,
                offset,
                key: key.map(<[u8]>::to_vec),
                value: value.map(<[u8]>::to_vec),
            });
        };
        let magic = bytes.get(BYTES_TO_MAGIC - 1);
        if magic.is_some_and(|&magic| magic != MAGIC_BATCH) {
            for entry in messages(bytes) {
                let entry = entry.map_err(ToolFailure::of)?;
                if entry.codec().map_err(ToolFailure::of)? != Codec::None {
                    let message = "compressed messages of Kafka before 0.11 are not supported";
                    return Err(ToolFailure::of(message));
                }
                let message = entry.message().map_err(ToolFailure::of)?;
                add(entry.offset, message.key, message.value);
            }
            return Ok(records);
        }
        self.scratch.clear();
        for batch in batches(bytes) {
            let batch = batch.map_err(ToolFailure::of)?;
            if batch.header.attributes.is_control() {
                continue;
            }
            let (decompressor, scratch) = (&mut self.decompressor, &mut self.scratch);
            let decoded = batch.records(decompressor, scratch, DECOMPRESSED_BYTES_MAX);
            for record in decoded.map_err(ToolFailure::of)? {
                let record = record.map_err(ToolFailure::of)?;
                add(record.offset, record.key, record.value);
            }
        }
        Ok(records)
    }
}
