//! Rates above the capacity of the brokers' network cards.

use std::collections::BTreeMap;

use crate::finding::{AuditRule, Finding, FindingSeverity};
use crate::line::AuditedLine;
use crate::options::Options;

pub(super) fn check(lines: &[AuditedLine], options: &Options) -> Vec<Finding> {
    let (Some(nic_bits_per_s), Some(brokers)) = (options.nic_bits_per_s, options.brokers) else {
        return Vec::new();
    };
    let replication = options.replication.unwrap_or(1);
    let nic_mib_per_s = nic_bits_per_s / 8.0 / 1_048_576.0;
    let ingress = |mib_per_s: f64| mib_per_s * f64::from(replication) / f64::from(brokers);
    // One finding per file and command, for the highest rate.
    let mut found: BTreeMap<(&str, usize), Vec<(f64, &AuditedLine)>> = BTreeMap::new();
    for line in lines {
        let Some(mib_per_s) = line.sent_mib_per_s() else {
            continue;
        };
        if ingress(mib_per_s) > nic_mib_per_s {
            let command = line.context().map_or(0, |context| context.line);
            let of = found.entry((&line.place.file, command)).or_default();
            of.push((mib_per_s, line));
        }
    }
    let finding = |lines: Vec<(f64, &AuditedLine)>| {
        let most = lines
            .iter()
            .map(|(mib_per_s, _)| *mib_per_s)
            .fold(0.0, f64::max);
        let each = ingress(most);
        let codec = lines
            .iter()
            .find_map(|(_, line)| line.context()?.codec.as_ref());
        Finding {
            // Compression sends fewer bytes than the tool counts.
            level: match codec {
                Some(_) => FindingSeverity::Artefact,
                None => FindingSeverity::Contradiction,
            },
            check: AuditRule::NetworkCard,
            places: lines.iter().map(|(_, line)| line.place.clone()).collect(),
            text: format!(
                "{most} MiB/s x {replication} replicas / {brokers} brokers = {each:.1} MiB/s into \
                 each broker, {:.2} times its network card's capacity ({nic_mib_per_s:.1} MiB/s). \
                 {}",
                each / nic_mib_per_s,
                match codec {
                    Some(codec) => format!(
                        "The tool counts bytes before {codec}, so fewer \
                                            crossed the network."
                    ),
                    None => "Replication cannot have kept up with this ack rate, unless \
                             compression reduced the bytes on the wire."
                        .to_owned(),
                }
            ),
        }
    };
    found.into_values().map(finding).collect()
}
