//! Cutting the log: at its end, as a follower does; at its start, as `DeleteRecords` does; or all
//! of it.
//!
//! What the cut means is written to the state file first, then files go. A crash in between leaves
//! more files than the state speaks of, never fewer, and opening the log finishes the work or
//! undoes it whole.

use super::producers::ProducerStates;
use super::segment::Segment;
use super::{LogError, PartitionLog};

impl PartitionLog {
    /// Cuts the log's end: records at or above an offset are removed. Durable when this returns.
    ///
    /// Batches are never cut in two: a batch that holds the offset goes whole, and the log then
    /// ends where that batch began. An offset at or above the log's end changes nothing, one below
    /// its start empties it. Gives the log's end.
    pub fn truncate_to(&mut self, offset: i64, now_ms: i64) -> Result<i64, LogError> {
        self.alive()?;
        if offset >= self.next_offset {
            // An epoch that started here without an append must not block the next leader's.
            self.epochs.truncate_from_end(self.next_offset);
            return Ok(self.next_offset);
        }
        if offset <= self.segments[0].base_offset || offset < self.log_start_offset {
            return self
                .truncate_fully_and_start_at(offset, now_ms)
                .map(|()| offset);
        }
        let cut = self.cut_end(offset, now_ms);
        self.fatal(cut)?;
        Ok(self.next_offset)
    }

    fn cut_end(&mut self, offset: i64, now_ms: i64) -> Result<(), LogError> {
        let index = self.segment_index(offset);
        let (place, segment) = self.segment(index);
        let found = segment.find(place, offset)?;
        let (position, end_offset) = match found {
            Some(found) => (found.position, found.header.base_offset.min(offset)),
            None => (segment.bytes, segment.summary(place)?.next_offset),
        };
        if end_offset < self.log_start_offset {
            // All that is left was deleted before.
            return self.restart_at(self.log_start_offset, now_ms);
        }
        self.cuts += 1;
        self.recent.clear();
        self.recovery_point = self.recovery_point.min(end_offset);
        self.epochs.truncate_from_end(end_offset);
        self.write_state_durably()?;
        self.drop_segments_from(index + 1)?;
        let (place, segment) = self.segment(index);
        segment.cut(place, position)?;
        self.next_offset = end_offset;
        self.remove_stray_snapshots()?;
        self.storage.sync_dir(&self.dir)?;
        self.set_high_watermark(self.high_watermark);
        self.recovery_point = self.recovery_point.min(end_offset);
        self.unflushed_records = u64::from(self.recovery_point < end_offset);
        self.rebuild_producers(now_ms)
    }

    /// Forgets everything and goes on at an offset, as a follower does whose leader begins above
    /// its end. Durable when this returns.
    pub fn truncate_fully_and_start_at(
        &mut self,
        offset: i64,
        now_ms: i64,
    ) -> Result<(), LogError> {
        self.alive()?;
        self.begin_files()?;
        let cut = self.restart_at(offset, now_ms);
        self.fatal(cut)
    }

    pub(super) fn restart_at(&mut self, offset: i64, now_ms: i64) -> Result<(), LogError> {
        self.cuts += 1;
        self.recent.clear();
        self.log_start_offset = offset;
        self.recovery_point = offset;
        self.epochs.clear();
        self.producers = ProducerStates::default();
        self.write_state_durably()?;
        while let Some(segment) = self.segments.last() {
            let base_offset = segment.base_offset;
            self.remove_segment_files(base_offset)?;
            self.segments.pop();
        }
        self.remove_all_snapshots()?;
        let (place, segments) = self.parts();
        segments.push(Segment::create(place, offset, now_ms)?);
        self.next_offset = offset;
        self.high_watermark = offset;
        self.unflushed_records = 0;
        self.storage.sync_dir(&self.dir)?;
        Ok(())
    }

    /// Moves the log's start up: records below an offset are no longer served, and segments that
    /// hold nothing else are removed. At most up to the high watermark. Durable when this returns.
    /// Gives the log's start, which is where it was if it lies above the offset already.
    pub fn delete_records_before(&mut self, offset: i64) -> Result<i64, LogError> {
        self.alive()?;
        if offset < 0 || offset > self.high_watermark {
            let (first, last) = (self.log_start_offset, self.high_watermark);
            return Err(LogError::OffsetOutOfRange {
                offset,
                first,
                last,
            });
        }
        if offset > self.log_start_offset {
            self.advance_start(offset)?;
        }
        Ok(self.log_start_offset)
    }

    /// Moves the log's start up, and removes the segments below it. On a full disk the segments go
    /// first, for room.
    pub(super) fn advance_start(&mut self, offset: i64) -> Result<(), LogError> {
        self.log_start_offset = self.log_start_offset.max(offset);
        self.high_watermark = self.high_watermark.max(self.log_start_offset);
        self.recovery_point = self.recovery_point.max(self.log_start_offset);
        self.epochs.truncate_from_start(self.log_start_offset);
        match self.write_state_durably() {
            Err(error) if error.is_disk_full() => {
                let removed = self.remove_segments_below_start();
                self.fatal(removed)?;
                self.storage.sync_dir(&self.dir)?;
                let retried = self.write_state_durably();
                if retried.is_err() {
                    // Opening must not take the segments that went for lost ones.
                    let forgotten = self.forget_state();
                    self.fatal(forgotten)?;
                }
                retried
            }
            written => {
                self.fatal(written)?;
                let removed = self.remove_segments_below_start();
                self.fatal(removed)
            }
        }
    }

    /// Removes the segments that end at or below the log's start.
    pub(super) fn remove_segments_below_start(&mut self) -> Result<(), LogError> {
        while let [oldest, next, ..] = self.segments.as_slice()
            && next.base_offset <= self.log_start_offset
        {
            let base_offset = oldest.base_offset;
            self.remove_segment_files(base_offset)?;
            self.segments.remove(0);
        }
        Ok(())
    }

    /// A storage failure in the middle of a change that cannot be taken back ends the log's life.
    pub(super) fn fatal<T>(&mut self, result: Result<T, LogError>) -> Result<T, LogError> {
        match result {
            Err(LogError::Storage(cause)) => Err(self.die(cause)),
            result => result,
        }
    }
}

impl Segment {
    /// Cuts the log file at a position where a batch begins, and the indexes with it. The file is
    /// durable when this returns.
    fn cut(
        &mut self,
        place: super::segment::SegmentFiles<'_>,
        position: u64,
    ) -> Result<(), LogError> {
        if position < self.bytes {
            let file = self.file(place)?;
            file.truncate(position)?;
            file.sync_data()?;
        }
        self.bytes = position;
        self.forget_first_timestamp();
        // The entries that remain are as good as new ones, and cheaper to make than to keep apart.
        let summary = self.build_summary(place)?;
        self.summary = Some(summary);
        self.facts = None;
        self.store_indexes(place)
    }
}
