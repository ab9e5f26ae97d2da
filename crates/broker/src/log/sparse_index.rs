//! The sparse indexes of a segment, from offset to file position and from timestamp to offset.
//!
//! On disk, as Kafka has them: entries of a fixed size, big-endian. An entry of the `.index` is the `i32` last offset
//! of a batch, less the segment's base, and the `i32` position where the batch begins. An entry of the `.timeindex` is
//! the largest `i64` timestamp so far in ms, and the `i32` last offset, less the base, of the batch that has it.

/// An entry of an index.
pub(super) trait IndexEntry: Copy {
    /// Bytes on disk.
    const BYTES: usize;

    /// Reads an entry from [`Self::BYTES`] bytes; `None` if its relative offset is too large.
    fn read(bytes: &[u8]) -> Option<Self>;

    fn write(&self, to: &mut Vec<u8>);

    /// The key of a look-up; it rises from entry to entry.
    fn key(&self) -> i64;

    /// Whether it may come directly after another entry.
    fn follows(&self, previous: &Self) -> bool;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OffsetEntry {
    /// Last offset of the batch, less the segment's base offset.
    pub(super) relative: u32,
    /// Where the batch begins.
    pub(super) position: u32,
}

impl IndexEntry for OffsetEntry {
    const BYTES: usize = 8;

    fn read(bytes: &[u8]) -> Option<Self> {
        let (relative, position) = bytes.split_first_chunk()?;
        let relative = u32::from_be_bytes(*relative);
        (relative <= i32::MAX as u32).then_some(Self {
            relative,
            position: u32::from_be_bytes(position.try_into().ok()?),
        })
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.relative.to_be_bytes());
        to.extend_from_slice(&self.position.to_be_bytes());
    }

    fn key(&self) -> i64 {
        self.relative.into()
    }

    fn follows(&self, previous: &Self) -> bool {
        self.relative > previous.relative && self.position > previous.position
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeEntry {
    pub(super) timestamp_ms: i64,
    /// Last offset of the batch with that timestamp, less the segment's base offset.
    pub(super) relative: u32,
}

impl IndexEntry for TimeEntry {
    const BYTES: usize = 12;

    fn read(bytes: &[u8]) -> Option<Self> {
        let (timestamp, relative) = bytes.split_first_chunk()?;
        let relative = u32::from_be_bytes(relative.try_into().ok()?);
        (relative <= i32::MAX as u32).then_some(Self {
            timestamp_ms: i64::from_be_bytes(*timestamp),
            relative,
        })
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.timestamp_ms.to_be_bytes());
        to.extend_from_slice(&self.relative.to_be_bytes());
    }

    fn key(&self) -> i64 {
        self.timestamp_ms
    }

    fn follows(&self, previous: &Self) -> bool {
        self.timestamp_ms > previous.timestamp_ms && self.relative >= previous.relative
    }
}

/// All entries of a segment, in memory; those from `stored` on are not yet in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SparseIndex<E> {
    entries: Vec<E>,
    stored: usize,
}

pub(super) type OffsetIndex = SparseIndex<OffsetEntry>;
pub(super) type TimeIndex = SparseIndex<TimeEntry>;

impl<E> Default for SparseIndex<E> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            stored: 0,
        }
    }
}

