//! The state of the runs of this process. The run writes and the server reads; both hold the lock only briefly.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kgauge_analyze::live::{FlowTotals, LiveRepeat};
use kgauge_load::LoadProgress;
use kgauge_report::{LiveNow, LivePhase, LiveReport, LiveTrial};
use kgauge_results::metrics::MetricId;
use kgauge_results::run::{Event, Evidence, EvidenceKind, RepeatKey, Subject};
use kgauge_results::{RunRead, Slice};
use kgauge_runner::{RunStep, StopRequests};
use kgauge_scenario::Trial;

use crate::frame::of_trial;
use crate::snapshot::{ProgressSnapshot, RepeatProgress};

/// The number of recent problems that are shown.
const TROUBLES_MAX: usize = 5;
/// Every visible page polls again within this time after the end.
const LAST_POLL_MAX: Duration = Duration::from_secs(2);
/// Processes are sampled once a second. One without a sample for this long has ended and holds no memory.
const UNSEEN_MAX: Duration = Duration::from_secs(10);

/// Written by the run, read by the server.
pub struct LiveRunState {
    state: Mutex<LiveState>,
    stopping: StopRequests,
}

#[derive(Default)]
pub(crate) struct LiveState {
    /// Changes with everything that a viewer would see, about once a second.
    changes: u64,
    second: u64,
    pub(crate) now: LiveNow,
    pub(crate) runs: Vec<LiveRun>,
    trial: Option<Trial>,
    pub(crate) live: Option<LiveRepeat>,
    pub(crate) progress: RepeatProgress,
    /// The frame of the current run with only its current trial, for the verdict.
    judged: Option<RunRead>,
    /// Flows of repeats that have ended.
    totals: BTreeMap<FlowKey, EndedFlow>,
    processes: BTreeMap<(usize, String), LiveProcess>,
    /// Network interfaces whose speed is known.
    interfaces: BTreeMap<(usize, String), Interface>,
    /// The pages of [`LiveNow::reports`].
    reports: Vec<Arc<str>>,
    asked: Option<Instant>,
    /// Reports that are on their way to a browser.
    sending: usize,
    /// Whether any viewer has received the end of the run.
    is_end_known: bool,
    /// Viewers that received the end, but not the report.
    owed: usize,
}

/// A run of this process.
pub(crate) struct LiveRun {
    /// The folder without what grows.
    pub(crate) frame: Arc<RunRead>,
    pub(crate) target: String,
    pub(crate) is_over: bool,
    pub(crate) steps: usize,
    pub(crate) repeats_ended: u64,
    pub(crate) at: Option<LiveTrial>,
}

/// A flow of one trial of one run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FlowKey {
    /// The place in [`LiveState::runs`].
    pub(crate) run: usize,
    pub(crate) trial: u32,
    pub(crate) flow: u16,
}

/// What a flow did in repeats that ended.
#[derive(Clone)]
pub(crate) struct EndedFlow {
    pub(crate) scenario: String,
    pub(crate) flow: String,
    pub(crate) totals: FlowTotals,
}

#[derive(Default)]
pub(crate) struct LiveProcess {
    last_ns: Option<u64>,
    pub(crate) cpu_ns: u64,
    /// When, and how many bytes.
    resident: Option<(Instant, u64)>,
}

impl LiveProcess {
    /// Resident memory; `None` if the process has ended.
    pub(crate) fn resident_bytes(&self, now: Instant) -> Option<u64> {
        let (seen, bytes) = self.resident?;
        (now.saturating_duration_since(seen) < UNSEEN_MAX).then_some(bytes)
    }
}

/// A network interface.
#[derive(Default)]
pub(crate) struct Interface {
    pub(crate) bits_per_s: u64,
    /// Bytes in and out, as the kernel counts them.
    pub(crate) moved_bytes: Option<(u64, u64)>,
}

impl LiveRunState {
    /// Without a run.
    pub fn new(stopping: StopRequests) -> Self {
        Self {
            state: Mutex::new(LiveState::default()),
            stopping,
        }
    }

