//! Producers: put records into batches, send batches in requests, turn responses into samples.
//!
//! A [`Producer`] does what one Kafka producer in one application does, with its own `buffer.memory`, connections and
//! sequence numbers. It is a state machine on its worker's thread: `intake` accepts due records, `drain` sends ready
//! batches, `answers` handles responses, and `recovery` handles lost connections, retries and expiry. Nothing in it
//! blocks.

mod answers;
mod batch;
mod coordinator;
mod discard;
mod drain;
mod due;
mod encoder;
mod full_record;
mod intake;
mod keyed;
mod murmur;
mod partition;
mod proof;
mod recovery;
mod request;
mod response;
mod sticky;
mod transaction;
mod waiting;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use kgauge_client::admin::ProducerId;
use kgauge_results::run::ClientSample;
use kgauge_results::{AnsweredRequest, Recorder};
use kgauge_scenario::{Acks, Partitioner, ProduceFlow, Schedule, Shape, Stages, Stripe};
use kgauge_wire::compress::Compressor;

use crate::broker_link::BrokerLink;
use crate::clock::Clock;
use crate::echo::EchoTracker;
use crate::pacing::Until;
use crate::payload::{Payload, RecordDraft};
use crate::tally::Totals;
use crate::worker_context::WorkerContext;
use batch::BatchPool;
use due::ScheduleCursor;
use keyed::KeyBlock;
use murmur::follows_keys;
use partition::PartitionQueue;
pub(crate) use proof::ProducerProof;
use request::ProduceHead;
use sticky::{PartitionChoice, PartitionLoads};

pub use coordinator::TransactionStartError;
pub(crate) use coordinator::{TransactionSetup, TransactionThread};
pub(crate) use encoder::RecordsFormat;
pub use murmur::partition_for_key;
pub(crate) use request::{VERSIONS, versions_of};
pub(crate) use transaction::Transaction;

/// Size limit of a Produce response: some hundred bytes per partition.
pub(crate) const RESPONSE_BYTES_MAX: usize = 16 << 20;

/// How often deadlines of waiting batches are checked; they are whole seconds.
const EXPIRY_NS: u64 = 100_000_000;

/// The setup of a producer.
pub(crate) struct ProducerSetup {
    pub(crate) flow: ProduceFlow,
    /// The format of its records.
    pub(crate) format: RecordsFormat,
    /// Its index among the flow's producers, which selects its records of the schedule.
    pub(crate) member: Stripe,
    pub(crate) seed: u64,
    pub(crate) topic: String,
    pub(crate) payload: Arc<Payload>,
    pub(crate) links: Vec<BrokerLink>,
    /// For each partition the link to its leader.
    pub(crate) leaders: Vec<Option<usize>>,
    pub(crate) identity: Option<ProducerId>,
    /// The hold's start and end: records outside it do not count towards the flow's limit.
    pub(crate) stages: Stages,
    /// The tracker of its flow, if consumers read back what it writes.
    pub(crate) echo: Option<Arc<EchoTracker>>,
    /// Its transactions and their id, if it has any.
    pub(crate) transaction: Option<(String, Transaction)>,
    /// Its ledger, if its records are verified.
    pub(crate) proof: Option<ProducerProof>,
}

/// The state of a producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It accepts records.
    Running,
    /// It accepts no more, and sends what it has.
    Draining,
    /// Every record has its outcome.
    Done,
}

/// A request that awaits its response.
#[derive(Debug, Default)]
pub(crate) struct ProduceInFlight {
    pub(crate) correlation_id: i32,
    pub(crate) sent_ns: u64,
    pub(crate) records: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) batches: Vec<u32>,
}

impl ProduceInFlight {
    /// What it reports to the recorder.
    fn as_request(&self, round_trip_ns: Option<u64>) -> AnsweredRequest {
        AnsweredRequest {
            batches: self.batches.len() as u64,
            records: self.records,
            wire_bytes: self.wire_bytes,
            round_trip_ns,
        }
    }
}

