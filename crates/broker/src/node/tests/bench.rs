//! The bench: carries messages between node and controller, and keeps what clients would see.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::{Bytes, Reader, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::frame::put_request;
use kgauge_wire::header::ResponseHeader;
use kgauge_wire::messages::create_topics::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use kgauge_wire::messages::metadata::MetadataRequest;
use kgauge_wire::messages::produce::{
    PartitionProduceData, PartitionProduceResponse, ProduceRequest, ProduceResponse,
    TopicProduceData,
};
use kgauge_wire::messages::{Message, Request};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

use crate::controller::{self, Controller};
use crate::ids::{ConnectionId, NodeId, PartitionId};
use crate::image::NodeImage;
use crate::log::PartitionLog;
use crate::node::{BrokerNode, CloseReason, Deviations, NodeConfig, NodeOutput, TURN_WORK_MAX};
use crate::settings::ConfigMap;
use crate::storage::{Crash, MemoryStorage, StorageError};
use crate::time::{NS_PER_MS, Now};

const NODE: NodeId = NodeId(1);

pub(crate) struct Bench {
    pub(crate) node: BrokerNode,
    pub(crate) storage: MemoryStorage,
    pub(crate) now: Now,
    pub(crate) closed: Vec<(ConnectionId, CloseReason)>,
    /// Reasons for which the node wants to be stopped.
    pub(crate) fatal: Vec<StorageError>,
    controller: Controller,
    settings: Arc<ConfigMap>,
    answers: BTreeMap<ConnectionId, VecDeque<Vec<u8>>>,
    connections: u64,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let settings: ConfigMap = settings.iter().map(pair).collect();
        let now = Now {
            mono_ns: 1_000_000,
            wall_ms: 1_700_000_000_000,
        };
        Self::start(MemoryStorage::new(), Arc::new(settings), now)
    }

    fn start(storage: MemoryStorage, settings: Arc<ConfigMap>, now: Now) -> Self {
        let fixed = Arc::clone(&settings);
        let controller = Controller::open(&storage.shared(), Path::new("/c"), fixed, 3).unwrap();
        let config = NodeConfig {
            id: NODE,
            reachable: NodeImage {
                host: "here".to_owned(),
                port: 9092,
                rack: None,
                epoch: 0,
                life: 0,
            },
            dir: PathBuf::from("/n"),
            storage: storage.shared(),
            settings: Arc::clone(&settings),
            seed: 5,
            stopped_in_order: true,
            damaged_logs: BTreeSet::new(),
            life: 1,
            deviations: Deviations::default(),
            turn_work_max: TURN_WORK_MAX,
            security: Arc::default(),
            counters: None,
        };
        let mut bench = Self {
            node: BrokerNode::new(now, config),
            storage,
            now,
            closed: Vec::new(),
            fatal: Vec::new(),
            controller,
            settings,
            answers: BTreeMap::new(),
            connections: 0,
        };
        bench.settle();
        bench
    }

    /// Stops in order and starts again on the same disk.
    pub(crate) fn restarted(self) -> Self {
        let (jobs, failures) = self.node.stop();
        assert!(failures.is_empty(), "{failures:?}");
        jobs.into_iter().for_each(|job| job.run().unwrap());
        Self::start(self.storage, self.settings, self.now)
    }

    /// Loses node and controller as a machine does, and starts again on what the disk kept.
    pub(crate) fn crashed(self, crash: Crash) -> Self {
        self.storage.crash(crash);
        Self::start(self.storage, self.settings, self.now)
    }

    /// Carries messages until there are none.
    pub(crate) fn settle(&mut self) {
        loop {
            let mut quiet = true;
            for output in self.node.outputs().collect::<Vec<_>>() {
                quiet = false;
                match output {
                    NodeOutput::Respond {
                        connection,
                        response,
                    } => {
                        let bytes = response.to_bytes().unwrap();
                        self.answers.entry(connection).or_default().push_back(bytes);
                    }
                    NodeOutput::Close { connection, reason } => {
                        self.closed.push((connection, reason))
                    }
                    NodeOutput::ToController(message) => {
                        self.controller.handle(self.now, NODE, message);
                    }
                    NodeOutput::Disk(job) => {
                        self.node.disk_done(self.now, job.run());
                    }
                    NodeOutput::Resume { .. } | NodeOutput::Notice(_) => {}
                    NodeOutput::ToPeer { .. } => panic!("there is no other node"),
                    NodeOutput::Fatal(error) => self.fatal.push(error),
                }
            }
            for output in self.controller.outputs().collect::<Vec<_>>() {
                quiet = false;
                match output {
                    controller::ControllerOutput::Send(NODE, message) => {
                        self.node.controller(self.now, message);
                    }
                    other => panic!("{other:?}"),
                }
            }
            if quiet {
                return;
            }
        }
    }

    /// Lets time pass, timer by timer.
    pub(crate) fn pass_ms(&mut self, ms: u64) {
        let end_ns = self.now.mono_ns + ms * NS_PER_MS;
        let wall_end_ms = self.now.wall_ms + i64::try_from(ms).unwrap();
        while let Some(next_ns) = self.node.next_timer().filter(|next| *next <= end_ns) {
            self.now.mono_ns = self.now.mono_ns.max(next_ns);
            let left_ms = (end_ns - self.now.mono_ns) / NS_PER_MS;
            self.now.wall_ms = wall_end_ms - i64::try_from(left_ms).unwrap();
            self.node.tick(self.now);
            self.settle();
        }
        self.now = Now {
            mono_ns: end_ns,
            wall_ms: wall_end_ms,
        };
    }

    pub(crate) fn connect(&mut self) -> ConnectionId {
        let id = ConnectionId(self.connections);
        self.connections += 1;
        self.node.opened(self.now, id, Ipv4Addr::LOCALHOST.into());
        self.settle();
        id
    }

    /// Sends a request in its newest served version.
    pub(crate) fn send<'a, R: Request<'a>>(&mut self, to: ConnectionId, request: &R) {
        let version = *crate::handlers::served_versions(R::KEY).unwrap().end();
        self.send_version(to, version, request);
    }

    pub(crate) fn send_version<'a, R: Request<'a>>(
        &mut self,
        to: ConnectionId,
        version: i16,
        request: &R,
    ) {
        let mut frame = Vec::new();
        put_request(&mut frame, version, 7, Some("bench"), request).unwrap();
        self.send_bytes(to, &mut frame[4..]);
    }

    pub(crate) fn send_bytes(&mut self, to: ConnectionId, frame: &mut [u8]) {
        self.node.request(self.now, to, frame);
        self.settle();
    }

    /// The next answer on a connection, if it is there: to a request of `R` in its newest version.
    pub(crate) fn answer<R: Request<'static>>(
        &mut self,
        from: ConnectionId,
    ) -> Option<R::Response<'static>> {
        let version = *crate::handlers::served_versions(R::KEY).unwrap().end();
        self.answer_version::<R>(from, version)
    }

    /// A connection is open and gets its requests answered.
    pub(crate) fn assert_serves(&mut self, connection: ConnectionId) {
        self.send(connection, &MetadataRequest::default());
        let answer = self.answer::<MetadataRequest<'static>>(connection);
        assert!(answer.is_some());
    }

    pub(crate) fn answer_version<R: Request<'static>>(
        &mut self,
        from: ConnectionId,
        version: i16,
    ) -> Option<R::Response<'static>> {
        let bytes = self.answers.get_mut(&from)?.pop_front()?;
        // Answers borrow from their bytes, and a test is over soon.
        let bytes: &'static [u8] = Vec::leak(bytes);
        let (size, payload) = bytes.split_first_chunk::<4>().unwrap();
        assert_eq!(
            usize::try_from(i32::from_be_bytes(*size)),
            Ok(payload.len())
        );
        let mut reader = Reader::new(payload);
        let header_version = R::KEY.response_header_version(version);
        let header = ResponseHeader::decode(&mut reader, header_version).unwrap();
        assert_eq!(header.correlation_id, 7);
        let answer = R::Response::decode(&mut reader, version).unwrap();
        assert!(reader.is_empty(), "{} has bytes left", R::NAME);
        Some(answer)
    }

    /// The bytes of the next answer on a connection.
    pub(crate) fn take_bytes(&mut self, from: ConnectionId) -> Option<Vec<u8>> {
        self.answers.get_mut(&from)?.pop_front()
    }

    /// Asks and takes the answer, which must be there at once.
    pub(crate) fn ask<R: Request<'static>>(&mut self, request: &R) -> R::Response<'static> {
        let connection = self.connect();
        self.send(connection, request);
        self.answer::<R>(connection)
            .unwrap_or_else(|| panic!("no answer to {}", R::NAME))
    }

    /// Creates a topic with one partition.
    pub(crate) fn create(&mut self, name: &'static str, configs: &[(&'static str, &'static str)]) {
        let config = |(name, value): &(&'static str, &'static str)| CreatableTopicConfig {
            name: Str::Borrowed(name),
            value: Some(Str::Borrowed(value)),
        };
        let topic = CreatableTopic {
            name: Str::Borrowed(name),
            num_partitions: 1,
            replication_factor: 1,
            configs: configs.iter().map(config).collect(),
            ..CreatableTopic::default()
        };
        let request = CreateTopicsRequest {
            topics: vec![topic],
            ..Default::default()
        };
        let answer = self.ask(&request);
        assert_eq!(
            ErrorCode::from_i16(answer.topics[0].error_code),
            ErrorCode::None
        );
    }

    /// Sends batches to partition 0 of a topic.
    pub(crate) fn produce(
        &mut self,
        to: ConnectionId,
        topic: &str,
        acks: i16,
        batch: &[u8],
    ) -> Option<PartitionProduceResponse<'static>> {
        self.send_version(to, 12, &produce_request(topic, acks, batch));
        let answer: ProduceResponse<'static> =
            self.answer_version::<ProduceRequest<'static>>(to, 12)?;
        let mut partitions = answer.responses.into_iter().next()?.partition_responses;
        Some(partitions.remove(0))
    }

    /// Disconnects a client and drops the answers that it has not read.
    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        self.node.closed(connection);
        self.answers.remove(&connection);
        self.closed.clear();
    }

    /// The log of partition 0 of a topic.
    pub(crate) fn log(&self, topic: &str) -> &PartitionLog {
        let topic = self.node.image.topic(topic).unwrap().id;
        &self.node.replicas[&PartitionId { topic, index: 0 }].log
    }

    /// Sends one batch of this many records and expects it to be taken.
    pub(crate) fn fill(&mut self, topic: &str, records: usize) {
        let connection = self.connect();
        let batch = batch(self.now.wall_ms, records, &ProducerState::NONE);
        let answer = self.produce(connection, topic, 1, &batch).unwrap();
        assert_eq!(ErrorCode::from_i16(answer.error_code), ErrorCode::None);
        self.node.closed(connection);
    }
}

/// A request that appends to partition 0 of a topic.
pub(crate) fn produce_request(topic: &str, acks: i16, batch: &[u8]) -> ProduceRequest<'static> {
    let data = PartitionProduceData {
        index: 0,
        records: Some(Bytes::Owned(batch.to_vec())),
    };
    let topic = TopicProduceData {
        name: Str::Owned(topic.to_owned()),
        partition_data: vec![data],
        ..TopicProduceData::default()
    };
    ProduceRequest {
        acks,
        timeout_ms: 1000,
        topic_data: vec![topic],
        ..Default::default()
    }
}

/// A batch of records with the value "value".
pub(crate) fn batch(timestamp_ms: i64, records: usize, producer: &ProducerState) -> Vec<u8> {
    let mut encoder = BatchEncoder::default();
    encoder.start(timestamp_ms);
    for _ in 0..records {
        encoder.append(timestamp_ms, None, Some(b"value"), &[]);
    }
    encoder.finish(producer).to_vec()
}

/// Whether an API is served at all.
pub(crate) fn is_served(api: ApiKey) -> bool {
    crate::handlers::served_versions(api).is_some()
}
