//! What public rules of thumb would have answered.

use schemars::JsonSchema;
use serde::Serialize;

use super::demand::PeakLoad;
use super::machine::MachineType;
use super::need::SizingNeed;

/// A rule of thumb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizingRule {
    /// One vCPU takes 5 MiB/s in and sends 15 MiB/s (2minutestreaming's AKalculator).
    CoreRates,
    /// The slowest of network and disk by the bytes of all replicas and readers, without CPU (AWS, "Best practices for
    /// right-sizing your Apache Kafka clusters", equation 1).
    Throughput,
    /// Bytes per day without replicas by a disk's size, as published with the image-queue study.
    BytesWithoutReplicas,
}

/// What a rule would have said for a machine type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleAnswer {
    /// The rule.
    pub rule: SizingRule,
    /// Brokers, without those that may be lost; null where the rule needs a fact that the machine type lacks.
    pub brokers: Option<u32>,
}

/// MiB in bytes.
const MIB: f64 = 1_048_576.0;

/// What the rules would have said.
pub(super) fn rules(need: &SizingNeed, load: &PeakLoad, machine: &MachineType) -> Vec<RuleAnswer> {
    let whole = |brokers: f64| brokers.ceil().clamp(1.0, f64::from(u32::MAX)) as u32;
    let cores = (load.in_bytes_per_s / (5.0 * MIB)).max(load.out_bytes_per_s / (15.0 * MIB));
    let replicas = f64::from(need.replication);
    let network = machine
        .network_bytes_per_s
        .map(|limit| load.in_bytes_per_s * (need.fan_out + replicas - 1.0) / limit);
    let disk = machine
        .disk_bytes_per_s
        .map(|limit| load.in_bytes_per_s * replicas / limit);
    let slowest = network.into_iter().chain(disk).reduce(f64::max);
    vec![
        RuleAnswer {
            rule: SizingRule::CoreRates,
            brokers: Some(whole(cores / machine.vcpus)),
        },
        RuleAnswer {
            rule: SizingRule::Throughput,
            brokers: slowest.map(whole),
        },
        RuleAnswer {
            rule: SizingRule::BytesWithoutReplicas,
            brokers: machine
                .disk_bytes_per_s
                .map(|limit| whole(load.in_bytes_per_s / limit)),
        },
    ]
}