/// One producer of a flow.
pub(crate) struct Producer {
    // Configuration
    flow: ProduceFlow,
    member: Stripe,
    payload: Arc<Payload>,
    /// Its transactions, if it has any.
    transaction: Option<Transaction>,
    /// The tracker of an echo flow.
    echo: Option<Arc<EchoTracker>>,
    /// Its ledger, if its records are verified.
    proof: Option<ProducerProof>,
    /// Batches in a response, with their offsets; reused.
    offsets: Vec<(u32, i64)>,
    /// The same for records that are more than values of one size.
    whole: Option<Arc<Payload>>,
    head: ProduceHead,
    hold_start_ns: u64,
    hold_end_ns: u64,

    // Intake
    phase: Phase,
    /// `None` in a closed loop.
    due: Option<ScheduleCursor>,
    next_record: u64,
    /// Records that the hold may still take.
    records_left: u64,
    choice: PartitionChoice,
    /// A record's key determines its partition.
    is_keyed: bool,
    /// The record being made.
    draft: RecordDraft,
    /// Keys of the next records, if all have keys and values of one size.
    key_block: Option<KeyBlock>,
    blocked_since_ns: Option<u64>,
    /// Since when it has waited for buffer space, after it was last up to date; `u64::MAX` if it does not wait.
    waiting_from_ns: u64,
    /// Compressed ÷ uncompressed bytes of recent batches: Kafka's estimate of what still fits.
    compression_ratio: f32,

    // Batches
    pool: BatchPool,
    partitions: Vec<PartitionQueue>,
    /// Open batches in the order in which their linger ends.
    lingering: VecDeque<LingeringBatch>,
    compressor: Option<Compressor>,
    identity: Option<ProducerId>,
    /// An error has invalidated the identity; nothing is sent until there is a new one.
    identity_wanted: bool,

    // Requests
    links: Vec<BrokerLink>,
    in_flight: Vec<VecDeque<ProduceInFlight>>,
    /// For each link the partitions that have something to send, in turn.
    ready: Vec<VecDeque<u32>>,
    spare_in_flight: Vec<ProduceInFlight>,
    picked: Vec<u32>,
    /// For each link since when ready batches could not be sent; `u64::MAX` if they can.
    stuck_since_ns: Vec<u64>,
    /// Time of the last check.
    drained_at_ns: u64,
    next_expiry_ns: u64,
    /// When the leaders must be requested again: `metadata.max.age.ms`.
    next_metadata_ns: u64,
    /// When the first partition that waits after an error may send again; `u64::MAX` without one.
    next_retry_ns: u64,

    /// Unanswered records, integrated over time: L in Little's law.
    outstanding: Outstanding,
    totals: Totals,
}

/// An open batch, which is sent at the latest when its linger ends.
#[derive(Debug, Clone, Copy)]
struct LingeringBatch {
    deadline_ns: u64,
    partition: u32,
    batch: u32,
    created_ns: u64,
}

/// Counts records in flight and integrates the count over time.
#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    records: u64,
    since_ns: u64,
    /// Since the last report, once per second. A million records for one second are 10^15.
    record_ns: u64,
    reported_ns: u64,
}

impl Outstanding {
    /// Changes the count from now on.
    #[inline]
    fn change(&mut self, now_ns: u64, taken: u64, answered: u64) {
        self.settle(now_ns);
        self.records = (self.records + taken).saturating_sub(answered);
    }

    fn settle(&mut self, now_ns: u64) {
        let passed = now_ns.saturating_sub(self.since_ns);
        self.record_ns += self.records.saturating_mul(passed);
        self.since_ns = self.since_ns.max(now_ns);
    }

    /// The end of the last report, and the integral since then in record-nanoseconds.
    pub(crate) fn report(&mut self, now_ns: u64) -> (u64, u64) {
        self.settle(now_ns);
        let from_ns = std::mem::replace(&mut self.reported_ns, now_ns);
        (from_ns, std::mem::take(&mut self.record_ns))
    }

    /// The current count.
    fn records(&self) -> u64 {
        self.records
    }
}

