//! The operating system's files behind the storage traits.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{
    DirEntry, EntryKind, OpenMode, Operation, Space, Storage, StorageError, StorageFile,
    StorageResult,
};

/// The operating system's disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealStorage;

impl RealStorage {
    /// A shareable handle to the operating system's disk.
    #[must_use]
    pub fn shared() -> Arc<dyn Storage> {
        Arc::new(Self)
    }
}

fn failed(operation: Operation, path: &Path) -> impl FnOnce(io::Error) -> StorageError {
    move |source| StorageError::new(operation, path, source)
}

impl Storage for RealStorage {
    fn create_dir_all(&self, dir: &Path) -> StorageResult<()> {
        fs::create_dir_all(dir).map_err(failed(Operation::CreateDir, dir))
    }

    fn list(&self, dir: &Path) -> StorageResult<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir).map_err(failed(Operation::List, dir))? {
            let entry = entry.map_err(failed(Operation::List, dir))?;
            // Names that are no UTF-8 are never ours.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(StorageError::new(Operation::List, dir, error)),
            };
            let (kind, len) = if metadata.is_dir() {
                (EntryKind::Dir, 0)
            } else {
                (EntryKind::File, metadata.len())
            };
            entries.push(DirEntry { name, kind, len });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> StorageResult<Arc<dyn StorageFile>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(mode != OpenMode::Existing)
            .truncate(mode == OpenMode::CreateOrTruncate)
            .open(path)
            .map_err(failed(Operation::Open, path))?;
        Ok(Arc::new(RealFile {
            path: path.to_path_buf(),
            file,
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> StorageResult<()> {
        fs::rename(from, to).map_err(failed(Operation::Rename, from))
    }

    fn remove_file(&self, path: &Path) -> StorageResult<()> {
        fs::remove_file(path).map_err(failed(Operation::Remove, path))
    }

    fn remove_dir_all(&self, dir: &Path) -> StorageResult<()> {
        fs::remove_dir_all(dir).map_err(failed(Operation::Remove, dir))
    }

    fn sync_dir(&self, dir: &Path) -> StorageResult<()> {
        File::open(dir)
            .and_then(|file| file.sync_all())
            .map_err(failed(Operation::SyncDir, dir))
    }

    fn space(&self, dir: &Path) -> StorageResult<Space> {
        let stat = rustix::fs::statvfs(dir)
            .map_err(|errno| StorageError::new(Operation::Space, dir, errno.into()))?;
        Ok(Space {
            bytes_total: stat
                .f_blocks
                .saturating_sub(stat.f_bfree)
                .saturating_add(stat.f_bavail)
                .saturating_mul(stat.f_frsize),
            bytes_free: stat.f_bavail.saturating_mul(stat.f_frsize),
        })
    }
}

/// One file of the operating system.
#[derive(Debug)]
struct RealFile {
    path: PathBuf,
    file: File,
}

impl StorageFile for RealFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> StorageResult<u64> {
        self.file
            .metadata()
            .map(|m| m.len())
            .map_err(failed(Operation::Len, &self.path))
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> StorageResult<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self
                .file
                .read_at(&mut buffer[filled..], position + filled as u64)
            {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(StorageError::new(Operation::Read, &self.path, error)),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> StorageResult<()> {
        self.file
            .write_all_at(bytes, position)
            .map_err(failed(Operation::Write, &self.path))
    }

    fn truncate(&self, len: u64) -> StorageResult<()> {
        self.file
            .set_len(len)
            .map_err(failed(Operation::Truncate, &self.path))
    }

    fn sync_data(&self) -> StorageResult<()> {
        self.file
            .sync_data()
            .map_err(failed(Operation::SyncData, &self.path))
    }

    fn os_file(&self) -> Option<&File> {
        Some(&self.file)
    }
}
