//! Finds, before the run, how much of the values must be random for a compression ratio.
//!
//! It makes batches of the flow's records as the producers will, and compresses them with the flow's codec and level.
//! Their size is nearly linear in the random part, so the search takes a handful of tries.

use kgauge_scenario::{Compression, CompressionCodec, HeadersPlan, ProduceFlow, RecordPlan};
use kgauge_wire::compress::{CompressError, Compressor};
use kgauge_wire::record_batch::{BatchEncoder, HEADER_BYTES, ProducerState};

use super::pool::POOL_BYTES;
use super::{Payload, PayloadError, RecordDraft};

/// The search ends this close to the ratio; the promise is ± 5 %.
const NEAR_ENOUGH: f64 = 0.01;
/// A ratio that cannot be reached may be missed by this much before it is refused.
const TOLERATED: f64 = 0.04;
const TRIES_MAX: u32 = 24;
/// Minimum size of a try, in whole batches.
const SAMPLE_BYTES: usize = 256 << 10;
/// The largest pool: a larger batch repeats its values.
const POOL_BYTES_MAX: usize = 64 << 20;
/// As the producer's own estimate (`COMPRESSION_RATE_ESTIMATION_FACTOR`).
const CAUTION: f64 = 1.05;

/// The records of a flow.
pub(crate) fn payload_for(flow: &ProduceFlow, seed: u64) -> Result<Payload, PayloadError> {
    match flow.record.compressibility {
        Some(ratio) if ratio > 1.0 => Ok(Search::new(flow, seed, ratio).run()?.0),
        _ => Payload::new(&flow.record, seed, POOL_BYTES, 1.0),
    }
}

/// Without a codec, records are made as for lz4: they may be compressed later.
fn with_codec(compression: Compression) -> Compression {
    match compression.codec {
        CompressionCodec::None => Compression {
            codec: CompressionCodec::Lz4,
            level: None,
        },
        _ => compression,
    }
}

/// One end of the bracket.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Low,
    High,
}

struct Search<'a> {
    plan: &'a RecordPlan,
    seed: u64,
    requested_ratio: f64,
    compression: Compression,
    /// Uncompressed bytes of a full batch.
    batch_bytes: usize,
}

impl<'a> Search<'a> {
    fn new(flow: &'a ProduceFlow, seed: u64, requested_ratio: f64) -> Self {
        let batch_bytes = f64::from(flow.settings.batch_bytes) * requested_ratio / CAUTION;
        Self {
            plan: &flow.record,
            seed,
            requested_ratio,
            compression: with_codec(flow.settings.compression),
            batch_bytes: batch_bytes as usize,
        }
    }

    /// The records, and the ratio of their batches.
    fn run(&self) -> Result<(Payload, f64), PayloadError> {
        let failed = |error: CompressError| PayloadError(error.to_string());
        let compressor = crate::settings::compressor(self.compression).map_err(failed)?;
        let mut compressor = compressor.unwrap_or_default();
        // Bounds of the random part, each with compressed ÷ uncompressed bytes minus the requested value.
        let aim = 1.0 / self.requested_ratio;
        let least = self.at(0.0, &mut compressor)?;
        if least.1 / self.requested_ratio < 1.0 {
            // Only the unique part is random, and that is still too much.
            return self.accepted(least);
        }
        let (mut low, mut high) = ((0.0, 1.0 / least.1 - aim), (1.0, 1.0 - aim));
        let (mut best, mut stayed): (Option<(Payload, f64)>, Option<End>) = (None, None);
        for _ in 0..TRIES_MAX {
            // Regula falsi; an end that does not move counts half (the Illinois rule).
            let part = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
            let (payload, ratio) = self.at(part.clamp(0.0, 1.0), &mut compressor)?;
            let is_better = |best: &(Payload, f64)| self.off(ratio) < self.off(best.1);
            if best.as_ref().is_none_or(is_better) {
                best = Some((payload, ratio));
            }
            if self.off(ratio) < NEAR_ENOUGH {
                break;
            }
            let error = 1.0 / ratio - aim;
            if error < 0.0 {
                low = (part, error);
                if stayed.replace(End::High) == Some(End::High) {
                    high.1 /= 2.0;
                }
            } else {
                high = (part, error);
                if stayed.replace(End::Low) == Some(End::Low) {
                    low.1 /= 2.0;
                }
            }
        }
        self.accepted(best.unwrap_or(least))
    }

