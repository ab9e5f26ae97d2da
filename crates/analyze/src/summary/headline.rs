//! The figures of a stored `summary.json` that a list of runs shows. All other fields of the file are passed over.

use std::collections::BTreeMap;

use kgauge_results::{Quantile, TimeKind};
use serde::{Deserialize, Serialize};

use crate::statistics::Steadiness;

/// The main figures of a run: those of the first flow of each trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunHeadline {
    /// Number of scenarios.
    pub scenarios: usize,
    /// Number of trials with figures.
    pub trials: usize,
    /// Lowest and highest records per second over the trials; absent for several scenarios, which are not comparable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_per_s: Option<(f64, f64)>,
    /// The same for the 99th percentile: end to end if the flow has it, else response; absent for closed loops too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<(f64, f64)>,
    /// The worst verdict on the steadiness of these flows; absent if all were steady.
    #[serde(skip_serializing_if = "is_steady")]
    pub steadiness: Steadiness,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_steady(verdict: &Steadiness) -> bool {
    *verdict == Steadiness::Steady
}

#[derive(Deserialize)]
struct SummaryFields {
    trials: Vec<TrialFields>,
}

#[derive(Deserialize)]
struct TrialFields {
    scenario: String,
    flows: Vec<FlowFields>,
}

#[derive(Deserialize)]
struct FlowFields {
    closed_loop: bool,
    throughput: Option<ThroughputFields>,
    steadiness: Option<VerdictField>,
    latencies: BTreeMap<String, Option<TimeFields>>,
}

#[derive(Deserialize)]
struct VerdictField {
    verdict: Steadiness,
}

#[derive(Deserialize)]
struct ThroughputFields {
    records_per_s: MeanField,
}

#[derive(Deserialize)]
struct MeanField {
    mean: f64,
}

#[derive(Deserialize)]
struct TimeFields {
    percentiles: Vec<PercentileFields>,
}

#[derive(Deserialize)]
struct PercentileFields {
    millionths: u32,
    value_ns: u64,
}

impl RunHeadline {
    /// Reads the text of `summary.json`; `None` if it is not a summary.
    pub fn of_summary(json: &str) -> Option<RunHeadline> {
        let summary: SummaryFields = serde_json::from_str(json).ok()?;
        let mut scenarios: Vec<&str> = Vec::new();
        let mut rates = Vec::new();
        let mut times = Vec::new();
        let mut steadiness = Steadiness::Steady;
        for trial in &summary.trials {
            if !scenarios.contains(&trial.scenario.as_str()) {
                scenarios.push(&trial.scenario);
            }
            let Some(flow) = trial.flows.first() else {
                continue;
            };
            if let Some(throughput) = &flow.throughput {
                rates.push(throughput.records_per_s.mean);
                times.extend(flow.p99_ns());
                let verdict = flow.steadiness.as_ref().map(|found| found.verdict);
                steadiness = steadiness.max(verdict.unwrap_or_default());
            }
        }
        let is_comparable = scenarios.len() == 1;
        let has_all_times = times.len() == rates.len();
        Some(RunHeadline {
            scenarios: scenarios.len(),
            trials: rates.len(),
            records_per_s: range(&rates).filter(|_| is_comparable),
            p99_ns: range(&times).filter(|_| is_comparable && has_all_times),
            steadiness,
        })
    }
}

impl FlowFields {
    fn p99_ns(&self) -> Option<f64> {
        let times = |kind: TimeKind| self.latencies.get(&kind.field())?.as_ref();
        let of_flow = times(TimeKind::EndToEnd).or_else(|| times(TimeKind::Response));
        let mut percentiles = of_flow?.percentiles.iter();
        let p99 = percentiles.find(|one| one.millionths == Quantile::P99.millionths())?;
        (!self.closed_loop).then_some(p99.value_ns as f64)
    }
}

/// The lowest and the highest value.
fn range(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some((low, high))
}
