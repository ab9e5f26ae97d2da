//! Converts settings of the plan to types of `wire`.

use kgauge_scenario::{Compression, CompressionCodec};
use kgauge_wire::compress::{Codec, CompressError, Compressor};

/// The codec of `wire`: both use Kafka's names.
pub fn codec(codec: CompressionCodec) -> Codec {
    Codec::from_name(codec.name()).unwrap_or_default()
}

/// The compressor for a producer's settings; `None` if records are not compressed.
pub(crate) fn compressor(compression: Compression) -> Result<Option<Compressor>, CompressError> {
    match codec(compression.codec) {
        Codec::None => Ok(None),
        codec => Compressor::new(codec, compression.level).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_of_a_scenario_is_one_of_the_wire() {
        let codecs = CompressionCodec::NAMES.map(|(_, named)| codec(named));
        assert_eq!(codecs, Codec::ALL);
    }
}
