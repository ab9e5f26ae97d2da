//! The embedded cluster: N Kafka nodes in one process, for load tests without installation, for
//! kgauge's own tests, and for faults of known size that prove its measurements.
//!
//! Goals
//!
//! * Any Kafka client works: Kafka's protocol in the versions that today's clients speak, Kafka's
//!   error codes and words, Kafka's files on disk.
//! * Exact: offsets dense, what was acknowledged is there, what cannot be done is refused in words.
//! * Cheap: a node shows the ceiling of its load generator. Batches are checked where they were received,
//!   written once, and sent from the page cache.
//! * Deterministic: the logic gets time, disk and randomness from outside; see [`node`] and
//!   [`controller`].
//! * Faults on command: [`fault`] delays, fails, stalls, drops or slows down requests;
//!   [`ClusterHandle`] crashes, freezes and cuts off nodes, fills their disks and shifts their clocks.
//!
//! Non-goals
//!
//! * It is not Apache Kafka, and its figures are never Kafka's. Every output with them says so.
//! * No production: one process is no cluster that survives its machine.
//! * What else is not done is listed in `NOT_DONE.md` and at the head of each file in [`handlers`].
//!
//! Where to start
//!
//! * To use it: [`EmbeddedCluster::start`] with a [`ClusterConfig`], then
//!   [`ClusterHandle::bootstrap_servers`].
//! * To protect it: [`security::ClusterSecurity`] in [`ClusterConfig::security`].
//! * To read it: [`handlers`] has a file for each API. A request comes from `server` to
//!   [`node::BrokerNode::request`], through the table in [`handlers`], to a [`log::PartitionLog`] or to a
//!   group, and back as a [`node::EncodedResponse`]. What concerns all nodes goes by way of the
//!   [`controller::Controller`], which publishes [`image::ClusterImage`]s.
//! * To see what nodes do: [`ClusterHandle::counts`], and [`counts`] for what is counted.
//!
//! ```no_run
//! use kgauge_broker::{EmbeddedCluster, ClusterConfig};
//!
//! let config = ClusterConfig::new("/tmp/cluster")
//!     .with_nodes(3)
//!     .with_setting("num.partitions", "6");
//! let cluster = EmbeddedCluster::start(config)?;
//! let clients_take = cluster.bootstrap_servers();
//! cluster.stop()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cluster;
pub mod controller;
pub mod counts;
pub mod fault;
mod groups;
pub mod handlers;
pub mod ids;
pub mod image;
pub mod inbound;
pub mod log;
pub mod node;
pub mod quota;
pub mod random;
pub mod security;
mod server;
pub mod settings;
pub mod storage;
pub mod time;
mod timers;

pub use cluster::{
    ClusterConfig, ClusterDisk, ClusterFailure, ClusterHandle, EmbeddedCluster, ListenAddress,
    StartError,
};
pub use counts::{NodeCounts, RequestCounts};
pub use fault::{
    CapacityPlan, CapacityUnit, DelayPlan, Delays, DropPoint, FaultError, FaultId, InjectedFault,
    LiftedFault, NodeFaultCounts, RequestFault, StallRecord,
};
pub use security::ClusterSecurity;
