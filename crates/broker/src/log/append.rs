//! Appending: check, give offsets in place, one write.

use kgauge_wire::compress::Codec;
use kgauge_wire::record_batch::{
    Batch, BatchError, BatchHeader, HEADER_BYTES, TimestampType, count_records, rewrite_for_log,
    rewrite_for_log_append_time, validate_for_append,
};

use super::producers::Admission;
use super::roll::RollCheck;
use super::{AppendError, LogConfig, LogError, PartitionLog, ProducerBatch};

/// What became of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendInfo {
    /// Offset of the first record.
    pub base_offset: i64,
    /// Offset of the last record.
    pub last_offset: i64,
    /// When the broker appended, ms since 1970; -1 unless the topic's timestamps are log append
    /// times.
    pub log_append_time_ms: i64,
    /// The log's first offset.
    pub log_start_offset: i64,
    /// The batch was in the log already, and nothing was appended.
    pub duplicate: bool,
}

/// Totals of the batches of one append.
#[derive(Debug, Clone, Copy)]
struct Totals {
    records: u64,
    bytes: usize,
    max_timestamp_ms: i64,
}

impl PartitionLog {
    /// Appends what a producer sent for this partition: one batch, or several one behind another.
    ///
    /// Either all batches are appended or none. They get dense offsets from the log's end on and
    /// the leader's epoch, written into `batches` in place. A batch of an idempotent producer that
    /// is in the log already is not appended again: the answer has its offsets. Flushes when
    /// `flush.messages` asks for it. Where the topic's `compression.type` is another than the
    /// batch's, what is appended is a recompressed copy.
    pub fn append_as_leader(
        &mut self,
        batches: &mut [u8],
        leader_epoch: i32,
        now_ms: i64,
    ) -> Result<AppendInfo, AppendError> {
        self.alive()?;
        let mut totals = match self.check_produced(batches, now_ms)? {
            CheckedBatches::New(totals) => totals,
            CheckedBatches::Duplicate(info) => return Ok(info),
        };
        let mut stored = self.stored_form(batches)?;
        let batches = stored.as_deref_mut().unwrap_or(batches);
        totals.bytes = batches.len();
        self.check_segment_room(totals.bytes)?;
        self.check_epoch(leader_epoch)?;
        let base_offset = self.next_offset;
        let last_offset = base_offset + totals.records as i64 - 1;
        self.begin_files()?;
        self.roll_if_due(&totals.roll(last_offset), now_ms)?;
        let log_append_time_ms = match self.config.timestamp_type {
            TimestampType::CreateTime => -1,
            TimestampType::LogAppendTime => now_ms,
        };
        let mut rest = &mut *batches;
        let mut offset = base_offset;
        while !rest.is_empty() {
            let header = BatchHeader::parse(rest).map_err(as_append)?;
            let (batch, after) = rest.split_at_mut(header.batch_bytes());
            let rewritten = if log_append_time_ms < 0 {
                rewrite_for_log(batch, offset, leader_epoch)
            } else {
                rewrite_for_log_append_time(batch, offset, leader_epoch, log_append_time_ms)
            };
            rewritten.map_err(as_append)?;
            offset += i64::from(header.last_offset_delta) + 1;
            rest = after;
        }
        self.write_batches(batches, now_ms)?;
        self.flush_if_due()?;
        let log_start_offset = self.log_start_offset;
        let duplicate = false;
        Ok(AppendInfo {
            base_offset,
            last_offset,
            log_append_time_ms,
            log_start_offset,
            duplicate,
        })
    }

