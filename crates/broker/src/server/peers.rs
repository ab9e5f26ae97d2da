//! The ways between the nodes of a cluster, and between them and the controller: channels that can be
//! cut.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use super::commands::{NodeCommand, NodeHandle};
use crate::ids::NodeId;

/// One end of a way: a node, or (`None`) the controller.
pub(crate) type PeerId = Option<NodeId>;

/// All ways of a cluster.
#[derive(Debug, Default)]
pub(crate) struct PeerChannels {
    inboxes: RwLock<BTreeMap<NodeId, NodeHandle>>,
    /// How often each way is cut.
    cuts: RwLock<BTreeMap<(PeerId, PeerId), u32>>,
}

impl PeerChannels {
    /// Gives a node's inbox, a new one after a restart.
    pub(crate) fn put(&self, node: NodeId, inbox: NodeHandle) {
        let mut inboxes = self.inboxes.write().unwrap_or_else(PoisonError::into_inner);
        inboxes.insert(node, inbox);
    }

    /// A node that is down gets no messages.
    pub(crate) fn remove(&self, node: NodeId) {
        let mut inboxes = self.inboxes.write().unwrap_or_else(PoisonError::into_inner);
        inboxes.remove(&node);
    }

    /// Sends a message, which is lost when the way is cut or nobody is there.
    pub(crate) fn send(&self, from: PeerId, to: NodeId, command: NodeCommand) {
        if self.is_open(from, Some(to)) {
            let inboxes = self.inboxes.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(inbox) = inboxes.get(&to) {
                inbox.send(command);
            }
        }
    }

    /// Tells all nodes something, whatever is cut.
    pub(crate) fn notify_all(&self, command: impl Fn() -> NodeCommand) {
        let inboxes = self.inboxes.read().unwrap_or_else(PoisonError::into_inner);
        inboxes.values().for_each(|inbox| inbox.send(command()));
    }

    /// Whether messages get from one end to the other.
    pub(crate) fn is_open(&self, from: PeerId, to: PeerId) -> bool {
        let cuts = self.cuts.read().unwrap_or_else(PoisonError::into_inner);
        cuts.is_empty() || !cuts.contains_key(&(from, to))
    }

    /// Cuts a way in one direction.
    pub(crate) fn cut(&self, from: PeerId, to: PeerId) {
        let mut cuts = self.cuts.write().unwrap_or_else(PoisonError::into_inner);
        *cuts.entry((from, to)).or_default() += 1;
    }

    /// Takes one cut of a way back; it is open when it was cut once.
    pub(crate) fn mend_way(&self, from: PeerId, to: PeerId) {
        let mut cuts = self.cuts.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = cuts.get_mut(&(from, to)) {
            *count -= 1;
            if *count == 0 {
                cuts.remove(&(from, to));
            }
        }
    }

    /// Mends everything that was cut.
    pub(crate) fn mend(&self) {
        let mut cuts = self.cuts.write().unwrap_or_else(PoisonError::into_inner);
        cuts.clear();
    }
}
