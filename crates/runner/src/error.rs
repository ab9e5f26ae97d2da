//! Errors of runs.

use std::fmt;

use kgauge_target::TargetError;

/// Why a run did not start, or is not complete.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The question, the target or another input cannot be used.
    #[error("{0}")]
    Input(String),
    /// A file cannot be written or read, or the system refuses a thread.
    #[error("{0}")]
    System(String),
    /// The target cannot be started, reached or stopped.
    #[error("{}", with_fix(.0, .0.fix()))]
    Target(#[from] TargetError),
    /// The target refused something, or broke.
    #[error("{0}")]
    Cluster(String),
    /// The load failed for another reason than the target.
    #[error("{0}")]
    Load(String),
    /// Several trials were planned, and some of them failed.
    #[error("{failed} of {planned} trials failed; the first: {first}")]
    Trials {
        /// How many failed.
        failed: usize,
        /// How many the plan has.
        planned: usize,
        /// Why the first of them failed.
        first: Box<RunError>,
    },
    /// The user stopped it, or refused.
    #[error("{0}")]
    Interrupted(String),
    /// A defect of kgauge.
    #[error("{0}")]
    Defect(String),
}

/// What an error is about: an exit status for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorSubject {
    /// Input that cannot be used, or results that cannot be written.
    Input,
    /// The target.
    Target,
    /// The load itself.
    Load,
    /// The user stopped it.
    Interrupt,
    /// A defect of kgauge.
    Defect,
}

impl RunError {
    /// What it is about.
    pub fn subject(&self) -> ErrorSubject {
        match self {
            Self::Input(_) | Self::System(_) => ErrorSubject::Input,
            Self::Target(TargetError::Kafka(error)) if error.is_bad_input() => ErrorSubject::Input,
            Self::Target(_) | Self::Cluster(_) => ErrorSubject::Target,
            Self::Load(_) => ErrorSubject::Load,
            Self::Trials { first, .. } => first.subject(),
            Self::Interrupted(_) => ErrorSubject::Interrupt,
            Self::Defect(_) => ErrorSubject::Defect,
        }
    }

    /// An error about a subject.
    pub(crate) fn about(subject: ErrorSubject, message: String) -> Self {
        match subject {
            ErrorSubject::Input => Self::Input(message),
            ErrorSubject::Target => Self::Cluster(message),
            ErrorSubject::Load => Self::Load(message),
            ErrorSubject::Interrupt => Self::Interrupted(message),
            ErrorSubject::Defect => Self::Defect(message),
        }
    }

    /// Input that cannot be used.
    pub fn input(message: impl fmt::Display) -> Self {
        Self::Input(message.to_string())
    }

    /// A target that refused something, or broke.
    pub fn cluster(message: impl fmt::Display) -> Self {
        Self::Cluster(message.to_string())
    }

    /// The user stopped it.
    pub fn interrupted(message: impl fmt::Display) -> Self {
        Self::Interrupted(message.to_string())
    }

    /// Something that the system refused.
    pub fn system(what: impl fmt::Display, error: &std::io::Error) -> Self {
        Self::System(format!("{what}\n  because: {error}"))
    }

    pub(crate) fn is_of_target(&self) -> bool {
        self.subject() == ErrorSubject::Target
    }
}

/// Converts errors of operations into errors of a run.
pub trait OrRunError<T> {
    /// The user's input cannot be used.
    fn or_bad_input(self) -> Result<T, RunError>;
    /// The target is unreachable or refuses; with the fix.
    fn or_target_failed(self, fix: &str) -> Result<T, RunError>;
    /// A file of kgauge's own cannot be written or read: no space, no permission.
    fn or_unwritable(self) -> Result<T, RunError>;
}

impl<T, E: fmt::Display> OrRunError<T> for Result<T, E> {
    fn or_bad_input(self) -> Result<T, RunError> {
        self.map_err(RunError::input)
    }

    fn or_target_failed(self, fix: &str) -> Result<T, RunError> {
        self.map_err(|error| RunError::cluster(with_fix(&error, fix)))
    }

    fn or_unwritable(self) -> Result<T, RunError> {
        self.map_err(|error| RunError::System(error.to_string()))
    }
}

/// A message in one line, as a file or a table has it: `topic x does not exist; create it`.
pub(crate) fn in_one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let mut joined = String::new();
    for line in lines.filter(|line| !line.is_empty()) {
        if !joined.is_empty() {
            // A list follows its own colon.
            joined.push_str(if joined.ends_with(':') { " " } else { "; " });
        }
        joined.push_str(line);
    }
    joined
}

/// An error's message, and below it what to do about it.
pub fn with_fix(error: &impl fmt::Display, fix: &str) -> String {
    match fix {
        "" => error.to_string(),
        fix => format!("{error}\n  {fix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_what_to_do_are_joined_by_punctuation() {
        let both = with_fix(&"topic x does not exist", "create it");
        assert_eq!(in_one_line(&both), "topic x does not exist; create it");
        let list = "2 mistakes:\n  a is missing\n  b is wrong";
        assert_eq!(in_one_line(list), "2 mistakes: a is missing; b is wrong");
    }
}
