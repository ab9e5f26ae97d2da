//! What one trial shows about the cost of load: read from a run's summary and plan.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Summary;
use crate::statistics::Steadiness;
use crate::summary::{Bottleneck, FlowKind, FlowSummary, GeneratorState, TrialSummary};
use kgauge_results::folder::RunRead;
use kgauge_results::{Quantile, TimeKind};
use kgauge_scenario::Plan;

/// One trial, as sizing sees it. Rates are per second, of the whole cluster, over the hold stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TrialFacts {
    /// The run's id.
    pub run_id: String,
    /// Scenario and trial.
    pub name: String,
    /// Which software it ran on, such as `Apache Kafka 4.3.1`.
    pub release: MeasuredRelease,
    /// The machine's processor and their number.
    pub machine: SizingMachine,
    /// Brokers.
    pub brokers: u32,
    /// Partitions of the topic.
    pub partitions: u32,
    /// Replicas of each partition.
    pub replication: u32,
    /// Whether clients used TLS.
    pub tls: bool,
    /// Bytes of a record; absent if they vary.
    pub record_bytes: Option<f64>,
    /// Records acked.
    pub records: f64,
    /// Bytes of keys, values and headers acked.
    pub logical_bytes: f64,
    /// Bytes of produce requests.
    pub in_bytes: f64,
    /// Produce requests.
    pub produce_requests: f64,
    /// Record batches of produce requests.
    pub batches: f64,
    /// Bytes of fetch responses to consumers.
    pub out_bytes: f64,
    /// Fetch requests of consumers.
    pub fetch_requests: f64,
    /// Cores that the brokers used, one value per trial.
    pub cpu_cores: Option<f64>,
    /// The largest share of one broker, times the number of brokers: 1 if all lead the same.
    pub skew: Option<f64>,
    /// The 99th percentile of the response time, in nanoseconds, of load on a schedule.
    pub latency_ns_p99: Option<f64>,
    /// True when producers sent as fast as they could, so that the rate is what one topic and its clients can do.
    pub is_closed_loop: bool,
    /// True when the generator was the limit: then the rate says nothing about the brokers, but their CPU time does.
    pub is_generator_limited: bool,
    /// Why nothing is derived from it, if so.
    pub unusable: Option<UnusableTrial>,
}

/// The software under test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MeasuredRelease {
    /// True for kgauge's embedded cluster.
    pub is_embedded: bool,
    /// The release; absent if unknown.
    pub version: Option<String>,
}

/// The machine that brokers ran on, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SizingMachine {
    /// The processor's name.
    pub cpu_model: Option<String>,
    /// Logical processors.
    pub processors: Option<u32>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
}

/// Why a trial says nothing about cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnusableTrial {
    /// Nothing was measured.
    NotMeasured,
    /// Other programs took the CPU.
    OtherPrograms,
    /// Brokers were warming up.
    Warming,
    /// The scenario broke the cluster on purpose.
    Faults,
    /// Brokers' CPU time is unknown, since they run elsewhere.
    NoCpu,
    /// It wrote nothing.
    NoProducers,
}

/// The facts of each trial of a run.
pub fn trial_facts(run: &RunRead, summary: &Summary) -> Vec<TrialFacts> {
    let machine = summary.machine.as_ref();
    let machine = SizingMachine {
        cpu_model: machine.and_then(|machine| machine.cpu_model.clone()),
        processors: machine.and_then(|machine| machine.cpu_count),
        memory_bytes: machine.and_then(|machine| machine.memory_bytes),
    };
    let release = MeasuredRelease {
        is_embedded: summary.target.kind == Some(kgauge_scenario::TargetKind::Embedded),
        version: summary.target.version.clone(),
    };
    let base = TrialFacts {
        run_id: summary.run.run_id.clone(),
        release,
        machine,
        brokers: summary.target.brokers.unwrap_or_default(),
        ..TrialFacts::default()
    };
    let facts = |trial: &TrialSummary| of_trial(&base, run.plan.as_ref(), trial);
    summary.trials.iter().map(facts).collect()
}

