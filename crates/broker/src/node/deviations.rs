//! Rules that a node breaks on purpose, so that tests can prove that their checks notice. Nothing that ships sets them.

use std::borrow::Cow;

use kgauge_wire::compress::Decompressor;
use kgauge_wire::record_batch::{
    Batch, BatchEncoder, ProducerState, batches, rewrite_for_log_append_time,
};

use crate::log::{AppendError, AppendInfo, PartitionLog};

/// Bytes of a decompressed batch, at most.
const RECORDS_BYTES_MAX: usize = 1 << 20;

/// One in so many batches is affected.
const ONE_IN: u32 = 7;

/// Rules that a node breaks on purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deviations {
    /// acks=all is answered as soon as the leader has appended.
    pub ack_before_replication: bool,
    /// What groups write, commits among it, is answered as soon as the coordinator has appended.
    pub commit_before_replication: bool,
    /// A follower of a new leader cuts its log at its high watermark and asks for no epoch, as Kafka
    /// did before KIP-101.
    pub truncate_to_high_watermark: bool,
    /// A new leader cuts its log to the high watermark that it knows, which is behind that of the leader before it.
    pub truncate_when_elected: bool,
    /// How many batches of a producer are remembered, if not five. What is forgotten counts as new when it comes again.
    pub batches_kept: Option<usize>,
    /// What goes wrong when some batches are appended.
    pub append: Option<AppendDeviation>,
    /// Followers append some batches with other timestamps than their leader's.
    pub change_replicas: bool,
    /// Some Fetch responses begin a few offsets after the one that was asked for.
    pub skip_reads: bool,
    /// Consumers get records that followers do not have so far.
    pub dirty_reads: bool,
    /// Of a commit with several offsets, only the first is stored.
    pub tear_commits: bool,
}

/// Offsets that a Fetch response passes over: more than any batch of the simulation has.
const SKIPPED: i64 = 5;

impl Deviations {
    /// Where a consumer reads that asks for an offset.
    pub(crate) fn read_offset(self, offset: i64, readable: i64) -> i64 {
        let is_struck = self.skip_reads && offset % i64::from(ONE_IN) == 3;
        match is_struck && offset + SKIPPED < readable {
            true => offset + SKIPPED,
            false => offset,
        }
    }

    /// What a follower appends of its leader's batches.
    pub(crate) fn replicated(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        if !self.change_replicas {
            return Cow::Borrowed(bytes);
        }
        let (mut changed, mut at) = (bytes.to_vec(), 0);
        for batch in batches(bytes).filter_map(Result::ok) {
            let (header, end) = (batch.header, at + batch.bytes().len());
            if header.crc.is_multiple_of(ONE_IN) {
                let (base, epoch) = (header.base_offset, header.leader_epoch);
                // A batch that was just parsed is long enough.
                let _ = rewrite_for_log_append_time(&mut changed[at..end], base, epoch, 1);
            }
            at = end;
        }
        Cow::Owned(changed)
    }
}

/// What goes wrong when a batch is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendDeviation {
    /// It is acked, and not appended.
    Drop,
    /// Its second half is acked, and not appended; batches of idempotent producers stay whole.
    DropHalf,
    /// It is appended twice.
    Double,
    /// Its first record takes the place of the second.
    Overwrite,
    /// Its first two records change places.
    Swap,
    /// A record of somebody else follows it.
    Foreign,
    /// Its first value is lost.
    Blank,
    /// The last byte of its first value changes.
    Change,
    /// The first byte of its first value's second half changes.
    ChangeIdentity,
    /// It is acked at the offset after its own.
    OffsetAfter,
    /// It is acked at the offset before its own.
    OffsetBefore,
    /// It is appended, and refused as invalid.
    RefuseAppended,
    /// It is acked, and not appended, if it belongs to a transaction. The others of the transaction are appended.
    TearTransaction,
}

/// A record of a batch that is made again.
struct CopiedRecord {
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
}

