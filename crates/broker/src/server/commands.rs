//! The commands that the threads of a cluster take.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use mio::Waker;

use crate::controller::{FromController, ToController};
use crate::fault::{FaultId, InjectedFault, LiftedFault};
use crate::ids::NodeId;
use crate::image::ClusterImage;
use crate::node::DiskDone;
use crate::node::replication::message::PeerMessage;

/// A command to the controller's thread.
#[derive(Debug)]
pub(crate) enum ToControllerThread {
    /// A node's message.
    Message(NodeId, ToController),
    /// Gives the cluster as it is now.
    Image(Sender<Arc<ClusterImage>>),
    /// Ends it.
    Stop,
}

/// A command to a node's thread.
#[derive(Debug)]
pub(crate) enum NodeCommand {
    /// The controller's message.
    Controller(FromController),
    /// Work on the disk was done.
    Disk(DiskDone),
    /// Changes the faults, also during a pause, and reports when that is done, with what the node
    /// recorded about a lifted fault.
    Fault(FaultOrder, Sender<LiftedFault>),
    /// A message of another node.
    Peer(NodeId, PeerMessage),
    /// Do nothing until [`Self::Resume`], [`Self::Stop`] or [`Self::Crash`].
    Pause,
    /// Go on.
    Resume,
    /// End in order.
    Stop,
    /// End at once, with nothing flushed or closed.
    Crash,
}

/// A change of a node's faults.
#[derive(Debug, Clone)]
pub(crate) enum FaultOrder {
    /// Sets one.
    Set(FaultId, InjectedFault),
    /// Lifts one.
    Lift(FaultId),
    /// Lifts all.
    Clear,
    /// Sets the wall clock this many ms ahead of the system's.
    ClockAhead(i64),
}

/// Sends commands to a node's thread.
#[derive(Debug, Clone)]
pub(crate) struct NodeHandle {
    pub(crate) commands: Sender<NodeCommand>,
    pub(crate) waker: Arc<Waker>,
}

impl NodeHandle {
    /// Sends a command; a thread that has ended ignores it.
    pub(crate) fn send(&self, command: NodeCommand) {
        if self.commands.send(command).is_ok() {
            let _ = self.waker.wake();
        }
    }
}
