//! The faults of a repeat: a thread that starts and ends them on time, and records each.

mod inject;
mod nodes_report;
mod restore;

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::Clock;
use kgauge_results::folder::LineLog;
use kgauge_results::run::{Event, EventKind, RepeatKey};
use kgauge_scenario::{Fault, FaultNode, FaultPlan, RequestFault, Share, derive_seed};
use kgauge_target::{Done, Injection, Instruction, NodeState};

use crate::error::RunError;
use crate::events::event;
use crate::session::Session;
use crate::shared::SharedTarget;

use nodes_report::NodesReport;
pub(crate) use restore::restore;

/// The pause between two samples of nodes that are expected to come up or go down.
const LOOK: Duration = Duration::from_millis(50);

/// How long nodes record their responses after a stall before kgauge reads that record.
const STALL_RECORD_NS: u64 = 1_000_000_000;

/// Time limit for finding a leader, because a fault must not be late.
const LEADER_TIME_MAX: Duration = Duration::from_secs(2);

/// A thread that injects faults into the target.
pub(crate) struct FaultThread {
    stop: Sender<()>,
    thread: JoinHandle<Vec<ActiveFault>>,
}

/// A fault that is still active.
pub(crate) struct ActiveFault {
    entry: u32,
    /// As text.
    text: String,
    nodes: Vec<u16>,
    /// What the nodes recorded about it.
    report: NodesReport,
}

impl FaultThread {
    /// Starts it, if the trial has any faults. What is due at the very start is set when this returns, before any
    /// load.
    pub(crate) fn start(
        session: &Session<'_>,
        share: &Share,
        topic: &str,
        (key, clock): (RepeatKey, Clock),
    ) -> Result<Option<FaultThread>, RunError> {
        let trial = &share.trial;
        if trial.faults.is_empty() {
            return Ok(None);
        }
        let hold_end_ns = trial.stages.hold_ns.map(|ns| trial.stages.warm_up_ns + ns);
        let brokers = session.cluster.metadata().brokers.iter();
        let driver = Driver {
            target: session.target.clone(),
            log: Log {
                events: session.folder.events(),
                key,
                clock,
            },
            faults: trial.faults.clone(),
            nodes: brokers
                .filter_map(|one| u16::try_from(one.id).ok())
                .collect(),
            seed: share.seed,
            hold_end_ns: hold_end_ns.unwrap_or(u64::MAX),
            topic: topic.to_owned(),
            client: ClientConfig {
                api_timeout: LEADER_TIME_MAX,
                ..session.client.clone()
            },
            cluster: None,
            due: BTreeMap::new(),
            count: 0,
            lasting: BTreeMap::new(),
            watched: BTreeMap::new(),
        };
        let warm_up_ns = trial.stages.warm_up_ns;
        let (stop, stopped) = channel();
        let (starting, started) = channel();
        let thread = std::thread::Builder::new()
            .name("faults".to_owned())
            .spawn(move || driver.run(warm_up_ns, starting, &stopped))
            .map_err(|error| RunError::system("cannot start the thread for faults", &error))?;
        // Nothing is ever sent: the other end is dropped when the first faults are set.
        let _ = started.recv();
        Ok(Some(FaultThread { stop, thread }))
    }

    /// Ends it; returns the faults that are still active.
    fn end(self) -> Vec<ActiveFault> {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}

/// Where faults are recorded.
#[derive(Clone)]
struct Log {
    events: LineLog<Event>,
    key: RepeatKey,
    clock: Clock,
}

impl Log {
    /// Writes something down that happened just now. A folder that takes no events any more ends the
    /// run through its slices.
    fn note(&self, kind: EventKind) {
        self.note_at(self.clock.now_ns(), kind);
    }

    /// Writes something down that happened a moment ago.
    fn note_at(&self, at_ns: u64, kind: EventKind) {
        let at = Some((self.key, at_ns));
        let _ = self.events.write(&event(at, kind));
    }