/// Appends batches, and gets some of them wrong.
pub(crate) fn append(
    deviation: Option<AppendDeviation>,
    log: &mut PartitionLog,
    bytes: &mut [u8],
    epoch: i32,
    wall_ms: i64,
) -> Result<AppendInfo, AppendError> {
    let Some(deviation) = deviation else {
        return log.append_as_leader(bytes, epoch, wall_ms);
    };
    let records = match batches(bytes).next() {
        Some(Ok(batch)) if batch.header.crc.is_multiple_of(ONE_IN) => copied(&batch),
        _ => return log.append_as_leader(bytes, epoch, wall_ms),
    };
    let Some((state, mut records)) = records.filter(|(_, records)| records.len() > 1) else {
        return log.append_as_leader(bytes, epoch, wall_ms);
    };
    let count = records.len();
    let is_spared = match deviation {
        AppendDeviation::DropHalf => state.id >= 0,
        AppendDeviation::TearTransaction => !state.transactional,
        _ => false,
    };
    if is_spared {
        return log.append_as_leader(bytes, epoch, wall_ms);
    }
    let mut others = Vec::new();
    match deviation {
        AppendDeviation::Drop | AppendDeviation::TearTransaction => {
            let end = log.log_end_offset();
            return Ok(AppendInfo {
                base_offset: end,
                last_offset: end - 1,
                log_append_time_ms: -1,
                log_start_offset: log.log_start_offset(),
                duplicate: true,
            });
        }
        AppendDeviation::Double => others = made(&ProducerState::NONE, &records, wall_ms),
        AppendDeviation::Foreign => {
            let foreign = CopiedRecord {
                key: None,
                value: Some(b"of another application".to_vec()),
            };
            others = made(&ProducerState::NONE, &[foreign], wall_ms);
        }
        AppendDeviation::OffsetAfter
        | AppendDeviation::OffsetBefore
        | AppendDeviation::RefuseAppended => {}
        AppendDeviation::DropHalf
        | AppendDeviation::Overwrite
        | AppendDeviation::Swap
        | AppendDeviation::Blank
        | AppendDeviation::Change
        | AppendDeviation::ChangeIdentity => deviation.change(&mut records),
    }
    let mut changed = made(&state, &records, wall_ms);
    let mut info = log.append_as_leader(&mut changed, epoch, wall_ms)?;
    if info.duplicate {
        return Ok(info);
    }
    if !others.is_empty() {
        info.last_offset = log
            .append_as_leader(&mut others, epoch, wall_ms)?
            .last_offset;
    }
    match deviation {
        AppendDeviation::OffsetAfter => info.base_offset += 1,
        AppendDeviation::OffsetBefore => info.base_offset -= 1,
        AppendDeviation::RefuseAppended => {
            return Err(AppendError::WithoutKey {
                records: (0..i32::try_from(count).unwrap_or(0)).collect(),
            });
        }
        _ => {}
    }
    Ok(info)
}

impl AppendDeviation {
    fn change(self, records: &mut Vec<CopiedRecord>) {
        let first = |records: &mut Vec<CopiedRecord>, at: fn(usize) -> usize| {
            let value = records.first_mut().and_then(|record| record.value.as_mut());
            if let Some(value) = value
                && let Some(byte) = value.len().checked_sub(1).map(at)
            {
                value[byte] ^= 1;
            }
        };
        match self {
            Self::DropHalf => records.truncate(records.len() / 2),
            Self::Overwrite => {
                if let [first, second, ..] = records.as_mut_slice() {
                    second.value.clone_from(&first.value);
                }
            }
            Self::Swap => records.swap(0, 1),
            Self::Blank => {
                if let Some(record) = records.first_mut() {
                    record.value = None;
                }
            }
            Self::Change => first(records, |last| last),
            Self::ChangeIdentity => first(records, |last| last / 2),
            _ => {}
        }
    }
}

/// The producer and the records of a batch.
fn copied(batch: &Batch<'_>) -> Option<(ProducerState, Vec<CopiedRecord>)> {
    let header = &batch.header;
    let mut scratch = Vec::new();
    let records = batch.records(&mut Decompressor::new(), &mut scratch, RECORDS_BYTES_MAX);
    let copy = |record: kgauge_wire::record_batch::Record<'_>| CopiedRecord {
        key: record.key.map(<[u8]>::to_vec),
        value: record.value.map(<[u8]>::to_vec),
    };
    let records = records.ok()?.filter_map(Result::ok).map(copy).collect();
    let state = ProducerState {
        id: header.producer_id,
        epoch: header.producer_epoch,
        base_sequence: header.base_sequence,
        transactional: header.attributes.is_transactional(),
    };
    Some((state, records))
}

fn made(state: &ProducerState, records: &[CopiedRecord], wall_ms: i64) -> Vec<u8> {
    let mut encoder = BatchEncoder::default();
    encoder.start(wall_ms);
    for record in records {
        encoder.append(wall_ms, record.key.as_deref(), record.value.as_deref(), &[]);
    }
    encoder.finish(state).to_vec()
}
