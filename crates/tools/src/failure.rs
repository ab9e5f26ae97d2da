//! How a tool ends.

use kgauge_client::ClusterError;
use kgauge_scenario::Problems;

/// The exit status of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolStatus {
    /// Success.
    Good,
    /// An error, or failed sends.
    Failed,
    /// Kafka's tool supports it and kgauge does not.
    Unsupported,
    /// The user stopped the tool.
    Interrupted,
}

impl ToolStatus {
    /// Failed or good.
    pub(crate) fn failed_if(is_failed: bool) -> ToolStatus {
        match is_failed {
            true => ToolStatus::Failed,
            false => ToolStatus::Good,
        }
    }
}

/// Why a tool ends early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ToolFailure {
    /// The options are wrong. The message is printed together with the tool's usage.
    #[error("{0}")]
    Options(String),
    /// Any other error.
    #[error("{0}")]
    Failed(String),
    /// Kafka's tool supports it and kgauge does not.
    #[error("{0}")]
    Unsupported(String),
    /// Nothing is wrong: the tool has printed its help or its version.
    #[error("the tool has ended")]
    Answered,
}

impl ToolFailure {
    /// Any error in its own words.
    pub(crate) fn of(error: impl std::fmt::Display) -> ToolFailure {
        ToolFailure::Failed(error.to_string())
    }

    /// An error in the options.
    pub(crate) fn options<T>(message: impl Into<String>) -> Result<T, ToolFailure> {
        Err(ToolFailure::Options(message.into()))
    }
}

impl From<ClusterError> for ToolFailure {
    fn from(error: ClusterError) -> ToolFailure {
        ToolFailure::of(error)
    }
}

impl From<Problems> for ToolFailure {
    fn from(problems: Problems) -> ToolFailure {
        let lines = problems
            .iter()
            .map(|problem| format!("{}; {}", problem.what, problem.cure));
        ToolFailure::Failed(lines.collect::<Vec<_>>().join("\n  "))
    }
}

/// The result of a tool.
pub(crate) type ToolResult = Result<ToolStatus, ToolFailure>;