    /// Appends batches fetched from the leader as they are: offsets, epochs and timestamps stay.
    ///
    /// Their CRCs are checked, and that they follow the log's end. A follower that starts in the
    /// middle of a leader's batch gets [`AppendError::NotTheNextOffset`] with that batch's first
    /// offset, where it may start again ([`PartitionLog::truncate_fully_and_start_at`]).
    pub fn append_as_follower(
        &mut self,
        batches: &[u8],
        now_ms: i64,
    ) -> Result<AppendInfo, AppendError> {
        self.alive()?;
        let mut end_offset = self.next_offset;
        let mut totals = Totals {
            records: 0,
            bytes: batches.len(),
            max_timestamp_ms: -1,
        };
        let mut base_offset = None;
        let mut rest = batches;
        while !rest.is_empty() {
            let batch = Batch::parse(rest).map_err(as_append)?;
            batch.validate_crc().map_err(as_append)?;
            let header = batch.header;
            let last_offset = header.last_offset();
            let follows = self.config.gaps.allow(end_offset, header.base_offset);
            if !follows || last_offset < header.base_offset || last_offset == i64::MAX {
                let base_offset = header.base_offset;
                return Err(AppendError::NotTheNextOffset {
                    base_offset,
                    last_offset,
                    end_offset,
                });
            }
            self.check_epoch(header.leader_epoch)?;
            base_offset.get_or_insert(header.base_offset);
            totals.max_timestamp_ms = totals.max_timestamp_ms.max(header.max_timestamp_ms);
            totals.records += u64::from(header.records());
            end_offset = header.next_offset();
            rest = &rest[header.batch_bytes()..];
        }
        let Some(base_offset) = base_offset else {
            return Err(AppendError::Nothing);
        };
        self.begin_files()?;
        self.roll_if_due(&totals.roll(end_offset - 1), now_ms)?;
        self.write_batches(batches, now_ms)?;
        self.flush_if_due()?;
        Ok(AppendInfo {
            base_offset,
            last_offset: end_offset - 1,
            log_append_time_ms: -1,
            log_start_offset: self.log_start_offset,
            duplicate: false,
        })
    }

    /// Refuses an epoch older than the log's newest: recovery would take such batches for damage.
    fn check_epoch(&self, epoch: i32) -> Result<(), AppendError> {
        match self.epochs.latest() {
            Some(latest) if epoch < latest.epoch => {
                let current = latest.epoch;
                Err(AppendError::StaleLeaderEpoch { epoch, current })
            }
            _ => Ok(()),
        }
    }

    /// Checks everything about produced batches that can be wrong, and changes nothing.
    fn check_produced(&self, batches: &[u8], now_ms: i64) -> Result<CheckedBatches, AppendError> {
        let mut totals = Totals {
            records: 0,
            bytes: batches.len(),
            max_timestamp_ms: -1,
        };
        let mut rest = batches;
        while !rest.is_empty() {
            let header = BatchHeader::parse(rest).map_err(as_append)?;
            let bytes = header.batch_bytes();
            if bytes > self.config.max_message_bytes as usize {
                let bytes_max = self.config.max_message_bytes;
                return Err(AppendError::BatchTooLarge { bytes, bytes_max });
            }
            // Bytes that end early are an error of the check itself.
            let (batch, after) = rest.split_at_checked(bytes).unwrap_or((rest, &[]));
            let info = validate_for_append(batch)?;
            if info.codec == Codec::None {
                check_count(batch, header.record_count)?;
            }
            if header.has_producer_id() && bytes != batches.len() {
                return Err(AppendError::ProducerNotAlone);
            }
            if let Admission::Duplicate(known) = self.producers.admit(&header)? {
                return Ok(CheckedBatches::Duplicate(self.duplicate(known)));
            }
            totals.max_timestamp_ms = match self.config.timestamp_type {
                TimestampType::LogAppendTime => now_ms,
                TimestampType::CreateTime => {
                    self.check_timestamps(&header, now_ms)?;
                    totals.max_timestamp_ms.max(header.max_timestamp_ms)
                }
            };
            totals.records += u64::from(header.records());
            rest = after;
        }
        if totals.records == 0 {
            return Err(AppendError::Nothing);
        }
        Ok(CheckedBatches::New(totals))
    }

    fn check_segment_room(&self, bytes: usize) -> Result<(), AppendError> {
        let bytes_max = self.config.segment_bytes;
        if bytes > bytes_max as usize {
            return Err(AppendError::BatchesTooLarge { bytes, bytes_max });
        }
        Ok(())
    }

