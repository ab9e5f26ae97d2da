//! The settings of one partition log; names and defaults are those of Kafka's topic configuration.

use kgauge_wire::record_batch::TimestampType;

use super::StoredCodec;

/// How a partition log writes, rolls, flushes and forgets. Can be replaced while the log is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// `segment.bytes`: a segment is closed before it would grow larger. At most `i32::MAX`.
    pub segment_bytes: u32,
    /// `segment.ms` less its jitter: a segment is closed when a batch is this much newer than its
    /// first one.
    pub segment_ms: i64,
    /// `segment.index.bytes`: a segment is closed when one of its indexes has reached this size.
    pub segment_index_bytes: u32,
    /// `index.interval.bytes`: at most one index entry per this many bytes of log.
    pub index_interval_bytes: u32,
    /// `retention.bytes`: the oldest segments go while the rest is at least so large. `None` keeps
    /// all.
    pub retention_bytes: Option<u64>,
    /// `retention.ms`: a segment goes when its newest record is older. `None` keeps all.
    pub retention_ms: Option<i64>,
    /// `max.message.bytes`: the largest batch, as stored, that a producer may append.
    pub max_message_bytes: u32,
    /// `message.timestamp.type`: whose clock dates the records.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`: how old a record may be when it arrives. `None` for any
    /// age.
    pub timestamp_before_max_ms: Option<i64>,
    /// `message.timestamp.after.max.ms`: how far in the future a record may be dated. `None` for
    /// any.
    pub timestamp_after_max_ms: Option<i64>,
    /// `flush.messages`: an append flushes once this many records are unflushed. `None` leaves it to
    /// the system.
    pub flush_messages: Option<u64>,
    /// `flush.ms`: [`super::PartitionLog::flush_due`] asks for a flush after this time. `None` never
    /// asks.
    pub flush_ms: Option<i64>,
    /// `producer.id.expiration.ms`: a producer that was silent this long is forgotten.
    pub producer_id_expiration_ms: i64,
    /// `compression.type` and its level: the codec in which batches are stored. `None` stores them as
    /// the producer sent them.
    pub stored_codec: Option<StoredCodec>,
    /// Whether a record without a key is refused, as on a compacted topic.
    pub keys_required: bool,
    /// Whether offsets may be missing between batches, as they may where a log was compacted.
    pub gaps: Gaps,
    /// How many closed segments keep their files and indexes open for readers.
    pub cold_segments_open_max: usize,
}

/// Whether offsets may be missing between batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// Every batch begins where the one before it ends; one that does not is damage.
    Refused,
    /// A batch may begin later.
    Allowed,
}

impl Gaps {
    /// Whether a batch that begins at `base_offset` can follow offsets that end before
    /// `end_offset`.
    pub(super) fn allow(self, end_offset: i64, base_offset: i64) -> bool {
        base_offset == end_offset || (self == Self::Allowed && base_offset > end_offset)
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        const DAY_MS: i64 = 24 * 60 * 60 * 1000;
        Self {
            segment_bytes: 1 << 30,
            segment_ms: 7 * DAY_MS,
            segment_index_bytes: 10 << 20,
            index_interval_bytes: 4096,
            retention_bytes: None,
            retention_ms: Some(7 * DAY_MS),
            // 1 MiB and a batch's 12 bytes of offset and length, as Kafka's default has it.
            max_message_bytes: (1 << 20) + 12,
            timestamp_type: TimestampType::CreateTime,
            timestamp_before_max_ms: None,
            timestamp_after_max_ms: Some(60 * 60 * 1000),
            flush_messages: None,
            flush_ms: None,
            producer_id_expiration_ms: DAY_MS,
            stored_codec: None,
            keys_required: false,
            gaps: Gaps::Refused,
            cold_segments_open_max: 2,
        }
    }
}
