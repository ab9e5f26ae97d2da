//! What a load is made from, and why it may not begin.

use std::collections::BTreeMap;

use kgauge_client::admin::{OffsetsError, ProducerIdError};
use kgauge_client::{ClientConfig, ClusterError, Interrupt};
use kgauge_results::SliceSink;
use kgauge_scenario::{Driver, Share};
use kgauge_wire::api::ApiKey;
use kgauge_wire::compress::CompressError;

use crate::driver::{DriverError, DriverProgram};
use crate::ledgers::{LedgerName, VerifySetup};
use crate::payload::PayloadError;
use crate::produce::TransactionStartError;

/// The inputs of a load.
pub struct LoadSetup<'a> {
    /// What to execute.
    pub share: &'a Share,
    /// The topic, which exists.
    pub topic: &'a str,
    /// Other topics that consumers also read; producers write only to `topic`. A trial's partitions are those of all
    /// topics.
    pub also: &'a [String],
    /// The start of `from: earliest`, an offset for each partition; `None`: the first existing record. In an existing
    /// topic, a run reads only what it wrote.
    pub earliest: Option<&'a [i64]>,
    /// How to reach the cluster.
    pub client: &'a ClientConfig,
    /// For the label of each group in the trial its unique `group.id`.
    pub groups: &'a BTreeMap<String, String>,
    /// The programs of the drivers that flows use.
    pub drivers: &'a [(Driver, DriverProgram)],
    /// Where slices go: a sink for each recorder.
    pub sink: &'a dyn Fn() -> SliceSink,
    /// Raised when the load must stop within a second.
    pub interrupt: &'a Interrupt,
    /// The copy of the topic on another cluster, which echo flows read.
    pub copy: Option<CopySetup<'a>>,
    /// Where clients write their ledgers, if records are verified.
    pub verify: Option<&'a VerifySetup>,
}

/// A copy of a topic that a replicator makes on another cluster.
#[derive(Clone, Copy)]
pub struct CopySetup<'a> {
    /// Its name, which may differ from the topic's.
    pub topic: &'a str,
    /// How to reach its cluster.
    pub client: &'a ClientConfig,
}

/// Why a load cannot start.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The cluster did not answer, or returned an error.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The start or end of partitions is unknown.
    #[error(transparent)]
    Offsets(#[from] OffsetsError),
    /// There is no producer id.
    #[error(transparent)]
    ProducerId(#[from] ProducerIdError),
    /// A partition has no leader.
    #[error("partition {partition} of topic {topic} has no leader")]
    NoLeader {
        /// The topic.
        topic: String,
        /// The partition.
        partition: u32,
    },
    /// The broker does not support a version that load needs.
    #[error(
        "broker {broker_id} does not support {api} versions {first} to {last}, which kgauge needs"
    )]
    Version {
        /// The broker.
        broker_id: i32,
        /// The request.
        api: ApiKey,
        /// The first version that would do.
        first: i16,
        /// The last version that would do.
        last: i16,
    },
    /// Some brokers need message sets, others record batches.
    #[error(
        "the brokers run incompatible Kafka releases: some use message sets, others record \
         batches (0.11 and later); finish the upgrade first"
    )]
    MixedReleases,
    /// A codec refuses its level.
    #[error("flow {flow}: {error}")]
    Compression {
        /// The flow.
        flow: String,
        /// What is wrong.
        error: CompressError,
    },
    /// A flow's records cannot be made.
    #[error("flow {flow}: {error}")]
    Payload {
        /// The flow.
        flow: String,
        /// What is wrong.
        error: PayloadError,
    },
    /// The broker for all records leads no partition.
    #[error(
        "flow {flow}: broker {broker_id}, which `partitioner` names, leads no partition of the topic"
    )]
    LeadsNothing {
        /// The flow.
        flow: String,
        /// The broker.
        broker_id: i32,
    },
    /// A producer cannot write in transactions.
    #[error("flow {flow}: {error}")]
    Transaction {
        /// The flow.
        flow: String,
        /// What is wrong.
        error: Box<TransactionStartError>,
    },
    /// A flow's consumers cannot join their group.
    #[error("flow {flow}: its group: {why}")]
    Group {
        /// The flow.
        flow: String,
        /// The problem and the fix.
        why: String,
    },
    /// A flow's driver does not start.
    #[error("flow {flow}: {error}")]
    Driver {
        /// The flow.
        flow: String,
        /// What is wrong.
        error: DriverError,
    },
    /// The ledger of verified records cannot be written.
    #[error("cannot write the ledger {name}: {error}")]
    Ledger {
        /// The ledger.
        name: LedgerName,
        /// The cause.
        error: std::io::Error,
    },
    /// The operating system refuses sockets or threads.
    #[error("cannot set up the load: {0}")]
    System(#[from] std::io::Error),
}
