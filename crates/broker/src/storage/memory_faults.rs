//! What the in-memory disk can do wrong on command: errors, and what a crash leaves behind.

use std::io;
use std::path::Path;

use super::Operation;

/// What survives when the in-memory disk crashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// The process dies, the machine does not: everything written survives. Open handles stop
    /// working.
    KeepEverything,
    /// The machine dies: only what was flushed survives, bytes and names alike.
    LoseUnflushed,
    /// Everything survives but the newest unflushed write, of which only the first `bytes_kept`
    /// bytes do.
    TearLastWrite {
        /// Bytes of the write that survive.
        bytes_kept: usize,
    },
    /// Each unflushed write, cut and change of a folder survives, is lost or (a write) torn, as the
    /// seed decides: a disk may write its cache back in any order.
    Random {
        /// One seed always leaves the same bytes behind.
        seed: u64,
    },
}

/// An error to come: which operations fail, and with what.
#[derive(Debug, Clone)]
pub struct DiskFault {
    /// The operation that fails.
    pub operation: Operation,
    /// It fails only on paths that contain this text; an empty text means every path.
    pub path_contains: String,
    /// How many matching calls still succeed before the first one fails.
    pub successes_before: u32,
    /// How many calls fail; `None` for all from then on.
    pub failures: Option<u32>,
    /// The error, for instance `StorageFull` or `Other`.
    pub error: io::ErrorKind,
}

impl DiskFault {
    /// Every matching call fails from now on.
    #[must_use]
    pub fn always(operation: Operation, path_contains: &str, error: io::ErrorKind) -> Self {
        let path_contains = path_contains.to_owned();
        Self {
            operation,
            path_contains,
            successes_before: 0,
            failures: None,
            error,
        }
    }

    /// The next matching call fails, later ones succeed.
    #[must_use]
    pub fn once(operation: Operation, path_contains: &str, error: io::ErrorKind) -> Self {
        Self {
            failures: Some(1),
            ..Self::always(operation, path_contains, error)
        }
    }

    /// Counts one call; returns the error that it gets, if any.
    pub(super) fn fail_if_due(&mut self, operation: Operation, path: &Path) -> Option<io::Error> {
        let matches = operation == self.operation
            && (self.path_contains.is_empty()
                || path.to_string_lossy().contains(&self.path_contains));
        if !matches || self.failures == Some(0) {
            return None;
        }
        if self.successes_before > 0 {
            self.successes_before -= 1;
            return None;
        }
        if let Some(failures) = &mut self.failures {
            *failures -= 1;
        }
        Some(io::Error::from(self.error))
    }
}
