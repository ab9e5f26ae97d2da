//! A disk that uses the files of removed logs again, for clusters whose data nobody keeps.
//!
//! A removed file gives its pages back to the kernel, and the next log takes new ones. On a virtual machine whose
//! memory balloon reports free pages to the hypervisor (VIRTIO_BALLOON_F_REPORTING, virtio 1.2, section 5.5.6.7), each
//! new page is then fetched from the hypervisor again, which halves the speed of writes and makes it vary. A log that
//! writes into the file of a removed one uses memory that the machine has already.
//!
//! Such a file is longer than its content, so this disk knows the lengths, also of files that are opened again. They
//! are lost with the process: what is found on the disk later has remains of other logs behind its end. A consumer that
//! reads a removed log might also see bytes of the next one. So only a run's own cluster is stored like this.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    DirEntry, EntryKind, OpenMode, RealStorage, Space, Storage, StorageFile, StorageResult,
};

const LOG_EXTENSION: &str = "log";

/// A disk that uses the files of removed logs again.
#[derive(Debug)]
pub struct ReusingStorage {
    inner: RealStorage,
    /// The folder of files that are not in use. It must be on the file system of the logs.
    spare_dir: PathBuf,
    /// Bytes that these files may have. More would only take memory from others.
    spare_bytes_max: u64,
    files: Mutex<Files>,
}

#[derive(Debug, Default)]
struct Files {
    /// The lengths of logs by inode, which stays the same when a file or its folder gets another name.
    lengths: HashMap<u64, Arc<AtomicU64>>,
    spares: Vec<Spare>,
    spares_ever: u64,
}

/// A file that the next log may use.
#[derive(Debug)]
struct Spare {
    path: PathBuf,
    bytes: u64,
    /// Held by everybody who still reads what the file was.
    length: Arc<AtomicU64>,
}

impl ReusingStorage {
    /// Keeps up to `spare_bytes_max` bytes of removed logs in `spare_dir`, which is created when it is needed.
    #[must_use]
    pub fn new(spare_dir: PathBuf, spare_bytes_max: u64) -> Self {
        Self {
            inner: RealStorage,
            spare_dir,
            spare_bytes_max,
            files: Mutex::default(),
        }
    }

    /// Makes files of `file_bytes` each, `bytes` in all, for the first logs. Their pages are in memory, and nothing is
    /// written: they are holes that were read once. What the disk refuses is left out.
    pub fn prepare(&self, bytes: u64, file_bytes: u64) {
        const READ_BYTES: usize = 1 << 20;
        let mut files = self.files();
        let mut buffer = vec![0; READ_BYTES];
        for _ in 0..bytes.checked_div(file_bytes).unwrap_or(0) {
            let path = self.next_spare_path(&mut files);
            let made = fs::create_dir_all(&self.spare_dir)
                .and_then(|()| File::create_new(&path))
                .and_then(|file| file.set_len(file_bytes))
                .and_then(|()| File::open(&path))
                .and_then(|mut file| {
                    while file.read(&mut buffer)? > 0 {}
                    Ok(())
                });
            if made.is_err() {
                let _ = fs::remove_file(&path);
                return;
            }
            files.spares.push(Spare {
                path,
                bytes: file_bytes,
                length: Arc::default(),
            });
        }
    }

    fn next_spare_path(&self, files: &mut Files) -> PathBuf {
        files.spares_ever += 1;
        self.spare_dir.join(files.spares_ever.to_string())
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a new log the largest spare file. Nothing happens if there is none, or if it cannot be had.
    fn take_spare(&self, path: &Path, files: &mut Files) {
        let unread = |(_, spare): &(usize, &Spare)| Arc::strong_count(&spare.length) == 1;
        let spares = files.spares.iter().enumerate().filter(unread);
        let Some((largest, _)) = spares.max_by_key(|(_, spare)| spare.bytes) else {
            return;
        };
        let spare = files.spares.swap_remove(largest);
        let metadata = fs::metadata(&spare.path);
        match metadata.and_then(|metadata| fs::rename(&spare.path, path).map(|()| metadata)) {
            Ok(metadata) => {
                spare.length.store(0, Ordering::Release);
                files.lengths.insert(metadata.ino(), spare.length);
            }
            // Nobody counts its bytes any more.
            Err(_) => {
                let _ = fs::remove_file(&spare.path);
            }
        }
    }

    /// Sets a removed log aside, if it is one that may be used again. A file with no more than a page is not worth it.
    fn set_aside(&self, path: &Path) -> bool {
        const BYTES_MIN: u64 = 4096;
        let Ok(metadata) = fs::symlink_metadata(path) else {
            return false;
        };
        let mut files = self.files();
        let Some(length) = files.lengths.remove(&metadata.ino()) else {
            return false;
        };
        let bytes = metadata.len();
        let spare_bytes: u64 = files.spares.iter().map(|spare| spare.bytes).sum();
        if bytes <= BYTES_MIN || spare_bytes + bytes > self.spare_bytes_max {
            return false;
        }
        let spare = self.next_spare_path(&mut files);
        if fs::create_dir_all(&self.spare_dir).is_err() || fs::rename(path, &spare).is_err() {
            return false;
        }
        files.spares.push(Spare {
            path: spare,
            bytes,
            length,
        });
        true
    }

    fn set_folder_aside(&self, dir: &Path) {
        let Ok(entries) = fs::read_dir(dir) else {
            return;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.set_folder_aside(&path),
                Ok(kind) if kind.is_file() && is_log(&path) => {
                    self.set_aside(&path);
                }
                _ => {}
            }
        }
    }
}

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == LOG_EXTENSION)
}

