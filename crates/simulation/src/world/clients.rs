//! Producers and readers of the simulation. Producers work as Kafka's does: up to five batches in
//! flight, in order, sent again from the first that was not acknowledged.

use std::collections::{BTreeMap, VecDeque};

use kgauge_wire::codec::{Bytes, Str};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::fetch::{FetchPartition, FetchRequest, FetchTopic};
use kgauge_wire::messages::produce::{PartitionProduceData, ProduceRequest, TopicProduceData};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState, batches};

use super::checks::{ClientKind, RECORDS_OF_CLIENT, SimulationChecks, records_of};
use super::proof::{self, ClientProof};
use super::requests::{frame, read};
use super::{TOPIC, WALL_MS};
use crate::{SeedPlan, Violation};
use kgauge_broker::ids::{ConnectionId, NodeId};
use kgauge_broker::image::ClusterImage;
use kgauge_broker::random::SmallRandom;
use kgauge_broker::time::NS_PER_MS;

const PRODUCE_VERSION: i16 = 11;
const FETCH_VERSION: i16 = 12;
/// `max.in.flight.requests.per.connection`
const IN_FLIGHT_MAX: usize = 5;
/// How long a client waits for an answer.
const PATIENCE_NS: u64 = 1_500 * NS_PER_MS;

#[derive(Debug)]
struct Batch {
    first: u64,
    count: u64,
    /// The request that carries it, if one is in flight.
    request: Option<i32>,
}

#[derive(Debug)]
struct Client {
    kind: ClientKind,
    partition: i32,
    leader_epoch: i32,
    connection: Option<(ConnectionId, NodeId)>,
    correlation: i32,
    /// When it gives up on its connection.
    patience_ns: Option<u64>,
    rest_until_ns: u64,
    next: u64,
    in_flight: VecDeque<Batch>,
    offset: i64,
    fetching: Option<i32>,
    ready: Vec<Vec<u8>>,
}

/// All clients.
#[derive(Debug)]
pub(super) struct Clients {
    clients: Vec<Client>,
    by_connection: BTreeMap<ConnectionId, usize>,
    finishing: bool,
    /// Ledgers and polls, if the run is verified.
    pub(super) proof: Option<ClientProof>,
}

/// The next step of a client.
pub(super) struct ClientAction {
    pub(super) connect: Option<NodeId>,
    pub(super) next_ns: u64,
}

impl Clients {
    pub(super) fn new(plan: &SeedPlan) -> Self {
        let mut clients = Vec::new();
        for partition in 0..plan.partitions {
            for kind in [
                ClientKind::Exact,
                ClientKind::All,
                ClientKind::Leader,
                ClientKind::Reader,
            ] {
                clients.push(Client {
                    kind,
                    partition,
                    leader_epoch: -1,
                    connection: None,
                    correlation: 0,
                    patience_ns: None,
                    rest_until_ns: 0,
                    next: 0,
                    in_flight: VecDeque::new(),
                    offset: 0,
                    fetching: None,
                    ready: Vec::new(),
                });
            }
        }
        Self {
            clients,
            by_connection: BTreeMap::new(),
            finishing: false,
            proof: plan.is_verified.then(ClientProof::default),
        }
    }

    /// Kind and partition of a client.
    pub(super) fn role(&self, client: usize) -> (ClientKind, i32) {
        (self.clients[client].kind, self.clients[client].partition)
    }

    pub(super) fn count(&self) -> usize {
        self.clients.len()
    }

    /// Clients send nothing new from now on.
    pub(super) fn finish(&mut self) {
        self.finishing = true;
    }

    /// What the first unfinished client waits for.
    pub(super) fn unrest(&self) -> Option<String> {
        let waiting = self
            .clients
            .iter()
            .find(|client| !client.in_flight.is_empty())?;
        Some(format!(
            "a client waits ({:?}, partition {}, connected to {:?}): {:?}",
            waiting.kind, waiting.partition, waiting.connection, waiting.in_flight
        ))
    }

    pub(super) fn connection(&self, client: usize) -> Option<(ConnectionId, NodeId)> {
        self.clients[client].connection
    }

    pub(super) fn connected(&mut self, client: usize, id: ConnectionId, node: NodeId) {
        self.clients[client].connection = Some((id, node));
        self.by_connection.insert(id, client);
        self.send_from(client);
    }

    pub(super) fn disconnected(&mut self, now_ns: u64, id: ConnectionId) {
        if let Some(client) = self.by_connection.remove(&id) {
            self.clients[client].drop_connection(now_ns + 20 * NS_PER_MS);
        }
    }

