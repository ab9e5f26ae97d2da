//! Compresses records sections.

use super::gzip::GzipCompressor;
use super::lz4::Lz4Compressor;
use super::snappy::SnappyCompressor;
use super::zstandard::ZstdCompressor;
use super::{Codec, CompressError};

/// Compresses with one codec and level, over contexts and an output buffer that it keeps.
#[derive(Debug)]
pub struct Compressor {
    codec: Codec,
    state: State,
    output: Vec<u8>,
}

#[derive(Debug)]
enum State {
    None,
    Gzip(Box<GzipCompressor>),
    Snappy(Box<SnappyCompressor>),
    Lz4(Box<Lz4Compressor>),
    Zstd(ZstdCompressor),
}

impl Default for Compressor {
    /// Compresses nothing.
    fn default() -> Self {
        Self {
            codec: Codec::None,
            state: State::None,
            output: Vec::new(),
        }
    }
}

impl Compressor {
    /// A compressor for `codec`; no level means Kafka's default.
    ///
    /// See [`Codec::check_level`] for the levels.
    pub fn new(codec: Codec, level: Option<i32>) -> Result<Self, CompressError> {
        let level = codec.check_level(level)?.unwrap_or(0);
        let state = match codec {
            Codec::None => State::None,
            Codec::Gzip => State::Gzip(Box::new(GzipCompressor::new(level))),
            Codec::Snappy => State::Snappy(Box::new(SnappyCompressor::new())),
            Codec::Lz4 => State::Lz4(Box::new(Lz4Compressor::new())),
            Codec::Zstd => State::Zstd(ZstdCompressor::new(level)?),
        };
        Ok(Self {
            codec,
            state,
            output: Vec::new(),
        })
    }

    /// The codec that this compresses with.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Compresses `input` as a whole. The result stands until the next call.
    pub fn compress(&mut self, input: &[u8]) -> Result<&[u8], CompressError> {
        let output = &mut self.output;
        output.clear();
        match &mut self.state {
            State::None => output.extend_from_slice(input),
            State::Gzip(gzip) => gzip.compress(input, output)?,
            State::Snappy(snappy) => snappy.compress(input, output)?,
            State::Lz4(lz4) => lz4.compress(input, output)?,
            State::Zstd(zstd) => zstd.compress(input, output)?,
        }
        Ok(output)
    }
}
