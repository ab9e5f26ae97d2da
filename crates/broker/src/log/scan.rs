//! Walks the batch headers of a segment file without reading the records.

use std::sync::Arc;

use kgauge_wire::record_batch::{BatchHeader, HEADER_BYTES};

use super::{Corruption, LogError};
use crate::storage::StorageFile;

/// Bytes read at a time: one index interval by default, so that a lookup is usually a single read.
const CHUNK_BYTES: usize = 4096;

/// One batch found in a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScannedBatch {
    /// Position of its first byte in the file.
    pub(super) position: u64,
    pub(super) header: BatchHeader,
}

impl ScannedBatch {
    /// Position of the byte after it.
    pub(super) fn end(&self) -> u64 {
        self.position + self.header.batch_bytes() as u64
    }
}

/// Goes from batch to batch by the length fields. Checks the headers' form, not the CRC.
pub(super) struct HeaderScan {
    file: Arc<dyn StorageFile>,
    position: u64,
    end: u64,
    chunk: [u8; CHUNK_BYTES],
    /// Which bytes of the file the chunk holds.
    chunk_start: u64,
    chunk_len: usize,
}

impl HeaderScan {
    /// Scans from `position`, where a batch begins, to `end`, where the last one ends.
    pub(super) fn new(file: Arc<dyn StorageFile>, position: u64, end: u64) -> Self {
        Self {
            file,
            position,
            end,
            chunk: [0; CHUNK_BYTES],
            chunk_start: 0,
            chunk_len: 0,
        }
    }

    /// The next batch, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<ScannedBatch>, LogError> {
        if self.position >= self.end {
            return Ok(None);
        }
        let bytes = self.header_bytes()?;
        let parsed = BatchHeader::parse(bytes);
        let header = parsed.map_err(|error| self.corrupt(&error.to_string()))?;
        let found = ScannedBatch {
            position: self.position,
            header,
        };
        if found.end() > self.end {
            let left = self.end - self.position;
            let words = format!(
                "a batch of {} bytes, but {left} bytes are left",
                header.batch_bytes()
            );
            return Err(self.corrupt(&words).into());
        }
        self.position = found.end();
        Ok(Some(found))
    }

    /// Goes back to where the batch begins that was found last.
    pub(super) fn back_to(&mut self, found: &ScannedBatch) {
        self.position = found.position;
    }

    fn header_bytes(&mut self) -> Result<&[u8], LogError> {
        let chunk_end = self.chunk_start + self.chunk_len as u64;
        let needed_end = (self.position + HEADER_BYTES as u64).min(self.end);
        if self.position < self.chunk_start || needed_end > chunk_end {
            let len = (self.end - self.position).min(CHUNK_BYTES as u64) as usize;
            self.chunk_len = self.file.read_at(&mut self.chunk[..len], self.position)?;
            self.chunk_start = self.position;
        }
        let start = (self.position - self.chunk_start) as usize;
        Ok(&self.chunk[start..self.chunk_len])
    }

    fn corrupt(&self, reason: &str) -> Corruption {
        Corruption {
            file: self.file.path().to_path_buf(),
            position: self.position,
            reason: reason.to_owned(),
        }
    }
}
