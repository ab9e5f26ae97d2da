//! Writes batches record by record into one reused buffer: the load engine's hot path.

mod keyed;

use super::header::{Attributes, BatchHeader};
use super::log::write_crc;
use super::packed::PackedBytes;
use super::prefix::Prefix;
use super::size::body_bytes;
use super::varint::{VARINT_BYTES_MAX, VARLONG_BYTES_MAX};
use super::writer::FieldWriter;
use super::{HEADER_BYTES, LOG_OVERHEAD, MAGIC, NONE, ProducerState, record_bytes};
use crate::compress::{Codec, CompressError, Compressor};

pub use keyed::KeySlot;

/// Room kept free behind the records, so that the start of any record can be written without
/// asking: length, attributes, two deltas, key length, value length, and eight to spare for writing
/// whole words.
const SLACK_BYTES: usize = 4 * VARINT_BYTES_MAX + VARLONG_BYTES_MAX + 1 + 8;

/// Builds one batch at a time in a buffer that it keeps.
///
/// [`start`](Self::start), then append, then [`finish`](Self::finish); [`bytes`](Self::bytes) is
/// the batch until the next start. Nothing is allocated once the buffer has seen its largest batch.
/// The engine keeps a pool of encoders, and an encoder whose batch is on its way holds the bytes
/// for a retry.
///
/// A batch must stay below 2 GiB, which `batch_bytes_max` of [`has_room_for`](Self::has_room_for)
/// keeps: records that would make it larger panic.
///
/// ```
/// use kgauge_wire::record_batch::{BatchEncoder, ProducerState, batches};
///
/// let mut encoder = BatchEncoder::default();
/// encoder.start(1_700_000_000_000);
/// encoder.append(1_700_000_000_000, Some(b"key"), Some(b"value"), &[]);
/// encoder.append_value_only(1, 5, |value| value.copy_from_slice(b"other"));
/// let bytes = encoder.finish(&ProducerState::NONE);
/// assert_eq!(batches(bytes).next().unwrap().unwrap().header.record_count, 2);
/// ```
#[derive(Debug, Clone)]
pub struct BatchEncoder {
    /// Initialised up to its length, which only grows; the batch ends at `end`.
    buffer: Vec<u8>,
    end: usize,
    base_timestamp_ms: i64,
    timestamp_delta_max: i64,
    records: i32,
    prefix: Prefix,
    /// What the records section is compressed with; nothing may be appended to a compressed one.
    codec: Codec,
}

impl Default for BatchEncoder {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl BatchEncoder {
    /// An encoder over `buffer`, whose contents are overwritten and whose capacity is used.
    pub fn new(mut buffer: Vec<u8>) -> Self {
        let bytes = buffer.capacity().max(HEADER_BYTES + SLACK_BYTES);
        buffer.resize(bytes, 0);
        Self {
            buffer,
            end: HEADER_BYTES,
            base_timestamp_ms: 0,
            timestamp_delta_max: 0,
            records: 0,
            prefix: Prefix::UNSET,
            codec: Codec::None,
        }
    }

    /// An encoder with room for a batch of `batch_bytes`.
    pub fn with_capacity(batch_bytes: usize) -> Self {
        Self::new(Vec::with_capacity(batch_bytes + SLACK_BYTES))
    }

    /// Begins a new batch and forgets the one before.
    ///
    /// Kafka's producer takes the timestamp of the first record as base; so should the caller.
    pub fn start(&mut self, base_timestamp_ms: i64) {
        self.end = HEADER_BYTES;
        self.base_timestamp_ms = base_timestamp_ms;
        self.timestamp_delta_max = i64::MIN;
        self.records = 0;
        self.prefix = Prefix::UNSET;
        self.codec = Codec::None;
    }

    /// Records appended since the start.
    #[inline]
    pub fn records(&self) -> u32 {
        self.records as u32
    }

    /// Nothing was appended since the start.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// The timestamp that the batch was started with.
    #[inline]
    pub fn base_timestamp_ms(&self) -> i64 {
        self.base_timestamp_ms
    }

    /// Bytes of the batch so far, header included; after compression those of the compressed batch.
    #[inline]
    pub fn batch_bytes(&self) -> usize {
        self.end
    }

    /// Bytes that a record would add, if it came next.
    #[inline]
    pub fn next_record_bytes(
        &self,
        timestamp_ms: i64,
        key_bytes: Option<usize>,
        value_bytes: Option<usize>,
        headers: &[(&str, Option<&[u8]>)],
    ) -> usize {
        let timestamp_delta = timestamp_ms.wrapping_sub(self.base_timestamp_ms);
        record_bytes(
            self.records,
            timestamp_delta,
            key_bytes,
            value_bytes,
            headers,
        )
    }

