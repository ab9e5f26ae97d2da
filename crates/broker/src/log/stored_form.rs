//! The form in which a leader stores what a producer sent: in the topic's codec, and on a compacted
//! topic with a key in every record.
//!
//! Only the records section is recompressed. Timestamps, offsets within the batch, the producer's
//! id, epoch and sequence, and the transactional flag keep their bytes; the CRC is computed again.

use kgauge_wire::compress::{Codec, Compressor, DecompressError, Decompressor};
use kgauge_wire::record_batch::{Batch, BatchError, BatchHeader, Records, put_with_codec};

use super::timestamps::RECORDS_BYTES_MAX;
use super::{AppendError, PartitionLog};

/// The codec of a topic whose `compression.type` is not `producer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredCodec {
    /// The codec.
    pub codec: Codec,
    /// Its level; `None` for codecs without levels.
    pub level: Option<i32>,
}

impl PartitionLog {
    /// The batches as they must be stored, if that is another form than they have.
    pub(super) fn stored_form(&self, batches: &[u8]) -> Result<Option<Vec<u8>>, AppendError> {
        if !self.config.keys_required && self.config.stored_codec.is_none() {
            return Ok(None);
        }
        let mut stored = Vec::with_capacity(batches.len());
        let mut is_other = false;
        let mut buffers = (Decompressor::new(), Vec::new());
        let mut rest = batches;
        while !rest.is_empty() {
            let batch = Batch::parse(rest).map_err(unreadable)?;
            is_other |= self.put_stored(&batch, &mut buffers, &mut stored)?;
            rest = &rest[batch.bytes().len()..];
        }
        Ok(is_other.then_some(stored))
    }

    /// Appends one batch to `stored` in its stored form; returns whether it has changed.
    fn put_stored(
        &self,
        batch: &Batch<'_>,
        (decompressor, scratch): &mut (Decompressor, Vec<u8>),
        stored: &mut Vec<u8>,
    ) -> Result<bool, AppendError> {
        let codec = batch.codec().map_err(unreadable)?;
        let target = self.config.stored_codec.filter(|of| of.codec != codec);
        if target.is_none() && !self.config.keys_required {
            stored.extend_from_slice(batch.bytes());
            return Ok(false);
        }
        let section = match codec {
            Codec::None => batch.stored_records(),
            _ => {
                let (input, bytes_max) = (batch.stored_records(), RECORDS_BYTES_MAX);
                let read = decompressor.decompress(codec, input, scratch, bytes_max);
                read.map_err(|source| undecompressed(codec, source))?;
                scratch
            }
        };
        check_records(&batch.header, section, self.config.keys_required)?;
        let Some(target) = target else {
            stored.extend_from_slice(batch.bytes());
            return Ok(false);
        };
        let failed = |error: kgauge_wire::compress::CompressError| AppendError::Recompression {
            reason: error.to_string(),
        };
        let mut compressor = Compressor::new(target.codec, target.level).map_err(failed)?;
        let section = compressor.compress(section).map_err(failed)?;
        let begin = stored.len();
        put_with_codec(&batch.header, target.codec, section, stored);
        let (bytes, bytes_max) = (stored.len() - begin, self.config.max_message_bytes);
        if bytes > bytes_max as usize {
            return Err(AppendError::BatchTooLarge { bytes, bytes_max });
        }
        Ok(true)
    }
}

/// Reads every record: decompressing checks nothing inside.
fn check_records(
    header: &BatchHeader,
    section: &[u8],
    keys_required: bool,
) -> Result<(), AppendError> {
    let mut without_key = Vec::new();
    for (index, record) in (0..).zip(Records::new(header, section).map_err(unreadable)?) {
        if record.map_err(unreadable)?.key.is_none() {
            without_key.push(index);
        }
    }
    if keys_required && !without_key.is_empty() {
        return Err(AppendError::WithoutKey {
            records: without_key,
        });
    }
    Ok(())
}

fn undecompressed(codec: Codec, source: DecompressError) -> AppendError {
    match source {
        DecompressError::TooLarge { bytes_max } => AppendError::InflatesTooFar { bytes_max },
        source => unreadable(BatchError::Decompress { codec, source }),
    }
}

fn unreadable(error: BatchError) -> AppendError {
    AppendError::Batch(error.into())
}
