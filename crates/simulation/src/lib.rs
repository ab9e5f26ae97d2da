//! The whole embedded cluster in virtual time: nodes, controller, disks, network and clients, driven by one seed.
//!
//! It runs the code that serves clients: [`BrokerNode`](kgauge_broker::node::BrokerNode) and
//! [`Controller`](kgauge_broker::controller::Controller) on [`MemoryStorage`](kgauge_broker::storage::MemoryStorage).
//! Only threads, sockets and clocks are replaced. One seed gives one history, byte for byte. No part of it is in the
//! program that ships.
//!
//! Goals
//!
//! * Faults that no test with threads can time: torn and lost writes at a crash, messages that are
//!   late or lost in one direction, frozen nodes, restarts in the middle of a truncation.
//! * Invariants are checked throughout a run, not only at its end: see [`Violation`].
//! * A broken rule is found: [`Deviations`] break some on purpose.
//!
//! Non-goals: sockets, TLS and real time, which the tests of `broker` cover.
//!
//! Where to start: [`run`] runs one seed; `world.rs` is the loop; in `world/`, `clients.rs` produces and reads,
//! `members.rs` is a consumer group, `faults.rs` injects faults, `checks.rs` checks. [`mutants()`] are the broken rules
//! that [`run_verified`] must find. [`SingleNodeHarness`] is a single node for fuzzers.

mod mutants;
mod single_node;
mod world;

pub use mutants::{Mutant, mutants};
pub use single_node::SingleNodeHarness;
pub use world::{FoundAnomaly, VerifiedOutcome};

use kgauge_broker::ids::NodeId;
use kgauge_broker::node::Deviations;

/// The plan of one run.
#[derive(Debug, Clone, Copy)]
pub struct SeedPlan {
    /// The source of all randomness.
    pub seed: u64,
    /// Nodes of the cluster.
    pub nodes: u16,
    /// Partitions of the topic, each on three nodes or as many as there are.
    pub partitions: i32,
    /// Members of a consumer group of the topic.
    pub members: u16,
    /// Duration of the faults in virtual milliseconds.
    pub faults_ms: u64,
    /// Rules that the nodes break on purpose.
    pub deviations: Deviations,
    /// Only `kgauge-verify` judges: records are identified, acks go to ledgers, and the logs are checked at the end.
    pub is_verified: bool,
}

impl SeedPlan {
    /// Three nodes, two partitions, no group, some seconds of faults.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            nodes: 3,
            partitions: 2,
            members: 0,
            faults_ms: 6_000,
            deviations: Deviations::default(),
            is_verified: false,
        }
    }
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedOutcome {
    /// Checksum of the whole history.
    pub history: u64,
    /// Events that happened.
    pub events: u64,
    /// Injected faults.
    pub faults: u64,
    /// Records acked with acks=all; all of them were found.
    pub acked: u64,
    /// Records acked with acks=1.
    pub acked_by_leader: u64,
    /// Lost ones among them, which acks=1 allows.
    pub lost_by_leader: u64,
    /// Elected leaders.
    pub elections: u64,
    /// Acked commits of group members.
    pub commits: u64,
    /// Generations of the group.
    pub generations: u64,
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A record acked with acks=all is not at its offset.
    #[error("partition {partition}: the acknowledged record {record} is not at offset {offset}")]
    Lost {
        /// The partition.
        partition: i32,
        /// The record's number.
        record: u64,
        /// The offset in the ack.
        offset: i64,
    },
    /// A record of an idempotent producer is in the log more than once, or out of order.
    #[error("partition {partition}: record {record} follows {before} of the same producer")]
    Repeated {
        /// The partition.
        partition: i32,
        /// The record's number.
        record: u64,
        /// The one before it.
        before: u64,
    },
    /// Two readers saw different records at the same offset.
    #[error("partition {partition}: offset {offset} held record {before} and holds {after}")]
    Changed {
        /// The partition.
        partition: i32,
        /// The offset.
        offset: i64,
        /// The record that was read first.
        before: u64,
        /// The record that was read later.
        after: u64,
    },
    /// Two replicas differ below both their high watermarks.
    #[error("partition {partition}: nodes {first} and {second} differ at offset {offset}")]
    Unequal {
        /// The partition.
        partition: i32,
        /// One node.
        first: NodeId,
        /// The other.
        second: NodeId,
        /// The first batch that differs.
        offset: i64,
    },
    /// A high watermark fell while its node was up.
    #[error(
        "partition {partition}: the high watermark on node {node} fell from {before} to {after}"
    )]
    WatermarkFell {
        /// The partition.
        partition: i32,
        /// The node.
        node: NodeId,
        /// The earlier high watermark.
        before: i64,
        /// The present high watermark.
        after: i64,
    },
    /// Two nodes led in one epoch.
    #[error("partition {partition}: nodes {first} and {second} both led in epoch {epoch}")]
    TwoLeaders {
        /// The partition.
        partition: i32,
        /// The epoch.
        epoch: i32,
        /// One node.
        first: NodeId,
        /// The other.
        second: NodeId,
    },
    /// Offsets of a log are not dense.
    #[error("partition {partition} on node {node}: offset {found} follows {expected}")]
    Gap {
        /// The partition.
        partition: i32,
        /// The node.
        node: NodeId,
        /// The expected offset.
        expected: i64,
        /// The offset in the log.
        found: i64,
    },
    /// A client got an error that it must never get.
    #[error("partition {partition}: a client got {code}")]
    UnexpectedError {
        /// The partition.
        partition: i32,
        /// The error.
        code: String,
    },
    /// A rule of consumer groups.
    #[error("the group: {words}")]
    Group {
        /// The rule, and how it was broken.
        words: String,
    },
    /// The cluster did not become idle after all faults were lifted.
    #[error("the cluster did not recover: {words}")]
    Stuck {
        /// What is missing.
        words: String,
    },
    /// A node stopped although its disk had no fault.
    #[error("node {node} stopped: {words}")]
    Died {
        /// The node.
        node: NodeId,
        /// Why.
        words: String,
    },
}

/// A seed that broke a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}, after {at_ms} ms: {violation}")]
pub struct FailedSeed {
    /// The seed.
    pub seed: u64,
    /// When, in virtual milliseconds.
    pub at_ms: u64,
    /// The rule.
    pub violation: Violation,
}

/// Runs one seed. `tell` receives every line of the history.
pub fn run(plan: &SeedPlan, tell: &mut dyn FnMut(&str)) -> Result<SeedOutcome, Box<FailedSeed>> {
    world::World::new(*plan, tell).run()
}

/// Runs one seed, and lets `kgauge-verify` judge what the clients were told, in place of the simulation's own checks.
///
/// The embedded cluster has no transactions. In verified runs, each idempotent producer instead counts two acked
/// batches as one, and these are torn if only one of them is in the log.
pub fn run_verified(plan: &SeedPlan) -> VerifiedOutcome {
    let plan = SeedPlan {
        is_verified: true,
        ..*plan
    };
    world::World::new(plan, &mut |_| ()).run_verified()
}
