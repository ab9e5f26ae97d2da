//! The spread over repeats, which the tool does not print.

use kgauge_analyze::statistics::Spread;

use crate::finding::{AuditRule, Finding, FindingSeverity};
use crate::line::AuditedLine;
use crate::producer::ProducerLine;

/// A mean with at most this uncertainty is not reported.
const KNOWN: f64 = 0.05;

pub(super) fn check(lines: &[AuditedLine]) -> Vec<Finding> {
    groups(lines)
        .iter()
        .filter_map(|group| finding(group))
        .collect()
}

/// Whether there is anything to compute a spread from.
pub(super) fn has_repeats(lines: &[AuditedLine]) -> bool {
    !groups(lines).is_empty()
}

/// Consecutive summaries of the same records.
fn groups(lines: &[AuditedLine]) -> Vec<Vec<(&AuditedLine, &ProducerLine)>> {
    let mut groups: Vec<Vec<(&AuditedLine, &ProducerLine)>> = Vec::new();
    for line in lines {
        let Some(summary) = line.summary() else {
            continue;
        };
        let last = groups.last_mut();
        match last.filter(|group| {
            group
                .last()
                .is_some_and(|(before, of)| goes_on(before, of, line, summary))
        }) {
            Some(group) => group.push((line, summary)),
            None => groups.push(vec![(line, summary)]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Whether a line continues them.
fn goes_on(
    before: &AuditedLine,
    of: &ProducerLine,
    line: &AuditedLine,
    summary: &ProducerLine,
) -> bool {
    let near = line.place.file == before.place.file && line.place.line == before.place.line + 1;
    let bytes = of.record_bytes().zip(summary.record_bytes());
    near && of.records == summary.records
        && bytes.is_some_and(|(one, other)| (one / other - 1.0).abs() < 0.01)
}

fn finding(group: &[(&AuditedLine, &ProducerLine)]) -> Option<Finding> {
    let rates: Vec<f64> = group
        .iter()
        .map(|(_, summary)| summary.records_per_s)
        .collect();
    let spread = Spread::of(&rates)?;
    let interval = spread.ci95?;
    let part = (interval.high - interval.low) / 2.0 / spread.mean;
    let modes = if spread.two_modes {
        " They form two groups; the mean describes neither."
    } else {
        ""
    };
    (part > KNOWN || spread.two_modes).then(|| Finding {
        level: FindingSeverity::Caution,
        check: AuditRule::Spread,
        places: group.iter().map(|(line, _)| line.place.clone()).collect(),
        text: format!(
            "{} lines with the same records average {:.0} records/s: coefficient of variation \
             {:.0} %, 95 % interval of the mean ±{:.0} %.{modes} They cannot show a smaller \
             difference. (If these are producers of one run, add them up and repeat the run.)",
            spread.n,
            spread.mean,
            spread.cv.unwrap_or(0.0) * 100.0,
            part * 100.0
        ),
    })
}
