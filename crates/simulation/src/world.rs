//! The loop: one queue of events in virtual time.

mod checks;
mod clients;
mod faults;
mod group_checks;
mod history;
mod lives;
mod members;
mod proof;
mod queue;
mod requests;

pub use proof::{FoundAnomaly, VerifiedOutcome};

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use super::{FailedSeed, SeedOutcome, SeedPlan, Violation};
use checks::SimulationChecks;
use clients::Clients;
use faults::SimulatedFaults;
use kgauge_broker::controller::{
    Controller, ControllerOutput, ControllerRequest, FromController, Mode, NewTopic, ToController,
};
use kgauge_broker::ids::{ConnectionId, NodeId, PartitionId};
use kgauge_broker::node::replication::message::PeerMessage;
use kgauge_broker::node::{BrokerNode, DiskJob, NodeOutput};
use kgauge_broker::random::SmallRandom;
use kgauge_broker::settings::ConfigMap;
use kgauge_broker::storage::MemoryStorage;
use kgauge_broker::time::{NS_PER_MS, Now};
use members::Members;
use queue::QueuedEvent;

/// The topic of all clients.
const TOPIC: &str = "t";
/// Two of three replicas must have an acked record.
const INSYNC_MIN: &str = "2";
/// The sender of the simulation's own requests to the controller.
const NOBODY: NodeId = NodeId(0);
/// The wall clock at the start.
const WALL_MS: i64 = 1_700_000_000_000;
/// How long the cluster may take to become idle.
const REST_MS: u64 = 60_000;

/// One end of a connection: a node, or (`None`) the controller.
type LinkEnd = Option<NodeId>;

/// A direction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Cluster(LinkEnd, LinkEnd),
    ToClient(ConnectionId),
    FromClient(ConnectionId),
}

/// An event of the simulation.
#[derive(Debug)]
enum SimulatedEvent {
    ToNode(NodeId, Box<NodeMessage>),
    ToController(NodeId, ToController),
    NodeTimer(NodeId),
    ControllerTimer,
    Disk(NodeId, u64, DiskJob),
    Request(NodeId, u64, ConnectionId, Vec<u8>),
    Answer(ConnectionId, Vec<u8>),
    Disconnected(ConnectionId),
    Client(usize),
    Member(usize),
    Fault,
}

#[derive(Debug)]
enum NodeMessage {
    Controller(FromController),
    Peer(NodeId, PeerMessage),
}

/// One node with its disk.
#[derive(Default)]
struct NodeSlot {
    storage: MemoryStorage,
    node: Option<BrokerNode>,
    /// Counts the node's lives.
    life: u64,
    paused: bool,
    /// Events that arrived while it was paused.
    kept: Vec<SimulatedEvent>,
    /// It may have lost data and has not registered since.
    lossy: bool,
    timer_ns: Option<u64>,
}

impl NodeSlot {
    /// Ends one life and starts the next, with a node or (`None`) down. Returns the old node.
    fn replace(&mut self, node: Option<BrokerNode>) -> Option<BrokerNode> {
        self.life += 1;
        self.paused = false;
        self.kept.clear();
        self.timer_ns = None;
        std::mem::replace(&mut self.node, node)
    }
}

pub(super) struct World<'t> {
    plan: SeedPlan,
    random: SmallRandom,
    now_ns: u64,
    queue: BinaryHeap<Reverse<QueuedEvent>>,
    sequence: u64,
    controller: Controller,
    controller_storage: MemoryStorage,
    controller_timer_ns: Option<u64>,
    slots: BTreeMap<NodeId, NodeSlot>,
    cuts: BTreeSet<(LinkEnd, LinkEnd)>,
    /// When the last message of each direction arrives: messages stay in order.
    arrivals_ns: BTreeMap<Direction, u64>,
    connections: BTreeMap<ConnectionId, NodeId>,
    connection_count: u64,
    lives: u64,
    clients: Clients,
    members: Members,
    faults: SimulatedFaults,
    checks: SimulationChecks,
    history: DefaultHasher,
    events: u64,
    tell: &'t mut dyn FnMut(&str),
}

