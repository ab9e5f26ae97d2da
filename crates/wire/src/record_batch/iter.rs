//! Walks the batches that lie one behind another in a Fetch response or a log segment.

use super::header::at;
use super::{
    BYTES_TO_MAGIC, BatchError, BatchHeader, HEADER_BYTES, LOG_OVERHEAD, MAGIC, Records, crc32c,
};
use crate::compress::{Codec, Decompressor};

/// One complete batch, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// The header, already read.
    pub header: BatchHeader,
    bytes: &'a [u8],
}

impl<'a> Batch<'a> {
    /// Reads the batch that `bytes` begin with. What follows it is left alone.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BatchError> {
        let header = BatchHeader::parse(bytes)?;
        let length = header.batch_bytes();
        let Some(bytes) = bytes.get(..length) else {
            return Err(BatchError::Incomplete {
                length,
                present: bytes.len(),
            });
        };
        Ok(Self { header, bytes })
    }

    /// The whole batch.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The records section as stored.
    pub fn stored_records(&self) -> &'a [u8] {
        &self.bytes[HEADER_BYTES..]
    }

    /// Compares the CRC with the bytes.
    pub fn validate_crc(&self) -> Result<(), BatchError> {
        let computed = crc32c(&self.bytes[at::ATTRIBUTES..]);
        if computed == self.header.crc {
            Ok(())
        } else {
            Err(BatchError::Crc {
                stored: self.header.crc,
                computed,
            })
        }
    }

    /// The codec of the records section.
    pub fn codec(&self) -> Result<Codec, BatchError> {
        let attributes = self.header.attributes;
        attributes.codec().ok_or(BatchError::UnknownCodec {
            id: attributes.codec_id(),
        })
    }

    /// The records, decompressed into `scratch` where need be.
    ///
    /// `bytes_max` bounds the decompressed section; a section that would grow beyond is an error.
    /// An uncompressed section is borrowed from the batch and leaves `scratch` as it is.
    pub fn records<'b>(
        &self,
        decompressor: &mut Decompressor,
        scratch: &'b mut Vec<u8>,
        bytes_max: usize,
    ) -> Result<Records<'b>, BatchError>
    where
        'a: 'b,
    {
        let codec = self.codec()?;
        if codec == Codec::None {
            return Records::new(&self.header, self.stored_records());
        }
        decompressor
            .decompress(codec, self.stored_records(), scratch, bytes_max)
            .map_err(|source| BatchError::Decompress { codec, source })?;
        Records::new(&self.header, scratch)
    }
}

/// Walks consecutive batches. See [`Batches`].
pub fn batches(bytes: &[u8]) -> Batches<'_> {
    Batches {
        rest: bytes,
        bytes_read: 0,
        failed: false,
    }
}

/// Iterator over consecutive batches.
///
/// Ends at the end of the bytes or before a batch that is not there completely, as the last one of
/// a Fetch response often is; [`Batches::rest`] is then what remains. Ends after the first error
/// too.
#[derive(Debug, Clone)]
pub struct Batches<'a> {
    rest: &'a [u8],
    bytes_read: usize,
    failed: bool,
}

impl<'a> Batches<'a> {
    /// The bytes after the last batch that was yielded.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Bytes of all batches yielded so far: where [`Batches::rest`] begins.
    pub fn bytes_read(&self) -> usize {
        self.bytes_read
    }

    fn parse_next(&mut self) -> Result<Option<Batch<'a>>, BatchError> {
        let Some(head) = self.rest.first_chunk::<BYTES_TO_MAGIC>() else {
            return Ok(None);
        };
        let magic = head[at::MAGIC] as i8;
        if magic != MAGIC {
            return Err(BatchError::UnsupportedMagic { magic });
        }
        let Some(length) = self.rest[at::BATCH_LENGTH..].first_chunk::<4>() else {
            return Ok(None);
        };
        let batch_length = i32::from_be_bytes(*length);
        if batch_length < (HEADER_BYTES - LOG_OVERHEAD) as i32 {
            return Err(BatchError::LengthTooSmall { batch_length });
        }
        if self.rest.len() < LOG_OVERHEAD + batch_length as usize {
            return Ok(None);
        }
        let batch = Batch::parse(self.rest)?;
        self.rest = &self.rest[batch.bytes.len()..];
        self.bytes_read += batch.bytes.len();
        Ok(Some(batch))
    }
}

impl<'a> Iterator for Batches<'a> {
    type Item = Result<Batch<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.parse_next().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}

impl std::iter::FusedIterator for Batches<'_> {}
