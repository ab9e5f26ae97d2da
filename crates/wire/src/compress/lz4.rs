//! LZ4 frames, as Kafka writes them for message format 2.
//!
//! Source: the LZ4 frame format description, version 1.6. The blocks are done by `lz4_flex`; the
//! frame is put around them here, since that takes no buffer besides input and output.

use lz4_flex::block::{
    CompressTable, DecompressError as BlockError, compress_into_with_table,
    decompress_into_with_dict, get_maximum_output_size,
};
use twox_hash::XxHash32;

use super::{Codec, CompressError, DecompressError};

const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
/// Version 1, independent blocks, nothing else.
const FLAGS_WRITTEN: u8 = 0x60;
/// Blocks of 64 KiB.
const BLOCK_SIZE_WRITTEN: u8 = 0x40;
/// Second byte of the XXH32 of the two bytes above.
const HEADER_CHECKSUM_WRITTEN: u8 = 0x82;
const BLOCK_BYTES_WRITTEN: usize = 64 * 1024;

const VERSION_MASK: u8 = 0b1100_0000;
const VERSION: u8 = 0b0100_0000;
const FLAG_INDEPENDENT: u8 = 1 << 5;
const FLAG_BLOCK_CHECKSUM: u8 = 1 << 4;
const FLAG_CONTENT_SIZE: u8 = 1 << 3;
const FLAG_CONTENT_CHECKSUM: u8 = 1 << 2;
const FLAG_DICTIONARY: u8 = 1;

/// Set in a block's length if the block is stored as it was.
const BLOCK_STORED: u32 = 1 << 31;
const LENGTH_BYTES: usize = 4;
/// How far back a block may refer when blocks are not independent.
const WINDOW_BYTES: usize = 64 * 1024;
/// A byte of a match length means 255 bytes of output; the rest is for the block's last token.
const EXPANSION_MAX: usize = 255;
const EXPANSION_EXTRA: usize = 64;

/// Keeps the match table.
pub(super) struct Lz4Compressor {
    table: CompressTable,
}

impl std::fmt::Debug for Lz4Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lz4Compressor").finish_non_exhaustive()
    }
}

impl Lz4Compressor {
    pub(super) fn new() -> Self {
        Self {
            table: CompressTable::large(),
        }
    }

    pub(super) fn compress(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), CompressError> {
        output.extend_from_slice(&MAGIC);
        output.extend_from_slice(&[FLAGS_WRITTEN, BLOCK_SIZE_WRITTEN, HEADER_CHECKSUM_WRITTEN]);
        for block in input.chunks(BLOCK_BYTES_WRITTEN) {
            let start = output.len() + LENGTH_BYTES;
            output.resize(start + get_maximum_output_size(block.len()), 0);
            let written = compress_into_with_table(block, &mut output[start..], &mut self.table)
                .map_err(|error| CompressError::Failed {
                    codec: Codec::Lz4,
                    reason: error.to_string(),
                })?;
            let length = if written < block.len() {
                output.truncate(start + written);
                written as u32
            } else {
                output.truncate(start);
                output.extend_from_slice(block);
                block.len() as u32 | BLOCK_STORED
            };
            output[start - LENGTH_BYTES..start].copy_from_slice(&length.to_le_bytes());
        }
        output.extend_from_slice(&0_u32.to_le_bytes());
        Ok(())
    }
}

/// Second byte of the XXH32 of a frame's descriptor.
fn checksum_of(descriptor: &[u8]) -> u8 {
    (XxHash32::oneshot(0, descriptor) >> 8) as u8
}

/// Gives a frame that was compressed here the header checksum that Kafka expects in message format 0:
/// computed over the frame's magic number too (KAFKA-3160). Reading takes either.
pub(crate) fn legacy_checksum(frame: &mut [u8]) {
    /// Magic number and the two bytes of the descriptor.
    const COVERED: usize = 6;
    if let Some((covered, [checksum, ..])) = frame.split_at_mut_checked(COVERED) {
        *checksum = checksum_of(covered);
    }
}

/// The content of a frame's header.
struct Frame {
    flags: u8,
    block_bytes_max: usize,
    content_bytes: Option<u64>,
}