fn settings() -> ConfigMap {
    let pairs = [
        ("min.insync.replicas", INSYNC_MIN),
        ("broker.session.timeout.ms", "900"),
        ("broker.heartbeat.interval.ms", "200"),
        ("replica.lag.time.max.ms", "1000"),
        ("replica.fetch.wait.max.ms", "100"),
        ("replica.fetch.backoff.ms", "50"),
        ("replica.high.watermark.checkpoint.interval.ms", "300"),
        ("leader.imbalance.check.interval.seconds", "2"),
        ("log.segment.bytes", "20000"),
        ("log.flush.interval.ms", "400"),
        ("log.retention.ms", "-1"),
        ("offsets.topic.num.partitions", "1"),
        ("group.min.session.timeout.ms", "500"),
    ];
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    pairs.into_iter().map(pair).collect()
}

impl<'t> World<'t> {
    pub(super) fn new(plan: SeedPlan, tell: &'t mut dyn FnMut(&str)) -> Self {
        let mut random = SmallRandom::new(plan.seed);
        let controller_storage = MemoryStorage::new();
        let dir = Path::new("/controller");
        let seed = random.next_u64();
        let controller = Controller::open(
            &controller_storage.shared(),
            dir,
            Arc::new(settings()),
            seed,
        )
        .expect("a new disk has no fault");
        let slot = |id: i32| (NodeId(id), NodeSlot::default());
        Self {
            plan,
            clients: Clients::new(&plan),
            members: Members::new(&plan),
            random,
            now_ns: 1,
            queue: BinaryHeap::new(),
            sequence: 0,
            controller,
            controller_storage,
            controller_timer_ns: None,
            slots: (1..=i32::from(plan.nodes)).map(slot).collect(),
            cuts: BTreeSet::new(),
            arrivals_ns: BTreeMap::new(),
            connections: BTreeMap::new(),
            connection_count: 0,
            lives: 1,
            faults: SimulatedFaults::default(),
            checks: SimulationChecks::default(),
            history: DefaultHasher::new(),
            events: 0,
            tell,
        }
    }

    pub(super) fn run(mut self) -> Result<SeedOutcome, Box<FailedSeed>> {
        let result = self.live();
        match result {
            Ok(()) => {
                let acked = self.checks.counts();
                Ok(SeedOutcome {
                    history: self.history.finish(),
                    events: self.events,
                    faults: self.faults.count,
                    acked: acked.all,
                    acked_by_leader: acked.by_leader,
                    lost_by_leader: acked.lost_by_leader,
                    elections: self.checks.elections(),
                    commits: self.members.checks.commits(),
                    generations: self.members.checks.generations(),
                })
            }
            Err(violation) => Err(Box::new(FailedSeed {
                seed: self.plan.seed,
                at_ms: self.now_ns / NS_PER_MS,
                violation,
            })),
        }
    }

    fn live(&mut self) -> Result<(), Violation> {
        for node in self.node_ids() {
            self.start(node);
        }
        self.until(self.now_ns + 50 * NS_PER_MS, |_| false)?;
        self.create_topic();
        for client in 0..self.clients.count() {
            let after_ns = self.random.below(5 * NS_PER_MS);
            self.push(self.now_ns + after_ns, SimulatedEvent::Client(client));
        }
        for member in 0..self.members.count() {
            self.push(self.now_ns + NS_PER_MS, SimulatedEvent::Member(member));
        }
        self.push(self.now_ns + 300 * NS_PER_MS, SimulatedEvent::Fault);
        self.until(self.now_ns + self.plan.faults_ms * NS_PER_MS, |_| false)?;
        self.report("mending everything");
        self.mend();
        self.clients.finish();
        self.members.finish();
        self.until(self.now_ns + REST_MS * NS_PER_MS, Self::is_at_rest)?;
        if !self.is_at_rest() {
            let words = self.unrest();
            return Err(Violation::Stuck { words });
        }
        self.check_end()
    }

