//! The names of the files in a run folder.

/// Which run, and how it ended ([`crate::run::RunHead`]).
pub const RUN: &str = "run.json";
/// Folder of the scenarios, verbatim: `<name>.yaml`.
pub const SCENARIOS: &str = "scenarios";
/// The plan that was run.
pub const PLAN: &str = "plan.json";
/// Machine, build, target ([`crate::run::Environment`]).
pub const ENVIRONMENT: &str = "environment.json";
/// What happened, one [`crate::run::Event`] a line. Locked by the process that runs.
pub const EVENTS: &str = "events.jsonl";
/// What was seen, one [`crate::run::Evidence`] a line.
pub const EVIDENCE: &str = "evidence.jsonl";
/// Folder of the repeats: `<trial>-<repeat>/`.
pub const REPEATS: &str = "repeats";
/// In a repeat's folder: [`crate::run::RepeatRecord`].
pub const REPEAT: &str = "repeat.json";
/// In a repeat's folder: slices, one a line. Those of agents are `slices-<agent>.jsonl`.
pub const SLICES: &str = "slices.jsonl";
/// In a repeat's folder: all distributions in HdrHistogram's log format.
pub const HISTOGRAM_LOG: &str = "latency.hlog";
/// What came out ([`crate::Summary`]).
pub const SUMMARY: &str = "summary.json";
/// The report for people.
pub const REPORT: &str = "report.html";

/// True for the name of a file of slices.
pub(crate) fn is_slices(name: &str) -> bool {
    name == SLICES || (name.starts_with("slices-") && name.ends_with(".jsonl"))
}

/// True for a name that is a plain file name on every system.
pub(crate) fn is_plain(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.bytes().all(allowed)
}
