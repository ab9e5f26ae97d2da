//! Why an embedded cluster did not start, or ended early; with the last lines of its log.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use kgauge_client::ClientConfigError;

/// Why an embedded cluster did not start, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// A required file or directory cannot be created.
    #[error("cannot create {}: {error}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's message.
        error: io::Error,
    },
    /// Certificates or passwords cannot be created.
    #[error("cannot set up the embedded cluster's security: {words}")]
    Security {
        /// Why.
        words: String,
    },
    /// The process cannot be started.
    #[error("cannot start {} for the embedded cluster: {error}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The operating system's message.
        error: io::Error,
    },
    /// The child reported why it did not start.
    #[error("the embedded cluster did not start: {words}")]
    Refused {
        /// Its message.
        words: String,
    },
    /// The child did not answer in time.
    #[error(
        "the embedded cluster was not ready within {:.0} s{}",
        waited.as_secs_f64(),
        log_words(log)
    )]
    TimedOut {
        /// The time limit.
        waited: Duration,
        /// The last lines of its log.
        log: String,
    },
    /// The child ended unexpectedly.
    #[error(
        "the embedded cluster exited unexpectedly ({status}){}",
        log_words(log)
    )]
    Ended {
        /// How.
        status: String,
        /// The last lines of its log.
        log: String,
    },
    /// The child sent an invalid answer.
    #[error("the embedded cluster answered \"{line}\"{}", log_words(log))]
    Nonsense {
        /// The beginning of its answer.
        line: String,
        /// The last lines of its log.
        log: String,
    },
    /// The child sent invalid addresses.
    #[error("the embedded cluster reported unusable addresses: {0}")]
    Addresses(#[source] ClientConfigError),
    /// Communication with the child failed.
    #[error("cannot talk to the embedded cluster: {error}{}", log_words(log))]
    Pipe {
        /// The operating system's message.
        error: io::Error,
        /// The last lines of its log.
        log: String,
    },
    /// The child did not end in time, and was killed.
    #[error("the embedded cluster did not stop within {:.0} s and was killed", waited.as_secs_f64())]
    Killed {
        /// The time limit.
        waited: Duration,
    },
    /// The data could not be removed.
    #[error("cannot remove the embedded cluster's data in {}: {error}", path.display())]
    DataLeft {
        /// Where it remains.
        path: PathBuf,
        /// The operating system's message.
        error: io::Error,
    },
    /// The user interrupted.
    #[error("interrupted while the embedded cluster was starting")]
    Interrupted,
}

fn log_words(log: &str) -> String {
    if log.is_empty() {
        String::new()
    } else {
        format!("; the last lines of its log:\n{log}")
    }
}

impl EmbeddedError {
    pub(crate) fn pipe(error: io::Error, log: &str) -> EmbeddedError {
        EmbeddedError::Pipe {
            error,
            log: log.to_owned(),
        }
    }

    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            EmbeddedError::File { .. } | EmbeddedError::Refused { .. } => {
                "check its data directory, the free disk space and the ports"
            }
            EmbeddedError::Security { .. } => "check the disk and the file's folder",
            EmbeddedError::Spawn { .. } => "check that the kgauge executable still exists",
            EmbeddedError::TimedOut { .. } => "the machine may be overloaded; try again",
            EmbeddedError::Ended { .. }
            | EmbeddedError::Nonsense { .. }
            | EmbeddedError::Addresses(_)
            | EmbeddedError::Pipe { .. } => {
                "check its log; a full disk or a lack of memory can cause this"
            }
            EmbeddedError::Killed { .. } => "no action is needed",
            EmbeddedError::DataLeft { .. } => "remove the directory manually",
            EmbeddedError::Interrupted => "run it again",
        }
    }
}
