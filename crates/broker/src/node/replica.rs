//! One partition that this node keeps: its log and its part in the cluster.

use kgauge_wire::error_code::ErrorCode;

use crate::ids::{NodeId, PartitionId, TopicName};
use crate::log::PartitionLog;
use crate::settings::TopicSettings;

/// A partition's copy on this node.
#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) id: PartitionId,
    pub(crate) topic: TopicName,
    pub(crate) leader: Option<NodeId>,
    pub(crate) leader_epoch: i32,
    pub(crate) settings: TopicSettings,
    pub(crate) log: PartitionLog,
    /// A timer will ask for a flush.
    pub(crate) flush_pending: bool,
    /// A flush is being run.
    pub(crate) flushing: bool,
    /// Somebody has read since the last checkpoint.
    pub(crate) read: bool,
    /// Where the log ended at the last checkpoint.
    pub(crate) end_seen: i64,
}

impl Replica {
    /// Checks that `node` leads the partition, in the epoch that the client believes in (-1: it
    /// does not say).
    pub(crate) fn check_led_by(&self, node: NodeId, client_epoch: i32) -> Result<(), ErrorCode> {
        self.check_epoch(client_epoch)?;
        if self.leader == Some(node) {
            Ok(())
        } else {
            Err(ErrorCode::NotLeaderOrFollower)
        }
    }

    /// Checks a client's belief about the leader epoch.
    pub(crate) fn check_epoch(&self, client_epoch: i32) -> Result<(), ErrorCode> {
        match client_epoch {
            -1 => Ok(()),
            older if older < self.leader_epoch => Err(ErrorCode::FencedLeaderEpoch),
            newer if newer > self.leader_epoch => Err(ErrorCode::UnknownLeaderEpoch),
            _ => Ok(()),
        }
    }

    /// Moves the high watermark after an append by the leader: the end of the log is on every
    /// replica at once, for there is only this one.
    pub(crate) fn advance_high_watermark(&mut self) {
        let end = self.log.log_end_offset();
        self.log.set_high_watermark(end);
    }
}
