//! The contents of a run folder's files: the run, its environment, events, and samples of hosts and processes.

pub mod ab;
mod agent;
pub mod broker_sample;
pub mod checkup;
pub mod client;
pub mod environment;
pub mod event;
pub mod evidence;
pub mod group;
mod head;
pub mod host;
pub mod mirror;
pub mod repeat;
pub mod search;
mod stored_metrics;
pub mod tune;
mod verification;
pub mod wire;

pub use ab::{AbBlock, AbEnd, AbRecord};
pub use agent::{AgentClockRecord, AgentLossRecord, AgentNetworkRecord, AgentRecord};
pub use broker_sample::{BrokerSample, ListenerSample, MetricsSource};
pub use checkup::{
    AppliedQuota, BrokerCensus, BrokerRoundTrips, CAPACITY_SHARES, CheckupLimits, CheckupPart,
    CheckupRecord, ClusterCensus, HealthStop, LimitedLoad, LogDirCensus, PRACTICE_SETTINGS,
    QuotaLevel, RateLimit, SkipCause, SkippedPart, UnreadFact,
};
pub use client::ClientSample;
pub use environment::{
    BrokerRecord, BuildRecord, DiskBaseline, DiskWrites, Environment, KafkaStart, MachineRecord,
    TargetRecord, TopicFacts,
};
pub use event::{BrokerWarming, Event, EventKind, NodeStall, OutageCause};
pub use evidence::{Evidence, EvidenceKind, Subject};
pub use group::{GroupMemberRecord, GroupRecord};
pub use head::{RunHead, RunLabel, RunStatus};
pub use host::{
    CpuLimitSample, DataDir, DiskSample, HostMemory, IdleTime, MissingEvidence, NetworkSample,
    NetworkSpeed, OtherProgramsSample, PressureSample, ProcessUsageSample, ProgramUse, Resource,
    SpeedSource,
};
pub use kgauge_scenario::{RepeatKey, TargetKind};
pub use mirror::MirrorRecord;
pub use repeat::{
    ConnectionRecord, CpuRecord, DriverRecord, FlowCeiling, FlowRecord, PartitionOffsets,
    RepeatOutcome, RepeatRecord, Replication, StageSpan, TopicRecord, TransactionProtocol,
};
pub use search::{
    GoalReading, JudgedWindow, LoadReason, MeasuredLoad, SearchEnd, SearchRecord, SearchRun,
    SearchStart, VoidCause,
};
pub use tune::{
    LeftOutCause, LeftOutSetting, TuneArm, TuneChoice, TuneEnd, TuneMeasure, TuneOption, TunePhase,
    TunePhaseKind, TuneRecord,
};
pub use verification::{
    Anomaly, AnomalyPlace, AnomalyRecord, CutShortChecks, CutShortRecord, LateRead, LedgerStart,
    UncheckedCause, UncheckedRecords, VerificationRecord,
};
pub use wire::{GroupSample, PartitionChange, ReplicaChanges, TopicReplicasSample, TopicSample};
