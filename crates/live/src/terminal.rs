//! A run on a terminal: one line that says what it does, how far it is and how long it takes; above it, also where
//! there is no terminal, remarks and a line for each repeat that ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kgauge_report::text;
use kgauge_results::run::RepeatOutcome;
use kgauge_runner::{Activity, Announcement, Observer, RepeatView, RunEvent, RunTaps};

use crate::load_line::{HoldRates, RecordRate, load_words};
use crate::observer::LiveObserver;
use crate::snapshot::ProgressSnapshot;
use crate::state::LiveRunState;
use crate::step_label::{StepLabel, time_left};

/// What shows messages, and below them one line that is drawn again and again.
pub trait RunTerminal {
    /// The line at the bottom. Dropping it removes it.
    type Line: TerminalLine;

    /// Whether anybody sees the line.
    fn is_seen(&self) -> bool;

    /// The width of the line.
    fn columns(&self) -> usize;

    /// Shows a message above the line; it may have several lines.
    fn remark(&self, message: &str);

    /// Starts an empty line.
    fn start_line(&self) -> Self::Line;

    /// Starts a line that shows what is waited for and for how long so far. Without a terminal it is a message.
    fn start_waiting(&self, doing: &str) -> Self::Line;
}

/// The line at the bottom of a terminal.
pub trait TerminalLine {
    /// Sets its text, which the next tick draws.
    fn set_text(&self, text: String);

    /// Whether it is drawn regularly although nothing is reported.
    fn set_ticking(&self, is_ticking: bool);

    /// Draws it.
    fn tick(&self);
}

/// Shows runs on a terminal, one after another, and passes everything on to the live page.
pub struct TerminalObserver<T: RunTerminal> {
    terminal: T,
    live: Option<LiveObserver>,
    /// Shows remarks only.
    is_quiet: bool,
    /// What is waited for before a run is announced.
    waiting: Option<T::Line>,
    line: Option<ProgressLine<T::Line>>,
}

/// The line of one run.
struct ProgressLine<L: TerminalLine> {
    shown: L,
    started: Instant,
    /// What the whole run should take.
    planned: Duration,
    step: StepLabel,
    rate: RecordRate,
    hold: HoldRates,
    /// The line is drawn although nothing is reported.
    is_ticking: bool,
    /// Repeats are reported in pairs.
    is_paired: bool,
}

impl<T: RunTerminal> TerminalObserver<T> {
    /// Shows the figures of a live page, if there is one; `is_quiet` leaves remarks only.
    pub fn new(terminal: T, live: Option<Arc<LiveRunState>>, is_quiet: bool) -> Self {
        Self {
            terminal,
            live: live.map(LiveObserver::new),
            is_quiet,
            waiting: None,
            line: None,
        }
    }

    fn announce(&mut self, run: &Announcement<'_>) {
        // Each takes its line with it.
        (self.waiting, self.line) = (None, None);
        let mut line = ProgressLine::start(self.terminal.start_line(), run.planned.usual);
        line.is_paired = run.plan.ab.is_some() || run.plan.tune.is_some();
        self.line = Some(line);
        self.terminal.remark(&run.to_string());
        for fault in run.faults() {
            self.terminal.remark(&format!("fault {fault}"));
        }
    }

    /// What is done between loads.
    fn wait(&mut self, doing: &str) {
        match &mut self.line {
            Some(line) => line.wait(&self.terminal, doing),
            None => {
                // The one before it has to go first.
                self.waiting = None;
                self.waiting = Some(self.terminal.start_waiting(doing));
            }
        }
    }

    /// Shows what a run reports, unless nobody wants to see more than remarks.
    fn show(&mut self, event: &RunEvent<'_>) {
        let terminal = &self.terminal;
        match event {
            RunEvent::Announced(run) => self.announce(run),
            RunEvent::Activity(activity) => {
                if self.line.is_some() && !terminal.is_seen() && takes_long(activity) {
                    terminal.remark(&activity.to_string());
                }
                self.wait(&activity.to_string());
            }
            RunEvent::StepBegins(step) => {
                if let Some(line) = &mut self.line {
                    line.step = StepLabel::of(step);
                    line.rate = RecordRate::default();
                    line.hold = HoldRates::default();
                    line.wait(terminal, "");
                }
            }
            RunEvent::Progress(view) => {
                let seen = self.live.as_ref().map(|live| live.seen);
                if let Some(line) = &mut self.line {
                    line.show_load(terminal, view, seen.unwrap_or_default());
                }
            }
            RunEvent::PairMeasured(test) => terminal.remark(&text::ab::measured(test)),
            RunEvent::TunePhaseBegins(record) => terminal.remark(&text::tune::phase_begins(record)),
            RunEvent::TuneMeasured(record) => terminal.remark(&text::tune::measured(record)),
            RunEvent::LoadJudged(judgement) => {
                let judged = text::capacity::judged(judgement.load, judgement.strict);
                let count = self.line.as_ref().map_or("", |line| &line.step.count);
                terminal.remark(format!("{count} {judged}").trim_start());
            }
            RunEvent::RepeatEnds { outcome, .. } => {
                let line = self.line.as_ref().filter(|line| !line.is_paired);
                if let Some(result) = line.and_then(ProgressLine::result) {
                    terminal.remark(&format!("{result}{}", outcome_mark(outcome)));
                }
            }
            RunEvent::Closing { .. } => {
                if let Some(line) = &mut self.line {
                    line.step = StepLabel::default();
                    line.wait(terminal, "cleaning up");
                }
            }
            RunEvent::Closed => self.line = None,
            RunEvent::Remark(_)
            | RunEvent::Outage(_)
            | RunEvent::TrialFailed { .. }
            | RunEvent::RepeatBegins(_) => {}
        }
    }
}

