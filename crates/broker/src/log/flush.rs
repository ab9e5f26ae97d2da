//! Making the log durable, remembering how far it is, and closing it.

use super::segment_indexes::Durability;
use super::state_file::{Closed, LogState};
use super::{LogError, PartitionLog};
use crate::storage::StorageError;

impl PartitionLog {
    /// Makes everything appended so far durable. A failure ends the log's life: what the disk holds
    /// is unknown then, and trying again would seem to succeed.
    pub fn flush(&mut self) -> Result<(), LogError> {
        self.alive()?;
        if self.unflushed_records == 0 && self.recovery_point == self.next_offset {
            return Ok(());
        }
        match self.flush_files() {
            Ok(()) => {
                self.recovery_point = self.next_offset;
                self.unflushed_records = 0;
                Ok(())
            }
            Err(LogError::Storage(cause)) => Err(self.die(cause)),
            Err(error) => Err(error),
        }
    }

    fn flush_files(&mut self) -> Result<(), LogError> {
        let first = self.segment_index(self.recovery_point);
        let last = self.segments.len() - 1;
        for index in first..=last {
            let (place, segment) = self.segment(index);
            segment.file(place)?.sync_data()?;
            if index < last {
                segment.store_indexes(place, Durability::Flushed)?;
            }
        }
        if self.names_dirty {
            self.flush_names()?;
        }
        Ok(())
    }

    /// Makes the names in the log's folder durable, and the folder's own.
    fn flush_names(&mut self) -> Result<(), StorageError> {
        self.storage.sync_dir(&self.dir)?;
        if let Some(parent) = self.dir.parent() {
            self.storage.sync_dir(parent)?;
        }
        self.names_dirty = false;
        Ok(())
    }

    /// Flushes if `flush.messages` asks for it.
    pub(super) fn flush_if_due(&mut self) -> Result<(), LogError> {
        match self.config.flush_messages {
            Some(limit) if self.unflushed_records >= limit => self.flush(),
            _ => Ok(()),
        }
    }

    /// True when `flush.ms` asks for a flush.
    #[must_use]
    pub fn flush_due(&self, now_ms: i64) -> bool {
        let waited_ms = now_ms.saturating_sub(self.unflushed_since_ms);
        self.unflushed_records > 0 && self.config.flush_ms.is_some_and(|limit| waited_ms >= limit)
    }

    /// Writes down where the log begins and how far it is flushed, so that a recovery has less to
    /// read. Worth a call every minute or so.
    pub fn checkpoint(&mut self) -> Result<(), LogError> {
        self.write_state(None)
    }

    pub(super) fn write_state(&mut self, closed: Option<Closed>) -> Result<(), LogError> {
        self.alive()?;
        self.store_epochs()?;
        let (log_start_offset, recovery_point) = (self.log_start_offset, self.recovery_point);
        let state = LogState {
            log_start_offset,
            recovery_point,
            closed,
        };
        state.write(&*self.storage, &self.dir)?;
        Ok(())
    }

    /// Flushes everything and notes that the log was closed in order: the next start has nothing to
    /// recover.
    pub fn close(mut self) -> Result<(), LogError> {
        self.flush()?;
        for index in 0..self.segments.len() {
            let (place, segment) = self.segment(index);
            segment.store_indexes(place, Durability::Flushed)?;
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
        self.write_state(Some(closed))?;
        Ok(())
    }

    /// Removes the log with all its files.
    pub fn delete(self) -> Result<(), LogError> {
        self.storage.remove_dir_all(&self.dir)?;
        Ok(())
    }
}
