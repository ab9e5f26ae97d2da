//! A repeat on an agent: prepare, begin at the agreed time, stream, report.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;
use kgauge_load::{
    Ceilings, Clock, EchoTally, HoldControl, LoadControl, LoadProgress, LoadSetup, PreparedLoad,
    VerifySetup,
};
use kgauge_observe::{CpuTrack, Sampler, SamplingPlan};
use kgauge_results::recorder::SliceTap;
use kgauge_results::run::{Evidence, RepeatKey};
use kgauge_results::{Histogram, Quantile, Slice, SliceWriter, Stage, TimeKind};

use super::context::{AgentSession, LeadRequest};
use super::ledger_stream::LedgerStreams;
use super::machine_track::MachineTrack;
use super::outgoing::{OutgoingFrames, SliceLines};
use crate::protocol::{
    AgentMessage, AgentOutcome, FrameKind, LeadMessage, PrepareOrder, PreparedFacts,
};

/// A sleep ends up to this late; the rest of the wait for the start is spent spinning.
const SPIN_MAX: Duration = Duration::from_millis(1);

/// How often the wait for the start checks whether the lead is there.
const WAIT_SLICE: Duration = Duration::from_millis(50);

/// Every second report of the load engine goes to the lead: five per second.
const REPORTS_PER_MESSAGE: u32 = 2;

/// A repeat whose connections are open.
pub(super) struct PreparedRepeat {
    key: RepeatKey,
    load: PreparedLoad,
    writer: SliceWriter,
    tally: Arc<Mutex<HoldTally>>,
    /// What its flows do at full speed on this machine, if the lead wants that measured.
    ceilings: Option<Ceilings>,
    /// Raised when the lead wants the repeat to end, or is gone.
    stop: Interrupt,
}

impl PreparedRepeat {
    /// Connects everything, unless `stop` is raised.
    ///
    /// # Errors
    /// A message for the user.
    pub(super) fn prepare(
        session: &AgentSession,
        order: PrepareOrder,
        stop: Interrupt,
    ) -> Result<Self, String> {
        let client = order.client.client_config();
        let client = client.map_err(|error| {
            format!(
                "{error}\n  files named in client properties must exist on every agent's machine"
            )
        })?;
        let ceilings = order.measures_ceilings.then(|| {
            let mut ceilings = session.ceilings.borrow_mut();
            ceilings.measure(&order.share, &stop);
            ceilings.clone()
        });
        let tally = Arc::new(Mutex::new(HoldTally::new()));
        let stream = SliceLines(session.outgoing.clone());
        let tap = HoldTally::tap(&tally);
        let writer = SliceWriter::start_streaming("the lead", stream, Some(tap));
        let writer = writer.map_err(|error| format!("cannot start a thread: {error}"))?;
        let share = &order.share;
        let verify = share.trial.verify.then(|| {
            let ledgers = LedgerStreams::new(session.outgoing.clone());
            VerifySetup::of(share, ledgers)
        });
        let load = PreparedLoad::prepare(&LoadSetup {
            verify: verify.as_ref(),
            share,
            topic: &order.topic,
            also: &[],
            earliest: order.earliest.as_deref(),
            client: &client,
            groups: &order.groups,
            drivers: &[],
            sink: &|| writer.sink(),
            interrupt: &stop,
            copy: None,
        });
        Ok(Self {
            key: order.key,
            load: load.map_err(|error| error.to_string())?,
            writer,
            tally,
            ceilings,
            stop,
        })
    }

    pub(super) fn facts(&self) -> PreparedFacts {
        PreparedFacts {
            threads: self.load.threads(),
        }
    }

    /// Runs the load and reports its end. Returns a message about the next repeat that arrived meanwhile.
    pub(super) fn run(
        self,
        session: &AgentSession,
        (at_ns, unix_ms): (u64, i64),
    ) -> Option<LeadRequest> {
        let origin = session.clock.moment(at_ns);
        if !await_start(&self.stop, origin) {
            self.load.cancel();
            // A lead that is gone needs no answer.
            let _ = session.outgoing.message(&AgentMessage::NotStarted);
            return None;
        }
        let clock = Clock::starting_at(origin).of_lead(unix_ms);
        let started = AgentMessage::Started {
            late_ns: clock.now_ns(),
        };
        // If the lead is gone, the stop is raised, and the load ends at once.
        let _ = session.outgoing.message(&started);
        let machine = Arc::new(Mutex::new(MachineTrack::default()));
        let sampler = start_sampler(self.key, clock, &session.outgoing, &machine);
        let mut reports = LoadReports {
            session,
            cpu: CpuTrack::of(Some(std::process::id())),
            count: 0,
            counts_done_ns: None,
            echoes: Vec::new(),
            next: None,
        };
        reports.cpu.sample(clock.now_ns());
        let ran = self
            .load
            .run_controlled(clock, |progress, control| reports.report(progress, control));
        reports.cpu.sample(clock.now_ns());
        drop(sampler.map(Sampler::stop));
        // Everything that was recorded goes before the outcome.
        let written = self.writer.finish();
        let ended = match (ran, written) {
            (Err(error), _) => AgentMessage::LoadFailed {
                why: error.to_string(),
            },
            (Ok(_), Err(error)) => AgentMessage::LoadFailed {
                why: error.to_string(),
            },
            (Ok(load), Ok(_)) => {
                let hold = (load.hold_start_ns, load.hold_end_ns);
                let (tally, machine) = (lock(&self.tally), lock(&machine));
                AgentMessage::Ended(Box::new(AgentOutcome {
                    process_hold_cpu_ns: reports.cpu.between(hold.0, hold.1),
                    counts_done_ns: reports.counts_done_ns,
                    echoes: std::mem::take(&mut reports.echoes),
                    lag_ns_p99: tally.lateness.value_ns_at(Quantile::P99),
                    lag_ns_max: tally.lateness.max_ns(),
                    cpu_limit_periods: machine.cpu_limit_periods(),
                    full_speed_ns: self
                        .ceilings
                        .as_ref()
                        .and_then(|known| tally.full_speed_ns(known)),
                    network: machine.busiest_interface(hold.0, hold.1),
                    load,
                }))
            }
        };
        let _ = session.outgoing.message(&ended);
        reports.next
    }
}

