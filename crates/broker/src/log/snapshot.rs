//! Snapshots of producer states, in Kafka's file format (version 1 of its `ProducerSnapshot`).
//!
//! Big-endian: `i16` version, `u32` CRC-32C of all that follows, `i32` count, and for each row
//! `i64` producer id, `i16` epoch, `i32` last sequence, `i64` last offset, `i32` offset delta,
//! `i64` timestamp, `i32` coordinator epoch and `i64` first offset of the open transaction. Kafka
//! writes one row for a producer, its newest batch. Here a producer has a row for each remembered
//! batch, oldest first: Kafka reads that and keeps the newest, and nothing is forgotten over a
//! restart.

use kgauge_wire::record_batch::crc32c;

use super::names::{SNAPSHOT, file_at};
use super::producers::{ProducerBatch, ProducerRow, ProducerStates};
use super::{LogError, PartitionLog};
use crate::storage::{OpenMode, read_whole};

const VERSION: i16 = 1;
const HEAD_BYTES: usize = 2 + 4 + 4;
const ROW_BYTES: usize = 8 + 2 + 4 + 8 + 4 + 8 + 4 + 8;

/// The bytes of a snapshot. Producers are sorted by id, so that equal states give equal bytes.
pub(super) fn encode(states: &ProducerStates) -> Vec<u8> {
    let mut producers: Vec<_> = states.iter().collect();
    producers.sort_unstable_by_key(|(id, _)| *id);
    let rows: usize = producers
        .iter()
        .map(|(_, entry)| entry.batches().len())
        .sum();
    let mut bytes = Vec::with_capacity(HEAD_BYTES + rows * ROW_BYTES);
    bytes.extend_from_slice(&VERSION.to_be_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&i32::try_from(rows).unwrap_or(i32::MAX).to_be_bytes());
    for (id, entry) in producers {
        for batch in entry.batches() {
            bytes.extend_from_slice(&id.to_be_bytes());
            bytes.extend_from_slice(&entry.epoch.to_be_bytes());
            bytes.extend_from_slice(&batch.last_sequence.to_be_bytes());
            bytes.extend_from_slice(&batch.last_offset.to_be_bytes());
            bytes.extend_from_slice(&batch.offset_delta.to_be_bytes());
            bytes.extend_from_slice(&batch.timestamp_ms.to_be_bytes());
            bytes.extend_from_slice(&entry.coordinator_epoch.to_be_bytes());
            bytes.extend_from_slice(&entry.transaction_first_offset.to_be_bytes());
        }
    }
    let crc = crc32c(&bytes[6..]);
    bytes[2..6].copy_from_slice(&crc.to_be_bytes());
    bytes
}

/// Reads a snapshot. `None` when it is torn, damaged or of another version.
pub(super) fn decode(bytes: &[u8]) -> Option<ProducerStates> {
    let (version, rest) = take(bytes)?;
    let (crc, rest) = take(rest)?;
    if i16::from_be_bytes(version) != VERSION || u32::from_be_bytes(crc) != crc32c(rest) {
        return None;
    }
    let (count, rest) = take(rest)?;
    let (rows, torn) = rest.as_chunks::<ROW_BYTES>();
    if usize::try_from(i32::from_be_bytes(count)) != Ok(rows.len()) || !torn.is_empty() {
        return None;
    }
    let mut states = ProducerStates::default();
    for row in rows {
        let (id, rest) = take(row)?;
        let (epoch, rest) = take(rest)?;
        let (last_sequence, rest) = take(rest)?;
        let (last_offset, rest) = take(rest)?;
        let (offset_delta, rest) = take(rest)?;
        let (timestamp, rest) = take(rest)?;
        let (coordinator_epoch, rest) = take(rest)?;
        let (transaction_first_offset, _) = take(rest)?;
        let batch = ProducerBatch {
            last_sequence: i32::from_be_bytes(last_sequence),
            last_offset: i64::from_be_bytes(last_offset),
            offset_delta: i32::from_be_bytes(offset_delta),
            timestamp_ms: i64::from_be_bytes(timestamp),
        };
        let row = ProducerRow {
            epoch: i16::from_be_bytes(epoch),
            coordinator_epoch: i32::from_be_bytes(coordinator_epoch),
            transaction_first_offset: i64::from_be_bytes(transaction_first_offset),
            batch,
        };
        states.restore(i64::from_be_bytes(id), row);
    }
    Some(states)
}

