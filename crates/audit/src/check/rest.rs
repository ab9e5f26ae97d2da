//! Whole milliseconds, and missing records.

use crate::finding::{AuditRule, Finding, FindingSeverity};
use crate::line::AuditedLine;

/// From here on, a millisecond is at most one percent.
const COARSE_MS: f64 = 10.0;

pub(super) fn check(lines: &[AuditedLine]) -> Vec<Finding> {
    let coarse: Vec<_> = lines
        .iter()
        .filter(|line| {
            let percentiles = line.summary().and_then(|summary| summary.percentiles_ms);
            percentiles.is_some_and(|[p50, ..]| p50 < COARSE_MS)
        })
        .map(|line| line.place.clone())
        .collect();
    let truncation = (!coarse.is_empty()).then(|| Finding {
        level: FindingSeverity::Caution,
        check: AuditRule::Truncation,
        text: format!(
            "The tool truncates latencies to whole milliseconds: a p50 below {COARSE_MS} ms may \
             be off by 10 % or more, and 0 ms means below 1 ms."
        ),
        places: coarse,
    });
    let missing = lines.iter().filter_map(|line| {
        let (summary, requested) = (line.summary()?, line.context()?.records?);
        (summary.records < requested).then(|| Finding {
            level: FindingSeverity::Caution,
            check: AuditRule::Failures,
            places: vec![line.place.clone()],
            text: format!(
                "{} of the {requested} records that the command above requests are counted. Either \
                 the line belongs to another command or the rest failed; the tool does not count \
                 failures.",
                summary.records
            ),
        })
    });
    truncation.into_iter().chain(missing).collect()
}
