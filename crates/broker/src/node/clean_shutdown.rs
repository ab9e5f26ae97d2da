//! Whether a node stopped in order: Kafka's `.kafka_cleanshutdown`, which is there only between an
//! orderly stop and the next start.

use std::path::Path;

use crate::storage::{OpenMode, Storage, StorageError};

const NAME: &str = ".kafka_cleanshutdown";

/// Takes the mark away and tells whether it was there. Durable when this returns.
pub(crate) fn take_mark(storage: &dyn Storage, dir: &Path) -> Result<bool, StorageError> {
    storage.create_dir_all(dir)?;
    match storage.remove_file(&dir.join(NAME)) {
        Ok(()) => {
            storage.sync_dir(dir)?;
            Ok(true)
        }
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Leaves the mark, after every log is closed. Durable when this returns.
pub(crate) fn leave_mark(storage: &dyn Storage, dir: &Path) -> Result<(), StorageError> {
    storage.open(&dir.join(NAME), OpenMode::CreateOrTruncate)?;
    storage.sync_dir(dir)
}
