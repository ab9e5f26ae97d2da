//! What can go wrong when a records section is compressed or decompressed.

use super::Codec;

/// A section that cannot be compressed or decompressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompressError {
    /// The codec is not there yet.
    #[error("codec {0} is not supported")]
    Unsupported(Codec),
    /// The output would be larger than the caller allows.
    #[error("the data decompress to more than {bytes_max} bytes")]
    TooLarge {
        /// The caller's limit.
        bytes_max: usize,
    },
    /// The input is not what the codec writes.
    #[error("{0}")]
    Malformed(String),
    /// A level that Kafka does not know for the codec.
    #[error("{codec} has no level {level}")]
    Level {
        /// The codec.
        codec: Codec,
        /// The level that was asked for.
        level: i32,
    },
}