impl Producer {
    /// A producer before its first send.
    pub(crate) fn new(setup: ProducerSetup) -> Result<Self, kgauge_wire::compress::CompressError> {
        let settings = &setup.flow.settings;
        let pace = setup.flow.pace(&setup.stages);
        let due = match setup.flow.shape {
            Shape::Max => None,
            _ => {
                let schedule = Schedule::new(pace, setup.seed, setup.member);
                Some(ScheduleCursor::new(schedule))
            }
        };
        let stages = &setup.stages;
        let key_block = KeyBlock::of(&setup);
        let (transactional_id, transaction) = setup.transaction.unzip();
        let head = ProduceHead::of(settings, setup.topic, transactional_id);
        let choice = PartitionChoice::new(
            settings,
            setup.leaders.len() as u32,
            candidates(settings.partitioner, &setup.links, &setup.leaders),
            setup.seed ^ u64::from(setup.member.index),
        );
        let records_left = setup
            .flow
            .records_max
            .map_or(u64::MAX, |all| setup.member.records_of(all));
        Ok(Self {
            compressor: crate::settings::compressor(settings.compression)?,
            pool: BatchPool::new(
                setup.format,
                settings.buffer_bytes,
                settings.batch_bytes as usize,
            ),
            in_flight: setup.links.iter().map(|_| VecDeque::new()).collect(),
            ready: setup.links.iter().map(|_| VecDeque::new()).collect(),
            partitions: setup.leaders.into_iter().map(PartitionQueue::new).collect(),
            stuck_since_ns: vec![u64::MAX; setup.links.len()],
            links: setup.links,
            member: setup.member,
            whole: (setup.echo.is_some() || !setup.payload.is_plain())
                .then(|| Arc::clone(&setup.payload)),
            transaction,
            echo: setup.echo,
            proof: setup.proof,
            offsets: Vec::new(),
            payload: setup.payload,
            hold_start_ns: stages.warm_up_limit_ns(),
            hold_end_ns: stages.hold_end_limit_ns().unwrap_or(u64::MAX),
            is_keyed: follows_keys(settings),
            draft: RecordDraft::default(),
            key_block,
            drained_at_ns: 0,
            identity: setup.identity,
            phase: Phase::Running,
            next_record: 0,
            blocked_since_ns: None,
            waiting_from_ns: u64::MAX,
            compression_ratio: 1.0,
            lingering: VecDeque::new(),
            identity_wanted: false,
            spare_in_flight: Vec::new(),
            picked: Vec::new(),
            next_expiry_ns: EXPIRY_NS,
            next_retry_ns: u64::MAX,
            next_metadata_ns: settings.metadata_age_ns_max,
            outstanding: Outstanding::default(),
            totals: Totals::default(),
            flow: setup.flow,
            head,
            choice,
            records_left,
            due,
        })
    }

    /// A batch of the current partition is complete: the partitioner may move on.
    fn batch_complete(&mut self, partition: u32) {
        let loads = PartitionLoads {
            partitions: &self.partitions,
            stuck_since_ns: &self.stuck_since_ns,
            now_ns: self.drained_at_ns,
        };
        self.choice.batch_complete_of(partition, &loads);
    }

    /// Registers its connections with the worker's event loop.
    pub(crate) fn register(&mut self, around: &WorkerContext<'_>) -> io::Result<()> {
        if let Some(transaction) = &self.transaction {
            transaction.thread.wakes(around.waker);
        }
        self.links
            .iter_mut()
            .try_for_each(|link| link.register(around.registry))
    }

    /// Does everything that needs no waiting: accepts due records, sends ready batches.
    pub(crate) fn step(&mut self, recorder: &mut Recorder, around: &WorkerContext<'_>) {
        let now_ns = around.clock.now_ns();
        self.tick_proof(now_ns, around);
        if self.transaction.is_some() {
            self.step_transaction(now_ns, recorder, around);
        }
        if self.phase == Phase::Running && self.transaction_room() > 0 {
            self.take_records(now_ns, recorder, around.clock);
        }
        if now_ns >= self.next_expiry_ns {
            self.next_expiry_ns = now_ns + EXPIRY_NS;
            self.expire(now_ns, recorder, around);
        }
        self.drain(recorder, around);
        let is_quiet = self.outstanding.records() == 0 && !self.is_in_transaction();
        if self.phase == Phase::Draining && is_quiet {
            self.end();
        }
    }

    /// Every record has its outcome.
    fn end(&mut self) {
        if self.phase != Phase::Done
            && let Some(echo) = &self.echo
        {
            echo.producer_done();
        }
        self.phase = Phase::Done;
    }

