//! The primitive types of Kafka's protocol: reading them from borrowed bytes, writing them to a
//! growing buffer. Facts: <https://kafka.apache.org/protocol.html#protocol_types>.

mod error;
mod reader;
mod uuid;
mod writer;

use std::borrow::Cow;

pub use error::{DecodeError, EncodeError};
pub use reader::Reader;
pub use uuid::{Uuid, UuidError};
pub use writer::*;

/// Text that is borrowed from a received frame, or owned by who builds a message.
pub type Str<'a> = Cow<'a, str>;

/// Bytes that are borrowed from a received frame, or owned by who builds a message.
pub type Bytes<'a> = Cow<'a, [u8]>;

/// The longest string that the protocol carries, in bytes: Kafka keeps the limit of the old
/// two-byte length in the compact form as well.
pub const STRING_BYTES_MAX: usize = i16::MAX as usize;

/// How strings, bytes and arrays carry their lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lengths {
    /// Two bytes for strings, four for bytes and arrays; −1 means null.
    Fixed,
    /// An unsigned varint of the length plus one; 0 means null. Used by flexible versions (KIP-482).
    Compact,
}

impl Lengths {
    /// The form that goes with a version: compact if it is flexible.
    #[inline]
    pub fn of(version: i16, flexible_from: i16) -> Self {
        if version >= flexible_from {
            Self::Compact
        } else {
            Self::Fixed
        }
    }
}
