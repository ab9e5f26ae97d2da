//! A data folder belongs to one running cluster: Kafka's `.lock` file, held with `flock`.

use std::fs::{File, OpenOptions};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::StartError;

const NAME: &str = ".lock";

/// The lock on a folder; it goes with the value, and with the process.
#[derive(Debug)]
pub(super) struct DirLock {
    _file: File,
}

impl DirLock {
    pub(super) fn take(dir: &Path) -> Result<Self, StartError> {
        let path = dir.join(NAME);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(errno) if errno == rustix::io::Errno::WOULDBLOCK => {
                Err(StartError::InUse(dir.to_path_buf()))
            }
            Err(errno) => Err(StartError::System(errno.into())),
        }
    }
}
