//! Findings that follow from the loads of a checkup.

use kgauge_results::run::{AppliedQuota, CAPACITY_SHARES, RateLimit, SearchEnd};

use super::{CheckupFact, CheckupFinding, CheckupPoint, CheckupSummary, push};
use crate::summary::{Bottleneck, CapacitySummary, FlowKind, TrialSummary};

/// A setting costs latency if p99 is this many times as long,
const COST_RATIO: f64 = 1.5;
/// and this much longer.
const COST_NS: f64 = 1e6;
/// Consumers keep up if they read this share of what is written.
const KEPT_UP_PART: f64 = 0.95;
/// Latency is steep if p99 near the capacity is this many times that at half of it.
const STEEP_RATIO: f64 = 5.0;
/// Both, as shares of the capacity.
const HALF: f64 = CAPACITY_SHARES[1];
const NEAR: f64 = CAPACITY_SHARES[3];
/// Without load, a record should not take longer.
const IDLE_P50_NS: f64 = 20e6;

/// Adds the findings.
pub(super) fn add(
    findings: &mut Vec<CheckupFinding>,
    summary: &CheckupSummary,
    capacity: Option<&CapacitySummary>,
    trials: &[TrialSummary],
) {
    for speed in summary.brokers.iter().filter(|speed| speed.is_slow()) {
        push(findings, 76, CheckupFact::SlowBroker { speed: *speed });
    }
    quotas(findings, summary, trials);
    if let Some(capacity) = capacity {
        limits(findings, capacity);
    }
    costs(findings, summary);
    consumers(findings, summary);
    latency(findings, summary);
}

fn quotas(findings: &mut Vec<CheckupFinding>, summary: &CheckupSummary, trials: &[TrialSummary]) {
    let flows = trials.iter().flat_map(|trial| &trial.flows);
    let throttled = flows.filter(|flow| flow.throttling.is_some());
    let throttled: Vec<FlowKind> = throttled.map(|flow| flow.kind).collect();
    let was_throttled = |key: &str| match key {
        "producer_byte_rate" => throttled.iter().any(|kind| *kind != FlowKind::Consume),
        "consumer_byte_rate" => throttled.iter().any(|kind| *kind != FlowKind::Produce),
        _ => !throttled.is_empty(),
    };
    let of_bytes = |quota: &AppliedQuota| quota.key.ends_with("_byte_rate");
    let quotas = summary.before.quotas.iter();
    let lowest = quotas
        .filter(|quota| of_bytes(quota))
        .map(|quota| quota.value);
    let lowest = lowest.reduce(f64::min);
    for quota in &summary.before.quotas {
        let is_limit = summary.limits.rate_limit == RateLimit::Quota
            && of_bytes(quota)
            && lowest.is_some_and(|lowest| quota.value <= lowest);
        let limits = is_limit || was_throttled(&quota.key);
        let fact = CheckupFact::Quota {
            key: quota.key.clone(),
            value: quota.value,
            level: quota.level,
            limits,
        };
        push(findings, if limits { 74 } else { 32 }, fact);
    }
}

fn limits(findings: &mut Vec<CheckupFinding>, capacity: &CapacitySummary) {
    let Some(search) = capacity.searches.first() else {
        return;
    };
    let strict = search.strict;
    let is_found = search.end == Some(SearchEnd::Found);
    if let (None, Some(upper), true) = (strict.lower, strict.upper, is_found) {
        let fact = CheckupFact::NoRateHolds {
            lowest_broken_per_s: upper,
        };
        push(findings, 62, fact);
    }
    let nothing = [Bottleneck::Load, Bottleneck::Undecided, Bottleneck::Quota];
    if let (Some(upper), Some(bottleneck)) = (strict.upper, search.bottleneck)
        && !nothing.contains(&bottleneck)
    {
        let fact = CheckupFact::LimitedBy {
            bottleneck,
            records_per_s: strict.lower.or(search.unconfirmed()).unwrap_or(upper),
        };
        push(findings, 55, fact);
    }
}

/// Both times, if the second costs much more than the first.
fn cost(one: &CheckupPoint, other: &CheckupPoint) -> Option<(f64, f64)> {
    let (one, other) = one.p99_ns.zip(other.p99_ns)?;
    let is_much = other >= COST_RATIO * one && other - one >= COST_NS;
    is_much.then_some((one, other))
}

fn costs(findings: &mut Vec<CheckupFinding>, summary: &CheckupSummary) {
    let with = |points: &'_ [CheckupPoint], value: &str| {
        let mut points = points.iter();
        points.find(|point| point.value == value).cloned()
    };
    let acks = with(&summary.acks, "1").zip(with(&summary.acks, "all"));
    if let Some((one, all)) = acks
        && let Some((one_p99_ns, all_p99_ns)) = cost(&one, &all)
    {
        let fact = CheckupFact::AcksCost {
            one_p99_ns,
            all_p99_ns,
            records_per_s: all.planned_per_s.unwrap_or(all.records_per_s),
        };
        push(findings, 30, fact);
    }
    let replicated = summary.replication.iter().find(|point| point.value != "1");
    let one = with(&summary.replication, "1");
    if let Some((one, replicated)) = one.zip(replicated)
        && let Some((one_p99_ns, replicated_p99_ns)) = cost(&one, replicated)
    {
        let fact = CheckupFact::ReplicationCost {
            replicas: replicated.value.clone(),
            one_p99_ns,
            replicated_p99_ns,
            records_per_s: replicated.planned_per_s.unwrap_or(replicated.records_per_s),
        };
        push(findings, 31, fact);
    }
}

fn consumers(findings: &mut Vec<CheckupFinding>, summary: &CheckupSummary) {
    let Some(reads) = summary.tail else {
        return;
    };
    let is_behind = |written: f64| reads.read_per_s < KEPT_UP_PART * written;
    if reads.written_per_s.is_some_and(is_behind) {
        push(findings, 61, CheckupFact::ConsumersBehind { reads });
    }
}

fn latency(findings: &mut Vec<CheckupFinding>, summary: &CheckupSummary) {
    let at = |share: f64| {
        let mut points = summary.end_to_end.iter();
        points.find(|point| point.share == Some(share))
    };
    if let Some((half, near)) = at(HALF).zip(at(NEAR))
        && let Some((half_p99_ns, near_p99_ns)) = half.p99_ns.zip(near.p99_ns)
        && near_p99_ns >= STEEP_RATIO * half_p99_ns
    {
        let fact = CheckupFact::SteepLatency {
            half_p99_ns,
            near_p99_ns,
            near_per_s: near.planned_per_s.unwrap_or(near.records_per_s),
        };
        push(findings, 34, fact);
    }
    let idle = summary.idle.as_ref();
    if let Some((p50_ns, p99_ns)) = idle.and_then(|idle| idle.p50_ns.zip(idle.p99_ns))
        && p50_ns >= IDLE_P50_NS
    {
        push(
            findings,
            33,
            CheckupFact::SlowWithoutLoad { p50_ns, p99_ns },
        );
    }
}
