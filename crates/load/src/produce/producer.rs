//! The state of one producer, and what its worker asks of it.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use kgauge_results::{Recorder, Request};
use kgauge_scenario::{Acks, ProduceFlow, Schedule, Shape, Stripe};
use kgauge_wire::compress::Compressor;

use super::batch::BatchPool;
use super::encoder::RecordsFormat;
use super::partition::Partition;
use super::request::ProduceHead;
use super::sticky::PartitionChoice;
use crate::broker_link::BrokerLink;
use crate::clock::Clock;
use crate::pacing::Until;
use crate::payload::PayloadPool;
use crate::tally::Totals;
use crate::worker::Surroundings;

/// How often deadlines of waiting batches are looked at; they are whole seconds.
const EXPIRY_NS: u64 = 100_000_000;

/// What InitProducerId gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) id: i64,
    pub(crate) epoch: i16,
}

/// Everything that a producer is made from.
pub(crate) struct ProducerSetup {
    pub(crate) flow: ProduceFlow,
    /// How the records are laid out.
    pub(crate) format: RecordsFormat,
    /// Which of the flow's producers it is: its stripe of the schedule.
    pub(crate) member: Stripe,
    pub(crate) seed: u64,
    pub(crate) topic: String,
    pub(crate) payload: Arc<PayloadPool>,
    pub(crate) links: Vec<BrokerLink>,
    /// For each partition the link to its leader.
    pub(crate) leaders: Vec<Option<usize>>,
    pub(crate) identity: Option<Identity>,
    /// Where the hold begins: records before it don't count towards the flow's limit.
    pub(crate) hold_start_ns: u64,
    /// Where the hold ends, if by time.
    pub(crate) hold_end_ns: Option<u64>,
}

/// How far a producer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It takes records.
    Running,
    /// It takes no more, and sends what it has.
    Draining,
    /// Every record has its outcome.
    Done,
}

/// A request whose answer is awaited.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    pub(crate) correlation_id: i32,
    pub(crate) sent_ns: u64,
    pub(crate) records: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) batches: Vec<u32>,
}

impl InFlight {
    /// What the recorder is told of it.
    pub(super) fn as_request(&self, round_trip_ns: Option<u64>) -> Request {
        Request {
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
    pub(super) flow: ProduceFlow,
    pub(super) member: Stripe,
    pub(super) payload: Arc<PayloadPool>,
    pub(super) head: ProduceHead,
    pub(super) hold_start_ns: u64,
    pub(super) hold_end_ns: u64,

    // Records coming in
    pub(super) phase: Phase,
    /// `None` in a closed loop.
    pub(super) schedule: Option<Schedule>,
    pub(super) next_record: u64,
    /// Records that the hold may still take.
    pub(super) records_left: u64,
    pub(super) choice: PartitionChoice,
    pub(super) blocked_since_ns: Option<u64>,
    /// Compressed by uncompressed bytes, as seen lately: Kafka's estimate of what still fits.
    pub(super) compression_ratio: f32,

    // Batches
    pub(super) pool: BatchPool,
    pub(super) partitions: Vec<Partition>,
    /// Open batches in the order in which their linger ends.
    pub(super) lingering: VecDeque<Lingering>,
    pub(super) compressor: Option<Compressor>,
    pub(super) identity: Option<Identity>,
    /// The identity has been used up by an error; nothing is sent until there is a new one.
    pub(super) identity_wanted: bool,

    // Requests
    pub(super) links: Vec<BrokerLink>,
    pub(super) in_flight: Vec<VecDeque<InFlight>>,
    /// For each link the partitions that have something to send, in turn.
    pub(super) ready: Vec<VecDeque<u32>>,
    pub(super) spare_in_flight: Vec<InFlight>,
    pub(super) picked: Vec<u32>,
    pub(super) next_expiry_ns: u64,
    /// When the leaders are to be asked for anew: `metadata.max.age.ms`.
    pub(super) next_metadata_ns: u64,
    /// When the first partition may send again that waits after an error; `u64::MAX` without one.
    pub(super) next_retry_ns: u64,

    /// Records taken in and not yet answered, integrated over time: Little's L.
    pub(super) outstanding: Outstanding,
    pub(super) totals: Totals,
}

/// An open batch that is sent at the latest when its linger ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lingering {
    pub(super) deadline_ns: u64,
    pub(super) partition: u32,
    pub(super) batch: u32,
    pub(super) created_ns: u64,
}

/// Counts records in the system and integrates the count over time.
#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    records: u64,
    since_ns: u64,
    /// Since the last report. A million records for a second are 10^15; it is reported each second.
    record_ns: u64,
    reported_ns: u64,
}