    fn warn(&self, text: String) {
        self.note(EventKind::Warning { text });
    }
}

/// Something that is due.
#[derive(Clone, Copy)]
enum Step {
    /// A fault starts, for the n-th time.
    Begin { entry: u32, round: u64 },
    /// One ends.
    End { number: u64 },
}

/// A fault that was set and not lifted.
struct Active {
    entry: u32,
    nodes: Vec<u16>,
    /// What lifts it.
    undo: Vec<Injection>,
    /// When it ends without being lifted.
    over_ns: Option<u64>,
}

/// The state that a node is expected to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AwaitedRecovery {
    Up,
    Down,
}

/// Sets and lifts faults.
struct Driver {
    target: SharedTarget,
    log: Log,
    faults: Vec<FaultPlan>,
    nodes: Vec<u16>,
    seed: u64,
    hold_end_ns: u64,
    topic: String,
    client: ClientConfig,
    /// For finding leaders.
    cluster: Option<Cluster>,
    due: BTreeMap<(u64, u64), Step>,
    count: u64,
    lasting: BTreeMap<u64, Active>,
    watched: BTreeMap<u16, (AwaitedRecovery, u32)>,
}

impl Driver {
    /// Until it is stopped. `starting` is dropped as soon as all that is due at the start is set.
    fn run(
        mut self,
        warm_up_ns: u64,
        starting: Sender<()>,
        stopped: &Receiver<()>,
    ) -> Vec<ActiveFault> {
        let mut starting = Some(starting);
        let follows = |node| matches!(node, FaultNode::Leader | FaultNode::Follower);
        if self.faults.iter().any(|fault| follows(fault.node)) {
            self.connect();
        }
        for entry in 0..self.faults.len() {
            let at_ns = self.faults[entry].at.at_ns(warm_up_ns);
            let entry = u32::try_from(entry).unwrap_or(u32::MAX);
            self.plan(at_ns, Step::Begin { entry, round: 0 });
        }
        loop {
            let now_ns = self.log.clock.now_ns();
            let first = self.due.first_key_value();
            let first = first.map(|(at, step)| (*at, *step));
            if first.is_none_or(|((at_ns, _), _)| at_ns > 0) {
                drop(starting.take());
            }
            if let Some((at, step)) = first.filter(|((at_ns, _), _)| *at_ns <= now_ns) {
                self.due.remove(&at);
                match step {
                    Step::Begin { entry, round } => self.begin(entry, round, at.0),
                    Step::End { number } => self.end(number),
                }
                continue;
            }
            let wait_ns = first.map_or(u64::MAX, |((at_ns, _), _)| at_ns - now_ns);
            let mut wait = Duration::from_nanos(wait_ns);
            if !self.watched.is_empty() {
                wait = wait.min(LOOK);
            }
            match stopped.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) => self.sample(),
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return self.left(),
            }
        }
    }

    fn plan(&mut self, at_ns: u64, step: Step) {
        self.due.insert((at_ns, self.count), step);
        self.count += 1;
    }

    /// The faults that are still active, as text. Faults of requests end here, one by one, so that the nodes report the
    /// affected requests of each.
    fn left(mut self) -> Vec<ActiveFault> {
        // A stall that is over was only waiting for the record of what came after it.
        let now_ns = self.log.clock.now_ns();
        let is_over = |active: &Active| active.over_ns.is_some_and(|over_ns| over_ns <= now_ns);
        let over = self.lasting.iter().filter(|(_, active)| is_over(active));
        let over: Vec<u64> = over.map(|(number, _)| *number).collect();
        for number in over {
            self.end(number);
        }
        let lasting = std::mem::take(&mut self.lasting);
        let words = |active: Active| {
            let plan = self.faults.get(active.entry as usize)?;
            let lifted = match plan.kind {
                Fault::Requests { .. } => self.lift(&active.undo).ok(),
                _ => None,
            };
            Some(ActiveFault {
                text: format!("{}: {}", names(&active.nodes, &self.nodes), plan.kind),
                entry: active.entry,
                nodes: active.nodes,
                report: lifted.map(|done| self.log.report(done)).unwrap_or_default(),
            })
        };
        lasting.into_values().filter_map(words).collect()
    }

    /// A fault begins.
    fn begin(&mut self, entry: u32, round: u64, at_ns: u64) {
        let Some(plan) = self.faults.get(entry as usize).cloned() else {
            return;
        };
        if let Some(every_ns) = plan.every_ns {
            let next_ns = at_ns + every_ns;
            if next_ns < self.hold_end_ns {
                let round = round + 1;
                self.plan(next_ns, Step::Begin { entry, round });
            }
        }
        let nodes = match self.struck(&plan, entry, round) {
            Ok(nodes) => nodes,
            Err(words) => {
                return self.log.warn(format!("\"{plan}\" failed: {words}"));
            }
        };
        let number = self.count;
        let mut struck = Vec::new();
        let mut undo = Vec::new();
        let seed = derive_seed(self.seed, &format!("fault {entry}"));
        for step in inject::fault_steps(&plan, &nodes, (number, seed)) {
            let inject = Instruction::Inject(step.injection.clone());
            match self.target.instruct(&inject) {
                Ok(done) => {
                    self.note_start(entry, &plan, &step.nodes, &done);
                    struck.extend(&step.nodes);
                    if plan.kind != Fault::Restart {
                        undo.push(step.injection);
                    }
                    if let Some(awaited) = step.awaited {
                        let watched = step.nodes.iter().map(|node| (*node, (awaited, entry)));
                        self.watched.extend(watched);
                    }
                }
                Err(words) => {
                    self.log.warn(format!("\"{plan}\" failed: {words}"));
                }
            }
        }
        if undo.is_empty() {
            return;
        }
        let start_ns = self.log.clock.now_ns();
        // The node ends a stall on time: lifted from here before that, it would be shorter.
        let over_ns = match &plan.kind {
            Fault::Requests {
                what: RequestFault::Stall { length_ns },
                ..
            } => Some(start_ns + length_ns),
            _ => None,
        };
        let active = Active {
            entry,
            nodes: struck,
            undo,
            over_ns,
        };
        self.count += 1;
        self.lasting.insert(number, active);
        let end_ns = match over_ns {
            Some(over_ns) => Some(over_ns + STALL_RECORD_NS),
            None => plan.for_ns.map(|length_ns| at_ns + length_ns),
        };
        if let Some(end_ns) = end_ns {
            self.plan(end_ns, Step::End { number });
        }
    }

    fn note_start(&self, entry: u32, plan: &FaultPlan, nodes: &[u16], done: &Done) {
        let mut text = format!("{}: {}", names(nodes, &self.nodes), plan.kind);
        if let Some(bytes) = done.lost_bytes {
            text.push_str(&format!("; {bytes} bytes were not flushed and are lost"));
        }
        self.log.note(EventKind::Fault {
            text,
            active: true,
            entry: Some(entry),
            nodes: nodes.to_vec(),
            bytes_lost: done.lost_bytes,
            requests: None,
            records: None,
            stalls: Vec::new(),
        });
    }

    /// Ends the fault of one event.
    fn lift(&self, injections: &[Injection]) -> Result<Done, String> {
        let mut last = Done::default();
        for injection in injections {
            last = self
                .target
                .instruct(&Instruction::Lift(injection.clone()))?;
        }
        Ok(last)
    }

    /// A fault ends.
    fn end(&mut self, number: u64) {
        let Some(active) = self.lasting.remove(&number) else {
            return;
        };
        let Some(plan) = self.faults.get(active.entry as usize) else {
            return;
        };
        let undone = self.lift(&active.undo);
        let whom = names(&active.nodes, &self.nodes);
        match undone {
            Ok(done) => {
                let text = match plan.kind.takes_down() {
                    true => format!("{whom}: started again after {}", plan.kind),
                    false => format!("{whom}: {}", plan.kind),
                };
                let now_ns = self.log.clock.now_ns();
                let at_ns = active.over_ns.map_or(now_ns, |over_ns| over_ns.min(now_ns));
                let report = self.log.report(done);
                let ended = over(text, Some(active.entry), active.nodes.clone(), report);
                self.log.note_at(at_ns, ended);
                if plan.kind.takes_down() {
                    let awaited = (AwaitedRecovery::Up, active.entry);
                    let nodes = active.nodes.iter().map(|node| (*node, awaited));
                    self.watched.extend(nodes);
                }
            }
            Err(words) => {
                let text = format!("{whom}: {} could not be ended: {words}", plan.kind);
                self.log.warn(text);
            }
        }
    }

    /// Notes which of the watched nodes have come up or gone down.
    fn sample(&mut self) {
        if self.watched.is_empty() {
            return;
        }
        let sample = self.target.instruct(&Instruction::Sample);
        let done = match sample {
            Ok(done) => done,
            Err(error) => {
                self.watched.clear();
                return self.log.warn(format!("cannot query the nodes: {error}"));
            }
        };
        for look in done.nodes {
            let Some((awaited, entry)) = self.watched.get(&look.node).copied() else {
                continue;
            };
            let text = match (awaited, look.state) {
                (AwaitedRecovery::Up, NodeState::Up) => {
                    format!("node {} is registered again", look.node)
                }
                (AwaitedRecovery::Down, NodeState::Down) => match look.words {
                    Some(words) => format!("node {} has stopped: {words}", look.node),
                    None => format!("node {} has stopped", look.node),
                },
                _ => continue,
            };
            self.watched.remove(&look.node);
            self.log.note(EventKind::Fault {
                text,
                active: awaited == AwaitedRecovery::Down,
                entry: Some(entry),
                nodes: vec![look.node],
                bytes_lost: None,
                requests: None,
                records: None,
                stalls: Vec::new(),
            });
        }
    }

    fn connect(&mut self) {
        match Cluster::bootstrap_until(self.client.clone(), Interrupt::new()) {
            Ok(cluster) => self.cluster = Some(cluster),
            Err(error) => self.log.warn(format!("cannot look up leaders: {error}")),
        }
    }

    /// The nodes that a fault affects now.
    fn struck(&mut self, plan: &FaultPlan, entry: u32, round: u64) -> Result<Vec<u16>, String> {
        match plan.node {
            FaultNode::Number(node) => Ok(vec![node]),
            FaultNode::All => Ok(self.nodes.clone()),
            FaultNode::Random => {
                let seed = derive_seed(self.seed, &format!("fault {entry} round {round}"));
                let count = self.nodes.len().max(1) as u64;
                let index = usize::try_from(seed % count).unwrap_or(0);
                Ok(self.nodes.get(index).copied().into_iter().collect())
            }
            FaultNode::Leader | FaultNode::Follower => {
                let Some(cluster) = &mut self.cluster else {
                    return Err("no broker can be asked for the leader".to_owned());
                };
                let metadata = cluster
                    .refresh(&[&self.topic])
                    .map_err(|error| error.to_string())?;
                let partition = metadata
                    .topic(&self.topic)
                    .and_then(|topic| topic.partitions.first());
                let leader = partition.and_then(|partition| partition.leader_id);
                let found = match plan.node {
                    FaultNode::Leader => leader,
                    _ => partition.and_then(|partition| {
                        let replicas = partition.replicas.iter().copied();
                        replicas.into_iter().find(|id| Some(*id) != leader)
                    }),
                };
                let found = found.and_then(|id| u16::try_from(id).ok());
                let words = "partition 0 has no such node now";
                found.map(|id| vec![id]).ok_or_else(|| words.to_owned())
            }
        }
    }
}

/// The event of a fault that is over. Its text includes the affected requests.
fn over(mut text: String, entry: Option<u32>, nodes: Vec<u16>, report: NodesReport) -> EventKind {
    let struck = report.struck;
    if let Some(struck) = struck.filter(|struck| struck.requests > 0) {
        let plural = if struck.requests == 1 { "" } else { "s" };
        text.push_str(&format!("; {} request{plural}", struck.requests));
        if let Some(records) = struck.records {
            text.push_str(&format!(" with {records} records"));
        }
    }
    EventKind::Fault {
        text,
        active: false,
        entry,
        nodes,
        bytes_lost: None,
        requests: struck.map(|struck| struck.requests),
        records: struck.and_then(|struck| struck.records),
        stalls: report.stalls,
    }
}

/// `node 1`, `nodes 1 and 3`, `all nodes`.
fn names(nodes: &[u16], all: &[u16]) -> String {
    let words: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    match nodes {
        [one] => format!("node {one}"),
        _ if nodes.len() == all.len() => "all nodes".to_owned(),
        _ => format!("nodes {}", words.join(" and ")),
    }
}
