//! The name of one repeat of one trial, in plans, run folders and reports.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names one repeat of one trial.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct RepeatKey {
    /// Index of the trial in the plan.
    pub trial: u32,
    /// From 0.
    pub repeat: u32,
}

impl RepeatKey {
    /// The name of its folder under `repeats/`.
    pub fn folder_name(self) -> String {
        format!("{:04}-{:02}", self.trial, self.repeat)
    }

    /// Parses a folder's name.
    pub fn from_folder_name(name: &str) -> Option<RepeatKey> {
        let (trial, repeat) = name.split_once('-')?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(trial) || !digits(repeat) {
            return None;
        }
        Some(RepeatKey {
            trial: trial.parse().ok()?,
            repeat: repeat.parse().ok()?,
        })
    }
}

impl fmt::Display for RepeatKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "repeat {} of trial {}", self.repeat, self.trial)
    }
}
