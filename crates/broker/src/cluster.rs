//! A running cluster: nodes and controller on their threads, started and stopped as a whole.

mod config;
mod faults;
mod files;
mod instrument;
mod lock;

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use socket2::{Domain, Socket, Type};

use crate::controller::{Controller, JournalError};
use crate::counts::Counters;
use crate::ids::NodeId;
use crate::image::NodeImage;
use crate::node::clean_shutdown::StopBefore;
use crate::node::{Deviations, NodeConfig, Notice, TURN_WORK_MAX};
use crate::security::{PreparedSecurity, ScramMechanism, SystemNonces};
use crate::server::{
    ControllerThread, NodeClock, NodeCommand, NodeHandle, NodeThread, NodeThreadParts,
    PeerChannels, ServerEvent, ToControllerThread, poll_with_waker,
};
use crate::storage::{Storage, StorageError, TrackedStorage};
pub use config::{ClusterConfig, ClusterDisk, ListenAddress};
use faults::ActiveFaults;
pub use instrument::{Endpoint, NodeError};
use lock::DirLock;

/// Why a cluster did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Something in the configuration is wrong; every mistake has its sentence.
    #[error("the cluster's configuration is wrong: {}", .0.join("; "))]
    Config(Vec<String>),
    /// Another cluster runs on the folder.
    #[error("the folder {} is in use by another cluster", .0.display())]
    InUse(PathBuf),
    /// The folder belongs to something else than this cluster.
    #[error("cannot use the folder {}: {words}", dir.display())]
    Foreign {
        /// The folder.
        dir: PathBuf,
        /// Why not.
        words: String,
    },
    /// The disk failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The controller's journal cannot be read.
    #[error("cannot read the cluster's metadata: {0}")]
    Journal(#[from] JournalError),
    /// A listener's address is taken or not this machine's.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The operating system's error.
        source: io::Error,
    },
    /// The system gives no thread or poll.
    #[error("the operating system refused a resource that a node needs: {0}")]
    System(#[from] io::Error),
    /// A node had to stop before all were up.
    #[error("{0}")]
    Failed(ClusterFailure),
}

/// A node or the controller that had to stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} had to stop: {words}", node.map_or("the controller".to_owned(), |id| format!("node {id}")))]
pub struct ClusterFailure {
    /// The node; `None` for the controller.
    pub node: Option<NodeId>,
    /// Why.
    pub words: String,
}

/// Starts clusters.
#[derive(Debug)]
pub struct EmbeddedCluster;

/// A running cluster. Dropping it stops it.
#[derive(Debug)]
pub struct ClusterHandle {
    addresses: Vec<SocketAddr>,
    nodes: BTreeMap<NodeId, RunningNode>,
    wires: Wires,
    controller_thread: Option<JoinHandle<()>>,
    events: Receiver<ServerEvent>,
    failures: Vec<ClusterFailure>,
    /// What nobody has asked for yet.
    notices: Vec<(NodeId, Notice)>,
    /// Nodes that stopped because somebody filled their disks.
    stopped: Vec<ClusterFailure>,
    _lock: Option<DirLock>,
}

/// A node's thread.
#[derive(Debug)]
struct RunningNode {
    inbox: NodeHandle,
    disk: Arc<TrackedStorage>,
    counters: Option<Arc<Counters>>,
    thread: Option<JoinHandle<()>>,
    /// Keeps the port while the node is down.
    place: Option<Socket>,
}

impl EmbeddedCluster {
    /// Starts a cluster, and gives it when all nodes serve and know each other.
    pub fn start(config: ClusterConfig) -> Result<ClusterHandle, StartError> {
        let security = config.check().map_err(StartError::Config)?;
        let storage = config.storage();
        storage.create_dir_all(&config.data_dir)?;
        let lock = match config.disk {
            ClusterDisk::System | ClusterDisk::Reusing { .. } => {
                Some(DirLock::take(&config.data_dir)?)
            }
            ClusterDisk::Given(_) => None,
        };
        files::check_nodes(&*storage, &config)?;
        let dir = config.data_dir.join("controller");
        let fixed = Arc::new(config.core_settings());
        let mut controller = Controller::open(&storage, &dir, fixed, config.seed)?;
        files::check_cluster(&*storage, &config, &controller.image().cluster_id)?;
        give_users(&mut controller, &security)?;

        let (events, event_receiver) = mpsc::channel();
        let (to_controller, messages) = mpsc::channel();
        let peers = Arc::new(PeerChannels::default());
        let controller = ControllerThread {
            controller,
            messages,
            peers: Arc::clone(&peers),
            nodes: usize::from(config.nodes),
            events: events.clone(),
        };
        let wires = Wires {
            storage,
            events,
            controller: to_controller,
            peers,
            lives: AtomicU64::new(1),
            config,
            security,
            faults: ActiveFaults::default(),
        };
        let mut prepared = Vec::new();
        for (id, listener) in wires.config.node_ids().zip(listen(&wires.config)?) {
            prepared.push(wires.prepare(id, listener)?);
        }
        let mut handle = ClusterHandle {
            addresses: prepared.iter().map(|node| node.address).collect(),
            nodes: BTreeMap::new(),
            wires,
            controller_thread: Some(spawn("controller", move || controller.run())?),
            events: event_receiver,
            failures: Vec::new(),
            notices: Vec::new(),
            stopped: Vec::new(),
            _lock: lock,
        };
        for node in prepared {
            handle.begin(node)?;
        }
        handle.wait_until_ready()?;
        Ok(handle)
    }
}

