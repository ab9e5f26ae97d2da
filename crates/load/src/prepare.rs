//! Before the start: leaders, connections, producer ids, offsets. Everything that can be refused is refused here, with
//! a message, and none of it takes measured time.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use kgauge_client::admin::{ProducerId, ProducerIdError};
use kgauge_client::{CallError, ClusterError, Interrupt};
use kgauge_results::SliceSink;
use kgauge_scenario::{
    ConsumeEnd, ConsumeFlow, FlowPlan, Partitioner, ProduceFlow, ProducerSettings, Share, Stripe,
};
use kgauge_verify::producer_number;
use kgauge_wire::api::ApiKey;
use mio::Token;

use crate::begin::{gathered, started, starts, wait_for};
use crate::broker_link::BrokerLink;
use crate::consume::{
    Consumer, ConsumerSetup, MemberThread, PollLog, Position, response_bytes_max,
};
use crate::control::ControlSetup;
use crate::driver::DrivenProducer;
use crate::echo::EchoTracker;
use crate::gather::ConsumerAssignment;
use crate::leaders::ClientSide;
use crate::ledgers::LedgerName;
use crate::load_setup::{LoadSetup, PrepareError};
use crate::parts::{Work, parts_of};
use crate::payload::Payload;
use crate::produce::{
    Producer, ProducerProof, ProducerSetup, RESPONSE_BYTES_MAX, RecordsFormat, Transaction,
    TransactionSetup, TransactionThread,
};
use crate::topic_lookup::LoadTopics;
use crate::worker::{Client, TICK_NS, WorkerMember};
use crate::worker_context::token;
use crate::{consume, produce};

/// A load that is ready to start.
pub struct PreparedLoad {
    pub(crate) share: Share,
    /// Where flows write, and read unless they read a copy.
    pub(crate) source: ControlSetup,
    /// Where echo flows read.
    pub(crate) copy: Option<ControlSetup>,
    pub(crate) interrupt: Interrupt,
    /// The tracker of each flow that reads back what it writes.
    pub(crate) echoes: Vec<Option<Arc<EchoTracker>>>,
    /// The clients of each worker.
    pub(crate) workers: Vec<Vec<WorkerMember>>,
    /// A sink for each worker and flow, if the worker has a client of the flow.
    pub(crate) sinks: Vec<Vec<Option<SliceSink>>>,
    /// Producers in separate processes, which are ready.
    pub(crate) driven: Vec<DrivenProducer>,
    /// The members of consumer groups, which have joined.
    pub(crate) members: Vec<MemberThread>,
    /// The interval at which slices are shipped.
    pub(crate) tick_ns: u64,
}

impl PreparedLoad {
    /// Connects everything.
    pub fn prepare(setup: &LoadSetup<'_>) -> Result<Self, PrepareError> {
        let mut source = LoadTopics::source(setup)?;
        let mut copy = copy_topics(setup)?;
        let trial = &setup.share.trial;
        let mut workers = empty_workers(setup.share);
        let (mut turn, mut threads, mut driven) = (0, Vec::new(), Vec::new());
        let mut echoes = Vec::new();
        for (flow, plan) in trial.flows.iter().enumerate() {
            let parts = parts_of(setup.share, plan, copy.is_some())?;
            echoes.push(parts.iter().find_map(|part| part.echo.clone()));
            for part in parts {
                let mut assignments = VecDeque::new();
                match &part.work {
                    Work::Produce(plan, payload) if !plan.driver.is_kgauge() => {
                        driven.extend(started(setup, flow, plan, &part.members, payload)?);
                        continue;
                    }
                    Work::Produce(..) => {}
                    Work::Consume(plan) => {
                        let of_part = &part.members;
                        let gathered = gathered(setup, &mut source, flow, plan, of_part)?;
                        assignments = gathered.0;
                        threads.extend(gathered.1);
                    }
                }
                for member in part.members {
                    let worker = turn % workers.len();
                    turn += 1;
                    let is_echo = part.echo.is_some();
                    let lookup = match (&part.work, &mut copy) {
                        (Work::Consume(_), Some(copy)) if is_echo => copy,
                        _ => &mut source,
                    };
                    let side = lookup.side;
                    let mut builder = ClientSetup {
                        setup,
                        flow,
                        lookup,
                        echo: part.echo.as_ref(),
                        client: workers[worker].len(),
                    };
                    let client = match &part.work {
                        Work::Consume(plan) => {
                            builder.consumer(plan, member, assignments.pop_front())?
                        }
                        Work::Produce(plan, payload) => builder.producer(plan, member, payload)?,
                    };
                    workers[worker].push(WorkerMember::new(client, flow, part.is_limited, side));
                }
            }
        }
        wait_for(&mut driven, setup.interrupt)?;
        let sinks = sinks_of(&workers, trial.flows.len(), setup.sink);
        let copy = copy
            .zip(setup.copy)
            .map(|(copy, side)| copy.into_control(side.client));
        Ok(Self {
            share: setup.share.clone(),
            source: source.into_control(setup.client),
            copy,
            interrupt: setup.interrupt.clone(),
            echoes,
            workers,
            sinks,
            driven,
            members: threads,
            tick_ns: TICK_NS,
        })
    }
}

