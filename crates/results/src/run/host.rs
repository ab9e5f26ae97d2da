//! Samples of a host and its processes: types of lines in `evidence.jsonl`.
//!
//! `None` means that the kernel does not provide the value, or not to this user.

use serde::{Deserialize, Serialize};

use crate::metrics::Readings;

/// Time since boot that a host's processors did not use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleTime {
    /// Its metrics.
    #[serde(flatten, with = "super::stored_metrics::idle")]
    pub values: Readings,
}

/// A host's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostMemory {
    /// Its metrics.
    #[serde(flatten, with = "super::stored_metrics::host_memory")]
    pub values: Readings,
}

/// A process: counters since its start, and what it holds now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUsageSample {
    /// Its metrics.
    #[serde(flatten, with = "super::stored_metrics::process")]
    pub values: Readings,
}

/// A control group's limit on the CPU time of its processes; counters since the group was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuLimitSample {
    /// The position among the groups around the process: 0 is the innermost with a limit.
    pub level: u32,
    /// The limit in thousandths of a core.
    pub milli_cores: u64,
    /// Periods in which it was active.
    pub periods: u64,
    /// Periods in which it had used up its time and was throttled.
    pub held_periods: u64,
}

/// A disk since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSample {
    /// The kernel's name for it.
    pub disk: String,
    /// Its metrics.
    #[serde(flatten, with = "super::stored_metrics::disk")]
    pub values: Readings,
}

/// A network interface since it was created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkSample {
    /// The kernel's name for it.
    pub interface: String,
    /// Its metrics.
    #[serde(flatten, with = "super::stored_metrics::network")]
    pub values: Readings,
}

/// The speed of an interface, if known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkSpeed {
    /// The kernel's name for it.
    pub interface: String,
    /// Bits per second in each direction.
    pub bits_per_s: u64,
    /// It is half duplex.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_half_duplex: bool,
    /// The source of the speed.
    pub told_by: SpeedSource,
}

/// The source of an interface's speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedSource {
    /// The card's driver.
    Kernel,
    /// The user, with `--network-speed`.
    User,
    /// A source that a newer kgauge knows.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Resources that tasks wait for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// A processor.
    Cpu,
    /// A disk.
    Io,
    /// Memory.
    Memory,
    /// A resource that a newer kgauge knows.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Pressure stall information: time since boot in which tasks stood still for want of something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PressureSample {
    /// Of what.
    pub resource: Resource,
    /// Its metrics.
    #[serde(flatten, with = "super::stored_metrics::pressure")]
    pub values: Readings,
}

/// Processor use of programs that take no part in the measurement, from the first sample of a repeat to the last. Only
/// names are recorded: command lines may contain secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherProgramsSample {
    /// From the first sample to the last.
    pub span_ns: u64,
    /// CPU time of all of them. A process that ended between the samples is included if a remaining parent waited for
    /// it.
    pub others_ns: u64,
    /// CPU time of processes that kgauge started, such as brokers, including restarted ones.
    pub started_ns: u64,
    /// The largest users, in descending order.
    pub programs: Vec<ProgramUse>,
}

/// All processes of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramUse {
    /// The kernel's name, at most 15 bytes.
    pub name: String,
    /// Their CPU time.
    pub cpu_ns: u64,
}

/// A folder with the target's data, and the disks under it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataDir {
    /// The folder.
    pub path: String,
    /// The type of its file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// The mounted device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The whole disks under it, by the kernel's names; if empty, [`DataDir::why`] has the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<String>,
    /// Why no disk is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Evidence that could not be obtained.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingEvidence {
    /// The missing evidence.
    pub what: String,
    /// Why not.
    pub why: String,
}

impl MissingEvidence {
    /// The prefix of [`MissingEvidence::what`] if brokers' own metrics are missing.
    pub const METRICS: &'static str = "metrics";

    /// Whether brokers' own metrics are missing.
    pub fn is_of_metrics(&self) -> bool {
        self.what.starts_with(MissingEvidence::METRICS)
    }
}
