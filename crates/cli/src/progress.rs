//! A run on a terminal: one line that says what it does, how far it is and how long it takes; and remarks above it,
//! also where there is no terminal.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kgauge_analyze::summary::CapacityBounds;
use kgauge_live::{LiveObserver, LiveRunState, ProgressSnapshot};
use kgauge_load::LoadProgress;
use kgauge_report::text;
use kgauge_runner::{Announcement, Observer, RepeatView, RunEvent, RunStep, RunTaps};
use kgauge_scenario::format::{compact, nanoseconds, seconds};

use crate::print;

/// Whether anybody sees the line.
pub(crate) fn is_seen() -> bool {
    std::io::stderr().is_terminal()
}

/// Shows runs on the terminal, one after another, and passes everything on to the live page.
pub(crate) struct TerminalObserver {
    live: Option<LiveObserver>,
    line: Option<ProgressLine>,
}

/// The line at the bottom of the terminal, of one run.
struct ProgressLine {
    bar: ProgressBar,
    started: Instant,
    /// What the whole run should take.
    planned: Duration,
    step: StepLabel,
    rate: RecordRate,
}

impl TerminalObserver {
    /// Shows the figures of a live page, if there is one.
    pub(crate) fn new(live: Option<Arc<LiveRunState>>) -> Self {
        Self {
            live: live.map(LiveObserver::new),
            line: None,
        }
    }

    fn announce(&mut self, run: &Announcement<'_>) {
        self.line = Some(ProgressLine::start(run.planned));
        self.remark(&run.to_string());
        for fault in run.faults() {
            self.remark(&format!("fault {fault}"));
        }
    }

    fn remark(&self, message: &str) {
        let print = || print::message(&format!("kgauge: {message}"));
        match &self.line {
            Some(line) => line.bar.suspend(print),
            None => print(),
        }
    }

    fn report(&self, doing: &str) {
        if let Some(line) = &self.line {
            line.report(doing);
        }
    }
}

impl Observer for TerminalObserver {
    fn observe(&mut self, event: &RunEvent<'_>) {
        if let Some(live) = &mut self.live {
            live.observe(event);
        }
        match event {
            RunEvent::Remark(message) | RunEvent::Outage(message) => self.remark(message),
            RunEvent::Announced(run) => self.announce(run),
            RunEvent::StepBegins(step) => {
                if let Some(line) = &mut self.line {
                    line.step = StepLabel::of(step);
                    line.rate = RecordRate::default();
                }
                self.report("");
            }
            RunEvent::Activity(activity) => self.report(&activity.to_string()),
            RunEvent::Progress(view) => {
                let seen = self.live.as_ref().map(|live| live.seen);
                if let Some(line) = &mut self.line {
                    let rate = line.rate.note(view.load);
                    line.report(&load_words(view, rate, seen.unwrap_or_default()));
                }
            }
            RunEvent::LoadJudged(judgement) => {
                let bounds = CapacityBounds::from(judgement.strict);
                self.remark(&text::capacity::judged(judgement.load, bounds));
            }
            RunEvent::TrialFailed { name, why } => {
                self.remark(&format!("trial {name} failed: {why}"));
            }
            RunEvent::Closing { .. } => {
                if let Some(line) = &self.line {
                    line.bar.finish_and_clear();
                }
            }
            RunEvent::RepeatBegins(_) | RunEvent::RepeatEnds(_) | RunEvent::Closed => {}
        }
    }

    fn taps(&mut self) -> RunTaps {
        let live = self.live.as_mut();
        live.map_or_else(RunTaps::default, LiveObserver::taps)
    }
}

impl ProgressLine {
    /// A line for a run that should take that long.
    fn start(planned: Duration) -> Self {
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
            rate: RecordRate::default(),
        }
    }

    fn report(&self, doing: &str) {
        let left = self.planned.saturating_sub(self.started.elapsed());
        let left = match left.is_zero() {
            true => "nearly done".to_owned(),
            false => format!("~{}", seconds(left)),
        };
        self.bar
            .set_message(self.step.line(doing, &left, columns()));
        self.bar.tick();
    }
}

/// The rate of all flows of a load together, smoothed.
#[derive(Default)]
struct RecordRate {
    /// When, and how many records were done by then.
    last: Option<(u64, u64)>,
    per_s: f64,
    done: u64,
}

impl RecordRate {
    fn note(&mut self, progress: &LoadProgress) -> (f64, u64) {
        let flows = progress.flows.iter();
        self.done = flows.map(|flow| flow.acked + flow.consumed).sum();
        if let Some((last_ns, last)) = self.last {
            let ns = progress.elapsed_ns.saturating_sub(last_ns).max(1);
            let now = self.done.saturating_sub(last) as f64 * 1e9 / ns as f64;
            self.per_s = match self.per_s == 0.0 {
                true => now,
                false => 0.7 * self.per_s + 0.3 * now,
            };
        }
        self.last = Some((progress.elapsed_ns, self.done));
        (self.per_s, self.done)
    }
}

/// Stage, rate, latency and what seems to be the limit: what matters most comes first, since narrow terminals cut off
/// the end.
fn load_words(view: &RepeatView<'_>, (per_s, done): (f64, u64), seen: ProgressSnapshot) -> String {
    let s = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
    let (at, warm_up) = (s(view.load.elapsed_ns), s(view.hold_start_ns));
    let stage = match view.trial.stages.hold_ns.map(s) {
        _ if at < warm_up && view.is_warm_up_open => {
            format!("warm-up {at:.0} s, until steady or {warm_up:.0} s")
        }
        _ if at < warm_up => format!("warm-up {at:.0}/{warm_up:.0} s"),
        Some(hold) if at - warm_up <= hold => format!("hold {:.0}/{hold:.0} s", at - warm_up),
        Some(_) => "drain".to_owned(),
        None => format!(
            "hold {:.0} s, {} records",
            at - warm_up,
            compact(done as f64)
        ),
    };
    let p99 = seen.p99.map(|(ns, is_closed)| {
        // Of a closed loop it is the time in the producer's own buffer.
        let mark = if is_closed { "*" } else { "" };
        format!("p99{mark} {}", nanoseconds(ns as f64))
    });
    let outage = match view.load.outages.as_slice() {
        [] => seen.suspicion.map(str::to_owned),
        [one] => Some(format!("broker {} does not answer", one.broker)),
        several => Some(format!("{} brokers do not answer", several.len())),
    };
    let failed: u64 = view.load.flows.iter().map(|flow| flow.failed).sum();
    let failed = (failed > 0).then(|| format!("{failed} failed"));
    let rate = format!("{}/s", compact(per_s));
    let parts = [Some(stage), Some(rate), p99, outage, failed];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Which part of a run it is, in words.
#[derive(Debug, Clone, Default)]
struct StepLabel {
    /// `[2/60]`.
    count: String,
    /// Scenario and trial.
    name: String,
    /// `repeat 1 of 3`.
    repeat: String,
}

/// Shorter names than this say nothing.
const NAME_MIN: usize = 8;
/// What the spinner takes of a line.
const SPINNER: usize = 2;

impl StepLabel {
    fn of(step: &RunStep<'_>) -> Self {
        let trial = step.trial;
        let name = format!("{} {}", trial.scenario, trial.name);
        Self {
            count: format!("[{}/{}]", step.index + 1, step.count),
            name: name.trim_end().to_owned(),
            repeat: format!("repeat {} of {}", step.step.repeat + 1, trial.repeats),
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

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