/// The second cluster, if the load has one.
fn copy_topics(setup: &LoadSetup<'_>) -> Result<Option<LoadTopics>, PrepareError> {
    let Some(found) = &setup.copy else {
        return Ok(None);
    };
    let (topic, client) = (found.topic, found.client);
    LoadTopics::find(topic, &[], client, ClientSide::Copy, setup.interrupt).map(Some)
}

/// A thread for each client, up to the number of cores; none if other clients send everything.
fn empty_workers(share: &Share) -> Vec<Vec<WorkerMember>> {
    let clients: usize = share
        .trial
        .flows
        .iter()
        .map(|flow| match flow {
            FlowPlan::Produce(flow) if !flow.driver.is_kgauge() => 0,
            FlowPlan::Produce(flow) => share.members(&flow.name, flow.producers).count(),
            FlowPlan::Consume(flow) => share.members(&flow.name, flow.consumers_all()).count(),
            FlowPlan::Echo(flow) if share.spreads_echo(flow) => {
                let of = |clients| share.members(&flow.produce.name, clients).count();
                of(flow.produce.producers) + of(flow.consumers)
            }
            FlowPlan::Echo(flow) if share.runs_echo(&flow.produce.name) => {
                (flow.produce.producers + flow.consumers) as usize
            }
            FlowPlan::Echo(_) => 0,
        })
        .sum();
    (0..clients.min(cores())).map(|_| Vec::new()).collect()
}

/// Cores that this process may use; one if unknown.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

fn sinks_of(
    workers: &[Vec<WorkerMember>],
    flows: usize,
    sink: &dyn Fn() -> SliceSink,
) -> Vec<Vec<Option<SliceSink>>> {
    let of_worker = |members: &Vec<WorkerMember>| {
        (0..flows)
            .map(|flow| members.iter().any(|member| member.flow == flow).then(sink))
            .collect()
    };
    workers.iter().map(of_worker).collect()
}

/// The context in which one client is set up.
struct ClientSetup<'a> {
    setup: &'a LoadSetup<'a>,
    flow: usize,
    lookup: &'a mut LoadTopics,
    echo: Option<&'a Arc<EchoTracker>>,
    client: usize,
}