impl Storage for ReusingStorage {
    fn create_dir_all(&self, dir: &Path) -> StorageResult<()> {
        self.inner.create_dir_all(dir)
    }

    fn list(&self, dir: &Path) -> StorageResult<Vec<DirEntry>> {
        let mut entries = self.inner.list(dir)?;
        let files = self.files();
        for entry in &mut entries {
            let path = dir.join(&entry.name);
            if entry.kind == EntryKind::File
                && is_log(&path)
                && let Ok(metadata) = fs::metadata(&path)
                && let Some(length) = files.lengths.get(&metadata.ino())
            {
                entry.len = length.load(Ordering::Acquire);
            }
        }
        Ok(entries)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> StorageResult<Arc<dyn StorageFile>> {
        if !is_log(path) {
            return self.inner.open(path, mode);
        }
        let mut files = self.files();
        if mode != OpenMode::Existing && !path.exists() {
            self.take_spare(path, &mut files);
        }
        // What is emptied keeps its pages.
        let inner = match mode {
            OpenMode::CreateOrTruncate => self.inner.open(path, OpenMode::CreateOrOpen)?,
            mode => self.inner.open(path, mode)?,
        };
        let physical = inner.len()?;
        let inode = inner.os_file().map(File::metadata);
        let inode = match inode {
            Some(Ok(metadata)) => metadata.ino(),
            _ => return Ok(inner),
        };
        let length = files.lengths.entry(inode);
        let length = Arc::clone(length.or_insert_with(|| Arc::new(AtomicU64::new(physical))));
        if mode == OpenMode::CreateOrTruncate {
            length.store(0, Ordering::Release);
        }
        Ok(Arc::new(ReusedFile { inner, length }))
    }

    fn rename(&self, from: &Path, to: &Path) -> StorageResult<()> {
        self.inner.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> StorageResult<()> {
        if is_log(path) && self.set_aside(path) {
            return Ok(());
        }
        self.inner.remove_file(path)
    }

    fn remove_dir_all(&self, dir: &Path) -> StorageResult<()> {
        self.set_folder_aside(dir);
        self.inner.remove_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> StorageResult<()> {
        self.inner.sync_dir(dir)
    }

    fn space(&self, dir: &Path) -> StorageResult<Space> {
        self.inner.space(dir)
    }
}

/// A log whose file may be longer than its content.
#[derive(Debug)]
struct ReusedFile {
    inner: Arc<dyn StorageFile>,
    length: Arc<AtomicU64>,
}

impl StorageFile for ReusedFile {
    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn len(&self) -> StorageResult<u64> {
        Ok(self.length.load(Ordering::Acquire))
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> StorageResult<usize> {
        let left = self.len()?.saturating_sub(position);
        let count = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        self.inner.read_at(&mut buffer[..count], position)
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> StorageResult<()> {
        let length = self.len()?;
        if position > length {
            // Zeros in between, not what another log had there.
            self.inner.truncate(length)?;
        }
        self.inner.write_at(bytes, position)?;
        let end = position.saturating_add(bytes.len() as u64);
        self.length.fetch_max(end, Ordering::AcqRel);
        Ok(())
    }

    fn truncate(&self, len: u64) -> StorageResult<()> {
        let length = self.len()?;
        if len > length {
            self.inner.truncate(length)?;
            self.inner.truncate(len)?;
        }
        self.length.store(len, Ordering::Release);
        Ok(())
    }

    fn sync_data(&self) -> StorageResult<()> {
        self.inner.sync_data()
    }

    fn os_file(&self) -> Option<&File> {
        self.inner.os_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than what is not worth keeping.
    const OLD: [u8; 5000] = [b'o'; 5000];

    struct Disk {
        storage: ReusingStorage,
        dir: tempfile::TempDir,
    }

    impl Disk {
        fn new(spare_bytes_max: u64) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let storage = ReusingStorage::new(dir.path().join("spare"), spare_bytes_max);
            Self { storage, dir }
        }

        fn open(&self, name: &str, mode: OpenMode) -> Arc<dyn StorageFile> {
            let path = self.dir.path().join(name);
            self.storage.create_dir_all(path.parent().unwrap()).unwrap();
            self.storage.open(&path, mode).unwrap()
        }

        fn create(&self, name: &str) -> Arc<dyn StorageFile> {
            self.open(name, OpenMode::CreateOrTruncate)
        }

        fn remove_topic(&self, name: &str) {
            let aside = self.dir.path().join(format!("{name}-delete"));
            let dir = self.dir.path().join(name);
            self.storage.rename(&dir, &aside).unwrap();
            self.storage.remove_dir_all(&aside).unwrap();
            assert!(!aside.exists());
        }

        fn spare_files(&self) -> usize {
            fs::read_dir(self.dir.path().join("spare")).map_or(0, Iterator::count)
        }
    }

    fn content(file: &dyn StorageFile) -> Vec<u8> {
        let mut bytes = vec![0; 10_000];
        let count = file.read_at(&mut bytes, 0).unwrap();
        bytes.truncate(count);
        bytes
    }

    fn physical(file: &dyn StorageFile) -> u64 {
        file.os_file().unwrap().metadata().unwrap().len()
    }

    #[test]
    fn a_new_log_has_the_file_of_a_removed_one_and_none_of_its_bytes() {
        let disk = Disk::new(1 << 20);
        disk.create("a-0/0.log").write_at(&OLD, 0).unwrap();
        disk.remove_topic("a-0");
        assert_eq!(disk.spare_files(), 1);
        let log = disk.create("b-0/0.log");
        assert_eq!(disk.spare_files(), 0);
        assert_eq!(physical(&*log), 5000);
        assert_eq!((log.len().unwrap(), content(&*log)), (0, Vec::new()));
        log.write_at(b"new", 0).unwrap();
        // Opened again, as after a crash of the node.
        drop(log);
        let log = disk.open("b-0/0.log", OpenMode::Existing);
        assert_eq!(content(&*log), b"new");
        let entries = disk.storage.list(&disk.dir.path().join("b-0")).unwrap();
        assert_eq!((entries[0].name.as_str(), entries[0].len), ("0.log", 3));
    }

    #[test]
    fn prepared_files_are_there_for_the_first_logs() {
        let disk = Disk::new(1 << 30);
        disk.storage.prepare(3 << 20, 1 << 20);
        assert_eq!(disk.spare_files(), 3);
        let log = disk.create("a-0/0.log");
        log.write_at(b"new", 0).unwrap();
        assert_eq!((disk.spare_files(), physical(&*log)), (2, 1 << 20));
        assert_eq!(content(&*log), b"new");
        disk.storage.prepare(1 << 20, 0);
        assert_eq!(disk.spare_files(), 2);
    }

    #[test]
    fn a_spare_file_that_cannot_be_moved_is_removed() {
        let disk = Disk::new(1 << 20);
        disk.create("a-0/0.log").write_at(&OLD, 0).unwrap();
        disk.remove_topic("a-0");
        assert_eq!(disk.spare_files(), 1);
        let nowhere = disk.dir.path().join("b-0/0.log");
        assert!(
            disk.storage
                .open(&nowhere, OpenMode::CreateOrTruncate)
                .is_err()
        );
        assert_eq!(disk.spare_files(), 0);
    }

    #[test]
    fn gaps_and_extensions_are_zeros() {
        let disk = Disk::new(1 << 20);
        disk.create("a-0/0.log").write_at(&OLD, 0).unwrap();
        disk.remove_topic("a-0");
        let log = disk.create("b-0/0.log");
        log.write_at(b"x", 2).unwrap();
        log.truncate(5).unwrap();
        assert_eq!(content(&*log), [0, 0, b'x', 0, 0]);
        log.truncate(3).unwrap();
        log.write_at(b"y", 4).unwrap();
        assert_eq!(content(&*log), [0, 0, b'x', 0, b'y']);
    }

    #[test]
    fn a_file_that_somebody_still_reads_is_not_written_to() {
        let disk = Disk::new(1 << 20);
        let old = disk.create("a-0/0.log");
        old.write_at(&OLD, 0).unwrap();
        disk.remove_topic("a-0");
        disk.create("b-0/0.log").write_at(b"new", 0).unwrap();
        assert_eq!(content(&*old), OLD);
        drop(old);
        assert_eq!(physical(&*disk.create("c-0/0.log")), 5000);
    }

    #[test]
    fn the_largest_file_comes_first_and_what_exceeds_the_limit_is_removed() {
        let disk = Disk::new(12_000);
        for (name, bytes) in [("a-0", 4500), ("b-0", 5000), ("c-0", 4800), ("d-0", 100)] {
            let log = disk.create(&format!("{name}/0.log"));
            log.write_at(&OLD[..bytes], 0).unwrap();
        }
        for name in ["d-0", "a-0", "b-0", "c-0"] {
            disk.remove_topic(name);
        }
        assert_eq!(disk.spare_files(), 2);
        let sizes = ["e-0", "f-0", "g-0"].map(|name| {
            let log = disk.create(&format!("{name}/0.log"));
            physical(&*log)
        });
        assert_eq!(sizes, [5000, 4500, 0]);
    }
}
