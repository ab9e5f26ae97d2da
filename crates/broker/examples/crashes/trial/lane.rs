//! A producer of one partition that does what Kafka's does: up to five batches on their way, in
//! order, and everything from the first that was not acknowledged on is sent again after an error.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kgauge_broker::random::SmallRandom;
use kgauge_client::admin::ProducerId;
use kgauge_client::{ClientConfig, Cluster};
use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::{Bytes, Reader, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::frame::put_request;
use kgauge_wire::header::ResponseHeader;
use kgauge_wire::messages::Message;
use kgauge_wire::messages::produce::{
    PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData,
};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

use super::ledger::{Note, Place, value};
use super::{Acks, Failure, Notes};

const PRODUCE_VERSION: i16 = 11;
const IN_FLIGHT_MAX: usize = 5;
const RECORDS_OF_BATCH_MAX: u64 = 20;
const VALUE_BYTES: usize = 100;

/// How long an answer is waited for before the connection is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two checks whether something is due.
const TICK: Duration = Duration::from_millis(5);
/// How long it waits before it asks for the leader again.
const REST: Duration = Duration::from_millis(30);
/// Idempotent producers drop their connection once in so many batches, with answers on their way.
const BATCHES_PER_BREAK: u64 = 300;

/// One producer and its partition.
pub(super) struct Lane {
    /// What its records are called.
    pub(super) stream: u32,
    pub(super) topic: &'static str,
    pub(super) partition: i32,
    pub(super) acks: Acks,
    /// Set for idempotent producers.
    pub(super) identity: Option<ProducerId>,
    pub(super) client: ClientConfig,
    pub(super) records_per_second: u32,
    pub(super) seed: u64,
}

struct Batch {
    first: u64,
    count: u64,
    /// The request that carries it, when it is on its way.
    request: Option<i32>,
    sent_before: bool,
}

struct Wire {
    stream: TcpStream,
    inbound: Vec<u8>,
    heard: Instant,
}

/// What a lane is in the middle of.
struct Work<'a> {
    lane: &'a Lane,
    notes: &'a Notes,
    cluster: Cluster,
    random: SmallRandom,
    wire: Option<Wire>,
    leader_epoch: i32,
    correlation: i32,
    in_flight: VecDeque<Batch>,
    next: u64,
}

impl Lane {
    /// Produces until `ending` is set, and then until everything is acknowledged.
    pub(super) fn run(self, notes: &Notes, ending: &AtomicBool) -> Result<(), Failure> {
        let mut work = Work {
            lane: &self,
            notes,
            cluster: Cluster::bootstrap(self.client.clone())?,
            random: SmallRandom::new(self.seed.wrapping_add(u64::from(self.stream))),
            wire: None,
            leader_epoch: -1,
            correlation: 0,
            in_flight: VecDeque::new(),
            next: 0,
        };
        let start = Instant::now();
        loop {
            let is_ending = ending.load(Ordering::Acquire);
            if is_ending && work.in_flight.is_empty() {
                return Ok(());
            }
            let due = start.elapsed().as_secs_f64() * f64::from(self.records_per_second);
            // In bursts, so that there are several batches on their way.
            let bursts = work.in_flight.is_empty() && work.next < due as u64;
            while !is_ending && bursts && work.in_flight.len() < IN_FLIGHT_MAX {
                work.add();
            }
            if work.in_flight.is_empty() {
                thread::sleep(TICK);
                continue;
            }
            if work.wire.is_none() {
                work.connect();
            }
            if work.exchange().is_err() {
                work.give_up();
            }
        }
    }
}

