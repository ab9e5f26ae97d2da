//! Before the start: who leads what, connections, producer ids, offsets. Everything that can be refused
//! is refused here, in words, and nothing of it falls into the measured time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use kgauge_client::admin::{OffsetsError, ProducerIdError};
use kgauge_client::{CallError, ClientConfig, Cluster, ClusterError, Interrupt};
use kgauge_results::SliceSink;
use kgauge_scenario::{
    ConsumeEnd, ConsumeFlow, FlowPlan, ProduceFlow, ProducerSettings, Share, StartOffset, Stripe,
};
use kgauge_wire::api::ApiKey;
use kgauge_wire::compress::CompressError;
use mio::Token;

use crate::broker_link::BrokerLink;
use crate::consume::{
    Consumer, ConsumerSetup, GroupShared, MemberThread, Position, response_bytes_max,
};
use crate::control::{Leaders, leaders, producer_identity};
use crate::gather::{GatherSetup, Place, gather};
use crate::payload::PayloadPool;
use crate::produce::{Identity, Producer, ProducerSetup, RESPONSE_BYTES_MAX, RecordsFormat};
use crate::worker::{Client, Member, TICK_NS, token};
use crate::{consume, produce};

/// What a load is made from.
pub struct LoadSetup<'a> {
    /// What to do.
    pub share: &'a Share,
    /// The topic, which exists.
    pub topic: &'a str,
    /// Where `from: earliest` begins, an offset for each partition; `None`: at the first record that
    /// is there. In a topic that was there before, a run reads only what it wrote.
    pub earliest: Option<&'a [i64]>,
    /// How to reach the cluster.
    pub client: &'a ClientConfig,
    /// For the label of each group in the trial its `group.id`, which nobody else uses.
    pub groups: &'a BTreeMap<String, String>,
    /// Where slices go: a sink for each recorder.
    pub sink: &'a dyn Fn() -> SliceSink,
    /// Raised when the load has to stop within a second.
    pub interrupt: &'a Interrupt,
}

/// Why a load cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The cluster did not answer, or not as hoped.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// Where partitions begin and end cannot be told.
    #[error(transparent)]
    Offsets(#[from] OffsetsError),
    /// No producer id is given.
    #[error(transparent)]
    ProducerId(#[from] ProducerIdError),
    /// A partition has no leader.
    #[error("partition {partition} of topic {topic} has no leader")]
    NoLeader {
        /// The topic.
        topic: String,
        /// The partition.
        partition: u32,
    },
    /// The broker does not speak what load needs.
    #[error(
        "broker {broker_id} does not speak {api} in any of the versions {first} to {last} that load needs"
    )]
    Version {
        /// The broker.
        broker_id: i32,
        /// The request.
        api: ApiKey,
        /// The first version that would do.
        first: i16,
        /// The last version that would do.
        last: i16,
    },
    /// Some brokers take message sets, others record batches.
    #[error(
        "the brokers belong to different ages of Kafka: some take message sets, others record \
         batches (0.11 and later); finish the upgrade first"
    )]
    MixedReleases,
    /// A codec refuses its level.
    #[error("flow {flow}: {error}")]
    Compression {
        /// The flow.
        flow: String,
        /// What is wrong.
        error: CompressError,
    },
    /// A flow's consumers do not get together.
    #[error("flow {flow}: its group: {why}")]
    Group {
        /// The flow.
        flow: String,
        /// What went wrong, and what to do about it.
        why: String,
    },
    /// The operating system refuses sockets or threads.
    #[error("cannot set up the load: {0}")]
    System(#[from] std::io::Error),
}

/// A load that is ready to start.
pub struct Load {
    pub(crate) share: Share,
    pub(crate) topic: String,
    pub(crate) config: ClientConfig,
    pub(crate) cluster: Cluster,
    pub(crate) interrupt: Interrupt,
    /// For each worker its members.
    pub(crate) workers: Vec<Vec<Member>>,
    /// For each worker and flow a sink, where the worker has a member of the flow.
    pub(crate) sinks: Vec<Vec<Option<SliceSink>>>,
    /// The members of consumer groups, which have joined.
    pub(crate) members: Vec<MemberThread>,
    /// How often slices are shipped.
    pub(crate) tick_ns: u64,
}

