//! Replication: what a node does as the leader of some partitions and as a follower of others.
//!
//! | file | what |
//! |---|---|
//! | [`message`] | what followers and leaders say to each other |
//! | [`leading`] | a leader's view of one partition: high watermark, ISR |
//! | [`serving`] | the leader's side of fetches, a session for each follower |
//! | [`following`] | the follower's side: fetching, appending, truncating |
//! | [`isr`] | asking the controller for another ISR |
//! | [`watermarks`] | high watermarks that outlive a restart |
//!
//! Why it is as it is: docs/decisions/replication.md.

mod buffers;
mod following;
pub(super) mod isr;
pub(crate) mod leading;
pub mod message;
mod serving;
mod watermarks;

pub(crate) use following::Fetchers;
pub(crate) use leading::LeaderState;
pub(crate) use serving::Sessions;
pub(crate) use watermarks::Watermarks;

use super::{BrokerNode, NodeOutput};
use crate::ids::{NodeId, PartitionId};
use crate::time::Now;
use message::PeerMessage;

/// What a node is for one of its partitions.
#[derive(Debug)]
pub(crate) enum ReplicaRole {
    /// Nobody leads, or the image has not come yet.
    Idle,
    /// This node leads.
    Leading(Box<LeaderState>),
    /// That node leads.
    Following(NodeId),
}

impl BrokerNode {
    /// A message of another node has arrived.
    pub fn peer(&mut self, now: Now, from: NodeId, message: PeerMessage) {
        match message {
            PeerMessage::Fetch(fetch) => self.peer_fetch(now, from, fetch),
            PeerMessage::Fetched(fetched) => self.peer_fetched(now, from, fetched),
        }
        self.finish_round(now);
    }

    /// Notes that this node has appended to a partition that it leads.
    pub(crate) fn appended(&mut self, now: Now, id: PartitionId, end_before: i64, bytes: u64) {
        if let Some(replica) = self.replicas.get_mut(&id)
            && let ReplicaRole::Leading(leading) = &mut replica.role
        {
            let end = replica.log.log_end_offset();
            leading.appended(now, end_before, end, bytes);
            if !leading.followers.is_empty() {
                self.sessions.note(id);
            }
        }
        self.advance(now, id);
        self.flush_later(now, id);
    }

    /// Notes that this node has moved the start of a log that it leads.
    pub(crate) fn log_start_moved(&mut self, id: PartitionId) {
        self.sessions.note(id);
    }

    /// Up to where a partition can be read.
    pub(crate) fn high_watermark(&self, id: PartitionId) -> i64 {
        let replica = self.replicas.get(&id);
        replica.map_or(-1, |replica| replica.log.high_watermark())
    }

    /// Moves the high watermark of a partition that this node leads as far as it may go, and wakes
    /// who waits for it.
    pub(crate) fn advance(&mut self, now: Now, id: PartitionId) {
        let lag_ms = self.settings.replica_lag_time_max_ms;
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        let ReplicaRole::Leading(leading) = &mut replica.role else {
            return;
        };
        let Some(target) = leading.watermark(now, replica.log.log_end_offset(), lag_ms) else {
            return;
        };
        if target <= replica.log.high_watermark() {
            return;
        }
        let reached = replica.log.set_high_watermark(target);
        let bytes = leading.passed(reached);
        if !leading.followers.is_empty() {
            self.sessions.note(id);
        }
        if bytes > 0 {
            self.partition_grown(id, bytes);
        }
        self.watermark_reached(id, reached);
    }

    /// What ends every call into the node: answers that have become possible.
    pub(crate) fn finish_round(&mut self, now: Now) {
        self.serve_ready_fetches(now);
        self.serve_followers();
    }

    /// Sends a message to another node.
    pub(super) fn notify(&mut self, to: NodeId, message: PeerMessage) {
        self.outputs.push(NodeOutput::ToPeer { to, message });
    }
}
