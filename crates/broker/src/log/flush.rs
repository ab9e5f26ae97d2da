//! Making the log durable, remembering how far it is, and closing it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::state_file::{Closed, LogState};
use super::{LogError, PartitionLog};
use crate::storage::{Storage, StorageError, StorageFile};

/// A flush that can be run away from the log's thread: the log takes appends meanwhile.
///
/// [`PartitionLog::begin_flush`] makes it, [`FlushJob::run`] does the slow part anywhere, and
/// [`PartitionLog::finish_flush`] takes the result.
#[derive(Debug)]
#[must_use]
pub struct FlushJob {
    files: Vec<Arc<dyn StorageFile>>,
    storage: Arc<dyn Storage>,
    /// Folders whose names are to be made durable.
    dirs: Vec<PathBuf>,
    mark: Mark,
}

/// How the log was when a flush began.
#[derive(Debug, Clone, Copy)]
struct Mark {
    up_to: i64,
    records: u64,
    cuts: u64,
    names: u64,
}

/// The result of a [`FlushJob`].
#[derive(Debug)]
#[must_use]
pub struct FlushDone {
    result: Result<(), StorageError>,
    mark: Mark,
}

impl FlushJob {
    /// Flushes. Blocks for as long as the disk takes.
    pub fn run(self) -> FlushDone {
        FlushDone {
            result: self.sync(),
            mark: self.mark,
        }
    }

    fn sync(&self) -> Result<(), StorageError> {
        self.files.iter().try_for_each(|file| file.sync_data())?;
        self.dirs
            .iter()
            .try_for_each(|dir| self.storage.sync_dir(dir))
    }
}

impl PartitionLog {
    /// Makes everything appended so far durable. A failure ends the log's life: what the disk holds
    /// is unknown then, and trying again would only seem to succeed.
    pub fn flush(&mut self) -> Result<(), LogError> {
        match self.begin_flush()? {
            Some(job) => self.finish_flush(job.run()),
            None => Ok(()),
        }
    }

    /// Prepares a flush of everything appended so far; `None` when all of it is durable.
    pub fn begin_flush(&mut self) -> Result<Option<FlushJob>, LogError> {
        self.alive()?;
        if self.unflushed_records == 0 && self.recovery_point == self.next_offset {
            return Ok(None);
        }
        let first = self.segment_index(self.recovery_point);
        let mut files = Vec::new();
        for index in first..self.segments.len() {
            let (place, segment) = self.segment(index);
            files.push(Arc::clone(segment.file(place)?));
        }
        let mut dirs = Vec::new();
        if self.names_changed > self.names_flushed {
            dirs.push(self.dir.clone());
            dirs.extend(self.unflushed_parent().map(PathBuf::from));
        }
        let mark = Mark {
            up_to: self.next_offset,
            records: self.unflushed_records,
            cuts: self.cuts,
            names: self.names_changed,
        };
        let storage = Arc::clone(&self.storage);
        Ok(Some(FlushJob {
            files,
            storage,
            dirs,
            mark,
        }))
    }

    /// Takes note of a flush that was run. If it failed, the log is out of service from now on.
    pub fn finish_flush(&mut self, done: FlushDone) -> Result<(), LogError> {
        self.alive()?;
        if let Err(cause) = done.result {
            return Err(self.die(cause));
        }
        self.dir_name_unflushed = false;
        self.names_flushed = self.names_flushed.max(done.mark.names);
        // After a cut the offsets that were flushed may be others than those that bear the numbers
        // now.
        if done.mark.cuts == self.cuts {
            self.recovery_point = self.recovery_point.max(done.mark.up_to);
            self.unflushed_records -= done.mark.records.min(self.unflushed_records);
        }
        Ok(())
    }

    /// Flushes if `flush.messages` asks for it.
    pub(super) fn flush_if_due(&mut self) -> Result<(), LogError> {
        match self.config.flush_messages {
            Some(limit) if self.unflushed_records >= limit => self.flush(),
            _ => Ok(()),
        }
    }

    /// True when a flush is due: `flush.ms` asks for it, or a segment was closed that is not yet
    /// durable.
    #[must_use]
    pub fn flush_due(&self, now_ms: i64) -> bool {
        let waited_ms = now_ms.saturating_sub(self.unflushed_since_ms);
        let by_time = self.config.flush_ms.is_some_and(|limit| waited_ms >= limit);
        let active_base = self
            .segments
            .last()
            .map_or(0, |segment| segment.base_offset);
        self.unflushed_records > 0 && (by_time || self.recovery_point < active_base)
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
        self.write_state(None)
    }

    /// The folder that is to be flushed for the log's own name to be durable. Other logs' names become
    /// durable with it, which does no harm.
    pub(super) fn unflushed_parent(&self) -> Option<&Path> {
        self.dir.parent().filter(|_| self.dir_name_unflushed)
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

    /// Writes the state file and the leader epochs, those that changed.
    pub(super) fn write_state(&mut self, closed: Option<Closed>) -> Result<(), LogError> {
        self.store_epochs()?;
        let state = self.state(closed);
        if self.state_stored != state {
            state.write(&*self.storage, &self.dir)?;
            if let Some(parent) = self.unflushed_parent() {
                self.storage.sync_dir(parent)?;
                self.dir_name_unflushed = false;
            }
            self.state_stored = state;
        }
        Ok(())
    }

    /// Removes the state file: what is opened next is recovered, and begins with its first segment.
    pub(super) fn forget_state(&mut self) -> Result<(), LogError> {
        LogState::remove(&*self.storage, &self.dir)?;
        self.state_stored = LogState::default();
        Ok(())
    }

    /// Flushes everything and notes that the log was closed in order: the next start has nothing to
    /// recover.
    pub fn close(mut self) -> Result<(), LogError> {
        self.flush()?;
        for index in 0..self.segments.len() {
            let (place, segment) = self.segment(index);
            segment.store_indexes(place)?;
        }
        if !self.producers.is_empty() {
            self.write_snapshot()?;
        }
        let (end_offset, producers) = (self.next_offset, self.producers.len());
        let (_, active) = self.active();
        let (segment_base, segment_bytes) = (active.base_offset, active.bytes);
        let closed = Closed {
            end_offset,
            segment_base,
            segment_bytes,
            producers,
        };
        // A log in which nothing ever happened needs no file that says so.
        let untouched = self.segments.len() == 1 && segment_bytes == 0 && segment_base == 0;
        let closed = (!untouched).then_some(closed);
        self.write_state(closed)
    }

    /// Removes the log with all its files.
    pub fn delete(self) -> Result<(), LogError> {
        self.storage.remove_dir_all(&self.dir)?;
        Ok(())
    }
}