impl Load {
    /// Connects everything.
    pub fn prepare(setup: &LoadSetup<'_>) -> Result<Self, PrepareError> {
        let mut cluster = Cluster::bootstrap_until(setup.client.clone(), setup.interrupt.clone())?;
        // Every leader has to answer for its partition: right after a topic was created metadata names
        // leaders that do not know it yet, and a run should not begin with their refusals.
        let ends = cluster.end_offsets(setup.topic)?;
        let leaders = leaders(&mut cluster, setup.topic)?;
        let trial = &setup.share.trial;
        let mut workers = empty_workers(setup.share);
        let (mut turn, mut threads) = (0, Vec::new());
        for (flow, plan) in trial.flows.iter().enumerate() {
            let members: Vec<Stripe> = match plan {
                FlowPlan::Produce(plan) => setup.share.members(plan.producers).collect(),
                FlowPlan::Consume(plan) => setup.share.members(plan.consumers).collect(),
            };
            let payload = payload_of(setup.share, plan);
            let mut places = match plan {
                FlowPlan::Consume(plan) => {
                    let gathered = gathered(setup, &mut cluster, &ends, flow, plan, &members)?;
                    threads.extend(gathered.1);
                    gathered.0
                }
                FlowPlan::Produce(_) => VecDeque::new(),
            };
            for member in members {
                let worker = turn % workers.len();
                turn += 1;
                let mut site = Site {
                    setup,
                    cluster: &mut cluster,
                    leaders: &leaders,
                    ends: &ends,
                    client: workers[worker].len(),
                };
                let client = match plan {
                    FlowPlan::Produce(plan) => site.producer(plan, member, &payload)?,
                    FlowPlan::Consume(plan) => site.consumer(plan, member, places.pop_front())?,
                };
                workers[worker].push(Member::new(client, flow, is_limited(plan)));
            }
        }
        let sinks = sinks_of(&workers, trial.flows.len(), setup.sink);
        Ok(Self {
            share: setup.share.clone(),
            topic: setup.topic.to_owned(),
            config: setup.client.clone(),
            cluster,
            interrupt: setup.interrupt.clone(),
            workers,
            sinks,
            members: threads,
            tick_ns: TICK_NS,
        })
    }
}

/// The places of a flow's consumers in its group, and their members' threads; none without a group.
fn gathered(
    setup: &LoadSetup<'_>,
    cluster: &mut Cluster,
    ends: &[i64],
    index: usize,
    flow: &ConsumeFlow,
    members: &[Stripe],
) -> Result<(VecDeque<Place>, Vec<MemberThread>), PrepareError> {
    let Some(group) = &flow.group else {
        return Ok((VecDeque::new(), Vec::new()));
    };
    let group_id = setup.groups.get(&group.label).cloned();
    let group_id = group_id.ok_or_else(|| PrepareError::Group {
        flow: flow.name.clone(),
        why: "nobody gave it a group.id".to_owned(),
    })?;
    let shared = GroupShared::new(
        starts(setup, cluster, ends, flow)?,
        (flow.records == ConsumeEnd::Backlog).then(|| ends.to_vec()),
        match flow.records {
            ConsumeEnd::Count(records) => Some(
                members
                    .iter()
                    .map(|member| member.records_of(records))
                    .sum(),
            ),
            ConsumeEnd::Backlog | ConsumeEnd::StageEnd => None,
        },
    );
    gather(&GatherSetup {
        flow,
        index,
        group,
        group_id,
        topic: setup.topic,
        client: setup.client,
        members,
        shared: Arc::new(shared),
        interrupt: setup.interrupt,
    })
}

/// Where a flow begins to read.
fn starts(
    setup: &LoadSetup<'_>,
    cluster: &mut Cluster,
    ends: &[i64],
    flow: &ConsumeFlow,
) -> Result<Vec<i64>, PrepareError> {
    Ok(match flow.from {
        StartOffset::Earliest => match setup.earliest {
            Some(offsets) => offsets.to_vec(),
            None => cluster.earliest_offsets(setup.topic)?,
        },
        StartOffset::Latest => ends.to_vec(),
    })
}