    /// Frames to send.
    pub(super) fn frames(&mut self, client: usize) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.clients[client].ready)
    }

    /// A client's turn: it reads a node's image of the cluster, and sends what it can.
    pub(super) fn turn(
        &mut self,
        now_ns: u64,
        index: usize,
        image: Option<&ClusterImage>,
        random: &mut SmallRandom,
    ) -> ClientAction {
        let finishing = self.finishing;
        let client = &mut self.clients[index];
        let next_ns = now_ns + 2 * NS_PER_MS + random.below(20 * NS_PER_MS);
        if client.patience_ns.is_some_and(|at_ns| at_ns <= now_ns) {
            client.lose_patience(now_ns, &mut self.by_connection);
        }
        if client.rest_until_ns > now_ns {
            return ClientAction {
                connect: None,
                next_ns,
            };
        }
        let writes = client.kind != ClientKind::Reader && !finishing;
        if writes && client.in_flight.len() < IN_FLIGHT_MAX {
            let count = 1 + random.below(4);
            client.in_flight.push_back(Batch {
                first: client.next,
                count,
                request: None,
            });
            client.next += count;
        }
        let mut connect = None;
        if client.connection.is_none() {
            let topic = image.and_then(|image| image.topic(TOPIC));
            let partition = topic.and_then(|topic| topic.partition(client.partition));
            // As Kafka's clients do, it ignores metadata older than what it has.
            let current = partition.filter(|known| known.leader_epoch >= client.leader_epoch);
            if let Some(partition) = current {
                connect = partition.leader;
                client.leader_epoch = partition.leader_epoch;
            }
        } else {
            self.send_from(index);
        }
        let client = &mut self.clients[index];
        if client.patience_ns.is_none() && client.waits() {
            client.patience_ns = Some(now_ns + PATIENCE_NS);
        }
        ClientAction { connect, next_ns }
    }

    fn send_from(&mut self, index: usize) {
        let client = &mut self.clients[index];
        match client.kind {
            ClientKind::Reader => client.fetch(),
            _ => client.produce(index, self.proof.is_some()),
        }
    }

    /// An answer has arrived.
    pub(super) fn answered(
        &mut self,
        now_ns: u64,
        connection: ConnectionId,
        bytes: &[u8],
        checks: &mut SimulationChecks,
    ) -> Result<(), Violation> {
        let Some(index) = self.by_connection.get(&connection).copied() else {
            return Ok(());
        };
        let client = &mut self.clients[index];
        client.patience_ns = None;
        let code = match client.kind {
            ClientKind::Reader => client.fetched(bytes, checks, self.proof.as_mut())?,
            _ => client.produced(index, bytes, checks, self.proof.as_mut())?,
        };
        if !code.is_none() {
            client.lose_patience(now_ns, &mut self.by_connection);
        }
        Ok(())
    }
}

impl Client {
    fn waits(&self) -> bool {
        self.fetching.is_some() || self.in_flight.iter().any(|batch| batch.request.is_some())
    }

    fn drop_connection(&mut self, rest_until_ns: u64) {
        self.connection = None;
        self.patience_ns = None;
        self.fetching = None;
        self.ready.clear();
        self.rest_until_ns = rest_until_ns;
        // Everything from the first batch without ack is sent again, in order.
        for batch in &mut self.in_flight {
            batch.request = None;
        }
    }

    fn lose_patience(&mut self, now_ns: u64, by_connection: &mut BTreeMap<ConnectionId, usize>) {
        if let Some((id, _)) = self.connection {
            by_connection.remove(&id);
        }
        self.drop_connection(now_ns + 30 * NS_PER_MS);
    }

    fn produce(&mut self, index: usize, is_verified: bool) {
        let base = index as u64 * RECORDS_OF_CLIENT;
        let acks = if self.kind == ClientKind::Leader {
            1
        } else {
            -1
        };
        let unsent = |batch: &&mut Batch| batch.request.is_none();
        for batch in self.in_flight.iter_mut().filter(unsent) {
            self.correlation += 1;
            batch.request = Some(self.correlation);
            let mut encoder = BatchEncoder::default();
            encoder.start(WALL_MS);
            for record in batch.first..batch.first + batch.count {
                let number = (base + record).to_be_bytes();
                let value = match is_verified {
                    true => proof::value(index, self.partition, record, number),
                    false => number.to_vec(),
                };
                encoder.append(WALL_MS, None, Some(&value), &[]);
            }
            let state = match self.kind {
                ClientKind::Exact => ProducerState {
                    id: index as i64,
                    epoch: 0,
                    transactional: is_verified,
                    base_sequence: i32::try_from(batch.first).unwrap_or(0),
                },
                _ => ProducerState::NONE,
            };
            encoder.finish(&state);
            let request = ProduceRequest {
                acks,
                timeout_ms: 1_000,
                topic_data: vec![TopicProduceData {
                    name: Str::Borrowed(TOPIC),
                    partition_data: vec![PartitionProduceData {
                        index: self.partition,
                        records: Some(Bytes::Borrowed(encoder.bytes())),
                    }],
                    ..TopicProduceData::default()
                }],
                ..ProduceRequest::default()
            };
            self.ready
                .push(frame(PRODUCE_VERSION, self.correlation, &request));
        }
    }

