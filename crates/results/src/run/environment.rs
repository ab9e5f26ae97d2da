//! `environment.json`: the machine that made the load, this build of kgauge, and the target.
//!
//! Whatever could not be found out is `None`, never a guess. Secrets are never in it: settings
//! come from the brokers' own answers, which hide theirs.

use std::collections::BTreeMap;

use kgauge_scenario::TargetKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The content of `environment.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Where the load came from.
    pub machine: MachineRecord,
    /// What made it.
    pub kgauge: BuildRecord,
    /// The cluster under test.
    pub target: TargetRecord,
    /// What the target's disk does by itself, where the study asks and it could be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskBaseline>,
}

/// Writes past the page cache, one at a time, as fio measured them before the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskBaseline {
    /// Which fio.
    pub fio: String,
    /// The folder that it wrote in.
    pub path: String,
    /// 4 KiB at random places of 256 MiB.
    pub random_4k: DiskWrites,
    /// 1 MiB one after the other.
    pub sequential_1m: DiskWrites,
}

/// What writes of one kind came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskWrites {
    /// Writes a second.
    pub per_s: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Mean time of one, ns.
    pub latency_ns_mean: f64,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineRecord {
    /// Its name in the network.
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
    /// What the kernel reads time from (`tsc`, `hpet`, ...).
    pub clock_source: Option<String>,
    /// The file system that the run folder, and an embedded target's data, lie on.
    pub file_system: Option<String>,
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
    /// What it is.
    pub kind: TargetKind,
    /// Kafka's cluster id.
    pub cluster_id: Option<String>,
    /// The addresses that were asked first.
    pub bootstrap_servers: Vec<String>,
    /// True when it runs on the machine that makes the load, and so shares its processors.
    pub same_machine: Option<bool>,
    /// The release, as far as its answers tell it.
    pub version: Option<String>,
    /// Its brokers.
    pub brokers: Vec<BrokerRecord>,
    /// How kgauge started it, if it did and it is Apache Kafka.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<KafkaStart>,
    /// What a reader has to know about how it was reached, such as a check that was switched off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How kgauge started Apache Kafka.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KafkaStart {
    /// Whether this release is one of those that kgauge is tested with.
    pub checked: bool,
    /// How the brokers agree with each other, such as `KRaft, combined mode` or `ZooKeeper`.
    pub coordination: String,
    /// The Java that it ran on.
    pub java: String,
    /// Flags of each broker's Java, the heap among them.
    pub jvm: Vec<String>,
    /// How clients reach it, such as `PLAINTEXT` or `SASL_SSL, SCRAM-SHA-256`.
    pub security: String,
    /// Broker settings that were asked for.
    pub settings: BTreeMap<String, String>,
    /// Settings of single brokers that were asked for, by broker id.
    pub broker_settings: BTreeMap<String, BTreeMap<String, String>>,
    /// From the start of the first process until the last broker's port was open, ms.
    pub ports_open_ms: Option<u64>,
    /// From the start of the first process until all brokers were registered and served, ms.
    pub serves_ms: Option<u64>,
}

impl TargetRecord {
    /// What a target is called of which nothing was recorded.
    pub const UNKNOWN: &str = "unknown: the run ended before it was recorded";

    /// The sentence that names the target in every report.
    pub fn words(&self) -> String {
        let brokers = match self.brokers.len() {
            1 => "1 broker".to_owned(),
            count => format!("{count} brokers"),
        };
        let version = |before: &str| {
            let version = self.version.as_deref();
            version.map_or_else(String::new, |version| format!("{before}{version}"))
        };
        let machine = match self.same_machine {
            Some(true) => ", on the load generator's machine",
            _ => "",
        };
        match self.kind {
            TargetKind::Embedded => format!(
                "kgauge's embedded cluster, {brokers}{machine} (not Apache Kafka: its figures do \
                 not carry over)"
            ),
            TargetKind::Kafka => {
                format!(
                    "Apache Kafka{}, {brokers}, started by kgauge{machine}",
                    version(" ")
                )
            }
            TargetKind::Existing => format!(
                "an existing cluster, {brokers}{}{machine}",
                version(", version ")
            ),
        }
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
    /// The settings that it says are in force, those that bear on results.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// A topic as the cluster says that it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopicFacts {
    /// Its name.
    pub name: String,
    /// Partitions.
    pub partitions: u32,
    /// Copies of each, the leader's among them.
    pub replication_factor: u16,
    /// Settings in force (`min.insync.replicas`, `flush.messages`, `flush.ms`, ...).
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}