    /// Whether `record_bytes` more keep the batch within `batch_bytes_max`.
    ///
    /// As in Kafka's producer the first record always has room, however large it is.
    #[inline]
    pub fn has_room_for(&self, record_bytes: usize, batch_bytes_max: usize) -> bool {
        self.records == 0 || self.end + record_bytes <= batch_bytes_max
    }

    /// Appends a record with everything that a record can have.
    #[inline]
    pub fn append(
        &mut self,
        timestamp_ms: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[(&str, Option<&[u8]>)],
    ) {
        let timestamp_delta = timestamp_ms.wrapping_sub(self.base_timestamp_ms);
        let copy = |to: &mut [u8]| to.copy_from_slice(value.unwrap_or_default());
        let value_bytes = value.map(<[u8]>::len);
        if !headers.is_empty() || !self.append_short(timestamp_delta, key, value_bytes, copy) {
            self.append_any(timestamp_delta, key, value, headers);
        }
        self.timestamp_delta_max = self.timestamp_delta_max.max(timestamp_delta);
        self.records += 1;
    }

    /// Appends a record without headers whose value `fill` writes straight into the batch.
    ///
    /// `fill` gets exactly `value_bytes` bytes, of any contents, and must write them all.
    #[inline]
    pub fn append_filled(
        &mut self,
        timestamp_ms: i64,
        key: Option<&[u8]>,
        value_bytes: usize,
        mut fill: impl FnMut(&mut [u8]),
    ) {
        let timestamp_delta = timestamp_ms.wrapping_sub(self.base_timestamp_ms);
        if !self.append_short(timestamp_delta, key, Some(value_bytes), &mut fill) {
            let mut value = vec![0; value_bytes];
            fill(&mut value);
            self.append_any(timestamp_delta, key, Some(&value), &[]);
        }
        self.timestamp_delta_max = self.timestamp_delta_max.max(timestamp_delta);
        self.records += 1;
    }

    /// Appends a record without headers whose numbers are small; false if they are not.
    #[inline]
    fn append_short(
        &mut self,
        timestamp_delta: i64,
        key: Option<&[u8]>,
        value: Option<usize>,
        fill: impl FnOnce(&mut [u8]),
    ) -> bool {
        let (key_bytes, value_bytes) = (key.map_or(0, <[u8]>::len), value.unwrap_or(0));
        let Some((timestamp, offset)) = PackedBytes::deltas(timestamp_delta, self.records) else {
            return false;
        };
        if key_bytes.saturating_add(value_bytes) > PackedBytes::LENGTH_MAX {
            return false;
        }
        self.make_room(key_bytes + value_bytes);
        let key_length = key.map_or(PackedBytes::NULL, |_| PackedBytes::length(key_bytes));
        let value_length = value.map_or(PackedBytes::NULL, |_| PackedBytes::length(value_bytes));
        let second = offset.then(key_length);
        let numbers = 1 + timestamp.bytes + second.bytes + value_length.bytes + 1;
        let first = PackedBytes::length(numbers + key_bytes + value_bytes)
            .then(PackedBytes::NO_ATTRIBUTES)
            .then(timestamp);

        let to = &mut self.buffer[self.end..];
        let at = first.write(to, 0);
        let at = second.write(to, at);
        to[at..at + key_bytes].copy_from_slice(key.unwrap_or_default());
        let at = value_length.write(to, at + key_bytes);
        fill(&mut to[at..at + value_bytes]);
        let at = at + value_bytes;
        to[at] = 0; // No headers.
        self.end += at + 1;
        true
    }

    fn append_any(
        &mut self,
        timestamp_delta: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[(&str, Option<&[u8]>)],
    ) {
        let lengths = (key.map(<[u8]>::len), value.map(<[u8]>::len));
        let body = body_bytes(self.records, timestamp_delta, lengths.0, lengths.1, headers);
        self.make_room(body);
        let mut writer = FieldWriter::new(&mut self.buffer[self.end..]);
        writer.length(body);
        writer.byte(0); // No attributes.
        writer.varlong(timestamp_delta);
        writer.varint(self.records);
        writer.nullable(key);
        writer.nullable(value);
        writer.length(headers.len());
        for (key, value) in headers {
            writer.nullable(Some(key.as_bytes()));
            writer.nullable(*value);
        }
        self.end += writer.written();
    }

