//! Decompresses records sections.

use super::{Codec, CompressError};

/// Decompresses any codec, over contexts that it keeps.
#[derive(Debug, Default)]
pub struct Decompressor {}

impl Decompressor {
    /// A decompressor; it allocates its contexts when they are first needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the contents of `output` by the decompressed `input`, at most `bytes_max` bytes.
    pub fn decompress(
        &mut self,
        codec: Codec,
        input: &[u8],
        output: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Result<(), CompressError> {
        output.clear();
        match codec {
            Codec::None if input.len() > bytes_max => Err(CompressError::TooLarge { bytes_max }),
            Codec::None => {
                output.extend_from_slice(input);
                Ok(())
            }
            other => Err(CompressError::Unsupported(other)),
        }
    }
}
