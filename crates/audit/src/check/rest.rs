//! Whole milliseconds, and records that are missing.

use crate::finding::{AuditRule, Finding, FindingSeverity};
use crate::line::AuditedLine;

/// From here on a millisecond is no more than a hundredth.
const COARSE_MS: f64 = 10.0;

pub(super) fn check(lines: &[AuditedLine]) -> Vec<Finding> {
    let coarse: Vec<_> = lines
        .iter()
        .filter(|line| {
            let percentiles = line.summary().and_then(|said| said.percentiles_ms);
            percentiles.is_some_and(|[p50, ..]| p50 < COARSE_MS)
        })
        .map(|line| line.place.clone())
        .collect();
    let truncation = (!coarse.is_empty()).then(|| Finding {
        level: FindingSeverity::Caution,
        check: AuditRule::Truncation,
        text: format!(
            "The tool cuts every time to whole milliseconds: a p50 below {COARSE_MS} ms may be off by a tenth and more, and \
             0 ms is anything below one."
        ),
        places: coarse,
    });
    let missing = lines.iter().filter_map(|line| {
        let (said, wanted) = (line.summary()?, line.context()?.records?);
        (said.records < wanted).then(|| Finding {
            level: FindingSeverity::Caution,
            check: AuditRule::Failures,
            places: vec![line.place.clone()],
            text: format!(
                "{} records are counted of {wanted} that the command above asks for: either it is another one's line, or the \
                 rest failed, which the tool counts nowhere.",
                said.records
            ),
        })
    });
    truncation.into_iter().chain(missing).collect()
}
