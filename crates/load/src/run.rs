//! From the start to the outcome: threads, the stages' borders, progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use kgauge_results::{Recorder, StageBorders};
use kgauge_scenario::Stages;

use crate::clock::Clock;
use crate::consume::{GroupOutcome, end_all};
use crate::control::{Ask, Desk, Told, start as start_clerk};
use crate::incident::{Incident, Incidents};
use crate::pacing::Waiter;
use crate::prepare::Load;
use crate::tally::{LiveTotals, Totals};
use crate::worker::{CLERK_TOKEN, Over, Shared, Worker, WorkerOutcome, WorkerSetup};

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
    /// For each flow, in the order of the trial.
    pub flows: Vec<Totals>,
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
    pub group: Option<GroupOutcome>,
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
        let clients = self.workers.iter().flatten();
        let limited = clients.filter(|member| member.is_limited()).count();
        let shared = Arc::new(Shared {
            clock,
            live: names
                .iter()
                .map(|_| Arc::new(LiveTotals::default()))
                .collect(),
            incidents: Arc::new(Incidents::default()),
            interrupt: self.interrupt.clone(),
            hold_end_ns: AtomicU64::new(planned_end_ns.unwrap_or(u64::MAX)),
            limited_left: AtomicUsize::new(limited),
            drain_ns_max: stages.drain_ns_max,
            tick_ns: self.tick_ns,
        });
        let mut members = std::mem::take(&mut self.members);
        let running = Running::start(self, &shared, &stages)?;
        let mut watch = Watch {
            shared: &shared,
            broken: false,
            dropped: 0,
        };
        watch.until_over(&running, &mut on_progress);
        let (broken, dropped) = (watch.broken, watch.dropped);
        let outcomes = running.join()?;
        let end_ns = shared.clock.now_ns();
        let patience = match shared.interrupt.is_raised() {
            true => LEAVE_INTERRUPTED,
            false => LEAVE,
        };
        let mut groups = end_all(&mut members, names.len(), patience);
        let total = |flow: usize| {
            outcomes.iter().fold(Totals::default(), |sum, worker| {
                sum.plus(&worker.totals[flow])
            })
        };
        let flows = names.into_iter().enumerate();
        Ok(LoadOutcome {
            flows: flows
                .map(|(flow, name)| FlowOutcome {
                    name,
                    totals: total(flow),
                    group: groups[flow].take(),
                })
                .collect(),
            hold_start_ns: stages.warm_up_ns.min(end_ns),
            hold_end_ns: shared.hold_end_ns.load(Ordering::Relaxed).min(end_ns),
            end_ns,
            worker_hold_cpu_ns: outcomes.iter().map(|worker| worker.hold_cpu_ns).collect(),
            abandoned: outcomes.iter().any(|worker| worker.abandoned),
            interrupted: shared.interrupt.is_raised(),
            broken,
            incidents_dropped: dropped,
        })
    }
}

/// The threads of a running load.
struct Running {
    workers: Vec<JoinHandle<std::io::Result<WorkerOutcome>>>,
    clerk: JoinHandle<()>,
    asks: Sender<Ask>,
    said: Receiver<Over>,
}

impl Running {
    fn start(load: Load, shared: &Arc<Shared>, stages: &Stages) -> Result<Self, LoadError> {
        let borders = match stages.hold_ns {
            Some(hold_ns) => StageBorders::closed(stages.warm_up_ns, stages.warm_up_ns + hold_ns),
            None => StageBorders::open(stages.warm_up_ns),
        };
        let ((asks, asked), (say, said)) = (channel(), channel());
        let (mut desks, mut setups) = (Vec::new(), Vec::new());
        for (index, (members, sinks)) in load.workers.into_iter().zip(load.sinks).enumerate() {
            let waiter = Waiter::new(shared.clock)?;
            let waker = mio::Waker::new(waiter.registry(), CLERK_TOKEN)?;
            let (tell, told) = channel::<Told>();
            desks.push(Desk { told: tell, waker });
            let recorders = sinks
                .into_iter()
                .enumerate()
                .map(|(flow, sink)| sink.map(|sink| Recorder::new(flow as u16, borders, sink)));
            setups.push(WorkerSetup {
                index,
                shared: Arc::clone(shared),
                members,
                recorders: recorders.collect(),
                clerk: asks.clone(),
                told,
                said: say.clone(),
                waiter,
                hold_start_ns: stages.warm_up_ns,
            });
        }
        let interrupt = load.interrupt;
        let clerk = start_clerk(
            load.cluster,
            load.config,
            load.topic,
            desks,
            interrupt,
            asked,
        )?;
        let mut workers = Vec::new();
        for setup in setups {
            let name = format!("load-{}", setup.index);
            let worker = std::thread::Builder::new().name(name);
            workers.push(worker.spawn(move || Worker::new(setup).run())?);
        }
        Ok(Self {
            workers,
            clerk,
            asks,
            said,
        })
    }

    /// Waits for the threads, which are all at their end.
    fn join(self) -> Result<Vec<WorkerOutcome>, LoadError> {
        let _ = self.asks.send(Ask::Stop);
        let clerk = self.clerk.join();
        let mut outcomes = Vec::new();
        for worker in self.workers {
            outcomes.push(worker.join().map_err(|_| LoadError::Panicked)??);
        }
        clerk.map_err(|_| LoadError::Panicked)?;
        Ok(outcomes)
    }
}

/// Watches a running load from outside.
struct Watch<'a> {
    shared: &'a Shared,
    broken: bool,
    dropped: u64,
}

impl Watch<'_> {
    fn until_over(&mut self, running: &Running, on_progress: &mut impl FnMut(&Progress)) {
        let mut workers_left = running.workers.len();
        while workers_left > 0 {
            match running.said.recv_timeout(PROGRESS) {
                Ok(Over) => workers_left -= 1,
                // A worker that panicked says nothing any more.
                Err(RecvTimeoutError::Timeout)
                    if running.workers.iter().all(JoinHandle::is_finished) =>
                {
                    workers_left = 0;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => workers_left = 0,
            }
            on_progress(&self.progress());
        }
    }

    fn progress(&mut self) -> Progress {
        let noted = self.shared.incidents.take();
        self.broken |= noted.any_bad;
        self.dropped += noted.dropped;
        Progress {
            elapsed_ns: self.shared.clock.now_ns(),
            flows: self.shared.live.iter().map(|live| live.look()).collect(),
            incidents: noted.kept,
        }
    }
}