fn of_trial(base: &TrialFacts, plan: Option<&Plan>, trial: &TrialSummary) -> TrialFacts {
    let planned = plan.and_then(|plan| {
        plan.trials
            .iter()
            .find(|planned| planned.index == trial.index)
    });
    let security = planned.and_then(|planned| planned.cluster.security.as_deref());
    let exactly = planned.and_then(|planned| planned.cluster.brokers_exactly());
    let largest = |shares: &crate::summary::BrokerShares| {
        let parts = shares.brokers.iter().map(|share| share.part);
        parts
            .max_by(f64::total_cmp)
            .map(|part| part * shares.brokers.len() as f64)
    };
    let mut facts = TrialFacts {
        name: match trial.name.as_str() {
            "" => trial.scenario.clone(),
            name => format!("{} {name}", trial.scenario),
        },
        brokers: exactly.unwrap_or(base.brokers),
        partitions: trial.topic.map_or(0, |topic| topic.partitions),
        replication: trial
            .topic
            .map_or(1, |topic| u32::from(topic.replication_factor)),
        tls: security.is_some_and(|security| security.contains("tls")),
        cpu_cores: trial.cpu.target_cores.filter(|cores| *cores > 0.0),
        skew: crate::statistics::mean(trial.broker_shares.iter().filter_map(largest)),
        ..base.clone()
    };
    for flow in &trial.flows {
        facts.add(flow);
    }
    facts.is_generator_limited = trial.generator.word == GeneratorState::Limited;
    facts.unusable = facts.why_unusable(trial);
    facts
}

impl TrialFacts {
    fn add(&mut self, flow: &FlowSummary) {
        let Some(throughput) = &flow.throughput else {
            return;
        };
        let batching = flow.batching.as_ref();
        let requests = batching.map_or(0.0, |batching| batching.requests_per_s.mean);
        let wire = throughput.wire_bytes_per_s.as_ref().map(|bytes| bytes.mean);
        let logical = throughput.logical_bytes_per_s.mean;
        match flow.kind {
            FlowKind::Consume => {
                self.out_bytes += wire.unwrap_or(logical);
                self.fetch_requests += requests;
            }
            FlowKind::Produce | FlowKind::Echo | FlowKind::Unknown => {
                self.records += throughput.records_per_s.mean;
                self.logical_bytes += logical;
                self.in_bytes += wire.unwrap_or(logical);
                self.produce_requests += requests;
                let batches = batching.and_then(|batching| batching.batches_per_request);
                self.batches += requests * batches.unwrap_or(1.0);
                self.record_bytes = flow.record_bytes.map(f64::from);
                self.is_closed_loop |= flow.closed_loop;
                let response = flow.latencies.get(TimeKind::Response);
                let p99 = response.and_then(|times| times.percentile(Quantile::P99));
                let p99 = p99
                    .filter(|_| !flow.closed_loop)
                    .map(|p99| p99.value_ns as f64);
                self.latency_ns_p99 = self.latency_ns_p99.into_iter().chain(p99).reduce(f64::max);
            }
        }
    }

    /// Whether brokers' costs can be derived from it.
    pub fn is_usable(&self) -> bool {
        self.unusable.is_none()
    }

    fn why_unusable(&self, trial: &TrialSummary) -> Option<UnusableTrial> {
        let limit = trial.limit.as_ref().map(|limit| limit.word);
        let is_warming = |flow: &FlowSummary| {
            let steadiness = flow.steadiness.as_ref();
            steadiness.is_some_and(|steadiness| steadiness.verdict == Steadiness::Warming)
        };
        if trial.repeats_measured == 0 {
            Some(UnusableTrial::NotMeasured)
        } else if trial.has_faults {
            Some(UnusableTrial::Faults)
        } else if self.records <= 0.0 {
            Some(UnusableTrial::NoProducers)
        } else if limit == Some(Bottleneck::OtherPrograms) {
            Some(UnusableTrial::OtherPrograms)
        } else if trial.flows.iter().any(is_warming) {
            Some(UnusableTrial::Warming)
        } else if self.cpu_cores.is_none() {
            Some(UnusableTrial::NoCpu)
        } else {
            None
        }
    }

    /// Bytes that followers fetched from leaders, per second.
    pub(super) fn replicated_bytes(&self) -> f64 {
        self.in_bytes * f64::from(self.replication.saturating_sub(1))
    }

    /// Uncompressed by compressed bytes; frames and requests make it a little smaller than 1 without compression.
    pub(super) fn compression_ratio(&self) -> f64 {
        match self.in_bytes > 0.0 {
            true => self.logical_bytes / self.in_bytes,
            false => 1.0,
        }
    }
}
