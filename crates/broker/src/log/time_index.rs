//! The sparse index of a segment from timestamp to offset.
//!
//! On disk, as Kafka has it: entries of 12 bytes, big-endian, `i64` timestamp in ms and `i32`
//! offset less the segment's base. An entry says: the largest timestamp so far is this one, and the
//! batch that has it ends at this offset. Timestamps rise from entry to entry, offsets do not fall.

/// Bytes of an entry on disk.
pub(super) const ENTRY_BYTES: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeEntry {
    pub(super) timestamp_ms: i64,
    /// Last offset of the batch with that timestamp, less the segment's base offset.
    pub(super) relative: u32,
}

/// All entries of a segment, in memory; those from `stored` on are not yet in the file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct TimeIndex {
    entries: Vec<TimeEntry>,
    stored: usize,
}

impl TimeIndex {
    /// Reads a file's bytes. `None` when they cannot be a time index: torn or out of order.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (chunks, torn) = bytes.as_chunks::<ENTRY_BYTES>();
        if !torn.is_empty() {
            return None;
        }
        let mut entries = Vec::with_capacity(chunks.len());
        let mut previous: Option<TimeEntry> = None;
        for chunk in chunks {
            let (timestamp, relative) = chunk.split_first_chunk::<8>()?;
            let timestamp_ms = i64::from_be_bytes(*timestamp);
            let relative = u32::from_be_bytes(*relative.first_chunk::<4>()?);
            let rises =
                previous.is_none_or(|p| timestamp_ms > p.timestamp_ms && relative >= p.relative);
            if !rises || relative > i32::MAX as u32 {
                return None;
            }
            let entry = TimeEntry {
                timestamp_ms,
                relative,
            };
            entries.push(entry);
            previous = Some(entry);
        }
        let stored = entries.len();
        Some(Self { entries, stored })
    }

    /// The entry with the largest timestamp at or below `timestamp_ms`: no batch before the one
    /// that it names has a record as late as that.
    pub(super) fn lookup(&self, timestamp_ms: i64) -> Option<TimeEntry> {
        let after = self
            .entries
            .partition_point(|entry| entry.timestamp_ms <= timestamp_ms);
        after.checked_sub(1).map(|index| self.entries[index])
    }

    pub(super) fn last(&self) -> Option<TimeEntry> {
        self.entries.last().copied()
    }

    /// Adds an entry unless the index knows a timestamp as large already.
    pub(super) fn push_if_newer(&mut self, entry: TimeEntry) {
        if self
            .last()
            .is_none_or(|last| entry.timestamp_ms > last.timestamp_ms)
        {
            self.entries.push(entry);
        }
    }

    /// Bytes of the whole index on disk, once it is stored.
    pub(super) fn bytes(&self) -> usize {
        self.entries.len() * ENTRY_BYTES
    }

    /// The whole index as it is on disk.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes());
        for entry in &self.entries {
            bytes.extend_from_slice(&entry.timestamp_ms.to_be_bytes());
            bytes.extend_from_slice(&entry.relative.to_be_bytes());
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

    fn index(pairs: &[(i64, u32)]) -> TimeIndex {
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
    fn a_timestamp_that_is_not_newer_makes_no_entry() {
        assert_eq!(
            index(&[(100, 1), (100, 2), (90, 3), (101, 4)]),
            index(&[(100, 1), (101, 4)])
        );
    }

    #[test]
    fn a_lookup_gives_the_entry_at_or_before() {
        let index = index(&[(100, 9), (200, 19)]);
        assert_eq!(index.lookup(99), None);
        assert_eq!(index.lookup(100).map(|e| e.relative), Some(9));
        assert_eq!(index.lookup(199).map(|e| e.relative), Some(9));
        assert_eq!(index.lookup(i64::MAX).map(|e| e.relative), Some(19));
    }

    #[test]
    fn bytes_are_those_of_kafka_and_a_bad_file_is_refused() {
        let index = index(&[(256, 9), (257, 9)]);
        let bytes = index.to_bytes();
        let expected = [
            0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 9,
        ];
        assert_eq!(bytes, expected);
        assert!(TimeIndex::parse(&bytes).is_some_and(|parsed| parsed.stored_bytes() == 24));
        assert!(TimeIndex::parse(&bytes[..23]).is_none());
        assert!(TimeIndex::parse(&bytes.repeat(2)).is_none());
    }
}
