//! The findings of an audit, as texts that can be sent to a colleague.

use std::fmt;

pub use kgauge_scenario::FindingSeverity;
use serde::Serialize;

/// The rule of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditRule {
    /// The mean contradicts the percentiles.
    MeanAndPercentiles,
    /// The mean is the client's buffer divided by its throughput.
    SaturatedBuffer,
    /// A rate above the capacity of the brokers' network cards.
    NetworkCard,
    /// Percentiles of samples from only some partitions.
    Sampling,
    /// Compression of identical records.
    Compression,
    /// The spread over repeats.
    Spread,
    /// Latency that starts with a send that was late.
    LateSending,
    /// Times truncated to milliseconds, or at a limit.
    Truncation,
    /// Missing records or lines.
    Failures,
}

/// A position in a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FindingLocation {
    /// The file's name as given, `-` for standard input.
    pub file: String,
    /// From 1.
    pub line: usize,
}

impl fmt::Display for FindingLocation {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}", self.file, self.line)
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its severity.
    pub level: FindingSeverity,
    /// Its rule.
    pub check: AuditRule,
    /// The lines that it concerns.
    pub places: Vec<FindingLocation>,
    /// The finding with its arithmetic, in sentences.
    pub text: String,
}