    fn duplicate(&self, known: ProducerBatch) -> AppendInfo {
        let log_append_time_ms = match self.config.timestamp_type {
            TimestampType::CreateTime => -1,
            TimestampType::LogAppendTime => known.timestamp_ms,
        };
        AppendInfo {
            base_offset: known.base_offset(),
            last_offset: known.last_offset,
            log_append_time_ms,
            log_start_offset: self.log_start_offset,
            duplicate: true,
        }
    }

    /// Checks the header's first and largest timestamp. Kafka checks each record; between the two
    /// only a record older than the batch's first one could be missed.
    fn check_timestamps(&self, header: &BatchHeader, now_ms: i64) -> Result<(), AppendError> {
        let LogConfig {
            timestamp_before_max_ms,
            timestamp_after_max_ms,
            ..
        } = self.config;
        let first_ms = timestamp_before_max_ms.map_or(i64::MIN, |age| now_ms.saturating_sub(age));
        let last_ms = timestamp_after_max_ms.map_or(i64::MAX, |lead| now_ms.saturating_add(lead));
        for timestamp_ms in [header.base_timestamp_ms, header.max_timestamp_ms] {
            let outside = timestamp_ms < first_ms || timestamp_ms > last_ms;
            if outside && timestamp_ms != -1 {
                return Err(AppendError::InvalidTimestamp {
                    timestamp_ms,
                    first_ms,
                    last_ms,
                });
            }
        }
        Ok(())
    }

    /// Writes checked batches behind the log's end and takes note of them.
    fn write_batches(&mut self, batches: &[u8], now_ms: i64) -> Result<(), AppendError> {
        let (place, active) = self.active();
        active.prepare_write(place)?;
        if let Err(error) = active.write(place, batches) {
            return Err(self.undo_write(error).into());
        }
        let interval = self.config.index_interval_bytes;
        let mut rest = batches;
        while !rest.is_empty() {
            let header = BatchHeader::parse(rest).map_err(as_append)?;
            let (_, active) = self.active();
            let position = active.bytes;
            active.add(&header, interval);
            self.recent.push(&header, position);
            self.next_offset = header.next_offset();
            self.epochs.assign(header.leader_epoch, header.base_offset);
            self.producers.note(&header);
            if self.unflushed_records == 0 {
                self.unflushed_since_ms = now_ms;
            }
            self.unflushed_records += u64::from(header.records()).max(1);
            rest = &rest[header.batch_bytes()..];
        }
        Ok(())
    }

    /// After a failed write: cuts away what it left, so that the log is as it was. A log on a full
    /// disk lives on; after any other failure, or if the cut fails too, nothing is known about the
    /// file and the log dies.
    fn undo_write(&mut self, error: LogError) -> LogError {
        let LogError::Storage(cause) = error else {
            return error;
        };
        let (place, active) = self.active();
        let bytes = active.bytes;
        let cut = active.file(place).and_then(|file| {
            file.truncate(bytes)?;
            // A crash must not bring the bytes back once the segment is closed and believed.
            Ok(file.sync_data()?)
        });
        if cut.is_ok() && cause.is_disk_full() {
            return LogError::Storage(cause);
        }
        self.die(cause)
    }
}

/// The result of the checks.
enum CheckedBatches {
    New(Totals),
    Duplicate(AppendInfo),
}

impl Totals {
    fn roll(&self, last_offset: i64) -> RollCheck {
        RollCheck {
            bytes: self.bytes,
            max_timestamp_ms: self.max_timestamp_ms,
            last_offset,
        }
    }
}

/// Checks that the records are as many as in the header and end where the batch does: a batch that
/// lies would stop every consumer. It reads only their lengths, which costs some nanoseconds per
/// record; it does not check compressed records, nor what is inside of a record.
fn check_count(batch: &[u8], record_count: i32) -> Result<(), AppendError> {
    let records = batch.get(HEADER_BYTES..).unwrap_or_default();
    match count_records(records) {
        Some(counted) if counted > 0 && i64::from(record_count) == i64::from(counted) => Ok(()),
        _ => Err(AppendError::Miscounted { record_count }),
    }
}

fn as_append(error: BatchError) -> AppendError {
    AppendError::Batch(error.into())
}
