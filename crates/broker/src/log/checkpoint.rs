//! Writing down what the segments do not contain: where the log begins, how far it is flushed, its leader
//! epochs.
//!
//! Once a minute this is done away from the log's thread, for each file costs a flush and there may be
//! ten thousand logs. What must be durable before the log goes on (a cut, a new start) is written by
//! the log's own thread, and outdates a checkpoint that has not started to write.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::epochs::EpochStart;
use super::state_file::{ClosedLogState, LogState};
use super::{LogError, PartitionLog, epoch_file};
use crate::storage::{Storage, StorageError, StorageFile, StorageResult};

/// What is on disk beside the segments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StoredCheckpoint {
    pub(super) state: LogState,
    pub(super) epochs: Vec<EpochStart>,
}

/// What is to be written of it.
#[derive(Debug)]
pub(super) struct StateWrite {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    /// Must be durable before the state is: without a state nobody misses it.
    topic_id: Option<Arc<dyn StorageFile>>,
    epochs: Option<Vec<EpochStart>>,
    state: Option<LogState>,
}

impl StateWrite {
    pub(super) fn run(&self) -> StorageResult<()> {
        if let Some(file) = &self.topic_id {
            file.sync_data()?;
        }
        if let Some(epochs) = &self.epochs {
            epoch_file::write(&*self.storage, &self.dir, epochs)?;
        }
        match &self.state {
            Some(state) => state.write(&*self.storage, &self.dir),
            None => Ok(()),
        }
    }

    fn is_empty(&self) -> bool {
        self.epochs.is_none() && self.state.is_none()
    }
}

/// A checkpoint that can be run away from the log's thread: the log takes appends meanwhile.
#[derive(Debug)]
#[must_use]
pub struct CheckpointJob {
    write: StateWrite,
    number: u64,
    writes: Arc<Mutex<u64>>,
}

/// The result of a [`CheckpointJob`].
#[derive(Debug)]
#[must_use]
pub struct CheckpointDone {
    result: Result<StateWrite, StorageError>,
    number: u64,
}

impl CheckpointJob {
    /// Writes, unless the log's own thread has written since. Blocks for as long as the disk takes.
    pub fn run(self) -> CheckpointDone {
        let Self {
            write,
            number,
            writes,
        } = self;
        let held = lock(&writes);
        let result = if *held == number {
            write.run().map(|()| write)
        } else {
            Ok(write)
        };
        drop(held);
        CheckpointDone { result, number }
    }
}

impl PartitionLog {
    /// Prepares to write down where the log begins, how far it is flushed and its leader epochs, so
    /// that a recovery has less to read. Worth a call every minute or so; `None` when nothing changed.
    pub fn begin_checkpoint(&mut self) -> Result<Option<CheckpointJob>, LogError> {
        self.alive()?;
        // A log that is as it was closed stays marked so.
        let closed = self.stored.state.closed;
        if self.unwritten.is_some() || self.state_write(closed)?.is_empty() {
            return Ok(None);
        }
        Ok(Some(CheckpointJob {
            write: self.state_write(None)?,
            number: *lock(&self.state_writes),
            writes: Arc::clone(&self.state_writes),
        }))
    }

    /// Takes note of a checkpoint that was run.
    pub fn finish_checkpoint(&mut self, done: CheckpointDone) -> Result<(), LogError> {
        let current = *lock(&self.state_writes);
        if done.number == current {
            self.note_written(done.result?);
        }
        Ok(())
    }

    /// Does it here and now.
    pub fn checkpoint(&mut self) -> Result<(), LogError> {
        match self.begin_checkpoint()? {
            Some(job) => self.finish_checkpoint(job.run()),
            None => Ok(()),
        }
    }

    /// What of the log's state differs from what is on disk.
    pub(super) fn state_write(
        &self,
        closed: Option<ClosedLogState>,
    ) -> Result<StateWrite, LogError> {
        let epochs = self.epochs.with_records(self.next_offset);
        let state = self.state(closed);
        Ok(StateWrite {
            storage: Arc::clone(&self.storage),
            dir: self.dir.clone(),
            topic_id: self.unflushed_topic_id()?,
            epochs: (epochs != self.stored.epochs).then(|| epochs.to_vec()),
            state: (state != self.stored.state).then_some(state),
        })
    }

    fn state(&self, closed: Option<ClosedLogState>) -> LogState {
        LogState {
            log_start_offset: self.log_start_offset,
            recovery_point: self.recovery_point,
            segments: self
                .segments
                .iter()
                .filter_map(|segment| segment.facts)
                .collect(),
            closed,
        }
    }

    fn note_written(&mut self, write: StateWrite) {
        self.id_unflushed &= write.topic_id.is_none();
        if let Some(epochs) = write.epochs {
            self.stored.epochs = epochs;
        }
        if let Some(state) = write.state {
            self.stored.state = state;
        }
    }

    /// Checkpoints that were started before this call no longer write.
    pub(super) fn outdate_checkpoints(&self) {
        *lock(&self.state_writes) += 1;
    }

    /// Writes the leader epochs and the state file, what changed of them; no crash brings back what was
    /// before.
    pub(super) fn write_state_durably(&mut self) -> Result<(), LogError> {
        self.outdate_checkpoints();
        let write = self.state_write(None)?;
        write.run()?;
        self.note_written(write);
        self.storage.sync_dir(&self.dir)?;
        if let Some(parent) = self.unflushed_parent() {
            self.storage.sync_dir(parent)?;
            self.dir_name_unflushed = false;
        }
        Ok(())
    }

    /// Removes the state file: what is opened next is recovered, and begins with its first segment.
    pub(super) fn forget_state(&mut self) -> Result<(), LogError> {
        self.outdate_checkpoints();
        LogState::remove(&*self.storage, &self.dir)?;
        self.stored.state = LogState::default();
        Ok(())
    }
}

fn lock(writes: &Mutex<u64>) -> MutexGuard<'_, u64> {
    writes.lock().unwrap_or_else(PoisonError::into_inner)
}
