//! Renders the state of the run as the texts that are served. Nothing is rendered unless a client asks for it, and each
//! text at most once per update.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kgauge_analyze::Summary;
use kgauge_analyze::live::LiveSnapshot;
use kgauge_report::{
    FlowMetrics, InterfaceMetrics, LiveMetrics, LiveNow, LivePage, LivePhase, ProcessMetrics,
    RunMetrics, SafeMarkup,
};
use kgauge_results::RunRead;

use crate::ended::EndedRepeats;
use crate::frame::of_trial;
use crate::state::{LiveRunState, LiveState};

/// The page is rendered again after this time at the earliest, unless the run enters another phase: about once a
/// second, however many viewers ask and however often something changes.
const DRAWN_FOR: Duration = Duration::from_millis(900);

/// Renders a run's state as texts.
pub(crate) struct Renderer {
    run_state: Arc<LiveRunState>,
    ended: Arc<EndedRepeats>,
    drawn: Mutex<Option<Drawn>>,
}

/// The last rendered texts.
struct Drawn {
    at: Instant,
    version: u64,
    phase: LivePhase,
    title: String,
    part: SafeMarkup,
}

/// The copied part of the run's state.
struct RunSnapshot {
    version: u64,
    now: LiveNow,
    frame: Option<Arc<RunRead>>,
    /// The current repeat, and its last whole second.
    repeat: Option<(LiveSnapshot, u32)>,
}

impl Renderer {
    pub(crate) fn new(run_state: Arc<LiveRunState>) -> Self {
        Self {
            ended: Arc::new(EndedRepeats::new(Arc::clone(&run_state))),
            run_state,
            drawn: Mutex::new(None),
        }
    }

    /// The version of the part of the page that changes, and the part.
    pub(crate) fn part(&self, now: Instant) -> (u64, Arc<str>) {
        self.with_drawn(now, |drawn| (drawn.version, drawn.part.text()))
    }

    /// The whole page.
    pub(crate) fn page(&self, now: Instant) -> String {
        let (title, part) = self.with_drawn(now, |drawn| (drawn.title.clone(), drawn.part.clone()));
        kgauge_report::render_live_page_around(&title, &part)
    }

    fn with_drawn<T>(&self, now: Instant, take: impl FnOnce(&Drawn) -> T) -> T {
        // Concurrent requests wait here, and get the same page.
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let (version, phase) = self.run_state.read(|state, version| {
            let phase = self.run_state.now(state).phase;
            (version, phase)
        });
        let is_fresh = drawn.as_ref().is_some_and(|drawn| {
            let is_young = now.saturating_duration_since(drawn.at) < DRAWN_FOR;
            drawn.version == version || is_young && drawn.phase == phase
        });
        match &mut *drawn {
            Some(drawn) if is_fresh => take(drawn),
            stale => take(stale.insert(self.draw(now))),
        }
    }

    fn draw(&self, at: Instant) -> Drawn {
        let RunSnapshot {
            version,
            now,
            frame,
            repeat,
        } = self.moment();
        let trial = now.trial.as_ref().map(|trial| trial.index);
        let shown = frame.as_deref().zip(trial).zip(repeat);
        let shown = shown.map(|((frame, trial), (repeat, second))| {
            let mut run = of_trial(frame, trial);
            run.evidence = repeat.evidence();
            run.events = repeat.events().to_vec();
            run.repeats = vec![repeat.read(second)];
            let summary = Summary::of(&run);
            (run, summary)
        });
        let ended = frame.as_ref().and_then(|frame| self.ended.summary(frame));
        let part = kgauge_report::render_live_part(&LivePage {
            now: &now,
            repeat: shown.as_ref().map(|(run, summary)| (run, summary)),
            ended: ended.as_deref().map(|(run, summary)| (run, summary)),
            version,
        });
        Drawn {
            at,
            version,
            phase: now.phase,
            title: now.title,
            part,
        }
    }

    /// Under the lock, the state is only copied; everything is worked out afterwards, so that the run never waits for a
    /// reader.
    fn moment(&self) -> RunSnapshot {
        self.run_state.read(|state, version| {
            let now = self.run_state.now(state);
            let shown = state.live.as_ref().filter(|_| now.phase != LivePhase::Over);
            let shown = shown.zip(state.progress.whole);
            RunSnapshot {
                version,
                repeat: shown.map(|(live, second)| (live.snapshot(), second)),
                // With several targets, one may have ended and the next one not started.
                frame: state
                    .runs
                    .last()
                    .filter(|run| run.frame.head.run_id == now.run)
                    .map(|run| Arc::clone(&run.frame)),
                now,
            }
        })
    }

