//! `run.json`: the identity and status of the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The contents of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// Version of the folder's layout, [`RunHead::FORMAT`].
    pub format: u32,
    /// The kgauge that wrote it.
    pub kgauge_version: String,
    /// Names the run; part of the name of every topic that it created.
    pub run_id: String,
    /// What the user says about it.
    #[serde(flatten)]
    pub label: RunLabel,
    /// The scenario, or the study; absent in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The command line, without secrets: one element per argument.
    pub command: Vec<String>,
    /// The target, as given to `--target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The second cluster, as given to `--destination`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// Cost of the target per hour, in the user's currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_hour: Option<f64>,
    /// When the run started, milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// When it ended; absent while it is running, and after it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_unix_ms: Option<u64>,
    /// When it was resumed, each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed_unix_ms: Vec<u64>,
    /// How it ended.
    pub status: RunStatus,
    /// Why it failed or was interrupted, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What the user says about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLabel {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl RunLabel {
    /// Makes it that of one of several runs, each on another target.
    pub fn add_target(&mut self, target: &str) {
        if let Some(name) = &mut self.name {
            *name = format!("{name} on {target}");
        }
    }
}

impl RunHead {
    /// The layout that this build writes, and the newest that it reads.
    pub const FORMAT: u32 = 1;

    /// The head of a run that starts now.
    pub fn starting(run_id: String, command: Vec<String>, started_unix_ms: u64) -> RunHead {
        RunHead {
            format: RunHead::FORMAT,
            kgauge_version: env!("CARGO_PKG_VERSION").to_owned(),
            run_id,
            label: RunLabel::default(),
            scenario: None,
            command,
            target: None,
            destination: None,
            price_per_hour: None,
            started_unix_ms,
            ended_unix_ms: None,
            resumed_unix_ms: Vec::new(),
            status: RunStatus::Running,
            why: None,
        }
    }
}

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// In progress: its process holds the folder's lock.
    Running,
    /// Complete.
    Complete,
    /// It stopped because of a failure; what it had measured is available.
    Failed,
    /// The user stopped it; what it had measured is available.
    Interrupted,
    /// Its process ended unexpectedly (killed, power loss, crash). Never written: readers derive it if the file says
    /// `running` and nobody holds the lock.
    CutShort,
}

impl RunStatus {
    /// The text in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Complete => "complete",
            RunStatus::Failed => "failed",
            RunStatus::Interrupted => "interrupted",
            RunStatus::CutShort => "cut short",
        }
    }
}
