//! Notices that the other side of a connection is gone although nothing has closed it.

use std::time::{Duration, Instant};

/// Measures how long the other side has been silent while this process ran.
#[derive(Debug)]
pub(crate) struct SilenceWatch {
    silence_max: Duration,
    turn_max: Duration,
    /// Earlier silence does not count.
    since: Instant,
    turn: Instant,
}

impl SilenceWatch {
    /// A watch that starts now. A turn of the connection's loop longer than `turn_max` shows that this process did not
    /// run, not that the other side was silent.
    pub(crate) fn new(silence_max: Duration, turn_max: Duration, now: Instant) -> Self {
        Self {
            silence_max,
            turn_max,
            since: now,
            turn: now,
        }
    }

    /// A turn of the loop begins.
    pub(crate) fn turn(&mut self, now: Instant) {
        if now.saturating_duration_since(self.turn) > self.turn_max {
            self.since = now;
        }
        self.turn = now;
    }

    /// This side does not read at the moment, so it cannot judge the other one.
    pub(crate) fn excuse(&mut self, now: Instant) {
        self.since = now;
    }

    /// Whether the other side, whose last bytes arrived at `heard`, has been silent for too long.
    pub(crate) fn is_over(&self, heard: Instant, now: Instant) -> bool {
        let since = self.since.max(heard);
        now.saturating_duration_since(since) > self.silence_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn silence_counts_from_the_last_bytes() {
        let start = Instant::now();
        let mut watch = SilenceWatch::new(900 * MS, 300 * MS, start);
        for turn in 1..=10 {
            watch.turn(start + turn * 100 * MS);
        }
        assert!(!watch.is_over(start + 100 * MS, start + 1_000 * MS));
        assert!(watch.is_over(start, start + 1_000 * MS));
    }

    #[test]
    fn a_process_that_did_not_run_gives_the_other_side_another_chance() {
        let start = Instant::now();
        let mut watch = SilenceWatch::new(900 * MS, 300 * MS, start);
        let resumed = start + 5_000 * MS;
        watch.turn(resumed);
        assert!(!watch.is_over(start, resumed));
        watch.turn(resumed + 100 * MS);
        assert!(watch.is_over(start, resumed + 901 * MS));
    }

    #[test]
    fn a_side_that_does_not_read_hears_nothing_and_blames_nobody() {
        let start = Instant::now();
        let mut watch = SilenceWatch::new(900 * MS, 300 * MS, start);
        watch.excuse(start + 800 * MS);
        assert!(!watch.is_over(start, start + 1_600 * MS));
    }
}
