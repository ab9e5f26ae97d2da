//! Decompresses records sections.

use super::gzip::GzipDecompressor;
use super::zstandard::ZstdDecompressor;
use super::{Codec, DecompressError, lz4, snappy};

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