    /// Appends a record without key and headers whose value `fill` writes straight into the batch.
    ///
    /// `fill` gets exactly `value_bytes` bytes, of any contents, and must write them all. The
    /// timestamp is given as the difference to the batch's base timestamp, in ms.
    #[inline]
    pub fn append_value_only(
        &mut self,
        timestamp_delta: i64,
        value_bytes: usize,
        fill: impl FnOnce(&mut [u8]),
    ) {
        self.make_room(value_bytes);
        let to = &mut self.buffer[self.end..];
        let at = if self.prefix.fits(timestamp_delta, self.records, value_bytes) {
            self.prefix.write(to, self.records)
        } else {
            self.timestamp_delta_max = self.timestamp_delta_max.max(timestamp_delta);
            if self.prefix.set(timestamp_delta, self.records, value_bytes) {
                self.prefix.write(to, self.records)
            } else {
                write_long_prefix(to, timestamp_delta, self.records, value_bytes)
            }
        };
        // Cut to what is used, so that one comparison serves all that follows.
        let to = &mut to[at..=at + value_bytes];
        to[value_bytes] = 0; // No headers.
        fill(&mut to[..value_bytes]);
        self.end += at + value_bytes + 1;
        self.records += 1;
    }

    /// Makes sure that a record with a body or payload of `bytes` can be written at the end.
    #[inline]
    fn make_room(&mut self, bytes: usize) {
        debug_assert!(
            self.codec == Codec::None,
            "a compressed batch takes no more records"
        );
        if self.buffer.len() - self.end < bytes + SLACK_BYTES {
            self.grow(bytes);
        }
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        let needed = self.end + bytes + SLACK_BYTES;
        assert!(
            needed <= i32::MAX as usize,
            "a record batch must stay below 2 GiB"
        );
        self.buffer.resize(needed.next_power_of_two(), 0);
    }

    /// Completes the batch: header and CRC. The batch must not be empty.
    pub fn finish(&mut self, producer: &ProducerState) -> &[u8] {
        self.write_header(producer);
        self.bytes()
    }

    /// Completes the batch with its records section compressed; until the next start nothing can be
    /// appended.
    ///
    /// On an error the records stay as they were, so that the batch can be finished otherwise.
    pub fn finish_compressed(
        &mut self,
        producer: &ProducerState,
        compressor: &mut Compressor,
    ) -> Result<&[u8], CompressError> {
        if compressor.codec() != Codec::None {
            debug_assert!(self.codec == Codec::None, "a batch is compressed once");
            let compressed = compressor.compress(&self.buffer[HEADER_BYTES..self.end])?;
            let end = HEADER_BYTES + compressed.len();
            if self.buffer.len() < end {
                self.buffer.resize(end, 0);
            }
            self.buffer[HEADER_BYTES..end].copy_from_slice(compressed);
            self.end = end;
            self.codec = compressor.codec();
        }
        self.write_header(producer);
        Ok(self.bytes())
    }

    fn write_header(&mut self, producer: &ProducerState) {
        debug_assert!(
            self.records > 0,
            "an empty batch is refused by every broker"
        );
        let header = BatchHeader {
            base_offset: 0,
            batch_length: (self.end - LOG_OVERHEAD) as i32,
            leader_epoch: NONE as i32,
            magic: MAGIC,
            crc: 0,
            attributes: producer.attributes(Attributes::default().with_codec(self.codec)),
            last_offset_delta: self.records - 1,
            base_timestamp_ms: self.base_timestamp_ms,
            max_timestamp_ms: self
                .base_timestamp_ms
                .wrapping_add(self.timestamp_delta_max),
            producer_id: producer.id,
            producer_epoch: producer.epoch,
            base_sequence: producer.base_sequence,
            record_count: self.records,
        };
        if let Some(to) = self.buffer.first_chunk_mut::<HEADER_BYTES>() {
            header.write(to);
        }
        write_crc(&mut self.buffer[..self.end]);
    }

    /// The batch that was finished last.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    /// As [`Self::bytes`], to be patched by [`super::rewrite_producer`] before it is sent again.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.end]
    }
}

/// Writes the part before the value of a record without key, for any numbers.
#[cold]
fn write_long_prefix(
    to: &mut [u8],
    timestamp_delta: i64,
    offset_delta: i32,
    value_bytes: usize,
) -> usize {
    let mut writer = FieldWriter::new(to);
    writer.length(body_bytes(
        offset_delta,
        timestamp_delta,
        None,
        Some(value_bytes),
        &[],
    ));
    writer.byte(0); // No attributes.
    writer.varlong(timestamp_delta);
    writer.varint(offset_delta);
    writer.nullable(None);
    writer.length(value_bytes);
    writer.written()
}
