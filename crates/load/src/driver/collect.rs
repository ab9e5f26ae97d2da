//! Reads the outcomes that a child reports and records them: the same samples that the engine makes from its own
//! responses.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use kgauge_results::{PaceSeries, Recorder, SliceSink, StageBorders};
use kgauge_scenario::{ProduceFlow, Schedule, Shape, Stages, Stripe};

use super::accounts::Accounts;
use super::child::{DriverChild, EXIT_MAX, PipeRead, monotonic_ns};
use super::error::DriverError;
use super::feed::{FedAll, Feeder};
use super::frames::{self, DriverFrame, DriverStart};
use super::ledger::Ledger;
use super::proof::DrivenProof;
use crate::clock::Clock;
use crate::hold_delta::HoldCpu;
use crate::incident::Incident;
use crate::payload::Payload;
use crate::tally::Totals;
use crate::worker::{STOP_NS, WorkerShared};

/// How often the end of the run is checked.
const POLL: Duration = Duration::from_millis(20);

/// A child sends a heartbeat ten times per second. One without a heartbeat for this long hangs; Java's longest pauses
/// are much shorter.
const SILENCE_MAX_NS: u64 = 30_000_000_000;

/// A producer of a flow in a child that is ready.
pub(crate) struct DrivenProducer {
    pub(crate) child: DriverChild,
    /// Index of its flow in the trial.
    pub(crate) flow: usize,
    pub(crate) plan: ProduceFlow,
    pub(crate) member: Stripe,
    pub(crate) seed: u64,
    pub(crate) payload: Arc<Payload>,
    /// The client's name and release.
    pub(crate) client: String,
    /// Its ledger, if its records are verified.
    pub(crate) proof: Option<DrivenProof>,
    pub(crate) sink: SliceSink,
}

/// The results of a driven producer.
#[derive(Debug, Default)]
pub(crate) struct DrivenOutcome {
    pub(crate) flow: usize,
    pub(crate) client: String,
    pub(crate) totals: Totals,
    /// CPU time of the threads that fed it and read from it, within the hold.
    pub(crate) feeding_cpu_ns: u64,
    pub(crate) starved_ns: u64,
    pub(crate) abandoned: bool,
    /// Records over time.
    pub(crate) pace: PaceSeries,
    /// Why it ended early.
    pub(crate) trouble: Option<DriverError>,
}

/// A running driven producer.
pub(crate) struct DrivenRun {
    child: DriverChild,
    flow: usize,
    name: String,
    is_limited: bool,
    is_closed: bool,
    client: String,
    shared: Arc<WorkerShared>,
    /// Its index among the threads that ship slices.
    thread: usize,
    recorder: Recorder,
    proof: Option<DrivenProof>,
    ledger: Arc<Ledger>,
    stop: Arc<AtomicBool>,
    feeder: JoinHandle<FedAll>,
    /// CLOCK_MONOTONIC at the run's time 0.
    origin_ns: i64,
    hold_start_ns: u64,
    hold_end_seen_ns: u64,
    drain_end_ns: u64,
    next_tick_ns: u64,
    heard_ns: u64,
    has_stopped: bool,
    has_ended: bool,
    cpu: HoldCpu,
    last_totals: Totals,
    outcome: DrivenOutcome,
}

impl DrivenRun {
    /// Starts to feed.
    pub(crate) fn start(
        driven: DrivenProducer,
        (shared, thread): (&Arc<WorkerShared>, usize),
        stages: &Stages,
        borders: StageBorders,
    ) -> std::io::Result<Self> {
        let DrivenProducer {
            mut child,
            flow,
            plan,
            member,
            seed,
            payload,
            client,
            proof,
            sink,
        } = driven;
        let hold_start_ns = stages.warm_up_ns;
        let origin_ns = origin_ns(&shared.clock);
        let ledger = Arc::new(Ledger::default());
        let stop = Arc::new(AtomicBool::new(false));
        let name = plan.name.clone();
        let records_max = plan.records_max.map(|all| member.records_of(all));
        let Some(mut stdin) = child.take_stdin() else {
            return Err(std::io::Error::other("a child was started twice"));
        };
        let hold_ns = (hold_start_ns, shared.hold_end_ns.load(Ordering::Relaxed));
        let start = driver_start(&plan, origin_ns, hold_ns, records_max, proof.is_some());
        // The collector notices a child that has already ended.
        let _ = stdin.write_all(&frames::start(&start));
        let is_closed = plan.shape == Shape::Max;
        let schedule = (!is_closed).then(|| Schedule::new(plan.pace(stages), seed, member));
        let is_limited = records_max.is_some();
        let feeder = Feeder {
            flow: plan,
            member,
            payload,
            identity: proof.as_ref().map(DrivenProof::identity),
            schedule,
            records_left: records_max.unwrap_or(u64::MAX),
            hold_start_ns,
            shared: Arc::clone(shared),
            ledger: Arc::clone(&ledger),
            stop: Arc::clone(&stop),
            origin_ns,
            cpu: HoldCpu::new(hold_start_ns),
        };
        let builder = std::thread::Builder::new().name("driver-feed".to_owned());
        Ok(Self {
            feeder: builder.spawn(move || feeder.run(stdin))?,
            child,
            flow,
            name,
            is_limited,
            is_closed,
            client,
            recorder: Recorder::new(flow as u16, borders, sink),
            proof,
            shared: Arc::clone(shared),
            thread,
            ledger,
            stop,
            origin_ns,
            hold_start_ns,
            hold_end_seen_ns: u64::MAX,
            drain_end_ns: u64::MAX,
            next_tick_ns: 0,
            heard_ns: shared.clock.now_ns(),
            has_stopped: false,
            has_ended: false,
            cpu: HoldCpu::new(hold_start_ns),
            last_totals: Totals::default(),
            outcome: DrivenOutcome::default(),
        })
    }

