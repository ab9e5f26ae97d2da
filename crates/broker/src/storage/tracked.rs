//! A disk that knows which bytes of logs have been flushed, so that a node can crash as its machine
//! would: with everything lost that was only in the page cache. It can also be full on command.
//!
//! It passes everything on to another disk. Losing is done by cutting the log files; names and the
//! small files beside the logs stay as they are, for those are written durably or recreated.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{DirEntry, Fill, OpenMode, Operation, Space, Storage, StorageFile, StorageResult};
use crate::counts::Counters;

const LOG_EXTENSION: &str = "log";

/// A disk that remembers what was flushed.
#[derive(Debug)]
pub struct TrackedStorage {
    inner: Arc<dyn Storage>,
    fill: Arc<Fill>,
    logs: Mutex<Logs>,
    counters: Option<Arc<Counters>>,
}

/// The lengths by path. Paths are ordered by their parts, so all that a folder holds comes right after
/// the folder itself.
type Logs = BTreeMap<PathBuf, Arc<Lengths>>;

#[derive(Debug)]
struct Lengths {
    written: AtomicU64,
    flushed: AtomicU64,
}

impl TrackedStorage {
    /// Tracks what is written to `inner` from now on; what is there already counts as flushed.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self::filling(inner, Arc::default())
    }

    /// The same, limited by `fill`.
    #[must_use]
    pub fn filling(inner: Arc<dyn Storage>, fill: Arc<Fill>) -> Self {
        Self {
            inner,
            fill,
            logs: Mutex::default(),
            counters: None,
        }
    }

    /// The same, and counts the flushes of logs.
    #[must_use]
    pub fn counting(mut self, counters: Option<Arc<Counters>>) -> Self {
        self.counters = counters;
        self
    }

    /// Cuts every log file to what was flushed of it. Gives the bytes that were lost.
    pub fn lose_unflushed(&self) -> StorageResult<u64> {
        let mut lost = 0;
        for (path, lengths) in std::mem::take(&mut *self.logs()) {
            let flushed = lengths.flushed.load(Ordering::Acquire);
            if flushed >= lengths.written.load(Ordering::Acquire) {
                continue;
            }
            let file = match self.inner.open(&path, OpenMode::Existing) {
                Err(error) if error.is_not_found() => continue,
                opened => opened?,
            };
            let len = file.len()?;
            if len > flushed {
                file.truncate(flushed)?;
                lost += len - flushed;
            }
        }
        Ok(lost)
    }

    fn logs(&self) -> MutexGuard<'_, Logs> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for TrackedStorage {
    fn create_dir_all(&self, dir: &Path) -> StorageResult<()> {
        self.inner.create_dir_all(dir)
    }

    fn list(&self, dir: &Path) -> StorageResult<Vec<DirEntry>> {
        self.inner.list(dir)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> StorageResult<Arc<dyn StorageFile>> {
        let inner = self.inner.open(path, mode)?;
        let fill = Arc::clone(&self.fill);
        if path.extension().is_none_or(|kind| kind != LOG_EXTENSION) {
            let lengths = None;
            return Ok(Arc::new(TrackedFile {
                inner,
                fill,
                lengths,
                counters: None,
            }));
        }
        let len = inner.len()?;
        let mut logs = self.logs();
        let lengths = logs.entry(path.to_path_buf()).or_insert_with(|| {
            Arc::new(Lengths {
                written: AtomicU64::new(len),
                flushed: AtomicU64::new(len),
            })
        });
        let lengths = Arc::clone(lengths);
        if mode == OpenMode::CreateOrTruncate {
            lengths.cut(0);
        }
        let lengths = Some(lengths);
        Ok(Arc::new(TrackedFile {
            inner,
            fill,
            lengths,
            counters: self.counters.clone(),
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> StorageResult<()> {
        self.inner.rename(from, to)?;
        let mut logs = self.logs();
        if let Some(lengths) = logs.remove(from) {
            logs.insert(to.to_path_buf(), lengths);
        }
        // A folder takes what is in it along; it is set aside and no longer written to.
        forget_below(&mut logs, from);
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> StorageResult<()> {
        self.inner.remove_file(path)?;
        self.logs().remove(path);
        Ok(())
    }

    fn remove_dir_all(&self, dir: &Path) -> StorageResult<()> {
        self.inner.remove_dir_all(dir)?;
        forget_below(&mut self.logs(), dir);
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> StorageResult<()> {
        self.inner.sync_dir(dir)
    }

    fn space(&self, dir: &Path) -> StorageResult<Space> {
        let mut space = self.inner.space(dir)?;
        if let Some(left) = self.fill.left() {
            space.bytes_free = space.bytes_free.min(left);
        }
        Ok(space)
    }
}

/// Forgets the files of a folder. Looks at no other path: there may be ten thousands.
fn forget_below(logs: &mut Logs, dir: &Path) {
    let below = logs.range::<Path, _>((Bound::Excluded(dir), Bound::Unbounded));
    let below = below.take_while(|(path, _)| path.starts_with(dir));
    let below: Vec<PathBuf> = below.map(|(path, _)| path.clone()).collect();
    for path in below {
        logs.remove(&path);
    }
}

impl Lengths {
    fn cut(&self, len: u64) {
        self.written.fetch_min(len, Ordering::AcqRel);
        self.flushed.fetch_min(len, Ordering::AcqRel);
    }
}

#[derive(Debug)]
struct TrackedFile {
    inner: Arc<dyn StorageFile>,
    fill: Arc<Fill>,
    /// Of logs.
    lengths: Option<Arc<Lengths>>,
    counters: Option<Arc<Counters>>,
}

impl StorageFile for TrackedFile {
    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn len(&self) -> StorageResult<u64> {
        self.inner.len()
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> StorageResult<usize> {
        self.inner.read_at(buffer, position)
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> StorageResult<()> {
        if let Some(lengths) = &self.lengths {
            let end = position + bytes.len() as u64;
            // Before the write: what a failed one leaves is not flushed either.
            lengths.written.fetch_max(end, Ordering::AcqRel);
        }
        let room = self.fill.take(bytes.len());
        // As a disk does, what fits is written.
        self.inner
            .write_at(bytes.get(..room).unwrap_or(bytes), position)?;
        if room < bytes.len() {
            return Fill::refuse(Operation::Write, self.path());
        }
        Ok(())
    }

    fn truncate(&self, len: u64) -> StorageResult<()> {
        self.inner.truncate(len)?;
        if let Some(lengths) = &self.lengths {
            lengths.cut(len);
        }
        Ok(())
    }

    fn sync_data(&self) -> StorageResult<()> {
        let Some(lengths) = &self.lengths else {
            return self.inner.sync_data();
        };
        let written = lengths.written.load(Ordering::Acquire);
        let begin_ns = self.counters.as_deref().map(Counters::now_ns);
        self.inner.sync_data()?;
        if let Some((counters, begin_ns)) = self.counters.as_deref().zip(begin_ns) {
            counters.flushed(counters.now_ns().saturating_sub(begin_ns));
        }
        lengths.flushed.fetch_max(written, Ordering::AcqRel);
        Ok(())
    }

    fn os_file(&self) -> Option<&File> {
        self.inner.os_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{MemoryStorage, read_whole};

    fn content(storage: &TrackedStorage, name: &str) -> Option<Vec<u8>> {
        read_whole(storage, Path::new(name)).unwrap()
    }

    #[test]
    fn what_was_not_flushed_of_a_log_is_lost() {
        let storage = TrackedStorage::new(MemoryStorage::new().shared());
        storage.create_dir_all(Path::new("/d")).unwrap();
        let open = |name: &str| {
            let path = Path::new("/d").join(name);
            storage.open(&path, OpenMode::CreateOrOpen).unwrap()
        };
        let (log, other) = (open("a.log"), open("a.index"));
        log.write_at(b"flushed", 0).unwrap();
        log.sync_data().unwrap();
        log.write_at(b" and not", 7).unwrap();
        other.write_at(b"index", 0).unwrap();
        drop(log);
        // Opening it again makes nothing durable.
        drop(open("a.log"));
        assert_eq!(storage.lose_unflushed().unwrap(), 8);
        assert_eq!(content(&storage, "/d/a.log"), Some(b"flushed".to_vec()));
        assert_eq!(content(&storage, "/d/a.index"), Some(b"index".to_vec()));
    }

    #[test]
    fn a_cut_counts_as_flushed_only_as_far_as_it_was() {
        let storage = TrackedStorage::new(MemoryStorage::new().shared());
        storage.create_dir_all(Path::new("/d")).unwrap();
        let path = Path::new("/d/b.log");
        let log = storage.open(path, OpenMode::CreateOrOpen).unwrap();
        log.write_at(b"0123456789", 0).unwrap();
        log.sync_data().unwrap();
        log.truncate(4).unwrap();
        log.write_at(b"xyz", 4).unwrap();
        assert_eq!(storage.lose_unflushed().unwrap(), 3);
        assert_eq!(content(&storage, "/d/b.log"), Some(b"0123".to_vec()));
    }

    #[test]
    fn a_folder_that_goes_takes_its_own_logs_along_and_no_others() {
        let storage = TrackedStorage::new(MemoryStorage::new().shared());
        for dir in ["/d/a-1", "/d/a-1.x", "/d/a-10", "/d/a-2"] {
            let dir = Path::new(dir);
            storage.create_dir_all(dir).unwrap();
            let path = dir.join("0.log");
            let log = storage.open(&path, OpenMode::CreateOrOpen).unwrap();
            log.write_at(b"lost", 0).unwrap();
        }
        let known = |storage: &TrackedStorage| {
            let logs = storage.logs();
            let paths = logs.keys().map(|path| path.display().to_string());
            paths.collect::<Vec<_>>()
        };
        let (from, to) = (Path::new("/d/a-1"), Path::new("/d/a-1.x-delete"));
        storage.rename(from, to).unwrap();
        storage.remove_dir_all(Path::new("/d/a-2")).unwrap();
        assert_eq!(known(&storage), ["/d/a-1.x/0.log", "/d/a-10/0.log"]);
        let (from, to) = (Path::new("/d/a-10/0.log"), Path::new("/d/a-10/1.log"));
        storage.rename(from, to).unwrap();
        assert_eq!(known(&storage), ["/d/a-1.x/0.log", "/d/a-10/1.log"]);
        assert_eq!(storage.lose_unflushed().unwrap(), 8);
    }

    #[test]
    fn a_disk_that_fills_up_takes_what_fits_and_then_nothing() {
        let fill = Arc::new(Fill::default());
        let disk = MemoryStorage::new().shared();
        let storage = TrackedStorage::filling(disk, Arc::clone(&fill));
        storage.create_dir_all(Path::new("/d")).unwrap();
        for name in ["/d/c.log", "/d/c.index"] {
            let path = Path::new(name);
            let file = storage.open(path, OpenMode::CreateOrOpen).unwrap();
            fill.full_after(5);
            file.write_at(b"abc", 0).unwrap();
            assert_eq!(storage.space(path).unwrap().bytes_free, 2);
            assert!(file.write_at(b"defg", 3).unwrap_err().is_disk_full());
            assert_eq!(content(&storage, name), Some(b"abcde".to_vec()));
            assert!(file.write_at(b"f", 5).unwrap_err().is_disk_full());
            fill.lift();
            file.write_at(b"f", 5).unwrap();
            assert_eq!(content(&storage, name), Some(b"abcdef".to_vec()));
        }
    }
}
