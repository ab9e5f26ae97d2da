//! The names of the files in a run folder.

/// The run's id and status ([`crate::run::RunHead`]).
pub const RUN: &str = "run.json";
/// Folder of the scenarios, verbatim: `<name>.yaml`.
pub const SCENARIOS: &str = "scenarios";
/// The plan that was run.
pub const PLAN: &str = "plan.json";
/// Machine, build, target ([`crate::run::Environment`]).
pub const ENVIRONMENT: &str = "environment.json";
/// Events, one [`crate::run::Event`] per line. Locked by the process of the run.
pub const EVENTS: &str = "events.jsonl";
/// Samples, one [`crate::run::Evidence`] per line.
pub const EVIDENCE: &str = "evidence.jsonl";
/// The searches for the highest rate, load by load ([`crate::run::SearchRecord`]); only of runs with a search.
pub const SEARCH: &str = "search.json";
/// The A/B test, block by block ([`crate::run::AbRecord`]); only of runs with an A/B test.
pub const AB: &str = "ab.json";
/// The search for better settings, measurement by measurement ([`crate::run::TuneRecord`]); only of `kgauge tune`.
pub const TUNE: &str = "tune.json";
/// The facts and limits of a checkup ([`crate::run::CheckupRecord`]); only of checkups.
pub const CHECKUP: &str = "checkup.json";
/// The checks of repeats that were killed ([`crate::run::CutShortChecks`]); only of verified runs that were resumed.
pub const CUT_SHORT: &str = "cut_short.json";
/// Folder of the repeats: `<trial>-<repeat>/`.
pub const REPEATS: &str = "repeats";
/// In a repeat's folder: [`crate::run::RepeatRecord`].
pub const REPEAT: &str = "repeat.json";
/// In a repeat's folder: slices, one per line. Those of agents are `slices-<agent>.jsonl`.
pub const SLICES: &str = "slices.jsonl";
/// In a repeat's folder: a ledger for each producer of verified records (`kgauge_verify::LedgerEntry`).
pub const LEDGERS: &str = "ledgers";
/// In the folder of ledgers: where the repeat began ([`crate::run::LedgerStart`]).
pub const LEDGER_START: &str = "start.json";
/// In a repeat's folder: what agents saw of their own machines are `evidence-<agent>.jsonl`.
pub fn agent_evidence(agent: u32) -> String {
    format!("evidence-{agent}.jsonl")
}
/// In a repeat's folder: the slices of an agent.
pub fn agent_slices(agent: u32) -> String {
    format!("slices-{agent}.jsonl")
}
/// In a repeat's folder: all distributions in HdrHistogram's log format.
pub const HISTOGRAM_LOG: &str = "latency.hlog";
/// The summary.
pub const SUMMARY: &str = "summary.json";
/// The HTML report.
pub const REPORT: &str = "report.html";

/// Whether this is the name of a slice file.
pub(crate) fn is_slices(name: &str) -> bool {
    name == SLICES || (name.starts_with("slices-") && name.ends_with(".jsonl"))
}

/// Whether this is a valid file name on every system.
pub(crate) fn is_plain(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.bytes().all(allowed)
}