    /// The hold starts and ends at other times than announced.
    pub(crate) fn move_hold(&mut self, start_ns: u64, end_ns: u64) {
        (self.hold_start_ns, self.hold_end_ns) = (start_ns, end_ns);
    }

    /// Accepts no more records.
    pub(crate) fn stop_taking(&mut self) {
        if self.phase == Phase::Running {
            self.phase = Phase::Draining;
            self.flush();
        }
    }

    /// Whether every accepted record has its outcome, and no more are accepted.
    pub(crate) fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// Whether it accepts no more records.
    pub(crate) fn has_stopped_taking(&self) -> bool {
        self.phase != Phase::Running
    }

    /// Running totals.
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Reports the time integral of records in flight, at most once per tick and at each border between stages.
    pub(crate) fn report_outstanding(&mut self, now_ns: u64, recorder: &mut Recorder) {
        let (from_ns, record_ns) = self.outstanding.report(now_ns);
        recorder.in_flight(from_ns, now_ns, record_ns);
    }

    /// Its current use of buffer and requests.
    pub(crate) fn sample(&self) -> ClientSample {
        let in_flight: usize = self.in_flight.iter().map(VecDeque::len).sum();
        let connections = self.links.iter().filter(|link| link.is_open()).count();
        ClientSample {
            looks: 1,
            buffer_bytes_sum: self.pool.bytes_used(),
            buffer_bytes_allowed_sum: self.flow.settings.buffer_bytes,
            requests_in_flight_sum: in_flight as u64,
            requests_allowed_sum: connections as u64 * u64::from(self.flow.settings.in_flight_max),
            ..self.sample_wait()
        }
    }

    /// When [`Producer::step`] is next due, if nothing arrives before.
    pub(crate) fn until(&self, clock: &Clock) -> Until {
        let mut deadline_ns = self.next_expiry_ns.min(self.next_retry_ns);
        deadline_ns = deadline_ns.min(self.transaction_end_ns());
        let may_take = self.phase == Phase::Running && self.transaction_room() > 0;
        if self.can_take_at_once() {
            return Until::Now;
        }
        if let Some(first) = self.lingering.front() {
            deadline_ns = deadline_ns.min(first.deadline_ns);
        }
        for (link, ready) in self.links.iter().zip(&self.ready) {
            if !ready.is_empty() {
                deadline_ns = deadline_ns.min(link.usable_at_ns(clock.now_ns()));
            }
            deadline_ns = deadline_ns.min(link.reconnect_at_ns());
        }
        match &self.due {
            Some(due) if may_take && self.blocked_since_ns.is_none() => {
                let intended_ns = due.peek_ns();
                if intended_ns <= clock.now_ns() {
                    Until::Now
                } else if intended_ns <= deadline_ns {
                    Until::Send(intended_ns)
                } else {
                    Until::Deadline(deadline_ns)
                }
            }
            _ => Until::Deadline(deadline_ns),
        }
    }

    /// An unblocked closed loop always has something to do.
    fn can_take_at_once(&self) -> bool {
        self.due.is_none()
            && self.phase == Phase::Running
            && self.blocked_since_ns.is_none()
            && self.transaction_room() > 0
    }

    /// Whether the broker sends responses at all.
    fn awaits_answers(&self) -> bool {
        self.flow.settings.acks != Acks::None
    }
}

/// The partitions that the partitioner's broker leads now.
fn candidates(
    partitioner: Partitioner,
    links: &[BrokerLink],
    leaders: &[Option<usize>],
) -> Option<Vec<u32>> {
    let Partitioner::Broker(broker_id) = partitioner else {
        return None;
    };
    let leads = |leader: &Option<usize>| {
        let link = leader.and_then(|link| links.get(link));
        link.is_some_and(|link| link.broker_id() == broker_id)
    };
    let partitions = (0..).zip(leaders).filter(|(_, leader)| leads(leader));
    Some(partitions.map(|(partition, _)| partition).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_in_the_system_are_integrated_over_time() {
        let mut outstanding = Outstanding::default();
        outstanding.change(100, 10, 0);
        outstanding.change(150, 5, 0);
        outstanding.change(200, 0, 15);
        // 10 records for 50 ns, then 15 for 50 ns.
        assert_eq!(outstanding.report(1_000), (0, 1_250));
        assert_eq!(outstanding.report(2_000), (1_000, 0));
    }
}
