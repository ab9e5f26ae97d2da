//! A node's thread: one event loop over its listener, its connections, the controller's messages
//! and its timers.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use rustls::ServerConfig;

use super::accept::{AcceptOutcome, RETRY_MS, accept};
use super::alarm::Alarm;
use super::clock::NodeClock;
use super::commands::{FaultOrder, NodeCommand, NodeHandle, ToControllerThread};
use super::flusher::{Flusher, close_all};
use super::sockets::{Readable, Sockets};
use super::{PeerChannels, ServerEvent};
use crate::controller::ToController;
use crate::fault::LiftedFault;
use crate::ids::{ConnectionId, NodeId};
use crate::node::clean_shutdown;
use crate::node::{BrokerNode, CloseReason, DiskJob, NodeConfig, NodeOutput};
use crate::storage::Storage;
use crate::time::Now;

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
const ALARM: Token = Token(2);
/// Connection n has the token n + 3.
const FIRST_CONNECTION: usize = 3;

const EVENTS_MAX: usize = 1024;

/// Commands that are carried out before connections have their turn.
const COMMANDS_MAX: usize = 64;

/// Time between two checks for idle connections.
const IDLE_CHECK_MS: i64 = 10_000;

/// Everything the thread works with.
#[derive(Debug)]
pub(crate) struct NodeThread {
    id: NodeId,
    clock: NodeClock,
    poll: Poll,
    alarm: Alarm,
    listener: TcpListener,
    node: BrokerNode,
    sockets: Sockets,
    commands: Receiver<NodeCommand>,
    /// Commands that came while the node was paused.
    kept: VecDeque<NodeCommand>,
    /// Commands may have been left for the next round.
    more_commands: bool,
    flusher: Flusher,
    /// For what no client waits for: ten thousand checkpoints must not delay a flush.
    cleaner: Flusher,
    peers: Arc<PeerChannels>,
    controller: Sender<ToControllerThread>,
    events: Sender<ServerEvent>,
    home: Home,
    connections: u64,
    accept_again_ns: Option<u64>,
    idle_check_ns: u64,
}

/// What a node's thread is made of.
pub(crate) struct NodeThreadParts {
    pub(crate) config: NodeConfig,
    pub(crate) listener: std::net::TcpListener,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) poll: Poll,
    pub(crate) commands: Receiver<NodeCommand>,
    pub(crate) inbox: NodeHandle,
    pub(crate) peers: Arc<PeerChannels>,
    pub(crate) controller: Sender<ToControllerThread>,
    pub(crate) events: Sender<ServerEvent>,
    /// The one that the node's counters read too.
    pub(crate) clock: NodeClock,
    /// How much the node's wall clock is ahead of the system's.
    pub(crate) clock_ahead_ms: i64,
}

/// A poll with its waker.
pub(crate) fn poll_with_waker() -> io::Result<(Poll, Arc<Waker>)> {
    let poll = Poll::new()?;
    let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
    Ok((poll, waker))
}

/// Whether the thread goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Onward {
    Go,
    Stop,
    Crash,
    Failed,
}

/// Where a node's files are.
#[derive(Debug)]
struct Home {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
}

impl NodeThread {
    pub(crate) fn new(parts: NodeThreadParts) -> io::Result<Self> {
        let NodeThreadParts {
            config,
            listener,
            tls,
            poll,
            commands,
            inbox,
            peers,
            controller,
            events,
            clock,
            clock_ahead_ms,
        } = parts;
        listener.set_nonblocking(true)?;
        let mut listener = TcpListener::from_std(listener);
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        let alarm = Alarm::new(poll.registry(), ALARM)?;
        let mut clock = clock;
        clock.set_ahead(clock_ahead_ms);
        let now = clock.now();
        let id = config.id;
        let flusher = Flusher::start(&format!("kgauge-flush-{id}"), inbox.clone())?;
        let cleaner = Flusher::start(&format!("kgauge-clean-{id}"), inbox)?;
        let home = Home {
            storage: Arc::clone(&config.storage),
            dir: config.dir.clone(),
        };
        let counters = config.counters.clone();
        let node = BrokerNode::new(now, config);
        let frame_bytes_max = node.request_bytes_max();
        Ok(Self {
            id,
            clock,
            poll,
            alarm,
            listener,
            node,
            sockets: Sockets::new(frame_bytes_max, tls, counters),
            commands,
            kept: VecDeque::new(),
            more_commands: false,
            flusher,
            cleaner,
            peers,
            controller,
            events,
            home,
            connections: 0,
            accept_again_ns: None,
            idle_check_ns: now.after_ms(IDLE_CHECK_MS),
        })
    }

