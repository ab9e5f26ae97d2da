//! What a trial varies.

use schemars::JsonSchema;
use serde::Serialize;

/// A varied setting and its value in this trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Factor {
    /// Its path in the scenario.
    pub path: String,
    /// As written.
    pub value: String,
}