    fn create_topic(&mut self) {
        let topic = NewTopic {
            name: TOPIC.to_owned(),
            partitions: Some(self.plan.partitions),
            replication_factor: Some(i16::try_from(self.plan.nodes.min(3)).unwrap_or(1)),
            ..NewTopic::default()
        };
        let request = ControllerRequest::CreateTopics {
            topics: vec![topic],
            mode: Mode::Apply,
        };
        let message = ToController::Request { id: 0, request };
        self.controller.handle(self.now(), NOBODY, message);
        self.carry_out_controller();
    }

    /// Processes events until a time, or until `done`.
    fn until(&mut self, end_ns: u64, done: fn(&Self) -> bool) -> Result<(), Violation> {
        while let Some(Reverse(QueuedEvent(at_ns, _, _))) = self.queue.peek() {
            if *at_ns > end_ns {
                break;
            }
            let Some(Reverse(QueuedEvent(at_ns, _, event))) = self.queue.pop() else {
                break;
            };
            self.now_ns = at_ns;
            self.events += 1;
            match self.happen(event) {
                // The log is judged at the end.
                Err(_) if self.plan.is_verified => {}
                other => other?,
            }
            if self.events.is_multiple_of(64) && done(self) {
                return Ok(());
            }
        }
        self.now_ns = self.now_ns.max(end_ns);
        Ok(())
    }

    fn happen(&mut self, event: SimulatedEvent) -> Result<(), Violation> {
        match event {
            SimulatedEvent::ToNode(node, _)
            | SimulatedEvent::Request(node, ..)
            | SimulatedEvent::Disk(node, ..) => self.happen_to_node(node, event),
            SimulatedEvent::NodeTimer(node) => {
                let timer = self.slots.get_mut(&node).map(|slot| &mut slot.timer_ns);
                let due = timer.and_then(|timer| timer.take_if(|at_ns| *at_ns <= self.now_ns));
                if due.is_some() {
                    self.happen_to_node(node, event)?;
                }
                Ok(())
            }
            SimulatedEvent::ToController(node, message) => {
                self.note(&format_args!(
                    "controller < {node}: {}",
                    history::describe_request(&message)
                ));
                if let ToController::Register { .. } = message
                    && let Some(slot) = self.slots.get_mut(&node)
                {
                    slot.lossy = false;
                }
                self.controller.handle(self.now(), node, message);
                self.carry_out_controller();
                Ok(())
            }
            SimulatedEvent::ControllerTimer => {
                self.controller_timer_ns = None;
                self.controller.tick(self.now());
                self.carry_out_controller();
                Ok(())
            }
            SimulatedEvent::Answer(connection, bytes) if self.members.has(connection) => {
                self.members.answered(self.now_ns, connection, &bytes)
            }
            SimulatedEvent::Answer(connection, bytes) => {
                let now_ns = self.now_ns;
                self.clients
                    .answered(now_ns, connection, &bytes, &mut self.checks)
            }
            SimulatedEvent::Disconnected(connection) => {
                self.clients.disconnected(self.now_ns, connection);
                self.members.disconnected(self.now_ns, connection);
                Ok(())
            }
            SimulatedEvent::Client(client) => {
                self.client_turn(client);
                Ok(())
            }
            SimulatedEvent::Member(member) => {
                self.member_turn(member);
                Ok(())
            }
            SimulatedEvent::Fault => {
                self.next_fault();
                Ok(())
            }
        }
    }

    fn happen_to_node(&mut self, id: NodeId, event: SimulatedEvent) -> Result<(), Violation> {
        let now = self.now();
        let Some(slot) = self.slots.get_mut(&id) else {
            return Ok(());
        };
        if slot.paused {
            slot.kept.push(event);
            return Ok(());
        }
        let Some(node) = &mut slot.node else {
            return Ok(());
        };
        match event {
            SimulatedEvent::ToNode(_, message) => match *message {
                NodeMessage::Controller(message) => node.controller(now, message),
                NodeMessage::Peer(from, message) => {
                    let words = history::describe_peer_message(&message);
                    node.peer(now, from, message);
                    self.report(&format!("{id} < {from}: {words}"));
                }
            },
            SimulatedEvent::Request(_, life, connection, mut frame) if life == slot.life => {
                node.request(now, connection, &mut frame);
            }
            SimulatedEvent::Disk(_, life, job) if life == slot.life => {
                node.disk_done(now, job.run());
            }
            SimulatedEvent::NodeTimer(_) => node.tick(now),
            _ => return Ok(()),
        }
        self.carry_out(id)?;
        self.check(id)
    }