/// A thread for each client, as far as there are cores.
fn empty_workers(share: &Share) -> Vec<Vec<Member>> {
    let clients: usize = share
        .trial
        .flows
        .iter()
        .map(|flow| match flow {
            FlowPlan::Produce(flow) => share.members(flow.producers).count(),
            FlowPlan::Consume(flow) => share.members(flow.consumers).count(),
        })
        .sum();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    (0..clients.min(cores).max(1)).map(|_| Vec::new()).collect()
}

/// Whether the flow has a record count of its own.
fn is_limited(plan: &FlowPlan) -> bool {
    match plan {
        FlowPlan::Produce(flow) => flow.records_max.is_some(),
        FlowPlan::Consume(flow) => flow.records != ConsumeEnd::StageEnd,
    }
}

fn payload_of(share: &Share, plan: &FlowPlan) -> Arc<PayloadPool> {
    let value_bytes = match plan {
        FlowPlan::Produce(flow) => flow.record.value_bytes as usize,
        FlowPlan::Consume(_) => 0,
    };
    Arc::new(PayloadPool::new(share.flow_seed(plan.name()), value_bytes))
}

fn sinks_of(
    workers: &[Vec<Member>],
    flows: usize,
    sink: &dyn Fn() -> SliceSink,
) -> Vec<Vec<Option<SliceSink>>> {
    let of_worker = |members: &Vec<Member>| {
        (0..flows)
            .map(|flow| members.iter().any(|member| member.flow == flow).then(sink))
            .collect()
    };
    workers.iter().map(of_worker).collect()
}

/// Where one client is set up.
struct Site<'a> {
    setup: &'a LoadSetup<'a>,
    cluster: &'a mut Cluster,
    leaders: &'a Leaders,
    ends: &'a [i64],
    client: usize,
}

