//! The controller's metadata on disk: a journal of changes, one line each, with a checksum.
//!
//! A line is the CRC-32C of the rest in eight hexadecimal digits, a space, the change as JSON and a
//! line feed. Appends are flushed before anybody hears of them. At the start the longest valid
//! prefix is read, what follows it is cut off, and the whole is written anew as a snapshot. A file
//! without a valid prefix is refused and left as it is. What has grown far beyond its last snapshot
//! while the cluster runs is written anew as well.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kgauge_wire::record_batch::crc32c;

use super::records::{Metadata, MetadataRecord};
use crate::storage::{OpenMode, Storage, StorageError, StorageFile, read_whole, replace_file};

const FILE_NAME: &str = "metadata.journal";

/// A journal is written anew when it is this large, and this many times what it was after the last
/// time.
const COMPACT_BYTES_MIN: u64 = 1 << 20;
const COMPACT_FACTOR: u64 = 4;

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
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    file: Arc<dyn StorageFile>,
    end: u64,
    /// It is written anew when it is larger than this.
    compact_at: u64,
    /// The least that `compact_at` may be.
    compact_bytes_min: u64,
}

impl Journal {
    /// Reads what is there, and leaves a fresh snapshot of it on disk.
    ///
    /// `begin` makes the first record of a new journal.
    pub(super) fn open(
        storage: &Arc<dyn Storage>,
        dir: &Path,
        begin: impl FnOnce() -> MetadataRecord,
    ) -> Result<(Self, Metadata), JournalError> {
        storage.create_dir_all(dir)?;
        let path = dir.join(FILE_NAME);
        let mut metadata = Metadata::default();
        let bytes = read_whole(&**storage, &path)?;
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
        replace_file(&**storage, &path, &bytes)?;
        storage.sync_dir(dir)?;
        let file = storage.open(&path, OpenMode::Existing)?;
        let mut journal = Self {
            storage: Arc::clone(storage),
            dir: dir.to_path_buf(),
            file,
            end: 0,
            compact_at: 0,
            compact_bytes_min: COMPACT_BYTES_MIN,
        };
        journal.begin_at(bytes.len() as u64);
        Ok((journal, metadata))
    }

    /// The file is a snapshot of so many bytes.
    fn begin_at(&mut self, bytes: u64) {
        self.end = bytes;
        self.compact_at = bytes
            .saturating_mul(COMPACT_FACTOR)
            .max(self.compact_bytes_min);
    }

