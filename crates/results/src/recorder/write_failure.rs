//! Why slices could not be written, shared by the writer and all recorders.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Slices that may wait for the writer. With a hundred recorders and two slices per second, that is ten seconds of an
/// unresponsive disk; then the run must stop.
pub(super) const QUEUE_MAX: usize = 2_048;

/// Why slices could not be written: the run must stop, because its figures would lack them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The disk is full.
    #[error(
        "no space left for results in {}: free some or choose another folder with --out",
        path.display()
    )]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// Another error.
    #[error("cannot write results to {}: {why}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The operating system's message.
        why: String,
    },
    /// The disk has not accepted anything for many seconds.
    #[error(
        "the disk under {} does not keep up: {QUEUE_MAX} slices wait to be written",
        path.display()
    )]
    Stalled {
        /// The file.
        path: PathBuf,
    },
    /// A recorder shipped after the writer had ended.
    #[error("samples came after {} was closed", path.display())]
    Closed {
        /// The file.
        path: PathBuf,
    },
}

/// The first error, visible to everybody.
#[derive(Debug, Default)]
pub(super) struct WriteFailure {
    first: Mutex<Option<WriteError>>,
    path: PathBuf,
}

impl WriteFailure {
    /// No failure of this file.
    pub(super) fn of(path: &Path) -> WriteFailure {
        WriteFailure {
            first: Mutex::new(None),
            path: path.to_owned(),
        }
    }

    pub(super) fn note(&self, error: WriteError) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    }

    pub(super) fn note_stalled(&self) {
        let path = self.path.clone();
        self.note(WriteError::Stalled { path });
    }

    pub(super) fn note_closed(&self) {
        let path = self.path.clone();
        self.note(WriteError::Closed { path });
    }

    pub(super) fn note_io(&self, error: &io::Error) {
        let path = self.path.clone();
        self.note(match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                WriteError::DiskFull { path }
            }
            _ => WriteError::Refused {
                path,
                why: error.to_string(),
            },
        });
    }

    pub(super) fn get(&self) -> Option<WriteError> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.clone()
    }
}
