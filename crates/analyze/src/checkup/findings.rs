//! The findings of a checkup, ranked.

use super::{CheckupFact, CheckupFinding, CheckupSummary, facts, load};
use crate::summary::{CapacitySummary, TrialSummary};

/// All findings, the gravest first. Equal weights keep the order in which they are found, so that the same folder gives
/// the same list.
pub(super) fn ranked(
    summary: &CheckupSummary,
    capacity: Option<&CapacitySummary>,
    trials: &[TrialSummary],
) -> Vec<CheckupFinding> {
    let mut findings = Vec::new();
    facts::add(&mut findings, summary);
    load::add(&mut findings, summary, capacity, trials);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    findings
}

/// Adds one.
pub(super) fn push(findings: &mut Vec<CheckupFinding>, weight: u32, fact: CheckupFact) {
    findings.push(CheckupFinding { weight, fact });
}