impl Site<'_> {
    fn producer(
        &mut self,
        flow: &ProduceFlow,
        member: Stripe,
        payload: &Arc<PayloadPool>,
    ) -> Result<Client, PrepareError> {
        let partitions: Vec<u32> = (0..self.setup.share.trial.topic.partitions).collect();
        let wanted = Wanted {
            api: ApiKey::Produce,
            versions: produce::VERSIONS,
            response_bytes_max: RESPONSE_BYTES_MAX,
            send_buffer_bytes: flow.settings.send_buffer_bytes,
            receive_buffer_bytes: flow.settings.receive_buffer_bytes,
        };
        let (links, leaders) = self.connect(&partitions, &wanted)?;
        let identity = self.identity(&flow.settings)?;
        let format = format_of(&links)?;
        let stages = &self.setup.share.trial.stages;
        let producer = Producer::new(ProducerSetup {
            flow: flow.clone(),
            member,
            seed: self.setup.share.flow_seed(&flow.name),
            topic: self.setup.topic.to_owned(),
            payload: Arc::clone(payload),
            format,
            links,
            leaders: leaders.into_iter().map(Some).collect(),
            identity,
            hold_start_ns: stages.warm_up_ns,
            hold_end_ns: stages.hold_ns.map(|hold_ns| stages.warm_up_ns + hold_ns),
        });
        let producer = producer.map_err(|error| PrepareError::Compression {
            flow: flow.name.clone(),
            error,
        })?;
        Ok(Client::Produce(Box::new(producer)))
    }

    /// What makes a producer idempotent, if it is to be.
    fn identity(&mut self, settings: &ProducerSettings) -> Result<Option<Identity>, PrepareError> {
        if !settings.idempotence {
            return Ok(None);
        }
        let is_unknown = |error: &ProducerIdError| {
            matches!(
                error.error,
                ClusterError::Call(CallError::Unsupported { .. })
            )
        };
        match producer_identity(self.cluster) {
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
        place: Option<Place>,
    ) -> Result<Client, PrepareError> {
        let trial = &self.setup.share.trial;
        let offset = |of: &[i64], partition: u32| of.get(partition as usize).copied().unwrap_or(0);
        let (seat, from): (_, Vec<(u32, i64)>) = match place {
            Some((seat, from)) => (Some(seat), from),
            None => {
                let starts = starts(self.setup, self.cluster, self.ends, flow)?;
                let own = flow.partitions_of(member.index, trial.topic.partitions);
                (None, own.map(|one| (one, offset(&starts, one))).collect())
            }
        };
        let partitions: Vec<u32> = from.iter().map(|(partition, _)| *partition).collect();
        let settings = &flow.settings;
        let wanted = Wanted {
            api: ApiKey::Fetch,
            versions: consume::VERSIONS,
            response_bytes_max: response_bytes_max(settings, trial.topic.partitions),
            send_buffer_bytes: settings.send_buffer_bytes,
            receive_buffer_bytes: settings.receive_buffer_bytes,
        };
        let (links, leaders) = self.connect(&partitions, &wanted)?;
        let positions = from
            .iter()
            .zip(leaders)
            .map(|(&(partition, offset_from), leader)| Position {
                partition,
                offset: offset_from,
                end: (flow.records == ConsumeEnd::Backlog).then(|| offset(self.ends, partition)),
                leader: Some(leader),
                retry_at_ns: 0,
            });
        let stages = &trial.stages;
        Ok(Client::Consume(Box::new(Consumer::new(ConsumerSetup {
            flow: flow.clone(),
            topic: self.setup.topic.to_owned(),
            links,
            positions: positions.collect(),
            records_max: match flow.records {
                ConsumeEnd::Count(records) => Some(member.records_of(records)),
                ConsumeEnd::Backlog | ConsumeEnd::StageEnd => None,
            },
            hold_end_ns: stages.hold_ns.map(|hold_ns| stages.warm_up_ns + hold_ns),
            response_bytes_max: wanted.response_bytes_max,
            leaders: self.leaders.clone(),
            seat,
        }))))
    }

    /// A connection of the client's own to every broker that leads one of the partitions, and for
    /// each partition the place of its leader's link.
    fn connect(
        &mut self,
        partitions: &[u32],
        wanted: &Wanted,
    ) -> Result<(Vec<BrokerLink>, Vec<usize>), PrepareError> {
        let mut brokers = Vec::new();
        for &partition in partitions {
            let leader = self.leaders.of(partition);
            let topic = self.setup.topic.to_owned();
            brokers.push(leader.ok_or(PrepareError::NoLeader { topic, partition })?);
        }
        let distinct: Vec<i32> = BTreeSet::from_iter(brokers.iter().copied())
            .into_iter()
            .collect();
        let mut links = Vec::new();
        for (index, &broker_id) in distinct.iter().enumerate() {
            links.push(self.link(broker_id, token(self.client, index), wanted)?);
        }
        let place = |broker_id: &i32| distinct.iter().position(|known| known == broker_id);
        Ok((links, brokers.iter().filter_map(place).collect()))
    }

    fn link(
        &mut self,
        broker_id: i32,
        token: Token,
        wanted: &Wanted,
    ) -> Result<BrokerLink, PrepareError> {
        let connection = self.cluster.open(broker_id)?;
        let versions = wanted.versions.clone();
        let version = connection
            .api_versions()
            .highest_common(wanted.api, versions.clone())
            .ok_or(PrepareError::Version {
                broker_id,
                api: wanted.api,
                first: *versions.start(),
                last: *versions.end(),
            })?;
        let channel = connection.into_parts()?.channel;
        let socket = socket2::SockRef::from(&channel.tcp);
        if let Some(bytes) = wanted.send_buffer_bytes {
            socket.set_send_buffer_size(bytes as usize)?;
        }
        if let Some(bytes) = wanted.receive_buffer_bytes {
            socket.set_recv_buffer_size(bytes as usize)?;
        }
        Ok(BrokerLink::connected(
            broker_id,
            token,
            wanted.response_bytes_max,
            channel,
            version,
        ))
    }
}

/// The records' layout that all brokers take.
fn format_of(links: &[BrokerLink]) -> Result<RecordsFormat, PrepareError> {
    let mut formats = links.iter().map(|link| RecordsFormat::of(link.version()));
    let first = formats.next().unwrap_or(RecordsFormat::Batch);
    match formats.all(|format| format == first) {
        true => Ok(first),
        false => Err(PrepareError::MixedReleases),
    }
}

/// What a link is for.
struct Wanted {
    api: ApiKey,
    versions: std::ops::RangeInclusive<i16>,
    response_bytes_max: usize,
    send_buffer_bytes: Option<u32>,
    receive_buffer_bytes: Option<u32>,
}
