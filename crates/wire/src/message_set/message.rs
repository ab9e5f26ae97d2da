//! One message, where it lies.

use super::error::MessageError;
use super::{CODEC_MASK, CRC_FROM, Format, LOG_OVERHEAD, crc32};
use crate::compress::Codec;

/// A message with its fixed fields read; key and value wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHead<'a> {
    /// Its offset; of a wrapper that of the last message inside.
    pub offset: i64,
    /// Its format.
    pub format: Format,
    /// Its attributes.
    pub attributes: u8,
    /// Its timestamp, ms; -1 in format 0.
    pub timestamp_ms: i64,
    /// All of it.
    bytes: &'a [u8],
}

/// Key and value of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageContent<'a> {
    /// The key.
    pub key: Option<&'a [u8]>,
    /// The value; of a wrapper the compressed messages.
    pub value: Option<&'a [u8]>,
}

impl<'a> MessageHead<'a> {
    /// Reads the message at the start of `bytes`, which must hold at least [`CRC_FROM`] + 1 of them.
    /// `None` if it is cut off.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Option<MessageHead<'a>>, MessageError> {
        let Some((head, _)) = bytes.split_first_chunk::<{ CRC_FROM + 1 }>() else {
            return Ok(None);
        };
        let (offset, rest) = head.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
        let (size, _) = rest.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
        let (size, magic) = (i32::from_be_bytes(*size), head[CRC_FROM]);
        let format = Format::of_magic(magic).ok_or(MessageError::Magic { magic })?;
        let whole = usize::try_from(size).map_or(0, |size| LOG_OVERHEAD.saturating_add(size));
        if whole < format.overhead_bytes() {
            return Err(MessageError::TooSmall { size });
        }
        let Some(bytes) = bytes.get(..whole) else {
            return Ok(None);
        };
        let timestamp_ms = match (format, bytes.get(18..26).and_then(|at| at.first_chunk())) {
            (Format::V1, Some(at)) => i64::from_be_bytes(*at),
            _ => -1,
        };
        Ok(Some(MessageHead {
            offset: i64::from_be_bytes(*offset),
            format,
            attributes: bytes[CRC_FROM + 1],
            timestamp_ms,
            bytes,
        }))
    }

    /// All bytes of it.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the bytes are those that were written.
    pub fn check_crc(&self) -> Result<(), MessageError> {
        let stored = self.bytes[LOG_OVERHEAD..CRC_FROM].first_chunk();
        let stored = stored.map_or(0, |stored| u32::from_be_bytes(*stored));
        let computed = crc32(&self.bytes[CRC_FROM..]);
        if stored != computed {
            return Err(MessageError::Crc { stored, computed });
        }
        Ok(())
    }

    /// The codec of what is inside; `None`: it is no wrapper.
    pub fn codec(&self) -> Result<Codec, MessageError> {
        let id = self.attributes & CODEC_MASK;
        match Codec::from_id(id) {
            Some(codec) if codec.is_in_message_sets() => Ok(codec),
            Some(_) | None => Err(MessageError::UnknownCodec { id }),
        }
    }

    /// Key and value.
    pub fn message(&self) -> Result<MessageContent<'a>, MessageError> {
        let fixed = self.format.overhead_bytes() - 8;
        let mut rest = &self.bytes[fixed..];
        let key = field(&mut rest, "key")?;
        let value = field(&mut rest, "value")?;
        match rest.len() {
            0 => Ok(MessageContent { key, value }),
            bytes => Err(MessageError::Trailing { bytes }),
        }
    }
}

fn field<'a>(rest: &mut &'a [u8], field: &'static str) -> Result<Option<&'a [u8]>, MessageError> {
    let wrong = |length| MessageError::Length { field, length };
    let (length, after) = rest.split_first_chunk::<4>().ok_or(wrong(0))?;
    let length = i32::from_be_bytes(*length);
    if length == -1 {
        *rest = after;
        return Ok(None);
    }
    let bytes = usize::try_from(length).map_err(|_| wrong(length))?;
    let (found, after) = after.split_at_checked(bytes).ok_or(wrong(length))?;
    *rest = after;
    Ok(Some(found))
}
