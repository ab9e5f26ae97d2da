//! What the files of a run folder say: the run itself, where it ran, what happened, and what
//! hosts and processes showed meanwhile.

pub mod broker_look;
pub mod client;
pub mod environment;
pub mod event;
pub mod evidence;
pub mod group;
mod head;
pub mod host;
pub mod mirror;
pub mod repeat;
pub mod wire;

pub use broker_look::{
    BrokerSample, JvmLook, ListenerLook, LogLook, MetricsSource, ReplicaLook, RequestKind,
    RequestLook, ThreadLook, TrafficLook,
};
pub use client::ClientLook;
pub use environment::{
    BrokerRecord, BuildRecord, DiskBaseline, DiskWrites, Environment, KafkaStart, MachineRecord,
    RecordedTargetKind, TargetRecord, TopicFacts,
};
pub use event::{BrokerWarming, Event, EventKind, NodeStall, OutageCause};
pub use evidence::{Evidence, EvidenceKind, Subject};
pub use group::GroupRecord;
pub use head::{RunHead, RunStatus};
pub use host::{
    CpuLimitLook, DataDir, DiskLook, HostMemory, IdleTime, NetworkLook, NetworkSpeed, NotSeen,
    PressureLook, ProcessLook, ProgramUse, ProgramsLook, Resource, SpeedSource,
};
pub use mirror::MirrorRecord;
pub use repeat::{
    ConnectionRecord, CpuRecord, DriverRecord, FlowCeiling, FlowRecord, PartitionOffsets,
    RepeatKey, RepeatOutcome, RepeatRecord, Replication, StageSpan, TopicRecord,
    TransactionProtocol,
};
pub use wire::{GroupLook, PartitionChange, ReplicaChanges, ReplicasLook, TopicLook};
