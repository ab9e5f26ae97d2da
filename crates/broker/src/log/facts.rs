//! What is written down about a segment whose indexes are complete in their files.
//!
//! The index files are Kafka's and hold no checksum. This is it: a file that is not exactly what
//! was stored is not read but rebuilt from the batches. The newest timestamp saves retention
//! from reading any index.

use kgauge_wire::record_batch::crc32c;

/// The largest timestamp of a segment, and the last offset of the first batch that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NewestTimestamp {
    /// -1 when no record has one.
    pub(super) timestamp_ms: i64,
    pub(super) offset: i64,
}

/// Length and checksum of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) bytes: usize,
    pub(super) crc: u32,
}

impl Seal {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.len(),
            crc: crc32c(bytes),
        }
    }

    /// True for exactly the bytes that were sealed.
    pub(super) fn fits(&self, bytes: &[u8]) -> bool {
        *self == Self::of(bytes)
    }
}

/// The facts of one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentFacts {
    pub(super) base_offset: i64,
    /// Bytes of the log file that the indexes cover.
    pub(super) bytes: u64,
    pub(super) newest: NewestTimestamp,
    pub(super) offsets: Seal,
    pub(super) times: Seal,
}

impl SegmentFacts {
    /// The facts as words of one line.
    pub(super) fn text(&self) -> String {
        let Self {
            base_offset,
            bytes,
            newest,
            offsets,
            times,
        } = self;
        let NewestTimestamp {
            timestamp_ms,
            offset,
        } = newest;
        format!(
            "{base_offset} {bytes} {timestamp_ms} {offset} {} {} {} {}",
            offsets.bytes, offsets.crc, times.bytes, times.crc
        )
    }

    /// Reads what [`SegmentFacts::text`] gave.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [base_offset, bytes, timestamp_ms, offset, seals @ ..] = words.as_slice() else {
            return None;
        };
        let [offsets_bytes, offsets_crc, times_bytes, times_crc] = seals else {
            return None;
        };
        let seal = |bytes: &str, crc: &str| {
            Some(Seal {
                bytes: bytes.parse().ok()?,
                crc: crc.parse().ok()?,
            })
        };
        let timestamp_ms = timestamp_ms.parse().ok()?;
        Some(Self {
            base_offset: base_offset.parse().ok()?,
            bytes: bytes.parse().ok()?,
            newest: NewestTimestamp {
                timestamp_ms,
                offset: offset.parse().ok()?,
            },
            offsets: seal(offsets_bytes, offsets_crc)?,
            times: seal(times_bytes, times_crc)?,
        })
    }
}
