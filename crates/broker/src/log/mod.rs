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
mod offset_index;
mod open;
mod partition_log;
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
mod state_file;
mod stored_form;
mod time_index;
mod timestamps;
mod truncate;

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
pub use partition_log::PartitionLog;
pub use producers::{BATCHES_KEPT, ProducerBatch, ProducerEntry, ProducerStates};
pub use read::{FirstBatch, ReadRequest, ReadResult};
pub use recovery::Recovery;
pub use retention::{RemovalReason, RemovedSegment};
pub use stored_form::StoredCodec;
pub use timestamps::TimestampedOffset;
