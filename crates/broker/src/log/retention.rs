//! Forgetting old segments, by size and by age.

use super::segment::Segment;
use super::{LogError, PartitionLog};

/// A segment that retention removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovedSegment {
    /// Its first offset.
    pub base_offset: i64,
    /// Bytes of its batches.
    pub bytes: u64,
    /// Why it went.
    pub reason: RemovalReason,
}

/// Why retention removed a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalReason {
    /// Its newest record is older than `retention.ms`.
    Age,
    /// The log without it still has `retention.bytes`.
    Size,
    /// All its records were deleted before: they are below the log's start.
    BelowStart,
}

impl PartitionLog {
    /// Removes what `retention.ms` and `retention.bytes` no longer keep, and forgets producers that
    /// were silent too long.
    ///
    /// Only whole segments go, the oldest first, and none that reaches above the high watermark.
    /// The active segment goes too when all its records are too old: the log gets a new one first.
    pub fn apply_retention(&mut self, now_ms: i64) -> Result<Vec<RemovedSegment>, LogError> {
        self.alive()?;
        if self.unwritten.is_some() {
            return Ok(Vec::new());
        }
        self.producers
            .expire(now_ms, self.config.producer_id_expiration_ms);
        let mut removed = self.below_start();
        self.too_old(now_ms, &mut removed)?;
        self.too_much(&mut removed);
        if removed.len() == self.segments.len() {
            match self.roll(now_ms) {
                // The others go all the same, and make room for a new segment next time.
                Err(error) if error.is_disk_full() => drop(removed.pop()),
                rolled => rolled?,
            }
            // Only the new segment shows where the log ends once the others are gone: it must be durable.
            self.storage.sync_dir(&self.dir)?;
        }
        if removed.is_empty() {
            return Ok(removed);
        }
        match self.advance_start(self.segments[removed.len()].base_offset) {
            // The first segment shows the start as well as the state file would.
            Err(error) if error.is_disk_full() => Ok(removed),
            advanced => advanced.map(|()| removed),
        }
    }

    /// The oldest segments that end at or below the log's start.
    fn below_start(&self) -> Vec<RemovedSegment> {
        let ends_below = |pair: &&[Segment]| pair[1].base_offset <= self.log_start_offset;
        let below = self.segments.windows(2).take_while(ends_below);
        below
            .map(|pair| removal(&pair[0], RemovalReason::BelowStart))
            .collect()
    }

    /// Adds the oldest segments whose records are all too old. Stops at the first that is kept.
    fn too_old(&mut self, now_ms: i64, removed: &mut Vec<RemovedSegment>) -> Result<(), LogError> {
        let Some(retention_ms) = self.config.retention_ms else {
            return Ok(());
        };
        for index in removed.len()..self.segments.len() {
            if !self.is_removable(index) {
                break;
            }
            let (place, segment) = self.segment(index);
            let newest_ms = match segment.newest(place)?.timestamp_ms {
                undated if undated < 0 => segment.created_ms,
                newest_ms => newest_ms,
            };
            if now_ms.saturating_sub(newest_ms) <= retention_ms {
                break;
            }
            removed.push(removal(segment, RemovalReason::Age));
            self.note_use(index);
        }
        Ok(())
    }

    /// Adds the oldest segments without which the log still has its size.
    fn too_much(&self, removed: &mut Vec<RemovedSegment>) {
        let Some(retention_bytes) = self.config.retention_bytes else {
            return;
        };
        let gone: u64 = removed.iter().map(|segment| segment.bytes).sum();
        let mut surplus = (self.size_bytes() - gone).saturating_sub(retention_bytes);
        for index in removed.len()..self.segments.len() {
            let segment = &self.segments[index];
            if !self.is_removable(index) || segment.bytes > surplus {
                break;
            }
            surplus -= segment.bytes;
            removed.push(removal(segment, RemovalReason::Size));
        }
    }

    /// A segment may go when all of it is below the high watermark, and an active one if it holds
    /// anything.
    fn is_removable(&self, index: usize) -> bool {
        match self.segments.get(index + 1) {
            Some(next) => self.high_watermark >= next.base_offset,
            None => self.segments[index].bytes > 0 && self.high_watermark >= self.next_offset,
        }
    }
}

fn removal(segment: &Segment, reason: RemovalReason) -> RemovedSegment {
    RemovedSegment {
        base_offset: segment.base_offset,
        bytes: segment.bytes,
        reason,
    }
}
