//! Checks that take longer than a session: a part of them ends in time, and the next call goes on.

use std::time::{Duration, Instant};

/// How long a part of a check may take.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct SessionLimit {
    /// Begin nothing that may not end within N minutes. What was measured is kept, and the next call goes on
    #[arg(long, value_name = "N")]
    minutes: Option<u32>,
}

/// The time of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionClock {
    end: Option<Instant>,
}

impl SessionLimit {
    /// The time begins.
    pub(crate) fn start(self) -> SessionClock {
        let minutes = self.minutes.map(u64::from);
        let end = minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
        SessionClock { end }
    }
}

impl SessionClock {
    /// Whether something that may take this long ends in time.
    pub(crate) fn has(self, expected: Duration) -> bool {
        self.end.is_none_or(|end| Instant::now() + expected <= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_begins_that_may_end_too_late() {
        let hour = Duration::from_secs(3_600);
        assert!(SessionLimit::default().start().has(hour));
        let limit = |minutes| SessionLimit {
            minutes: Some(minutes),
        };
        assert!(limit(61).start().has(hour));
        assert!(!limit(59).start().has(hour));
        assert!(!limit(0).start().has(Duration::from_secs(1)));
    }
}