/// What every node's thread is tied to.
#[derive(Debug)]
struct Wires {
    config: ClusterConfig,
    storage: Arc<dyn Storage>,
    events: Sender<ServerEvent>,
    controller: Sender<ToControllerThread>,
    peers: Arc<PeerChannels>,
    /// How many nodes were started, restarts included.
    lives: AtomicU64,
    security: PreparedSecurity,
    /// What the instrument has set, which outlives a node's lives.
    faults: ActiveFaults,
}

/// A node whose thread is not started yet.
struct PreparedNode {
    id: NodeId,
    address: SocketAddr,
    inbox: NodeHandle,
    disk: Arc<TrackedStorage>,
    counters: Option<Arc<Counters>>,
    thread: NodeThread,
}

impl Wires {
    fn prepare(&self, id: NodeId, listener: TcpListener) -> Result<PreparedNode, StartError> {
        let config = &self.config;
        let (poll, waker) = poll_with_waker()?;
        let (sender, commands) = mpsc::channel();
        let inbox = NodeHandle {
            commands: sender,
            waker,
        };
        let address = listener.local_addr()?;
        let dir = config.node_dir(id);
        let clock = NodeClock::new();
        let counters = config.counts.then(|| {
            let started_ms = u64::try_from(clock.now().wall_ms).unwrap_or(0);
            Arc::new(Counters::new(Arc::new(clock), started_ms))
        });
        let disk = TrackedStorage::filling(Arc::clone(&self.storage), self.faults.fill(id));
        let disk = disk.counting(counters.clone());
        let disk = Arc::new(disk);
        let before = StopBefore::find(&*disk, &dir)?;
        let node = NodeConfig {
            id,
            reachable: NodeImage {
                host: config.host(address),
                port: config.port(id, address),
                rack: None,
                epoch: 0,
                life: 0,
            },
            dir,
            storage: Arc::clone(&disk) as Arc<dyn Storage>,
            settings: Arc::new(config.settings_of(id)),
            seed: config.seed.wrapping_add(u64::from(id.0.unsigned_abs())),
            stopped_in_order: before.in_order,
            damaged_logs: before.damaged_logs,
            life: self.lives.fetch_add(1, Ordering::Relaxed),
            deviations: Deviations::default(),
            turn_work_max: TURN_WORK_MAX,
            security: Arc::clone(&self.security.node),
            counters: counters.clone(),
        };
        let parts = NodeThreadParts {
            config: node,
            listener,
            tls: self.security.tls.clone(),
            poll,
            commands,
            inbox: inbox.clone(),
            peers: Arc::clone(&self.peers),
            controller: self.controller.clone(),
            events: self.events.clone(),
            clock,
            clock_ahead_ms: self.faults.clock_ahead_ms(id),
        };
        Ok(PreparedNode {
            id,
            address,
            inbox,
            disk,
            counters,
            thread: NodeThread::new(parts)?,
        })
    }
}

/// Tells the controller of the users who log in by SCRAM.
fn give_users(controller: &mut Controller, security: &PreparedSecurity) -> Result<(), StartError> {
    let mechanisms = security.node.mechanisms.iter();
    let mechanisms: Vec<ScramMechanism> = mechanisms.filter_map(|known| known.scram()).collect();
    let nonces = SystemNonces::default();
    let given = controller.give_scram_users(&security.scram_users, &mechanisms, &nonces);
    given.map_err(|refusal| {
        let words = refusal.to_string();
        StartError::Failed(ClusterFailure { node: None, words })
    })
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new()
        .name(format!("kgauge-{name}"))
        .spawn(run)
}

/// Connections that may wait to be taken; more is what the system allows anyway.
const BACKLOG: i32 = 4096;

