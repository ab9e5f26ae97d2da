//! How well each codec compresses the user's own records, in batches as producers make them.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use kgauge_analyze::sizing::{CodecRatio, RecordSample, SampleBlock};
use kgauge_scenario::RecordFile;
use kgauge_wire::compress::{Codec, Compressor};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState, record_bytes};

use crate::error::{OrRunError, RunError};

/// More bytes of a sample make the ratio no more certain.
const BYTES_MAX: u64 = 32 << 20;

/// Reads at most [`BYTES_MAX`] of records, and compresses them with every codec in batches of `batch_bytes`.
pub(crate) fn measured(
    files: &[PathBuf],
    are_records: bool,
    batch_bytes: f64,
) -> Result<RecordSample, RunError> {
    let texts = read(files)?;
    let records: Vec<&[u8]> = match are_records {
        true => texts.iter().map(Vec::as_slice).collect(),
        false => {
            let lines = texts.iter().flat_map(|text| RecordFile::split(text, "\n"));
            lines.collect()
        }
    };
    let bytes: usize = records.iter().map(|record| record.len()).sum();
    if bytes == 0 {
        return Err(RunError::input(
            "the sample has no records, or only empty ones",
        ));
    }
    // Real batches have at least a record; so many bytes are never one batch.
    let batch_bytes_max = batch_bytes.clamp(1.0, 64e6) as usize;
    let mut codecs = Vec::new();
    for codec in Codec::ALL {
        let blocks = blocks(&records, codec, batch_bytes_max)?;
        codecs.extend(CodecRatio::of(codec.name(), &blocks));
    }
    Ok(RecordSample {
        records: records.len() as u64,
        record_bytes: bytes as f64 / records.len() as f64,
        batch_bytes,
        codecs,
    })
}

fn read(files: &[PathBuf]) -> Result<Vec<Vec<u8>>, RunError> {
    let mut left = BYTES_MAX;
    let mut texts = Vec::new();
    for path in files {
        let mut text = Vec::new();
        let refused = |what: &str| RunError::input(format!("cannot {what} {}", path.display()));
        let file = File::open(path).map_err(|_| refused("open"))?;
        let read = file.take(left).read_to_end(&mut text);
        read.map_err(|_| refused("read"))?;
        left = left.saturating_sub(text.len() as u64);
        texts.push(text);
    }
    Ok(texts)
}

/// Batches of consecutive records, before and after compression.
fn blocks(
    records: &[&[u8]],
    codec: Codec,
    batch_bytes_max: usize,
) -> Result<Vec<SampleBlock>, RunError> {
    let mut compressor = Compressor::new(codec, None).or_bad_input()?;
    let mut encoder = BatchEncoder::default();
    let mut blocks = Vec::new();
    encoder.start(0);
    for record in records {
        let bytes = record_bytes(encoder.records() as i32, 0, None, Some(record.len()), &[]);
        if !encoder.has_room_for(bytes, batch_bytes_max) {
            blocks.push(block(&mut encoder, &mut compressor)?);
            encoder.start(0);
        }
        encoder.append(0, None, Some(record), &[]);
    }
    if !encoder.is_empty() {
        blocks.push(block(&mut encoder, &mut compressor)?);
    }
    Ok(blocks)
}

fn block(encoder: &mut BatchEncoder, compressor: &mut Compressor) -> Result<SampleBlock, RunError> {
    let raw_bytes = encoder.batch_bytes() as u64;
    let compressed = encoder.finish_compressed(&ProducerState::NONE, compressor);
    let compressed = compressed.or_bad_input()?;
    Ok(SampleBlock {
        raw_bytes,
        compressed_bytes: compressed.len() as u64,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn ratio(sample: &RecordSample, codec: &str) -> f64 {
        let mut codecs = sample.codecs.iter();
        codecs
            .find(|one| one.codec == codec)
            .map_or(0.0, |one| one.ratio)
    }

    #[test]
    fn repetitive_records_shrink_and_plain_batches_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records");
        std::fs::write(&path, "{\"user\": 1, \"page\": \"/home\"}\n".repeat(2_000)).unwrap();
        let sample = measured(std::slice::from_ref(&path), false, 16_384.0).unwrap();
        assert_eq!((sample.records, sample.record_bytes), (2_000, 28.0));
        assert_eq!(sample.codecs.len(), 5);
        assert_eq!(ratio(&sample, "none"), 1.0);
        for codec in ["gzip", "snappy", "lz4", "zstd"] {
            assert!(ratio(&sample, codec) > 3.0, "{codec}");
        }
        let zstd = sample
            .codecs
            .iter()
            .find(|one| one.codec == "zstd")
            .unwrap();
        assert!(zstd.batches > 3 && zstd.interval.is_some());
        // A file that is one record is one batch, however large.
        let whole = measured(&[path], true, 100.0).unwrap();
        assert_eq!((whole.records, whole.record_bytes), (1, 58_000.0));
        assert_eq!(whole.codecs[0].batches, 1);
    }

    #[test]
    fn a_sample_without_records_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("empty");
        std::fs::write(&path, "\n\n").unwrap();
        assert!(measured(&[path], false, 1e4).is_err());
        assert!(measured(&[dir.path().join("none")], false, 1e4).is_err());
    }
}
