//! From the start to the outcome: threads, the stages' borders, progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use kgauge_client::transaction::TransactionKind;
use kgauge_results::run::{ClientLook, GroupRecord};
use kgauge_results::{Recorder, StageBorders};
use kgauge_scenario::Stages;

use crate::clock::Clock;
use crate::consume::end_all;
use crate::control::{Desk, Told, start as start_clerk};
use crate::driver::{Driven, DrivenOutcome, DrivenRun, DriverUse};
use crate::echo::{CopyTally, EchoBoard};
use crate::gauges::Gauges;
use crate::incident::{Incident, Incidents};
use crate::pacing::Waiter;
use crate::prepare::{Load, cores};
use crate::surroundings::Clerks;
use crate::tally::{LiveTotals, Totals};
use crate::worker::{CLERK_TOKEN, Client, Over, Shared, Worker, WorkerOutcome, WorkerSetup};

/// How often progress is told.
const PROGRESS: Duration = Duration::from_millis(100);

/// How long the members of consumer groups may take to commit and leave, the load being over.
const LEAVE: Duration = Duration::from_secs(10);

/// The same when the user wants to stop.
const LEAVE_INTERRUPTED: Duration = Duration::from_millis(300);

/// Where a running load is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Since the start.
    pub elapsed_ns: u64,
    /// Up to when all threads have shipped what they recorded; `u64::MAX` when none records any more.
    pub shipped_ns: u64,
    /// For each flow, in the order of the trial.
    pub flows: Vec<Totals>,
    /// For each flow the records that were acked and not yet read, where it reads back what it writes.
    pub behind: Vec<Option<u64>>,
    /// For each flow what its producers held at all looks so far, if they are kgauge's own.
    pub held: Vec<ClientLook>,
    /// For each load thread what it has spun away before scheduled sends.
    pub spun_ns: Vec<u64>,
    /// What went wrong since the last time.
    pub incidents: Vec<Incident>,
}

/// What became of one flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowOutcome {
    /// Its name in the scenario.
    pub name: String,
    /// Its records, all stages together.
    pub totals: Totals,
    /// What its consumer group did, if it has one.
    pub group: Option<GroupRecord>,
    /// How complete the copy was that it read, if it read one.
    pub copy: Option<CopyTally>,
    /// Which kind of transactions its producers spoke, if they wrote in some.
    pub transactions: Option<TransactionKind>,
}

/// What a load leaves behind, beside the slices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadOutcome {
    /// For each flow, in the order of the trial.
    pub flows: Vec<FlowOutcome>,
    /// Where the hold really began and ended, and where the last answer came.
    pub hold_start_ns: u64,
    /// The end of the hold.
    pub hold_end_ns: u64,
    /// The end of the drain.
    pub end_ns: u64,
    /// CPU time of each worker thread within the hold.
    pub worker_hold_cpu_ns: Vec<u64>,
    /// Of it, what each thread spun away before scheduled sends: time that no record needed.
    pub worker_hold_spun_ns: Vec<u64>,
    /// CPU time within the hold of the threads that fed drivers; it is none of theirs.
    pub feeding_hold_cpu_ns: u64,
    /// What flows of other clients had; nothing without any.
    pub drivers: Vec<DriverUse>,
    /// Why a driver ended before the load did, and the load with it.
    pub driver_trouble: Option<String>,
    /// Records were given up because the drain's time was over.
    pub abandoned: bool,
    /// Somebody raised the interrupt.
    pub interrupted: bool,
    /// Something happened that makes the result bad, such as a corrupt record.
    pub broken: bool,
    /// Incidents that came after the first two hundred between two reports.
    pub incidents_dropped: u64,
}

/// Why a load did not end well.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Threads or sockets could not be had, or broke.
    #[error("the load engine failed: {0}")]
    System(#[from] std::io::Error),
    /// A thread panicked: a bug.
    #[error("a load thread ended by a bug in kgauge; its message stands above")]
    Panicked,
}

