//! A run as the live page sees it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kgauge_runner::{Observer, RunEvent, RunTaps};

use crate::snapshot::ProgressSnapshot;
use crate::state::LiveRunState;

/// Writes what a run reports into the state that is served.
pub(crate) struct LiveObserver {
    state: Arc<LiveRunState>,
    /// When the run began, and how long it should take.
    planned: Option<(Instant, Duration)>,
    /// The load at the last progress event.
    pub(crate) seen: ProgressSnapshot,
}

impl LiveObserver {
    /// Writes into this state.
    pub(crate) fn new(state: Arc<LiveRunState>) -> Self {
        Self {
            state,
            planned: None,
            seen: ProgressSnapshot::default(),
        }
    }

    fn left(&self) -> Duration {
        let left = |(start, planned): (Instant, Duration)| planned.saturating_sub(start.elapsed());
        self.planned.map_or(Duration::ZERO, left)
    }
}

impl Observer for LiveObserver {
    fn observe(&mut self, event: &RunEvent<'_>) {
        let state = &self.state;
        match event {
            RunEvent::Remark(_)
            | RunEvent::LoadJudged(_)
            | RunEvent::PairMeasured(_)
            | RunEvent::TunePhaseBegins(_)
            | RunEvent::TuneMeasured(_) => {}
            RunEvent::Announced(run) => {
                state.run_begins(run.dir, run.steps.len());
                self.planned = Some((Instant::now(), run.planned.usual));
            }
            RunEvent::StepBegins(step) => {
                state.doing("", self.left());
                state.step_begins(*step);
            }
            // Before a run is announced, nobody knows how long it takes.
            RunEvent::Activity(_) if self.planned.is_none() => {}
            RunEvent::Activity(activity) => state.doing(&activity.to_string(), self.left()),
            RunEvent::RepeatBegins(key) => state.repeat_begins(*key),
            RunEvent::Progress(view) => {
                self.seen = state.snapshot(view.load);
                state.doing("", self.left());
            }
            RunEvent::Outage(message) => state.trouble(&capital(message)),
            RunEvent::RepeatEnds { .. } => state.repeat_ends(),
            RunEvent::TrialFailed { name, why } => {
                state.trouble(&format!("Trial {name} failed: {why}"));
            }
            RunEvent::Closing { error: Some(error) } => {
                state.trouble(&format!("The run failed: {error}"));
            }
            RunEvent::Closing { error: None } => {}
            RunEvent::Closed => state.run_ends(),
        }
    }

    fn taps(&mut self) -> RunTaps {
        let [sees, hears, takes] = [(); 3].map(|()| Arc::clone(&self.state));
        RunTaps {
            lines: Some((
                Arc::new(move |seen| sees.see(seen)),
                Arc::new(move |event| hears.happened(event)),
            )),
            slices: Some(Arc::new(move |key, slice| takes.take(key, slice))),
        }
    }
}

fn capital(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
