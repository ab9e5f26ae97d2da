//! The controller's metadata on disk: a journal of changes with checksums.
//!
//! A line is the CRC-32C of the rest in eight hexadecimal digits, a space, a change (or a list of them)
//! as JSON and a line feed. Changes that are made together are one line, and a line is flushed before
//! the next is written. So a crash can leave only the last line unfinished, which is then cut off. Any
//! other damage is refused, and the file stays as it is. At the start, and whenever the journal has
//! grown far beyond its last snapshot, the whole is rewritten as a snapshot; the file before is kept
//! as a copy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kgauge_wire::record_batch::crc32c;
use serde::Serialize;

use super::records::{ClusterMetadata, MetadataRecord};
use crate::storage::{OpenMode, Storage, StorageError, StorageFile, read_whole, replace_file};

const FILE_NAME: &str = "metadata.journal";
/// The file as it was before it was rewritten.
const COPY_NAME: &str = "metadata.journal.bak";

/// A journal is rewritten when it is this large, and this many times what it was after the last
/// time.
const COMPACT_BYTES_MIN: u64 = 1 << 20;
const COMPACT_FACTOR: u64 = 4;

/// The journal could not be opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The disk failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A line is damaged, and it is not the end of a write that a crash cut short.
    #[error(
        "line {line} of {} is damaged, and not by a crash. Nothing was changed. Restore a copy \
         ({COPY_NAME} next to it is an older one, if it exists), or remove the cluster's folder \
         to start with an empty cluster",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// A line carries a right checksum, yet is not understood: written by another version.
    #[error("cannot parse line {line} of {}: {words}", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The parser's message.
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
    /// It is rewritten when it is larger than this.
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
    ) -> Result<(Self, ClusterMetadata), JournalError> {
        storage.create_dir_all(dir)?;
        let path = dir.join(FILE_NAME);
        let mut metadata = ClusterMetadata::default();
        let bytes = read_whole(&**storage, &path)?;
        let before = bytes.unwrap_or_default();
        let records = parse(&before, &path)?;
        records.iter().for_each(|record| metadata.apply(record));
        if records.is_empty() {
            metadata.apply(&begin());
        }
        let bytes = lines(&metadata.snapshot());
        if !before.is_empty() && before != bytes {
            replace_file(&**storage, &dir.join(COPY_NAME), &before)?;
        }
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

    /// The file is a snapshot of this many bytes.
    fn begin_at(&mut self, bytes: u64) {
        self.end = bytes;
        self.compact_at = bytes
            .saturating_mul(COMPACT_FACTOR)
            .max(self.compact_bytes_min);
    }

    /// Rewrites the journal as a snapshot of `metadata`, which is what its records make, if it has
    /// grown enough for that.
    ///
    /// A crash at any moment leaves the old file or the new one, and both mean the same: nothing is
    /// appended before the new name is durable. A disk without room for a second file changes
    /// nothing. After any other error nobody knows which of the two a restart would find.
    pub(super) fn compact_if_due(
        &mut self,
        metadata: &ClusterMetadata,
    ) -> Result<(), StorageError> {
        if self.end <= self.compact_at {
            return Ok(());
        }
        let path = self.dir.join(FILE_NAME);
        let bytes = lines(&metadata.snapshot());
        match self
            .keep_copy()
            .and_then(|()| replace_file(&*self.storage, &path, &bytes))
        {
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

    fn keep_copy(&self) -> Result<(), StorageError> {
        let bytes = read_whole(&*self.storage, &self.dir.join(FILE_NAME))?;
        let copy = self.dir.join(COPY_NAME);
        replace_file(&*self.storage, &copy, &bytes.unwrap_or_default())
    }

    /// Writes records that are made together, and flushes them.
    pub(super) fn append(&mut self, records: &[MetadataRecord]) -> Result<(), StorageError> {
        let bytes = match records {
            [] => return Ok(()),
            [record] => line(record),
            records => line(records),
        };
        if let Err(error) = self.file.write_at(&bytes, self.end) {
            // What a full disk took of it must not stay behind a shorter line.
            let _ = self.file.truncate(self.end);
            return Err(error);
        }
        self.file.sync_data()?;
        self.end += bytes.len() as u64;
        Ok(())
    }
}

fn lines(records: &[MetadataRecord]) -> Vec<u8> {
    records.iter().flat_map(line).collect()
}

fn line<T: Serialize + ?Sized>(change: &T) -> Vec<u8> {
    let json = serde_json::to_string(change).expect("records have only text keys");
    format!("{:08x} {json}\n", crc32c(json.as_bytes())).into_bytes()
}

/// All records, but for a last line that a crash left unfinished.
fn parse(bytes: &[u8], path: &Path) -> Result<Vec<MetadataRecord>, JournalError> {
    let mut records = Vec::new();
    let mut rest = bytes;
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let Some(json) = intact(line) else {
            if index == 0 || holds_intact_line(rest) {
                return Err(JournalError::Damaged {
                    path: path.to_path_buf(),
                    line: index + 1,
                });
            }
            return Ok(records);
        };
        let parsed = match json.first() {
            Some(b'[') => serde_json::from_slice(json).map(|mut all| records.append(&mut all)),
            _ => serde_json::from_slice(json).map(|record| records.push(record)),
        };
        parsed.map_err(|error| JournalError::Unknown {
            path: path.to_path_buf(),
            line: index + 1,
            words: error.to_string(),
        })?;
        rest = &rest[line.len()..];
    }
    Ok(records)
}

/// Whether a whole line begins anywhere, also where the line feed before it was lost.
fn holds_intact_line(bytes: &[u8]) -> bool {
    let begins = |at: &usize| {
        let head = bytes.get(*at..*at + 10);
        head.is_some_and(|head| {
            let (sum, rest) = head.split_at(8);
            sum.iter().all(u8::is_ascii_hexdigit) && matches!(rest, b" {" | b" [")
        })
    };
    (0..bytes.len()).filter(begins).any(|at| {
        let line = bytes[at..].split_inclusive(|byte| *byte == b'\n').next();
        line.and_then(intact).is_some()
    })
}

/// The JSON of a whole line with a right checksum.
fn intact(line: &[u8]) -> Option<&[u8]> {
    let (sum, json) = line.strip_suffix(b"\n")?.split_at_checked(9)?;
    let sum = std::str::from_utf8(sum).ok()?.strip_suffix(' ')?;
    let expected = u32::from_str_radix(sum, 16).ok()?;
    (crc32c(json) == expected).then_some(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Crash, DiskFault, MemoryStorage, Operation};
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

    /// A journal of four lines, the third of which holds two records; and where each line ends.
    fn four_lines() -> (Vec<u8>, Vec<usize>) {
        let together = line(&[reserve(2), reserve(3)][..]);
        let whole = [
            lines(&[begin(), reserve(1)]),
            together,
            lines(&[reserve(4)]),
        ]
        .concat();
        let ends = whole.iter().enumerate().filter(|(_, b)| **b == b'\n');
        let ends = ends.map(|(index, _)| index + 1).collect();
        (whole, ends)
    }

    const RECORDS_BEFORE: [usize; 5] = [0, 1, 2, 4, 5];

    #[test]
    fn a_torn_last_line_is_cut_off_wherever_it_was_torn() {
        let (whole, ends) = four_lines();
        for cut in 0..=whole.len() {
            let lines = ends.iter().filter(|end| **end <= cut).count();
            match parse(&whole[..cut], Path::new("j")) {
                Ok(records) => assert_eq!(records.len(), RECORDS_BEFORE[lines], "{cut}"),
                Err(JournalError::Damaged { line: 1, .. }) => assert!(lines == 0 && cut > 0),
                Err(error) => panic!("{cut}: {error}"),
            }
        }
        // The system may have kept its length and lost its bytes.
        let mut zeros = whole.clone();
        zeros[ends[2]..].fill(0);
        assert_eq!(parse(&zeros, Path::new("j")).unwrap().len(), 4);
    }

    #[test]
    fn a_flipped_byte_in_any_line_but_the_last_is_damage() {
        let (whole, ends) = four_lines();
        for flip in 0..whole.len() {
            for bit in [1, 0x80] {
                let mut bytes = whole.clone();
                bytes[flip] ^= bit;
                let damaged = ends.iter().filter(|end| **end <= flip).count() + 1;
                match parse(&bytes, Path::new("j")) {
                    Err(JournalError::Damaged { line, .. }) => {
                        assert!(line == damaged && damaged < 4, "{flip}: line {line}");
                    }
                    // It cannot be distinguished from one that a crash cut short.
                    Ok(records) => assert!(records.len() == 4 && damaged == 4, "{flip}"),
                    Err(error) => panic!("{flip}: {error}"),
                }
            }
        }
    }

    #[test]
    fn damage_changes_nothing_and_a_torn_end_is_kept_in_the_copy() {
        let (whole, ends) = four_lines();
        let dir = Path::new("/c");
        let read = |disk: &MemoryStorage, name: &str| read_whole(disk, &dir.join(name)).unwrap();
        for (position, is_refused) in [(ends[0] + 12, true), (ends[2] + 12, false)] {
            let mut bytes = whole.clone();
            bytes[position] ^= 1;
            let disk = MemoryStorage::new();
            disk.create_dir_all(dir).unwrap();
            replace_file(&disk, &dir.join(FILE_NAME), &bytes).unwrap();
            let opened = Journal::open(&disk.shared(), dir, || panic!("not new"));
            assert_eq!(opened.is_err(), is_refused);
            if let Err(error) = &opened {
                let words = error.to_string();
                assert!(
                    words.starts_with("line 2 of /c/metadata.journal is damaged"),
                    "{words}"
                );
                assert_eq!(read(&disk, FILE_NAME), Some(bytes.clone()));
                assert_eq!(read(&disk, COPY_NAME), None);
            } else {
                assert_eq!(read(&disk, COPY_NAME), Some(bytes));
            }
        }
    }

    #[test]
    fn records_that_are_made_together_cost_one_flush() {
        let disk = MemoryStorage::new();
        let storage = disk.shared();
        let (mut journal, _) = Journal::open(&storage, Path::new("/c"), begin).unwrap();
        // A second flush would fail.
        disk.inject(DiskFault {
            successes_before: 1,
            ..DiskFault::always(Operation::SyncData, "/c", ErrorKind::Other)
        });
        let thousand: Vec<_> = (1..=1000).map(reserve).collect();
        journal.append(&thousand).unwrap();
        disk.clear_faults();
        let (_, metadata) = Journal::open(&storage, Path::new("/c"), begin).unwrap();
        assert_eq!(metadata.producer_id_next, 1000);
    }

    #[test]
    fn what_a_full_disk_took_of_a_line_does_not_come_back() {
        let disk = MemoryStorage::new();
        let storage = disk.shared();
        let (mut journal, _) = Journal::open(&storage, Path::new("/c"), begin).unwrap();
        let journal_end = journal.end;
        let long: Vec<_> = (1..=100).map(reserve).collect();
        disk.inject(DiskFault::once(
            Operation::Write,
            "/c",
            ErrorKind::StorageFull,
        ));
        assert!(journal.append(&long).unwrap_err().is_disk_full());
        assert_eq!(journal.file.len().unwrap(), journal_end);
        journal.append(&[reserve(7)]).unwrap();
        let (_, metadata) = Journal::open(&storage, Path::new("/c"), begin).unwrap();
        assert_eq!(metadata.producer_id_next, 7);
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

    /// A journal that is small enough to be rewritten often.
    fn small(disk: &MemoryStorage) -> (Journal, ClusterMetadata) {
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
    fn commit(journal: &mut Journal, metadata: &mut ClusterMetadata, next: i64) -> bool {
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
                    disk.inject(DiskFault {
                        successes_before,
                        ..DiskFault::once(operation, "/c", ErrorKind::Other)
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
        disk.inject(DiskFault::always(
            Operation::Write,
            ".tmp",
            ErrorKind::StorageFull,
        ));
        assert!((1..=40).all(|next| commit(&mut journal, &mut metadata, next)));
        let grown = size(&disk);
        assert!(grown > 1000, "{grown}");
        disk.clear_faults();
        assert!((41..=60).all(|next| commit(&mut journal, &mut metadata, next)));
        assert!(size(&disk) < grown, "{}", size(&disk));
        disk.crash(Crash::LoseUnflushed);
        assert_eq!(small(&disk).1.producer_id_next, 60);
    }
}