    /// Works until a command stops it, or until the disk fails.
    pub(crate) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS_MAX);
        let mut onward = self.carry_out();
        while onward == Onward::Go {
            if let Err(error) = self.poll.poll(&mut events, self.wait())
                && error.kind() != io::ErrorKind::Interrupted
            {
                return self.failed(&error.to_string());
            }
            onward = self.round(&events);
        }
        if onward == Onward::Failed {
            // The others must know that its partitions have no leader.
            self.send_to_controller(ToController::Stopped);
        }
        match onward {
            Onward::Stop => self.stop(),
            Onward::Crash => {
                self.flusher.abandon();
                self.cleaner.abandon();
            }
            Onward::Go | Onward::Failed => {}
        }
    }

    /// Closes every log.
    fn stop(self) {
        // What is under way comes first.
        drop(self.flusher);
        drop(self.cleaner);
        let known = self.node.may_come_back_in_order();
        let (jobs, mut failures) = self.node.stop();
        failures.extend(close_all(jobs));
        let mut words = failures.first().map(ToString::to_string);
        if words.is_none() && known {
            let marked = clean_shutdown::leave_mark(&*self.home.storage, &self.home.dir);
            words = marked.err().map(|error| error.to_string());
        }
        if let Some(words) = words {
            // An owner that is gone does not want to know.
            let _ = self.events.send(ServerEvent::Failed {
                node: Some(self.id),
                words,
                disk_full: false,
            });
        }
    }

    fn failed(&self, words: &str) {
        let words = words.to_owned();
        let _ = self.events.send(ServerEvent::Failed {
            node: Some(self.id),
            words,
            disk_full: false,
        });
    }

    fn send_to_controller(&self, message: ToController) {
        if self.peers.is_open(Some(self.id), None) {
            // Without a controller the cluster is ending.
            let _ = self
                .controller
                .send(ToControllerThread::Message(self.id, message));
        }
    }

    /// How long the system may let us wait.
    fn wait(&self) -> Option<Duration> {
        self.node.count_waiting();
        if self.sockets.is_busy() || self.more_commands {
            return Some(Duration::ZERO);
        }
        let timers = [
            self.node.next_timer(),
            self.accept_again_ns,
            self.sockets.parting_due_ns(),
            Some(self.idle_check_ns),
        ];
        let at_ns = timers.into_iter().flatten().min()?;
        let now_ns = self.clock.now().mono_ns;
        self.node.rests(now_ns);
        Some(self.alarm.timeout(at_ns.saturating_sub(now_ns)))
    }

    /// One round: what the system, the controller and the clock say, and a turn for each
    /// connection.
    fn round(&mut self, events: &Events) -> Onward {
        let now = self.clock.now();
        self.node.wakes(now);
        for event in events {
            match event.token() {
                LISTENER => self.accept_all(now),
                WAKER | ALARM => {}
                Token(token) => {
                    let id = ConnectionId((token - FIRST_CONNECTION) as u64);
                    let readable = match (event.is_read_closed(), event.is_readable()) {
                        (true, _) => Readable::ToTheEnd,
                        (false, true) => Readable::Yes,
                        (false, false) => Readable::No,
                    };
                    self.sockets.ready(now, id, readable);
                }
            }
        }
        self.more_commands = true;
        for _ in 0..COMMANDS_MAX {
            let Some(command) = self.next_command() else {
                self.more_commands = false;
                break;
            };
            match command {
                NodeCommand::Controller(message) => self.node.controller(now, message),
                NodeCommand::Peer(from, message) => self.node.peer(now, from, message),
                NodeCommand::Disk(done) => self.node.disk_done(now, done),
                NodeCommand::Fault(order, done) => self.change_faults(order, &done),
                NodeCommand::Pause => match self.pause() {
                    Onward::Go => return Onward::Go,
                    end => return end,
                },
                NodeCommand::Resume => {}
                NodeCommand::Stop => return Onward::Stop,
                NodeCommand::Crash => return Onward::Crash,
            }
        }
        self.node.tick(now);
        self.sockets.end_parting(now);
        if self
            .accept_again_ns
            .is_some_and(|at_ns| at_ns <= now.mono_ns)
        {
            self.accept_all(now);
        }
        if self.idle_check_ns <= now.mono_ns {
            self.close_idle(now);
        }
        let mut onward = self.carry_out();
        for _ in 0..self.sockets.queued() {
            if onward != Onward::Go {
                break;
            }
            self.sockets.turn(self.clock.now(), &mut self.node);
            onward = self.carry_out();
        }
        onward
    }

    fn change_faults(&mut self, order: FaultOrder, done: &Sender<LiftedFault>) {
        let now = self.clock.now();
        let mut lifted = LiftedFault::default();
        match order {
            FaultOrder::Set(id, fault) => self.node.set_fault(now, id, fault),
            FaultOrder::Lift(id) => {
                if let Some(watch) = self.node.stall(id) {
                    let unix = self.clock.unix();
                    let record = watch.record(self.id, |at_ns| unix.ns(at_ns));
                    lifted.stalls.push(record);
                }
                lifted.struck = self.node.lift_fault(now, id);
            }
            FaultOrder::Clear => self.node.clear_faults(now),
            FaultOrder::ClockAhead(ms) => self.clock.set_ahead(ms),
        }
        // Who asked may have given up.
        let _ = done.send(lifted);
    }

    fn next_command(&mut self) -> Option<NodeCommand> {
        let kept = self.kept.pop_front();
        kept.or_else(|| self.commands.try_recv().ok())
    }

    /// Does nothing until a command resumes or ends the node; then everything else has its turn.
    fn pause(&mut self) -> Onward {
        while let Ok(command) = self.commands.recv() {
            match command {
                NodeCommand::Resume => return Onward::Go,
                NodeCommand::Stop => return Onward::Stop,
                NodeCommand::Crash => return Onward::Crash,
                NodeCommand::Fault(order, done) => self.change_faults(order, &done),
                other => self.kept.push_back(other),
            }
        }
        Onward::Stop
    }

    fn accept_all(&mut self, now: Now) {
        self.accept_again_ns = None;
        loop {
            match accept(&self.listener) {
                AcceptOutcome::Nobody => return,
                AcceptOutcome::Later => {
                    self.accept_again_ns = Some(now.after_ms(RETRY_MS));
                    return;
                }
                AcceptOutcome::Connection(stream, peer) => {
                    let id = ConnectionId(self.connections);
                    let Ok(number) = usize::try_from(self.connections) else {
                        return;
                    };
                    self.connections += 1;
                    let token = Token(number + FIRST_CONNECTION);
                    let registry = self.poll.registry();
                    let inserted = self.sockets.insert(now, registry, id, token, stream);
                    if inserted.is_ok() {
                        self.node.opened(now, id, peer.ip());
                    }
                }
            }
        }
    }

    fn close_idle(&mut self, now: Now) {
        self.idle_check_ns = now.after_ms(IDLE_CHECK_MS);
        let Some(idle_ns) = self.node.connection_idle_ns_max() else {
            return;
        };
        let before_ns = now.mono_ns.saturating_sub(idle_ns);
        for id in self.sockets.unused_since(before_ns) {
            self.sockets.close(id);
            self.node.closed(id);
        }
    }

    /// Does what the core wants done.
    fn carry_out(&mut self) -> Onward {
        loop {
            let mut touched = Vec::new();
            let mut to_controller = Vec::new();
            let mut onward = Onward::Go;
            for output in self.node.outputs() {
                match output {
                    NodeOutput::Respond {
                        connection,
                        response,
                    } => {
                        self.sockets.push(connection, response);
                        if touched.last() != Some(&connection) {
                            touched.push(connection);
                        }
                    }
                    NodeOutput::Close {
                        connection,
                        reason: CloseReason::AuthenticationFailed,
                    } => self.sockets.part(self.clock.now(), connection),
                    NodeOutput::Close { connection, .. } => self.sockets.close(connection),
                    NodeOutput::ToController(message) => {
                        to_controller.push(message);
                    }
                    NodeOutput::ToPeer { to, message } => {
                        let command = NodeCommand::Peer(self.id, message);
                        self.peers.send(Some(self.id), to, command);
                    }
                    NodeOutput::Resume { connection } => touched.push(connection),
                    NodeOutput::Disk(job @ DiskJob::Flush(..)) => self.flusher.put(job),
                    NodeOutput::Disk(job) => self.cleaner.put(job),
                    NodeOutput::Notice(notice) => {
                        let node = self.id;
                        let _ = self.events.send(ServerEvent::Notice { node, notice });
                    }
                    NodeOutput::Fatal(error) => {
                        let (node, words) = (Some(self.id), error.to_string());
                        let disk_full = error.is_disk_full();
                        let _ = self.events.send(ServerEvent::Failed {
                            node,
                            words,
                            disk_full,
                        });
                        onward = Onward::Failed;
                    }
                }
            }
            to_controller
                .into_iter()
                .for_each(|message| self.send_to_controller(message));
            if onward == Onward::Failed || touched.is_empty() {
                return onward;
            }
            for id in touched {
                self.sockets.flush(&mut self.node, id);
            }
        }
    }
}