    /// The progress of the run, for programs.
    pub(crate) fn now(&self) -> LiveNow {
        self.run_state.read(|state, _| self.run_state.now(state))
    }

    /// The numbers for Prometheus.
    pub(crate) fn metrics(&self, now: Instant) -> LiveMetrics {
        self.run_state.read(|state, _| metrics(state, now))
    }
}

fn metrics(state: &LiveState, now: Instant) -> LiveMetrics {
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
                .progress
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
        .map(|(key, flow, goes_on)| FlowMetrics {
            run: run_id(key.run),
            scenario: flow.scenario,
            trial: (key.trial + 1).to_string(),
            flow: flow.flow,
            totals: flow.totals,
            in_flight: if goes_on && is_load {
                state.progress.in_flight(usize::from(key.flow))
            } else {
                None
            },
        });
    let processes = state
        .processes()
        .map(|(run, process, seen)| ProcessMetrics {
            run: run_id(run),
            process: process.to_owned(),
            cpu_ns: seen.cpu_ns,
            resident_bytes: seen.resident_bytes(now),
        });
    let interfaces = state
        .interfaces()
        .map(|(run, interface, seen)| InterfaceMetrics {
            run: run_id(run),
            interface: interface.to_owned(),
            bytes_per_s: seen.bits_per_s as f64 / 8.0,
            moved_bytes: seen.moved_bytes,
        });
    LiveMetrics {
        runs: runs.collect(),
        flows: flows.collect(),
        processes: processes.collect(),
        interfaces: interfaces.collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_results::run::{Evidence, EvidenceKind, Subject};

    use super::*;
    use kgauge_runner::{Observer, StopRequests};

    use crate::observer::LiveObserver;

    #[test]
    fn a_page_is_drawn_about_once_a_second_and_at_once_in_another_phase() {
        let run_state = Arc::new(LiveRunState::new(StopRequests::idle()));
        let renderer = Renderer::new(Arc::clone(&run_state));
        run_state.target_begins("calm", "embedded", None);
        let begin = Instant::now();
        let after = |ms: u64| begin + Duration::from_millis(ms);
        let (first, part) = renderer.part(begin);
        assert!(renderer.page(after(1)).contains(&*part));
        run_state.trouble("a disk is full");
        assert_eq!(renderer.part(after(500)).0, first);
        assert!(!renderer.page(after(500)).contains("a disk is full"));
        let (next, part) = renderer.part(after(1_000));
        assert!(next != first && part.contains("a disk is full"));
        run_state.over();
        assert!(
            renderer
                .part(after(1_001))
                .1
                .contains("data-phase=\"over\"")
        );
    }

    #[test]
    fn memory_is_of_processes_that_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let head = kgauge_results::run::RunHead::starting("r".to_owned(), Vec::new(), 0);
        let mut folder = kgauge_results::RunFolder::create(&dir.path().join("run"), head).unwrap();
        let run_state = Arc::new(LiveRunState::new(StopRequests::idle()));
        run_state.target_begins("calm", "embedded", None);
        run_state.run_begins(folder.dir(), 1);
        let taps = LiveObserver::new(Arc::clone(&run_state)).taps();
        let (evidence, events) = taps.lines.unwrap();
        folder.tap(evidence, events);
        let sample = |kind| Evidence {
            at_unix_ms: 0,
            repeat: None,
            at_ns: Some(0),
            subject: Subject::Target { broker: Some(1) },
            kind,
        };
        let memory = EvidenceKind::Memory {
            resident_bytes: 4_096,
        };
        folder.evidence().write(&sample(memory.clone())).unwrap();
        let held = |after_s: u64| {
            let now = Instant::now() + Duration::from_secs(after_s);
            let processes = Renderer::new(Arc::clone(&run_state)).metrics(now).processes;
            processes.first().and_then(|one| one.resident_bytes)
        };
        assert_eq!(held(0), Some(4_096));
        // Without a sample for a minute, the process has ended.
        assert_eq!(held(60), None);
        run_state.repeat_ends();
        assert_eq!(held(0), None);
    }
}