impl Outstanding {
    /// So many more, or fewer, from now on.
    #[inline]
    pub(super) fn change(&mut self, now_ns: u64, taken: u64, answered: u64) {
        self.settle(now_ns);
        self.records = (self.records + taken).saturating_sub(answered);
    }

    fn settle(&mut self, now_ns: u64) {
        let passed = now_ns.saturating_sub(self.since_ns);
        self.record_ns += self.records.saturating_mul(passed);
        self.since_ns = self.since_ns.max(now_ns);
    }

    /// Where the last report ended, and the integral since then in record-nanoseconds.
    pub(crate) fn report(&mut self, now_ns: u64) -> (u64, u64) {
        self.settle(now_ns);
        let from_ns = std::mem::replace(&mut self.reported_ns, now_ns);
        (from_ns, std::mem::take(&mut self.record_ns))
    }

    /// How many there are.
    pub(super) fn records(&self) -> u64 {
        self.records
    }
}

impl Producer {
    /// A producer that has not sent anything yet.
    pub(crate) fn new(setup: ProducerSetup) -> Result<Self, kgauge_wire::compress::CompressError> {
        let settings = &setup.flow.settings;
        let schedule = match setup.flow.shape {
            Shape::Max => None,
            shape => Some(Schedule::new(shape, setup.seed, setup.member)),
        };
        let head = ProduceHead {
            client_id: settings.client_id.clone(),
            topic: setup.topic,
            acks: settings.acks.wire(),
            timeout_ms: i32::try_from(settings.request_timeout_ns / 1_000_000).unwrap_or(i32::MAX),
        };
        let choice = PartitionChoice::new(
            settings.partitioner,
            setup.leaders.len() as u32,
            settings.batch_bytes,
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
            partitions: setup.leaders.into_iter().map(Partition::new).collect(),
            links: setup.links,
            member: setup.member,
            payload: setup.payload,
            hold_start_ns: setup.hold_start_ns,
            hold_end_ns: setup.hold_end_ns.unwrap_or(u64::MAX),
            identity: setup.identity,
            phase: Phase::Running,
            next_record: 0,
            blocked_since_ns: None,
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
            schedule,
        })
    }

    /// Registers its connections with the worker's event loop.
    pub(crate) fn register(&mut self, around: &Surroundings<'_>) -> io::Result<()> {
        self.links
            .iter_mut()
            .try_for_each(|link| link.register(around.registry))
    }

    /// Does what can be done without waiting: takes records that are due, sends batches that are ready.
    pub(crate) fn step(&mut self, recorder: &mut Recorder, around: &Surroundings<'_>) {
        let now_ns = around.clock.now_ns();
        if self.phase == Phase::Running {
            self.take_records(now_ns, recorder, around.clock);
        }
        if now_ns >= self.next_expiry_ns {
            self.next_expiry_ns = now_ns + EXPIRY_NS;
            self.expire(now_ns, recorder, around);
        }
        self.drain(recorder, around);
        if self.phase == Phase::Draining && self.outstanding.records() == 0 {
            self.phase = Phase::Done;
        }
    }

    /// No more records from now on.
    pub(crate) fn stop_taking(&mut self) {
        if self.phase == Phase::Running {
            self.phase = Phase::Draining;
            self.flush();
        }
    }

    /// Whether every record that was taken has its outcome, and no more are taken.
    pub(crate) fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// Whether it takes no more records.
    pub(crate) fn has_stopped_taking(&self) -> bool {
        self.phase != Phase::Running
    }

    /// Running totals.
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Hands over the time-integral of records in the system, at most once a tick and at each border between stages.
    pub(crate) fn report_outstanding(&mut self, now_ns: u64, recorder: &mut Recorder) {
        let (from_ns, record_ns) = self.outstanding.report(now_ns);
        recorder.in_flight(from_ns, now_ns, record_ns);
    }

    /// When [`Producer::step`] has something to do again, if nothing arrives before.
    pub(crate) fn until(&self, clock: &Clock) -> Until {
        let mut deadline_ns = self.next_expiry_ns.min(self.next_retry_ns);
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
        match &self.schedule {
            Some(schedule) if self.phase == Phase::Running && self.blocked_since_ns.is_none() => {
                let intended_ns = schedule.peek_ns();
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

    /// A closed loop that is not blocked always has something to do.
    fn can_take_at_once(&self) -> bool {
        self.schedule.is_none() && self.phase == Phase::Running && self.blocked_since_ns.is_none()
    }

    /// Whether answers are sent at all.
    pub(super) fn awaits_answers(&self) -> bool {
        self.flow.settings.acks != Acks::None
    }
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
