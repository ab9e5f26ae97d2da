//! Every file that the broker touches, it touches through the two traits of this module.
//!
//! [`Storage`] is a disk (folders, names, space), [`StorageFile`] one open file on it. There are
//! two of each: [`RealStorage`] over the operating system, and [`MemoryStorage`] for tests and
//! simulation, which can lose what was not flushed, tear writes, fill up and fail on command.
//!
//! What a crash keeps is the strict reading of POSIX, and callers must work under it: bytes are
//! durable after [`StorageFile::sync_data`], a new, renamed or removed name is durable after
//! [`Storage::sync_dir`] of its folder, and nothing else is. A sync that failed must not be tried
//! again: the kernel may have dropped the dirty pages and marked them clean, so that a second call
//! "succeeds" over lost bytes (Rebello et al., USENIX ATC 2020).

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

mod error;
mod fill;
mod memory;
mod memory_faults;
mod real;
mod replace;
mod reusing;
mod tracked;

pub use error::{Operation, StorageError};
pub use fill::Fill;
pub use memory::MemoryStorage;
pub use memory_faults::{Crash, DiskFault};
pub use real::RealStorage;
pub use replace::{read_whole, replace_file, replace_file_unflushed};
pub use reusing::ReusingStorage;
pub use tracked::TrackedStorage;

/// Result of a storage operation.
pub type StorageResult<T> = Result<T, StorageError>;

/// A disk: folders, names and space. Shared by all logs of a node, from any thread.
pub trait Storage: Send + Sync + fmt::Debug {
    /// Creates a folder and those above it. A folder that exists already is no error.
    fn create_dir_all(&self, dir: &Path) -> StorageResult<()>;

    /// What is in a folder, sorted by name.
    fn list(&self, dir: &Path) -> StorageResult<Vec<DirEntry>>;

    /// Opens a file for reading and writing.
    fn open(&self, path: &Path, mode: OpenMode) -> StorageResult<Arc<dyn StorageFile>>;

    /// Gives a file or folder another name, replacing a file of that name.
    fn rename(&self, from: &Path, to: &Path) -> StorageResult<()>;

    /// Removes a file's name. Open handles (and so [`FileSlice`]s on their way to a socket) stay
    /// readable.
    fn remove_file(&self, path: &Path) -> StorageResult<()>;

    /// Removes a folder with all that is in it.
    fn remove_dir_all(&self, dir: &Path) -> StorageResult<()>;

    /// Makes the names in a folder durable: creations, renames and removals since the last call.
    fn sync_dir(&self, dir: &Path) -> StorageResult<()>;

    /// Size and free bytes of the file system that holds `dir`.
    fn space(&self, dir: &Path) -> StorageResult<Space>;
}

/// An open file. All positions are explicit, so a handle can be shared between threads without a
/// lock.
pub trait StorageFile: Send + Sync + fmt::Debug {
    /// The name under which the file was opened; used in messages.
    fn path(&self) -> &Path;

    /// The file's length in bytes.
    fn len(&self) -> StorageResult<u64>;

    /// True when the file holds no byte.
    fn is_empty(&self) -> StorageResult<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills `buffer` from `position` on, and gives how many bytes there were: fewer than asked
    /// only at the end.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> StorageResult<usize>;

    /// Writes all of `bytes` at `position`. On an error (a full disk) a leading part may have been
    /// written.
    fn write_at(&self, bytes: &[u8], position: u64) -> StorageResult<()>;

    /// Cuts the file (or extends it with zeros) to `len` bytes.
    fn truncate(&self, len: u64) -> StorageResult<()>;

    /// Makes the file's bytes and length durable. Never call it again after it failed.
    fn sync_data(&self) -> StorageResult<()>;

    /// The operating system's file, where there is one: for sendfile.
    fn os_file(&self) -> Option<&File> {
        None
    }
}

/// How [`Storage::open`] treats a file that is there, or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// It must exist.
    Existing,
    /// It is created, empty, when it does not exist.
    CreateOrOpen,
    /// It is created, or emptied when it exists.
    CreateOrTruncate,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The last part of the path.
    pub name: String,
    /// File or folder.
    pub kind: EntryKind,
    /// Bytes of a file; 0 for a folder.
    pub len: u64,
}

/// The kind of an entry in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A plain file.
    File,
    /// A folder.
    Dir,
}

/// Size and free bytes of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes in use and bytes free, as `df` counts: what is reserved or may never be had is neither.
    pub bytes_total: u64,
    /// Bytes that this process could still write.
    pub bytes_free: u64,
}

/// A stretch of a file that can be sent to a socket later, by sendfile where [`FileSlice::os_file`]
/// gives a file.
///
/// It keeps the file open, so it stays valid when the segment is removed meanwhile.
#[derive(Debug, Clone)]
pub struct FileSlice {
    /// The file that holds the bytes.
    pub file: Arc<dyn StorageFile>,
    /// Position of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: usize,
}

impl FileSlice {
    /// The operating system's file, where there is one.
    #[must_use]
    pub fn os_file(&self) -> Option<&File> {
        self.file.os_file()
    }

    /// Appends the slice's bytes to `buffer`. Fewer bytes in the file than the slice names are an
    /// error.
    pub fn read_into(&self, buffer: &mut Vec<u8>) -> StorageResult<()> {
        let start = buffer.len();
        buffer.resize(start + self.len, 0);
        let count = self.file.read_at(&mut buffer[start..], self.offset)?;
        if count < self.len {
            buffer.truncate(start);
            return Err(self.short(count));
        }
        Ok(())
    }

    /// The slice's bytes, instead of what a buffer held. What has been its length already is not
    /// cleared first, which makes it the way for buffers that are used again.
    pub fn read_over(&self, buffer: &mut Vec<u8>) -> StorageResult<()> {
        buffer.resize(self.len, 0);
        let count = self.file.read_at(buffer, self.offset)?;
        if count < self.len {
            buffer.clear();
            return Err(self.short(count));
        }
        Ok(())
    }

    fn short(&self, count: usize) -> StorageError {
        StorageError::short_read(self.file.path(), self.offset, self.len, count)
    }

    /// The slice's bytes, in a new buffer.
    pub fn bytes(&self) -> StorageResult<Vec<u8>> {
        let mut buffer = Vec::new();
        self.read_into(&mut buffer)?;
        Ok(buffer)
    }
}
