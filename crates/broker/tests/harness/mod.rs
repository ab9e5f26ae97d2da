//! A tiny blocking client, and clusters on temporary folders.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use kgauge_broker::{ClusterConfig, ClusterHandle, EmbeddedCluster};
use kgauge_wire::codec::{Bytes, Reader, Str};
use kgauge_wire::frame::put_request;
use kgauge_wire::header::ResponseHeader;
use kgauge_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use kgauge_wire::messages::fetch::{FetchPartition, FetchRequest, FetchTopic};
use kgauge_wire::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use kgauge_wire::messages::produce::{PartitionProduceData, ProduceRequest, TopicProduceData};
use kgauge_wire::messages::{Message, Request};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};
use tempfile::TempDir;

/// A cluster on a folder that goes with it.
pub(crate) struct Running {
    pub(crate) cluster: ClusterHandle,
    pub(crate) dir: TempDir,
}

pub(crate) fn start(nodes: u16) -> Running {
    let dir = tempfile::tempdir().unwrap();
    let cluster = EmbeddedCluster::start(ClusterConfig::new(dir.path()).with_nodes(nodes)).unwrap();
    Running { cluster, dir }
}

/// One connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    correlation_id: i32,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        // A test that hangs must fail.
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            correlation_id: 0,
        }
    }

    pub(crate) fn send<'a, R: Request<'a>>(&mut self, version: i16, request: &R) {
        let mut bytes = Vec::new();
        self.correlation_id += 1;
        put_request(
            &mut bytes,
            version,
            self.correlation_id,
            Some("test"),
            request,
        )
        .unwrap();
        self.stream.write_all(&bytes).unwrap();
    }

    pub(crate) fn receive<R: Request<'static>>(&mut self, version: i16) -> R::Response<'static> {
        let mut size = [0; 4];
        self.stream.read_exact(&mut size).unwrap();
        let mut bytes = vec![0; usize::try_from(i32::from_be_bytes(size)).unwrap()];
        self.stream.read_exact(&mut bytes).unwrap();
        decode::<R>(version, bytes)
    }

    pub(crate) fn ask<R: Request<'static>>(
        &mut self,
        version: i16,
        request: &R,
    ) -> R::Response<'static> {
        self.send(version, request);
        self.receive::<R>(version)
    }

    /// Whether the other side has closed the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0; 1]), Ok(0) | Err(_))
    }

    pub(crate) fn create_topic(&mut self, name: &'static str, partitions: i32) {
        let topic = CreatableTopic {
            name: Str::Borrowed(name),
            num_partitions: partitions,
            replication_factor: -1,
            ..CreatableTopic::default()
        };
        let request = CreateTopicsRequest {
            topics: vec![topic],
            ..Default::default()
        };
        assert_eq!(self.ask(7, &request).topics[0].error_code, 0);
    }

    /// Sets one setting of a topic.
    pub(crate) fn set_topic_config(
        &mut self,
        topic: &'static str,
        name: &'static str,
        value: &'static str,
    ) {
        let config = AlterableConfig {
            name: Str::Borrowed(name),
            config_operation: 0,
            value: Some(Str::Borrowed(value)),
        };
        let resource = AlterConfigsResource {
            resource_type: 2,
            resource_name: Str::Borrowed(topic),
            configs: vec![config],
        };
        let request = IncrementalAlterConfigsRequest {
            resources: vec![resource],
            ..Default::default()
        };
        assert_eq!(self.ask(1, &request).responses[0].error_code, 0);
    }

    /// Appends to a partition and gives the base offset.
    pub(crate) fn produce(&mut self, topic: &'static str, partition: i32, batch: Vec<u8>) -> i64 {
        let answer = self.ask(12, &produce_request(topic, partition, 1, batch));
        let response = &answer.responses[0].partition_responses[0];
        assert_eq!(response.error_code, 0, "{:?}", response.error_message);
        response.base_offset
    }

    /// Reads a partition from an offset on, as far as one answer goes.
    pub(crate) fn fetch(&mut self, topic: &'static str, partition: i32, offset: i64) -> Vec<u8> {
        let answer = self.ask(12, &fetch_request(topic, partition, offset, 0));
        let response = &answer.responses[0].partitions[0];
        assert_eq!(response.error_code, 0);
        response.records.as_deref().unwrap_or_default().to_vec()
    }
}

pub(crate) fn produce_request(
    topic: &'static str,
    partition: i32,
    acks: i16,
    batch: Vec<u8>,
) -> ProduceRequest<'static> {
    let data = PartitionProduceData {
        index: partition,
        records: Some(Bytes::Owned(batch)),
    };
    let topic = TopicProduceData {
        name: Str::Borrowed(topic),
        partition_data: vec![data],
        ..TopicProduceData::default()
    };
    ProduceRequest {
        acks,
        timeout_ms: 5000,
        topic_data: vec![topic],
        ..Default::default()
    }
}

pub(crate) fn fetch_request(
    topic: &'static str,
    partition: i32,
    offset: i64,
    wait_ms: i32,
) -> FetchRequest<'static> {
    let partition = FetchPartition {
        partition,
        fetch_offset: offset,
        partition_max_bytes: 64 << 20,
        ..FetchPartition::default()
    };
    FetchRequest {
        min_bytes: 1,
        max_wait_ms: wait_ms,
        topics: vec![FetchTopic {
            topic: Str::Borrowed(topic),
            partitions: vec![partition],
            ..FetchTopic::default()
        }],
        ..FetchRequest::default()
    }
}

/// The answer to a request in a frame without its size.
pub(crate) fn decode<R: Request<'static>>(version: i16, frame: Vec<u8>) -> R::Response<'static> {
    // Answers borrow from their bytes, and a test is over soon.
    let mut reader = Reader::new(Vec::leak(frame));
    ResponseHeader::decode(&mut reader, R::KEY.response_header_version(version)).unwrap();
    let answer = R::Response::decode(&mut reader, version).unwrap();
    assert!(reader.is_empty());
    answer
}

/// A batch of `records` records with values of `value_bytes` bytes, dated now.
pub(crate) fn batch(records: usize, value_bytes: usize) -> Vec<u8> {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let now_ms = i64::try_from(now.as_millis()).unwrap();
    let mut encoder = BatchEncoder::default();
    encoder.start(now_ms);
    let value = vec![b'x'; value_bytes];
    for _ in 0..records {
        encoder.append(now_ms, None, Some(&value), &[]);
    }
    encoder.finish(&ProducerState::NONE).to_vec()
}

/// How many records there are in batches.
pub(crate) fn count(bytes: &[u8]) -> i64 {
    kgauge_wire::record_batch::batches(bytes)
        .map_while(Result::ok)
        .map(|batch| i64::from(batch.header.record_count))
        .sum()
}