    fn now(&self) -> Now {
        Now {
            mono_ns: self.now_ns,
            wall_ms: WALL_MS + i64::try_from(self.now_ns / NS_PER_MS).unwrap_or(0),
        }
    }

    fn push(&mut self, at_ns: u64, event: SimulatedEvent) {
        self.sequence += 1;
        self.queue
            .push(Reverse(QueuedEvent(at_ns, self.sequence, event)));
    }

    /// The arrival of a message that is sent now: soon, and not before earlier ones.
    fn arrival(&mut self, direction: Direction) -> u64 {
        let delay_ns = 20_000 + self.random.below(400_000);
        let last_ns = self.arrivals_ns.entry(direction).or_default();
        *last_ns = (self.now_ns + delay_ns).max(*last_ns + 1);
        *last_ns
    }

    fn is_open(&self, from: LinkEnd, to: LinkEnd) -> bool {
        !self.cuts.contains(&(from, to))
    }

    fn post(&mut self, from: LinkEnd, to: NodeId, message: NodeMessage) {
        if self.is_open(from, Some(to)) {
            let at_ns = self.arrival(Direction::Cluster(from, Some(to)));
            self.push(at_ns, SimulatedEvent::ToNode(to, Box::new(message)));
        }
    }

    fn carry_out_controller(&mut self) {
        for output in self.controller.outputs().collect::<Vec<_>>() {
            match output {
                ControllerOutput::Send(NOBODY, _) => {}
                ControllerOutput::Send(node, message) => {
                    if let FromController::Image(image) = &message
                        && self.checks.published(image)
                    {
                        let nodes: Vec<NodeId> = image.nodes.keys().copied().collect();
                        let topic = image.topic(TOPIC);
                        let partitions = topic.map(|topic| history::partitions(&topic.partitions));
                        let partitions = partitions.unwrap_or_default();
                        self.report(&format!("image {}: {nodes:?} {partitions}", image.version));
                    }
                    self.post(None, node, NodeMessage::Controller(message));
                }
                ControllerOutput::Fatal(error) => self.report(&error.to_string()),
            }
        }
        if let Some(at_ns) = self.controller.next_timer()
            && self.controller_timer_ns.is_none_or(|set_ns| at_ns < set_ns)
        {
            self.controller_timer_ns = Some(at_ns);
            self.push(at_ns.max(self.now_ns), SimulatedEvent::ControllerTimer);
        }
    }

    fn carry_out(&mut self, id: NodeId) -> Result<(), Violation> {
        let Some(slot) = self.slots.get_mut(&id) else {
            return Ok(());
        };
        let life = slot.life;
        let Some(node) = &mut slot.node else {
            return Ok(());
        };
        let outputs: Vec<NodeOutput> = node.outputs().collect();
        let next_ns = node.next_timer();
        let set_ns = slot.timer_ns;
        for output in outputs {
            match output {
                NodeOutput::Respond {
                    connection,
                    response,
                } => {
                    let bytes = response.to_bytes().map_err(|error| died(id, &error))?;
                    let at_ns = self.arrival(Direction::ToClient(connection));
                    self.push(at_ns, SimulatedEvent::Answer(connection, bytes));
                }
                NodeOutput::Close { connection, reason } => {
                    self.note(&format_args!("node {id} closes {}: {reason}", connection.0));
                    self.push(self.now_ns + 1, SimulatedEvent::Disconnected(connection));
                }
                NodeOutput::Resume { .. } | NodeOutput::Notice(_) => {}
                NodeOutput::ToController(message) => {
                    if self.is_open(Some(id), None) {
                        let at_ns = self.arrival(Direction::Cluster(Some(id), None));
                        self.push(at_ns, SimulatedEvent::ToController(id, message));
                    }
                }
                NodeOutput::ToPeer { to, message } => {
                    self.post(Some(id), to, NodeMessage::Peer(id, message));
                }
                NodeOutput::Disk(job) => {
                    let at_ns = self.now_ns + 100_000 + self.random.below(3 * NS_PER_MS);
                    self.push(at_ns, SimulatedEvent::Disk(id, life, job));
                }
                NodeOutput::Fatal(error) => return Err(died(id, &error)),
            }
        }
        if let Some(at_ns) = next_ns
            && set_ns.is_none_or(|set_ns| at_ns < set_ns)
        {
            let at_ns = at_ns.max(self.now_ns);
            if let Some(slot) = self.slots.get_mut(&id) {
                slot.timer_ns = Some(at_ns);
            }
            self.push(at_ns, SimulatedEvent::NodeTimer(id));
        }
        Ok(())
    }

