//! Writes records, one batch per request, and returns their offsets.

use std::time::{Duration, Instant};

use kgauge_client::{CallError, ClientConfig, Cluster, ClusterError};
use kgauge_scenario::{ProduceFlow, ProducerSettings, RecordPlan};
use kgauge_wire::api::ApiKey;
use kgauge_wire::compress::Compressor;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::message_set::{Format, MessageSetEncoder};
use kgauge_wire::messages::ProduceRequest;
use kgauge_wire::messages::produce::{PartitionProduceData, TopicProduceData};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

use crate::context::ToolContext;
use crate::failure::ToolFailure;
use crate::load::FLOW;
use crate::properties::{ClientRole, PropertySources};

/// The last version of Produce and of Fetch that names topics; later ones need their ids.
pub(crate) const VERSION_MAX: i16 = 12;

/// A record to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OutgoingRecord {
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Vec<u8>,
    pub(crate) headers: Vec<(String, Option<Vec<u8>>)>,
    pub(crate) timestamp_ms: i64,
}

/// Why records were not written, as Kafka's producer reports it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{exception}: {message}")]
pub(crate) struct SendError {
    /// Kafka's exception class.
    pub(crate) exception: String,
    pub(crate) message: String,
    is_retriable: bool,
}

/// How a tool that writes single batches reaches its cluster.
pub(crate) struct WriterSettings {
    pub(crate) client: ClientConfig,
    pub(crate) producer: ProducerSettings,
}

impl WriterSettings {
    /// Reads a file of settings. `acks` and `own` replace those of the file.
    pub(crate) fn read(
        servers: &str,
        acks: &str,
        file: Option<&str>,
        own: (&'static str, &str),
        context: &ToolContext<'_>,
    ) -> Result<WriterSettings, ToolFailure> {
        let flags = [
            ("bootstrap.servers", servers),
            ("acks", acks),
            ("enable.idempotence", "false"),
            own,
        ];
        let sources = PropertySources {
            file,
            flags: flags.map(|(key, value)| (key, value.to_owned())).into(),
            ..PropertySources::default()
        };
        let properties = sources.read(ClientRole::Producer, context)?;
        let record = RecordPlan::of_values(1);
        let flow = ProduceFlow::from_properties(FLOW, record, None, &properties.flow)?;
        Ok(WriterSettings {
            client: properties.client,
            producer: flow.settings,
        })
    }
}

/// Writes to one topic.
pub(crate) struct RecordWriter<'a> {
    /// Its metadata contain the topic.
    pub(crate) cluster: Cluster,
    pub(crate) topic: &'a str,
    pub(crate) partitions: u32,
    settings: &'a ProducerSettings,
    compressor: Compressor,
}

impl<'a> RecordWriter<'a> {
    /// A writer to a topic of `partitions` partitions, which the cluster's metadata contain.
    pub(crate) fn new(
        cluster: Cluster,
        topic: &'a str,
        partitions: usize,
        settings: &'a ProducerSettings,
    ) -> Result<RecordWriter<'a>, ToolFailure> {
        if settings.acks.wire() == 0 {
            let message = "acks=0 is not supported by this tool; write acks=1";
            return Err(ToolFailure::Unsupported(message.to_owned()));
        }
        let codec = kgauge_load::codec(settings.compression.codec);
        let compressor = Compressor::new(codec, settings.compression.level);
        Ok(RecordWriter {
            cluster,
            topic,
            partitions: u32::try_from(partitions.max(1)).unwrap_or(u32::MAX),
            settings,
            compressor: compressor.map_err(ToolFailure::of)?,
        })
    }

    /// Writes records to a partition, with the retries of Kafka's producer. Returns the first record's offset.
    pub(crate) fn send(
        &mut self,
        partition: u32,
        records: &[OutgoingRecord],
    ) -> Result<i64, SendError> {
        let deadline = Instant::now() + Duration::from_nanos(self.settings.delivery_timeout_ns);
        let mut retries = self.settings.retries;
        loop {
            let error = match self.send_once(partition, records) {
                Ok(offset) => return Ok(offset),
                Err(error) => error,
            };
            if !error.is_retriable || retries == 0 || Instant::now() >= deadline {
                return Err(error);
            }
            retries -= 1;
            std::thread::sleep(Duration::from_nanos(self.settings.retry_backoff_ns));
            // If the metadata cannot be had, the next attempt reports why.
            let _ = self.cluster.refresh(&[self.topic]);
        }
    }

    fn send_once(&mut self, partition: u32, records: &[OutgoingRecord]) -> Result<i64, SendError> {
        let index = i32::try_from(partition).unwrap_or(i32::MAX);
        let leader = self.cluster.known_leader(self.topic, index);
        let leader = leader.map_err(|_| SendError::new(ErrorCode::LeaderNotAvailable, None))?;
        let versions = self.cluster.api_versions(leader.broker_id)?;
        let version = versions.highest_common(ApiKey::Produce, 0..=VERSION_MAX);
        let version = version.unwrap_or(0);
        let bytes = encode(version, records, &mut self.compressor).map_err(SendError::lost)?;
        let timeout = Duration::from_nanos(self.settings.request_timeout_ns);
        let request = ProduceRequest {
            transactional_id: None,
            acks: self.settings.acks.wire(),
            timeout_ms: i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX),
            topic_data: vec![TopicProduceData {
                name: self.topic.into(),
                partition_data: vec![PartitionProduceData {
                    index,
                    records: Some(bytes.as_slice().into()),
                }],
                ..TopicProduceData::default()
            }],
        };
        let broker = leader.broker_id;
        let reply = self
            .cluster
            .call_between(broker, &request, version..=version, timeout)?;
        let response = reply.decode()?;
        let topic = response.responses.first();
        let Some(result) = topic.and_then(|topic| topic.partition_responses.first()) else {
            return Err(SendError::lost("the response is empty"));
        };
        match ErrorCode::from(result.error_code) {
            ErrorCode::None => Ok(result.base_offset),
            code => Err(SendError::new(code, result.error_message.as_deref())),
        }
    }
}