    /// Reads until every record has its outcome.
    pub(crate) fn run(mut self) -> DrivenOutcome {
        if let Err(trouble) = self.collect() {
            self.outcome.trouble = Some(trouble);
            // Without this producer, the load would be a different one.
            self.shared.interrupt.raise();
        }
        self.finish()
    }

    fn collect(&mut self) -> Result<(), DriverError> {
        loop {
            let arrived = self.child.frames().fill(POLL);
            let arrived = arrived.map_err(|error| self.child.system(error))?;
            let now_ns = self.shared.clock.now_ns();
            self.cpu.sample(now_ns);
            // Before later samples are recorded.
            self.poll(now_ns);
            self.read_frames(now_ns)?;
            if self.has_ended {
                return Ok(());
            }
            if arrived == PipeRead::End {
                return Err(self.child.died());
            }
            if now_ns >= self.drain_end_ns {
                self.outcome.abandoned = true;
                return Ok(());
            }
            if now_ns.saturating_sub(self.heard_ns) > SILENCE_MAX_NS {
                return Err(self.child.silent(Duration::from_nanos(SILENCE_MAX_NS)));
            }
        }
    }

    /// Checks whether the hold has ended, the user wants to stop, or slices are due.
    fn poll(&mut self, now_ns: u64) {
        if self.shared.interrupt.is_raised() {
            self.shared.hold_end_ns.fetch_min(now_ns, Ordering::Relaxed);
        }
        let hold_end_ns = self.shared.hold_end_ns.load(Ordering::Relaxed);
        if now_ns >= hold_end_ns && self.hold_end_seen_ns == u64::MAX {
            self.hold_end_seen_ns = hold_end_ns;
            self.drain_end_ns = now_ns.saturating_add(self.shared.drain_ns_max);
            self.cpu.end();
            self.recorder.close_hold(hold_end_ns);
        }
        if self.shared.interrupt.is_raised() {
            self.drain_end_ns = self.drain_end_ns.min(now_ns + STOP_NS);
        }
        self.shared.live[self.flow].add(&self.last_totals, &self.outcome.totals);
        self.last_totals = self.outcome.totals;
        if let Some(proof) = &mut self.proof {
            let unix_ms = self.shared.clock.shared_unix_ms(now_ns);
            proof.tick(u64::try_from(unix_ms).unwrap_or(0));
        }
        if now_ns >= self.next_tick_ns {
            self.next_tick_ns = now_ns + self.shared.tick_ns;
            self.recorder.tick();
            self.shared.note_shipped(self.thread, now_ns);
        }
    }

