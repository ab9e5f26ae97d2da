//! The engine without requests and sockets.

use std::sync::Arc;
use std::thread;

use kgauge_client::admin::ProducerId;
use kgauge_results::{Recorder, SliceSink, StageBorders};
use kgauge_scenario::{ConsumeFlow, FlowPlan, ProduceFlow, Share, Stripe};
use kgauge_wire::compress::Decompressor;
use kgauge_wire::message_set::tally;
use kgauge_wire::record_batch::TallyDepth;
use mio::Token;

use super::{Ceiling, CeilingError, CeilingSetup, TOPIC, ns};
use crate::broker_link::BrokerLink;
use crate::clock::Clock;
use crate::hold_delta::thread_cpu_ns;
use crate::load_setup::PrepareError;
use crate::parts::payload_of;
use crate::payload::Payload;
use crate::prepare::cores;
use crate::produce::{Producer, ProducerSetup, RecordsFormat};

/// As in the engine's consumers.
const DECOMPRESSED_BYTES_MAX: usize = 256 << 20;

/// The result of one thread.
#[derive(Debug, Clone, Copy, Default)]
struct ThreadShare {
    records: u64,
    logical_bytes: u64,
    cpu_ns: u64,
}

/// One client per thread, up to the number of cores, all at once.
pub(super) fn run(
    setup: &CeilingSetup<'_>,
    share: &Share,
    batches: &[u8],
) -> Result<Ceiling, CeilingError> {
    let threads = setup
        .clients
        .min(u32::try_from(cores()).unwrap_or(1))
        .max(1);
    let parts: Vec<Result<ThreadShare, CeilingError>> = match &share.trial.flows[0] {
        FlowPlan::Produce(flow) => {
            let payload = payload_of(share, flow)?;
            let make = |index| {
                let member = Stripe {
                    index,
                    count: threads,
                };
                let producer = producer(share, flow, member, &payload)?;
                Ok(produce(setup, producer))
            };
            on_threads(threads, make)
        }
        FlowPlan::Consume(flow) => on_threads(threads, |_| consume(setup, flow, batches)),
        FlowPlan::Echo(_) => return Err(CeilingError::Echo),
    };
    let mut sum = ThreadShare::default();
    for part in parts {
        let part = part?;
        sum.records += part.records;
        sum.logical_bytes += part.logical_bytes;
        sum.cpu_ns += part.cpu_ns;
    }
    if setup.interrupt.is_raised() {
        return Err(CeilingError::Interrupted);
    }
    Ok(Ceiling {
        threads,
        records: sum.records,
        logical_bytes: sum.logical_bytes,
        span_ns: ns(setup.hold),
        cpu_ns: sum.cpu_ns,
    })
}

fn on_threads<T: Send>(
    threads: u32,
    make: impl Fn(u32) -> Result<T, CeilingError> + Sync,
) -> Vec<Result<T, CeilingError>> {
    let make = &make;
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|index| scope.spawn(move || make(index)))
            .collect();
        let joined = running.into_iter().map(|thread| {
            let panicked = |_| Err(CeilingError::Load(crate::run::LoadError::Panicked));
            thread.join().unwrap_or_else(panicked)
        });
        joined.collect()
    })
}

/// A producer whose only broker does not exist.
fn producer(
    share: &Share,
    flow: &ProduceFlow,
    member: Stripe,
    payload: &Arc<Payload>,
) -> Result<Producer, CeilingError> {
    let link = BrokerLink::unconnected(super::BROKER_ID, Token(0), 0);
    let made = Producer::new(ProducerSetup {
        flow: flow.clone(),
        format: RecordsFormat::Batch,
        member,
        seed: share.flow_seed(&flow.name),
        topic: TOPIC.to_owned(),
        payload: Arc::clone(payload),
        links: vec![link],
        leaders: vec![Some(0); share.trial.topic.partitions as usize],
        identity: flow
            .settings
            .idempotence
            .then_some(ProducerId { id: 1, epoch: 0 }),
        stages: share.trial.stages,
        echo: None,
        transaction: None,
        proof: None,
    });
    Ok(made.map_err(|error| PrepareError::Compression {
        flow: flow.name.clone(),
        error,
    })?)
}

