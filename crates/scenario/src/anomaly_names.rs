//! What the check of records can find, by name.

/// The classes of anomalies, as `finds` and reports name them. A test in crate `results` compares them with the classes
/// known there.
pub const ANOMALY_NAMES: &[&str] = &[
    "lost-write",
    "duplicate",
    "inconsistent-offsets",
    "nonmonotonic-send",
    "g1a",
    "torn-transaction",
    "read-before-commit",
    "poll-skip",
    "nonmonotonic-poll",
    "stuck-last-stable-offset",
    "foreign-record",
    "corrupt-record",
    "divergent-replicas",
    "committed-offset-back",
];
