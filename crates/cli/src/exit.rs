//! Exit statuses, and which error means which. They are decided here and nowhere else.

use anyhow::Error;
use kgauge_runner::{ErrorSubject, RunError};

use crate::print;
use crate::style::terminal_style;

/// How `kgauge` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitStatus {
    /// All went well, and all goals held.
    Good = 0,
    /// A goal or a send failed, or figures are worse or contradict each other.
    Failed = 1,
    /// Arguments, a scenario, a file or a folder cannot be used; results cannot be written; the
    /// repeats do not decide a goal or a gate.
    BadInput = 2,
    /// The target could not be used, or broke.
    TargetFailed = 3,
    /// kgauge itself is wrong.
    Defect = 4,
    /// The user stopped it: 128 + SIGINT, as shells expect.
    Interrupted = 130,
}

impl ExitStatus {
    /// The status with this number: that of a summary, or that another kgauge ended with.
    pub(crate) fn of_code(code: i32) -> Self {
        let all = [
            Self::Good,
            Self::Failed,
            Self::BadInput,
            Self::TargetFailed,
            Self::Interrupted,
        ];
        let known = all.into_iter().find(|status| *status as i32 == code);
        known.unwrap_or(Self::Defect)
    }

    /// What several runs end with together: a defect and an interrupt first, then what is least the load's own.
    pub(crate) fn gravest(statuses: &[Self]) -> Self {
        let order = [
            Self::Defect,
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

impl From<ErrorSubject> for ExitStatus {
    fn from(subject: ErrorSubject) -> Self {
        match subject {
            ErrorSubject::Input => Self::BadInput,
            ErrorSubject::Target => Self::TargetFailed,
            ErrorSubject::Load => Self::Failed,
            ErrorSubject::Interrupt => Self::Interrupted,
            ErrorSubject::Defect => Self::Defect,
        }
    }
}

/// The status that goes with an error; one that is not of a run is about the user's input, a file or the system.
fn status_of(error: &Error) -> ExitStatus {
    let of_run = error.downcast_ref::<RunError>();
    of_run.map_or(ExitStatus::BadInput, |error| error.subject().into())
}

/// The status to end with: `unwritten` if all went well but stdout did not take the results.
pub(crate) fn end(status: ExitStatus, unwritten: ExitStatus) -> ExitStatus {
    let is_written = print::was_written();
    match status {
        ExitStatus::Good if !is_written => unwritten,
        status => status,
    }
}

/// Says an error on stderr and gives the status that goes with it.
pub(crate) fn report(ended: anyhow::Result<ExitStatus>) -> ExitStatus {
    let error = match ended {
        Ok(status) => return status,
        Err(error) => error,
    };
    let status = status_of(&error);
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Some errors say their cause themselves.
        if !words.contains(&cause) {
            words.push_str(&format!("\n  because: {cause}"));
        }
    }
    failed(status, &words)
}

/// Says on stderr why the command ends with a status.
pub(crate) fn failed(status: ExitStatus, words: &str) -> ExitStatus {
    let name = if status == ExitStatus::Interrupted {
        "kgauge"
    } else {
        "kgauge: error"
    };
    print::message(&format!("{name}: {words}"));
    status
}

/// Says what clap has to say: help and version on stdout, mistakes on stderr with the prefix of all other errors.
pub(crate) fn report_usage(usage: &clap::Error) -> ExitStatus {
    let text = usage.render();
    if usage.use_stderr() {
        let words = text.to_string();
        let words = words.trim_end();
        match words.strip_prefix("error: ") {
            Some(words) => print::message(&format!("kgauge: error: {words}")),
            None => print::message(words),
        }
        return ExitStatus::BadInput;
    }
    match terminal_style().color {
        true => print::result(&text.ansi().to_string()),
        false => print::result(&text.to_string()),
    }
    ExitStatus::Good
}
