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
//! Start with [`Plan`] for what a run is made of, [`Schedule`] for when records are due.

mod figure;
mod plan;
mod random;
mod schedule;
mod settings;
mod share;

pub use figure::{Comparison, Figure, FigureError, Goal, Metric, Published, Stat, Unit};
pub use plan::{
    ClusterFacts, ConsumeEnd, ConsumeFlow, FlowPlan, PartitionShare, Plan, Preload, ProduceFlow,
    RecordPlan, Shape, Size, Stages, StartOffset, StudyRef, TargetKind, TopicPlan, Trial,
};
pub use random::{Random, derive_seed};
pub use schedule::{RATE_MAX, RATE_MIN, Schedule, Stripe};
pub use settings::{
    Acks, Compression, CompressionCodec, ConsumerSettings, Partitioner, ProducerSettings,
};
pub use share::Share;
