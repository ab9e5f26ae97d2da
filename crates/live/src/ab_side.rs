//! The sides of an A/B test of two targets on one terminal.

use kgauge_report::text;
use kgauge_runner::{Observer, RunEvent};
use kgauge_scenario::AbSide;

use crate::terminal::RunTerminal;

/// Shows what a side reports. The line at the bottom of the terminal belongs to side B, which starts last.
pub struct AbSideObserver<T: RunTerminal> {
    terminal: T,
    side: AbSide,
    is_quiet: bool,
    line: Option<T::Line>,
}

impl<T: RunTerminal> AbSideObserver<T> {
    /// Shows this side; `is_quiet` leaves remarks only.
    pub fn new(terminal: T, side: AbSide, is_quiet: bool) -> Self {
        Self {
            terminal,
            side,
            is_quiet,
            line: None,
        }
    }

    fn remark(&self, message: &str) {
        self.terminal.remark(&format!("{}: {message}", self.side));
    }
}

impl<T: RunTerminal> Observer for AbSideObserver<T> {
    fn observe(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Remark(message) | RunEvent::Outage(message) => self.remark(message),
            RunEvent::TrialFailed { why, .. } => self.remark(&format!("failed: {why}")),
            RunEvent::Announced(run) if !self.is_quiet => {
                self.remark(&run.to_string());
                if self.side == AbSide::B {
                    self.line = Some(self.terminal.start_waiting("measuring pairs"));
                }
            }
            RunEvent::PairMeasured(test) if !self.is_quiet => {
                self.terminal.remark(&text::ab::measured(test));
            }
            RunEvent::Closing { .. } => self.line = None,
            RunEvent::Announced(_)
            | RunEvent::PairMeasured(_)
            | RunEvent::StepBegins(_)
            | RunEvent::Activity(_)
            | RunEvent::RepeatBegins(_)
            | RunEvent::Progress(_)
            | RunEvent::RepeatEnds { .. }
            | RunEvent::LoadJudged(_)
            | RunEvent::TunePhaseBegins(_)
            | RunEvent::TuneMeasured(_)
            | RunEvent::Closed => {}
        }
    }
}
