//! What is going on, how far it is, how long it takes: one line on a terminal, nothing elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The line at the bottom of the terminal.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    started: Instant,
    /// What the whole run is thought to take.
    planned: Duration,
    step: String,
}

impl ProgressLine {
    /// A line for a run that should take so long.
    pub(crate) fn start(planned: Duration) -> Self {
        // indicatif itself keeps quiet when stderr is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style.tick_chars("-\\|/ "));
        }
        Self {
            bar,
            started: Instant::now(),
            planned,
            step: String::new(),
        }
    }

    /// Which part of the run it is now.
    pub(crate) fn step(&mut self, step: String) {
        self.step = step;
        self.say("");
    }

    /// What that part is doing.
    pub(crate) fn say(&self, doing: &str) {
        let left = self.planned.saturating_sub(self.started.elapsed());
        let left = if left.is_zero() {
            "nearly done".to_owned()
        } else {
            format!("about {} left", seconds(left))
        };
        let doing = if doing.is_empty() {
            String::new()
        } else {
            format!(" · {doing}")
        };
        self.bar
            .set_message(format!("{}{doing} · {left}", self.step));
        self.bar.tick();
    }

    /// Says something for good, above the line; also when there is no terminal.
    #[allow(clippy::print_stderr)]
    pub(crate) fn remark(&self, words: &str) {
        self.bar.suspend(|| eprintln!("{words}"));
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
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

/// A number of records a second for people: `812`, `45.3 k`, `3.21 M`.
pub(crate) fn short_count(count: f64) -> String {
    let digits = |number: f64| match number {
        number if number >= 100.0 => format!("{number:.0}"),
        number if number >= 10.0 => format!("{number:.1}"),
        number => format!("{number:.2}"),
    };
    match count {
        count if count >= 1e9 => format!("{} G", digits(count / 1e9)),
        count if count >= 1e6 => format!("{} M", digits(count / 1e6)),
        count if count >= 1e3 => format!("{} k", digits(count / 1e3)),
        count => format!("{count:.0}"),
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
    fn counts_keep_three_digits() {
        assert_eq!(short_count(812.0), "812");
        assert_eq!(short_count(45_321.0), "45.3 k");
        assert_eq!(short_count(3_214_000.0), "3.21 M");
    }
}
