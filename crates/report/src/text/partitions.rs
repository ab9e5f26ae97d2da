//! How many partitions rates need.

use kgauge_analyze::summary::PartitionsNeeded;

use crate::format;

/// The formula of the study with what was measured.
pub fn sentence(needed: &PartitionsNeeded) -> String {
    let caveat = match needed.is_limited {
        true => " The generator limited one rate, so fewer may be enough.",
        false => "",
    };
    let rates = needed.rates.iter().enumerate().map(|(index, one)| {
        let (rate, least) = (format::count(one.rate_per_s), one.partitions);
        let more = one.partitions_cautious.filter(|more| *more > least);
        match index {
            0 => {
                let partitions = format::counted(least, "partition");
                let more = more.map_or_else(String::new, |more| {
                    format!(" ({more} at the lower ends of the intervals)")
                });
                format!("{rate} records/s need at least {partitions}{more}")
            }
            _ => {
                let more = more.map_or_else(String::new, |more| format!(" ({more})"));
                format!("{rate} need {}{more}", format::count(least))
            }
        }
    });
    format!(
        "{}, by max(T/P, T/C) with P = {} and C = {} records/s.{caveat}",
        rates.collect::<Vec<_>>().join("; "),
        format::figure(needed.produce_per_s.mean),
        format::figure(needed.consume_per_s.mean)
    )
}
