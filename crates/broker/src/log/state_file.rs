//! What a log must know at its next start that its segments do not contain: where it begins, how far
//! it was flushed, what its indexes must look like, and whether it was closed in order.
//!
//! Kafka keeps these facts of all logs in three files of the data directory. Here each log has its
//! own, so that a log can be opened, moved and lost alone; Kafka's tools do not look at it.
//!
//! The facts "closed in order" hold only while the newest segment has the size it had then: the
//! first append makes them void without a write to this file.

use std::fmt::Write as _;
use std::path::Path;

use kgauge_wire::record_batch::crc32c;

use super::facts::SegmentFacts;
use crate::storage::{Storage, StorageResult, read_whole, replace_file};

const NAME: &str = "log-state";

/// The contents of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LogState {
    /// The first offset that is served.
    pub(super) log_start_offset: i64,
    /// Everything below this offset was flushed.
    pub(super) recovery_point: i64,
    /// The segments whose indexes are complete in their files.
    pub(super) segments: Vec<SegmentFacts>,
    /// Set when the log was closed in order.
    pub(super) closed: Option<ClosedLogState>,
}

/// The state of a log when it was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClosedLogState {
    pub(super) end_offset: i64,
    /// Base offset of the newest segment.
    pub(super) segment_base: i64,
    /// Bytes of the newest segment.
    pub(super) segment_bytes: u64,
    /// Idempotent producers that were known: with any there is a snapshot at the end offset.
    pub(super) producers: usize,
}

impl LogState {
    /// Reads the file. `None` when it is missing or damaged: then everything is recovered.
    pub(super) fn read(storage: &dyn Storage, dir: &Path) -> StorageResult<Option<Self>> {
        let bytes = read_whole(storage, &dir.join(NAME))?;
        Ok(bytes.and_then(|bytes| Self::parse(&bytes)))
    }

    /// Whether there is a file, whole or not.
    pub(super) fn is_there(storage: &dyn Storage, dir: &Path) -> StorageResult<bool> {
        Ok(read_whole(storage, &dir.join(NAME))?.is_some())
    }

    /// Replaces the file. Which of the two a crash leaves is settled by the folder's next flush.
    pub(super) fn write(&self, storage: &dyn Storage, dir: &Path) -> StorageResult<()> {
        replace_file(storage, &dir.join(NAME), self.text().as_bytes())
    }

    /// Removes the file, for good when this returns.
    pub(super) fn remove(storage: &dyn Storage, dir: &Path) -> StorageResult<()> {
        match storage.remove_file(&dir.join(NAME)) {
            Err(error) if error.is_not_found() => {}
            removed => removed?,
        }
        storage.sync_dir(dir)
    }

    fn text(&self) -> String {
        let mut text = format!(
            "version 0\nlog_start_offset {}\nrecovery_point {}\n",
            self.log_start_offset, self.recovery_point
        );
        for segment in &self.segments {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "segment {}", segment.text());
        }
        if let Some(closed) = self.closed {
            let ClosedLogState {
                end_offset,
                segment_base,
                segment_bytes,
                producers,
            } = closed;
            let _ = writeln!(
                text,
                "closed {end_offset} {segment_base} {segment_bytes} {producers}"
            );
        }
        let crc = crc32c(text.as_bytes());
        let _ = writeln!(text, "crc32c {crc:08x}");
        text
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let body_len = text.strip_suffix('\n')?.rfind('\n')? + 1;
        let (body, crc_line) = text.split_at(body_len);
        let crc = u32::from_str_radix(crc_line.trim_end().strip_prefix("crc32c ")?, 16).ok()?;
        if crc != crc32c(body.as_bytes()) {
            return None;
        }
        let mut lines = body.lines();
        if lines.next()? != "version 0" {
            return None;
        }
        let log_start_offset = lines
            .next()?
            .strip_prefix("log_start_offset ")?
            .parse()
            .ok()?;
        let recovery_point = lines
            .next()?
            .strip_prefix("recovery_point ")?
            .parse()
            .ok()?;
        let (mut segments, mut closed) = (Vec::new(), None);
        for line in lines {
            match line.split_once(' ')? {
                ("segment", facts) => segments.push(SegmentFacts::parse(facts)?),
                ("closed", words) => closed = Some(ClosedLogState::parse(words)?),
                _ => return None,
            }
        }
        Some(Self {
            log_start_offset,
            recovery_point,
            segments,
            closed,
        })
    }
}

impl ClosedLogState {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let end_offset = words.next()?.parse().ok()?;
        let segment_base = words.next()?.parse().ok()?;
        let segment_bytes = words.next()?.parse().ok()?;
        let producers = words.next()?.parse().ok()?;
        let closed = Self {
            end_offset,
            segment_base,
            segment_bytes,
            producers,
        };
        words.next().is_none().then_some(closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::facts::{NewestTimestamp, Seal};

    fn state() -> LogState {
        let segment = |base_offset| SegmentFacts {
            base_offset,
            bytes: 9876,
            newest: NewestTimestamp {
                timestamp_ms: -1,
                offset: base_offset,
            },
            offsets: Seal::of(b"offsets"),
            times: Seal::of(b""),
        };
        LogState {
            log_start_offset: 12,
            recovery_point: 340,
            segments: vec![segment(0), segment(300)],
            closed: Some(ClosedLogState {
                end_offset: 345,
                segment_base: 300,
                segment_bytes: 9876,
                producers: 2,
            }),
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let open = LogState {
            closed: None,
            ..state()
        };
        for state in [state(), open, LogState::default()] {
            assert_eq!(LogState::parse(state.text().as_bytes()), Some(state));
        }
    }

    #[test]
    fn a_file_that_is_cut_or_flipped_anywhere_is_no_file() {
        let whole = state().text().into_bytes();
        for len in 0..whole.len() {
            assert_eq!(LogState::parse(&whole[..len]), None, "cut to {len}");
        }
        for position in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[position] ^= 1;
            let parsed = LogState::parse(&flipped);
            assert!(
                parsed.is_none() || parsed == Some(state()),
                "flipped at {position}"
            );
        }
    }
}
