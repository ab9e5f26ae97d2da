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
//! | [`PartitionLog::open`] | start, new replica; recovers after a crash |
//! | [`PartitionLog::append_as_leader`] | Produce |
//! | [`PartitionLog::append_as_follower`] | a follower got a Fetch response |
//! | [`PartitionLog::read`] | Fetch; gives a [`FileSlice`](crate::storage::FileSlice) to send |
//! | [`PartitionLog::set_high_watermark`] | the owner knows what enough replicas have |
//! | [`PartitionLog::flush_due`], [`PartitionLog::flush`], [`PartitionLog::checkpoint`] | timers |
//! | [`PartitionLog::close`], [`PartitionLog::delete`] | end |
//!
//! Offsets are dense on a leader. Times are milliseconds since 1970 and come from the caller.

mod append;
mod cold;
mod config;
mod epoch_file;
mod epochs;
mod error;
mod flush;
mod names;
mod offset_index;
mod open;
mod partition_log;
mod producers;
mod read;
mod recovery;
mod roll;
mod scan;
mod segment;
mod segment_indexes;
mod snapshot;
mod state_file;
mod time_index;

pub use append::AppendInfo;
pub use config::LogConfig;
pub use epochs::{EpochEnd, EpochStart, LeaderEpochs};
pub use error::{AppendError, Corruption, LogError, ReadError};
pub use names::{parse_partition_dir_name, partition_dir_name};
pub use partition_log::PartitionLog;
pub use producers::{BATCHES_KEPT, ProducerBatch, ProducerEntry, ProducerStates};
pub use read::{FirstBatch, ReadRequest, ReadResult};
