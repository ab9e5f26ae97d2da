//! `evidence.jsonl`: samples of hosts, processes, kgauge's own clients and brokers, about once per second.
//!
//! Counters are cumulative, as in the kernel: a lost line costs resolution, not accuracy. All lines of one sample have
//! the same time. An idle disk or interface may be left out of a sample. Its previous line is repeated, with a later
//! time, when it becomes active, and at the end.

use kgauge_scenario::RepeatKey;
use serde::{Deserialize, Serialize};

use super::broker_sample::BrokerSample;
use super::client::ClientSample;
use super::host::{
    CpuLimitSample, DataDir, DiskSample, HostMemory, IdleTime, MissingEvidence, NetworkSample,
    NetworkSpeed, OtherProgramsSample, PressureSample, ProcessUsageSample,
};
use super::wire::{GroupSample, PartitionChange, TopicReplicasSample, TopicSample};

/// One line of `evidence.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Wall-clock time, in milliseconds since 1970-01-01 UTC.
    pub at_unix_ms: u64,
    /// The repeat of the sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<RepeatKey>,
    /// Nanoseconds since the start of that repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
    /// The subject.
    #[serde(flatten)]
    pub subject: Subject,
    /// The reading.
    #[serde(flatten)]
    pub kind: EvidenceKind,
}

/// The subject of evidence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "subject", rename_all = "kebab-case")]
pub enum Subject {
    /// The load generator's process, all its threads.
    Generator,
    /// One load thread.
    GeneratorThread {
        /// Its number.
        thread: u32,
    },
    /// The process of a target on this machine.
    Target {
        /// The broker's id, if the process is one broker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broker: Option<i32>,
    },
    /// Another process, such as ZooKeeper or a replicator.
    Process {
        /// Its name.
        name: String,
    },
    /// The load generator's machine.
    Host,
    /// The cluster under test, or one of its brokers, as seen over Kafka's protocol.
    Cluster {
        /// The broker's id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broker: Option<i32>,
    },
    /// The clients of one flow.
    Flow {
        /// Its index in the trial.
        flow: u16,
    },
}

/// The kinds of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "evidence", rename_all = "kebab-case")]
pub enum EvidenceKind {
    /// CPU time since the start of the process or thread (for a host: since boot, all processors together).
    Cpu {
        /// In user mode.
        user_ns: u64,
        /// In the kernel.
        system_ns: u64,
    },
    /// How long a thread was runnable without a processor since it started. For a target's process: the longest wait of
    /// any thread between two samples, summed since the first sample.
    RunQueue {
        /// Total of all waits.
        waited_ns: u64,
    },
    /// CPU use of other programs; the last line of a repeat but one.
    Programs(OtherProgramsSample),
    /// Counters of a limit on a process's CPU time; one for each group with a limit.
    CpuLimit(CpuLimitSample),
    /// Memory of a process.
    Memory {
        /// Resident.
        resident_bytes: u64,
    },
    /// Time in which the host's processors were idle.
    Idle(IdleTime),
    /// The host's memory.
    HostMemory(HostMemory),
    /// Bytes that a process has read and written, and its resources.
    Process(ProcessUsageSample),
    /// One of the host's disks.
    Disk(DiskSample),
    /// One of the host's network interfaces.
    Network(NetworkSample),
    /// The speed of an interface; once per repeat, if known.
    NetworkSpeed(NetworkSpeed),
    /// How long the host's tasks have waited for one resource.
    Pressure(PressureSample),
    /// The disks under a folder with the target's data; once per repeat.
    DataDir(DataDir),
    /// A broker's own metrics.
    Broker(Box<BrokerSample>),
    /// Buffer and in-flight use of a flow's clients.
    Client(ClientSample),
    /// The run's topic, as reported by brokers.
    Topic(TopicSample),
    /// Its replicas on one broker.
    Replicas(TopicReplicasSample),
    /// A partition of it whose leader or in-sync replicas changed since the previous sample.
    Partition(PartitionChange),
    /// A consumer group of the run.
    Group(GroupSample),
    /// The clock of an agent's process - the lead's; about once per second, in the agent's file.
    ClockOffset {
        /// The smallest possible offset.
        low_ns: i64,
        /// The largest.
        high_ns: i64,
    },
    /// Evidence that could not be obtained; once per repeat.
    NotSeen(MissingEvidence),
    /// The cost of observing; the last line of a repeat.
    Observing {
        /// Number of samples.
        looks: u64,
        /// CPU time of the sampling threads.
        cpu_ns: u64,
        /// From the first sample to the last.
        span_ns: u64,
    },
    /// Evidence of a newer kgauge.
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
