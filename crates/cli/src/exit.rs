//! Exit statuses, and which error means which. They are decided here and nowhere else.

use std::fmt;

use anyhow::Error;

/// How `kgauge` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitStatus {
    /// All went well, and all goals held.
    Good = 0,
    /// A goal or a send failed, or results could not be kept.
    Failed = 1,
    /// Arguments, a scenario or a file are wrong.
    BadInput = 2,
    /// The target could not be used, or broke.
    TargetFailed = 3,
    /// The user stopped it: 128 + SIGINT, as shells expect.
    Interrupted = 130,
}

impl ExitStatus {
    /// What several runs end with together: an interrupt first, then what is least the load's own.
    pub(crate) fn gravest(statuses: &[Self]) -> Self {
        let order = [
            Self::Interrupted,
            Self::BadInput,
            Self::TargetFailed,
            Self::Failed,
        ];
        order
            .into_iter()
            .find(|status| statuses.contains(status))
            .unwrap_or(Self::Good)
    }
}

/// An error together with the status that it ends with.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) status: ExitStatus,
    pub(crate) words: String,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Stop {}

/// Ends with a status and these words.
pub(crate) fn stop(status: ExitStatus, words: impl fmt::Display) -> Error {
    Stop {
        status,
        words: words.to_string(),
    }
    .into()
}

/// Gives errors of operations the status that they end with.
pub(crate) trait OrStop<T> {
    /// The user gave something that cannot be used.
    fn or_bad_input(self) -> anyhow::Result<T>;
    /// The target is not there, or refuses.
    fn or_target_failed(self, cure: &str) -> anyhow::Result<T>;
    /// Results could not be kept.
    fn or_failed(self) -> anyhow::Result<T>;
}

impl<T, E: fmt::Display> OrStop<T> for Result<T, E> {
    fn or_bad_input(self) -> anyhow::Result<T> {
        self.map_err(|error| stop(ExitStatus::BadInput, error))
    }

    fn or_target_failed(self, cure: &str) -> anyhow::Result<T> {
        self.map_err(|error| stop(ExitStatus::TargetFailed, with_cure(&error, cure)))
    }

    fn or_failed(self) -> anyhow::Result<T> {
        self.map_err(|error| stop(ExitStatus::Failed, error))
    }
}

/// An error's words, and below them what to do about it.
pub(crate) fn with_cure(error: &impl fmt::Display, cure: &str) -> String {
    if cure.is_empty() {
        error.to_string()
    } else {
        format!("{error}\n  {cure}")
    }
}

/// The status that goes with an error; one that carries none is kgauge's own failure.
pub(crate) fn status_of(error: &Error) -> ExitStatus {
    error
        .downcast_ref::<Stop>()
        .map_or(ExitStatus::Failed, |stop| stop.status)
}

/// Says an error on stderr and gives the status that goes with it.
#[allow(clippy::print_stderr)]
pub(crate) fn say(ended: anyhow::Result<ExitStatus>) -> ExitStatus {
    let error = match ended {
        Ok(status) => return status,
        Err(error) => error,
    };
    let status = status_of(&error);
    let mut words = error.to_string();
    for cause in error.chain().skip(1) {
        words.push_str(&format!("\n  because: {cause}"));
    }
    let name = if status == ExitStatus::Interrupted {
        "kgauge"
    } else {
        "kgauge: error"
    };
    eprintln!("{name}: {words}");
    status
}
