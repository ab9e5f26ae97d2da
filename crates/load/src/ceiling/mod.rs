//! The rate at which this machine can generate load, without a broker.
//!
//! Over loopback, the whole engine runs against a sink that answers at once and stores nothing. In process, everything
//! but requests and sockets happens: records are made, batched, compressed, checksummed, timed three times and
//! recorded.

mod in_process;
mod known;
mod sink;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use kgauge_client::{Address, ClientConfig, Interrupt};
use kgauge_results::recorder::MemorySlices;
use kgauge_results::{SliceSink, Stage};
use kgauge_scenario::{
    ConsumeEnd, ConsumeFlow, FlowPlan, PartitionShare, Partitioner, ProduceFlow, Share, Stages,
    StartOffset,
};

use crate::clock::Clock;
use crate::load_setup::{LoadSetup, PrepareError};
use crate::prepare::PreparedLoad;
use crate::run::LoadError;
pub use known::Ceilings;
use sink::{BROKER_ID, LoopbackSink};

/// The sink's topic.
const TOPIC: &str = "ceiling";

/// Bytes per partition in each fetch response, if the consumer accepts that many.
const FETCHED_BYTES: usize = 1 << 20;

/// The measured ceiling of one flow at full speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling {
    /// Load threads.
    pub threads: u32,
    /// Records that were acked or read during the measurement.
    pub records: u64,
    /// Bytes of their keys, values and headers.
    pub logical_bytes: u64,
    /// Duration of the measurement.
    pub span_ns: u64,
    /// CPU time of the load threads during the measurement.
    pub cpu_ns: u64,
}

impl Ceiling {
    /// As measured: on a small machine the sink uses processor time, too.
    pub fn records_per_s(&self) -> f64 {
        self.records as f64 * 1e9 / self.span_ns.max(1) as f64
    }

    /// As measured.
    pub fn logical_bytes_per_s(&self) -> f64 {
        self.logical_bytes as f64 * 1e9 / self.span_ns.max(1) as f64
    }

    /// CPU time of the load threads per record.
    pub fn cpu_ns_per_record(&self) -> f64 {
        self.cpu_ns as f64 / self.records.max(1) as f64
    }

    /// The rate of one core that does nothing else.
    pub fn records_per_s_core(&self) -> f64 {
        1e9 / self.cpu_ns_per_record().max(f64::MIN_POSITIVE)
    }
}

/// Where records go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CeilingPath {
    /// Nowhere: batches are discarded when they are ready to be sent.
    InProcess,
    /// Over loopback to a thread that answers and stores nothing.
    Loopback,
}

/// What to measure.
#[derive(Debug)]
pub struct CeilingSetup<'a> {
    /// The trial, and the seed of its records.
    pub share: &'a Share,
    /// Index of the flow in the trial.
    pub flow: usize,
    /// Number of producers or consumers, instead of the flow's own.
    pub clients: u32,
    /// Time before the measurement, in which memory settles.
    pub warm_up: Duration,
    /// Duration of the measurement.
    pub hold: Duration,
    /// Raised to stop.
    pub interrupt: &'a Interrupt,
}

/// Why a ceiling could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum CeilingError {
    /// There is no such flow.
    #[error("the trial has no flow {0}")]
    NoFlow(usize),
    /// Echo flows have no ceiling: the sink returns no records.
    #[error("an echo flow has no ceiling: it consumes what it produces")]
    Echo,
    /// The flow's records cannot be made.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The engine failed.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The records to read are unknown.
    #[error("the layout of the consumed records is unknown")]
    NoBatch,
    /// The user interrupted.
    #[error("it was interrupted")]
    Interrupted,
}

impl From<std::io::Error> for CeilingError {
    fn from(error: std::io::Error) -> Self {
        Self::Load(LoadError::System(error))
    }
}

/// Measures the ceiling of one flow.
pub fn ceiling(setup: &CeilingSetup<'_>, path: CeilingPath) -> Result<Ceiling, CeilingError> {
    let share = share_of(setup)?;
    let batches = match &share.trial.flows[0] {
        FlowPlan::Produce(_) | FlowPlan::Echo(_) => Vec::new(),
        FlowPlan::Consume(flow) => {
            let bytes = FETCHED_BYTES.min(flow.settings.partition_fetch_bytes_max as usize);
            let writer = writer_of(setup.share).ok_or(CeilingError::NoBatch)?;
            in_process::batches(&share, &writer, bytes)?
        }
    };
    match path {
        CeilingPath::InProcess => in_process::run(setup, &share, &batches),
        CeilingPath::Loopback => over_loopback(setup, &share, batches),
    }
}