    fn state(&self) -> MutexGuard<'_, LiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the state, under its lock: only for moments. The second argument is the state's version.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&LiveState, u64) -> T) -> T {
        let state = self.state();
        let version = state.changes * 2 + u64::from(self.stopping.is_wanted());
        read(&state, version)
    }

    /// The progress of the run, for people.
    pub(crate) fn now(&self, state: &LiveState) -> LiveNow {
        let mut now = state.now.clone();
        if now.phase != LivePhase::Over && self.stopping.is_wanted() {
            now.phase = LivePhase::Stopping;
        }
        if now.phase == LivePhase::Load {
            now.flows.clone_from(&state.progress.flows);
            now.stage = state.progress.stage;
            now.suspicion = state.progress.snapshot.suspicion.map(str::to_owned);
        }
        now
    }

    /// A target's turn begins.
    pub fn target_begins(&self, title: &str, target: &str, of: Option<(usize, usize)>) {
        let mut state = self.state();
        state.settle();
        let troubles = std::mem::take(&mut state.now.troubles);
        let reports = std::mem::take(&mut state.now.reports);
        state.now = LiveNow {
            title: title.to_owned(),
            target: target.to_owned(),
            target_of: of,
            doing: "the target is starting".to_owned(),
            troubles,
            reports,
            ..LiveNow::default()
        };
        state.live = None;
        state.progress = RepeatProgress::default();
        state.changes += 1;
    }

    /// Its run begins, in a folder that has a plan.
    pub(crate) fn run_begins(&self, dir: &Path, steps: usize) {
        let Ok(frame) = RunRead::frame(dir) else {
            return;
        };
        let mut state = self.state();
        state.now.run.clone_from(&frame.head.run_id);
        let target = state.now.target.clone();
        state.runs.push(LiveRun {
            frame: Arc::new(frame),
            target,
            is_over: false,
            steps,
            repeats_ended: 0,
            at: None,
        });
        state.changes += 1;
    }

    /// The next step of it begins.
    pub(crate) fn step_begins(&self, place: RunStep<'_>) {
        let trial = place.trial;
        let mut state = self.state();
        state.settle();
        let Some(run) = state.runs.last_mut() else {
            return;
        };
        let at = LiveTrial {
            index: trial.index,
            scenario: trial.scenario.clone(),
            name: trial.name.clone(),
            of: run.frame.plan.as_ref().map_or(1, |plan| plan.trials.len()),
            repeat: place.step.repeat + 1,
            repeats: trial.repeats,
            step: (place.index + 1, place.count.unwrap_or(place.index + 1)),
        };
        run.at = Some(at.clone());
        state.now.trial = Some(at);
        state.now.phase = LivePhase::Between;
        state.trial = Some(trial.clone());
        state.live = None;
        state.progress = RepeatProgress::default();
        state.changes += 1;
    }

    /// The run's activity, and its estimated remaining time.
    pub(crate) fn doing(&self, words: &str, left: Duration) {
        let mut state = self.state();
        state.now.left_s = Some(left.as_secs());
        if !words.is_empty() && state.now.phase == LivePhase::Between && state.now.doing != words {
            words.clone_into(&mut state.now.doing);
            state.changes += 1;
        }
    }

    /// A repeat begins.
    pub(crate) fn repeat_begins(&self, key: RepeatKey) {
        let mut state = self.state();
        let frame = state.runs.last().map(|run| Arc::clone(&run.frame));
        state.judged = frame.map(|frame| of_trial(&frame, key.trial));
        state.live = Some(LiveRepeat::new(key));
        state.progress = RepeatProgress::default();
        state.changes += 1;
    }

    /// A slice of it is being written to disk.
    pub(crate) fn take(&self, key: RepeatKey, slice: &Slice) {
        let mut state = self.state();
        if let Some(live) = state.live.as_mut().filter(|live| live.key == key) {
            live.add(slice);
        }
    }

    /// An event happened, and is being written to disk.
    pub(crate) fn happened(&self, event: &Event) {
        if let Some(live) = &mut self.state().live {
            live.happened(event);
        }
    }

    /// A sample of the machine, a process, a client or a broker is being written to disk.
    pub(crate) fn see(&self, evidence: &Evidence) {
        let mut state = self.state();
        state.note_process(evidence);
        state.note_interface(evidence);
        if let Some(live) = &mut state.live {
            live.see(evidence);
        }
    }

    /// The load has made progress.
    pub(crate) fn snapshot(&self, progress: &LoadProgress) -> ProgressSnapshot {
        let mut state = self.state();
        let state = &mut *state;
        if let (Some(trial), Some(live)) = (&state.trial, &mut state.live) {
            live.spun(progress.elapsed_ns, &progress.spun_ns);
            let frame = state.judged.as_ref();
            state.progress.update(progress, trial, live, frame);
        }
        let second = progress.elapsed_ns / 1_000_000_000;
        if state.now.phase != LivePhase::Load || state.second != second {
            state.now.phase = LivePhase::Load;
            state.now.doing = "load running".to_owned();
            state.second = second;
            state.changes += 1;
        }
        state.progress.snapshot
    }

    /// The load of a repeat is over, and all of its slices are in.
    pub(crate) fn repeat_ends(&self) {
        let mut state = self.state();
        state.now.phase = LivePhase::Between;
        state.now.doing = "the repeat has ended".to_owned();
        state.changes += 1;
        if let Some(run) = state.runs.last_mut() {
            run.repeats_ended += 1;
        }
        // It is shown to its end until the next one begins, and no longer counted.
        state.settle();
        state.progress.whole = Some(u32::MAX);
        state.forget_memory();
    }

    /// The run is over.
    pub(crate) fn run_ends(&self) {
        let mut state = self.state();
        state.settle();
        if let Some(run) = state.runs.last_mut() {
            run.is_over = true;
        }
        state.forget_memory();
        state.now.phase = LivePhase::Between;
        state.now.doing = "writing the report".to_owned();
        state.now.left_s = None;
        state.changes += 1;
    }

    /// There is a report.
    pub fn report(&self, name: &str, file: PathBuf, page: &str) {
        let mut state = self.state();
        let path = format!("reports/{}", state.reports.len() + 1);
        let file = file.display().to_string();
        let words = format!(
            "kgauge serves this report until it exits, shortly after the run. The same page is in \
             {file}"
        );
        let served = kgauge_report::render_served_report(page, &words);
        state.reports.push(served.into());
        state.now.reports.push(LiveReport {
            name: name.to_owned(),
            path,
            file,
        });
        state.changes += 1;
    }

    /// Something went wrong that viewers should know.
    pub fn trouble(&self, words: &str) {
        let mut state = self.state();
        let first = words.lines().next().unwrap_or_default().to_owned();
        let troubles = &mut state.now.troubles;
        troubles.push(first);
        let more = troubles.len().saturating_sub(TROUBLES_MAX);
        troubles.drain(..more);
        state.changes += 1;
    }

    /// Everything has ended.
    pub(crate) fn over(&self) {
        let mut state = self.state();
        state.now.phase = LivePhase::Over;
        state.changes += 1;
    }

    /// Figures have changed.
    pub(crate) fn touch(&self) {
        self.state().changes += 1;
    }

    /// A viewer has requested the page.
    pub(crate) fn count_request(&self) {
        self.state().asked = Some(Instant::now());
    }

    /// A report is on its way to a browser.
    pub(crate) fn sending(&self) {
        self.state().sending += 1;
    }

    /// It has gone out, or the browser has gone away.
    pub(crate) fn sent(&self) {
        let mut state = self.state();
        state.sending = state.sending.saturating_sub(1);
        state.owed = state.owed.saturating_sub(1);
    }

    /// Whether a report is on its way.
    pub(crate) fn is_sending(&self) -> bool {
        self.state().sending > 0
    }

    /// A viewer's page got the end of the run. If there is a report, the page loads it next.
    pub(crate) fn mark_over(&self) {
        let mut state = self.state();
        state.is_end_known = true;
        state.owed += usize::from(!state.now.reports.is_empty());
    }

    /// Whether the server waits for viewers, `since` after the end: for those who know of the end but do not have the
    /// report, and for those who do not know of it yet. A page that asked within `lately` is still open.
    pub(crate) fn is_awaited(&self, lately: Duration, since: Duration) -> bool {
        let state = self.state();
        let is_open = state.asked.is_some_and(|at| at.elapsed() < lately);
        state.owed > 0 || is_open && (since < LAST_POLL_MAX || !state.is_end_known)
    }

    /// A report's page, from 1.
    pub(crate) fn report_page(&self, number: usize) -> Option<Arc<str>> {
        let state = self.state();
        state.reports.get(number.checked_sub(1)?).map(Arc::clone)
    }
}

