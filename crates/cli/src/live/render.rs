//! From the board to the texts that are served. Nothing is made unless somebody asks, and each text once a moment.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kgauge_report::{
    FlowMetrics, InterfaceMetrics, LiveNow, LivePage, LivePhase, Metrics, ProcessMetrics,
    RunMetrics,
};
use kgauge_results::live::LiveRepeat;
use kgauge_results::run::{Evidence, RepeatKey, RunStatus};
use kgauge_results::summary::TrialSummary;
use kgauge_results::{RunRead, Summary};

use super::board::{Board, State};

/// Reading repeats that ended may take so long for one answer; the next one goes on.
const READING_MAX: Duration = Duration::from_millis(150);

/// Makes texts of a board.
pub(super) struct Renderer {
    board: Arc<Board>,
    made: Mutex<Made>,
}

/// What was made last.
#[derive(Default)]
struct Made {
    part: Option<(u64, Arc<str>)>,
    /// The folder whose repeats these are.
    dir: PathBuf,
    ended: BTreeMap<u32, (usize, TrialSummary)>,
    summary: Option<Arc<(RunRead, Summary)>>,
    /// Something is left to be read.
    is_behind: bool,
}

/// What is taken from the board.
struct Snapshot {
    version: u64,
    now: LiveNow,
    frame: Option<Arc<RunRead>>,
    repeat: Option<(kgauge_results::folder::RepeatRead, Vec<Evidence>)>,
}

impl Renderer {
    pub(super) fn new(board: Arc<Board>) -> Self {
        Self {
            board,
            made: Mutex::new(Made::default()),
        }
    }

    /// The part of the page that changes, and what names it.
    pub(super) fn part(&self) -> (u64, Arc<str>) {
        // Whoever asks meanwhile waits here, and gets what was made.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.board.read(|_, version| version);
        match &made.part {
            Some((known, part)) if *known == version && !made.is_behind => {
                (*known, Arc::clone(part))
            }
            _ => {
                let (version, text) = self.make(&mut made, kgauge_report::render_live_part);
                let text: Arc<str> = text.into();
                made.part = Some((version, Arc::clone(&text)));
                (version, text)
            }
        }
    }

    /// The whole page.
    pub(super) fn page(&self) -> String {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        self.make(&mut made, kgauge_report::render_live_page).1
    }

