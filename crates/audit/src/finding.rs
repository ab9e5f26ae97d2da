//! What an audit finds, in words that can be sent to a colleague.

use std::fmt;

use serde::Serialize;

/// How grave a finding is, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingSeverity {
    /// A figure that says less than it seems to.
    Caution,
    /// A figure that measures something else than it is named after.
    Artefact,
    /// Figures that cannot all be true.
    Contradiction,
}

impl fmt::Display for FindingSeverity {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Caution => "caution",
            Self::Artefact => "artefact",
            Self::Contradiction => "contradiction",
        })
    }
}

/// What was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditRule {
    /// The mean lies outside of what the percentiles allow.
    MeanAndPercentiles,
    /// The mean is the client's buffer divided by its throughput.
    SaturatedBuffer,
    /// More than the brokers' network cards can take.
    NetworkCard,
    /// The samples behind the percentiles came from some partitions only.
    Sampling,
    /// Equal records were compressed.
    Compression,
    /// How far repeats lie apart.
    Spread,
    /// Latency that starts when the record was sent, late.
    LateSending,
    /// Times in whole milliseconds, or cut at a limit.
    Truncation,
    /// Records or lines that are missing.
    Failures,
}

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FindingLocation {
    /// The file as it was named, `-` for standard input.
    pub file: String,
    /// From 1.
    pub line: usize,
}

impl fmt::Display for FindingLocation {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}", self.file, self.line)
    }
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// How grave it is.
    pub level: FindingSeverity,
    /// What was looked for.
    pub check: AuditRule,
    /// The lines that it is about.
    pub places: Vec<FindingLocation>,
    /// The finding with its arithmetic, whole sentences.
    pub text: String,
}