impl Frame {
    /// Reads the header and returns what follows it.
    fn parse(input: &[u8]) -> Result<(Self, &[u8]), DecompressError> {
        let (magic, rest) = input
            .split_first_chunk::<4>()
            .ok_or(DecompressError::CutShort)?;
        if *magic != MAGIC {
            return Err(DecompressError::malformed("no LZ4 frame"));
        }
        let ([flags, block_size], _) = rest
            .split_first_chunk::<2>()
            .ok_or(DecompressError::CutShort)?;
        if flags & VERSION_MASK != VERSION {
            return Err(DecompressError::malformed(
                "an LZ4 frame of an unknown version",
            ));
        }
        if flags & FLAG_DICTIONARY != 0 {
            return Err(DecompressError::malformed(
                "an LZ4 frame that needs a dictionary",
            ));
        }
        // 4 to 7 mean 64 KiB, 256 KiB, 1 MiB and 4 MiB.
        let block_bytes_max = match block_size >> 4 & 7 {
            size @ 4..=7 => 1 << (8 + 2 * size),
            _ => {
                return Err(DecompressError::malformed(
                    "an LZ4 frame of an unknown block size",
                ));
            }
        };
        let descriptor_bytes = if flags & FLAG_CONTENT_SIZE == 0 {
            2
        } else {
            10
        };
        let (descriptor, rest) = rest
            .split_at_checked(descriptor_bytes)
            .ok_or(DecompressError::CutShort)?;
        let (checksum, rest) = rest.split_first().ok_or(DecompressError::CutShort)?;
        let is_right = *checksum == checksum_of(descriptor);
        if !is_right && *checksum != checksum_of(&[&MAGIC, descriptor].concat()) {
            return Err(DecompressError::malformed(
                "the checksum of the LZ4 header is wrong",
            ));
        }
        let content_bytes = descriptor[2..]
            .first_chunk::<8>()
            .map(|size| u64::from_le_bytes(*size));
        Ok((
            Self {
                flags: *flags,
                block_bytes_max,
                content_bytes,
            },
            rest,
        ))
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

pub(super) fn decompress(
    input: &[u8],
    output: &mut Vec<u8>,
    bytes_max: usize,
) -> Result<(), DecompressError> {
    let (frame, mut rest) = Frame::parse(input)?;
    loop {
        let length = take_u32(&mut rest)?;
        if length == 0 {
            break;
        }
        let bytes = (length & !BLOCK_STORED) as usize;
        if bytes > frame.block_bytes_max {
            return Err(DecompressError::malformed(
                "an LZ4 block is larger than its frame allows",
            ));
        }
        let (block, after) = rest
            .split_at_checked(bytes)
            .ok_or(DecompressError::CutShort)?;
        rest = after;
        if frame.has(FLAG_BLOCK_CHECKSUM) && take_u32(&mut rest)? != XxHash32::oneshot(0, block) {
            return Err(DecompressError::malformed(
                "the checksum of an LZ4 block is wrong",
            ));
        }
        if length & BLOCK_STORED == 0 {
            compressed_block(&frame, block, output, bytes_max)?;
        } else if bytes > bytes_max - output.len() {
            return Err(DecompressError::TooLarge { bytes_max });
        } else {
            output.extend_from_slice(block);
        }
    }
    if frame.has(FLAG_CONTENT_CHECKSUM) && take_u32(&mut rest)? != XxHash32::oneshot(0, output) {
        return Err(DecompressError::malformed(
            "the checksum of the LZ4 content is wrong",
        ));
    }
    if frame
        .content_bytes
        .is_some_and(|bytes| bytes != output.len() as u64)
    {
        return Err(DecompressError::malformed(
            "the LZ4 content has another size than promised",
        ));
    }
    if !rest.is_empty() {
        return Err(DecompressError::malformed("bytes follow the LZ4 frame"));
    }
    Ok(())
}

fn take_u32(rest: &mut &[u8]) -> Result<u32, DecompressError> {
    let (bytes, after) = rest
        .split_first_chunk::<4>()
        .ok_or(DecompressError::CutShort)?;
    *rest = after;
    Ok(u32::from_le_bytes(*bytes))
}

/// Decompresses one block to the end of `output`, which has at most `bytes_max` bytes already.
fn compressed_block(
    frame: &Frame,
    block: &[u8],
    output: &mut Vec<u8>,
    bytes_max: usize,
) -> Result<(), DecompressError> {
    let start = output.len();
    let room = frame
        .block_bytes_max
        .min(bytes_max - start)
        .min(block.len() * EXPANSION_MAX + EXPANSION_EXTRA);
    output.resize(start + room, 0);
    let (before, to) = output.split_at_mut(start);
    let window = if frame.has(FLAG_INDEPENDENT) {
        &[]
    } else {
        &before[start.saturating_sub(WINDOW_BYTES)..]
    };
    match decompress_into_with_dict(block, to, window) {
        Ok(written) => {
            output.truncate(start + written);
            Ok(())
        }
        Err(BlockError::OutputTooSmall { .. }) if room == bytes_max - start => {
            Err(DecompressError::TooLarge { bytes_max })
        }
        Err(error) => Err(DecompressError::malformed(format!("lz4: {error}"))),
    }
}
