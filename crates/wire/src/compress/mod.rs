//! The codecs of Kafka's record batches, with Kafka's numbers, names, levels and framing.
//!
//! | codec | written as | read |
//! |---|---|---|
//! | gzip | one member (RFC 1952) | any number of members |
//! | snappy | snappy-java's framing ("Xerial") of blocks of 32 KiB input | that, or one raw block |
//! | lz4 | one frame of independent 64 KiB blocks | one frame without dictionary |
//! | zstd | one frame (RFC 8878) with its content size | any number of frames |
//!
//! Levels are those of `compression.gzip.level`, `compression.lz4.level` and
//! `compression.zstd.level`; [`Codec::levels`] explains each range. Kafka writes lz4 by
//! the fast compressor at its default level 9 and by the slow "high compression" one at all others.
//! There is no slow compressor in pure Rust, so that the other levels are refused by name instead
//! of being measured as something else.
//!
//! The compressed bytes are not those that Java's libraries write (other match finders), only of
//! the same format. zstd knows the size of its input here and fits its tables to it, while Kafka's
//! producer streams: it takes less time for small batches than Java's, at about the same ratio.
//!
//! Where to start: [`Compressor`] and [`Decompressor`]. Both keep their contexts; make one per
//! thread.

mod codec;
mod error;
mod gzip;
mod lz4;
mod snappy;
mod zstandard;

use gzip::{GzipCompressor, GzipDecompressor};
use lz4::Lz4Compressor;
use snappy::SnappyCompressor;
use zstandard::{ZstdCompressor, ZstdDecompressor};

pub use codec::{Codec, CodecRelease};
pub use error::{CompressError, DecompressError};
pub(crate) use lz4::legacy_checksum as lz4_legacy_checksum;

/// The library's own choice.
const GZIP_LEVEL_DEFAULT: i32 = -1;

/// The one level at which Kafka uses LZ4's fast compressor, which has no levels itself.
const LZ4_LEVEL_FAST: i32 = 9;

impl Codec {
    /// The level that Kafka takes if none is configured; `None` for codecs without levels.
    pub fn level_default(self) -> Option<i32> {
        match self {
            Self::None | Self::Snappy => None,
            Self::Gzip => Some(GZIP_LEVEL_DEFAULT),
            Self::Lz4 => Some(LZ4_LEVEL_FAST),
            Self::Zstd => Some(3),
        }
    }

    /// The levels that Kafka knows, in words.
    ///
    /// gzip: 1 fast to 9 small, -1 the library's own choice, which is 6. lz4: 9 is the fast
    /// compressor and all others the slow one. zstd: negative ones are faster and compress less,
    /// those from 20 take much memory.
    pub fn levels(self) -> &'static str {
        match self {
            Self::None | Self::Snappy => "no level",
            Self::Gzip => "1 to 9, or -1",
            Self::Lz4 => "1 to 17, of which only 9 is available here",
            Self::Zstd => "-131072 to 22",
        }
    }

    /// The level to compress with: the given one, if it is one of Kafka's, or Kafka's default.
    pub fn check_level(self, level: Option<i32>) -> Result<Option<i32>, CompressError> {
        let Some(level) = level else {
            return Ok(self.level_default());
        };
        let known = match self {
            Self::None | Self::Snappy => false,
            Self::Gzip => level == GZIP_LEVEL_DEFAULT || (1..=9).contains(&level),
            Self::Lz4 => (1..=17).contains(&level),
            Self::Zstd => (-131_072..=22).contains(&level),
        };
        if !known {
            let allowed = self.levels();
            return Err(CompressError::LevelUnknown {
                codec: self,
                level,
                allowed,
            });
        }
        if self == Self::Lz4 && level != LZ4_LEVEL_FAST {
            return Err(CompressError::Lz4Level { level });
        }
        Ok(Some(level))
    }
}

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

    /// Compresses `input` as a whole. The result is valid until the next call.
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

/// Decompresses any codec, over contexts that it keeps.
#[derive(Debug, Default)]
pub struct Decompressor {
    gzip: Option<Box<GzipDecompressor>>,
    zstd: Option<ZstdDecompressor>,
}

impl Decompressor {
    /// A decompressor; it makes its contexts when they are first needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the contents of `output` by the decompressed `input`, at most `bytes_max` bytes.
    ///
    /// `output` grows as the data do and not by what their headers promise. After an error its
    /// contents are of no use.
    pub fn decompress(
        &mut self,
        codec: Codec,
        input: &[u8],
        output: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Result<(), DecompressError> {
        output.clear();
        match codec {
            Codec::None if input.len() > bytes_max => Err(DecompressError::TooLarge { bytes_max }),
            Codec::None => {
                output.extend_from_slice(input);
                Ok(())
            }
            Codec::Gzip => self
                .gzip
                .get_or_insert_default()
                .decompress(input, output, bytes_max),
            Codec::Snappy => snappy::decompress(input, output, bytes_max),
            Codec::Lz4 => lz4::decompress(input, output, bytes_max),
            Codec::Zstd => self
                .zstd
                .get_or_insert_default()
                .decompress(input, output, bytes_max),
        }
    }
}
