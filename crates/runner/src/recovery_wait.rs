//! What the observer sees of a wait for the cluster: one report, if the wait takes longer than a second.

use std::time::{Duration, Instant};

use crate::observer::Activity;
use crate::session::Session;

/// A cluster that recovers faster is not worth a line.
const QUIET_MAX: Duration = Duration::from_secs(1);

/// A wait for the cluster to recover.
pub(crate) struct RecoveryWait {
    began: Instant,
    is_reported: bool,
}

impl RecoveryWait {
    /// A wait that begins now.
    pub(crate) fn begin() -> Self {
        Self {
            began: Instant::now(),
            is_reported: false,
        }
    }

    /// How long it has taken so far.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Reports what is missing, unless the wait is reported or short.
    pub(crate) fn report(&mut self, session: &mut Session<'_>, missing: &str) {
        if self.elapsed() >= QUIET_MAX {
            self.report_now(session, missing);
        }
    }

    /// Reports what is missing, unless the wait is reported: it will not be short.
    pub(crate) fn report_now(&mut self, session: &mut Session<'_>, missing: &str) {
        if !self.is_reported {
            self.is_reported = true;
            let missing = missing.to_owned();
            session.report(&Activity::Recovering { missing });
        }
    }
}
