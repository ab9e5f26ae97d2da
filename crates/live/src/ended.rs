//! The figures of trials whose repeats have ended. A separate thread reads them from the run folder when a viewer asks,
//! so that no page waits for a long repeat.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kgauge_analyze::Summary;
use kgauge_analyze::summary::TrialSummary;
use kgauge_results::RunRead;
use kgauge_results::run::RepeatKey;

use crate::frame::of_trial;
use crate::state::LiveRunState;

/// The figures read so far.
pub(crate) struct EndedRepeats {
    run_state: Arc<LiveRunState>,
    known: Mutex<EndedTotals>,
}

#[derive(Default)]
struct EndedTotals {
    /// The run folder.
    dir: PathBuf,
    /// By trial: the number of repeats, and their summary if they could be read.
    trials: BTreeMap<u32, (usize, Option<TrialSummary>)>,
    summary: Option<Arc<(RunRead, Summary)>>,
    is_reading: bool,
}

/// The repeats of a trial that are to be read.
type Unread = (u32, Vec<RepeatKey>);

impl EndedRepeats {
    pub(crate) fn new(run_state: Arc<LiveRunState>) -> Self {
        Self {
            run_state,
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, EndedTotals> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The figures of a run that have been read. Starts a thread for those that are missing.
    pub(crate) fn summary(
        self: &Arc<Self>,
        frame: &Arc<RunRead>,
    ) -> Option<Arc<(RunRead, Summary)>> {
        let mut known = self.known();
        known.take_up(&frame.dir);
        let unread = known.unread();
        if !unread.is_empty() && !known.is_reading {
            known.is_reading = true;
            let reading = ReaderThread(Arc::clone(self));
            let frame = Arc::clone(frame);
            // Without a thread, the next request tries again.
            let thread = std::thread::Builder::new().name("live-read".to_owned());
            drop(known);
            let _ = thread.spawn(move || reading.0.read(&frame, unread));
            known = self.known();
        }
        known.summary(frame)
    }

    fn read(&self, frame: &RunRead, unread: Vec<Unread>) {
        for (trial, keys) in unread {
            let read = keys.iter().map(|key| RunRead::repeat(&frame.dir, *key));
            let repeats = read.collect::<Result<Vec<_>, _>>();
            let found = repeats.ok().and_then(|repeats| {
                let mut run = of_trial(frame, trial);
                run.repeats = repeats;
                Summary::of(&run).trials.into_iter().next()
            });
            let mut known = self.known();
            if known.dir != frame.dir {
                return;
            }
            known.trials.insert(trial, (keys.len(), found));
            known.summary = None;
            drop(known);
            self.run_state.touch();
        }
    }
}

/// Marks that a thread reads. Dropped when the thread has ended, or could not be started.
struct ReaderThread(Arc<EndedRepeats>);

impl Drop for ReaderThread {
    fn drop(&mut self) {
        self.0.known().is_reading = false;
    }
}

impl EndedTotals {
    /// Clears the figures when another run starts.
    fn take_up(&mut self, dir: &Path) {
        if self.dir != dir {
            self.dir = dir.to_owned();
            self.trials.clear();
            self.summary = None;
        }
    }

    fn unread(&self) -> Vec<Unread> {
        let mut trials = BTreeMap::<u32, Vec<RepeatKey>>::new();
        for key in RunRead::ended_repeats(&self.dir) {
            trials.entry(key.trial).or_default().push(key);
        }
        let is_known = |(trial, keys): &Unread| {
            let known = self.trials.get(trial);
            known.is_some_and(|(count, _)| *count == keys.len())
        };
        let unread = trials.into_iter().filter(|trial| !is_known(trial));
        unread.collect()
    }

    fn summary(&mut self, frame: &RunRead) -> Option<Arc<(RunRead, Summary)>> {
        let is_any = self.trials.values().any(|(_, found)| found.is_some());
        if self.summary.is_none() && is_any {
            let mut summary = Summary::of(frame);
            for trial in &mut summary.trials {
                if let Some((_, Some(found))) = self.trials.get(&trial.index) {
                    *trial = found.clone();
                }
            }
            self.summary = Some(Arc::new((frame.clone(), summary)));
        }
        self.summary.clone()
    }
}
