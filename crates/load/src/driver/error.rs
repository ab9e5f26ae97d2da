//! Errors of a driver's process.

use std::io;
use std::time::Duration;

/// Why a driver cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// No program was given for the driver.
    #[error("driver {driver} has no program")]
    NoProgram {
        /// The driver.
        driver: String,
    },
    /// The process cannot be started, or its pipes broke.
    #[error("cannot use the process of driver {driver}: {error}")]
    System {
        /// The driver.
        driver: String,
        /// The operating system's message.
        error: io::Error,
    },
    /// The client does not support the settings.
    #[error("driver {driver}: {what}")]
    Refused {
        /// The driver.
        driver: String,
        /// The unsupported setting or value.
        what: String,
    },
    /// The client cannot create a producer on this cluster.
    #[error("driver {driver} cannot start: {what}")]
    Failed {
        /// The driver.
        driver: String,
        /// The client's message.
        what: String,
    },
    /// The process ended early.
    #[error("the process of driver {driver} exited ({status}){}", words(last))]
    Died {
        /// The driver.
        driver: String,
        /// How it ended.
        status: String,
        /// Its last lines of output.
        last: String,
    },
    /// The process no longer answers.
    #[error(
        "the process of driver {driver} sent nothing for {waited:.0?} and was killed{}",
        words(last)
    )]
    Silent {
        /// The driver.
        driver: String,
        /// For how long.
        waited: Duration,
        /// Its last lines of output.
        last: String,
    },
    /// The process sent an invalid frame or outcome.
    #[error("the process of driver {driver} broke the protocol: {what}")]
    Nonsense {
        /// The driver.
        driver: String,
        /// What was invalid.
        what: String,
    },
    /// The user wants to stop.
    #[error("stopped while driver {driver} was starting")]
    Interrupted {
        /// The driver.
        driver: String,
    },
}

impl DriverError {
    /// Whether the user's settings are the cause.
    pub fn is_bad_input(&self) -> bool {
        matches!(
            self,
            DriverError::Refused { .. } | DriverError::NoProgram { .. }
        )
    }
}

fn words(last: &str) -> String {
    match last.trim() {
        "" => String::new(),
        last => format!("; its last output:\n{last}"),
    }
}
