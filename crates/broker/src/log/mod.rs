//! The log of one partition replica, in Kafka's on-disk format.
//!
//! ```text
//! <topic>-<partition>/
//!   00000000000000000000.log         batches, as producers sent them and consumers get them
//!   00000000000000000000.index       sparse: offset -> position in the .log
//!   00000000000000000000.timeindex   sparse: timestamp -> offset
//!   00000000000000086512.snapshot    what is remembered of idempotent producers up to that offset
//!   leader-epoch-checkpoint          where each leader's reign began
//!   partition.metadata               the topic's id
//!   log-state                        start, last flush, closed in order or not (ours, not Kafka's)
//! ```
//!
//! A [`PartitionLog`] is owned by one thread and takes no lock. The calls, by when they are made:
//!
//! | call | when |
//! |---|---|
//! | [`PartitionLog::open`] | start; recovers after a crash |
//! | [`PartitionLog::unwritten`] | new replica: no file before its first record |
//! | [`PartitionLog::recovery`] | after opening: what had to be mended |
//! | [`PartitionLog::append_as_leader`] | Produce |
//! | [`PartitionLog::append_as_follower`] | a follower got a Fetch response |
//! | [`PartitionLog::read`] | Fetch; gives a [`FileSlice`](crate::storage::FileSlice) to send |
//! | [`PartitionLog::set_high_watermark`] | the owner knows what enough replicas have |
//! | [`PartitionLog::offset_for_timestamp`] | `ListOffsets` by time |
//! | [`PartitionLog::offset_of_max_timestamp`] | `ListOffsets` for the newest record |
//! | [`PartitionLog::end_offset_for_epoch`] | `OffsetForLeaderEpoch` |
//! | [`PartitionLog::truncate_to`] | a follower's log parted from its leader's |
//! | [`PartitionLog::truncate_fully_and_start_at`] | a follower fell behind its leader's start |
//! | [`PartitionLog::delete_records_before`] | `DeleteRecords` |
//! | [`PartitionLog::apply_retention`] | timer, some minutes |
//! | [`PartitionLog::flush_due`], then [`PartitionLog::flush`] or `begin_flush` | timer, a second |
//! | [`PartitionLog::begin_checkpoint`], [`PartitionLog::close_files`] | timer, a minute |
//! | [`PartitionLog::close`] or `begin_close`, [`PartitionLog::set_aside`] | end |
//!
//! Offsets are dense on a leader. Times are milliseconds since 1970 and come from the caller.

mod append;
mod as_closed;
mod checkpoint;
mod close;
mod cold;
mod config;
mod epoch_file;
mod epochs;
mod error;
mod facts;
mod flush;
mod metadata_file;
mod names;
mod open;
mod producers;
mod read;
mod recent;
mod recovery;
mod retention;
mod roll;
mod scan;
mod segment;
mod segment_indexes;
mod snapshot;
mod sparse_index;
mod state_file;
mod stored_form;
mod timestamps;
mod truncate;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use kgauge_wire::codec::Uuid;

use crate::storage::{Storage, StorageError};
use checkpoint::StoredCheckpoint;
use recent::RecentBatches;
use segment::{Segment, SegmentFiles};

pub use append::AppendInfo;
pub use as_closed::AsClosed;
pub use checkpoint::{CheckpointDone, CheckpointJob};
pub use close::{CloseJob, RemoveJob};
pub use config::{Gaps, LogConfig};
pub use epochs::{EpochEnd, EpochStart, LeaderEpochs};
pub use error::{AppendError, Corruption, LogError, ReadError};
pub use flush::{FlushDone, FlushJob};
pub use metadata_file::{is_half_made, read_topic_id, write_topic_id};
pub use names::{parse_partition_dir_name, partition_dir_name};
pub use producers::{BATCHES_KEPT, ProducerBatch, ProducerEntry, ProducerStates};
pub use read::{FirstBatch, ReadRequest, ReadResult};
pub use recovery::Recovery;
pub use retention::{RemovalReason, RemovedSegment};
pub use stored_form::StoredCodec;
pub use timestamps::TimestampedOffset;

/// The log of one partition replica. Owned by one thread; see the [module](self) for what it can
/// do.
#[derive(Debug)]
pub struct PartitionLog {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    config: LogConfig,
    /// Oldest first, never empty; the last one takes the appends.
    segments: Vec<Segment>,
    log_start_offset: i64,
    next_offset: i64,
    high_watermark: i64,
    /// Everything below is durable, indexes too.
    recovery_point: i64,
    epochs: LeaderEpochs,
    producers: ProducerStates,
    /// Offsets of the snapshot files, lowest first.
    snapshots: Vec<i64>,
    /// Records appended since the last flush.
    unflushed_records: u64,
    /// When the first of them was appended, ms since 1970.
    unflushed_since_ms: i64,
    /// Counts files created or removed, and how many of these changes are durable.
    names_changed: u64,
    names_flushed: u64,
    /// The name of the log's folder may not be durable yet.
    dir_name_unflushed: bool,
    /// The topic's id, while the log has neither folder nor files: until its first record.
    unwritten: Option<Uuid>,
    /// The file with the topic's id may not be durable yet.
    id_unflushed: bool,
    /// Counts cuts: what a flush that began before one made durable is not what the log has now.
    cuts: u64,
    /// What is on disk beside the segments.
    stored: StoredCheckpoint,
    /// Counts writes of the state by the log's own thread: a checkpoint that began before one is
    /// outdated.
    state_writes: Arc<Mutex<u64>>,
    recent: RecentBatches,
    /// What opening had to mend.
    recovery: Option<Recovery>,
    /// The failure that ended the log's life.
    dead: Option<StorageError>,
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

    /// Remembers fewer batches of each producer than [`BATCHES_KEPT`] and appends what it has forgotten again, which
    /// breaks Kafka's promise to them.
    pub(crate) fn keep_batches_of_producers(&mut self, count: usize) {
        self.producers.keep(count);
    }

    /// Bytes of all batches in the log.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Base offset and bytes of each segment, oldest first, the active one included.
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
    fn alive(&self) -> Result<(), LogError> {
        match &self.dead {
            None => Ok(()),
            Some(cause) => Err(LogError::Dead {
                cause: cause.clone(),
            }),
        }
    }

    /// Takes the log out of service for good.
    fn die(&mut self, cause: StorageError) -> LogError {
        let cause = self.dead.get_or_insert(cause).clone();
        LogError::Dead { cause }
    }

    /// Index of the segment that holds an offset, or would hold it: the last that begins at or
    /// below.
    fn segment_index(&self, offset: i64) -> usize {
        self.segments
            .partition_point(|s| s.base_offset <= offset)
            .saturating_sub(1)
    }

    /// Splits the log into where its files are and the segments, to use both at once.
    fn parts(&mut self) -> (SegmentFiles<'_>, &mut Vec<Segment>) {
        let place = SegmentFiles {
            storage: &*self.storage,
            dir: &self.dir,
            index_interval_bytes: self.config.index_interval_bytes,
        };
        (place, &mut self.segments)
    }

    /// A segment by its index, with where its files are.
    fn segment(&mut self, index: usize) -> (SegmentFiles<'_>, &mut Segment) {
        let (place, segments) = self.parts();
        (place, &mut segments[index])
    }

    /// The segment that takes the appends.
    fn active(&mut self) -> (SegmentFiles<'_>, &mut Segment) {
        let last = self.segments.len() - 1;
        self.segment(last)
    }
}
