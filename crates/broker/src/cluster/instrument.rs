//! What can be done to the nodes of a running cluster: stopping, crashing, pausing, cutting them off.

use std::sync::Arc;
use std::sync::mpsc;

use super::{ClusterHandle, RunningNode, StartError, hold};
use crate::controller::ToController;
use crate::counts::NodeCounts;
use crate::ids::NodeId;
use crate::image::ClusterImage;
use crate::server::{NodeCommand, ToControllerThread};
use crate::storage::StorageError;

/// Somewhere in the cluster that messages go from or to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// A node.
    Node(NodeId),
    /// The controller.
    Controller,
}

impl Endpoint {
    fn end(self) -> Option<NodeId> {
        match self {
            Self::Node(node) => Some(node),
            Self::Controller => None,
        }
    }
}

/// Something that cannot be done to a node.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The cluster has no such node.
    #[error("there is no node {0}")]
    Unknown(NodeId),
    /// The node is down already.
    #[error("node {0} is down")]
    Down(NodeId),
    /// The node is up already.
    #[error("node {0} is up")]
    Up(NodeId),
    /// The disk refused.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The node does not start again.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The cluster was started without counters.
    #[error("the nodes count nothing")]
    NotCounting,
    /// The cluster is ending.
    #[error("the cluster has ended")]
    Ended,
}

impl ClusterHandle {
    /// The cluster as its controller knows it now.
    pub fn image(&self) -> Result<Arc<ClusterImage>, NodeError> {
        let (to, answer) = mpsc::channel();
        let asked = self.wires.controller.send(ToControllerThread::Image(to));
        asked.map_err(|_| NodeError::Ended)?;
        answer.recv().map_err(|_| NodeError::Ended)
    }

    /// Stops a node in order: what it leads goes to others, its logs are flushed and closed.
    pub fn stop_node(&mut self, node: NodeId) -> Result<(), NodeError> {
        self.up(node)?;
        let message = ToControllerThread::Message(node, ToController::Stopped);
        let sent = self.wires.controller.send(message);
        sent.map_err(|_| NodeError::Ended)?;
        self.end_node(node, NodeCommand::Stop)
    }

    /// Lets a node crash as with its machine: what was not flushed of its logs is lost. The node
    /// notifies nobody; the controller notices when it is silent for `broker.session.timeout.ms`, or
    /// comes back. Gives the bytes that were lost.
    pub fn crash_node(&mut self, node: NodeId) -> Result<u64, NodeError> {
        self.end_node(node, NodeCommand::Crash)?;
        let disk = Arc::clone(&self.known(node)?.disk);
        Ok(disk.lose_unflushed()?)
    }

    /// Lets a node die as with its process: what it has written survives in the page cache.
    pub fn kill_node(&mut self, node: NodeId) -> Result<(), NodeError> {
        self.end_node(node, NodeCommand::Crash)
    }

    /// Starts a node that is down, at the same address.
    pub fn restart_node(&mut self, node: NodeId) -> Result<(), NodeError> {
        let running = self.nodes.get_mut(&node).ok_or(NodeError::Unknown(node))?;
        if running.is_up() {
            return Err(NodeError::Up(node));
        }
        // A node that failed has not been waited for yet.
        if let Some(thread) = running.thread.take() {
            let _ = thread.join();
        }
        let place = running.place.take();
        let address = self.address(node);
        let listener = match place {
            Some(place) => place,
            None => hold(address).map_err(StartError::from)?,
        };
        listener.listen(super::BACKLOG).map_err(StartError::from)?;
        let prepared = self.wires.prepare(node, listener.into())?;
        self.wires.faults.repeat(node, &prepared.inbox);
        self.begin(prepared).map_err(StartError::from)?;
        Ok(())
    }

    /// Freezes a node: it takes connections, but answers nothing and hears nothing.
    pub fn pause_node(&self, node: NodeId) -> Result<(), NodeError> {
        self.up(node)?.inbox.send(NodeCommand::Pause);
        Ok(())
    }

    /// Lets a frozen node go on.
    pub fn resume_node(&self, node: NodeId) -> Result<(), NodeError> {
        self.up(node)?.inbox.send(NodeCommand::Resume);
        Ok(())
    }

    /// Cuts the way of messages from one place to another, in this direction only.
    pub fn cut(&self, from: Endpoint, to: Endpoint) {
        self.wires.peers.cut(from.end(), to.end());
    }

    /// Cuts a node off from all other nodes and from the controller; clients still reach it.
    pub fn isolate_node(&self, node: NodeId) {
        let others = self.nodes.keys().filter(|other| **other != node);
        for other in others.copied().map(Some).chain([None]) {
            self.wires.peers.cut(Some(node), other);
            self.wires.peers.cut(other, Some(node));
        }
    }

    /// Takes one [`ClusterHandle::cut`] back.
    pub fn mend_way(&self, from: Endpoint, to: Endpoint) {
        self.wires.peers.mend_way(from.end(), to.end());
    }

    /// The nodes, in order.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.keys().copied()
    }

    /// Whether a node runs, be it frozen.
    #[must_use]
    pub fn is_up(&self, node: NodeId) -> bool {
        self.nodes.get(&node).is_some_and(RunningNode::is_up)
    }

    /// What a node has counted in this life. It answers at once, however busy the node is, be it frozen.
    ///
    /// # Errors
    /// The node is unknown, down, or does not count.
    pub fn counts(&self, node: NodeId) -> Result<NodeCounts, NodeError> {
        let counters = self.up(node)?.counters.as_ref();
        counters
            .map(|counters| counters.read())
            .ok_or(NodeError::NotCounting)
    }

    /// Mends everything that was cut.
    pub fn mend(&self) {
        self.wires.peers.mend();
    }

    pub(super) fn known(&self, node: NodeId) -> Result<&RunningNode, NodeError> {
        self.nodes.get(&node).ok_or(NodeError::Unknown(node))
    }

    fn up(&self, node: NodeId) -> Result<&RunningNode, NodeError> {
        let running = self.known(node)?;
        if running.is_up() {
            Ok(running)
        } else {
            Err(NodeError::Down(node))
        }
    }

    fn address(&self, node: NodeId) -> std::net::SocketAddr {
        let index = self.nodes.keys().position(|known| *known == node);
        self.addresses[index.unwrap_or(0)]
    }

    /// Ends a node's thread, and keeps its port.
    fn end_node(&mut self, node: NodeId, command: NodeCommand) -> Result<(), NodeError> {
        self.up(node)?.inbox.send(command);
        let address = self.address(node);
        self.wires.peers.remove(node);
        let running = self.nodes.get_mut(&node).ok_or(NodeError::Unknown(node))?;
        if let Some(thread) = running.thread.take() {
            // The panic hook has already reported a panic.
            let _ = thread.join();
        }
        running.place = hold(address).ok();
        Ok(())
    }
}

impl RunningNode {
    /// Whether its thread runs.
    pub(super) fn is_up(&self) -> bool {
        let thread = self.thread.as_ref();
        thread.is_some_and(|thread| !thread.is_finished())
    }
}
