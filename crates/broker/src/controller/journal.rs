//! The controller's metadata on disk: a journal of changes, one line each, with a checksum.
//!
//! A line is the CRC-32C of the rest in eight hexadecimal digits, a space, the change as JSON and a
//! line feed. Appends are flushed before anybody hears of them. At the start the longest valid
//! prefix is read, what follows it is cut off, and the whole is written anew as a snapshot. A file
//! without a valid prefix is refused and left as it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kgauge_wire::record_batch::crc32c;

use super::records::{Metadata, MetadataRecord};
use crate::storage::{OpenMode, Storage, StorageError, StorageFile, read_whole, replace_file};

const FILE_NAME: &str = "metadata.journal";

/// The journal could not be opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The disk failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Not even the first line is whole. It was written at once and flushed, so no crash did that.
    #[error(
        "the first line of {} is damaged; put a copy of the file in its place, or remove the \
         cluster's folder to begin anew",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// A line carries a right checksum, yet is not understood: written by another version.
    #[error("line {line} of {} is not understood: {words}", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What the parser said.
        words: String,
    },
}

/// The open journal.
#[derive(Debug)]
pub(super) struct Journal {
    file: Arc<dyn StorageFile>,
    end: u64,
}

impl Journal {
    /// Reads what is there, and leaves a fresh snapshot of it on disk.
    ///
    /// `begin` makes the first record of a new journal.
    pub(super) fn open(
        storage: &dyn Storage,
        dir: &Path,
        begin: impl FnOnce() -> MetadataRecord,
    ) -> Result<(Self, Metadata), JournalError> {
        storage.create_dir_all(dir)?;
        let path = dir.join(FILE_NAME);
        let mut metadata = Metadata::default();
        let bytes = read_whole(storage, &path)?;
        let is_empty = bytes.as_ref().is_none_or(Vec::is_empty);
        let records = match bytes {
            Some(bytes) => parse(&bytes, &path)?,
            None => Vec::new(),
        };
        if records.is_empty() && !is_empty {
            return Err(JournalError::Damaged { path });
        }
        records.iter().for_each(|record| metadata.apply(record));
        if records.is_empty() {
            metadata.apply(&begin());
        }
        let bytes = lines(&metadata.snapshot());
        replace_file(storage, &path, &bytes)?;
        storage.sync_dir(dir)?;
        let file = storage.open(&path, OpenMode::Existing)?;
        Ok((
            Self {
                file,
                end: bytes.len() as u64,
            },
            metadata,
        ))
    }

    /// Writes records and flushes them.
    pub(super) fn append(&mut self, records: &[MetadataRecord]) -> Result<(), StorageError> {
        if records.is_empty() {
            return Ok(());
        }
        let bytes = lines(records);
        self.file.write_at(&bytes, self.end)?;
        self.file.sync_data()?;
        self.end += bytes.len() as u64;
        Ok(())
    }
}

fn lines(records: &[MetadataRecord]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        let json = serde_json::to_string(record).expect("records have only text keys");
        bytes.extend_from_slice(format!("{:08x} {json}\n", crc32c(json.as_bytes())).as_bytes());
    }
    bytes
}

/// The records of the longest valid prefix.
fn parse(bytes: &[u8], path: &Path) -> Result<Vec<MetadataRecord>, JournalError> {
    let mut records = Vec::new();
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let Some(json) = intact(line) else { break };
        let record = serde_json::from_slice(json).map_err(|error| JournalError::Unknown {
            path: path.to_path_buf(),
            line: index + 1,
            words: error.to_string(),
        })?;
        records.push(record);
    }
    Ok(records)
}

/// The JSON of a whole line with a right checksum.
fn intact(line: &[u8]) -> Option<&[u8]> {
    let (sum, json) = line.strip_suffix(b"\n")?.split_at_checked(9)?;
    let sum = std::str::from_utf8(sum).ok()?.strip_suffix(' ')?;
    let wanted = u32::from_str_radix(sum, 16).ok()?;
    (crc32c(json) == wanted).then_some(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStorage;

    fn begin() -> MetadataRecord {
        MetadataRecord::Cluster {
            cluster_id: "c".to_owned(),
            version: 0,
        }
    }

    fn reserve(next: i64) -> MetadataRecord {
        MetadataRecord::ProducerIds { next }
    }

    #[test]
    fn what_was_appended_is_there_after_a_restart() {
        let storage = MemoryStorage::new();
        let dir = Path::new("/c");
        let (mut journal, _) = Journal::open(&storage, dir, begin).unwrap();
        journal.append(&[reserve(1000), reserve(2000)]).unwrap();
        let (_, metadata) = Journal::open(&storage, dir, || panic!("not new")).unwrap();
        assert_eq!(metadata.producer_id_next, 2000);
        assert_eq!(&*metadata.image.cluster_id, "c");
    }

    #[test]
    fn a_journal_cut_or_damaged_anywhere_gives_the_longest_valid_prefix() {
        let whole = lines(&[begin(), reserve(1), reserve(2)]);
        let ends: Vec<usize> = whole
            .iter()
            .enumerate()
            .filter(|(_, b)| **b == b'\n')
            .map(|(i, _)| i + 1)
            .collect();
        for cut in 0..=whole.len() {
            let records = parse(&whole[..cut], Path::new("j")).unwrap();
            assert_eq!(
                records.len(),
                ends.iter().filter(|end| **end <= cut).count()
            );
        }
        for flip in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[flip] ^= 1;
            let records = parse(&bytes, Path::new("j")).unwrap();
            assert_eq!(
                records.len(),
                ends.iter().filter(|end| **end <= flip).count(),
                "{flip}"
            );
        }
    }

    #[test]
    fn a_change_of_another_version_is_an_error_and_not_cut_off() {
        let json = br#"{"change":"moon-phase"}"#;
        let line = [format!("{:08x} ", crc32c(json)).as_bytes(), json, b"\n"].concat();
        assert!(matches!(
            parse(&line, Path::new("j")),
            Err(JournalError::Unknown { line: 1, .. })
        ));
    }
}
