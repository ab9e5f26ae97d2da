//! The cluster under test: kgauge's embedded cluster in a child process, Apache Kafka of any release that kgauge
//! starts, or an existing cluster.
//!
//! # Goals
//!
//! * The target is identified: its kind, its brokers, and the settings that affect figures.
//! * The embedded cluster has its own process with its own CPU time and memory. Nothing of it outlives kgauge, after
//!   Ctrl-C or after `kill -9` of either side.
//! * On an existing cluster, kgauge creates only topics with the run's own name, and deletes only those.
//!
//! # Non-goals
//!
//! * Measuring processes and disks (`observe`).
//!
//! # Where to start
//!
//! [`TargetSpec`] is the user's text, [`Target`] the running target, [`TopicGuard`] what a run may touch on it,
//! [`embedded_main`] the child's side. [`kafka`] is Apache Kafka that kgauge starts; [`driver`] builds the programs
//! with other clients.

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
#[cfg(test)]
mod fake_program;
mod footprint;
mod guard;
mod instrument;
pub mod kafka;
mod listening;
mod log_tail;
mod messages;
mod page_cache;
mod security;
mod spec;
mod target;
mod target_process;

pub use adopt::{AdoptError, Layout, adopt};
pub use child::embedded_main;
pub use configure::ConfigureError;
pub use disk_space::{DiskSpace, DiskSpaceError, check_disks, free_bytes};
pub use embedded::EmbeddedTarget;
pub use embedded_error::EmbeddedError;
pub use embedded_spec::{EmbeddedCommand, EmbeddedSetup, EmbeddedSpec, FileReuse};
pub use facts::{BrokerFacts, TargetFacts};
pub use footprint::{Footprint, retention_ms};
pub use guard::{Leftover, MakeTopicError, RunNameError, TopicGuard, TopicWish};
pub use instrument::{
    Done, FaultCounts, Injection, InstructError, Instruction, NodeReport, NodeState, NodeStatus,
    WallClockStall, delays_drawn, refusals,
};
pub use kgauge_broker::{NodeCounts, RequestCounts};
pub use listening::{ListenOptions, resolve};
pub use page_cache::{drop_from_page_cache, is_on_disk};
pub use spec::{TargetSpec, TargetSpecError};
pub use target::{MetricsPlace, StartSetup, Target, TargetError};
pub use target_process::{TargetProcess, TargetRole};