    fn produced(
        &mut self,
        index: usize,
        bytes: &[u8],
        checks: &mut SimulationChecks,
        proof: Option<&mut ClientProof>,
    ) -> Result<ErrorCode, Violation> {
        let Some((correlation, response)) = read::<ProduceRequest<'_>>(bytes, PRODUCE_VERSION)
        else {
            return Err(self.violation("an answer that cannot be read"));
        };
        let partition = &response.responses[0].partition_responses[0];
        let code = ErrorCode::from_i16(partition.error_code);
        let is_invalid = proof.is_some() && code == ErrorCode::InvalidRecord;
        if !code.is_none() && !is_invalid {
            return if retriable(code) {
                Ok(code)
            } else {
                Err(self.violation(&code.to_string()))
            };
        }
        let mut in_flight = self.in_flight.iter();
        let at = in_flight.position(|batch| batch.request == Some(correlation));
        if let Some(batch) = at.and_then(|at| self.in_flight.remove(at)) {
            if let Some(proof) = proof {
                let offset = (!is_invalid).then_some(partition.base_offset);
                let place = (index, self.kind, self.partition);
                proof.answered(place, (batch.first, batch.count), offset);
                return Ok(ErrorCode::None);
            }
            let first = index as u64 * RECORDS_OF_CLIENT + batch.first;
            let place = (self.partition, partition.base_offset);
            checks.acked(self.kind, place, first, batch.count);
        }
        Ok(code)
    }

    fn fetch(&mut self) {
        if self.fetching.is_some() {
            return;
        }
        self.correlation += 1;
        self.fetching = Some(self.correlation);
        let request = FetchRequest {
            max_wait_ms: 50,
            min_bytes: 1,
            max_bytes: 1 << 20,
            topics: vec![FetchTopic {
                topic: Str::Borrowed(TOPIC),
                partitions: vec![FetchPartition {
                    partition: self.partition,
                    current_leader_epoch: self.leader_epoch,
                    fetch_offset: self.offset,
                    partition_max_bytes: 2_000,
                    ..FetchPartition::default()
                }],
                ..FetchTopic::default()
            }],
            ..FetchRequest::default()
        };
        self.ready
            .push(frame(FETCH_VERSION, self.correlation, &request));
    }

    fn fetched(
        &mut self,
        bytes: &[u8],
        checks: &mut SimulationChecks,
        mut proof: Option<&mut ClientProof>,
    ) -> Result<ErrorCode, Violation> {
        self.fetching = None;
        let Some((_, response)) = read::<FetchRequest<'_>>(bytes, FETCH_VERSION) else {
            return Err(self.violation("an answer that cannot be read"));
        };
        let Some(topic) = response.responses.first() else {
            return Ok(ErrorCode::from_i16(response.error_code));
        };
        let partition = &topic.partitions[0];
        let code = ErrorCode::from_i16(partition.error_code);
        if !code.is_none() {
            let expected = matches!(
                code,
                ErrorCode::NotLeaderOrFollower
                    | ErrorCode::FencedLeaderEpoch
                    | ErrorCode::UnknownLeaderEpoch
                    | ErrorCode::UnknownTopicOrPartition
            );
            return if expected {
                Ok(code)
            } else {
                Err(self.violation(&code.to_string()))
            };
        }
        let records = partition.records.as_deref().unwrap_or_default();
        for batch in batches(records) {
            let Ok(batch) = batch else { break };
            for (offset, record) in records_of(&batch) {
                if offset >= self.offset {
                    if let Some(proof) = &mut proof {
                        proof.polled(self.partition, self.offset, offset);
                        if offset == batch.header.base_offset {
                            proof.note_batch(offset, batch.header.crc);
                        }
                        self.offset = offset + 1;
                        continue;
                    }
                    checks.read(self.partition, offset, record)?;
                    self.offset = offset + 1;
                }
            }
        }
        Ok(code)
    }

    fn violation(&self, code: &str) -> Violation {
        Violation::UnexpectedError {
            partition: self.partition,
            code: code.to_owned(),
        }
    }
}

/// Errors after which a producer sends again.
fn retriable(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::NotLeaderOrFollower
            | ErrorCode::NotEnoughReplicas
            | ErrorCode::NotEnoughReplicasAfterAppend
            | ErrorCode::RequestTimedOut
            | ErrorCode::UnknownTopicOrPartition
            | ErrorCode::FencedLeaderEpoch
    )
}
