//! Samples of a host and its processes: types of lines in `evidence.jsonl`.
//!
//! `None` means that the kernel does not provide the value, or not to this user.

use serde::{Deserialize, Serialize};

/// Unused processor time since boot, all processors together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleTime {
    /// Idle.
    pub idle_ns: u64,
    /// Idle while waiting for a disk. The kernel calls this value unreliable.
    pub iowait_ns: u64,
    /// Taken by the hypervisor for others.
    pub stolen_ns: u64,
}

/// A host's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostMemory {
    /// Memory available to new processes without swapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_bytes: Option<u64>,
    /// The page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_bytes: Option<u64>,
    /// Bytes written to files that are not on their way to a disk yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// Bytes on their way to a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writeback_bytes: Option<u64>,
}

/// A process: counters since its start, and its current resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUsageSample {
    /// Current number of threads.
    pub threads: u64,
    /// Current number of open files and sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Pages read from a disk.
    pub major_faults: u64,
    /// Bytes read from storage; reads from the page cache are not included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes written to the page cache, for storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
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
    /// Reads that were completed.
    pub reads: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// The sum of their times, including queueing.
    pub read_ns: u64,
    /// Writes that were completed.
    pub writes: u64,
    /// Their bytes.
    pub written_bytes: u64,
    /// The sum of their times.
    pub write_ns: u64,
    /// Time with any I/O in flight.
    pub busy_ns: u64,
    /// The sum over time of the number in flight.
    pub queued_ns: u64,
    /// Completed flushes of the disk's own cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
    /// The sum of their times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_ns: Option<u64>,
}

/// A network interface; counters since it was created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkSample {
    /// The kernel's name for it.
    pub interface: String,
    /// Bytes in.
    pub received_bytes: u64,
    /// Packets in.
    pub received_packets: u64,
    /// Received packets that were dropped.
    pub received_drops: u64,
    /// Bytes out.
    pub sent_bytes: u64,
    /// Packets out.
    pub sent_packets: u64,
    /// Packets to be sent that were dropped.
    pub sent_drops: u64,
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

/// Pressure stall information: time since boot in which tasks waited for a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PressureSample {
    /// The resource.
    pub resource: Resource,
    /// Time in which at least one task waited.
    pub some_ns: u64,
    /// Time in which all tasks waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_ns: Option<u64>,
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