impl Work<'_> {
    fn add(&mut self) {
        let count = 1 + self.random.below(RECORDS_OF_BATCH_MAX);
        self.in_flight.push_back(Batch {
            first: self.next,
            count,
            request: None,
            sent_before: false,
        });
        self.next += count;
    }

    /// Finds the leader and connects to it; without one it rests.
    fn connect(&mut self) {
        self.wire = self.find().ok().flatten();
        if self.wire.is_none() {
            thread::sleep(REST);
        }
    }

    fn find(&mut self) -> Result<Option<Wire>, Failure> {
        let lane = self.lane;
        self.cluster.refresh(&[lane.topic])?;
        let leader = self.cluster.known_leader(lane.topic, lane.partition)?;
        // As Kafka's clients: what is older than what was heard before is not believed.
        let epoch = leader.epoch.unwrap_or(-1);
        if epoch < self.leader_epoch {
            return Ok(None);
        }
        self.leader_epoch = epoch;
        let known = self.cluster.metadata().broker(leader.broker_id);
        let address = &known.ok_or("the leader is unknown")?.address;
        let stream = TcpStream::connect((address.host.as_str(), address.port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Some(Wire {
            stream,
            inbound: Vec::new(),
            heard: Instant::now(),
        }))
    }

    /// The connection is of no further use: everything goes out again on the next.
    fn give_up(&mut self) {
        self.wire = None;
        for batch in &mut self.in_flight {
            batch.request = None;
        }
        thread::sleep(REST);
    }

    /// Sends what was not sent and takes the answers that are there.
    fn exchange(&mut self) -> Result<(), Failure> {
        self.send()?;
        if self.lane.identity.is_some() && self.random.below(BATCHES_PER_BREAK) == 0 {
            return Err("let go on purpose".into());
        }
        let Some(wire) = &mut self.wire else {
            return Ok(());
        };
        let mut buffer = [0; 4096];
        match wire.stream.read(&mut buffer) {
            Ok(0) => return Err("closed".into()),
            Ok(count) => {
                wire.inbound.extend_from_slice(&buffer[..count]);
                wire.heard = Instant::now();
            }
            Err(error) if is_wait(&error) => {
                if wire.heard.elapsed() > PATIENCE {
                    return Err("silent".into());
                }
            }
            Err(error) => return Err(error.into()),
        }
        while let Some(answer) = self.wire.as_mut().and_then(Wire::frame) {
            self.answered(&answer)?;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), Failure> {
        let Some(wire) = &mut self.wire else {
            return Ok(());
        };
        let mut out = Vec::new();
        for batch in self
            .in_flight
            .iter_mut()
            .filter(|batch| batch.request.is_none())
        {
            if std::mem::replace(&mut batch.sent_before, true) {
                // Whoever counts has gone when the trial has failed.
                let _ = self.notes.send(Note::Again);
            }
            self.correlation += 1;
            batch.request = Some(self.correlation);
            let records = self.lane.encode(batch)?;
            let request = ProduceRequest {
                acks: self.lane.acks.number(),
                timeout_ms: 3_000,
                topic_data: vec![TopicProduceData {
                    name: Str::Borrowed(self.lane.topic),
                    partition_data: vec![PartitionProduceData {
                        index: self.lane.partition,
                        records: Some(Bytes::Owned(records)),
                    }],
                    ..TopicProduceData::default()
                }],
                ..ProduceRequest::default()
            };
            put_request(&mut out, PRODUCE_VERSION, self.correlation, None, &request)?;
            wire.heard = Instant::now();
        }
        Ok(wire.stream.write_all(&out)?)
    }

    fn answered(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let mut reader = Reader::new(bytes);
        let version = ApiKey::Produce.response_header_version(PRODUCE_VERSION);
        let header = ResponseHeader::decode(&mut reader, version)?;
        let response = ProduceResponse::decode(&mut reader, PRODUCE_VERSION)?;
        let answer = response
            .responses
            .first()
            .and_then(|topic| topic.partition_responses.first());
        let answer = answer.ok_or("an answer without content")?;
        match ErrorCode::from_i16(answer.error_code) {
            ErrorCode::None => {}
            code if is_passing(code) => return Err(code.to_string().into()),
            code => {
                let _ = self.notes.send(Note::Refused(code.to_string()));
                return Err(code.to_string().into());
            }
        }
        let mine = Some(header.correlation_id);
        let at = self
            .in_flight
            .iter()
            .position(|batch| batch.request == mine);
        if let Some(batch) = at.and_then(|at| self.in_flight.remove(at)) {
            let _ = self.notes.send(Note::Acked {
                stream: self.lane.stream,
                first: batch.first,
                count: batch.count,
                place: Place {
                    partition: self.lane.partition,
                    offset: answer.base_offset,
                },
            });
        }
        Ok(())
    }
}

impl Lane {
    fn encode(&self, batch: &Batch) -> Result<Vec<u8>, Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let now_ms = i64::try_from(now.as_millis())?;
        let mut encoder = BatchEncoder::default();
        encoder.start(now_ms);
        for number in batch.first..batch.first + batch.count {
            let value = value(self.stream, number, VALUE_BYTES);
            encoder.append(now_ms, None, Some(&value), &[]);
        }
        let state = match self.identity {
            Some(identity) => ProducerState {
                id: identity.id,
                epoch: identity.epoch,
                transactional: false,
                base_sequence: i32::try_from(batch.first)?,
            },
            None => ProducerState::NONE,
        };
        Ok(encoder.finish(&state).to_vec())
    }
}

impl Wire {
    /// The next whole answer.
    fn frame(&mut self) -> Option<Vec<u8>> {
        let (size, rest) = self.inbound.split_first_chunk::<4>()?;
        let size = usize::try_from(i32::from_be_bytes(*size)).ok()?;
        let answer = rest.get(..size)?.to_vec();
        self.inbound.drain(..4 + size);
        Some(answer)
    }
}

fn is_wait(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// Errors after which a producer sends again.
fn is_passing(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::NotLeaderOrFollower
            | ErrorCode::LeaderNotAvailable
            | ErrorCode::NotEnoughReplicas
            | ErrorCode::NotEnoughReplicasAfterAppend
            | ErrorCode::RequestTimedOut
            | ErrorCode::UnknownTopicOrPartition
            | ErrorCode::FencedLeaderEpoch
            | ErrorCode::KafkaStorageError
    )
}
