//! Whether a node stopped in order: Kafka's `.kafka_cleanshutdown`, which is there only between an
//! orderly stop and the next start.

use std::collections::BTreeSet;
use std::path::Path;

use crate::log::{AsClosed, parse_partition_dir_name};
use crate::storage::{EntryKind, OpenMode, Storage, StorageError};

const NAME: &str = ".kafka_cleanshutdown";

/// What a start finds of the stop before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StopBefore {
    /// It was in order, and no log has changed since: nothing can be lost.
    pub(crate) in_order: bool,
    /// Folders of logs that have lost segments since an orderly stop.
    pub(crate) damaged_logs: BTreeSet<String>,
}

impl StopBefore {
    /// Takes the mark away, and checks that it is true: a node that leads with a log that is
    /// shorter than it was would have the others cut theirs.
    pub(crate) fn find(storage: &dyn Storage, dir: &Path) -> Result<Self, StorageError> {
        let mut found = Self {
            in_order: take_mark(storage, dir)?,
            ..Self::default()
        };
        if !found.in_order {
            return Ok(found);
        }
        for entry in storage.list(dir)? {
            if entry.kind != EntryKind::Dir || parse_partition_dir_name(&entry.name).is_none() {
                continue;
            }
            match AsClosed::of(storage, &dir.join(&entry.name))? {
                AsClosed::Same => {}
                AsClosed::NewestDiffers => found.in_order = false,
                AsClosed::SegmentsLost => {
                    found.in_order = false;
                    found.damaged_logs.insert(entry.name);
                }
            }
        }
        Ok(found)
    }
}

/// Takes the mark away; returns whether it existed. Durable when this returns.
pub fn take_mark(storage: &dyn Storage, dir: &Path) -> Result<bool, StorageError> {
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
pub fn leave_mark(storage: &dyn Storage, dir: &Path) -> Result<(), StorageError> {
    storage.open(&dir.join(NAME), OpenMode::CreateOrTruncate)?;
    storage.sync_dir(dir)
}
