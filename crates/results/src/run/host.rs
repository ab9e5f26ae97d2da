//! What a look at a host and its processes brings: the shapes of the lines in `evidence.jsonl`.
//!
//! `None` is what this kernel does not tell, or not to this user.

use serde::{Deserialize, Serialize};

/// Time since boot that a host's processors did not use, all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleTime {
    /// With nothing to do.
    pub idle_ns: u64,
    /// With nothing to do but wait for a disk. The kernel calls this a rough figure.
    pub iowait_ns: u64,
    /// Given by the hypervisor to somebody else.
    pub stolen_ns: u64,
}

/// A host's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostMemory {
    /// What new processes could have without swapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_bytes: Option<u64>,
    /// The page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_bytes: Option<u64>,
    /// What was written to files and is not on its way to a disk yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// What is on its way to a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writeback_bytes: Option<u64>,
}

/// A process: counters since its start, and what it holds now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUsageSample {
    /// Threads now.
    pub threads: u64,
    /// Open files and sockets now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Pages that had to be read from a disk.
    pub major_faults: u64,
    /// Bytes that were read from storage for it; what the page cache had is not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes that it gave to the page cache to be written to storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
}

/// A limit that a control group puts on the CPU time of the processes in it, since the group was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuLimitSample {
    /// Which of the groups around the process: 0 is the innermost that has a limit.
    pub level: u32,
    /// Thousandths of a core that the group may use.
    pub milli_cores: u64,
    /// Periods in which it had anything to do.
    pub periods: u64,
    /// Of them, those in which it had used up its time and stood still.
    pub held_periods: u64,
}

/// A disk since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSample {
    /// The kernel's name for it.
    pub disk: String,
    /// Reads that were completed.
    pub reads: u64,
    /// Bytes of them.
    pub read_bytes: u64,
    /// The sum of their times, from the queue to the end.
    pub read_ns: u64,
    /// Writes that were completed.
    pub writes: u64,
    /// Bytes of them.
    pub written_bytes: u64,
    /// The sum of their times.
    pub write_ns: u64,
    /// Time with anything under way.
    pub busy_ns: u64,
    /// The sum over time of how many were under way.
    pub queued_ns: u64,
    /// Flushes of the disk's own cache that were completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
    /// The sum of their times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_ns: Option<u64>,
}

/// A network interface since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkSample {
    /// The kernel's name for it.
    pub interface: String,
    /// Bytes in.
    pub received_bytes: u64,
    /// Packets in.
    pub received_packets: u64,
    /// Packets that came in and were dropped.
    pub received_drops: u64,
    /// Bytes out.
    pub sent_bytes: u64,
    /// Packets out.
    pub sent_packets: u64,
    /// Packets that were to go out and were dropped.
    pub sent_drops: u64,
}

/// How fast an interface is, where that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkSpeed {
    /// The kernel's name for it.
    pub interface: String,
    /// Bits that it carries in a second, in each direction.
    pub bits_per_s: u64,
    /// It carries them in one direction at a time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_half_duplex: bool,
    /// Who says so.
    pub told_by: SpeedSource,
}

/// Who says how fast an interface is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedSource {
    /// The driver of its card.
    Kernel,
    /// The user, with `--network-speed`.
    User,
    /// Somebody whom a newer kgauge knows.
    #[default]
    #[serde(other)]
    Unknown,
}

/// What tasks wait for.
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
    /// Something that a newer kgauge knows.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Pressure stall information: time since boot in which tasks stood still for want of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PressureSample {
    /// Of what.
    pub resource: Resource,
    /// In which at least one task waited.
    pub some_ns: u64,
    /// In which all that had anything to do waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_ns: Option<u64>,
}

/// What programs that take no part in the measurement used of the machine's processors, from the first look of a repeat
/// to the last. Of programs by name alone: command lines may hold secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherProgramsSample {
    /// From the first look to the last.
    pub span_ns: u64,
    /// CPU time of all of them; what ended between the looks is in it where a parent that is still there waited for it.
    pub others_ns: u64,
    /// CPU time of processes that kgauge started, such as brokers: also of those that were started again meanwhile.
    pub started_ns: u64,
    /// Those that used most, the largest first.
    pub programs: Vec<ProgramUse>,
}

/// All processes of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramUse {
    /// The name that the kernel has, at most 15 bytes.
    pub name: String,
    /// CPU time that they used.
    pub cpu_ns: u64,
}

/// A folder with the target's data, and which disks' figures are its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataDir {
    /// The folder.
    pub path: String,
    /// The kind of its file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// What is mounted there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The whole disks under it, by the kernel's names; none where [`DataDir::why`] says why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<String>,
    /// Why no disk is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Something that could not be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingEvidence {
    /// What.
    pub what: String,
    /// Why not.
    pub why: String,
}

impl MissingEvidence {
    /// What [`MissingEvidence::what`] begins with where brokers' own metrics could not be had.
    pub const METRICS: &'static str = "metrics";

    /// Whether it is of brokers' own metrics.
    pub fn is_of_metrics(&self) -> bool {
        self.what.starts_with(MissingEvidence::METRICS)
    }
}
