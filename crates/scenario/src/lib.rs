//! Room `scenario`: from the text that a person writes to the numbers that the load engine obeys.
//!
//! ```text
//! text -> Scenario -> Plan -> Share -> Schedule
//!         as written  nothing  one      intended_ns(n),
//!                     open     agent's  a pure function
//! ```
//!
//! Goals: strict input with every mistake shown at once, each with its place and its cure; a plan
//! that leaves nothing open and repeats a run; a schedule that is exact after 10^9 records and the
//! same on every machine; the shipped studies.
//!
//! Non-goals: this room does no I/O (functions take text and the name of its source), knows no
//! clock and no cluster, and sends nothing.
//!
//! Start with [`Scenario::parse`] for what is read, [`Plan`] for what a run is made of, and
//! [`Schedule`] for when records are due. The keys stand in `keys/`, one table for each map.

mod audit_facts;
mod cluster_needs;
mod curve;
mod driver;
mod faults;
mod figure;
mod files;
mod key_table;
mod keys;
mod mirror;
mod numeric;
mod order;
mod partition_formula;
mod path;
mod plan;
mod planning;
mod problem;
mod properties;
mod random;
mod read;
mod reader;
mod record;
mod record_size;
pub mod reference;
mod scenario;
mod schedule;
mod settings;
mod shape;
mod share;
mod sizes;
mod studies;
mod study;
mod suggest;
mod tree;
mod units;
mod vary;
mod volume;

pub use audit_facts::AuditFacts;
pub use cluster_needs::{BrokerCount, ClusterNeeds};
pub use driver::{Driver, DriverRefusal};
pub use faults::{
    CapacityPlan, CapacityUnit, CutDirection, CutEnd, DelayPlan, DropPoint, FaultKind, FaultNode,
    FaultPlan, FaultStart, RequestFault,
};
pub use figure::{
    FigureError, FigureName, Goal, GoalComparison, Metric, PublishedValue, Statistic, ValueUnit,
};
pub use files::{FileRead, Files};
pub use key_table::KeyTable;
pub use keys::{ERROR_NAMES, FAULT_APIS, SECURITY as SECURITY_KINDS};
pub use mirror::{MirrorNeeds, Replicator};
pub use order::RepeatStep;
pub use partition_formula::PartitionFormula;
pub use plan::{
    ClusterFacts, ConsumeEnd, ConsumeFlow, EchoFlow, FlowPlan, PartitionShare, Plan, Preload,
    ProduceFlow, Size, Stages, StartOffset, StudyRef, StudySource, TargetKind, TopicPlan,
    TransactionLength, Trial,
};
pub use planning::{PlanError, PlanReadError, PlanRequest};
pub use problem::{Problem, Problems};
pub use random::{Random, derive_seed};
pub use record::{Content, HeadersPlan, KeyChoice, KeyPlan, RecordFile, RecordPlan, file_digest};
pub use scenario::Scenario;
pub use schedule::{Pacing, RATE_MAX, RATE_MIN, Schedule, Stripe};
pub use settings::{
    Acks, AssignmentStrategy, Compression, CompressionCodec, ConsumerSettings, GroupPlan,
    GroupProtocol, Partitioner, ProducerSettings,
};
pub use shape::{Arrivals, RateStep, Shape, Trace};
pub use share::Share;
pub use sizes::{SizePlan, SizeTable, WeightedSize};
pub use studies::Studies;
pub use study::{STUDY_FILE, Study, StudyFile};
pub use volume::{ClosedLoopPace, Volume};
