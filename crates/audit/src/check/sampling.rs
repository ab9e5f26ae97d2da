//! Percentiles of samples from only some partitions.
//!
//! The tool keeps every k-th record, k = records / 500,000 (`ProducerPerformance.Stats`). A producer before 2.4 sent
//! records without keys to the partitions in turn (KIP-480 changed that): then the k-th records are those of p / gcd(p,
//! k) of p partitions.

use std::collections::BTreeMap;

use crate::finding::{AuditRule, Finding, FindingLocation, FindingSeverity};
use crate::line::AuditedLine;
use crate::options::Options;

/// The number of samples that the tool keeps.
const SAMPLES: u64 = 500_000;
/// The first release whose producers stay with a partition for a batch.
const STICKY: (u32, u32) = (2, 4);

pub(super) fn check(lines: &[AuditedLine], options: &Options) -> Vec<Finding> {
    let Some(partitions) = options.partitions.filter(|partitions| *partitions > 1) else {
        return Vec::new();
    };
    if options.as_of.is_some_and(|version| version >= STICKY) {
        return Vec::new();
    }
    // One finding per number of records.
    let mut found: BTreeMap<u64, Vec<FindingLocation>> = BTreeMap::new();
    for line in lines {
        if let Some(summary) = line.summary() {
            found
                .entry(summary.records)
                .or_default()
                .push(line.place.clone());
        }
    }
    let finding = |(records, places): (u64, Vec<FindingLocation>)| {
        let every = (records / SAMPLES).max(1);
        let seen = partitions / gcd(partitions, every);
        (seen < partitions).then(|| Finding {
            level: FindingSeverity::Artefact,
            check: AuditRule::Sampling,
            places,
            text: format!(
                "The percentiles cover {seen} of {partitions} partitions: the tool samples one in \
                 {every} of {records} records, and producers before 2.4 assign keyless records \
                 round-robin. The mean covers all."
            ),
        })
    };
    found.into_iter().filter_map(finding).collect()
}

fn gcd(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_common_divisor_is_found() {
        assert_eq!(
            [gcd(10, 20), gcd(9, 20), gcd(30, 20), gcd(7, 1)],
            [10, 1, 10, 1]
        );
    }
}
