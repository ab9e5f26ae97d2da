//! What an audit finds, in words that can be sent to a colleague.

use std::fmt;

use serde::Serialize;

/// How grave a finding is, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// A figure that says less than it seems to.
    Caution,
    /// A figure that measures something else than it is named after.
    Artefact,
    /// Figures that cannot all be true.
    Contradiction,
}

impl fmt::Display for Level {
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
pub enum Check {
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
pub struct Place {
    /// The file as it was named, `-` for standard input.
    pub file: String,
    /// From 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}", self.file, self.line)
    }
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// How grave it is.
    pub level: Level,
    /// What was looked for.
    pub check: Check,
    /// The lines that it is about.
    pub places: Vec<Place>,
    /// The finding with its arithmetic, whole sentences.
    pub text: String,
}