fn take<const N: usize>(bytes: &[u8]) -> Option<([u8; N], &[u8])> {
    bytes
        .split_first_chunk::<N>()
        .map(|(taken, rest)| (*taken, rest))
}

impl PartitionLog {
    /// Writes the producers' states as they are at the log's end. Not flushed: if a crash takes it,
    /// an older one and more batches tell the same.
    pub(super) fn write_snapshot(&mut self) -> Result<(), LogError> {
        let at = self.next_offset;
        if let Err(index) = self.snapshots.binary_search(&at) {
            self.snapshots.insert(index, at);
        }
        self.names_changed += 1;
        let path = file_at(&self.dir, at, SNAPSHOT);
        let file = self.storage.open(&path, OpenMode::CreateOrTruncate)?;
        file.write_at(&encode(&self.producers), 0)?;
        Ok(())
    }

    /// Removes snapshots of offsets above the log's end and those that no segment begins with, but
    /// for the newest. True when there were any: the folder should be flushed, for a snapshot that
    /// a crash brings back would be of another history.
    pub(super) fn remove_stray_snapshots(&mut self) -> Result<bool, LogError> {
        let end = self.next_offset;
        let newest = self.snapshots.iter().copied().rfind(|at| *at <= end);
        let bases: Vec<i64> = self
            .segments
            .iter()
            .map(|segment| segment.base_offset)
            .collect();
        let needed = |at: i64| bases.binary_search(&at).is_ok() || Some(at) == newest;
        self.remove_snapshots(|at| at > end || !needed(at))
    }

    /// Removes all snapshots. True when there were any.
    pub(super) fn remove_all_snapshots(&mut self) -> Result<bool, LogError> {
        self.remove_snapshots(|_| true)
    }

    fn remove_snapshots(&mut self, goes: impl Fn(i64) -> bool) -> Result<bool, LogError> {
        let before = self.snapshots.len();
        let mut kept = Vec::new();
        for at in std::mem::take(&mut self.snapshots) {
            if goes(at) {
                self.remove_file_if_there(at, SNAPSHOT)?;
            } else {
                kept.push(at);
            }
        }
        self.snapshots = kept;
        Ok(self.snapshots.len() < before)
    }

    /// The newest good snapshot of the log, with its offset. One from before the first segment is
    /// of another history.
    fn newest_snapshot(&self) -> Result<Option<(i64, ProducerStates)>, LogError> {
        let range = self.segments[0].base_offset..=self.next_offset;
        for at in self
            .snapshots
            .iter()
            .copied()
            .rev()
            .filter(|at| range.contains(at))
        {
            let bytes = read_whole(&*self.storage, &file_at(&self.dir, at, SNAPSHOT))?;
            if let Some(states) = bytes.and_then(|bytes| decode(&bytes)) {
                return Ok(Some((at, states)));
            }
        }
        Ok(None)
    }

    /// Makes the producers' states those of the log's end: from the newest snapshot and the batches
    /// after it.
    pub(super) fn rebuild_producers(&mut self, now_ms: i64) -> Result<(), LogError> {
        let snapshot = self.newest_snapshot()?;
        let (from, states) =
            snapshot.unwrap_or((self.segments[0].base_offset, ProducerStates::default()));
        self.producers = states;
        let expiration_ms = self.config.producer_id_expiration_ms;
        self.producers.expire(now_ms, expiration_ms);
        if from >= self.next_offset {
            return Ok(());
        }
        for index in self.segment_index(from)..self.segments.len() {
            let (place, segment) = self.segment(index);
            let start = segment
                .find(place, from)?
                .map_or(segment.bytes, |found| found.position);
            let mut scan = segment.scan(place, start)?;
            while let Some(found) = scan.next()? {
                self.producers.note(&found.header);
            }
        }
        Ok(())
    }
}
