//! Writes message sets message by message into one reused buffer.

use super::{CRC_FROM, Format, LOG_OVERHEAD, crc32};
use crate::compress::{Codec, CompressError, Compressor, lz4_legacy_checksum};

/// Builds one set at a time in a buffer that it keeps: [`start`](Self::start), append,
/// [`finish`](Self::finish); [`bytes`](Self::bytes) is the set until the next start.
///
/// Offsets are 0, 1, 2 and so on: brokers assign the real ones.
///
/// ```
/// use kgauge_wire::message_set::{Format, MessageSetEncoder, messages};
///
/// let mut encoder = MessageSetEncoder::new(Format::V1, 1024);
/// encoder.start(1_700_000_000_000);
/// encoder.append_value_only(5, 3, |value| value.copy_from_slice(b"abc"));
/// let entry = messages(encoder.bytes()).next().unwrap().unwrap();
/// assert_eq!(entry.timestamp_ms, 1_700_000_000_005);
/// assert_eq!(entry.message().unwrap().value, Some(b"abc".as_slice()));
/// ```
#[derive(Debug, Clone)]
pub struct MessageSetEncoder {
    format: Format,
    buffer: Vec<u8>,
    records: u32,
    base_timestamp_ms: i64,
    timestamp_ms_max: i64,
}

impl MessageSetEncoder {
    /// An encoder with room for a set of this many bytes.
    pub fn new(format: Format, set_bytes: usize) -> Self {
        Self {
            format,
            buffer: Vec::with_capacity(set_bytes),
            records: 0,
            base_timestamp_ms: 0,
            timestamp_ms_max: i64::MIN,
        }
    }

    /// Begins a new set and forgets the one before.
    pub fn start(&mut self, base_timestamp_ms: i64) {
        self.buffer.clear();
        self.records = 0;
        self.base_timestamp_ms = base_timestamp_ms;
        self.timestamp_ms_max = i64::MIN;
    }

    /// Messages appended since the start.
    #[inline]
    pub fn records(&self) -> u32 {
        self.records
    }

    /// The timestamp that the set was started with.
    #[inline]
    pub fn base_timestamp_ms(&self) -> i64 {
        self.base_timestamp_ms
    }

    /// Bytes of the set so far; after compression those of the wrapper.
    #[inline]
    pub fn set_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes that a message takes, as Kafka's producers of that age count it.
    #[inline]
    pub fn message_bytes(&self, key_bytes: Option<usize>, value_bytes: Option<usize>) -> usize {
        self.format.overhead_bytes() + key_bytes.unwrap_or(0) + value_bytes.unwrap_or(0)
    }

    /// Appends a message with key and value.
    pub fn append(&mut self, timestamp_ms: i64, key: Option<&[u8]>, value: Option<&[u8]>) {
        let start = self.begin(timestamp_ms, 0);
        self.put_nullable(key);
        self.put_nullable(value);
        self.end(start);
    }

    /// Appends a message whose value `fill` writes straight into the set.
    ///
    /// `fill` gets exactly `value_bytes` bytes, of any contents, and must write them all.
    pub fn append_filled(
        &mut self,
        timestamp_ms: i64,
        key: Option<&[u8]>,
        value_bytes: usize,
        fill: impl FnMut(&mut [u8]),
    ) {
        let start = self.begin(timestamp_ms, 0);
        self.put_nullable(key);
        self.put_filled(value_bytes, fill);
        self.end(start);
    }

    /// Appends a message without key whose value `fill` writes straight into the set.
    ///
    /// `fill` gets exactly `value_bytes` bytes, of any contents, and must write them all. The
    /// timestamp is given as the difference to that of the start, in ms.
    #[inline]
    pub fn append_value_only(
        &mut self,
        timestamp_delta: i64,
        value_bytes: usize,
        fill: impl FnOnce(&mut [u8]),
    ) {
        let start = self.begin(self.base_timestamp_ms.wrapping_add(timestamp_delta), 0);
        self.put_nullable(None);
        self.put_filled(value_bytes, fill);
        self.end(start);
    }

    /// Writes everything before the key; returns the position of the message.
    #[inline]
    fn begin(&mut self, timestamp_ms: i64, attributes: u8) -> usize {
        let start = self.buffer.len();
        self.buffer
            .extend_from_slice(&i64::from(self.records).to_be_bytes());
        // Size and CRC follow at the end.
        self.buffer.extend_from_slice(&[0; 8]);
        self.buffer
            .extend_from_slice(&[self.format.magic(), attributes]);
        if self.format == Format::V1 {
            self.buffer.extend_from_slice(&timestamp_ms.to_be_bytes());
        }
        self.timestamp_ms_max = self.timestamp_ms_max.max(timestamp_ms);
        start
    }

    fn put_filled(&mut self, value_bytes: usize, fill: impl FnOnce(&mut [u8])) {
        self.buffer
            .extend_from_slice(&(value_bytes as i32).to_be_bytes());
        let at = self.buffer.len();
        self.buffer.resize(at + value_bytes, 0);
        fill(&mut self.buffer[at..]);
    }

    #[inline]
    fn put_nullable(&mut self, bytes: Option<&[u8]>) {
        let length = bytes.map_or(-1, |bytes| bytes.len() as i32);
        self.buffer.extend_from_slice(&length.to_be_bytes());
        self.buffer.extend_from_slice(bytes.unwrap_or_default());
    }

    #[inline]
    fn end(&mut self, start: usize) {
        self.seal(start);
        self.records += 1;
    }

    /// Writes size and CRC of the message from `start` to the end.
    #[inline]
    fn seal(&mut self, start: usize) {
        let size = (self.buffer.len() - start - LOG_OVERHEAD) as i32;
        let crc = crc32(&self.buffer[start + CRC_FROM..]);
        self.buffer[start + 8..start + LOG_OVERHEAD].copy_from_slice(&size.to_be_bytes());
        self.buffer[start + LOG_OVERHEAD..start + CRC_FROM].copy_from_slice(&crc.to_be_bytes());
    }

    /// Completes the set.
    pub fn finish(&mut self) -> &[u8] {
        debug_assert!(self.records > 0, "an empty set says nothing");
        self.bytes()
    }

    /// Completes the set as one message that holds all of them compressed; until the next start
    /// nothing can be appended.
    ///
    /// On an error the messages stay as they were.
    pub fn finish_compressed(
        &mut self,
        compressor: &mut Compressor,
    ) -> Result<&[u8], CompressError> {
        let codec = compressor.codec();
        if codec == Codec::None {
            return Ok(self.finish());
        }
        let legacy = codec == Codec::Lz4 && self.format == Format::V0;
        let inside = compressor.compress(&self.buffer)?;
        // The wrapper has the offset of its last message.
        let (records, last) = (self.records, self.records.saturating_sub(1));
        self.buffer.clear();
        self.records = last;
        let start = self.begin(self.timestamp_ms_max, codec.id());
        self.records = records;
        self.put_nullable(None);
        let at = self.buffer.len() + 4;
        self.put_nullable(Some(inside));
        if legacy {
            lz4_legacy_checksum(&mut self.buffer[at..]);
        }
        self.seal(start);
        Ok(self.bytes())
    }

    /// The set that was finished last.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }
}