    /// The result, if its ratio is close enough.
    fn accepted(&self, result: (Payload, f64)) -> Result<(Payload, f64), PayloadError> {
        let (ratio, requested) = (result.1, self.requested_ratio);
        if self.off(ratio) <= TOLERATED {
            return Ok(result);
        }
        Err(PayloadError(format!(
            "compressibility {requested} cannot be reached: batches of unique records like these \
             shrink {ratio:.2} times; change their size, or set that compressibility"
        )))
    }

    /// Relative deviation from the requested ratio.
    fn off(&self, ratio: f64) -> f64 {
        (ratio / self.requested_ratio - 1.0).abs()
    }

    /// The records with this random part, and the ratio of their batches.
    fn at(
        &self,
        random_part: f64,
        compressor: &mut Compressor,
    ) -> Result<(Payload, f64), PayloadError> {
        let far = self.batch_bytes.saturating_mul(4).next_power_of_two();
        let pool_bytes = far.clamp(POOL_BYTES, POOL_BYTES_MAX);
        let payload = Payload::new(self.plan, self.seed, pool_bytes, random_part)?;
        let (mut encoder, mut draft) = (BatchEncoder::default(), RecordDraft::default());
        let (mut plain, mut packed, mut number) = (0, 0, 0);
        while plain < SAMPLE_BYTES {
            encoder.start(0);
            while self.takes_another(&payload, &mut draft, &encoder, number) {
                let mut list = [("", None); HeadersPlan::COUNT_MAX as usize];
                let headers = payload.headers(&draft, &mut list);
                encoder.append(0, draft.key(), draft.value(), headers);
                number += 1;
            }
            plain += encoder.batch_bytes();
            let done = encoder.finish_compressed(&ProducerState::NONE, compressor);
            packed += done.map_err(|error| PayloadError(error.to_string()))?.len();
        }
        Ok((payload, plain as f64 / packed as f64))
    }

    /// Makes the next record; returns whether the batch has space for it.
    fn takes_another(
        &self,
        payload: &Payload,
        draft: &mut RecordDraft,
        encoder: &BatchEncoder,
        number: u64,
    ) -> bool {
        payload.make(number, number, draft);
        let bytes = |part: Option<&[u8]>| part.map(<[u8]>::len);
        let next = encoder.next_record_bytes(0, bytes(draft.key()), bytes(draft.value()), &[]);
        encoder.has_room_for(next, self.batch_bytes.max(HEADER_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{ProducerSettings, SizePlan};

    use super::*;

    fn flow(codec: CompressionCodec, record: RecordPlan, batch_bytes: u32) -> ProduceFlow {
        ProduceFlow {
            settings: ProducerSettings {
                batch_bytes,
                compression: Compression { codec, level: None },
                ..ProducerSettings::default()
            },
            ..ProduceFlow::of_records("w", record)
        }
    }

    #[test]
    fn every_codec_shrinks_batches_to_the_requested_ratio() {
        use CompressionCodec::{Gzip, Lz4, Snappy, Zstd};
        let sizes = SizePlan::Uniform {
            from: 50,
            to: 3_000,
        };
        for codec in [Gzip, Snappy, Lz4, Zstd] {
            for (compressibility, record) in [
                (1.5, RecordPlan::of_values(100)),
                (4.0, RecordPlan::of_values(1_000)),
                (8.0, RecordPlan::of_values(20_000)),
                (
                    3.0,
                    RecordPlan {
                        sizes: Some(sizes.clone()),
                        ..RecordPlan::of_values(1_525)
                    },
                ),
            ] {
                let record = RecordPlan {
                    compressibility: Some(compressibility),
                    ..record
                };
                let flow = flow(codec, record, 16_384);
                let (_, ratio) = Search::new(&flow, 7, compressibility).run().unwrap();
                assert!(
                    (ratio / compressibility - 1.0).abs() <= 0.04,
                    "{codec:?} {compressibility}: {ratio}"
                );
            }
        }
    }

    #[test]
    fn what_unique_records_cannot_reach_is_refused_with_the_most_that_they_can() {
        let record = RecordPlan {
            compressibility: Some(50.0),
            ..RecordPlan::of_values(20)
        };
        let error = payload_for(&flow(CompressionCodec::Lz4, record, 16_384), 7).unwrap_err();
        assert!(error.to_string().contains("cannot be reached"), "{error}");
    }
}
