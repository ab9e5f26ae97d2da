//! Runs a load from start to end: threads, the stages' borders, progress.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use kgauge_client::Interrupt;
use kgauge_client::transaction::TransactionKind;
use kgauge_results::run::{ClientSample, GroupMemberRecord, GroupRecord, TransactionProtocol};
use kgauge_results::{PaceSeries, Recorder, StageBorders};
use kgauge_scenario::Stages;
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::consume::end_all;
use crate::control::{ControlReply, WorkerMailbox, start as start_control};
use crate::counted_clients::CountedClients;
use crate::driver::{DrivenOutcome, DrivenProducer, DrivenRun, DriverUse};
use crate::echo::{CopyTally, EchoTracker};
use crate::gauges::Gauges;
use crate::incident::{Incident, Incidents};
use crate::load_control::LoadControl;
use crate::outage::{Outage, OutageChange, OutageTracker, OutageWatch};
use crate::pacing::EventWaiter;
use crate::prepare::{PreparedLoad, cores};
use crate::tally::{LiveTotals, Totals};
use crate::worker::{
    CONTROL_TOKEN, Client, Over, Worker, WorkerOutcome, WorkerSetup, WorkerShared,
};
use crate::worker_context::ControlSenders;

/// The progress interval.
const PROGRESS: Duration = Duration::from_millis(100);

/// Time limit for consumer groups to commit and leave after the load.
const LEAVE: Duration = Duration::from_secs(5);

/// The same if brokers do not answer.
const LEAVE_DEAD: Duration = Duration::from_secs(1);

/// The same if the user wants to stop.
const LEAVE_INTERRUPTED: Duration = Duration::from_millis(300);

/// The progress of a running load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadProgress {
    /// Since the start.
    pub elapsed_ns: u64,
    /// Time up to which all threads have shipped their samples; `u64::MAX` when none records any more.
    pub shipped_ns: u64,
    /// For each flow, in the order of the trial.
    pub flows: Vec<Totals>,
    /// For each flow the records that were acked and not yet read, if it reads back what it writes.
    pub behind: Vec<Option<u64>>,
    /// For each flow the samples of its producers, if they are kgauge's own.
    pub held: Vec<ClientSample>,
    /// For each load thread its time spent spinning before scheduled sends.
    pub spun_ns: Vec<u64>,
    /// Incidents since the last report.
    pub incidents: Vec<Incident>,
    /// Brokers that do not answer.
    pub outages: Vec<Outage>,
    /// Starts and ends of outages since the last report.
    pub outage_changes: Vec<OutageChange>,
}

/// The results of one flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowOutcome {
    /// Its name in the scenario.
    pub name: String,
    /// Its records, all stages together.
    pub totals: Totals,
    /// Its records over time.
    pub pace: PaceSeries,
    /// Its consumer group, if it has one.
    pub group: Option<GroupRecord>,
    /// The members of its consumer groups.
    pub members: Vec<GroupMemberRecord>,
    /// How complete the copy was that it read, if it read one.
    pub copy: Option<CopyTally>,
    /// The transaction protocol of its producers, if they write in transactions.
    pub transactions: Option<TransactionProtocol>,
}

/// The results of a load, besides the slices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadOutcome {
    /// For each flow, in the order of the trial.
    pub flows: Vec<FlowOutcome>,
    /// The actual start of the hold.
    pub hold_start_ns: u64,
    /// The end of the hold.
    pub hold_end_ns: u64,
    /// The end of the drain.
    pub end_ns: u64,
    /// CPU time of each worker thread within the hold.
    pub worker_hold_cpu_ns: Vec<u64>,
    /// The part that each thread spent spinning before scheduled sends, which no record needed.
    pub worker_hold_spun_ns: Vec<u64>,
    /// For how much of the hold each thread did not spin, because others waited for processors.
    pub worker_hold_gave_way_ns: Vec<u64>,
    /// CPU time within the hold of the threads that feed drivers; it is not the drivers'.
    pub feeding_hold_cpu_ns: u64,
    /// Results of other clients; empty without any.
    pub drivers: Vec<DriverUse>,
    /// Why a driver ended before the load did, and the load with it.
    pub driver_trouble: Option<String>,
    /// Records were given up because the drain was over.
    pub abandoned: bool,
    /// The user interrupted.
    pub interrupted: bool,
    /// Something made the result bad, such as a corrupt record.
    pub broken: bool,
    /// Brokers that did not answer when the load ended.
    pub outages: Vec<Outage>,
    /// At that time no partition had a leader that answers.
    pub is_target_gone: bool,
    /// Incidents after the first two hundred between two reports.
    pub incidents_dropped: u64,
}

