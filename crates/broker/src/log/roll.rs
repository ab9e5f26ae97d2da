//! Closing the active segment and beginning the next.

use super::segment::Segment;
use super::{LogError, PartitionLog};

/// What an append would add to the active segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct RollCheck {
    pub(super) bytes: usize,
    pub(super) max_timestamp_ms: i64,
    pub(super) last_offset: i64,
}

impl PartitionLog {
    /// Begins a new segment if the append must not go into the active one: by size, by age, or
    /// because an index is full or an offset too far from the segment's base.
    pub(super) fn roll_if_due(&mut self, append: &RollCheck, now_ms: i64) -> Result<(), LogError> {
        if self.roll_due(append, now_ms)? {
            self.roll(now_ms)
        } else {
            Ok(())
        }
    }

    fn roll_due(&mut self, append: &RollCheck, now_ms: i64) -> Result<bool, LogError> {
        let config = &self.config;
        let (segment_bytes, segment_ms) = (u64::from(config.segment_bytes), config.segment_ms);
        let index_bytes_max = config.segment_index_bytes as usize;
        let (place, active) = self.active();
        if active.bytes == 0 {
            return Ok(false);
        }
        if active.bytes + append.bytes as u64 > segment_bytes
            || append.last_offset - active.base_offset > i64::from(i32::MAX)
        {
            return Ok(true);
        }
        let first_ms = active.first_timestamp(place)?;
        let waited_ms = if first_ms >= 0 {
            append.max_timestamp_ms.saturating_sub(first_ms)
        } else {
            now_ms.saturating_sub(active.created_ms)
        };
        if waited_ms > segment_ms {
            return Ok(true);
        }
        Ok(active.summary(place)?.index_bytes_after_next() > index_bytes_max)
    }

    /// Closes the active segment, writing its indexes, and begins a new one at the log's end.
    ///
    /// Nothing is flushed here: the recovery point stays behind until a flush. The producers'
    /// states go into a snapshot so that a recovery can begin at the new segment.
    pub fn roll(&mut self, now_ms: i64) -> Result<(), LogError> {
        self.alive()?;
        self.begin_files()?;
        self.flush_first_names()?;
        let next_offset = self.next_offset;
        let (place, segments) = self.parts();
        if let Some(active) = segments.last_mut() {
            if active.bytes == 0 && active.base_offset == next_offset {
                return Ok(());
            }
            active.store_indexes(place)?;
        }
        let segment = Segment::create(place, next_offset, now_ms)?;
        segments.push(segment);
        self.recent.clear();
        self.names_changed += 1;
        self.write_snapshot()?;
        self.close_cold_files();
        Ok(())
    }

    /// Makes the first segment's name durable before there is a second, once after each opening: a
    /// crash that kept only the second would leave a log that seems to begin there.
    fn flush_first_names(&mut self) -> Result<(), LogError> {
        if self.names_flushed == 0 {
            self.flush_topic_id()?;
            self.storage.sync_dir(&self.dir)?;
            if let Some(parent) = self.unflushed_parent() {
                self.storage.sync_dir(parent)?;
            }
            self.dir_name_unflushed = false;
            self.names_flushed = self.names_changed;
        }
        Ok(())
    }
}
