//! What is going on, how far it is, how long it takes: one line on a terminal, nothing elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::live::LiveRunState;
use crate::print;

/// The line at the bottom of the terminal.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    started: Instant,
    /// What the whole run is thought to take.
    planned: Duration,
    step: StepLabel,
    /// Where viewers see the same.
    board: Option<Arc<LiveRunState>>,
}

impl ProgressLine {
    /// A line for a run that should take so long.
    pub(crate) fn start(planned: Duration, board: Option<Arc<LiveRunState>>) -> Self {
        // indicatif itself keeps quiet when stderr is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style.tick_chars("-\\|/ "));
        }
        Self {
            bar,
            started: Instant::now(),
            planned,
            step: StepLabel::default(),
            board,
        }
    }

    /// Which part of the run it is now.
    pub(crate) fn step(&mut self, step: StepLabel) {
        self.step = step;
        self.report("");
    }

    /// What that part is doing.
    pub(crate) fn report(&self, doing: &str) {
        let left = self.planned.saturating_sub(self.started.elapsed());
        if let Some(board) = &self.board {
            board.doing(doing, left);
        }
        let left = match left.is_zero() {
            true => "nearly done".to_owned(),
            false => format!("~{}", seconds(left)),
        };
        self.bar
            .set_message(self.step.line(doing, &left, columns()));
        self.bar.tick();
    }

    /// Says something for good, above the line; also when there is no terminal.
    pub(crate) fn remark(&self, words: &str) {
        self.bar.suspend(|| print::message(words));
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Which part of a run it is, in words.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepLabel {
    /// `[2/60]`.
    pub(crate) count: String,
    /// Scenario and trial.
    pub(crate) name: String,
    /// `repeat 1 of 3`.
    pub(crate) repeat: String,
}

/// Shorter names than this say nothing.
const NAME_MIN: usize = 8;
/// What the spinner takes of a line.
const SPINNER: usize = 2;

impl StepLabel {
    /// One line of so many columns: what is done now stays whole. For want of room the name is cut first, then the
    /// repeat goes, then the name, then what is left.
    fn line(&self, doing: &str, left: &str, columns: usize) -> String {
        let room = columns.saturating_sub(SPINNER);
        let join = |name: &str, repeat: &str, left: &str| {
            let parts = [name, repeat, doing, left].into_iter();
            let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
            let gap = if self.count.is_empty() { "" } else { " " };
            format!("{}{gap}{}", self.count, parts.join(" · "))
        };
        let width = |line: &str| line.chars().count();
        let fitted = |repeat: &str| {
            let whole = join(&self.name, repeat, left);
            let over = width(&whole).saturating_sub(room);
            let kept = self.name.chars().count().checked_sub(over)?;
            match (over, kept) {
                (0, _) => Some(whole),
                (_, kept) if kept > NAME_MIN => {
                    let short: String = self.name.chars().take(kept - 1).collect();
                    Some(join(&format!("{short}…"), repeat, left))
                }
                _ => None,
            }
        };
        let without_name = || Some(join("", "", left)).filter(|line| width(line) <= room);
        fitted(&self.repeat)
            .or_else(|| fitted(""))
            .or_else(without_name)
            .unwrap_or_else(|| join("", "", ""))
    }
}

/// The terminal's width.
fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    let columns = size.filter(|size| size.ws_col > 0);
    usize::from(columns.map_or(80, |size| size.ws_col))
}

/// A time for people: `7 s`, `4 min 10 s`, `2 h 05 min`.
pub(crate) fn seconds(time: Duration) -> String {
    let all = time.as_secs_f64().ceil() as u64;
    match (all / 3_600, all / 60 % 60, all % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_for_people() {
        assert_eq!(seconds(Duration::from_millis(6_200)), "7 s");
        assert_eq!(seconds(Duration::from_secs(250)), "4 min 10 s");
        assert_eq!(seconds(Duration::from_secs(7_500)), "2 h 05 min");
    }

    #[test]
    fn a_line_fits_and_keeps_what_is_seen_now() {
        let step = StepLabel {
            count: "[12/60]".to_owned(),
            name: "one-producer writers.settings.acks=all".to_owned(),
            repeat: "repeat 2 of 5".to_owned(),
        };
        let doing = "hold 12/60 s · 1.28 M/s · p99* 12.3 ms · load is the limit";
        let line = |columns| step.line(doing, "~59 s", columns);
        assert_eq!(
            line(200),
            format!("[12/60] {} · repeat 2 of 5 · {doing} · ~59 s", step.name)
        );
        assert_eq!(
            line(110),
            format!("[12/60] one-producer w… · repeat 2 of 5 · {doing} · ~59 s")
        );
        assert_eq!(line(80), format!("[12/60] {doing} · ~59 s"));
        assert_eq!(line(70), format!("[12/60] {doing}"));
        for columns in 72..200 {
            let line = line(columns);
            assert!(line.chars().count() + 2 <= columns, "{columns}: {line}");
            assert!(line.contains(doing), "{columns}: {line}");
        }
        assert_eq!(StepLabel::default().line("x", "y", 80), "x · y");
    }
}
