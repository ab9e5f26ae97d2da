//! Whether a log's files are as an orderly stop left them.

use std::collections::BTreeMap;
use std::path::Path;

use super::names::{LOG, parse_file};
use super::state_file::LogState;
use crate::storage::{EntryKind, Storage, StorageResult};

/// How a log's files compare with what the stop wrote down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsClosed {
    /// They are the same, or nothing is known: then opening the log checks every batch.
    Same,
    /// The newest segment has another size: opening the log checks it, and cuts what is not whole.
    NewestDiffers,
    /// Older segments are shorter, or gone. Opening the log does not look at them.
    SegmentsLost,
}

impl AsClosed {
    /// Compares sizes; no file but the state is read.
    pub fn of(storage: &dyn Storage, dir: &Path) -> StorageResult<Self> {
        let Some(state) = LogState::read(storage, dir)? else {
            return Ok(Self::Same);
        };
        let Some(closed) = state.closed else {
            return Ok(Self::Same);
        };
        let mut sizes = BTreeMap::new();
        for entry in storage.list(dir)? {
            if entry.kind == EntryKind::File
                && let Some((base_offset, LOG)) = parse_file(&entry.name)
            {
                sizes.insert(base_offset, entry.len);
            }
        }
        let older = state
            .segments
            .iter()
            .filter(|segment| segment.base_offset < closed.segment_base);
        for segment in older {
            let size = sizes.get(&segment.base_offset).copied();
            if size.is_none_or(|size| size < segment.bytes) {
                return Ok(Self::SegmentsLost);
            }
        }
        match sizes.get(&closed.segment_base) {
            Some(size) if *size == closed.segment_bytes => Ok(Self::Same),
            _ => Ok(Self::NewestDiffers),
        }
    }
}
