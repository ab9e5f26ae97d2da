//! Zstandard (RFC 8878), by the reference library.
//!
//! Whole sections are given to it at once: it then needs no separate window besides input and
//! output, even for frames that announce one of 128 MiB.

use std::fmt;

use zstd::zstd_safe::{CCtx, DCtx, compress_bound, get_error_name, get_frame_content_size};

use super::{Codec, CompressError, DecompressError};

/// The library's error for an output that is too small: the number 70, negative, as a size.
const ERROR_OUTPUT_TOO_SMALL: usize = 0_usize.wrapping_sub(70);

/// The library's error for an input that ends too early.
const ERROR_INPUT_SIZE: usize = 0_usize.wrapping_sub(72);

/// First guess of the output for a byte of input; doubled as often as need be.
const GROWTH_FIRST: usize = 8;
const OUTPUT_BYTES_FIRST: usize = 64 * 1024;

/// Keeps the compression context.
pub(super) struct ZstdCompressor {
    context: CCtx<'static>,
    level: i32,
}

impl fmt::Debug for ZstdCompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZstdCompressor")
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

impl ZstdCompressor {
    pub(super) fn new(level: i32) -> Result<Self, CompressError> {
        let context = CCtx::try_create().ok_or_else(|| CompressError::Failed {
            codec: Codec::Zstd,
            reason: "out of memory".to_owned(),
        })?;
        Ok(Self { context, level })
    }

    pub(super) fn compress(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), CompressError> {
        output.reserve(compress_bound(input.len()));
        self.context
            .compress(output, input, self.level)
            .map_err(|code| {
                let reason = get_error_name(code).to_owned();
                CompressError::Failed {
                    codec: Codec::Zstd,
                    reason,
                }
            })?;
        Ok(())
    }
}

/// Keeps the decompression context.
pub(super) struct ZstdDecompressor {
    context: DCtx<'static>,
}

impl Default for ZstdDecompressor {
    fn default() -> Self {
        Self {
            context: DCtx::create(),
        }
    }
}

impl fmt::Debug for ZstdDecompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZstdDecompressor").finish_non_exhaustive()
    }
}

impl ZstdDecompressor {
    /// Kafka's producers write frames without their content size. The output's capacity from the
    /// batch before usually suffices; else it is doubled and the frame decompressed again, twice
    /// the work at worst.
    pub(super) fn decompress(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Result<(), DecompressError> {
        if input.is_empty() {
            return Err(DecompressError::CutShort); // To the library it is zero frames.
        }
        let guess = input
            .len()
            .saturating_mul(GROWTH_FIRST)
            .max(OUTPUT_BYTES_FIRST);
        let promised = match get_frame_content_size(input) {
            Ok(Some(bytes)) => usize::try_from(bytes).unwrap_or(usize::MAX),
            Ok(None) | Err(_) => 0,
        };
        if promised > bytes_max {
            return Err(DecompressError::TooLarge { bytes_max });
        }
        // A promise that is kept spares the doubling; one that is large for its input is not
        // believed at once.
        let mut room = guess
            .max(promised.min(guess.saturating_mul(8)))
            .min(bytes_max);
        loop {
            output.clear();
            output.reserve_exact(room);
            match self.context.decompress(output, input) {
                Ok(_) if output.len() > bytes_max => {
                    return Err(DecompressError::TooLarge { bytes_max });
                }
                Ok(_) => return Ok(()),
                Err(ERROR_OUTPUT_TOO_SMALL) if output.capacity() >= bytes_max => {
                    return Err(DecompressError::TooLarge { bytes_max });
                }
                Err(ERROR_OUTPUT_TOO_SMALL) => {
                    room = output.capacity().saturating_mul(2).min(bytes_max);
                }
                Err(ERROR_INPUT_SIZE) => return Err(DecompressError::CutShort),
                Err(code) => {
                    let reason = get_error_name(code);
                    return Err(DecompressError::malformed(format!("zstd: {reason}")));
                }
            }
        }
    }
}