/// What a figure of a repeat is followed by that did not come to its end.
fn outcome_mark(outcome: &RepeatOutcome) -> &'static str {
    match outcome {
        RepeatOutcome::Complete => "",
        RepeatOutcome::Interrupted => " (interrupted)",
        RepeatOutcome::Failed { .. } => " (failed)",
    }
}

/// Whether it begins something that may take more than a few seconds.
fn takes_long(activity: &Activity) -> bool {
    matches!(
        activity,
        Activity::ChangingCluster
            | Activity::WarmingBegins
            | Activity::AwaitingReplicator
            | Activity::Recovering { .. }
    )
}

impl<T: RunTerminal> Observer for TerminalObserver<T> {
    fn observe(&mut self, event: &RunEvent<'_>) {
        if let Some(live) = &mut self.live {
            live.observe(event);
        }
        match event {
            RunEvent::Remark(message) | RunEvent::Outage(message) => self.terminal.remark(message),
            RunEvent::TrialFailed { name, why } => {
                self.terminal.remark(&format!("trial {name} failed: {why}"));
            }
            event if !self.is_quiet => self.show(event),
            _ => {}
        }
    }

    fn taps(&mut self) -> RunTaps {
        let live = self.live.as_mut();
        live.map_or_else(RunTaps::default, LiveObserver::taps)
    }
}

impl<L: TerminalLine> ProgressLine<L> {
    /// A line for a run that should take that long.
    fn start(shown: L, planned: Duration) -> Self {
        Self {
            shown,
            started: Instant::now(),
            planned,
            step: StepLabel::default(),
            rate: RecordRate::default(),
            hold: HoldRates::default(),
            is_ticking: false,
            is_paired: false,
        }
    }

    /// Shows what is done between loads, of which nothing is reported for a while.
    fn wait(&mut self, terminal: &impl RunTerminal, doing: &str) {
        self.draw(terminal, doing);
        if !self.is_ticking && terminal.is_seen() {
            self.shown.set_ticking(true);
            self.is_ticking = true;
        }
    }

    /// Shows where the load is. Its reports come often enough to draw the line.
    fn show_load(
        &mut self,
        terminal: &impl RunTerminal,
        view: &RepeatView<'_>,
        seen: ProgressSnapshot,
    ) {
        if self.is_ticking {
            self.shown.set_ticking(false);
            self.is_ticking = false;
        }
        self.hold.note(view, seen);
        let rate = self.rate.note(view.load);
        self.draw(terminal, &load_words(view, rate, seen));
        self.shown.tick();
    }

    fn draw(&self, terminal: &impl RunTerminal, doing: &str) {
        let left = time_left(self.planned, self.started.elapsed());
        let line = self.step.line(doing, &left, terminal.columns());
        self.shown.set_text(line);
    }

    /// The result of the repeat that ended, if it was measured.
    fn result(&self) -> Option<String> {
        let step = &self.step;
        let name = [step.count.as_str(), &step.scenario, &step.value];
        let name: Vec<&str> = name.into_iter().filter(|part| !part.is_empty()).collect();
        let (name, rates) = (name.join(" "), self.hold.words()?);
        // The load of a search is shown with its verdict.
        (!step.repeat.is_empty()).then(|| format!("{name}, {}: {rates}", step.repeat))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// Notes what is shown.
    #[derive(Clone, Default)]
    struct NotedLines(Rc<RefCell<Vec<String>>>);

    impl NotedLines {
        fn note(&self, line: String) {
            self.0.borrow_mut().push(line);
        }
    }

    impl RunTerminal for NotedLines {
        type Line = NotedLines;

        fn is_seen(&self) -> bool {
            false
        }

        fn columns(&self) -> usize {
            80
        }

        fn remark(&self, message: &str) {
            self.note(message.to_owned());
        }

        fn start_line(&self) -> NotedLines {
            self.clone()
        }

        fn start_waiting(&self, doing: &str) -> NotedLines {
            self.note(format!("waiting: {doing}"));
            self.clone()
        }
    }

    impl TerminalLine for NotedLines {
        fn set_text(&self, text: String) {
            self.note(format!("line: {text}"));
        }

        fn set_ticking(&self, _: bool) {}

        fn tick(&self) {}
    }

    #[test]
    fn a_quiet_terminal_shows_remarks_only() {
        let shown = |is_quiet| {
            let noted = NotedLines::default();
            let mut observer = TerminalObserver::new(noted.clone(), None, is_quiet);
            observer.observe(&RunEvent::Activity(&Activity::MeasuringDisk));
            observer.observe(&RunEvent::Remark("the disk is slow"));
            let why = "no leader";
            observer.observe(&RunEvent::TrialFailed { name: "a", why });
            noted.0.take()
        };
        let remarks = ["the disk is slow", "trial a failed: no leader"];
        assert_eq!(shown(true), remarks);
        let all = ["waiting: measuring the disk alone with fio"];
        assert_eq!(shown(false), [&all[..], &remarks].concat());
    }
}
