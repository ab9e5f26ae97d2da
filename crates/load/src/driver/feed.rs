//! Feeds a child: makes the records of its producer shortly before they are due, and writes them to its pipe. It has
//! its own thread, because a full pipe blocks it.

use std::io::Write;
use std::process::ChildStdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kgauge_scenario::{Partitioner, ProduceFlow, Schedule, Stripe};

use super::frames::{self, DueRecord, RecordMaker};
use super::identity::DrivenIdentity;
use super::ledger::{FedRecord, Ledger};
use crate::hold_delta::HoldCpu;
use crate::payload::Payload;
use crate::worker::WorkerShared;

/// Records are written this long before they are due: far longer than this thread may wait for a core, and short
/// compared with the second within which a run must stop.
const AHEAD_NS: u64 = 100_000_000;

/// How often new due records and the end are checked.
const PAUSE: Duration = Duration::from_millis(10);

/// Bytes to collect before a write.
const CHUNK_BYTES: usize = 64 << 10;

/// The setup of a feeder.
pub(super) struct Feeder {
    pub(super) flow: ProduceFlow,
    pub(super) member: Stripe,
    pub(super) payload: Arc<Payload>,
    /// Of verified records.
    pub(super) identity: Option<DrivenIdentity>,
    /// `None` in a closed loop.
    pub(super) schedule: Option<Schedule>,
    /// Scheduled records that the hold may still take.
    pub(super) records_left: u64,
    pub(super) hold_start_ns: u64,
    pub(super) shared: Arc<WorkerShared>,
    pub(super) ledger: Arc<Ledger>,
    /// The child accepts no more records, or has ended.
    pub(super) stop: Arc<AtomicBool>,
    /// CLOCK_MONOTONIC at the run's time 0.
    pub(super) origin_ns: i64,
    pub(super) cpu: HoldCpu,
}

/// The result of a feeder.
pub(super) struct FedAll {
    /// Where it stopped: later records were due but never sent to the child.
    pub(super) schedule: Option<Schedule>,
    pub(super) records_left: u64,
    /// CPU time of its thread within the hold.
    pub(super) hold_cpu_ns: u64,
}

impl Feeder {
    /// Feeds until the hold ends, the records end, or the child has ended.
    pub(super) fn run(mut self, mut stdin: ChildStdin) -> FedAll {
        // A broken pipe means that the child has ended, which the collector reports.
        if self.feed(&mut stdin).is_ok() {
            let _ = stdin.write_all(&frames::end());
        }
        self.cpu.end();
        FedAll {
            schedule: self.schedule,
            records_left: self.records_left,
            hold_cpu_ns: self.cpu.hold_ns(),
        }
    }

    fn feed(&mut self, stdin: &mut ChildStdin) -> std::io::Result<()> {
        let payload = Arc::clone(&self.payload);
        let mut maker = RecordMaker::new(&payload, self.identity);
        let (mut bytes, mut fed) = (Vec::with_capacity(2 * CHUNK_BYTES), Vec::new());
        let mut n = 0;
        loop {
            let now_ns = self.shared.clock.now_ns();
            self.cpu.sample(now_ns);
            if self.is_over(now_ns) {
                return Ok(());
            }
            bytes.clear();
            fed.clear();
            while bytes.len() < CHUNK_BYTES
                && let Some(intended_ns) = self.next_due(now_ns)
            {
                let due = self.due(intended_ns);
                let number = self.member.record_number(n);
                let record_bytes = maker.push(&mut bytes, due, number, n);
                fed.push(FedRecord {
                    intended_ns,
                    bytes: record_bytes,
                });
                n += 1;
            }
            if fed.is_empty() {
                std::thread::sleep(PAUSE);
                continue;
            }
            self.ledger.note(&fed);
            stdin.write_all(&bytes)?;
        }
    }

    fn is_over(&self, now_ns: u64) -> bool {
        let has_run_out = match &self.schedule {
            None => now_ns >= self.hold_end_ns(),
            Some(schedule) => self.records_left == 0 || schedule.peek_ns() >= self.hold_end_ns(),
        };
        has_run_out || self.stop.load(Ordering::Relaxed) || self.shared.interrupt.is_raised()
    }

    fn hold_end_ns(&self) -> u64 {
        self.shared.hold_end_ns.load(Ordering::Relaxed)
    }

    /// The intended time of the next record, if it must be fed now; a closed loop has none.
    #[allow(clippy::option_option)] // The outer one says whether there is a record.
    fn next_due(&mut self, now_ns: u64) -> Option<Option<u64>> {
        let hold_end_ns = self.hold_end_ns();
        let Some(schedule) = &mut self.schedule else {
            return Some(None);
        };
        let intended_ns = schedule.peek_ns();
        if intended_ns > now_ns + AHEAD_NS || intended_ns >= hold_end_ns || self.records_left == 0 {
            return None;
        }
        schedule.advance();
        if intended_ns >= self.hold_start_ns {
            self.records_left -= 1;
        }
        Some(Some(intended_ns))
    }

    fn due(&self, intended_ns: Option<u64>) -> DueRecord {
        DueRecord {
            intended_ns: intended_ns.map(|ns| self.origin_ns.saturating_add_unsigned(ns)),
            partition: match self.flow.settings.partitioner {
                Partitioner::Partition(partition) => Some(partition),
                _ => None,
            },
        }
    }
}