impl Load {
    /// Ships slices so often, instead of once a second: what a sink gets between two ticks is what
    /// was recorded meanwhile. Finer than a twentieth of a second it does not get.
    #[must_use]
    pub fn ship_every(mut self, tick: Duration) -> Self {
        self.tick_ns = u64::try_from(tick.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// The processes of other clients that send flows: the flow's position in the trial, and the pid.
    pub fn driver_pids(&self) -> Vec<(usize, u32)> {
        let driven = self.driven.iter();
        driven.map(|one| (one.flow, one.child.pid())).collect()
    }

    /// Which kind of transactions a flow's producers speak. All ask the same cluster.
    fn kind_of(&self, flow: usize) -> Option<TransactionKind> {
        let members = self.workers.iter().flatten();
        let mut own = members.filter(|member| member.flow == flow);
        own.find_map(|member| match &member.client {
            Client::Produce(producer) => producer.transaction_kind(),
            Client::Consume(_) => None,
        })
    }

    /// Clients that have a record count of their own.
    fn limited(&self) -> usize {
        let clients = self.workers.iter().flatten();
        let driven = self.driven.iter();
        clients.filter(|member| member.is_limited()).count()
            + driven.filter(|one| one.plan.records_max.is_some()).count()
    }

    /// What its threads will share.
    fn shared(&self, clock: Clock, flows: usize, hold_end_ns: Option<u64>) -> Shared {
        let threads = self.workers.len() + self.driven.len();
        Shared {
            clock,
            live: (0..flows)
                .map(|_| Arc::new(LiveTotals::default()))
                .collect(),
            gauges: (0..flows).map(|_| Gauges::default()).collect(),
            incidents: Arc::new(Incidents::default()),
            interrupt: self.interrupt.clone(),
            hold_end_ns: AtomicU64::new(hold_end_ns.unwrap_or(u64::MAX)),
            limited_left: AtomicUsize::new(self.limited()),
            drain_ns_max: self.share.trial.stages.drain_ns_max,
            tick_ns: self.tick_ns,
            shipped_ns: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            spun_ns: self.workers.iter().map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Runs the load on `clock`, which has just been started; `on_progress` is called ten times a second.
    pub fn run(
        mut self,
        clock: Clock,
        mut on_progress: impl FnMut(&Progress),
    ) -> Result<LoadOutcome, LoadError> {
        let stages = self.share.trial.stages;
        let planned_end_ns = stages.hold_ns.map(|hold_ns| stages.warm_up_ns + hold_ns);
        let names: Vec<String> = self
            .share
            .trial
            .flows
            .iter()
            .map(|flow| flow.name().to_owned())
            .collect();
        let shared = Arc::new(self.shared(clock, names.len(), planned_end_ns));
        let mut members = std::mem::take(&mut self.members);
        let boards = std::mem::take(&mut self.boards);
        let kinds: Vec<_> = (0..names.len()).map(|flow| self.kind_of(flow)).collect();
        let running = Running::start(self, &shared, &stages)?;
        let mut watch = Watch {
            shared: &shared,
            boards: &boards,
            broken: false,
            dropped: 0,
        };
        watch.until_over(&running, &mut on_progress);
        let (outcomes, driven) = running.join()?;
        // Producers that end a transaction at the very end have something to say yet.
        on_progress(&watch.progress());
        let (broken, dropped) = (watch.broken, watch.dropped);
        let end_ns = shared.clock.now_ns();
        let patience = match shared.interrupt.is_raised() {
            true => LEAVE_INTERRUPTED,
            false => LEAVE,
        };
        let mut groups = end_all(&mut members, names.len(), patience);
        let total = |flow: usize| {
            let own = outcomes.iter().map(|worker| worker.totals[flow]);
            let others = driven.iter().filter(|one| one.flow == flow);
            own.chain(others.map(|one| one.totals))
                .fold(Totals::default(), |sum, part| sum.plus(&part))
        };
        let flows = names.into_iter().enumerate();
        Ok(LoadOutcome {
            flows: flows
                .map(|(flow, name)| FlowOutcome {
                    name,
                    totals: total(flow),
                    group: groups[flow].take(),
                    copy: boards[flow].as_ref().and_then(|board| board.copy_tally()),
                    transactions: kinds[flow],
                })
                .collect(),
            hold_start_ns: stages.warm_up_ns.min(end_ns),
            hold_end_ns: shared.hold_end_ns.load(Ordering::Relaxed).min(end_ns),
            end_ns,
            worker_hold_cpu_ns: outcomes.iter().map(|worker| worker.hold_cpu_ns).collect(),
            worker_hold_spun_ns: outcomes.iter().map(|worker| worker.hold_spun_ns).collect(),
            feeding_hold_cpu_ns: driven.iter().map(|one| one.feeding_cpu_ns).sum(),
            drivers: uses(&driven),
            driver_trouble: trouble(&driven),
            abandoned: outcomes.iter().any(|worker| worker.abandoned)
                || driven.iter().any(|one| one.abandoned),
            interrupted: shared.interrupt.is_raised(),
            broken,
            incidents_dropped: dropped,
        })
    }
}

/// What each flow's driver was, and what its processes did together.
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
struct Running {
    workers: Vec<JoinHandle<std::io::Result<WorkerOutcome>>>,
    driven: Vec<JoinHandle<DrivenOutcome>>,
    /// Their threads, and the ways to them.
    clerks: (Vec<JoinHandle<()>>, Clerks),
    said: Receiver<Over>,
}

impl Running {
    fn start(load: Load, shared: &Arc<Shared>, stages: &Stages) -> Result<Self, LoadError> {
        let borders = match stages.hold_ns {
            Some(hold_ns) => StageBorders::closed(stages.warm_up_ns, stages.warm_up_ns + hold_ns),
            None => StageBorders::open(stages.warm_up_ns),
        };
        let ((asks, asked), (say, said)) = (channel(), channel());
        let of_copy = load.copy.map(|setup| (setup, channel()));
        let clerks = Clerks {
            source: asks,
            copy: of_copy.as_ref().map(|(_, (asks, _))| asks.clone()),
        };
        let (mut desks, mut setups) = (Vec::new(), Vec::new());
        let has_free_core = load.workers.len() < cores();
        for (index, (members, sinks)) in load.workers.into_iter().zip(load.sinks).enumerate() {
            let waiter = Waiter::new(shared.clock, has_free_core)?;
            let waker = Arc::new(mio::Waker::new(waiter.registry(), CLERK_TOKEN)?);
            let (tell, told) = channel::<Told>();
            desks.push(Desk {
                told: tell,
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
                clerks: clerks.clone(),
                told,
                said: say.clone(),
                waiter,
                waker,
                hold_start_ns: stages.warm_up_ns,
            });
        }
        let interrupt = load.interrupt;
        let mut clerk_threads = Vec::new();
        if let Some((setup, (_, asked))) = of_copy {
            let clerk = start_clerk(setup, desks.clone(), interrupt.clone(), asked);
            clerk_threads.push(clerk?);
        }
        clerk_threads.push(start_clerk(load.ground, desks, interrupt, asked)?);
        let workers_count = setups.len();
        let mut workers = Vec::new();
        for setup in setups {
            let name = format!("load-{}", setup.index);
            let worker = std::thread::Builder::new().name(name);
            workers.push(worker.spawn(move || Worker::new(setup).run())?);
        }
        // They come after the workers among those who ship.
        let driven = (workers_count..).zip(load.driven);
        let driven =
            driven.map(|(thread, one)| drive(one, (shared, thread), stages, borders, say.clone()));
        Ok(Self {
            workers,
            driven: driven.collect::<std::io::Result<_>>()?,
            clerks: (clerk_threads, clerks),
            said,
        })
    }

    /// Waits for the threads, which are all at their end.
    fn join(self) -> Result<(Vec<WorkerOutcome>, Vec<DrivenOutcome>), LoadError> {
        let (threads, clerks) = self.clerks;
        clerks.stop();
        let clerks: Vec<_> = threads.into_iter().map(JoinHandle::join).collect();
        let mut outcomes = Vec::new();
        for worker in self.workers {
            outcomes.push(worker.join().map_err(|_| LoadError::Panicked)??);
        }
        let driven = self.driven.into_iter().map(JoinHandle::join);
        let driven: Result<Vec<DrivenOutcome>, _> = driven.collect();
        for clerk in clerks {
            clerk.map_err(|_| LoadError::Panicked)?;
        }
        Ok((outcomes, driven.map_err(|_| LoadError::Panicked)?))
    }
}

/// Begins a producer in a process of its own; its thread collects what became of the records.
fn drive(
    driven: Driven,
    (shared, thread): (&Arc<Shared>, usize),
    stages: &Stages,
    borders: StageBorders,
    say: Sender<Over>,
) -> std::io::Result<JoinHandle<DrivenOutcome>> {
    let run = DrivenRun::start(driven, (shared, thread), stages, borders)?;
    let builder = std::thread::Builder::new().name("driver".to_owned());
    builder.spawn(move || {
        let outcome = run.run();
        // The runner waits for this word.
        let _ = say.send(Over);
        outcome
    })
}

/// Watches a running load from outside.
struct Watch<'a> {
    shared: &'a Shared,
    boards: &'a [Option<Arc<EchoBoard>>],
    broken: bool,
    dropped: u64,
}

impl Watch<'_> {
    fn until_over(&mut self, running: &Running, on_progress: &mut impl FnMut(&Progress)) {
        let mut left = running.workers.len() + running.driven.len();
        while left > 0 {
            match running.said.recv_timeout(PROGRESS) {
                Ok(Over) => left -= 1,
                // A worker that panicked says nothing any more.
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

    fn progress(&mut self) -> Progress {
        let noted = self.shared.incidents.take();
        self.broken |= noted.any_bad;
        self.dropped += noted.dropped;
        let shipped = self.shared.shipped_ns.iter();
        let shipped = shipped.map(|at_ns| at_ns.load(Ordering::Acquire));
        Progress {
            elapsed_ns: self.shared.clock.now_ns(),
            shipped_ns: shipped.min().unwrap_or(u64::MAX),
            flows: self.shared.live.iter().map(|live| live.look()).collect(),
            behind: self
                .boards
                .iter()
                .map(|board| board.as_ref().map(|board| board.missing()))
                .collect(),
            held: self.shared.gauges.iter().map(Gauges::look).collect(),
            spun_ns: self
                .shared
                .spun_ns
                .iter()
                .map(|ns| ns.load(Ordering::Relaxed))
                .collect(),
            incidents: noted.kept,
        }
    }
}
