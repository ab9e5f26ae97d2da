//! One partition that this node keeps: its log and its part in the cluster.

use std::cmp::Ordering;

use kgauge_wire::error_code::ErrorCode;

use super::replication::ReplicaRole;
use crate::ids::{PartitionId, TopicName};
use crate::log::PartitionLog;
use crate::settings::TopicSettings;
use crate::time::Now;

/// A partition's copy on this node.
#[derive(Debug)]
pub struct Replica {
    pub(crate) id: PartitionId,
    pub(crate) topic: TopicName,
    pub(crate) role: ReplicaRole,
    /// The leader epoch that this node knows.
    pub leader_epoch: i32,
    /// The state of the partition that this node goes by.
    pub(crate) partition_epoch: i32,
    /// Other nodes keep it too.
    pub(crate) is_replicated: bool,
    pub(crate) settings: TopicSettings,
    /// The log.
    pub log: PartitionLog,
    /// A timer will ask for a flush.
    pub(crate) flush_pending: bool,
    /// A flush is being run.
    pub(crate) flushing: bool,
    /// A checkpoint is being written.
    pub(crate) checkpointing: bool,
    /// Somebody has read since the last checkpoint.
    pub(crate) read: bool,
    /// Where the log ended at the last checkpoint.
    pub(crate) end_seen: i64,
}

impl Replica {
    /// Whether this node leads the partition.
    #[must_use]
    pub fn leads(&self) -> bool {
        matches!(self.role, ReplicaRole::Leading(_))
    }

    /// Cuts the log as nodes with broken rules do. A failure of the disk shows with the next write.
    pub(crate) fn truncate_to_high_watermark(&mut self, now: Now) {
        let high_watermark = self.log.high_watermark();
        let _ = self.log.truncate_to(high_watermark, now.wall_ms);
    }

    /// Checks that this node leads the partition, in the epoch that the client believes in (-1: it
    /// does not say).
    pub(crate) fn check_led(&self, client_epoch: i32) -> Result<(), ErrorCode> {
        self.check_epoch(client_epoch)?;
        if self.leads() {
            Ok(())
        } else {
            Err(ErrorCode::NotLeaderOrFollower)
        }
    }

    /// Checks a client's belief about the leader epoch.
    pub(crate) fn check_epoch(&self, client_epoch: i32) -> Result<(), ErrorCode> {
        match client_epoch.cmp(&self.leader_epoch) {
            _ if client_epoch == -1 => Ok(()),
            Ordering::Less => Err(ErrorCode::FencedLeaderEpoch),
            Ordering::Greater => Err(ErrorCode::UnknownLeaderEpoch),
            Ordering::Equal => Ok(()),
        }
    }
}