impl SendError {
    fn new(code: ErrorCode, message: Option<&str>) -> SendError {
        SendError {
            exception: exception(code),
            message: message.map_or_else(|| code.to_string(), str::to_owned),
            is_retriable: code.is_retriable(),
        }
    }

    /// No response came.
    fn lost(error: impl std::fmt::Display) -> SendError {
        SendError {
            exception: "class org.apache.kafka.common.errors.NetworkException".to_owned(),
            message: error.to_string(),
            is_retriable: true,
        }
    }
}

impl From<ClusterError> for SendError {
    fn from(error: ClusterError) -> SendError {
        SendError::lost(error)
    }
}

impl From<CallError> for SendError {
    fn from(error: CallError) -> SendError {
        SendError::lost(error)
    }
}

/// Kafka names its exceptions after its codes: `NOT_ENOUGH_REPLICAS`, `NotEnoughReplicasException`.
fn exception(code: ErrorCode) -> String {
    let code = code.to_string();
    let mut parts = code.split(|c: char| !c.is_ascii_uppercase() && c != '_');
    let words = parts.next().unwrap_or_default().split('_').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{first}{}", rest.to_ascii_lowercase())
    });
    let name: String = words.collect();
    format!("class org.apache.kafka.common.errors.{name}Exception")
}

/// The records in the format of a version of Produce.
fn encode(
    version: i16,
    records: &[OutgoingRecord],
    compressor: &mut Compressor,
) -> Result<Vec<u8>, String> {
    let base_ms = records.first().map_or(0, |record| record.timestamp_ms);
    let words = |error: &dyn std::fmt::Display| error.to_string();
    if version >= 3 {
        let mut batch = BatchEncoder::with_capacity(1024);
        batch.start(base_ms);
        for record in records {
            let headers = record.headers.iter();
            let headers: Vec<(&str, Option<&[u8]>)> = headers
                .map(|(key, value)| (key.as_str(), value.as_deref()))
                .collect();
            let value = Some(record.value.as_slice());
            batch.append(record.timestamp_ms, record.key.as_deref(), value, &headers);
        }
        let bytes = batch.finish_compressed(&ProducerState::NONE, compressor);
        return bytes.map(<[u8]>::to_vec).map_err(|error| words(&error));
    }
    if records.iter().any(|record| !record.headers.is_empty()) {
        return Err("headers need Kafka 0.11 or newer".to_owned());
    }
    let format = if version < 2 { Format::V0 } else { Format::V1 };
    let mut set = MessageSetEncoder::new(format, 1024);
    set.start(base_ms);
    for record in records {
        let value = Some(record.value.as_slice());
        set.append(record.timestamp_ms, record.key.as_deref(), value);
    }
    let bytes = set.finish_compressed(compressor);
    bytes.map(<[u8]>::to_vec).map_err(|error| words(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_have_kafkas_names() {
        assert_eq!(
            exception(ErrorCode::NotEnoughReplicas),
            "class org.apache.kafka.common.errors.NotEnoughReplicasException"
        );
    }

    #[test]
    fn old_releases_carry_no_headers() {
        let mut none = Compressor::new(kgauge_wire::compress::Codec::None, None).unwrap();
        let mut record = OutgoingRecord {
            value: b"v".to_vec(),
            ..OutgoingRecord::default()
        };
        assert!(encode(0, std::slice::from_ref(&record), &mut none).is_ok());
        record.headers.push(("h".to_owned(), None));
        assert!(encode(2, std::slice::from_ref(&record), &mut none).is_err());
        assert!(encode(3, &[record], &mut none).is_ok());
    }
}
