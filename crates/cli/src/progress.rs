//! A run on a terminal: one line that says what it does, how far it is and how long it takes; above it, also where
//! there is no terminal, remarks and a line for each repeat that ends.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kgauge_live::{LiveObserver, LiveRunState, ProgressSnapshot};
use kgauge_load::LoadProgress;
use kgauge_report::text;
use kgauge_results::run::RepeatOutcome;
use kgauge_runner::{Activity, Announcement, Observer, RepeatView, RunEvent, RunStep, RunTaps};
use kgauge_scenario::format::{compact, figure, nanoseconds, seconds};

use crate::print;

/// Whether anybody sees the line.
pub(crate) fn is_seen() -> bool {
    std::io::stderr().is_terminal()
}

/// How often a line is drawn while nothing is reported.
const TICK: Duration = Duration::from_millis(250);

/// A line at the bottom of the terminal; it is removed when this is dropped.
pub(crate) struct StatusLine(ProgressBar);

impl StatusLine {
    /// Shows what is waited for and for how long so far; a message where there is no terminal.
    pub(crate) fn waiting(doing: &str) -> Self {
        let line = Self::start("{spinner} {msg} · {elapsed}");
        match is_seen() {
            true => {
                line.0.set_message(doing.to_owned());
                line.0.enable_steady_tick(TICK);
            }
            false => print::message(&format!("kgauge: {doing}")),
        }
        line
    }

    fn start(template: &str) -> Self {
        // indicatif itself keeps quiet when stderr is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.tick_chars("-\\|/ "));
        }
        print::set_status(Some(bar.clone()));
        Self(bar)
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        print::set_status(None);
        self.0.finish_and_clear();
    }
}

/// Shows runs on the terminal, one after another, and passes everything on to the live page.
pub(crate) struct TerminalObserver {
    live: Option<LiveObserver>,
    /// Shows remarks only.
    is_quiet: bool,
    /// What is waited for before a run is announced.
    waiting: Option<StatusLine>,
    line: Option<ProgressLine>,
}

/// The line of one run.
struct ProgressLine {
    status: StatusLine,
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

impl TerminalObserver {
    /// Shows the figures of a live page, if there is one; `is_quiet` leaves remarks only.
    pub(crate) fn new(live: Option<Arc<LiveRunState>>, is_quiet: bool) -> Self {
        Self {
            live: live.map(LiveObserver::new),
            is_quiet,
            waiting: None,
            line: None,
        }
    }

    fn announce(&mut self, run: &Announcement<'_>) {
        // Each takes its line with it.
        (self.waiting, self.line) = (None, None);
        let mut line = ProgressLine::start(run.planned.usual);
        line.is_paired = run.plan.ab.is_some() || run.plan.tune.is_some();
        self.line = Some(line);
        remark(&run.to_string());
        for fault in run.faults() {
            remark(&format!("fault {fault}"));
        }
    }

    /// What is done between loads.
    fn wait(&mut self, doing: &str) {
        match &mut self.line {
            Some(line) => line.wait(doing),
            None => {
                // The one before it has to go first.
                self.waiting = None;
                self.waiting = Some(StatusLine::waiting(doing));
            }
        }
    }

