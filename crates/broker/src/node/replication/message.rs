//! What followers and leaders say to each other.

use std::sync::Arc;

use crate::ids::PartitionId;
use crate::log::EpochEnd;

/// A message between two nodes of the cluster.
#[derive(Debug, Clone)]
pub enum PeerMessage {
    /// A follower asks its leader.
    Fetch(PeerFetch),
    /// The leader answers.
    Fetched(PeerFetched),
}

/// What a follower asks of the node that leads some of its partitions.
///
/// The first fetches of a session name all of them, as many at a time as a turn allows; later ones only
/// those whose position has changed.
#[derive(Debug, Clone)]
pub struct PeerFetch {
    /// Which session. Counted by the follower, over all lives of the node.
    pub session: u64,
    /// Which fetch of the session, from 0. The first one begins it.
    pub number: u64,
    /// Which life of the follower this is.
    pub node_epoch: u64,
    /// The follower's positions.
    pub positions: Vec<FollowerPosition>,
    /// There are more positions to report: the answer must not wait for news.
    pub more: bool,
    /// Partitions that it no longer follows.
    pub forgotten: Vec<PartitionId>,
}

/// How far a follower is with one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowerPosition {
    /// The partition.
    pub partition: PartitionId,
    /// The leader epoch that the follower knows.
    pub leader_epoch: i32,
    /// The end of its log.
    pub offset: i64,
    /// The epoch of its last batch; `None` for an empty log.
    pub last_epoch: Option<i32>,
    /// The start of its log.
    pub log_start_offset: i64,
}

/// A leader's answer to a [`PeerFetch`].
#[derive(Debug, Clone)]
pub struct PeerFetched {
    /// The session of the fetch.
    pub session: u64,
    /// The number of the fetch.
    pub number: u64,
    /// The leader does not know the session: it must start again.
    pub unknown_session: bool,
    /// News, of those partitions that have any.
    pub partitions: Vec<PartitionNews>,
}

/// News of one partition.
#[derive(Debug, Clone)]
pub struct PartitionNews {
    /// The partition.
    pub partition: PartitionId,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// The news.
    pub news: News,
}

impl PartitionNews {
    /// Bytes of the batches in it.
    pub(crate) fn batch_bytes(&self) -> u64 {
        match &self.news {
            News::Records {
                batches: Some(batches),
                ..
            } => batches.len() as u64,
            _ => 0,
        }
    }
}

/// A leader's news about a partition.
#[derive(Debug, Clone)]
pub enum News {
    /// Batches from the follower's position on, the last of which may be cut off; none when only
    /// the offsets are news.
    Records {
        /// The bytes.
        batches: Option<Arc<Vec<u8>>>,
        /// The leader's high watermark.
        high_watermark: i64,
        /// The leader's log start.
        log_start_offset: i64,
    },
    /// The follower's last batch is not in the leader's log: this is where its epoch, or the newest
    /// one before it, ends there.
    Diverging(EpochEnd),
    /// The leader's log begins above the follower's end, at this offset.
    OutOfRange {
        /// The start of the leader's log.
        log_start_offset: i64,
    },
    /// The leader cannot read its log now.
    Unreadable,
}