fn listen(config: &ClusterConfig) -> Result<Vec<TcpListener>, StartError> {
    let bind = |address: SocketAddr| {
        bind(address).map_err(|source| StartError::Listen { address, source })
    };
    config.addresses().into_iter().map(bind).collect()
}

/// Takes an address without listening there: clients are refused.
fn hold(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // A cluster that was just stopped leaves connections behind that wait for the last packets.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = hold(address)?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

impl ClusterHandle {
    /// Lets a prepared node's thread begin.
    fn begin(&mut self, node: PreparedNode) -> io::Result<()> {
        let PreparedNode {
            id,
            inbox,
            disk,
            counters,
            thread,
            ..
        } = node;
        self.wires.peers.put(id, inbox.clone());
        let thread = Some(spawn(&format!("node-{id}"), move || thread.run())?);
        let running = RunningNode {
            inbox,
            disk,
            counters,
            thread,
            place: None,
        };
        self.nodes.insert(id, running);
        Ok(())
    }

    fn wait_until_ready(&mut self) -> Result<(), StartError> {
        loop {
            let words = match self.events.recv() {
                Ok(ServerEvent::Ready) => return Ok(()),
                Ok(ServerEvent::Notice { node, notice }) => {
                    self.notices.push((node, notice));
                    continue;
                }
                Ok(ServerEvent::Failed { node, words, .. }) => {
                    return Err(StartError::Failed(ClusterFailure { node, words }));
                }
                Err(_) => "all threads ended".to_owned(),
            };
            return Err(StartError::Failed(ClusterFailure { node: None, words }));
        }
    }

    /// The nodes' addresses, in order of their ids.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What Kafka's clients take as `bootstrap.servers`.
    #[must_use]
    pub fn bootstrap_servers(&self) -> String {
        let config = &self.wires.config;
        let server = |(id, address): (NodeId, &SocketAddr)| {
            let (host, port) = (config.host(*address), config.port(id, *address));
            if host.contains(':') {
                format!("[{host}]:{port}")
            } else {
                format!("{host}:{port}")
            }
        };
        let servers = config.node_ids().zip(&self.addresses).map(server);
        servers.collect::<Vec<_>>().join(",")
    }

    /// What nodes did or found since the last call that their owner should know.
    pub fn notices(&mut self) -> Vec<(NodeId, Notice)> {
        self.check_failures();
        std::mem::take(&mut self.notices)
    }

    /// The nodes that had to stop so far, and why. Those that stopped because their disks were filled
    /// on command are not among them; see [`ClusterHandle::stopped_by_fault`].
    pub fn failures(&mut self) -> &[ClusterFailure] {
        self.check_failures();
        &self.failures
    }

    fn check_failures(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            if let ServerEvent::Notice { node, notice } = event {
                self.notices.push((node, notice));
            } else if let ServerEvent::Failed {
                node,
                words,
                disk_full,
            } = event
            {
                let injected = disk_full && node.is_some_and(|node| self.wires.faults.fills(node));
                let failure = ClusterFailure { node, words };
                if !injected {
                    self.failures.push(failure);
                    continue;
                }
                // Its thread has nothing more to do than to end.
                let running = node.and_then(|node| self.nodes.get_mut(&node));
                if let Some(thread) = running.and_then(|running| running.thread.take()) {
                    let _ = thread.join();
                }
                self.stopped.push(failure);
            }
        }
    }

    /// Stops in order: every log is flushed and closed, so that the next start has nothing to
    /// recover. Gives the first failure of the cluster's life.
    pub fn stop(mut self) -> Result<(), ClusterFailure> {
        self.end();
        match self.failures().first() {
            None => Ok(()),
            Some(first) => Err(first.clone()),
        }
    }

    fn end(&mut self) {
        for running in self.nodes.values() {
            running.inbox.send(NodeCommand::Stop);
        }
        for (id, running) in &mut self.nodes {
            if let Some(thread) = running.thread.take()
                && thread.join().is_err()
            {
                let words = "its thread panicked".to_owned();
                self.failures.push(ClusterFailure {
                    node: Some(*id),
                    words,
                });
            }
        }
        // A controller that has stopped already does not mind.
        let _ = self.wires.controller.send(ToControllerThread::Stop);
        if let Some(thread) = self.controller_thread.take()
            && thread.join().is_err()
        {
            let words = "its thread panicked".to_owned();
            self.failures.push(ClusterFailure { node: None, words });
        }
    }
}

impl Drop for ClusterHandle {
    fn drop(&mut self) {
        self.end();
    }
}
