//! Closing a log, and removing it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkpoint::StateWrite;
use super::state_file::{ClosedLogState, LogState};
use super::{FlushJob, LogError, PartitionLog};
use crate::storage::{Storage, StorageResult};

/// The slow part of closing a log: flushing. Jobs of many logs can run on several threads at once,
/// which lets the disk answer many flushes together.
#[derive(Debug)]
#[must_use]
pub struct CloseJob {
    flush: Option<FlushJob>,
    write: StateWrite,
}

impl CloseJob {
    /// Flushes everything, then notes that the log was closed in order.
    pub fn run(self) -> Result<(), LogError> {
        if let Some(flush) = &self.flush {
            flush.sync()?;
        }
        Ok(self.write.run()?)
    }
}

/// The slow part of removing a log that is out of the way already.
#[derive(Debug)]
#[must_use]
pub struct RemoveJob {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
}

impl RemoveJob {
    /// Removes a folder with all that is in it.
    pub fn new(storage: Arc<dyn Storage>, dir: PathBuf) -> Self {
        Self { storage, dir }
    }

    /// Removes the folder. One that is gone already is no error.
    pub fn run(self) -> StorageResult<()> {
        match self.storage.remove_dir_all(&self.dir) {
            Err(error) if error.is_not_found() => Ok(()),
            removed => removed,
        }
    }
}

impl PartitionLog {
    /// Flushes everything and notes that the log was closed in order: the next start has nothing to
    /// recover.
    pub fn close(self) -> Result<(), LogError> {
        match self.begin_close()? {
            Some(job) => job.run(),
            None => Ok(()),
        }
    }

    /// Closes the log but for what takes long, which is left to the job; `None` for a log that has no
    /// files.
    pub fn begin_close(mut self) -> Result<Option<CloseJob>, LogError> {
        self.alive()?;
        if self.unwritten.is_some() {
            return Ok(None);
        }
        // A log in which nothing ever happened has nothing to flush, and no file that says so.
        let untouched = self.next_offset == 0 && self.stored.state == LogState::default();
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
        let closed = ClosedLogState {
            end_offset,
            segment_base,
            segment_bytes,
            producers,
        };
        let write = self.state_write((!untouched).then_some(closed))?;
        Ok(Some(CloseJob { flush, write }))
    }

    /// Gives the log's folder another name, and leaves removing it to the job; `None` for a log that
    /// has no files.
    pub fn set_aside(self, aside: &Path) -> Result<Option<RemoveJob>, LogError> {
        if self.unwritten.is_some() {
            return Ok(None);
        }
        self.outdate_checkpoints();
        self.storage.rename(&self.dir, aside)?;
        let dir = aside.to_path_buf();
        Ok(Some(RemoveJob::new(self.storage, dir)))
    }

    /// Removes the log with all its files.
    pub fn delete(self) -> Result<(), LogError> {
        self.outdate_checkpoints();
        let Self { storage, dir, .. } = self;
        Ok(RemoveJob::new(storage, dir).run()?)
    }
}
