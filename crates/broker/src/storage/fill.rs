//! How much of a disk a node may still write: a disk that fills up on command.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Operation, StorageError, StorageResult};

/// More than any disk has: the disk does not fill up.
const ENDLESS: u64 = u64::MAX;

/// Bytes that may still be written. Shared by all lives of a node.
#[derive(Debug)]
pub struct Fill {
    left: AtomicU64,
}

impl Default for Fill {
    fn default() -> Self {
        Self {
            left: AtomicU64::new(ENDLESS),
        }
    }
}

impl Fill {
    /// The disk is full after this many more bytes.
    pub fn full_after(&self, bytes: u64) {
        self.left.store(bytes.min(ENDLESS - 1), Ordering::Release);
    }

    /// There is room again.
    pub fn lift(&self) {
        self.left.store(ENDLESS, Ordering::Release);
    }

    /// Whether it fills up, or has.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.left.load(Ordering::Acquire) != ENDLESS
    }

    /// Bytes that may still be written; `None` when that is not limited here.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        let left = self.left.load(Ordering::Acquire);
        (left != ENDLESS).then_some(left)
    }

    /// Takes room for bytes; gives how many of them there is room for.
    pub(super) fn take(&self, bytes: usize) -> usize {
        let mut left = self.left.load(Ordering::Acquire);
        while left != ENDLESS {
            let taken = left.min(bytes as u64);
            let after = left - taken;
            match self
                .left
                .compare_exchange_weak(left, after, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return usize::try_from(taken).unwrap_or(bytes),
                Err(now) => left = now,
            }
        }
        bytes
    }

    /// The system's own error for a disk without room.
    pub(super) fn refuse<T>(operation: Operation, path: &Path) -> StorageResult<T> {
        let full = io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error());
        Err(StorageError::new(operation, path, full))
    }
}
