//! `environment.json`: the load generator's machine, this build of kgauge, and the target.
//!
//! Unknown facts are `None`, never guesses. It contains no secrets: settings come from the brokers' responses, which
//! hide theirs.

use std::collections::BTreeMap;

use kgauge_scenario::TargetKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target_note::{TargetNote, read_notes};

/// The contents of `environment.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The load generator's machine.
    pub machine: MachineRecord,
    /// The build of kgauge.
    pub kgauge: BuildRecord,
    /// The cluster under test.
    pub target: TargetRecord,
    /// The disk baseline, if the study requests it and it could be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskBaseline>,
}

/// Writes without the page cache, one at a time, as measured by fio before the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskBaseline {
    /// The version of fio.
    pub fio: String,
    /// The folder that it wrote to.
    pub path: String,
    /// 4 KiB at random positions of 256 MiB.
    pub random_4k: DiskWrites,
    /// 1 MiB sequentially.
    pub sequential_1m: DiskWrites,
}

/// The result for one kind of writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskWrites {
    /// Writes per second.
    pub per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean time per write, ns.
    pub latency_ns_mean: f64,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineRecord {
    /// Its host name.
    pub host_name: Option<String>,
    /// Such as `linux`.
    pub operating_system: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// Such as `x86_64`.
    pub architecture: Option<String>,
    /// The processor's name.
    pub cpu_model: Option<String>,
    /// Logical processors that the process may use.
    pub cpu_count: Option<u32>,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// True for a virtual machine that reports free memory to its host, which takes it back: memory that is used again
    /// then costs more, and how much varies.
    pub reports_free_memory: bool,
    /// The kernel's clock source (`tsc`, `hpet`, ...).
    pub clock_source: Option<String>,
    /// The file system of the run folder, and of an embedded target's data.
    pub file_system: Option<String>,
}

/// Sizes of memory within this share can be one machine's: what a kernel keeps for itself differs.
const MEMORY_WITHIN: f64 = 0.02;

impl MachineRecord {
    /// Whether two sizes of memory in bytes can be one machine's.
    pub fn is_same_memory(one: Option<u64>, other: Option<u64>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => {
                one.abs_diff(other) as f64 <= MEMORY_WITHIN * one.max(other) as f64
            }
            (one, other) => one == other,
        }
    }
}

/// A build of kgauge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuildRecord {
    /// Its version.
    pub version: String,
    /// True if built without optimisation: its own overhead is then much higher.
    pub debug: bool,
}

impl BuildRecord {
    /// This build.
    pub fn this() -> BuildRecord {
        BuildRecord {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            debug: cfg!(debug_assertions),
        }
    }
}

/// The cluster under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetRecord {
    /// Its kind.
    pub kind: TargetKind,
    /// Kafka's cluster id.
    pub cluster_id: Option<String>,
    /// The bootstrap addresses.
    pub bootstrap_servers: Vec<String>,
    /// True if it runs on the load generator's machine, and so shares its processors.
    pub same_machine: Option<bool>,
    /// The release, as far as its API versions show it.
    pub version: Option<String>,
    /// Its brokers.
    pub brokers: Vec<BrokerRecord>,
    /// Whether clients use TLS; none in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<bool>,
    /// How kgauge started Apache Kafka, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<KafkaStart>,
    /// Facts that affect its figures, such as a disabled check.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "read_notes"
    )]
    pub notes: Vec<TargetNote>,
}

/// How kgauge started Apache Kafka.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KafkaStart {
    /// Whether this release is one of those that kgauge is tested with.
    pub checked: bool,
    /// The coordination, such as `KRaft, combined mode` or `ZooKeeper`.
    pub coordination: String,
    /// The Java that it ran on.
    pub java: String,
    /// Java flags of each broker, including the heap.
    pub jvm: Vec<String>,
    /// Security of client connections, such as `PLAINTEXT` or `SASL_SSL, SCRAM-SHA-256`.
    pub security: String,
    /// Requested broker settings.
    pub settings: BTreeMap<String, String>,
    /// Requested settings of single brokers, by broker id.
    pub broker_settings: BTreeMap<String, BTreeMap<String, String>>,
    /// From the start of the first process until the last broker's port was open, ms.
    pub ports_open_ms: Option<u64>,
    /// From the start of the first process until all brokers were ready, ms.
    pub serves_ms: Option<u64>,
}

impl TargetRecord {
    /// The address of an existing cluster as the user gave it: `b1:9092`, `b1:9092 and 2 more`; `None` for clusters
    /// that kgauge started.
    pub fn address(&self) -> Option<String> {
        let (first, more) = self.bootstrap_servers.split_first()?;
        if !self.kind.is_existing() {
            return None;
        }
        Some(match more.len() {
            0 => first.clone(),
            more => format!("{first} and {more} more"),
        })
    }
}

/// A broker of the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokerRecord {
    /// Kafka's node id.
    pub id: i32,
    /// Where it listens.
    pub address: String,
    /// Its rack.
    #[serde(default)]
    pub rack: Option<String>,
    /// The settings in force that affect results, as it reports them.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// A topic as described by the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopicFacts {
    /// Its name.
    pub name: String,
    /// Partitions.
    pub partitions: u32,
    /// Replicas of each, including the leader.
    pub replication_factor: u16,
    /// Settings in force (`min.insync.replicas`, `flush.messages`, `flush.ms`, ...).
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}
