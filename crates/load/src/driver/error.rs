//! What goes wrong with a driver's process.

use std::io;
use std::time::Duration;

/// Why a driver cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// Nobody said which program it is.
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
        /// The operating system's words.
        error: io::Error,
    },
    /// It cannot do what the settings ask for.
    #[error("driver {driver}: {what}")]
    Refused {
        /// The driver.
        driver: String,
        /// What it has not, or does not take.
        what: String,
    },
    /// It gets no producer on this cluster.
    #[error("driver {driver} cannot start: {what}")]
    Failed {
        /// The driver.
        driver: String,
        /// Its own words.
        what: String,
    },
    /// The process ended too early.
    #[error("the process of driver {driver} exited ({status}){}", words(last))]
    Died {
        /// The driver.
        driver: String,
        /// How it ended.
        status: String,
        /// The last lines that it said.
        last: String,
    },
    /// It says nothing any more.
    #[error(
        "the process of driver {driver} sent nothing for {waited:.0?} and was killed{}",
        words(last)
    )]
    Silent {
        /// The driver.
        driver: String,
        /// How long.
        waited: Duration,
        /// The last lines that it said.
        last: String,
    },
    /// What it says makes no sense.
    #[error("the process of driver {driver} broke the protocol: {what}")]
    Nonsense {
        /// The driver.
        driver: String,
        /// What it did.
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
    /// Whether it is the user's words that are wrong, and not the world.
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
