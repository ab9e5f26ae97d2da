//! The sparse index of a segment from offset to file position.
//!
//! On disk, as Kafka has it: entries of 8 bytes, big-endian, `i32` offset less the segment's base
//! and `i32` position. An entry names the last offset of a batch and the position where that batch
//! begins. Both rise from entry to entry.

/// Bytes of an entry on disk.
pub(super) const ENTRY_BYTES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OffsetEntry {
    /// Last offset of the batch, less the segment's base offset.
    pub(super) relative: u32,
    /// Where the batch begins.
    pub(super) position: u32,
}

/// All entries of a segment, in memory; those from `stored` on are not yet in the file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct OffsetIndex {
    entries: Vec<OffsetEntry>,
    stored: usize,
}

impl OffsetIndex {
    /// Reads a file's bytes. `None` when they cannot be the index of a segment with
    /// `segment_bytes`: torn, out of order, or pointing beyond its end.
    pub(super) fn parse(bytes: &[u8], segment_bytes: u64) -> Option<Self> {
        let (chunks, torn) = bytes.as_chunks::<ENTRY_BYTES>();
        if !torn.is_empty() {
            return None;
        }
        let mut entries = Vec::with_capacity(chunks.len());
        let mut previous: Option<OffsetEntry> = None;
        for [a, b, c, d, e, f, g, h] in chunks {
            let relative = u32::from_be_bytes([*a, *b, *c, *d]);
            let position = u32::from_be_bytes([*e, *f, *g, *h]);
            let rises = previous.is_none_or(|p| relative > p.relative && position > p.position);
            let too_large = relative > i32::MAX as u32 || u64::from(position) >= segment_bytes;
            if !rises || too_large {
                return None;
            }
            let entry = OffsetEntry { relative, position };
            entries.push(entry);
            previous = Some(entry);
        }
        let stored = entries.len();
        Some(Self { entries, stored })
    }

    /// The entry with the largest offset at or below `relative`: scanning from its position finds
    /// the offset.
    pub(super) fn lookup(&self, relative: i64) -> Option<OffsetEntry> {
        let after = self
            .entries
            .partition_point(|entry| i64::from(entry.relative) <= relative);
        after.checked_sub(1).map(|index| self.entries[index])
    }

    pub(super) fn last(&self) -> Option<OffsetEntry> {
        self.entries.last().copied()
    }

    pub(super) fn push(&mut self, entry: OffsetEntry) {
        self.entries.push(entry);
    }

    /// Bytes of the whole index on disk, once it is stored.
    pub(super) fn bytes(&self) -> usize {
        self.entries.len() * ENTRY_BYTES
    }

    /// The whole index as it is on disk.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes());
        for entry in &self.entries {
            bytes.extend_from_slice(&entry.relative.to_be_bytes());
            bytes.extend_from_slice(&entry.position.to_be_bytes());
        }
        bytes
    }

    /// How many of these bytes are in the file.
    pub(super) fn stored_bytes(&self) -> usize {
        self.stored * ENTRY_BYTES
    }

    /// Notes that all entries are in the file now.
    pub(super) fn set_stored(&mut self) {
        self.stored = self.entries.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(pairs: &[(u32, u32)]) -> OffsetIndex {
        let mut index = OffsetIndex::default();
        for &(relative, position) in pairs {
            index.push(OffsetEntry { relative, position });
        }
        index
    }

    #[test]
    fn a_lookup_gives_the_entry_at_or_below() {
        let index = index(&[(9, 5000), (19, 9000), (29, 14_000)]);
        assert_eq!(index.lookup(8), None);
        assert_eq!(index.lookup(9).map(|e| e.position), Some(5000));
        assert_eq!(index.lookup(18).map(|e| e.position), Some(5000));
        assert_eq!(index.lookup(19).map(|e| e.position), Some(9000));
        assert_eq!(index.lookup(1_000_000).map(|e| e.position), Some(14_000));
        assert_eq!(index.lookup(-1), None);
    }

    #[test]
    fn bytes_are_those_of_kafka() {
        let index = index(&[(9, 5000), (19, 9000)]);
        let bytes = index.to_bytes();
        assert_eq!(index.stored_bytes(), 0);
        assert_eq!(
            bytes,
            [0, 0, 0, 9, 0, 0, 0x13, 0x88, 0, 0, 0, 19, 0, 0, 0x23, 0x28]
        );
        let mut parsed = OffsetIndex::parse(&bytes, 9001).unwrap();
        assert_eq!(parsed.stored_bytes(), 16);
        parsed.stored = 0;
        assert_eq!(parsed, index);
    }

    #[test]
    fn a_torn_unordered_or_lying_index_is_refused() {
        let bytes = index(&[(9, 5000), (19, 9000)]).to_bytes();
        assert!(OffsetIndex::parse(&bytes[..15], 10_000).is_none());
        assert!(OffsetIndex::parse(&bytes, 9000).is_none());
        assert!(OffsetIndex::parse(&index(&[(9, 5), (9, 6)]).to_bytes(), 100).is_none());
        assert!(OffsetIndex::parse(&index(&[(9, 6), (10, 6)]).to_bytes(), 100).is_none());
        assert!(OffsetIndex::parse(&index(&[(1 << 31, 6)]).to_bytes(), 100).is_none());
        assert_eq!(OffsetIndex::parse(&[], 0), Some(OffsetIndex::default()));
    }
}
