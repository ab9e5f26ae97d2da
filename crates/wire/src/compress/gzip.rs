//! gzip (RFC 1952): a header, a deflate stream, the CRC-32 and the length of what was compressed.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::{Codec, CompressError, DecompressError};

/// Magic, deflate, no flags, no time, no extra flags, operating system unknown.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const TRAILER_BYTES: usize = 8;

const FLAG_HEADER_CRC: u8 = 1 << 1;
const FLAG_EXTRA: u8 = 1 << 2;
const FLAG_NAME: u8 = 1 << 3;
const FLAG_COMMENT: u8 = 1 << 4;
const FLAGS_RESERVED: u8 = 0b1110_0000;

/// First guess of the output for a byte of input; doubled as often as need be.
const GROWTH_FIRST: usize = 4;
const OUTPUT_BYTES_FIRST: usize = 1024;

/// Keeps the deflate state, which is a few hundred KiB.
#[derive(Debug)]
pub(super) struct GzipCompressor {
    deflate: Compress,
}

impl GzipCompressor {
    /// `level` is 1 to 9, or negative for the library's own choice.
    pub(super) fn new(level: i32) -> Self {
        let level = u32::try_from(level).map_or_else(|_| Compression::default(), Compression::new);
        Self {
            deflate: Compress::new(level, false),
        }
    }

    pub(super) fn compress(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), CompressError> {
        self.deflate.reset();
        output.extend_from_slice(&HEADER);
        loop {
            let consumed = self.deflate.total_in() as usize;
            output.reserve((input.len() - consumed) / 2 + 64);
            let status = self
                .deflate
                .compress_vec(&input[consumed..], output, FlushCompress::Finish)
                .map_err(|error| failed(&error))?;
            if status == Status::StreamEnd {
                break;
            }
        }
        output.extend_from_slice(&crc32(input).to_le_bytes());
        // The length modulo 2^32, as the format has it.
        output.extend_from_slice(&(input.len() as u32).to_le_bytes());
        Ok(())
    }
}

fn failed(error: &flate2::CompressError) -> CompressError {
    CompressError::Failed {
        codec: Codec::Gzip,
        reason: error.to_string(),
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iso_hdlc(bytes)
}

/// Keeps the inflate state, which is some 40 KiB.
#[derive(Debug)]
pub(super) struct GzipDecompressor {
    inflate: Decompress,
}

impl Default for GzipDecompressor {
    fn default() -> Self {
        Self {
            inflate: Decompress::new(false),
        }
    }
}

impl GzipDecompressor {
    pub(super) fn decompress(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Result<(), DecompressError> {
        let mut rest = self.member(input, output, bytes_max)?;
        while !rest.is_empty() {
            rest = self.member(rest, output, bytes_max)?;
        }
        Ok(())
    }

    /// Decompresses one member to the end of `output` and returns what follows it.
    fn member<'a>(
        &mut self,
        input: &'a [u8],
        output: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Result<&'a [u8], DecompressError> {
        let start = output.len();
        let deflated = after_header(input)?;
        let consumed = self.inflate(deflated, output, bytes_max)?;
        let rest = &deflated[consumed..];
        let Some((trailer, rest)) = rest.split_at_checked(TRAILER_BYTES) else {
            return Err(DecompressError::CutShort);
        };
        let inflated = &output[start..];
        if trailer[..4] != crc32(inflated).to_le_bytes() {
            return Err(DecompressError::malformed(
                "the gzip CRC does not fit the data",
            ));
        }
        if trailer[4..] != (inflated.len() as u32).to_le_bytes() {
            return Err(DecompressError::malformed(
                "the gzip length does not fit the data",
            ));
        }
        Ok(rest)
    }

    /// Inflates one deflate stream to the end of `output` and returns the bytes that it took.
    fn inflate(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Result<usize, DecompressError> {
        self.inflate.reset(false);
        let mut step = input
            .len()
            .saturating_mul(GROWTH_FIRST)
            .max(OUTPUT_BYTES_FIRST);
        loop {
            if output.len() == output.capacity() {
                // One byte beyond the limit, so that an output of exactly the limit can come to its
                // end.
                output.reserve_exact(step.min(bytes_max.saturating_add(1) - output.len()));
                step = output.capacity();
            }
            let before = (self.inflate.total_in(), output.len());
            let status = self
                .inflate
                .decompress_vec(&input[before.0 as usize..], output, FlushDecompress::None)
                .map_err(|error| DecompressError::malformed(format!("deflate: {error}")))?;
            if output.len() > bytes_max {
                return Err(DecompressError::TooLarge { bytes_max });
            }
            if status == Status::StreamEnd {
                return Ok(self.inflate.total_in() as usize);
            }
            if before == (self.inflate.total_in(), output.len()) {
                return Err(DecompressError::CutShort);
            }
        }
    }
}

/// What follows the header of a member; its optional fields are of no interest here.
fn after_header(input: &[u8]) -> Result<&[u8], DecompressError> {
    let cut_short = DecompressError::CutShort;
    let Some((header, mut rest)) = input.split_first_chunk::<10>() else {
        return Err(cut_short);
    };
    let flags = header[3];
    if header[..3] != HEADER[..3] || flags & FLAGS_RESERVED != 0 {
        return Err(DecompressError::malformed("no gzip header"));
    }
    if flags & FLAG_EXTRA != 0 {
        let (length, after) = rest.split_first_chunk::<2>().ok_or(cut_short.clone())?;
        let length = usize::from(u16::from_le_bytes(*length));
        rest = after.get(length..).ok_or(cut_short.clone())?;
    }
    for flag in [FLAG_NAME, FLAG_COMMENT] {
        if flags & flag != 0 {
            let end = rest
                .iter()
                .position(|byte| *byte == 0)
                .ok_or(cut_short.clone())?;
            rest = &rest[end + 1..];
        }
    }
    if flags & FLAG_HEADER_CRC != 0 {
        rest = rest.get(2..).ok_or(cut_short)?;
    }
    Ok(rest)
}
