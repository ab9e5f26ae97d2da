//! Errors of loads, as errors of the run.

use std::fmt;

use kgauge_load::{LoadError, PrepareError};

use crate::error::RunError;
use crate::session::Session;

/// For errors of a load as a whole.
pub(crate) fn load_failed(error: LoadError) -> RunError {
    match error {
        LoadError::System(_) => RunError::System(error.to_string()),
        LoadError::Panicked => RunError::Defect(error.to_string()),
    }
}

/// For errors of the load's preparation.
pub(crate) fn prepare_failed<T>(
    session: &Session<'_>,
    result: Result<T, PrepareError>,
) -> Result<T, RunError> {
    result.map_err(|error| match &error {
        PrepareError::Driver { error: driver, .. } if driver.is_bad_input() => {
            RunError::input(error)
        }
        _ => RunError::cluster(target_words(session, &error)),
    })
}

/// If the target has ended, its own last log lines explain more than the load's error.
pub(crate) fn target_words(session: &Session<'_>, error: &dyn fmt::Display) -> String {
    session.death().unwrap_or_else(|| error.to_string())
}