    /// Shows what a run reports, unless nobody wants to see more than remarks.
    fn show(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Announced(run) => self.announce(run),
            RunEvent::Activity(activity) => {
                if self.line.is_some() && !is_seen() && takes_long(activity) {
                    remark(&activity.to_string());
                }
                self.wait(&activity.to_string());
            }
            RunEvent::StepBegins(step) => {
                if let Some(line) = &mut self.line {
                    line.step = StepLabel::of(step);
                    line.rate = RecordRate::default();
                    line.hold = HoldRates::default();
                    line.wait("");
                }
            }
            RunEvent::Progress(view) => {
                let seen = self.live.as_ref().map(|live| live.seen);
                if let Some(line) = &mut self.line {
                    line.show_load(view, seen.unwrap_or_default());
                }
            }
            RunEvent::PairMeasured(test) => remark(&text::ab::measured(test)),
            RunEvent::TunePhaseBegins(record) => remark(&text::tune::phase_begins(record)),
            RunEvent::TuneMeasured(record) => remark(&text::tune::measured(record)),
            RunEvent::LoadJudged(judgement) => {
                let judged = text::capacity::judged(judgement.load, judgement.strict);
                let count = self.line.as_ref().map_or("", |line| &line.step.count);
                remark(format!("{count} {judged}").trim_start());
            }
            RunEvent::RepeatEnds { outcome, .. } => {
                let line = self.line.as_ref().filter(|line| !line.is_paired);
                if let Some(result) = line.and_then(ProgressLine::result) {
                    remark(&format!("{result}{}", outcome_mark(outcome)));
                }
            }
            RunEvent::Closing { .. } => {
                if let Some(line) = &mut self.line {
                    line.step = StepLabel::default();
                    line.wait("cleaning up");
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

fn remark(message: &str) {
    print::message(&format!("kgauge: {message}"));
}

impl Observer for TerminalObserver {
    fn observe(&mut self, event: &RunEvent<'_>) {
        if let Some(live) = &mut self.live {
            live.observe(event);
        }
        match event {
            RunEvent::Remark(message) | RunEvent::Outage(message) => remark(message),
            RunEvent::TrialFailed { name, why } => remark(&format!("trial {name} failed: {why}")),
            event if !self.is_quiet => self.show(event),
            _ => {}
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
        Self {
            status: StatusLine::start("{spinner} {wide_msg}"),
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
    fn wait(&mut self, doing: &str) {
        self.draw(doing);
        if !self.is_ticking && is_seen() {
            self.status.0.enable_steady_tick(TICK);
            self.is_ticking = true;
        }
    }

    /// Shows where the load is. Its reports come often enough to draw the line.
    fn show_load(&mut self, view: &RepeatView<'_>, seen: ProgressSnapshot) {
        if self.is_ticking {
            self.status.0.disable_steady_tick();
            self.is_ticking = false;
        }
        self.hold.note(view, seen);
        let rate = self.rate.note(view.load);
        self.draw(&load_words(view, rate, seen));
        self.status.0.tick();
    }

    fn draw(&self, doing: &str) {
        let left = time_left(self.planned, self.started.elapsed());
        let line = self.step.line(doing, &left, columns());
        self.status.0.set_message(line);
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

/// `~2 min 10 s`, and when a run takes longer than planned, by how much.
fn time_left(planned: Duration, elapsed: Duration) -> String {
    match planned.checked_sub(elapsed) {
        Some(left) => format!("~{}", seconds(left)),
        None => format!("{} over the estimate", seconds(elapsed - planned)),
    }
}

/// What the flows of a repeat did during its hold, as the load reported it.
#[derive(Default)]
struct HoldRates {
    flows: Vec<String>,
    /// When the hold was first seen, and what each flow had done by then.
    first: Option<(u64, Vec<u64>)>,
    /// The same when anything was last done.
    last: Option<(u64, Vec<u64>)>,
    /// The lowest and the highest p99 of a second, of flows that send at a rate.
    p99_ns: Option<(u64, u64)>,
}

impl HoldRates {
    fn note(&mut self, view: &RepeatView<'_>, seen: ProgressSnapshot) {
        let (at_ns, start_ns) = (view.load.elapsed_ns, view.hold_start_ns);
        let end_ns = view.trial.stages.hold_ns.map(|hold_ns| start_ns + hold_ns);
        if at_ns < start_ns || end_ns.is_some_and(|end_ns| at_ns > end_ns) {
            return;
        }
        let flows = view.trial.flows.iter().zip(&view.load.flows);
        let done = flows.map(|(plan, totals)| match plan.produces() {
            Some(_) => totals.acked,
            None => totals.consumed,
        });
        let done: Vec<u64> = done.collect();
        if self.first.is_none() {
            let flows = view.trial.flows.iter();
            self.flows = flows.map(|flow| flow.name().to_owned()).collect();
            self.first = Some((at_ns, done.clone()));
        }
        if self.last.as_ref().is_none_or(|(_, last)| *last != done) {
            self.last = Some((at_ns, done));
        }
        if let Some((ns, false)) = seen.p99 {
            let (low, high) = self.p99_ns.unwrap_or((ns, ns));
            self.p99_ns = Some((low.min(ns), high.max(ns)));
        }
    }

    /// `~20,010 records/s, p99 of each second 2.10 ms to 12.4 ms`; `None` before the hold. It is near the report's
    /// figure, not equal to it: the load reports ten times per second, wherever the hold begins and ends.
    fn words(&self) -> Option<String> {
        let (from_ns, from) = self.first.as_ref()?;
        let (to_ns, to) = self.last.as_ref()?;
        let ns = to_ns.checked_sub(*from_ns).filter(|ns| *ns > 0)?;
        let rates = from.iter().zip(to).map(|(from, to)| {
            let records = to.saturating_sub(*from) as f64;
            figure(records * 1e9 / ns as f64)
        });
        let rates: Vec<String> = match self.flows.as_slice() {
            [_] => rates.map(|rate| format!("~{rate} records/s")).collect(),
            flows => {
                let named = flows.iter().zip(rates);
                named
                    .map(|(flow, rate)| format!("{flow} ~{rate}/s"))
                    .collect()
            }
        };
        let p99 = self.p99_ns.map_or_else(String::new, |(low, high)| {
            let (low, high) = (nanoseconds(low as f64), nanoseconds(high as f64));
            format!(", p99 of each second {low} to {high}")
        });
        Some(rates.join(", ") + &p99)
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
    /// The scenario.
    scenario: String,
    /// What tells the trial from the others of its scenario: `4 KiB, 5 ms`.
    value: String,
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
        let values = trial.factors.iter().map(|(_, value)| value.as_str());
        let index = step.index + 1;
        let (count, repeat) = match step.count {
            Some(count) => (
                format!("[{index}/{count}]"),
                format!("repeat {} of {}", step.step.repeat + 1, trial.repeats),
            ),
            None if trial.search.is_some() => (format!("[{index}]"), "full speed".to_owned()),
            None => (format!("[{index}]"), String::new()),
        };
        Self {
            count,
            scenario: trial.scenario.clone(),
            value: values.collect::<Vec<_>>().join(", "),
            repeat,
        }
    }

    /// One line of so many columns: what is done now stays whole. For want of room the scenario is cut first, then the
    /// repeat goes, then the scenario, then what is left, and the varied value last.
    fn line(&self, doing: &str, left: &str, columns: usize) -> String {
        let room = columns.saturating_sub(SPINNER);
        let join = |name: &str, repeat: &str, left: &str| {
            let parts = [name, repeat, doing, left].into_iter();
            let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
            let gap = if self.count.is_empty() { "" } else { " " };
            format!("{}{gap}{}", self.count, parts.join(" · "))
        };
        let named = |scenario: &str| format!("{scenario} {}", self.value).trim().to_owned();
        let fitting = |line: String| (line.chars().count() <= room).then_some(line);
        let cut = |repeat: &str| {
            let whole = join(&named(&self.scenario), repeat, left);
            let over = whole.chars().count().saturating_sub(room);
            let kept = self.scenario.chars().count().checked_sub(over)?;
            match (over, kept) {
                (0, _) => Some(whole),
                (_, kept) if kept > NAME_MIN => {
                    let short: String = self.scenario.chars().take(kept - 1).collect();
                    Some(join(&named(&format!("{short}…")), repeat, left))
                }
                _ => None,
            }
        };
        cut(&self.repeat)
            .or_else(|| cut(""))
            .or_else(|| fitting(join(&self.value, "", left)))
            .or_else(|| fitting(join(&self.value, "", "")))
            .or_else(|| fitting(join("", "", left)))
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
    fn a_line_fits_and_keeps_what_is_seen_now_and_what_varies() {
        let step = StepLabel {
            count: "[12/60]".to_owned(),
            scenario: "producer-acknowledgements".to_owned(),
            value: "all, 5 ms".to_owned(),
            repeat: "repeat 2 of 5".to_owned(),
        };
        let doing = "hold 12/60 s · 1.28 M/s · p99* 12.3 ms";
        let line = |columns| step.line(doing, "~59 s", columns);
        let whole = format!(
            "[12/60] producer-acknowledgements all, 5 ms · repeat 2 of 5 · {doing} · ~59 s"
        );
        assert_eq!(line(200), whole);
        assert_eq!(
            line(100),
            format!("[12/60] producer-ackno… all, 5 ms · repeat 2 of 5 · {doing} · ~59 s")
        );
        assert_eq!(line(72), format!("[12/60] all, 5 ms · {doing} · ~59 s"));
        assert_eq!(line(62), format!("[12/60] all, 5 ms · {doing}"));
        assert_eq!(line(50), format!("[12/60] {doing}"));
        for columns in 50..200 {
            let line = line(columns);
            assert!(line.chars().count() + 2 <= columns, "{columns}: {line}");
            assert!(line.contains(doing), "{columns}: {line}");
            assert!(
                columns < 62 || line.contains("all, 5 ms"),
                "{columns}: {line}"
            );
        }
        assert_eq!(StepLabel::default().line("x", "y", 80), "x · y");
    }

    #[test]
    fn a_run_that_takes_longer_than_planned_shows_by_how_much() {
        let left = |elapsed_s| time_left(Duration::from_secs(60), Duration::from_secs(elapsed_s));
        assert_eq!(left(20), "~40 s");
        assert_eq!(left(60), "~0 s");
        assert_eq!(left(61), "1 s over the estimate");
        assert_eq!(left(150), "1 min 30 s over the estimate");
    }

    #[test]
    fn a_repeat_is_summed_up_in_a_line() {
        let mut hold = HoldRates {
            flows: vec!["writers".to_owned()],
            first: Some((1_000_000_000, vec![1_000])),
            last: Some((3_000_000_000, vec![41_020])),
            p99_ns: None,
        };
        assert_eq!(hold.words().as_deref(), Some("~20,010 records/s"));
        hold.flows.push("readers".to_owned());
        hold.first = Some((1_000_000_000, vec![1_000, 0]));
        hold.last = Some((3_000_000_000, vec![41_020, 20]));
        hold.p99_ns = Some((2_100_000, 12_400_000));
        let words = "writers ~20,010/s, readers ~10.00/s, p99 of each second 2.10 ms to 12.4 ms";
        assert_eq!(hold.words().as_deref(), Some(words));
        assert_eq!(HoldRates::default().words(), None);
    }
}
