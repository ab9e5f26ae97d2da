//! Making the log durable.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::metadata_file::open_topic_id;
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

    pub(super) fn sync(&self) -> Result<(), StorageError> {
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
        if self.unwritten.is_some() {
            return Ok(None);
        }
        if self.unflushed_records == 0
            && self.recovery_point == self.next_offset
            && self.names_flushed == self.names_changed
        {
            return Ok(None);
        }
        let first = self.segment_index(self.recovery_point);
        let mut files = Vec::from_iter(self.unflushed_topic_id()?);
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
        self.id_unflushed = false;
        self.names_flushed = self.names_flushed.max(done.mark.names);
        // After a cut the offsets that were flushed may be others than those that bear the numbers
        // now.
        if done.mark.cuts == self.cuts {
            self.recovery_point = self.recovery_point.max(done.mark.up_to);
            self.unflushed_records -= done.mark.records.min(self.unflushed_records);
        }
        Ok(())
    }

    /// The file with the topic's id, if it must be flushed.
    pub(super) fn unflushed_topic_id(&self) -> Result<Option<Arc<dyn StorageFile>>, LogError> {
        let unflushed = self
            .id_unflushed
            .then(|| open_topic_id(&*self.storage, &self.dir));
        Ok(unflushed.transpose()?)
    }

    /// Makes the topic's id durable, if it is not.
    pub(super) fn flush_topic_id(&mut self) -> Result<(), LogError> {
        if let Some(file) = self.unflushed_topic_id()? {
            file.sync_data()?;
            self.id_unflushed = false;
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

    /// The folder that is to be flushed for the log's own name to be durable. Other logs' names
    /// become durable with it, which does no harm.
    pub(super) fn unflushed_parent(&self) -> Option<&Path> {
        self.dir.parent().filter(|_| self.dir_name_unflushed)
    }
}