    fn client_turn(&mut self, client: usize) {
        let nodes = self.nodes_up();
        let asked = nodes.get(self.random.below(nodes.len() as u64) as usize);
        let image = asked.and_then(|id| self.slots[id].node.as_ref());
        let image = image.map(|node| node.image().clone());
        let now_ns = self.now_ns;
        let action = self
            .clients
            .turn(now_ns, client, image.as_deref(), &mut self.random);
        if let Some(node) = action.connect
            && let Some(id) = self.connect(node)
        {
            self.clients.connected(client, id, node);
        }
        let frames = self.clients.frames(client);
        self.send(self.clients.connection(client), frames);
        self.push(action.next_ns, SimulatedEvent::Client(client));
    }

    fn member_turn(&mut self, member: usize) {
        let (nodes, now_ns) = (self.nodes_up(), self.now_ns);
        let members = &mut self.members;
        let action = members.turn(now_ns, member, &nodes, &mut self.random);
        if let Some(node) = action.connect {
            match self.connect(node) {
                Some(id) => self.members.connected(member, id, node),
                None => self.members.refused(now_ns, member),
            }
        }
        let frames = self.members.frames(member);
        self.send(self.members.connection(member), frames);
        self.push(action.next_ns, SimulatedEvent::Member(member));
    }

    fn node_ids(&self) -> Vec<NodeId> {
        self.slots.keys().copied().collect()
    }

    fn nodes_up(&self) -> Vec<NodeId> {
        let up = self.slots.iter().filter(|(_, slot)| slot.node.is_some());
        up.map(|(id, _)| *id).collect()
    }

    /// Sends the requests of a client.
    fn send(&mut self, connection: Option<(ConnectionId, NodeId)>, frames: Vec<Vec<u8>>) {
        let Some((connection, node)) = connection else {
            return;
        };
        for frame in frames {
            let life = self.slots.get(&node).map_or(0, |slot| slot.life);
            let at_ns = self.arrival(Direction::FromClient(connection));
            self.push(
                at_ns,
                SimulatedEvent::Request(node, life, connection, frame),
            );
        }
    }

    /// A new connection to a node, if it is up.
    fn connect(&mut self, node: NodeId) -> Option<ConnectionId> {
        let now = self.now();
        let id = ConnectionId(self.connection_count);
        self.connection_count += 1;
        let slot = self.slots.get_mut(&node)?;
        let up = slot.node.as_mut()?;
        up.opened(now, id, Ipv4Addr::LOCALHOST.into());
        self.connections.insert(id, node);
        Some(id)
    }

    /// Adds a line for people to the history.
    fn report(&mut self, line: &str) {
        self.note(&format_args!("{line}"));
    }

    fn note(&mut self, line: &std::fmt::Arguments<'_>) {
        let line = format!("{:>12} {line}", self.now_ns / 1000);
        line.hash(&mut self.history);
        (self.tell)(&line);
    }

    /// The topic's partition on a node.
    fn partition_id(&self, index: i32) -> Option<PartitionId> {
        let topic = self.controller.image().topic(TOPIC)?.id;
        Some(PartitionId { topic, index })
    }
}

fn died(node: NodeId, error: &dyn std::fmt::Display) -> Violation {
    let words = error.to_string();
    Violation::Died { node, words }
}
