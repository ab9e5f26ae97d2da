//! An answer as it goes to the socket: bytes, and stretches of log files that are sent from where
//! they lie.

use crate::counts::RequestTiming;
use crate::storage::{FileSlice, StorageError};

/// A piece of an answer.
#[derive(Debug, Clone)]
pub enum Chunk {
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// Bytes of a file.
    File(FileSlice),
}

impl Chunk {
    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::File(slice) => slice.len,
        }
    }

    /// True without any byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One whole answer, its length prefix included.
#[derive(Debug, Clone, Default)]
pub struct EncodedResponse {
    /// The pieces, in order.
    pub chunks: Vec<Chunk>,
    /// The way of its request, where that is counted.
    pub(crate) course: Option<RequestTiming>,
}

impl From<Vec<u8>> for EncodedResponse {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            chunks: vec![Chunk::Bytes(bytes)],
            course: None,
        }
    }
}

impl EncodedResponse {
    /// Number of bytes of all pieces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.iter().map(Chunk::len).sum()
    }

    /// Number of bytes of the pieces that are in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        let in_memory = self.chunks.iter().map(|chunk| match chunk {
            Chunk::Bytes(bytes) => bytes.len(),
            Chunk::File(_) => 0,
        });
        in_memory.sum()
    }

    /// True without any byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All pieces in one buffer; for tests and transports without files.
    pub fn to_bytes(&self) -> Result<Vec<u8>, StorageError> {
        let mut all = Vec::with_capacity(self.len());
        for chunk in &self.chunks {
            match chunk {
                Chunk::Bytes(bytes) => all.extend_from_slice(bytes),
                Chunk::File(slice) => slice.read_into(&mut all)?,
            }
        }
        Ok(all)
    }
}
