//! The contents of a run folder's files: the run, its environment, events, and samples of hosts and processes.

mod ab;
mod agent;
mod broker_sample;
mod checkup;
mod client;
mod environment;
mod event;
mod evidence;
mod group;
mod head;
mod host;
mod mirror;
mod repeat;
mod search;
mod stored_metrics;
mod target_note;
mod tune;
mod verification;
mod wire;

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
pub use target_note::TargetNote;
pub use tune::{
    LeftOutCause, LeftOutSetting, TuneArm, TuneChoice, TuneEnd, TuneMeasure, TuneOption, TunePhase,
    TunePhaseKind, TuneRecord,
};
pub use verification::{
    Anomaly, AnomalyPlace, AnomalyRecord, CutShortChecks, CutShortRecord, LateRead, LedgerStart,
    UncheckedCause, UncheckedRecords, VerificationRecord,
};
pub use wire::{GroupSample, PartitionChange, ReplicaChanges, TopicReplicasSample, TopicSample};
