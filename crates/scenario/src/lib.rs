//! Crate `scenario`: from the text that a person writes to the numbers that the load engine obeys.
//!
//! ```text
//! text -> Scenario -> Plan -> Share -> Schedule
//!         as written  nothing  one      intended_ns(n),
//!                     open     agent's  a pure function
//! ```
//!
//! Goals: strict input with every mistake shown at once, each with its place and its fix; a plan
//! that leaves nothing open and repeats a run; a schedule that is exact after 10^9 records and the
//! same on every machine; the built-in studies.
//!
//! Non-goals: this crate does no I/O (functions take text and the name of its source), knows no
//! clock and no cluster, and sends nothing.
//!
//! Start with [`Scenario::parse`] for input, [`Plan`] for the parts of a run, and [`Schedule`] for
//! the times of records. `keys/` declares every key, one table for each map: its name, form,
//! default, documentation and the field that it sets. The head of `key_map.rs` explains the rows.

mod ab;
mod ab_planning;
mod anomaly_names;
mod answer;
mod built_in;
mod built_in_goals;
mod check;
mod cluster_needs;
mod curve;
mod driver;
mod driver_limits;
mod durability;
mod faults;
mod figure;
mod files;
mod flow;
mod flow_values;
pub mod format;
mod key_definition;
mod key_map;
mod key_table;
mod keys;
mod load;
mod numeric;
mod option_values;
mod order;
mod path;
mod plan;
mod planning;
mod problem;
mod properties;
mod random;
mod random_faults;
mod reader;
mod record;
mod record_size;
pub mod reference;
mod repeat_key;
mod scenario;
mod schedule;
mod search;
mod settings;
mod shape;
mod share;
mod sizes;
mod studies;
mod study;
mod suggest;
mod target_kind;
mod template;
mod tree;
mod tune;
mod tune_planning;
mod units;
mod value_kind;
mod vary;
mod verified;
mod volume;
mod written_search;
mod yaml_text;

pub use ab::{AbKind, AbMetric, AbPlan, AbSide, AbSidePlan};
pub use ab_planning::{AbError, AbOptions};
pub use anomaly_names::ANOMALY_NAMES;
pub use answer::{AnswerKind, Comparand};
pub use built_in::{BuiltIn, BuiltInError, BuiltInOptions, SearchOptions};
pub use cluster_needs::{BrokerCount, ClusterNeeds};
pub use driver::Driver;
pub use driver_limits::DriverRefusal;
pub use faults::{FaultNode, FaultPlan, FaultStart};
pub use figure::{
    FigureError, FigureName, FindingSeverity, Goal, GoalComparison, Metric, PublishedFinding,
    PublishedValue, Statistic, ValueUnit,
};
pub use files::{FileRead, Files};
pub use flow_values::{ConsumeEnd, PartitionShare, StartOffset, TransactionLength};
pub use key_table::KeyTable;
pub use keys::audit::AuditFacts;
pub use keys::consumer::{ConsumerSettings, GroupPlan};
pub use keys::flow::{ConsumeFlow, EchoFlow, FlowPlan, ProduceFlow};
pub use keys::kafka_names::{ERROR_NAMES, FAULT_APIS, TRANSACTION_APIS};
pub use keys::producer::ProducerSettings;
pub use keys::stages::Stages;
pub use keys::study::{PartitionFormula, StudySource};
pub use keys::target::{MirrorNeeds, Replicator, SECURITY_KINDS};
pub use keys::topic::{Preload, TopicPlan};
pub use kgauge_faults::{
    CapacityPlan, CapacityUnit, CutDirection, CutEnd, DelayPlan, DropPoint, Fault, FlushFault,
    RequestFault,
};
pub use option_values::{byte_rate_value, number_value, rate_value, size_value, time_value};
pub use order::{run_order, shuffle};
pub use plan::{ClusterFacts, Plan, Size, StudyRef, Trial};
pub use planning::{PlanError, PlanReadError, PlanRequest};
pub use problem::{Problem, Problems};
pub use random::{Random, derive_seed, mix};
pub use record::{Content, HeadersPlan, KeyChoice, KeyPlan, RecordFile, RecordPlan, file_digest};
pub use repeat_key::RepeatKey;
pub use scenario::Scenario;
pub use schedule::{Pacing, Schedule, Stripe};
pub use search::{SearchGoal, SearchPlan, SearchedFlow};
pub use settings::{
    Acks, AssignmentStrategy, Compression, CompressionCodec, GroupProtocol, Partitioner,
};
pub use shape::{Arrivals, RATE_MAX, RATE_MIN, RateStep, Shape, Trace};
pub use share::Share;
pub use sizes::{SizePlan, SizeTable, WeightedSize};
pub use studies::Studies;
pub use study::{STUDY_FILE, Study, StudyFile};
pub use suggest::nearest;
pub use target_kind::{TargetKind, release_words};
pub use template::SCENARIO_TEMPLATE;
pub use tune::{SettingScope, TuneGoal, TunePlan, TunePreset, TuneSetting, TuneValue};
pub use tune_planning::TuneOptions;
pub use vary::{LISTED, ONE_AT_A_TIME};
pub use verified::IDENTITY_BYTES;
pub use volume::{ClosedLoopPace, Volume};
