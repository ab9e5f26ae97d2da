//! Latency that is the wait in the client's own buffer.
//!
//! A producer at full speed keeps `buffer.memory` full. By Little's law a record then waits for as long as the buffer
//! takes to pass: its bytes divided by the throughput. The pool hands out pieces of `batch.size`, of which only the
//! payload counts.

use crate::context::Context;
use crate::finding::{AuditRule, Finding, FindingSeverity};
use crate::line::AuditedLine;
use crate::options::Options;
use crate::producer::ProducerLine;

/// Kafka's defaults.
const BUFFER_BYTES: u64 = 32 << 20;
const BATCH_BYTES: u64 = 16_384;
/// The overhead of a record in a batch since 0.11, and the batch's header.
const RECORD_V2_BYTES: f64 = 8.0;
const HEADER_V2_BYTES: f64 = 61.0;
/// The same in earlier message sets.
const RECORD_V1_BYTES: f64 = 34.0;
/// Measured divided by predicted, if they agree.
const NEAR: std::ops::RangeInclusive<f64> = 0.85..=1.15;
/// Below this fraction of its limit, a producer was not limited by it.
const LIMITED: f64 = 0.95;

pub(super) fn check(lines: &[AuditedLine], options: &Options) -> Vec<Finding> {
    let finding = |line: &AuditedLine| {
        Some(Finding {
            level: FindingSeverity::Artefact,
            check: AuditRule::SaturatedBuffer,
            places: vec![line.place.clone()],
            text: words(line, line.summary()?, options)?,
        })
    };
    lines.iter().filter_map(finding).collect()
}

/// The fraction of a full pool that is payload.
fn packed(record_bytes: f64, batch_bytes: f64, record_more: f64, batch_more: f64) -> f64 {
    let fit = ((batch_bytes - batch_more) / (record_bytes + record_more)).floor();
    if fit >= 1.0 {
        fit * record_bytes / batch_bytes
    } else {
        // The record gets a piece of its own size.
        record_bytes / (record_bytes + record_more + batch_more)
    }
}

fn words(line: &AuditedLine, summary: &ProducerLine, options: &Options) -> Option<String> {
    let context = line.context();
    let limit = context
        .and_then(|context| context.throughput)
        .filter(|limit| *limit > 0.0);
    if limit.is_some_and(|limit| summary.records_per_s > LIMITED * limit)
        || summary.mib_per_s <= 0.0
    {
        return None;
    }
    let given = options.buffer_bytes.map(|bytes| (bytes, "--buffer-memory"));
    let named = |context: Option<&Context>, whence| {
        context.and_then(|context| Some((context.buffer_bytes?, whence)))
    };
    let nearby = line.nearby.as_ref();
    let (buffer_bytes, whence) = given
        .or_else(|| named(context, "its command"))
        .or_else(|| named(nearby, "the nearest command"))
        .unwrap_or((
            BUFFER_BYTES,
            "Kafka's default, assumed: set --buffer-memory",
        ));
    let batch_bytes = context.or(nearby).and_then(|context| context.batch_bytes);
    let batch_bytes = batch_bytes.unwrap_or(BATCH_BYTES) as f64;
    let record_bytes = summary.record_bytes()?;
    let whole_ms = buffer_bytes as f64 / (summary.mib_per_s * 1_048_576.0) * 1e3;
    let new = packed(record_bytes, batch_bytes, RECORD_V2_BYTES, HEADER_V2_BYTES);
    let old = packed(record_bytes, batch_bytes, RECORD_V1_BYTES, 0.0);
    let miss = |part: f64| (summary.mean_ms / (whole_ms * part) - 1.0).abs();
    let part = [new, old, 1.0]
        .into_iter()
        .min_by(|one, other| miss(*one).total_cmp(&miss(*other)))?;
    let predicted_ms = whole_ms * part;
    let ratio = summary.mean_ms / predicted_ms;
    NEAR.contains(&ratio).then(|| {
        format!(
            "The mean of {} ms is queueing in the client buffer: {buffer_bytes} bytes ({whence}), \
             {:.0} % payload, at {} MiB/s predict {predicted_ms:.0} ms (measured ÷ predicted \
             {ratio:.2}). It restates the throughput and says nothing about broker latency.",
            summary.mean_ms,
            part * 100.0,
            summary.mib_per_s
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_of_batches_is_not_all_payload() {
        // 122 records of 100 and 34 bytes fit into 16,384; 16 KiB hold one of 10 kB; a large one has its own piece.
        assert!((packed(100.0, 16_384.0, 34.0, 0.0) - 0.7446).abs() < 1e-3);
        assert!((packed(10_000.0, 16_384.0, 8.0, 61.0) - 0.6104).abs() < 1e-3);
        assert!(packed(1e6, 16_384.0, 8.0, 61.0) > 0.999);
    }
}