/// A report on its way to a browser. Dropped when it has gone out, or when the browser has gone away.
pub(crate) struct ReportDelivery(Arc<LiveRunState>);

impl ReportDelivery {
    pub(crate) fn begin(run_state: &Arc<LiveRunState>) -> Self {
        run_state.sending();
        Self(Arc::clone(run_state))
    }
}

impl std::fmt::Debug for ReportDelivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReportDelivery")
    }
}

impl Drop for ReportDelivery {
    fn drop(&mut self) {
        self.0.sent();
    }
}

impl LiveState {
    /// Adds the current repeat to what has ended, also after an error.
    fn settle(&mut self) {
        for (key, ended) in self.going_on() {
            match self.totals.get_mut(&key) {
                Some(known) => known.totals.add_all(&ended.totals),
                None => drop(self.totals.insert(key, ended)),
            }
        }
        self.trial = None;
    }

    /// The flows that are counted now.
    fn going_on(&self) -> Vec<(FlowKey, EndedFlow)> {
        let (Some(live), Some(trial), Some(run)) =
            (&self.live, &self.trial, self.runs.len().checked_sub(1))
        else {
            return Vec::new();
        };
        let mut flows = live.totals();
        let plans = trial.flows.iter().enumerate();
        let of = |(index, plan): (usize, &kgauge_scenario::FlowPlan)| {
            let key = FlowKey {
                run,
                trial: live.key.trial,
                flow: index as u16,
            };
            let ended = EndedFlow {
                scenario: trial.scenario.clone(),
                flow: plan.name().to_owned(),
                totals: flows.remove(&key.flow).unwrap_or_default(),
            };
            (key, ended)
        };
        plans.map(of).collect()
    }

