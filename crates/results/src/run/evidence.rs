//! `evidence.jsonl`: what hosts, processes, kgauge's own clients and brokers showed, about once a second.
//!
//! Counters are cumulative, as the kernel gives them: a lost line costs resolution, not truth. All lines of one look
//! have the same time. A disk or an interface that did nothing between two looks may be left out of the second:
//! the line before it comes again, with its later time, as soon as something happens, and at the end.

use serde::{Deserialize, Serialize};

use super::broker_sample::BrokerSample;
use super::client::ClientSample;
use super::host::{
    CpuLimitSample, DataDir, DiskSample, HostMemory, IdleTime, MissingEvidence, NetworkSample,
    NetworkSpeed, OtherProgramsSample, PressureSample, ProcessUsageSample,
};
use super::repeat::RepeatKey;
use super::wire::{GroupSample, PartitionChange, TopicReplicasSample, TopicSample};

/// One line of `evidence.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// When, on the wall clock: milliseconds since 1970-01-01 UTC.
    pub at_unix_ms: u64,
    /// The repeat during which it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<RepeatKey>,
    /// When, in nanoseconds since the start of that repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
    /// Of what.
    #[serde(flatten)]
    pub subject: Subject,
    /// What was seen.
    #[serde(flatten)]
    pub kind: EvidenceKind,
}

/// Whose evidence it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "subject", rename_all = "kebab-case")]
pub enum Subject {
    /// The process that makes the load, all its threads.
    Generator,
    /// One thread that makes load.
    GeneratorThread {
        /// Its number.
        thread: u32,
    },
    /// The process of a target on this machine.
    Target {
        /// The broker's id, where a process is one broker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broker: Option<i32>,
    },
    /// A process beside the brokers, such as ZooKeeper or a replicator.
    Process {
        /// What people call it.
        name: String,
    },
    /// The whole machine that makes the load.
    Host,
    /// The cluster under test, or one broker of it, as it is seen over the wire.
    Cluster {
        /// The broker's id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broker: Option<i32>,
    },
    /// The clients of one flow.
    Flow {
        /// Its position in the trial.
        flow: u16,
    },
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "evidence", rename_all = "kebab-case")]
pub enum EvidenceKind {
    /// CPU time used since the start of the process or thread (for a host: since boot, all
    /// processors together).
    Cpu {
        /// In user mode.
        user_ns: u64,
        /// In the kernel.
        system_ns: u64,
    },
    /// How long a thread has waited for a processor since it began, although it had something to do. Of a target's
    /// process: between any two looks that of the thread that waited longest, since the first look.
    RunQueue {
        /// All waits together.
        waited_ns: u64,
    },
    /// What other programs used of the host's processors; the last line of a repeat but one.
    Programs(OtherProgramsSample),
    /// What a limit on the CPU time of a process has done; one for each group with a limit.
    CpuLimit(CpuLimitSample),
    /// Memory held now.
    Memory {
        /// Resident.
        resident_bytes: u64,
    },
    /// How the host's processors spent the time in which they ran nothing.
    Idle(IdleTime),
    /// The host's memory now.
    HostMemory(HostMemory),
    /// What a process has read and written, and what it holds.
    Process(ProcessUsageSample),
    /// One of the host's disks.
    Disk(DiskSample),
    /// One of the host's network interfaces.
    Network(NetworkSample),
    /// How fast one of them is; once a repeat, where it is known.
    NetworkSpeed(NetworkSpeed),
    /// How long the host's tasks have waited for one thing.
    Pressure(PressureSample),
    /// What lies under a folder with the target's data; once a repeat.
    DataDir(DataDir),
    /// What a broker tells of itself.
    Broker(Box<BrokerSample>),
    /// What a flow's own clients hold.
    Client(ClientSample),
    /// The run's topic, as brokers tell it.
    Topic(TopicSample),
    /// Its replicas on one broker.
    Replicas(TopicReplicasSample),
    /// A partition of it with another leader, or other replicas in sync, than at the look before.
    Partition(PartitionChange),
    /// A consumer group of the run.
    Group(GroupSample),
    /// What could not be seen, said once a repeat.
    NotSeen(MissingEvidence),
    /// What observing itself has cost; the last line of a repeat.
    Observing {
        /// How many times there was a look.
        looks: u64,
        /// CPU time of the threads that look.
        cpu_ns: u64,
        /// From its first look to its last.
        span_ns: u64,
    },
    /// Evidence of a newer kgauge.
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
