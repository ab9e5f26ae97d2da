//! A chunk of a client's ledger on its way to the lead. Nobody reads its entries before the load is over.
//!
//! ```text
//! chunk: 0 for a producer or 1 for a consumer (1 byte), flow and client (4 bytes each, big-endian), entries
//! ```

use kgauge_load::{LedgerName, LedgerOwner};

/// Bytes before the entries.
pub const CHUNK_HEAD_BYTES: usize = 9;

/// A chunk of a client's ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerChunk<'a> {
    /// Whose ledger it is.
    pub name: LedgerName,
    /// Bytes that follow those of the chunk before.
    pub entries: &'a [u8],
}

/// A content that is not a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a chunk of a ledger has no valid head")]
pub struct LedgerChunkError;

/// The first bytes of each chunk of a ledger.
pub fn chunk_head(name: LedgerName) -> [u8; CHUNK_HEAD_BYTES] {
    let owner = match name.owner {
        LedgerOwner::Producer => 0,
        LedgerOwner::Consumer => 1,
    };
    // A plan never has so many flows.
    let flow = u32::try_from(name.flow).unwrap_or(u32::MAX);
    let ([f0, f1, f2, f3], [m0, m1, m2, m3]) = (flow.to_be_bytes(), name.member.to_be_bytes());
    [owner, f0, f1, f2, f3, m0, m1, m2, m3]
}

impl<'a> LedgerChunk<'a> {
    /// Reads the content of a frame, without a copy.
    pub fn decode(content: &'a [u8]) -> Result<Self, LedgerChunkError> {
        let found = content.split_first_chunk::<CHUNK_HEAD_BYTES>();
        let (head, entries) = found.ok_or(LedgerChunkError)?;
        let [owner, f0, f1, f2, f3, m0, m1, m2, m3] = *head;
        let flow = u32::from_be_bytes([f0, f1, f2, f3]);
        let name = LedgerName {
            owner: match owner {
                0 => LedgerOwner::Producer,
                1 => LedgerOwner::Consumer,
                _ => return Err(LedgerChunkError),
            },
            flow: usize::try_from(flow).map_err(|_| LedgerChunkError)?,
            member: u32::from_be_bytes([m0, m1, m2, m3]),
        };
        Ok(Self { name, entries })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_back_as_they_were_and_cut_ones_are_refused() {
        for name in [
            LedgerName::of_producer(0, 0),
            LedgerName::of_consumer(0x0102_0304, u32::MAX),
        ] {
            let content = [&chunk_head(name)[..], b"entries"].concat();
            let chunk = LedgerChunk::decode(&content).unwrap();
            assert_eq!((chunk.name, chunk.entries), (name, &b"entries"[..]));
            for end in 0..CHUNK_HEAD_BYTES {
                assert_eq!(LedgerChunk::decode(&content[..end]), Err(LedgerChunkError));
            }
        }
        assert_eq!(LedgerChunk::decode(&[2; 20]), Err(LedgerChunkError));
    }
}
