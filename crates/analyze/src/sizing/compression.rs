//! How well each codec compresses a sample of the user's own records.

use schemars::JsonSchema;
use serde::Serialize;

use super::draws::{begin_draws, quantile};
use crate::statistics::Interval;

/// So many sets of blocks are drawn for the interval.
const DRAWS: usize = 400;

/// One record batch of the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleBlock {
    /// Bytes before compression, as in the batch.
    pub raw_bytes: u64,
    /// Bytes after it.
    pub compressed_bytes: u64,
}

/// A sample of the user's records.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RecordSample {
    /// Records in it.
    pub records: u64,
    /// Mean bytes of a record.
    pub record_bytes: f64,
    /// Bytes of a record batch that they were compressed in.
    pub batch_bytes: f64,
    /// Each codec.
    pub codecs: Vec<CodecRatio>,
}

/// How well one codec compresses a sample.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CodecRatio {
    /// Kafka's name of the codec.
    pub codec: String,
    /// Uncompressed by compressed bytes.
    pub ratio: f64,
    /// 90 % interval, from resampled batches; absent with fewer than two.
    pub interval: Option<Interval>,
    /// Record batches.
    pub batches: u32,
}

impl CodecRatio {
    /// The ratio of all blocks together; `None` without bytes.
    pub fn of(codec: &str, blocks: &[SampleBlock]) -> Option<CodecRatio> {
        let ratio = ratio(blocks.iter())?;
        let resampled = |draw: usize| {
            let mut draws = begin_draws("blocks", draw);
            let picked: Vec<&SampleBlock> =
                blocks.iter().filter_map(|_| draws.choose(blocks)).collect();
            self::ratio(picked.into_iter())
        };
        let ratios: Vec<f64> = match blocks.len() {
            0 | 1 => Vec::new(),
            _ => (0..DRAWS).filter_map(resampled).collect(),
        };
        let end = |part: f64| quantile(ratios.iter().copied(), part);
        Some(CodecRatio {
            codec: codec.to_owned(),
            ratio,
            interval: end(0.05)
                .zip(end(0.95))
                .map(|(low, high)| Interval { low, high }),
            batches: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
        })
    }
}

fn ratio<'a>(blocks: impl Iterator<Item = &'a SampleBlock>) -> Option<f64> {
    let (raw, compressed) = blocks.fold((0_u64, 0_u64), |(raw, compressed), block| {
        (
            raw.saturating_add(block.raw_bytes),
            compressed.saturating_add(block.compressed_bytes),
        )
    });
    (raw > 0 && compressed > 0).then(|| raw as f64 / compressed as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(raw_bytes: u64, compressed_bytes: u64) -> SampleBlock {
        SampleBlock {
            raw_bytes,
            compressed_bytes,
        }
    }

    #[test]
    fn a_ratio_is_of_all_bytes_and_its_interval_of_the_blocks() {
        // Half of the blocks shrink to a fifth, half to four fifths: 2,000 of 1,000 bytes.
        let blocks: Vec<SampleBlock> = (0..40)
            .map(|index| block(1_000, if index % 2 == 0 { 200 } else { 800 }))
            .collect();
        let found = CodecRatio::of("zstd", &blocks).expect("a ratio");
        assert_eq!((found.ratio, found.batches), (2.0, 40));
        let interval = found.interval.expect("an interval");
        // A block has 500 ± 300 bytes, the mean of 40 of them ± 47: 1,000 / (500 ± 1.645 · 47).
        assert!((1.68..1.78).contains(&interval.low), "{interval:?}");
        assert!((2.30..2.45).contains(&interval.high), "{interval:?}");
    }

    #[test]
    fn one_block_has_no_interval_and_none_has_no_ratio() {
        let one = CodecRatio::of("lz4", &[block(10, 20)]).expect("a ratio");
        assert_eq!((one.ratio, one.interval), (0.5, None));
        assert_eq!(CodecRatio::of("lz4", &[]), None);
        assert_eq!(CodecRatio::of("lz4", &[block(0, 0)]), None);
    }
}
