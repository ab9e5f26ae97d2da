//! Errors of run folders.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::recorder::WriteError;

/// Why a run folder cannot be created, written or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder is not empty.
    #[error(
        "{} is not empty: results go into a new or empty folder, choose one with --out",
        dir.display()
    )]
    NotEmpty {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder contains no run.
    #[error("{} holds no run: it contains no run.json", dir.display())]
    NotARun {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder is a run, and should contain runs.
    #[error("{} is a run folder; name the folder above it", dir.display())]
    IsARun {
        /// The folder.
        dir: PathBuf,
    },
    /// It was written by a newer kgauge.
    #[error(
        "{} has format {format}, but this kgauge reads formats up to {newest}: use the kgauge \
         that wrote it, or a newer one",
        dir.display()
    )]
    TooNew {
        /// The folder.
        dir: PathBuf,
        /// Its format number.
        format: u32,
        /// The newest format that this build reads.
        newest: u32,
    },
    /// The disk is full.
    #[error("no space left for {}: free some or choose another folder with --out", path.display())]
    DiskFull {
        /// The file being written.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// `read`, `write`, ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's message.
        source: io::Error,
    },
    /// A file has invalid content.
    #[error("{}{}: {what}", path.display(), LineSuffix(*line))]
    Content {
        /// The file.
        path: PathBuf,
        /// The line, from 1, if applicable.
        line: Option<u64>,
        /// What is invalid.
        what: String,
    },
    /// A name that is not a valid file name.
    #[error("`{name}` cannot be a file name: letters, digits, dot, dash and underscore only")]
    Name {
        /// The name.
        name: String,
    },
    /// Slices could not be written.
    #[error(transparent)]
    Slices(#[from] WriteError),
}

impl FolderError {
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> FolderError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                FolderError::DiskFull { path }
            }
            _ => FolderError::Io {
                action,
                path,
                source,
            },
        }
    }

    pub(super) fn content(path: &Path, what: impl fmt::Display) -> FolderError {
        FolderError::at(path, None, what)
    }

    /// For an error in a line of a file. Its text may quote the file: it stays on one line.
    pub(super) fn at(path: &Path, line: Option<u64>, what: impl fmt::Display) -> FolderError {
        let one_line = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        FolderError::Content {
            path: path.to_owned(),
            line,
            what: what.to_string().chars().map(one_line).collect(),
        }
    }
}

struct LineSuffix(Option<u64>);

impl fmt::Display for LineSuffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, ", line {line}"))
    }
}

/// A missing or damaged part of a run folder; the rest is still valid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Defect {
    /// The file, relative to the folder, with `/` between names.
    pub file: String,
    /// The line, from 1, if applicable.
    pub line: Option<u64>,
    /// What is missing or damaged.
    pub what: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {}", self.file, LineSuffix(self.line), self.what)
    }
}
