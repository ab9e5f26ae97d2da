//! Snappy in the framing of snappy-java, which Kafka's producers write: a header, then a length and
//! a raw snappy block for each 32 KiB of input. Other clients write one raw block without framing;
//! both are read.
//!
//! Source: the class documentation of snappy-java's `SnappyOutputStream`.

use super::{Codec, CompressError, DecompressError};

/// 0x82 "SNAPPY" 0x00, the version and the oldest version that can read it, both 1.
const HEADER: [u8; 16] = [
    0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1,
];
const MAGIC_BYTES: usize = 8;
const VERSION_OLDEST: [u8; 4] = [0, 0, 0, 1];
const LENGTH_BYTES: usize = 4;
const BLOCK_BYTES: usize = 32 * 1024;

/// A raw block's longest copy is 64 bytes and takes 3, so no byte of input gives more than 22 of
/// output.
const EXPANSION_MAX: usize = 22;

/// Keeps the match table.
#[derive(Debug)]
pub(super) struct SnappyCompressor {
    encoder: snap::raw::Encoder,
}

impl SnappyCompressor {
    pub(super) fn new() -> Self {
        Self {
            encoder: snap::raw::Encoder::new(),
        }
    }

    pub(super) fn compress(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), CompressError> {
        output.extend_from_slice(&HEADER);
        for block in input.chunks(BLOCK_BYTES) {
            let start = output.len() + LENGTH_BYTES;
            output.resize(start + snap::raw::max_compress_len(block.len()), 0);
            let written = self
                .encoder
                .compress(block, &mut output[start..])
                .map_err(|error| CompressError::Failed {
                    codec: Codec::Snappy,
                    reason: error.to_string(),
                })?;
            output[start - LENGTH_BYTES..start].copy_from_slice(&(written as u32).to_be_bytes());
            output.truncate(start + written);
        }
        Ok(())
    }
}

pub(super) fn decompress(
    input: &[u8],
    output: &mut Vec<u8>,
    bytes_max: usize,
) -> Result<(), DecompressError> {
    if !input.starts_with(&HEADER[..MAGIC_BYTES]) {
        return raw_block(input, output, bytes_max);
    }
    let mut rest = after_header(input)?;
    while !rest.is_empty() {
        // Streams written one behind another: no block is as long as the magic would say.
        if rest.starts_with(&HEADER[..MAGIC_BYTES]) {
            rest = after_header(rest)?;
            continue;
        }
        let Some((length, after)) = rest.split_first_chunk::<LENGTH_BYTES>() else {
            return Err(DecompressError::CutShort);
        };
        let length = u32::from_be_bytes(*length) as usize;
        let Some((block, after)) = after.split_at_checked(length) else {
            return Err(DecompressError::CutShort);
        };
        raw_block(block, output, bytes_max)?;
        rest = after;
    }
    Ok(())
}

/// What follows the header, whose magic was seen.
fn after_header(input: &[u8]) -> Result<&[u8], DecompressError> {
    let Some((header, rest)) = input.split_first_chunk::<{ HEADER.len() }>() else {
        return Err(DecompressError::CutShort);
    };
    let versions = &header[MAGIC_BYTES..];
    if versions[..LENGTH_BYTES] < VERSION_OLDEST[..] {
        return Err(DecompressError::malformed(
            "the snappy framing has a version below 1",
        ));
    }
    Ok(rest)
}

/// Decompresses one block to the end of `output`.
fn raw_block(block: &[u8], output: &mut Vec<u8>, bytes_max: usize) -> Result<(), DecompressError> {
    let malformed = |error: snap::Error| DecompressError::malformed(format!("snappy: {error}"));
    if block.is_empty() {
        return Err(DecompressError::CutShort);
    }
    let length = snap::raw::decompress_len(block).map_err(malformed)?;
    if length > bytes_max.saturating_sub(output.len()) {
        return Err(DecompressError::TooLarge { bytes_max });
    }
    if length > block.len().saturating_mul(EXPANSION_MAX) {
        return Err(DecompressError::malformed(
            "a snappy block promises more than it can hold",
        ));
    }
    let start = output.len();
    output.resize(start + length, 0);
    let written = snap::raw::Decoder::new()
        .decompress(block, &mut output[start..])
        .map_err(malformed)?;
    output.truncate(start + written);
    Ok(())
}
