//! What can go wrong when a records section is compressed or decompressed.

use super::Codec;

/// A compressor that cannot be made, or a section that it cannot compress.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompressError {
    /// A level that Kafka does not have for the codec.
    #[error("{codec} has no level {level}; Kafka takes {allowed}")]
    LevelUnknown {
        /// The codec.
        codec: Codec,
        /// The level that was asked for.
        level: i32,
        /// The levels that there are, in words.
        allowed: &'static str,
    },
    /// A level that Kafka has and this library does not.
    #[error(
        "lz4 level {level} is Kafka's slow compressor, which is not available here; level 9, \
         the default, is the fast one"
    )]
    Lz4Level {
        /// The level that was asked for.
        level: i32,
    },
    /// The codec's own failure: out of memory, or a section beyond what its format can hold.
    #[error("{codec} failed: {reason}")]
    Failed {
        /// The codec.
        codec: Codec,
        /// The library's words.
        reason: String,
    },
}

/// A section that cannot be decompressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecompressError {
    /// The output would be larger than the caller allows.
    #[error("they are larger than {bytes_max} bytes when decompressed")]
    TooLarge {
        /// The caller's limit.
        bytes_max: usize,
    },
    /// The input ends before its format does.
    #[error("the input is cut short")]
    CutShort,
    /// The input is not what the codec writes.
    #[error("{0}")]
    Malformed(String),
}

impl DecompressError {
    pub(super) fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
    }
}
