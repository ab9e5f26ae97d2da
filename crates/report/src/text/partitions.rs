//! How many partitions rates need.

use kgauge_analyze::summary::PartitionsNeeded;

use crate::format;

/// The formula of the study with what was measured.
pub fn sentence(needed: &PartitionsNeeded) -> String {
    let caveat = match needed.is_limited {
        true => " The generator limited one of these rates, so fewer partitions may be enough.",
        false => "",
    };
    let rates = needed.rates.iter().map(|one| {
        let partitions = format::counted(one.partitions, "partition");
        let cautious = match one.partitions_cautious {
            Some(more) if more > one.partitions => {
                format!(" ({more} at the lower ends of the intervals)")
            }
            _ => String::new(),
        };
        let rate = format::count(one.rate_per_s);
        format!("{rate} records/s need {partitions}{cautious}")
    });
    format!(
        "One producer wrote P = {} records/s to one partition, and one consumer read C = {} from \
         one. By max(T/P, T/C): {}. This is the minimum. Spare partitions cost little; adding \
         partitions later remaps keys.{caveat}",
        format::figure(needed.produce_per_s.mean),
        format::figure(needed.consume_per_s.mean),
        rates.collect::<Vec<_>>().join("; ")
    )
}
