//! What public rules of thumb would have answered.

use schemars::JsonSchema;
use serde::Serialize;

use super::demand::PeakLoad;
use super::machine::MachineType;
use super::need::SizingNeed;

/// MiB in bytes.
const MIB: f64 = 1_048_576.0;
/// Bytes per second from producers that AWS names for a standard broker of Amazon MSK with 64 vCPUs (m7g.16xlarge), in
/// "Introducing Express brokers for Amazon MSK", 2024.
const MSK_BYTES_PER_S: f64 = 154e6;
const MSK_VCPUS: f64 = 64.0;

/// A rule of thumb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizingRule {
    /// One vCPU takes 5 MiB/s in and sends 15 MiB/s (2minutestreaming's AKalculator).
    CoreRates,
    /// The slowest of network and disk by the bytes of all replicas and readers, without CPU (AWS, "Best practices for
    /// right-sizing your Apache Kafka clusters", equation 1).
    Throughput,
    /// One vCPU takes 2.4 MB/s in, as brokers of Amazon MSK do by AWS's figure for the largest one.
    MskRate,
    /// Bytes without replicas by a disk's throughput, as in the estimate of the image-queue-2016 study.
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

impl SizingRule {
    /// All.
    pub const ALL: [SizingRule; 4] = [
        SizingRule::CoreRates,
        SizingRule::Throughput,
        SizingRule::MskRate,
        SizingRule::BytesWithoutReplicas,
    ];

    /// Bytes per second from producers that the rule expects of each broker; `None` where it needs a fact that the
    /// machine type lacks.
    pub fn bytes_per_s_each(self, need: &SizingNeed, machine: &MachineType) -> Option<f64> {
        let replicas = f64::from(need.replication);
        match self {
            SizingRule::CoreRates => {
                let out = 15.0 * MIB / need.fan_out;
                Some(machine.vcpus * out.min(5.0 * MIB))
            }
            SizingRule::Throughput => {
                let network = machine
                    .network_bytes_per_s
                    .map(|limit| limit / (need.fan_out + replicas - 1.0));
                let disk = machine.disk_bytes_per_s.map(|limit| limit / replicas);
                network.into_iter().chain(disk).reduce(f64::min)
            }
            SizingRule::MskRate => Some(machine.vcpus * MSK_BYTES_PER_S / MSK_VCPUS),
            SizingRule::BytesWithoutReplicas => machine.disk_bytes_per_s,
        }
    }
}

/// What the rules would have said.
pub(super) fn rules(need: &SizingNeed, load: &PeakLoad, machine: &MachineType) -> Vec<RuleAnswer> {
    let brokers = |rule: SizingRule| {
        let each = rule.bytes_per_s_each(need, machine)?;
        let count = (load.in_bytes_per_s / each).ceil();
        Some(count.clamp(1.0, f64::from(u32::MAX)) as u32)
    };
    let answers = SizingRule::ALL.map(|rule| RuleAnswer {
        rule,
        brokers: brokers(rule),
    });
    answers.to_vec()
}