fn produce(setup: &CeilingSetup<'_>, mut producer: Producer) -> ThreadShare {
    let (mut recorder, clock) = (recorder(setup), Clock::start());
    measured(setup, clock, |now_ns| {
        producer.produce_to_null(now_ns, &mut recorder, &clock);
        let totals = producer.totals();
        (totals.acked, totals.logical_bytes)
    })
}

fn consume(
    setup: &CeilingSetup<'_>,
    flow: &ConsumeFlow,
    batches: &[u8],
) -> Result<ThreadShare, CeilingError> {
    let depth = if flow.settings.check_crcs {
        TallyDepth::Records
    } else {
        TallyDepth::RecordsUnchecked
    };
    let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
    let mut recorder = recorder(setup);
    let (mut records, mut logical_bytes, mut broken) = (0, 0, false);
    let part = measured(setup, Clock::start(), |now_ns| {
        let found = tally(
            batches,
            0,
            depth,
            (&mut decompressor, &mut scratch),
            DECOMPRESSED_BYTES_MAX,
            |_, _| (),
        );
        match found {
            Ok(found) => {
                let bytes = found.key_bytes + found.value_bytes + found.header_bytes;
                recorder.consumed(now_ns, found.records, bytes);
                records += found.records;
                logical_bytes += bytes;
            }
            Err(_) => broken = true,
        }
        (records, logical_bytes)
    });
    if broken {
        Err(CeilingError::NoBatch)
    } else {
        Ok(part)
    }
}

/// A recorder whose samples are discarded.
fn recorder(setup: &CeilingSetup<'_>) -> Recorder {
    let warm_up_ns = ns(setup.warm_up);
    let borders = StageBorders::closed(warm_up_ns, warm_up_ns + ns(setup.hold));
    Recorder::new(0, borders, SliceSink::memory().0)
}

/// Runs turns until the hold is over; `turn` returns the records and bytes so far.
fn measured(
    setup: &CeilingSetup<'_>,
    clock: Clock,
    mut turn: impl FnMut(u64) -> (u64, u64),
) -> ThreadShare {
    let start_ns = ns(setup.warm_up);
    let end_ns = start_ns + ns(setup.hold);
    let mut baseline = None;
    loop {
        let now_ns = clock.now_ns();
        let (records, logical_bytes) = turn(now_ns);
        if now_ns >= start_ns && baseline.is_none() {
            baseline = Some((records, logical_bytes, thread_cpu_ns()));
        }
        if now_ns >= end_ns || setup.interrupt.is_raised() {
            let (from, from_bytes, from_cpu_ns) = baseline.unwrap_or_default();
            return ThreadShare {
                records: records - from,
                logical_bytes: logical_bytes - from_bytes,
                cpu_ns: thread_cpu_ns().saturating_sub(from_cpu_ns),
            };
        }
    }
}

/// Finished batches of a flow's records, of about this many bytes, at least one.
pub(super) fn batches(
    share: &Share,
    writer: &ProduceFlow,
    bytes: usize,
) -> Result<Vec<u8>, CeilingError> {
    let payload = payload_of(share, writer)?;
    let whole = Stripe { index: 0, count: 1 };
    let mut producer = producer(share, writer, whole, &payload)?;
    let (sink, _slices) = SliceSink::memory();
    let mut recorder = Recorder::new(0, StageBorders::open(0), sink);
    let clock = Clock::start();
    let batches = producer.finished_batches(bytes, &mut recorder, &clock);
    if batches.is_empty() {
        Err(CeilingError::NoBatch)
    } else {
        Ok(batches)
    }
}
