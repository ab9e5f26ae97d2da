//! Message sets: what Produce and Fetch carried before Kafka 0.11, in the message formats 0 and 1.
//!
//! A set is one message after another; its end is that of the bytes, and a Fetch response may cut the
//! last one off. Compression wraps: a message whose value is a compressed set.
//!
//! | offset | bytes | field | inside the CRC |
//! |---:|---:|---|---|
//! | 0 | 8 | offset | no |
//! | 8 | 4 | message size: bytes after this field | no |
//! | 12 | 4 | CRC-32 of all that follows | no |
//! | 16 | 1 | magic: 0 or 1 | yes |
//! | 17 | 1 | attributes: codec in bits 0 to 2, in format 1 timestamp type in bit 3 | yes |
//! | 18 | 8 | timestamp, ms; only in format 1 | yes |
//! | | 4 | key length, -1 for none | yes |
//! | | | key | yes |
//! | | 4 | value length, -1 for none | yes |
//! | | | value | yes |
//!
//! Numbers are big-endian. The wrapper's offset is that of the last message inside. Inside, format 0
//! has the offsets themselves, format 1 those relative to the first (KIP-31). Source: "Old Message
//! Format" in the implementation chapter of Kafka's documentation, KIP-31 and KIP-32.
//!
//! In format 0 the checksum in the header of an LZ4 frame is computed over the wrong bytes
//! (KAFKA-3160): it is written so, because brokers of that age refuse the right one.
//!
//! Where to start: [`MessageSetEncoder`] writes, [`messages`] reads, [`tally`] counts sets and record
//! batches alike.

mod encode;
mod error;
mod iter;
mod message;
mod tally;

pub use encode::MessageSetEncoder;
pub use error::MessageError;
pub use iter::{Entries, messages};
pub use message::{MessageContent, MessageHead};
pub use tally::tally;

/// Bytes of offset and message size, which the message size does not count.
pub const LOG_OVERHEAD: usize = 12;

/// The first byte that the CRC covers.
const CRC_FROM: usize = 16;

/// Bits of the attributes that name the codec.
const CODEC_MASK: u8 = 7;

/// How messages are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Without timestamps: Kafka 0.8 and 0.9.
    V0,
    /// With timestamps: Kafka 0.10.
    V1,
}

impl Format {
    /// The magic byte.
    pub fn magic(self) -> u8 {
        match self {
            Format::V0 => 0,
            Format::V1 => 1,
        }
    }

    /// The format of a magic byte, if it is one of the two.
    pub fn of_magic(magic: u8) -> Option<Format> {
        match magic {
            0 => Some(Format::V0),
            1 => Some(Format::V1),
            _ => None,
        }
    }

    /// Bytes of a message beside key and value, offset and size included.
    pub fn overhead_bytes(self) -> usize {
        match self {
            Format::V0 => LOG_OVERHEAD + 14,
            Format::V1 => LOG_OVERHEAD + 22,
        }
    }
}

/// CRC-32 as in gzip and Java's `java.util.zip.CRC32`.
fn crc32(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iso_hdlc(bytes)
}
