//! A replica's log, read from the files of a broker that kgauge started. Followers before Kafka 2.4 answer no consumer.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use kgauge_verify::ReplicaDigest;

/// Bytes of a batch up to its last offset delta; a message of the formats before is at least as long.
const HEAD_BYTES: usize = 27;

/// Bytes before those that a batch's length counts.
const LENGTH_FROM: u64 = 12;

/// The format of record batches; those before it are message sets.
const MAGIC_BATCH: u8 = 2;

/// The part of a partition that is compared.
pub(super) struct ComparedRange<'a> {
    pub(super) topic: &'a str,
    pub(super) partition: u32,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The start of a batch or of a message.
struct BatchHead {
    base_offset: u64,
    next_offset: u64,
    bytes: u64,
    crc: u32,
    leader_epoch: i32,
}

impl BatchHead {
    /// `None` at the end of what was written.
    fn read(head: &[u8; HEAD_BYTES]) -> Option<BatchHead> {
        let word = |at: usize| head.get(at..)?.first_chunk::<4>().copied();
        let base_offset = u64::from_be_bytes(*head.first_chunk::<8>()?);
        let length = u32::from_be_bytes(word(8)?);
        // Files may be allocated beyond their contents.
        if length == 0 {
            return None;
        }
        let is_batch = head[16] == MAGIC_BATCH;
        let last_delta = match is_batch {
            true => u64::from(u32::from_be_bytes(word(23)?)),
            false => 0,
        };
        Some(BatchHead {
            base_offset,
            next_offset: base_offset.checked_add(last_delta)?.checked_add(1)?,
            bytes: u64::from(length) + LENGTH_FROM,
            crc: u32::from_be_bytes(word(if is_batch { 17 } else { 12 })?),
            leader_epoch: match is_batch {
                true => i32::from_be_bytes(word(12)?),
                false => -1,
            },
        })
    }
}

/// The digest of a replica in these data folders; `None` if its files do not have the whole range from its start.
pub(super) fn digest(dirs: &[PathBuf], range: &ComparedRange<'_>) -> Option<ReplicaDigest> {
    let name = format!("{}-{}", range.topic, range.partition);
    let mut dirs = dirs.iter().map(|dir| dir.join(&name));
    let dir = dirs.find(|dir| dir.is_dir())?;
    let segments = segments(&dir)?;
    let (first, _) = segments.first()?;
    if *first > range.start {
        return None;
    }
    let mut digest = ReplicaDigest::from(range.start);
    for (_, segment) in &segments {
        note_segment(segment, range, &mut digest).ok()?;
    }
    Some(digest)
}

/// The segments of a log by their first offsets.
fn segments(dir: &Path) -> Option<Vec<(u64, PathBuf)>> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(dir).ok()? {
        let path = entry.ok()?.path();
        let is_log = path.extension().is_some_and(|ending| ending == "log");
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let base = stem.and_then(|stem| stem.parse().ok());
        segments.extend(base.filter(|_| is_log).map(|base| (base, path.clone())));
    }
    segments.sort();
    Some(segments)
}

fn note_segment(
    path: &Path,
    range: &ComparedRange<'_>,
    digest: &mut ReplicaDigest,
) -> std::io::Result<()> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    loop {
        let mut head = [0; HEAD_BYTES];
        match file.read_exact(&mut head) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let Some(batch) = BatchHead::read(&head) else {
            return Ok(());
        };
        if batch.base_offset >= range.start && batch.next_offset <= range.end {
            digest.note(batch.base_offset, batch.crc, batch.leader_epoch);
        }
        let rest = i64::try_from(batch.bytes).unwrap_or(i64::MAX) - HEAD_BYTES as i64;
        file.seek_relative(rest)?;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn batch(base: u64, records: u32, epoch: i32, crc: u32) -> Vec<u8> {
        let mut bytes = vec![0; 61 + 9];
        bytes[..8].copy_from_slice(&base.to_be_bytes());
        bytes[8..12].copy_from_slice(&(58_u32).to_be_bytes());
        bytes[12..16].copy_from_slice(&epoch.to_be_bytes());
        bytes[16] = MAGIC_BATCH;
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        bytes[23..27].copy_from_slice(&(records - 1).to_be_bytes());
        bytes
    }

    fn written(dir: &Path, segments: &[(u64, Vec<Vec<u8>>)]) -> Vec<PathBuf> {
        let log = dir.join("t-3");
        fs::create_dir_all(&log).unwrap();
        for (base, batches) in segments {
            let mut file = File::create(log.join(format!("{base:020}.log"))).unwrap();
            batches
                .iter()
                .for_each(|batch| file.write_all(batch).unwrap());
        }
        File::create(log.join("leader-epoch-checkpoint")).unwrap();
        vec![dir.join("elsewhere"), dir.to_owned()]
    }

    fn range(start: u64, end: u64) -> ComparedRange<'static> {
        ComparedRange {
            topic: "t",
            partition: 3,
            start,
            end,
        }
    }

    #[test]
    fn a_log_of_several_segments_has_the_digest_of_its_batches() {
        let dir = tempfile::tempdir().unwrap();
        let segments = [
            (0, vec![batch(0, 5, 1, 11), batch(5, 1, 1, 12)]),
            (6, vec![batch(6, 4, 2, 13), vec![0; 40]]),
        ];
        let dirs = written(dir.path(), &segments);
        let mut expected = ReplicaDigest::from(0);
        expected.note(0, 11, 1);
        expected.note(5, 12, 1);
        assert_eq!(digest(&dirs, &range(0, 9)).unwrap(), expected);
        expected.note(6, 13, 2);
        assert_eq!(digest(&dirs, &range(0, 10)).unwrap(), expected);
    }

    #[test]
    fn a_log_without_its_beginning_is_not_compared() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = written(dir.path(), &[(7, vec![batch(7, 1, 1, 1)])]);
        assert!(digest(&dirs, &range(0, 8)).is_none());
        assert!(digest(&dirs, &range(7, 8)).is_some());
        assert!(digest(&dirs[..1], &range(7, 8)).is_none());
    }
}
