//! Work on the disk that may take long: it is run away from the node's thread, and its result comes
//! back.

use super::BrokerNode;
use crate::ids::PartitionId;
use crate::log::{CheckpointDone, CheckpointJob, FlushDone, FlushJob, LogError, RemoveJob};
use crate::storage::StorageResult;
use crate::time::Now;

/// A piece of such work.
#[derive(Debug)]
pub enum DiskJob {
    /// Makes a log durable.
    Flush(PartitionId, FlushJob),
    /// Writes down how far a log is.
    Checkpoint(PartitionId, CheckpointJob),
    /// Removes a folder that is out of the way.
    Remove(RemoveJob),
}

/// The result.
#[derive(Debug)]
pub enum DiskDone {
    /// Of [`DiskJob::Flush`].
    Flushed(PartitionId, FlushDone),
    /// Of [`DiskJob::Checkpoint`].
    Checkpointed(PartitionId, CheckpointDone),
    /// Of [`DiskJob::Remove`].
    Removed(StorageResult<()>),
}

impl DiskJob {
    /// Does it. Blocks for as long as the disk takes.
    #[must_use]
    pub fn run(self) -> DiskDone {
        match self {
            Self::Flush(id, job) => DiskDone::Flushed(id, job.run()),
            Self::Checkpoint(id, job) => DiskDone::Checkpointed(id, job.run()),
            Self::Remove(job) => DiskDone::Removed(job.run()),
        }
    }
}

impl BrokerNode {
    /// Work on the disk was done. What a log was given meanwhile is flushed and written down in its own
    /// time.
    pub fn disk_done(&mut self, now: Now, done: DiskDone) {
        let result = match done {
            DiskDone::Flushed(id, done) => self.flushed(now, id, done),
            DiskDone::Checkpointed(id, done) => self.checkpointed(id, done),
            DiskDone::Removed(result) => result.map_err(LogError::from),
        };
        if let Err(error) = result {
            self.log_failed(error);
        }
    }
}
