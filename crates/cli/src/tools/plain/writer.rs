//! Writes records, a batch a request, and hears their offsets.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kgauge_client::cluster::Topic;
use kgauge_client::{CallError, Cluster, Connection};
use kgauge_scenario::ProducerSettings;
use kgauge_wire::api::ApiKey;
use kgauge_wire::compress::Compressor;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::message_set::{Format, MessageSetEncoder};
use kgauge_wire::messages::ProduceRequest;
use kgauge_wire::messages::produce::{PartitionProduceData, TopicProduceData};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

use super::BY_NAME_MAX;

/// A record to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Vec<u8>,
    pub(crate) headers: Vec<(String, Option<Vec<u8>>)>,
    pub(crate) timestamp_ms: i64,
}

/// Why records were not written, as Kafka's producer would say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SendFailure {
    /// The name of Kafka's exception.
    pub(crate) exception: String,
    pub(crate) message: String,
    /// Nobody knows whether the broker has them.
    pub(crate) is_unsure: bool,
}

/// What a writer is made from.
pub(crate) struct WriterSetup<'a> {
    pub(crate) cluster: Cluster,
    pub(crate) topic: &'a Topic,
    pub(crate) settings: &'a ProducerSettings,
}

/// Writes to one topic.
pub(crate) struct TopicWriter {
    cluster: Cluster,
    topic: String,
    leaders: Vec<Option<i32>>,
    links: BTreeMap<i32, Connection>,
    acks: i16,
    request_timeout: Duration,
    delivery_timeout: Duration,
    backoff: Duration,
    retries: u32,
    compressor: Compressor,
}

impl TopicWriter {
    /// A writer that has not written anything.
    ///
    /// # Errors
    /// In words: settings that it cannot honour.
    pub(crate) fn new(setup: WriterSetup<'_>) -> Result<TopicWriter, String> {
        let settings = setup.settings;
        if settings.acks.wire() == 0 {
            return Err("acks=0 is not supported by this tool here: write acks=1".to_owned());
        }
        let compression = settings.compression;
        let codec = kgauge_load::codec(compression.codec);
        let compressor = Compressor::new(codec, compression.level);
        let partitions = setup.topic.partitions.iter();
        Ok(TopicWriter {
            cluster: setup.cluster,
            topic: setup.topic.name.clone(),
            leaders: partitions.map(|partition| partition.leader_id).collect(),
            links: BTreeMap::new(),
            acks: settings.acks.wire(),
            request_timeout: Duration::from_nanos(settings.request_timeout_ns),
            delivery_timeout: Duration::from_nanos(settings.delivery_timeout_ns),
            backoff: Duration::from_nanos(settings.retry_backoff_ns),
            retries: settings.retries,
            compressor: compressor.map_err(|error| error.to_string())?,
        })
    }

    /// How many partitions there are.
    pub(crate) fn partitions(&self) -> u32 {
        u32::try_from(self.leaders.len()).unwrap_or(u32::MAX)
    }

    /// Writes records to a partition, trying again as Kafka's producer does; the first one's offset.
    pub(crate) fn send(
        &mut self,
        partition: u32,
        records: &[Outgoing],
    ) -> Result<i64, SendFailure> {
        let deadline = Instant::now() + self.delivery_timeout;
        let mut left = self.retries;
        loop {
            let failed = match self.send_once(partition, records) {
                Ok(offset) => return Ok(offset),
                Err(failed) => failed,
            };
            let may_retry = failed.may_retry && left > 0 && Instant::now() < deadline;
            if !may_retry {
                return Err(failed.failure);
            }
            left -= 1;
            std::thread::sleep(self.backoff);
            self.find_leaders();
        }
    }