/// Why a load failed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Threads or sockets could not be created, or broke.
    #[error("the load engine failed: {0}")]
    System(#[from] std::io::Error),
    /// A thread panicked: a bug.
    #[error("a load thread crashed because of a bug in kgauge; its message is shown above")]
    Panicked,
}

impl PreparedLoad {
    /// Ships slices at this interval instead of once per second; at least a twentieth of a second.
    #[must_use]
    pub fn ship_every(mut self, tick: Duration) -> Self {
        self.tick_ns = u64::try_from(tick.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// Its load threads, without those of other clients.
    pub fn threads(&self) -> u32 {
        u32::try_from(self.workers.len()).unwrap_or(u32::MAX)
    }

    /// The processes of other clients that send flows: the flow's index in the trial, and the pid.
    pub fn driver_pids(&self) -> Vec<(usize, u32)> {
        let driven = self.driven.iter();
        driven.map(|one| (one.flow, one.child.pid())).collect()
    }

    /// The transaction protocol of a flow's producers. All ask the same cluster.
    fn kind_of(&self, flow: usize) -> Option<TransactionProtocol> {
        let members = self.workers.iter().flatten();
        let mut own = members.filter(|member| member.flow == flow);
        let kind = own.find_map(|member| match &member.client {
            Client::Produce(producer) => producer.transaction_kind(),
            Client::Consume(_) => None,
        });
        Some(match kind? {
            TransactionKind::First => TransactionProtocol::Kip98,
            TransactionKind::Second => TransactionProtocol::Kip890,
        })
    }

    /// Clients that have their own record count.
    fn limited(&self) -> usize {
        let clients = self.workers.iter().flatten();
        let driven = self.driven.iter();
        clients.filter(|member| member.is_limited()).count()
            + driven.filter(|one| one.plan.records_max.is_some()).count()
    }

    /// The state that its threads will share.
    fn shared(&self, clock: Clock, flows: usize) -> WorkerShared {
        let stages = &self.share.trial.stages;
        let threads = self.workers.len() + self.driven.len();
        WorkerShared {
            clock,
            live: (0..flows).map(|_| LiveTotals::default()).collect(),
            gauges: (0..flows).map(|_| Gauges::default()).collect(),
            incidents: Incidents::default(),
            interrupt: self.interrupt.clone(),
            hold_start_ns: AtomicU64::new(stages.warm_up_limit_ns()),
            is_adaptive: stages.is_adaptive(),
            paces: self.workers.iter().map(|_| Mutex::default()).collect(),
            hold_end_ns: AtomicU64::new(stages.hold_end_limit_ns().unwrap_or(u64::MAX)),
            counts: CountedClients::new(self.limited(), self.share.agent_count),
            drain_ns_max: stages.drain_ns_max,
            tick_ns: self.tick_ns,
            shipped_ns: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            spun_ns: self.workers.iter().map(|_| AtomicU64::new(0)).collect(),
            brokers: Arc::new(OutageTracker::new(self.workers.len())),
        }
    }

    /// Closes everything without a load. Members leave their groups.
    pub fn cancel(mut self) {
        let flows = self.share.trial.flows.len();
        end_all(&mut self.members, flows, LEAVE_INTERRUPTED);
    }

    /// Runs the load on `clock`, which has just been started; calls `on_progress` ten times per second.
    pub fn run(
        self,
        clock: Clock,
        mut on_progress: impl FnMut(&LoadProgress),
    ) -> Result<LoadOutcome, LoadError> {
        self.run_controlled(clock, |progress, _| on_progress(progress))
    }

    /// As [`PreparedLoad::run`], for a caller that decides when the hold begins.
    pub fn run_controlled(
        mut self,
        clock: Clock,
        mut on_progress: impl FnMut(&LoadProgress, &LoadControl<'_>),
    ) -> Result<LoadOutcome, LoadError> {
        let stages = self.share.trial.stages;
        let names = self.share.trial.flows.iter();
        let names: Vec<String> = names.map(|flow| flow.name().to_owned()).collect();
        let shared = Arc::new(self.shared(clock, names.len()));
        let mut members = std::mem::take(&mut self.members);
        let echoes = std::mem::take(&mut self.echoes);
        let kinds: Vec<_> = (0..names.len()).map(|flow| self.kind_of(flow)).collect();
        let configs = (
            self.source.config.clone(),
            self.copy.as_ref().map(|copy| copy.config.clone()),
        );
        let running = LoadThreads::start(self, &shared, &stages)?;
        let mut watch = Watch {
            shared: &shared,
            echoes: &echoes,
            broken: false,
            dropped: 0,
            outages: OutageWatch::new(clock, Arc::clone(&shared.brokers), configs),
        };
        let control = LoadControl {
            shared: &shared,
            hold_ns: stages.hold_ns,
            echoes: &echoes,
        };
        watch.until_over(&running, &mut |progress| on_progress(progress, &control));
        let (outcomes, driven) = running.join()?;
        // Producers that end a transaction at the very end may still report something.
        on_progress(&watch.progress(), &control);
        let (broken, dropped, watch) = (watch.broken, watch.dropped, watch.outages);
        let (outages, is_target_gone) = (watch.current(), watch.is_total());
        let end_ns = shared.clock.now_ns();
        let patience = leave_limit(shared.interrupt.is_raised(), !outages.is_empty());
        let mut groups = end_all(&mut members, names.len(), patience);
        let flows = names.into_iter().enumerate();
        Ok(LoadOutcome {
            flows: flows
                .map(|(flow, name)| FlowOutcome {
                    name,
                    totals: total(flow, &outcomes, &driven),
                    pace: pace(flow, &outcomes, &driven),
                    group: groups[flow].group,
                    members: std::mem::take(&mut groups[flow].members),
                    copy: echoes[flow].as_ref().and_then(|echo| echo.copy_tally()),
                    transactions: kinds[flow],
                })
                .collect(),
            hold_start_ns: shared.hold_start_ns.load(Ordering::Acquire).min(end_ns),
            hold_end_ns: shared.hold_end_ns.load(Ordering::Relaxed).min(end_ns),
            end_ns,
            worker_hold_cpu_ns: outcomes.iter().map(|worker| worker.hold_cpu_ns).collect(),
            worker_hold_spun_ns: outcomes.iter().map(|worker| worker.hold_spun_ns).collect(),
            worker_hold_gave_way_ns: outcomes
                .iter()
                .map(|worker| worker.hold_gave_way_ns)
                .collect(),
            feeding_hold_cpu_ns: driven.iter().map(|one| one.feeding_cpu_ns).sum(),
            drivers: uses(&driven),
            driver_trouble: trouble(&driven),
            abandoned: outcomes.iter().any(|worker| worker.abandoned)
                || driven.iter().any(|one| one.abandoned),
            interrupted: shared.interrupt.is_raised(),
            broken,
            outages,
            is_target_gone,
            incidents_dropped: dropped,
        })
    }
}

/// Time limit for consumer groups after the load.
fn leave_limit(is_interrupted: bool, has_outage: bool) -> Duration {
    match (is_interrupted, has_outage) {
        (true, _) => LEAVE_INTERRUPTED,
        (false, true) => LEAVE_DEAD,
        (false, false) => LEAVE,
    }
}

/// The outcomes of a flow's records, in all threads together.
fn total(flow: usize, workers: &[WorkerOutcome], driven: &[DrivenOutcome]) -> Totals {
    let own = workers.iter().map(|worker| worker.totals[flow]);
    let others = driven.iter().filter(|one| one.flow == flow);
    own.chain(others.map(|one| one.totals))
        .fold(Totals::default(), |sum, part| sum.plus(&part))
}

/// A flow's records over time, in all threads together.
fn pace(flow: usize, workers: &[WorkerOutcome], driven: &[DrivenOutcome]) -> PaceSeries {
    let own = workers.iter().filter_map(|worker| worker.paces.get(flow));
    let others = driven.iter().filter(|one| one.flow == flow);
    let mut sum = PaceSeries::default();
    own.chain(others.map(|one| &one.pace))
        .for_each(|part| sum.add(part));
    sum
}

/// The driver of each flow, and the combined results of its processes.
fn uses(driven: &[DrivenOutcome]) -> Vec<DriverUse> {
    let mut uses: Vec<DriverUse> = Vec::new();
    for one in driven {
        match uses.iter_mut().find(|known| known.flow == one.flow) {
            Some(known) => {
                known.processes += 1;
                known.starved_ns += one.starved_ns;
            }
            None => uses.push(DriverUse {
                flow: one.flow,
                client: one.client.clone(),
                processes: 1,
                starved_ns: one.starved_ns,
            }),
        }
    }
    uses
}

fn trouble(driven: &[DrivenOutcome]) -> Option<String> {
    let mut troubles = driven.iter().filter_map(|one| one.trouble.as_ref());
    troubles.next().map(ToString::to_string)
}

/// The threads of a running load.
struct LoadThreads {
    workers: Vec<JoinHandle<std::io::Result<WorkerOutcome>>>,
    driven: Vec<JoinHandle<DrivenOutcome>>,
    control_threads: Vec<JoinHandle<()>>,
    control_senders: ControlSenders,
    /// Ends the control threads, even during a request.
    control_stop: Interrupt,
    completions: Receiver<Over>,
}

fn stage_borders(stages: &Stages) -> StageBorders {
    let warm_up_ns = stages.warm_up_limit_ns();
    match stages.hold_end_limit_ns() {
        Some(end_ns) => StageBorders::closed(warm_up_ns, end_ns),
        None => StageBorders::open(warm_up_ns),
    }
}

impl LoadThreads {
    fn start(
        load: PreparedLoad,
        shared: &Arc<WorkerShared>,
        stages: &Stages,
    ) -> Result<Self, LoadError> {
        let borders = stage_borders(stages);
        let (requests, request_receiver) = channel();
        let (completion_sender, completions) = channel();
        let of_copy = load.copy.map(|setup| (setup, channel()));
        let control = ControlSenders {
            source: requests,
            copy: of_copy.as_ref().map(|(_, (requests, _))| requests.clone()),
        };
        let (mut mailboxes, mut setups) = (Vec::new(), Vec::new());
        let has_free_core = load.workers.len() < cores();
        for (index, (members, sinks)) in load.workers.into_iter().zip(load.sinks).enumerate() {
            let waiter = EventWaiter::new(shared.clock, has_free_core)?;
            let waker = Arc::new(mio::Waker::new(waiter.registry(), CONTROL_TOKEN)?);
            let (sender, replies) = channel::<ControlReply>();
            mailboxes.push(WorkerMailbox {
                replies: sender,
                waker: Arc::clone(&waker),
            });
            let recorders = sinks
                .into_iter()
                .enumerate()
                .map(|(flow, sink)| sink.map(|sink| Recorder::new(flow as u16, borders, sink)));
            setups.push(WorkerSetup {
                index,
                shared: Arc::clone(shared),
                members,
                recorders: recorders.collect(),
                control: control.clone(),
                replies,
                completion_sender: completion_sender.clone(),
                waiter,
                waker,
            });
        }
        let control_stop = Interrupt::new();
        let begin_control = |setup, mailboxes, requests| {
            let brokers = Arc::clone(&shared.brokers);
            start_control(setup, mailboxes, brokers, control_stop.clone(), requests)
        };
        let mut control_threads = Vec::new();
        if let Some((setup, (_, request_receiver))) = of_copy {
            control_threads.push(begin_control(setup, mailboxes.clone(), request_receiver)?);
        }
        control_threads.push(begin_control(load.source, mailboxes, request_receiver)?);
        let workers_count = setups.len();
        let mut workers = Vec::new();
        for setup in setups {
            let name = format!("load-{}", setup.index);
            let worker = std::thread::Builder::new().name(name);
            workers.push(worker.spawn(move || Worker::new(setup).run())?);
        }
        // They follow the workers among the threads that ship slices.
        let driven = (workers_count..).zip(load.driven);
        let driven = driven.map(|(thread, one)| {
            drive(
                one,
                (shared, thread),
                stages,
                borders,
                completion_sender.clone(),
            )
        });
        Ok(Self {
            workers,
            driven: driven.collect::<std::io::Result<_>>()?,
            control_threads,
            control_senders: control,
            control_stop,
            completions,
        })
    }

    /// Waits for the threads, which are all about to end.
    fn join(self) -> Result<(Vec<WorkerOutcome>, Vec<DrivenOutcome>), LoadError> {
        self.control_stop.raise();
        self.control_senders.stop();
        let control_threads = self.control_threads.into_iter().map(JoinHandle::join);
        let control_threads: Vec<_> = control_threads.collect();
        let mut outcomes = Vec::new();
        for worker in self.workers {
            outcomes.push(worker.join().map_err(|_| LoadError::Panicked)??);
        }
        let driven = self.driven.into_iter().map(JoinHandle::join);
        let driven: Result<Vec<DrivenOutcome>, _> = driven.collect();
        for thread in control_threads {
            thread.map_err(|_| LoadError::Panicked)?;
        }
        Ok((outcomes, driven.map_err(|_| LoadError::Panicked)?))
    }
}

/// Starts a producer in a separate process; its thread collects the outcomes of its records.
fn drive(
    driven: DrivenProducer,
    (shared, thread): (&Arc<WorkerShared>, usize),
    stages: &Stages,
    borders: StageBorders,
    completion_sender: Sender<Over>,
) -> std::io::Result<JoinHandle<DrivenOutcome>> {
    let run = DrivenRun::start(driven, (shared, thread), stages, borders)?;
    let builder = std::thread::Builder::new().name("driver".to_owned());
    builder.spawn(move || {
        let outcome = run.run();
        // The runner waits for this message.
        let _ = completion_sender.send(Over);
        outcome
    })
}

/// Watches a running load from outside.
struct Watch<'a> {
    shared: &'a WorkerShared,
    echoes: &'a [Option<Arc<EchoTracker>>],
    broken: bool,
    dropped: u64,
    outages: OutageWatch,
}

impl Watch<'_> {
    fn until_over(&mut self, running: &LoadThreads, on_progress: &mut impl FnMut(&LoadProgress)) {
        let mut left = running.workers.len() + running.driven.len();
        while left > 0 {
            match running.completions.recv_timeout(PROGRESS) {
                Ok(Over) => left -= 1,
                // A worker that panicked sends no more messages.
                Err(RecvTimeoutError::Timeout)
                    if running.workers.iter().all(JoinHandle::is_finished)
                        && running.driven.iter().all(JoinHandle::is_finished) =>
                {
                    left = 0;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => left = 0,
            }
            on_progress(&self.progress());
        }
    }

    fn progress(&mut self) -> LoadProgress {
        self.shared.clock.follow();
        let noted = self.shared.incidents.take();
        let outage_changes = self.outages.poll(self.shared.clock.now_ns());
        self.broken |= noted.any_bad;
        self.dropped += noted.dropped;
        let shipped = self.shared.shipped_ns.iter();
        let shipped = shipped.map(|at_ns| at_ns.load(Ordering::Acquire));
        LoadProgress {
            elapsed_ns: self.shared.clock.now_ns(),
            shipped_ns: shipped.min().unwrap_or(u64::MAX),
            flows: self.shared.live.iter().map(|live| live.totals()).collect(),
            behind: self
                .echoes
                .iter()
                .map(|echo| echo.as_ref().map(|echo| echo.missing()))
                .collect(),
            held: self.shared.gauges.iter().map(Gauges::sample).collect(),
            spun_ns: self
                .shared
                .spun_ns
                .iter()
                .map(|ns| ns.load(Ordering::Relaxed))
                .collect(),
            incidents: noted.kept,
            outages: self.outages.current(),
            outage_changes,
        }
    }
}