    /// Writes the journal anew as a snapshot of `metadata`, which is what its records make, if it has
    /// grown enough for that.
    ///
    /// A crash at any moment leaves the old file or the new one, and both mean the same: nothing is
    /// appended before the new name is durable. A disk without room for a second file changes
    /// nothing. After any other error nobody knows which of the two a restart would find.
    pub(super) fn compact_if_due(&mut self, metadata: &Metadata) -> Result<(), StorageError> {
        if self.end <= self.compact_at {
            return Ok(());
        }
        let path = self.dir.join(FILE_NAME);
        let bytes = lines(&metadata.snapshot());
        match replace_file(&*self.storage, &path, &bytes) {
            Ok(()) => {}
            Err(error) if error.is_disk_full() => {
                // Not with every append.
                self.compact_at = self.end.saturating_add(self.compact_bytes_min);
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        self.storage.sync_dir(&self.dir)?;
        self.file = self.storage.open(&path, OpenMode::Existing)?;
        self.begin_at(bytes.len() as u64);
        Ok(())
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
    use crate::storage::{Crash, Fault, MemoryStorage, Operation};
    use std::io::ErrorKind;

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
        let storage = MemoryStorage::new().shared();
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

    /// A journal that is small enough to be written anew often.
    fn small(disk: &MemoryStorage) -> (Journal, Metadata) {
        let (mut journal, metadata) =
            Journal::open(&disk.shared(), Path::new("/c"), begin).unwrap();
        // The cluster's part: the name of the journal's own folder.
        disk.sync_dir(Path::new("/")).unwrap();
        journal.compact_bytes_min = 300;
        let end = journal.end;
        journal.begin_at(end);
        (journal, metadata)
    }

    /// Commits as the controller does. False when the disk failed.
    fn commit(journal: &mut Journal, metadata: &mut Metadata, next: i64) -> bool {
        let record = reserve(next);
        if journal.append(std::slice::from_ref(&record)).is_err() {
            return false;
        }
        metadata.apply(&record);
        journal.compact_if_due(metadata).is_ok()
    }

    fn size(disk: &MemoryStorage) -> u64 {
        let path = Path::new("/c").join(FILE_NAME);
        read_whole(disk, &path).unwrap().unwrap().len() as u64
    }

    #[test]
    fn it_stays_within_a_few_times_its_snapshot_and_means_the_same() {
        let disk = MemoryStorage::new();
        let (mut journal, mut metadata) = small(&disk);
        let snapshot = size(&disk);
        for next in 1..=1000 {
            assert!(commit(&mut journal, &mut metadata, next));
            assert!(size(&disk) < 2 * COMPACT_FACTOR * snapshot.max(300));
        }
        let (_, again) = small(&disk);
        assert_eq!(again.producer_id_next, 1000);
        assert_eq!(again.image.version, metadata.image.version);
        assert_eq!(again.image.cluster_id, metadata.image.cluster_id);
    }

    #[test]
    fn a_journal_below_a_mebibyte_is_left_as_it_is() {
        let disk = MemoryStorage::new();
        let (mut journal, mut metadata) =
            Journal::open(&disk.shared(), Path::new("/c"), begin).unwrap();
        let record = MetadataRecord::NodeConfigs {
            node: None,
            configs: [("a".to_owned(), "x".repeat(4000))].into(),
        };
        let mut before = 0;
        while before <= journal.end {
            before = journal.end;
            journal.append(std::slice::from_ref(&record)).unwrap();
            metadata.apply(&record);
            journal.compact_if_due(&metadata).unwrap();
        }
        let line = lines(&[record]).len() as u64;
        assert!(before <= COMPACT_BYTES_MIN, "{before}");
        assert!(before + line > COMPACT_BYTES_MIN, "{before}");
        assert!(size(&disk) < 2 * line, "{}", size(&disk));
        let (_, again) = small(&disk);
        assert_eq!(again.image.configs_of(None)["a"].len(), 4000);
    }

    /// Each step of a compaction fails once, and then the machine dies in every way it can.
    #[test]
    fn a_crash_in_the_middle_of_compaction_keeps_what_was_committed() {
        let steps = [
            Operation::Open,
            Operation::Write,
            Operation::SyncData,
            Operation::Rename,
            Operation::SyncDir,
        ];
        let mut interrupted = 0;
        for operation in steps {
            for successes_before in 0..40 {
                for seed in 0..8 {
                    let disk = MemoryStorage::new();
                    let (mut journal, mut metadata) = small(&disk);
                    disk.inject(Fault {
                        successes_before,
                        ..Fault::once(operation, "/c", ErrorKind::Other)
                    });
                    let mut committed = 0;
                    let mut tried = 0;
                    while tried < 40 {
                        tried += 1;
                        if !commit(&mut journal, &mut metadata, tried) {
                            break;
                        }
                        committed = tried;
                    }
                    // The record of a commit that failed may be there or not.
                    committed = committed.max(metadata.producer_id_next);
                    interrupted += usize::from(metadata.producer_id_next == tried && tried < 40);
                    disk.crash(match seed {
                        0 => Crash::LoseUnflushed,
                        1 => Crash::KeepEverything,
                        2 => Crash::TearLastWrite { bytes_kept: 20 },
                        seed => Crash::Random { seed },
                    });
                    let (mut journal, mut again) = small(&disk);
                    let found = again.producer_id_next;
                    assert!(
                        (committed..=tried).contains(&found),
                        "{operation:?} {successes_before} {seed}: {found}, not {committed}"
                    );
                    assert_eq!(&*again.image.cluster_id, "c");
                    // It works on.
                    assert!((100..140).all(|next| commit(&mut journal, &mut again, next)));
                }
            }
        }
        assert!(interrupted > 100, "{interrupted} compactions were hit");
    }

    #[test]
    fn a_full_disk_leaves_the_journal_as_it_was() {
        let disk = MemoryStorage::new();
        let (mut journal, mut metadata) = small(&disk);
        // Room for the journal, but for no second file beside it.
        disk.inject(Fault::always(
            Operation::Write,
            ".tmp",
            ErrorKind::StorageFull,
        ));
        assert!((1..=40).all(|next| commit(&mut journal, &mut metadata, next)));
        let grown = size(&disk);
        assert!(grown > 1000, "{grown}");
        disk.heal();
        assert!((41..=60).all(|next| commit(&mut journal, &mut metadata, next)));
        assert!(size(&disk) < grown, "{}", size(&disk));
        disk.crash(Crash::LoseUnflushed);
        assert_eq!(small(&disk).1.producer_id_next, 60);
    }
}
