//! From the plan's words to the codec's.

use kgauge_scenario::{Compression, CompressionCodec};
use kgauge_wire::compress::{Codec, CompressError, Compressor};

/// The compressor that a producer's settings ask for; `None` when nothing is compressed.
pub(crate) fn compressor(compression: Compression) -> Result<Option<Compressor>, CompressError> {
    let codec = match compression.codec {
        CompressionCodec::None => return Ok(None),
        CompressionCodec::Gzip => Codec::Gzip,
        CompressionCodec::Snappy => Codec::Snappy,
        CompressionCodec::Lz4 => Codec::Lz4,
        CompressionCodec::Zstd => Codec::Zstd,
    };
    Compressor::new(codec, compression.level).map(Some)
}
