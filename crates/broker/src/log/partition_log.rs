//! The log of one partition: its segments and what is known about them. Opening it is in `open.rs`,
//! each thing that can be done with it in a file of its own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use kgauge_wire::codec::Uuid;

use super::checkpoint::StoredCheckpoint;
use super::epochs::{EpochEnd, EpochStart, LeaderEpochs};
use super::producers::ProducerStates;
use super::recent::RecentBatches;
use super::recovery::Recovery;
use super::segment::{Segment, SegmentFiles};
use super::{LogConfig, LogError};
use crate::storage::{Storage, StorageError};

/// The log of one partition replica. Owned by one thread; see the [module](super) for what it can
/// do.
#[derive(Debug)]
pub struct PartitionLog {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) dir: PathBuf,
    pub(super) config: LogConfig,
    /// Oldest first, never empty; the last one takes the appends.
    pub(super) segments: Vec<Segment>,
    pub(super) log_start_offset: i64,
    pub(super) next_offset: i64,
    pub(super) high_watermark: i64,
    /// Everything below is durable, indexes too.
    pub(super) recovery_point: i64,
    pub(super) epochs: LeaderEpochs,
    pub(super) producers: ProducerStates,
    /// Offsets of the snapshot files, lowest first.
    pub(super) snapshots: Vec<i64>,
    /// Records appended since the last flush.
    pub(super) unflushed_records: u64,
    /// When the first of them was appended, ms since 1970.
    pub(super) unflushed_since_ms: i64,
    /// Counts files created or removed, and how many of these changes are durable.
    pub(super) names_changed: u64,
    pub(super) names_flushed: u64,
    /// The name of the log's folder may not be durable yet.
    pub(super) dir_name_unflushed: bool,
    /// The topic's id, while the log has neither folder nor files: until its first record.
    pub(super) unwritten: Option<Uuid>,
    /// The file with the topic's id may not be durable yet.
    pub(super) id_unflushed: bool,
    /// Counts cuts: what a flush that began before one made durable is not what the log has now.
    pub(super) cuts: u64,
    /// What is on disk beside the segments.
    pub(super) stored: StoredCheckpoint,
    /// Counts writes of the state by the log's own thread: a checkpoint that began before one is
    /// outdated.
    pub(super) state_writes: Arc<Mutex<u64>>,
    pub(super) recent: RecentBatches,
    /// What opening had to mend.
    pub(super) recovery: Option<Recovery>,
    /// The failure that ended the log's life.
    pub(super) dead: Option<StorageError>,
}

impl PartitionLog {
    /// The folder of the log.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the log has no folder, because it never held a record.
    #[must_use]
    pub fn is_unwritten(&self) -> bool {
        self.unwritten.is_some()
    }

    /// The settings in force.
    #[must_use]
    pub fn config(&self) -> &LogConfig {
        &self.config
    }

    /// Replaces the settings; they hold from the next operation on.
    pub fn set_config(&mut self, config: LogConfig) {
        self.config = config;
    }

    /// The first offset that can be read.
    #[must_use]
    pub fn log_start_offset(&self) -> i64 {
        self.log_start_offset
    }

    /// The offset that the next record gets.
    #[must_use]
    pub fn log_end_offset(&self) -> i64 {
        self.next_offset
    }

    /// The offset up to which records are known to be on enough replicas. The owner moves it; the
    /// log only keeps it between its own start and end.
    #[must_use]
    pub fn high_watermark(&self) -> i64 {
        self.high_watermark
    }

    /// Sets the high watermark, moved into the log's range, and gives what it is now.
    pub fn set_high_watermark(&mut self, offset: i64) -> i64 {
        self.high_watermark = offset.clamp(self.log_start_offset, self.next_offset);
        self.high_watermark
    }

    /// The offset up to which a reader of committed transactions may read: the high watermark, for
    /// there are no transactions yet.
    #[must_use]
    pub fn last_stable_offset(&self) -> i64 {
        self.high_watermark
    }

    /// Everything below this offset survives a crash of the machine.
    #[must_use]
    pub fn flushed_offset(&self) -> i64 {
        self.recovery_point
    }

    /// The leader epochs and where they began.
    #[must_use]
    pub fn leader_epochs(&self) -> &[EpochStart] {
        self.epochs.entries()
    }

    /// Notes that a leader of this epoch appends from the log's end on.
    pub fn assign_leader_epoch(&mut self, epoch: i32) {
        self.epochs.assign(epoch, self.next_offset);
    }

    /// Where a leader epoch ends in this log; `None` when the log does not know. See
    /// [`LeaderEpochs::end_offset`].
    #[must_use]
    pub fn end_offset_for_epoch(&self, epoch: i32) -> Option<EpochEnd> {
        self.epochs.end_offset(epoch, self.next_offset)
    }

    /// What is remembered of idempotent producers.
    #[must_use]
    pub fn producers(&self) -> &ProducerStates {
        &self.producers
    }

    /// Remembers fewer batches of each producer than [`BATCHES_KEPT`](super::BATCHES_KEPT), which breaks
    /// Kafka's promise to them.
    pub(crate) fn keep_batches_of_producers(&mut self, count: usize) {
        self.producers.keep(count);
    }

    /// Bytes of all batches in the log.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Number of segments, the active one included.
    #[must_use]
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// Base offset and bytes of each segment, oldest first.
    pub fn segments(&self) -> impl Iterator<Item = (i64, u64)> {
        self.segments
            .iter()
            .map(|segment| (segment.base_offset, segment.bytes))
    }

    /// The failure that took the log out of service, if there was one.
    #[must_use]
    pub fn dead(&self) -> Option<&StorageError> {
        self.dead.as_ref()
    }

    /// Fails when the log is out of service.
    pub(super) fn alive(&self) -> Result<(), LogError> {
        match &self.dead {
            None => Ok(()),
            Some(cause) => Err(LogError::Dead {
                cause: cause.clone(),
            }),
        }
    }

    /// Takes the log out of service for good.
    pub(super) fn die(&mut self, cause: StorageError) -> LogError {
        let cause = self.dead.get_or_insert(cause).clone();
        LogError::Dead { cause }
    }

    /// Index of the segment that holds an offset, or would hold it: the last that begins at or
    /// below.
    pub(super) fn segment_index(&self, offset: i64) -> usize {
        self.segments
            .partition_point(|s| s.base_offset <= offset)
            .saturating_sub(1)
    }

    /// Splits the log into where its files are and the segments, to use both at once.
    pub(super) fn parts(&mut self) -> (SegmentFiles<'_>, &mut Vec<Segment>) {
        let place = SegmentFiles {
            storage: &*self.storage,
            dir: &self.dir,
            index_interval_bytes: self.config.index_interval_bytes,
        };
        (place, &mut self.segments)
    }

    /// A segment by its index, with where its files are.
    pub(super) fn segment(&mut self, index: usize) -> (SegmentFiles<'_>, &mut Segment) {
        let (place, segments) = self.parts();
        (place, &mut segments[index])
    }

    /// The segment that takes the appends.
    pub(super) fn active(&mut self) -> (SegmentFiles<'_>, &mut Segment) {
        let last = self.segments.len() - 1;
        self.segment(last)
    }
}
