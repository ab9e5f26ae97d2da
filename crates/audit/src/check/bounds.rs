//! Means that contradict their percentiles.
//!
//! Half of all times are at most p50, another 45 % at most p95 and so on, and conversely: so the mean lies
//! between `.45 p50 + .04 p95 + .009 p99 + .001 p99.9` and `.5 p50 + .45 p95 + .04 p99 + .009 p99.9 + .001 max`,
//! whatever the distribution is. It holds for the order statistic that Kafka's tool prints, the one at index
//! `floor(p n)`, for any number n of samples. If the tool kept only every k-th sample (more than 500,000 records),
//! the percentiles of an unbiased sample still deviate by chance: with half a million samples, the median's rank is
//! off by 0.0007. The check allows three thousandths for that, and a millisecond for truncation.

use crate::distribution::{PublishedTimes, shown, sum};
use crate::finding::{AuditRule, Finding, FindingSeverity};
use crate::line::AuditedLine;

/// The allowance for percentiles of a sample.
const SAMPLED: f64 = 0.003;
const TRUNCATED_MS: f64 = 1.0;

pub(super) fn check(lines: &[AuditedLine]) -> Vec<Finding> {
    let of_line = |line: &AuditedLine| {
        let place = line.place.clone();
        let finding = move |times: PublishedTimes| {
            Some(Finding {
                level: FindingSeverity::Contradiction,
                check: AuditRule::MeanAndPercentiles,
                places: vec![place.clone()],
                text: words(&times)?,
            })
        };
        line.distributions().into_iter().filter_map(finding)
    };
    lines.iter().flat_map(of_line).collect()
}

fn words(times: &PublishedTimes) -> Option<String> {
    let (name, mean) = (times.name, times.mean_ms);
    if times.falls() {
        let points = times.points.iter();
        let points: Vec<String> = points
            .map(|(part, ms)| format!("p{} {ms} ms", (part * 1e6).round() / 1e4))
            .collect();
        return Some(format!(
            "The percentiles of the {name} decrease: {}, max {} ms.",
            points.join(", "),
            times.max_ms
        ));
    }
    let (least, most) = (times.least(), times.most());
    let (bound, terms) = if mean > sum(&most) * (1.0 + SAMPLED) + TRUNCATED_MS {
        ("most", most)
    } else if mean < sum(&least) * (1.0 - SAMPLED) - TRUNCATED_MS {
        ("least", least)
    } else {
        return None;
    };
    Some(format!(
        "The mean {name} is {mean} ms, but the percentiles allow {:.1} ms at {bound}: {}. Mean \
         and percentiles come from different records.",
        sum(&terms),
        shown(&terms)
    ))
}
