//! What can be wrong with a message.

use crate::compress::{Codec, DecompressError};
use crate::record_batch::BatchError;

/// A message, or a batch among messages, that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The size field leaves no room for the fixed fields.
    #[error("the message size {size} is smaller than a message can be")]
    TooSmall {
        /// The size field.
        size: i32,
    },
    /// The bytes are not those that were written.
    #[error("the message's CRC is {stored:#010x} but its bytes give {computed:#010x}")]
    Crc {
        /// The value in the message.
        stored: u32,
        /// What the bytes give.
        computed: u32,
    },
    /// Another magic in place of one of an old message format.
    #[error("message format {magic} inside of a message set")]
    Magic {
        /// The magic byte.
        magic: u8,
    },
    /// A key or value length beyond the message's end, or below -1.
    #[error("the {field} of the message has the length {length}")]
    Length {
        /// `key` or `value`.
        field: &'static str,
        /// The length field.
        length: i32,
    },
    /// Bytes are left after the value.
    #[error("{bytes} bytes follow the message's value")]
    Trailing {
        /// How many.
        bytes: usize,
    },
    /// A codec number that these formats do not have.
    #[error("compression codec {id} is unknown in message formats 0 and 1")]
    UnknownCodec {
        /// The number in the attributes.
        id: u8,
    },
    /// The messages inside cannot be decompressed.
    #[error("the messages cannot be decompressed as {codec}: {source}")]
    Decompress {
        /// The codec of the attributes.
        codec: Codec,
        /// Why not.
        source: DecompressError,
    },
    /// A compressed message without messages, one cut short, or compressed messages inside.
    #[error("a compressed message {what}")]
    Wrapper {
        /// What is wrong with it.
        what: &'static str,
    },
    /// A record batch that follows messages.
    #[error(transparent)]
    Batch(#[from] BatchError),
}