impl ClientSetup<'_> {
    fn producer(
        &mut self,
        flow: &ProduceFlow,
        member: Stripe,
        payload: &Arc<Payload>,
    ) -> Result<Client, PrepareError> {
        let partitions: Vec<u32> = (0..self.setup.share.trial.topic.partitions).collect();
        let transaction = self.transaction(flow, member, partitions.len())?;
        let purpose = LinkPurpose {
            api: ApiKey::Produce,
            versions: produce::versions_of(transaction.as_ref().map(|(_, one)| one.kind())),
            response_bytes_max: RESPONSE_BYTES_MAX,
            send_buffer_bytes: flow.settings.send_buffer_bytes,
            receive_buffer_bytes: flow.settings.receive_buffer_bytes,
        };
        let (links, leaders) = self.connect(&partitions, &purpose)?;
        if let Partitioner::Broker(broker_id) = flow.settings.partitioner
            && links.iter().all(|link| link.broker_id() != broker_id)
        {
            let flow = flow.name.clone();
            return Err(PrepareError::LeadsNothing { flow, broker_id });
        }
        let identity = match &transaction {
            Some((_, transaction)) => Some(transaction.identity()),
            None => self.identity(&flow.settings)?,
        };
        let format = format_of(&links)?;
        let stages = &self.setup.share.trial.stages;
        let producer = Producer::new(ProducerSetup {
            flow: flow.clone(),
            member,
            seed: self.setup.share.flow_seed(&flow.name),
            topic: self.lookup.topic.clone(),
            payload: Arc::clone(payload),
            format,
            links,
            leaders: leaders.into_iter().map(Some).collect(),
            identity,
            stages: *stages,
            echo: self.echo.cloned(),
            proof: self.proof(member, partitions.len())?,
            transaction,
        });
        let producer = producer.map_err(|error| PrepareError::Compression {
            flow: flow.name.clone(),
            error,
        })?;
        Ok(Client::Produce(Box::new(producer)))
    }

    /// The log of what a consumer reads, if that is verified. Other topics are not.
    fn polls(&self, member: Stripe) -> Result<Option<PollLog>, PrepareError> {
        let Some(verify) = self.setup.verify else {
            return Ok(None);
        };
        let reads_copy = self.lookup.side == ClientSide::Copy;
        if reads_copy || !self.setup.also.is_empty() {
            return Ok(None);
        }
        let name = LedgerName::of_consumer(self.flow, member.index);
        match verify.ledgers.begin(name) {
            Ok(sink) => Ok(Some(PollLog::new(sink, member.index))),
            Err(error) => Err(PrepareError::Ledger { name, error }),
        }
    }

    /// The ledger of a producer, if its records are verified.
    fn proof(
        &self,
        member: Stripe,
        partitions: usize,
    ) -> Result<Option<ProducerProof>, PrepareError> {
        let Some(verify) = self.setup.verify else {
            return Ok(None);
        };
        let name = LedgerName::of_producer(self.flow, member.index);
        let number = producer_number(self.flow, member.index);
        match verify.ledgers.begin(name) {
            Ok(sink) => Ok(Some(ProducerProof::new(
                verify.key, number, sink, partitions,
            ))),
            Err(error) => Err(PrepareError::Ledger { name, error }),
        }
    }

    /// A producer's transactions and their id, if it has any.
    fn transaction(
        &self,
        flow: &ProduceFlow,
        member: Stripe,
        partitions: usize,
    ) -> Result<Option<(String, Transaction)>, PrepareError> {
        let Some(length) = flow.transaction else {
            return Ok(None);
        };
        let settings = &flow.settings;
        let asked = settings.transactional_id.clone();
        let named = asked.unwrap_or_else(|| format!("{}-{}", self.setup.topic, flow.name));
        let id = match flow.producers {
            1 => named,
            _ => format!("{named}-{}", member.index),
        };
        // As in Kafka's producer, it holds for requests to the coordinator, too.
        let client = kgauge_client::ClientConfig {
            request_timeout: Duration::from_nanos(settings.request_timeout_ns),
            ..self.setup.client.clone()
        };
        let thread = TransactionThread::start(&TransactionSetup {
            client: &client,
            topic: self.lookup.topic.clone(),
            id: id.clone(),
            timeout: Duration::from_nanos(settings.transaction_timeout_ns),
            interrupt: self.setup.interrupt,
        });
        let thread = thread.map_err(|error| PrepareError::Transaction {
            flow: flow.name.clone(),
            error: Box::new(error),
        })?;
        Ok(Some((id, Transaction::new(thread, length, partitions))))
    }

    /// The producer id of an idempotent producer.
    fn identity(
        &mut self,
        settings: &ProducerSettings,
    ) -> Result<Option<ProducerId>, PrepareError> {
        if !settings.idempotence {
            return Ok(None);
        }
        let is_unknown = |error: &ProducerIdError| {
            matches!(
                error.error,
                ClusterError::Call(CallError::Unsupported { .. })
            )
        };
        match self.lookup.cluster.init_producer_id() {
            Ok(identity) => Ok(Some(identity)),
            // Kafka before 0.11 has none.
            Err(error) if is_unknown(&error) && !settings.idempotence_asked => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn consumer(
        &mut self,
        flow: &ConsumeFlow,
        member: Stripe,
        assignment: Option<ConsumerAssignment>,
    ) -> Result<Client, PrepareError> {
        let trial = &self.setup.share.trial;
        let offset = |of: &[i64], partition: u32| of.get(partition as usize).copied().unwrap_or(0);
        let (subscription, from): (_, Vec<(u32, i64)>) = match assignment {
            Some((subscription, from)) => (Some(subscription), from),
            None => {
                let starts = match self.lookup.side {
                    // Existing records are not part of this repeat.
                    ClientSide::Copy => self.lookup.ends.clone(),
                    ClientSide::Source => starts(self.setup, self.lookup, flow)?,
                };
                let own = flow.partitions_of(member.index, self.lookup.partitions());
                (None, own.map(|one| (one, offset(&starts, one))).collect())
            }
        };
        let partitions: Vec<u32> = from.iter().map(|(partition, _)| *partition).collect();
        let settings = &flow.settings;
        let purpose = LinkPurpose {
            api: ApiKey::Fetch,
            versions: consume::VERSIONS,
            response_bytes_max: response_bytes_max(settings, trial.topic.partitions),
            send_buffer_bytes: settings.send_buffer_bytes,
            receive_buffer_bytes: settings.receive_buffer_bytes,
        };
        let (links, leaders) = self.connect(&partitions, &purpose)?;
        let positions = from
            .iter()
            .zip(leaders)
            .map(|(&(partition, offset_from), leader)| Position {
                partition,
                offset: offset_from,
                high_watermark: offset(&self.lookup.ends, partition),
                end: (flow.records == ConsumeEnd::Backlog)
                    .then(|| offset(&self.lookup.ends, partition)),
                leader: Some(leader),
                retry_at_ns: 0,
                since: 0,
            });
        let stages = &trial.stages;
        Ok(Client::Consume(Box::new(Consumer::new(ConsumerSetup {
            flow: flow.clone(),
            topics: Arc::clone(&self.lookup.topics),
            links,
            positions: positions.collect(),
            records_max: match flow.records {
                ConsumeEnd::Count(records) => Some(member.records_of(records)),
                ConsumeEnd::Backlog | ConsumeEnd::StageEnd => None,
            },
            // Records in flight at the end of the hold must still be read back.
            hold_end_ns: match self.echo {
                Some(_) => None,
                None => stages.hold_end_limit_ns(),
            },
            response_bytes_max: purpose.response_bytes_max,
            leaders: self.lookup.leaders.clone(),
            subscription,
            echo: self.echo.cloned(),
            polls: self.polls(member)?,
        }))))
    }

    /// A separate connection of the client to every leader of the partitions, and for each partition the index of its
    /// leader's link.
    fn connect(
        &mut self,
        partitions: &[u32],
        purpose: &LinkPurpose,
    ) -> Result<(Vec<BrokerLink>, Vec<usize>), PrepareError> {
        let mut brokers = Vec::new();
        for &partition in partitions {
            let leader = self.lookup.leaders.of(partition);
            let missing = || {
                let (index, partition) = self.lookup.topics.at(partition);
                let topic = self.lookup.topics.names()[index].clone();
                PrepareError::NoLeader { topic, partition }
            };
            brokers.push(leader.ok_or_else(missing)?);
        }
        let distinct: Vec<i32> = BTreeSet::from_iter(brokers.iter().copied())
            .into_iter()
            .collect();
        let mut links = Vec::new();
        for (index, &broker_id) in distinct.iter().enumerate() {
            links.push(self.link(broker_id, token(self.client, index), purpose)?);
        }
        let place = |broker_id: &i32| distinct.iter().position(|known| known == broker_id);
        Ok((links, brokers.iter().filter_map(place).collect()))
    }

    fn link(
        &mut self,
        broker_id: i32,
        token: Token,
        purpose: &LinkPurpose,
    ) -> Result<BrokerLink, PrepareError> {
        let connection = self.lookup.cluster.open(broker_id)?;
        let versions = purpose.versions.clone();
        let version = connection
            .api_versions()
            .highest_common(purpose.api, versions.clone())
            .ok_or(PrepareError::Version {
                broker_id,
                api: purpose.api,
                first: *versions.start(),
                last: *versions.end(),
            })?;
        let channel = connection.into_channel()?;
        let socket = socket2::SockRef::from(&channel.tcp);
        if let Some(bytes) = purpose.send_buffer_bytes {
            socket.set_send_buffer_size(bytes as usize)?;
        }
        if let Some(bytes) = purpose.receive_buffer_bytes {
            socket.set_recv_buffer_size(bytes as usize)?;
        }
        Ok(BrokerLink::connected(
            broker_id,
            token,
            purpose.response_bytes_max,
            channel,
            version,
        ))
    }
}

/// The record format that all brokers accept.
fn format_of(links: &[BrokerLink]) -> Result<RecordsFormat, PrepareError> {
    let mut formats = links.iter().map(|link| RecordsFormat::of(link.version()));
    let first = formats.next().unwrap_or(RecordsFormat::Batch);
    if formats.all(|format| format == first) {
        Ok(first)
    } else {
        Err(PrepareError::MixedReleases)
    }
}

/// The purpose of a link.
struct LinkPurpose {
    api: ApiKey,
    versions: std::ops::RangeInclusive<i16>,
    response_bytes_max: usize,
    send_buffer_bytes: Option<u32>,
    receive_buffer_bytes: Option<u32>,
}
