//! Remembering how far the log is, and closing it.

use std::path::PathBuf;
use std::sync::Arc;

use super::state_file::{Closed, LogState};
use super::{FlushJob, LogError, PartitionLog, epoch_file};
use crate::storage::{Storage, replace_file};

/// The slow part of closing a log: flushing. Jobs of many logs can run on several threads at once,
/// which lets the disk answer many flushes together.
#[derive(Debug)]
#[must_use]
pub struct CloseJob {
    flush: Option<FlushJob>,
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    epochs: Option<String>,
    state: Option<LogState>,
}

impl CloseJob {
    /// Flushes everything, then notes that the log was closed in order.
    pub fn run(self) -> Result<(), LogError> {
        let storage = &*self.storage;
        if let Some(flush) = &self.flush {
            flush.sync()?;
        }
        if let Some(epochs) = &self.epochs {
            replace_file(storage, &self.dir.join(epoch_file::NAME), epochs.as_bytes())?;
            storage.sync_dir(&self.dir)?;
        }
        if let Some(state) = &self.state {
            state.write(storage, &self.dir)?;
        }
        Ok(())
    }
}

impl PartitionLog {
    /// Flushes everything and notes that the log was closed in order: the next start has nothing to
    /// recover.
    pub fn close(self) -> Result<(), LogError> {
        self.begin_close()?.run()
    }

    /// Closes the log but for what takes long, which is left to the job.
    pub fn begin_close(mut self) -> Result<CloseJob, LogError> {
        self.alive()?;
        // A log in which nothing ever happened has nothing to flush, and no file that says so.
        let untouched = self.next_offset == 0 && self.state_stored == LogState::default();
        let flush = if untouched { None } else { self.begin_flush()? };
        for index in 0..self.segments.len() {
            let (place, segment) = self.segment(index);
            segment.store_indexes(place)?;
        }
        if !self.producers.is_empty() {
            self.write_snapshot()?;
        }
        let (end_offset, producers) = (self.next_offset, self.producers.len());
        self.recovery_point = end_offset;
        let (_, active) = self.active();
        let (segment_base, segment_bytes) = (active.base_offset, active.bytes);
        let closed = Closed {
            end_offset,
            segment_base,
            segment_bytes,
            producers,
        };
        let state = self.state((!untouched).then_some(closed));
        let state = (state != self.state_stored).then_some(state);
        let epochs = self
            .epochs
            .is_dirty()
            .then(|| epoch_file::text(&self.epochs));
        Ok(CloseJob {
            flush,
            storage: self.storage,
            dir: self.dir,
            epochs,
            state,
        })
    }

    /// Removes the log with all its files.
    pub fn delete(self) -> Result<(), LogError> {
        self.storage.remove_dir_all(&self.dir)?;
        Ok(())
    }

    /// Writes down where the log begins and how far it is flushed, so that a recovery has less to
    /// read. Worth a call every minute or so; does nothing when nothing changed.
    pub fn checkpoint(&mut self) -> Result<(), LogError> {
        self.alive()?;
        // A log that is as it was closed stays marked so.
        let state = self.state(self.state_stored.closed);
        if state == self.state_stored && !self.epochs.is_dirty() {
            return Ok(());
        }
        self.write_state()
    }

    fn state(&self, closed: Option<Closed>) -> LogState {
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

    /// Writes the leader epochs and the state file, what changed of them. A crash may bring back
    /// the state file as it was before, which is true as well, only older.
    fn write_state(&mut self) -> Result<(), LogError> {
        if self.epochs.is_dirty() {
            replace_file(
                &*self.storage,
                &self.dir.join(epoch_file::NAME),
                epoch_file::text(&self.epochs).as_bytes(),
            )?;
            // Epochs of batches below the recovery point are told by this file alone.
            self.storage.sync_dir(&self.dir)?;
            self.epochs.set_stored();
        }
        let state = self.state(None);
        if self.state_stored != state {
            state.write(&*self.storage, &self.dir)?;
            self.state_stored = state;
        }
        Ok(())
    }

    /// As [`PartitionLog::write_state`], and no crash brings back what was before.
    pub(super) fn write_state_durably(&mut self) -> Result<(), LogError> {
        self.write_state()?;
        self.storage.sync_dir(&self.dir)?;
        if let Some(parent) = self.unflushed_parent() {
            self.storage.sync_dir(parent)?;
            self.dir_name_unflushed = false;
        }
        Ok(())
    }

    /// Removes the state file: what is opened next is recovered, and begins with its first segment.
    pub(super) fn forget_state(&mut self) -> Result<(), LogError> {
        LogState::remove(&*self.storage, &self.dir)?;
        self.state_stored = LogState::default();
        Ok(())
    }
}