/// Waits for the agreed time; false if the load is stopped before.
fn await_start(stop: &Interrupt, origin: Instant) -> bool {
    loop {
        if stop.is_raised() {
            return false;
        }
        let left = origin.saturating_duration_since(Instant::now());
        match left.checked_sub(SPIN_MAX) {
            _ if left.is_zero() => return true,
            Some(sleep) if !sleep.is_zero() => std::thread::sleep(sleep.min(WAIT_SLICE)),
            _ => std::hint::spin_loop(),
        }
    }
}

/// The records of the hold.
struct HoldTally {
    lateness: Histogram,
    /// By flow: acked or read.
    records: BTreeMap<u16, u64>,
}

impl HoldTally {
    fn new() -> Self {
        Self {
            lateness: Histogram::new(),
            records: BTreeMap::new(),
        }
    }

    /// Takes slices of the hold.
    fn tap(tally: &Arc<Mutex<Self>>) -> SliceTap {
        let tally = Arc::clone(tally);
        Arc::new(move |slice: &Slice| {
            if slice.key.stage == Stage::Hold {
                lock(&tally).add(slice);
            }
        })
    }

    fn add(&mut self, slice: &Slice) {
        self.lateness.add(slice.times(TimeKind::Lag));
        // Records of a closed loop are sent when they are intended.
        let immediate = slice.times(TimeKind::Immediate).count();
        self.lateness.record(0, immediate, 0);
        let records = slice.counts.records_acked + slice.counts.records_consumed;
        *self.records.entry(slice.key.flow).or_insert(0) += records;
    }

    /// CPU time that a load thread at full speed needs for the records; `None` if a flow's ceiling is not known.
    fn full_speed_ns(&self, ceilings: &Ceilings) -> Option<u64> {
        let mut sum_ns = 0_u128;
        for (flow, records) in self.records.iter().filter(|(_, records)| **records > 0) {
            let ceiling = ceilings.of_flow(usize::from(*flow))?;
            let all_ns = u128::from(*records) * u128::from(ceiling.cpu_ns);
            sum_ns += all_ns / u128::from(ceiling.records.max(1));
        }
        u64::try_from(sum_ns).ok()
    }
}

/// Tells the lead how the load goes, and takes its decisions.
struct LoadReports<'a> {
    session: &'a AgentSession,
    cpu: CpuTrack,
    count: u32,
    counts_done_ns: Option<u64>,
    echoes: Vec<Option<EchoTally>>,
    /// The lead prepares the next repeat already: this one is being stopped.
    next: Option<LeadRequest>,
}

impl LoadReports<'_> {
    fn report(&mut self, progress: &LoadProgress, control: &LoadControl<'_>) {
        self.cpu.sample(progress.elapsed_ns);
        self.take_decisions(control);
        let was_done = self.counts_done_ns.is_some();
        self.counts_done_ns = control.counts_done_ns();
        self.echoes = control.echo_tallies();
        let is_due = self.count.is_multiple_of(REPORTS_PER_MESSAGE)
            || was_done != self.counts_done_ns.is_some()
            || !progress.incidents.is_empty()
            || !progress.outage_changes.is_empty();
        self.count += 1;
        if !is_due {
            return;
        }
        let is_open = progress.elapsed_ns < control.hold_start_ns();
        let message = AgentMessage::Progress {
            load: Box::new(progress.clone()),
            paces: if is_open { control.paces() } else { Vec::new() },
            counts_done_ns: self.counts_done_ns,
            echoes: self.echoes.clone(),
        };
        // A lead that is gone has raised the stop.
        let _ = self.session.outgoing.message(&message);
    }

    fn take_decisions(&mut self, control: &LoadControl<'_>) {
        while self.next.is_none()
            && let Ok(request) = self.session.incoming.try_recv()
        {
            match request.message {
                LeadMessage::BeginHold { at_ns } => control.begin_hold(at_ns),
                LeadMessage::EndHold { at_ns } => control.end_hold_at(at_ns),
                LeadMessage::ClockShift { shift_ns } => control.set_clock_shift(shift_ns),
                LeadMessage::EndEchoes => control.end_echoes(),
                LeadMessage::Prepare { .. } => self.next = Some(request),
                // The connection has raised the flag already.
                LeadMessage::Stop => {}
                LeadMessage::Welcome { .. }
                | LeadMessage::ClockProbe { .. }
                | LeadMessage::Start { .. }
                | LeadMessage::Bye => {}
            }
        }
    }
}

fn start_sampler(
    key: RepeatKey,
    clock: Clock,
    outgoing: &OutgoingFrames,
    machine: &Arc<Mutex<MachineTrack>>,
) -> Option<Sampler> {
    let (outgoing, machine) = (outgoing.clone(), Arc::clone(machine));
    let sink = move |seen: &Evidence| {
        lock(&machine).note(seen);
        let mut line = serde_json::to_vec(seen).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let sent = outgoing.frame(FrameKind::Evidence, line);
        sent.map_err(|_| "the lead is gone".to_owned())
    };
    let plan = SamplingPlan::each_second(key, Vec::new());
    // Without evidence the load is still right.
    Sampler::start(plan, Vec::new(), move || clock.now_ns(), sink).ok()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
