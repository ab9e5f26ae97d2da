//! What is under test: kgauge's embedded cluster in a child process, Apache Kafka of any age that
//! kgauge starts, or a cluster that was there.
//!
//! # Goals
//!
//! * The target is named: what kind it is, who its brokers are, which settings bear on the figures.
//! * The embedded cluster's CPU and memory belong to its own process, and nothing of it outlives
//!   kgauge: not after Ctrl-C, not after `kill -9` of either side.
//! * On somebody's cluster only topics with the run's own name are made, and only those deleted.
//!
//! # Non-goals
//!
//! * Measuring processes and disks; see the room `observe`.
//!
//! # Where to start
//!
//! [`TargetSpec`] is what the user wrote, [`Target`] what came of it, [`TopicGuard`] what a run may
//! touch on it, [`embedded_main`] the child's side. [`kafka`] is Apache Kafka that kgauge starts;
//! [`driver`] makes the programs with other clients in them, which come from the same places.

mod adopt;
mod child;
mod configure;
mod disk_space;
pub mod driver;
mod embedded;
mod embedded_error;
mod embedded_record;
mod embedded_spec;
mod existing;
mod facts;
mod footprint;
mod guard;
mod instrument;
pub mod kafka;
mod listening;
mod log_tail;
mod messages;
mod security;
mod spec;
mod target;
mod target_process;

pub use adopt::{AdoptError, Layout, adopt};
pub use child::embedded_main;
pub use configure::ConfigureError;
pub use disk_space::{DiskSpace, DiskSpaceError, check_room, free_bytes, in_bytes};
pub use embedded::EmbeddedTarget;
pub use embedded_error::EmbeddedError;
pub use embedded_spec::{EmbeddedCommand, EmbeddedSetup, EmbeddedSpec};
pub use facts::{BrokerFacts, TargetFacts};
pub use footprint::{Footprint, retention_ms};
pub use guard::{Leftover, MakeTopicError, RunNameError, TopicGuard, TopicWish};
pub use instrument::{
    Done, FaultCounts, InstructError, Instruction, LinkBetween, NodeReport, NodeState, NodeStatus,
    WallClockStall, delays_drawn, refusals,
};
pub use kgauge_broker::{NodeCounts, RequestCounts};
pub use listening::{ListenOptions, resolve};
pub use spec::{TargetSpec, TargetSpecError};
pub use target::{MetricsPlace, StartSetup, Target, TargetError};
pub use target_process::{TargetProcess, TargetRole};