/// The flow alone, at full speed.
fn share_of(setup: &CeilingSetup<'_>) -> Result<Share, CeilingError> {
    let mut share = setup.share.clone();
    let flow = match share.trial.flows.get(setup.flow) {
        Some(FlowPlan::Produce(flow)) => FlowPlan::Produce(at_full_speed(flow, setup.clients)),
        Some(FlowPlan::Consume(flow)) => FlowPlan::Consume(alone(flow, setup.clients)),
        Some(FlowPlan::Echo(_)) => return Err(CeilingError::Echo),
        None => return Err(CeilingError::NoFlow(setup.flow)),
    };
    let trial = &mut share.trial;
    trial.flows = vec![flow];
    trial.stages = Stages {
        warm_up_ns: ns(setup.warm_up),
        warm_up_ns_max: 0,
        hold_ns: Some(ns(setup.hold)),
        drain_ns_max: 1_000_000_000,
    };
    trial.topic.preload = None;
    trial.topic.replication = 1;
    // Every consumer has something to read.
    trial.topic.partitions = trial.topic.partitions.max(setup.clients);
    trial.faults.clear();
    share.agent_index = 0;
    share.agent_count = 1;
    Ok(share)
}

fn at_full_speed(flow: &ProduceFlow, producers: u32) -> ProduceFlow {
    // The sink does not support transactions, and other clients have no ceiling.
    let mut flow = ProduceFlow {
        producers,
        ..flow.at_full_speed()
    };
    // The sink is one broker that leads every partition.
    if let Partitioner::Broker(_) = flow.settings.partitioner {
        flow.settings.partitioner = Partitioner::Broker(BROKER_ID);
    }
    flow
}

/// Without its group: the assignment does not change the cost of reading.
fn alone(flow: &ConsumeFlow, consumers: u32) -> ConsumeFlow {
    ConsumeFlow {
        consumers,
        group: None,
        partitions: PartitionShare::Split,
        from: StartOffset::Earliest,
        records: ConsumeEnd::StageEnd,
        ..flow.clone()
    }
}

/// The records that consumers read: those of the trial's first produce flow, or of its preload. The records of an
/// existing topic are unknown.
fn writer_of(share: &Share) -> Option<ProduceFlow> {
    let produce = share.trial.flows.iter().find_map(|flow| match flow {
        FlowPlan::Produce(flow) => Some(at_full_speed(flow, 1)),
        FlowPlan::Consume(_) | FlowPlan::Echo(_) => None,
    });
    produce.or_else(|| {
        let preload = share.trial.topic.preload.as_ref()?;
        Some(at_full_speed(&crate::preload::flow_of(preload), 1))
    })
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn over_loopback(
    setup: &CeilingSetup<'_>,
    share: &Share,
    batches: Vec<u8>,
) -> Result<Ceiling, CeilingError> {
    let sink = LoopbackSink::start(TOPIC, share.trial.topic.partitions, batches)?;
    let client = ClientConfig::new(vec![Address {
        host: sink.address().ip().to_string(),
        port: sink.address().port(),
    }]);
    let slices = RefCell::new(Vec::new());
    let recorder_sink = || {
        let (sink, received) = SliceSink::memory();
        slices.borrow_mut().push(received);
        sink
    };
    let load = PreparedLoad::prepare(&LoadSetup {
        copy: None,
        verify: None,
        share,
        topic: TOPIC,
        also: &[],
        earliest: None,
        client: &client,
        groups: &BTreeMap::new(),
        drivers: &[],
        sink: &recorder_sink,
        interrupt: setup.interrupt,
    })?;
    let outcome = load.run(Clock::start(), |_| {})?;
    if outcome.interrupted {
        return Err(CeilingError::Interrupted);
    }
    let (records, logical_bytes) = in_hold(&slices.into_inner());
    Ok(Ceiling {
        threads: u32::try_from(outcome.worker_hold_cpu_ns.len()).unwrap_or(u32::MAX),
        records,
        logical_bytes,
        span_ns: outcome.hold_end_ns.saturating_sub(outcome.hold_start_ns),
        cpu_ns: outcome.worker_hold_cpu_ns.iter().sum(),
    })
}

/// Records acked or read in the hold, and their bytes.
fn in_hold(slices: &[MemorySlices]) -> (u64, u64) {
    let slices = slices.iter().flat_map(MemorySlices::take);
    let held = slices.filter(|slice| slice.key.stage == Stage::Hold);
    held.fold((0, 0), |(records, bytes), slice| {
        let counts = &slice.counts;
        (
            records + counts.records_acked + counts.records_consumed,
            bytes + counts.logical_bytes_acked + counts.logical_bytes_consumed,
        )
    })
}
