//! How many partitions rates need.

use kgauge_analyze::summary::PartitionsNeeded;

use crate::format;

/// The formula of the study with what was measured.
pub fn sentence(needed: &PartitionsNeeded) -> String {
    let caveat = match needed.is_limited {
        true => " The generator limited one rate, so fewer may be enough.",
        false => "",
    };
    let rates = needed.rates.iter().map(|one| {
        let partitions = format::counted(one.partitions, "partition");
        let cautious = match one.partitions_cautious {
            Some(more) if more > one.partitions => {
                format!(" (up to {more})")
            }
            _ => String::new(),
        };
        let rate = format::count(one.rate_per_s);
        format!("{rate} records/s need at least {partitions}{cautious}")
    });
    format!(
        "{}, by max(T/P, T/C) with P = {} and C = {} records/s.{caveat}",
        format::capital(&rates.collect::<Vec<_>>().join("; ")),
        format::figure(needed.produce_per_s.mean),
        format::figure(needed.consume_per_s.mean)
    )
}