    fn send_once(&mut self, partition: u32, records: &[Outgoing]) -> Result<i64, Attempt> {
        let leader = self.leaders.get(partition as usize).copied().flatten();
        let leader = leader.ok_or_else(|| Attempt::code(ErrorCode::LeaderNotAvailable, None))?;
        if !self.links.contains_key(&leader) {
            let link = self.cluster.open(leader);
            let link = link.map_err(|error| Attempt::lost(error.to_string(), false))?;
            self.links.insert(leader, link);
        }
        let Some(link) = self.links.get_mut(&leader) else {
            return Err(Attempt::code(ErrorCode::LeaderNotAvailable, None));
        };
        let version = link
            .api_versions()
            .highest_common(ApiKey::Produce, 0..=BY_NAME_MAX)
            .unwrap_or(0);
        let bytes = encode(version, records, &mut self.compressor)
            .map_err(|error| Attempt::lost(error, false))?;
        let request = ProduceRequest {
            transactional_id: None,
            acks: self.acks,
            timeout_ms: i32::try_from(self.request_timeout.as_millis()).unwrap_or(i32::MAX),
            topic_data: vec![TopicProduceData {
                name: self.topic.as_str().into(),
                partition_data: vec![PartitionProduceData {
                    index: i32::try_from(partition).unwrap_or(i32::MAX),
                    records: Some(bytes.as_slice().into()),
                }],
                ..TopicProduceData::default()
            }],
        };
        let reply = link.call_between(&request, version..=version, self.request_timeout);
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => {
                self.links.remove(&leader);
                let was_sent = !matches!(error, CallError::Unsupported { .. });
                return Err(Attempt::lost(error.to_string(), was_sent));
            }
        };
        let answer = reply
            .decode()
            .map_err(|error| Attempt::lost(error.to_string(), true))?;
        let told = answer.responses.first();
        let told = told.and_then(|topic| topic.partition_responses.first());
        let told = told.ok_or_else(|| Attempt::lost("no answer".to_owned(), true))?;
        match ErrorCode::from(told.error_code) {
            ErrorCode::None => Ok(told.base_offset),
            code => Err(Attempt::code(code, told.error_message.as_deref())),
        }
    }

    fn find_leaders(&mut self) {
        let Ok(metadata) = self.cluster.refresh(&[&self.topic]) else {
            return;
        };
        if let Some(topic) = metadata.topic(&self.topic) {
            for partition in &topic.partitions {
                let index = usize::try_from(partition.index).unwrap_or(usize::MAX);
                if let Some(leader) = self.leaders.get_mut(index) {
                    *leader = partition.leader_id;
                }
            }
        }
    }
}

/// One attempt that failed.
struct Attempt {
    failure: SendFailure,
    may_retry: bool,
}

impl Attempt {
    fn code(code: ErrorCode, message: Option<&str>) -> Attempt {
        let words = message.map_or_else(|| code.to_string(), str::to_owned);
        Attempt {
            failure: SendFailure {
                exception: exception(code),
                message: words,
                is_unsure: false,
            },
            may_retry: code.is_retriable(),
        }
    }

    fn lost(message: String, is_unsure: bool) -> Attempt {
        Attempt {
            failure: SendFailure {
                exception: "class org.apache.kafka.common.errors.NetworkException".to_owned(),
                message,
                is_unsure,
            },
            may_retry: true,
        }
    }
}

/// Kafka names its exceptions after its codes: `NOT_ENOUGH_REPLICAS`, `NotEnoughReplicasException`.
fn exception(code: ErrorCode) -> String {
    let code = code.to_string();
    let name = code
        .split(|c: char| !c.is_ascii_uppercase() && c != '_')
        .next();
    let words = name.unwrap_or_default().split('_').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{first}{}", rest.to_ascii_lowercase())
    });
    let name: String = words.collect();
    format!("class org.apache.kafka.common.errors.{name}Exception")
}

/// The records as a version of Produce carries them.
fn encode(
    version: i16,
    records: &[Outgoing],
    compressor: &mut Compressor,
) -> Result<Vec<u8>, String> {
    let base_ms = records.first().map_or(0, |record| record.timestamp_ms);
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
        let done = batch.finish_compressed(&ProducerState::NONE, compressor);
        return done.map(<[u8]>::to_vec).map_err(|error| error.to_string());
    }
    if records.iter().any(|record| !record.headers.is_empty()) {
        return Err("headers need Kafka 0.11 or newer".to_owned());
    }
    let format = if version < 2 { Format::V0 } else { Format::V1 };
    let mut set = MessageSetEncoder::new(format, 1024);
    set.start(base_ms);
    for record in records {
        set.append(
            record.timestamp_ms,
            record.key.as_deref(),
            Some(&record.value),
        );
    }
    let done = set.finish_compressed(compressor);
    done.map(<[u8]>::to_vec).map_err(|error| error.to_string())
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
        let mut record = Outgoing {
            value: b"v".to_vec(),
            ..Outgoing::default()
        };
        assert!(encode(0, std::slice::from_ref(&record), &mut none).is_ok());
        record.headers.push(("h".to_owned(), None));
        assert!(encode(2, std::slice::from_ref(&record), &mut none).is_err());
        assert!(encode(3, &[record], &mut none).is_ok());
    }
}