    /// Handles all complete frames.
    fn read_frames(&mut self, now_ns: u64) -> Result<(), DriverError> {
        let ledger = Arc::clone(&self.ledger);
        let origin_ns = self.origin_ns;
        let since = |at_ns: i64| u64::try_from(at_ns.saturating_sub(origin_ns)).unwrap_or(0);
        loop {
            let frame = match self.child.frames().next() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(()),
                Err(what) => return Err(self.child.nonsense(what)),
            };
            self.heard_ns = now_ns;
            match frame {
                DriverFrame::Outcomes(outcomes) => {
                    let mut accounts = Accounts {
                        recorder: &mut self.recorder,
                        totals: &mut self.outcome.totals,
                        proof: self.proof.as_mut(),
                        origin_ns,
                    };
                    let booked = accounts.book_all(outcomes, &ledger);
                    booked.map_err(|what| self.child.nonsense(what))?;
                }
                DriverFrame::Blocked { at_ns, ns } => self.recorder.buffer_wait(since(at_ns), ns),
                DriverFrame::StoppedTaking => self.stop_taking(now_ns),
                DriverFrame::Words { code, words } => {
                    let name = kgauge_results::error_name(code);
                    let name = name.map_or_else(|| format!("error code {code}"), str::to_owned);
                    let what = format!("records failed: {name}: {words}");
                    let incident = Incident::new(now_ns, &self.name, what, false);
                    self.shared.incidents.note(incident);
                }
                DriverFrame::Ended { starved_ns } => {
                    // A scheduled flow waits for records that are not due yet.
                    self.outcome.starved_ns = if self.is_closed { starved_ns } else { 0 };
                    self.has_ended = true;
                }
                DriverFrame::Status { .. } => {}
                other => {
                    let what = format!("during the run it sent {other:?}");
                    return Err(self.child.nonsense(what));
                }
            }
        }
    }

    /// The child has taken its last record: the hold ends with the last one of all flows that count.
    fn stop_taking(&mut self, now_ns: u64) {
        self.stop.store(true, Ordering::Relaxed);
        if std::mem::replace(&mut self.has_stopped, true) || !self.is_limited {
            return;
        }
        self.recorder.client_done(now_ns);
        let hold_end_ns = now_ns.max(self.hold_start_ns);
        if self.shared.counts.complete_one(hold_end_ns) {
            self.shared
                .hold_end_ns
                .fetch_min(hold_end_ns, Ordering::Relaxed);
        }
    }

    fn finish(mut self) -> DrivenOutcome {
        self.stop.store(true, Ordering::Relaxed);
        let patience = if self.has_ended {
            EXIT_MAX
        } else {
            Duration::ZERO
        };
        self.child.end(patience);
        let now_ns = self.shared.clock.now_ns();
        self.stop_taking(now_ns);
        // Its pipe broke with the child, so the feeder has ended too.
        let fed = self.feeder.join().ok();
        let mut accounts = Accounts {
            recorder: &mut self.recorder,
            totals: &mut self.outcome.totals,
            proof: self.proof.as_mut(),
            origin_ns: self.origin_ns,
        };
        for (index, fed) in self.ledger.open().close_all() {
            accounts.lose(index, fed, now_ns);
        }
        let is_interrupted = self.shared.interrupt.is_raised();
        if let Some(fed) = fed {
            self.outcome.feeding_cpu_ns = fed.hold_cpu_ns;
            if let (Some(schedule), false) = (fed.schedule, is_interrupted) {
                let end_ns = self.hold_end_seen_ns.min(now_ns);
                accounts.skip_rest(schedule, fed.records_left, self.hold_start_ns, end_ns);
            }
        }
        close_proof(self.proof.take(), &self.name, &self.shared, now_ns);
        self.cpu.end();
        self.outcome.feeding_cpu_ns += self.cpu.hold_ns();
        self.shared.live[self.flow].add(&self.last_totals, &self.outcome.totals);
        self.outcome.pace = self.recorder.finish();
        self.shared.note_shipped(self.thread, u64::MAX);
        self.outcome.flow = self.flow;
        self.outcome.client = self.client;
        self.outcome
    }
}

/// What a child gets to know before the first record.
fn driver_start(
    plan: &ProduceFlow,
    origin_ns: i64,
    (hold_start_ns, hold_end_ns): (u64, u64),
    records_max: Option<u64>,
    has_places: bool,
) -> DriverStart {
    DriverStart {
        hold_start_ns: origin_ns.saturating_add_unsigned(hold_start_ns),
        hold_end_ns: origin_ns.saturating_add_unsigned(hold_end_ns),
        skip_after_ns: i64::try_from(plan.skip_after_ns).unwrap_or(i64::MAX),
        records_max,
        has_places,
    }
}

/// Every record has its outcome.
fn close_proof(proof: Option<DrivenProof>, flow: &str, shared: &WorkerShared, now_ns: u64) {
    if let Some(mut proof) = proof
        && let Err(error) = proof.close()
    {
        let what = format!("cannot write the ledger: {error}; what it lacks is not checked");
        let incident = Incident::new(now_ns, flow, what, true);
        shared.incidents.note(incident);
    }
}

/// CLOCK_MONOTONIC at time 0 of the run's clock, from the shortest of several readings.
fn origin_ns(clock: &Clock) -> i64 {
    const READINGS: u32 = 20;
    let readings = (0..READINGS).map(|_| {
        let before_ns = monotonic_ns();
        let at_ns = clock.now_ns();
        let took_ns = monotonic_ns() - before_ns;
        (took_ns, before_ns + took_ns / 2 - at_ns as i64)
    });
    readings.min().map_or(0, |(_, origin_ns)| origin_ns)
}
