//! The start and the end of a progress line: which step of a run it is, and the time that is left.

use std::time::Duration;

use kgauge_runner::RunStep;
use kgauge_scenario::format::seconds;

/// Which part of a run it is, in words.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepLabel {
    /// `[2/60]`.
    pub(crate) count: String,
    /// The scenario.
    pub(crate) scenario: String,
    /// What tells the trial from the others of its scenario: `4 KiB, 5 ms`.
    pub(crate) value: String,
    /// `repeat 1 of 3`.
    pub(crate) repeat: String,
}

/// Shorter names than this say nothing.
const NAME_MIN: usize = 8;
/// What the spinner takes of a line.
const SPINNER: usize = 2;

impl StepLabel {
    pub(crate) fn of(step: &RunStep<'_>) -> Self {
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
    pub(crate) fn line(&self, doing: &str, left: &str, columns: usize) -> String {
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

/// `~2 min 10 s`, and when a run takes longer than planned, by how much.
pub(crate) fn time_left(planned: Duration, elapsed: Duration) -> String {
    match planned.checked_sub(elapsed) {
        Some(left) => format!("~{}", seconds(left)),
        None => format!("{} over the estimate", seconds(elapsed - planned)),
    }
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
}
