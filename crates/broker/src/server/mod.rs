//! Sockets and threads around the core: one thread per node with its own listener and event loop, one
//! thread for the controller. Nothing else in this crate touches a socket or a clock.

mod accept;
mod alarm;
mod clock;
mod closing;
mod commands;
mod controller_thread;
mod flusher;
mod node_thread;
mod outbound;
mod peers;
mod sockets;
mod tls_stream;
mod transport;

pub(crate) use clock::NodeClock;
pub(crate) use commands::{FaultOrder, NodeCommand, NodeHandle, ToControllerThread};
pub(crate) use controller_thread::ControllerThread;
pub(crate) use node_thread::{NodeThread, NodeThreadParts, poll_with_waker};
pub(crate) use peers::PeerChannels;

use crate::ids::NodeId;
use crate::node::Notice;

/// What the threads report to the cluster's owner.
#[derive(Debug, Clone)]
pub(crate) enum ServerEvent {
    /// All nodes are up and know each other.
    Ready,
    /// A node did or found something that the owner should know.
    Notice {
        /// The node.
        node: NodeId,
        /// What.
        notice: Notice,
    },
    /// A node or the controller had to stop.
    Failed {
        /// The node; `None` for the controller.
        node: Option<NodeId>,
        /// Why.
        words: String,
        /// Its disk is full.
        disk_full: bool,
    },
}