    /// All flows with what they did so far, and whether they are running.
    pub(crate) fn flows(&self) -> Vec<(FlowKey, EndedFlow, bool)> {
        let ended = self.totals.iter();
        let mut flows: BTreeMap<FlowKey, (EndedFlow, bool)> = ended
            .map(|(key, ended)| (*key, (ended.clone(), false)))
            .collect();
        for (key, now) in self.going_on() {
            match flows.get_mut(&key) {
                Some((known, goes_on)) => {
                    known.totals.add_all(&now.totals);
                    *goes_on = true;
                }
                None => drop(flows.insert(key, (now, true))),
            }
        }
        let flows = flows.into_iter();
        flows
            .map(|(key, (flow, goes_on))| (key, flow, goes_on))
            .collect()
    }

    /// Processes are not sampled between repeats, and may end.
    fn forget_memory(&mut self) {
        let processes = self.processes.values_mut();
        processes.for_each(|process| process.resident = None);
    }

    pub(crate) fn processes(&self) -> impl Iterator<Item = (usize, &str, &LiveProcess)> {
        let processes = self.processes.iter();
        processes.map(|((run, name), process)| (*run, name.as_str(), process))
    }

    pub(crate) fn interfaces(&self) -> impl Iterator<Item = (usize, &str, &Interface)> {
        let interfaces = self.interfaces.iter();
        interfaces.map(|((run, name), interface)| (*run, name.as_str(), interface))
    }

    /// The speeds of interfaces, and the bytes that went through those with a known speed.
    fn note_interface(&mut self, evidence: &Evidence) {
        let Some(run) = self.runs.len().checked_sub(1) else {
            return;
        };
        match &evidence.kind {
            EvidenceKind::NetworkSpeed(speed) => {
                let key = (run, speed.interface.clone());
                self.interfaces.entry(key).or_default().bits_per_s = speed.bits_per_s;
            }
            EvidenceKind::Network(sample) => {
                let key = (run, sample.interface.clone());
                let Some(interface) = self.interfaces.get_mut(&key) else {
                    return;
                };
                let bytes = |way| sample.values.get(&way).copied();
                interface.moved_bytes =
                    bytes(MetricId::ReceivedBytes).zip(bytes(MetricId::SentBytes));
            }
            _ => {}
        }
    }

    /// Counters of processes that come and go under one name only ever grow.
    fn note_process(&mut self, evidence: &Evidence) {
        let name = match &evidence.subject {
            Subject::Generator => "generator".to_owned(),
            Subject::Target { broker: None } => "target".to_owned(),
            Subject::Target { broker: Some(id) } => format!("broker {id}"),
            Subject::Process { name } => name.clone(),
            Subject::GeneratorThread { .. }
            | Subject::Host
            | Subject::Cluster { .. }
            | Subject::Flow { .. } => return,
        };
        let Some(run) = self.runs.len().checked_sub(1) else {
            return;
        };
        match evidence.kind {
            EvidenceKind::Cpu { user_ns, system_ns } => {
                let process = self.processes.entry((run, name)).or_default();
                let now_ns = user_ns + system_ns;
                process.cpu_ns += match process.last_ns.replace(now_ns) {
                    Some(last_ns) => now_ns.checked_sub(last_ns).unwrap_or(now_ns),
                    None => 0,
                };
            }
            EvidenceKind::Memory { resident_bytes } => {
                let process = self.processes.entry((run, name)).or_default();
                process.resident = Some((Instant::now(), resident_bytes));
            }
            _ => {}
        }
    }
}