    fn make(&self, made: &mut Made, render: fn(&LivePage<'_>) -> String) -> (u64, String) {
        let Snapshot {
            version,
            now,
            frame,
            repeat,
        } = self.snapshot();
        let frame = frame.as_deref();
        let trial = now.trial.as_ref().map(|trial| trial.index);
        let shown = frame
            .zip(trial)
            .zip(repeat)
            .map(|((frame, trial), (read, evidence))| {
                let mut run = of_trial(frame, trial);
                run.repeats = vec![read];
                run.evidence = evidence;
                let summary = Summary::of(&run);
                (run, summary)
            });
        let ended = frame.and_then(|frame| made.read(frame));
        let page = LivePage {
            now: &now,
            repeat: shown.as_ref().map(|(run, summary)| (run, summary)),
            ended: ended.as_deref().map(|(run, summary)| (run, summary)),
            version,
        };
        (version, render(&page))
    }

    fn snapshot(&self) -> Snapshot {
        self.board.read(|state, version| {
            let now = self.board.now(state);
            let shown = state.live.as_ref().filter(|_| now.phase != LivePhase::Over);
            let second = LiveRepeat::whole_second(state.look.elapsed_ns);
            Snapshot {
                version,
                repeat: shown
                    .zip(second)
                    .map(|(live, second)| (live.read(second), live.evidence().to_vec())),
                // Of several targets the one before may have ended, and this one not begun.
                frame: state
                    .runs
                    .last()
                    .filter(|run| run.frame.head.run_id == now.run)
                    .map(|run| Arc::clone(&run.frame)),
                now,
            }
        })
    }

    /// Where the run is, for programs.
    pub(super) fn now(&self) -> LiveNow {
        self.board.read(|state, _| self.board.now(state))
    }

    /// The numbers for Prometheus.
    pub(super) fn metrics(&self) -> Metrics {
        self.board.read(|state, _| metrics(state))
    }
}

/// A run of which only one trial is known.
fn of_trial(frame: &RunRead, trial: u32) -> RunRead {
    let mut run = frame.clone();
    run.status = RunStatus::Running;
    if let Some(plan) = &mut run.plan {
        plan.trials.retain(|one| one.index == trial);
    }
    run
}

impl Made {
    /// The figures of what has ended, as far as they could be read in a moment.
    fn read(&mut self, frame: &RunRead) -> Option<Arc<(RunRead, Summary)>> {
        if self.dir != frame.dir {
            *self = Self {
                dir: frame.dir.clone(),
                ..Self::default()
            };
        }
        let mut trials = BTreeMap::<u32, Vec<RepeatKey>>::new();
        for key in RunRead::ended_repeats(&frame.dir) {
            trials.entry(key.trial).or_default().push(key);
        }
        let deadline = Instant::now() + READING_MAX;
        self.is_behind = false;
        for (trial, keys) in trials {
            if self
                .ended
                .get(&trial)
                .is_some_and(|(count, _)| *count == keys.len())
            {
                continue;
            }
            if Instant::now() >= deadline {
                self.is_behind = true;
                break;
            }
            let read = keys.iter().map(|key| RunRead::repeat(&frame.dir, *key));
            let Ok(repeats) = read.collect::<Result<Vec<_>, _>>() else {
                continue;
            };
            let mut run = of_trial(frame, trial);
            run.repeats = repeats;
            if let Some(summary) = Summary::of(&run).trials.into_iter().next() {
                self.ended.insert(trial, (keys.len(), summary));
                self.summary = None;
            }
        }
        if self.summary.is_none() && !self.ended.is_empty() {
            let mut summary = Summary::of(frame);
            for trial in &mut summary.trials {
                if let Some((_, known)) = self.ended.get(&trial.index) {
                    *trial = known.clone();
                }
            }
            self.summary = Some(Arc::new((frame.clone(), summary)));
        }
        self.summary.clone()
    }
}

fn metrics(state: &State) -> Metrics {
    let run_id = |index: usize| {
        let run = state.runs.get(index);
        run.map_or_else(String::new, |run| run.frame.head.run_id.clone())
    };
    let is_load = state.now.phase == LivePhase::Load;
    let last = state.runs.len().saturating_sub(1);
    let runs = state
        .runs
        .iter()
        .enumerate()
        .map(|(index, run)| RunMetrics {
            run: run_id(index),
            target: run.target.clone(),
            is_going_on: !run.is_over,
            at: run
                .at
                .as_ref()
                .filter(|_| !run.is_over)
                .map(|at| (at.scenario.clone(), (at.index + 1).to_string(), at.repeat)),
            stage: state
                .look
                .stage
                .filter(|_| is_load && index == last)
                .map(|stage| stage.name),
            trials: run.frame.plan.as_ref().map_or(0, |plan| plan.trials.len()),
            repeats_ended: run.repeats_ended,
            repeats_planned: run.steps,
        });
    let flows = state
        .flows()
        .into_iter()
        .map(|((run, trial, flow), ended, goes_on)| FlowMetrics {
            run: run_id(run),
            scenario: ended.scenario,
            trial: (trial + 1).to_string(),
            flow: ended.flow,
            totals: ended.totals,
            in_flight: match goes_on && is_load {
                true => state.look.in_flight(usize::from(flow)),
                false => None,
            },
        });
    let processes = state
        .processes()
        .map(|(run, process, seen)| ProcessMetrics {
            run: run_id(run),
            process: process.to_owned(),
            cpu_ns: seen.cpu_ns,
            resident_bytes: seen.resident_bytes,
        });
    let interfaces = state
        .interfaces()
        .map(|(run, interface, seen)| InterfaceMetrics {
            run: run_id(run),
            interface: interface.to_owned(),
            bytes_per_s: seen.bits_per_s as f64 / 8.0,
            moved_bytes: seen.moved_bytes,
        });
    Metrics {
        runs: runs.collect(),
        flows: flows.collect(),
        processes: processes.collect(),
        interfaces: interfaces.collect(),
    }
}
