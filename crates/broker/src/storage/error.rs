//! The one error of the storage traits: what was tried, on which path, and the operating system's error.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What was tried on a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `Storage::create_dir_all`
    CreateDir,
    /// `Storage::list`
    List,
    /// `Storage::open`
    Open,
    /// `Storage::rename`
    Rename,
    /// `Storage::remove_file` and `Storage::remove_dir_all`
    Remove,
    /// `Storage::sync_dir`
    SyncDir,
    /// `Storage::space`
    Space,
    /// `StorageFile::len`
    Len,
    /// `StorageFile::read_at`
    Read,
    /// `StorageFile::write_at`
    Write,
    /// `StorageFile::truncate`
    Truncate,
    /// `StorageFile::sync_data`
    SyncData,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CreateDir => "cannot create the folder",
            Self::List => "cannot list the folder",
            Self::Open => "cannot open",
            Self::Rename => "cannot rename",
            Self::Remove => "cannot remove",
            Self::SyncDir => "cannot flush the folder",
            Self::Space => "cannot determine the free space on",
            Self::Len => "cannot determine the length of",
            Self::Read => "cannot read",
            Self::Write => "cannot write",
            Self::Truncate => "cannot truncate",
            Self::SyncData => "cannot flush",
        })
    }
}

/// A storage operation that failed. Cheap to clone, so that a dead log can repeat its cause.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{operation} {}: {source}", path.display())]
pub struct StorageError {
    /// What was tried.
    pub operation: Operation,
    /// On which file or folder.
    pub path: PathBuf,
    /// The operating system's error.
    pub source: Arc<io::Error>,
}

impl StorageError {
    /// Wraps an error of the operating system.
    #[must_use]
    pub fn new(operation: Operation, path: &Path, source: io::Error) -> Self {
        Self {
            operation,
            path: path.to_path_buf(),
            source: Arc::new(source),
        }
    }

    /// Fewer bytes in a file than its user relies on.
    pub(crate) fn short_read(path: &Path, position: u64, expected: usize, got: usize) -> Self {
        let words =
            format!("the file ends early: {got} of {expected} bytes at position {position}");
        Self::new(
            Operation::Read,
            path,
            io::Error::new(io::ErrorKind::UnexpectedEof, words),
        )
    }

    /// True when the disk (or the user's quota) is full: the cure is room, not another disk.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(
            self.source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }

    /// True when the file or folder is not there.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    /// True when the process or the machine has no file handle left (EMFILE, ENFILE).
    #[must_use]
    pub fn is_out_of_handles(&self) -> bool {
        matches!(self.source.raw_os_error(), Some(code)
            if code == rustix::io::Errno::MFILE.raw_os_error()
            || code == rustix::io::Errno::NFILE.raw_os_error())
    }
}