impl<E: IndexEntry> SparseIndex<E> {
    /// Reads a file's bytes. `None` when they cannot be such an index: torn or out of order.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let chunks = bytes.chunks_exact(E::BYTES);
        if !chunks.remainder().is_empty() {
            return None;
        }
        let mut entries: Vec<E> = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let entry = E::read(chunk)?;
            if entries.last().is_some_and(|last| !entry.follows(last)) {
                return None;
            }
            entries.push(entry);
        }
        let stored = entries.len();
        Some(Self { entries, stored })
    }

    /// The last entry at or below `key`: for an offset, scanning from its position finds the offset; for a timestamp,
    /// no batch before the one that it names has a record as late as that.
    pub(super) fn lookup(&self, key: i64) -> Option<E> {
        let after = self.entries.partition_point(|entry| entry.key() <= key);
        after.checked_sub(1).map(|index| self.entries[index])
    }

    pub(super) fn last(&self) -> Option<E> {
        self.entries.last().copied()
    }

    /// Adds an entry unless the index has one with a key as large.
    pub(super) fn push_if_newer(&mut self, entry: E) {
        if self.last().is_none_or(|last| entry.key() > last.key()) {
            self.entries.push(entry);
        }
    }

    /// Bytes of the whole index on disk, once it is stored.
    pub(super) fn bytes(&self) -> usize {
        self.entries.len() * E::BYTES
    }

    /// The whole index as it is on disk.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes());
        for entry in &self.entries {
            entry.write(&mut bytes);
        }
        bytes
    }

    /// How many of these bytes are in the file.
    pub(super) fn stored_bytes(&self) -> usize {
        self.stored * E::BYTES
    }

    /// Notes that all entries are in the file now.
    pub(super) fn set_stored(&mut self) {
        self.stored = self.entries.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(pairs: &[(u32, u32)]) -> OffsetIndex {
        let entry = |&(relative, position)| OffsetEntry { relative, position };
        SparseIndex {
            entries: pairs.iter().map(entry).collect(),
            stored: 0,
        }
    }

    fn times(pairs: &[(i64, u32)]) -> TimeIndex {
        let mut index = TimeIndex::default();
        for &(timestamp_ms, relative) in pairs {
            index.push_if_newer(TimeEntry {
                timestamp_ms,
                relative,
            });
        }
        index
    }

    #[test]
    fn a_lookup_gives_the_entry_at_or_below() {
        let index = offsets(&[(9, 5000), (19, 9000), (29, 14_000)]);
        assert_eq!(index.lookup(8), None);
        assert_eq!(index.lookup(9).map(|e| e.position), Some(5000));
        assert_eq!(index.lookup(18).map(|e| e.position), Some(5000));
        assert_eq!(index.lookup(19).map(|e| e.position), Some(9000));
        assert_eq!(index.lookup(1_000_000).map(|e| e.position), Some(14_000));
        assert_eq!(index.lookup(-1), None);
        let index = times(&[(100, 9), (200, 19)]);
        assert_eq!(index.lookup(99), None);
        assert_eq!(index.lookup(199).map(|e| e.relative), Some(9));
        assert_eq!(index.lookup(i64::MAX).map(|e| e.relative), Some(19));
    }

    #[test]
    fn a_timestamp_that_is_not_newer_makes_no_entry() {
        assert_eq!(
            times(&[(100, 1), (100, 2), (90, 3), (101, 4)]),
            times(&[(100, 1), (101, 4)])
        );
    }

    #[test]
    fn bytes_are_those_of_kafka() {
        let index = offsets(&[(9, 5000), (19, 9000)]);
        let bytes = index.to_bytes();
        assert_eq!(index.stored_bytes(), 0);
        assert_eq!(
            bytes,
            [0, 0, 0, 9, 0, 0, 0x13, 0x88, 0, 0, 0, 19, 0, 0, 0x23, 0x28]
        );
        let mut parsed = OffsetIndex::parse(&bytes).unwrap();
        assert_eq!(parsed.stored_bytes(), 16);
        parsed.stored = 0;
        assert_eq!(parsed, index);
        let expected = [
            0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 9,
        ];
        assert_eq!(times(&[(256, 9), (257, 9)]).to_bytes(), expected);
        assert!(TimeIndex::parse(&expected).is_some_and(|parsed| parsed.stored_bytes() == 24));
    }

    #[test]
    fn a_torn_or_unordered_index_is_refused() {
        let bytes = offsets(&[(9, 5000), (19, 9000)]).to_bytes();
        assert!(OffsetIndex::parse(&bytes[..15]).is_none());
        for pairs in [&[(9, 5), (9, 6)][..], &[(9, 6), (10, 6)], &[(1 << 31, 6)]] {
            assert!(OffsetIndex::parse(&offsets(pairs).to_bytes()).is_none());
        }
        assert_eq!(OffsetIndex::parse(&[]), Some(OffsetIndex::default()));
        let bytes = times(&[(256, 9), (257, 9)]).to_bytes();
        assert!(TimeIndex::parse(&bytes[..23]).is_none());
        assert!(TimeIndex::parse(&bytes.repeat(2)).is_none());
    }
}
