//! What one trial shows about the cost of load: read from a run's folder, summary and plan.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Summary;
use crate::series::{cpu_limits_of, host_of};
use crate::statistics::{Steadiness, mean};
use crate::summary::{
    Bottleneck, BrokerShares, FlowKind, FlowSummary, GeneratorState, TrialSummary,
};
use kgauge_results::folder::RunRead;
use kgauge_results::run::{MachineRecord, RepeatKey, Subject};
use kgauge_results::{Quantile, TimeKind};
use kgauge_scenario::{Arrivals, CompressionCodec, Fault, FlowPlan, RequestFault, Shape, Trial};

/// One trial, as sizing sees it. Rates are per second, of the whole cluster, over the hold stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialFacts {
    /// The run's id.
    pub run_id: String,
    /// Scenario and trial.
    pub name: String,
    /// All that it was made with, except for its rate. Trials with the same text differ in their rates only.
    pub setup: String,
    /// The software, such as Apache Kafka 4.3.1.
    pub release: MeasuredRelease,
    /// The brokers' machine.
    pub machine: SizingMachine,
    /// Brokers.
    pub brokers: u32,
    /// Partitions of the topic.
    pub partitions: u32,
    /// Replicas of each partition.
    pub replication: u32,
    /// Whether clients used TLS.
    pub tls: bool,
    /// The producers' codec; absent without compression.
    pub codec: Option<CompressionCodec>,
    /// The brokers compressed batches again, because the topic's codec is another one.
    pub is_recompressed: bool,
    /// Bytes of a record's value; absent if they vary.
    pub record_bytes: Option<f64>,
    /// Records acked.
    pub records: f64,
    /// Bytes of keys, values and headers acked.
    pub logical_bytes: f64,
    /// The same of each repeat.
    pub logical_bytes_repeats: Vec<f64>,
    /// Bytes of produce requests.
    pub in_bytes: f64,
    /// Produce requests.
    pub produce_requests: f64,
    /// Record batches of produce requests.
    pub batches: f64,
    /// Bytes of record batches before compression by those after it; absent without compression.
    pub compression_ratio: Option<f64>,
    /// Bytes of fetch responses to consumers.
    pub out_bytes: f64,
    /// Keys, values and headers that consumers read, of each repeat.
    pub read_bytes_repeats: Vec<f64>,
    /// Fetch requests of consumers.
    pub fetch_requests: f64,
    /// Cores that the brokers used.
    pub cpu_cores: Option<f64>,
    /// The limit on the CPU of each broker, in cores; absent without a limit.
    pub cpu_limit_cores: Option<f64>,
    /// Resident memory of the largest broker process, in bytes, without the page cache.
    pub resident_bytes: Option<f64>,
    /// The largest share of the records that one broker led, times the number of brokers: 1 if all lead the same.
    pub skew: Option<f64>,
    /// The 99th percentile of the response time, in nanoseconds, of load on a schedule.
    pub latency_ns_p99: Option<f64>,
    /// Producers sent as fast as they could, so the rate is what one topic and its clients can do.
    pub is_closed_loop: bool,
    /// What was due was acked while it lasted.
    pub has_kept_rate: bool,
    /// The generator was the bottleneck: the rate says nothing about the brokers, but their CPU time does.
    pub is_generator_limited: bool,
    /// The generator was late, for whatever reason: a long response time may be its own.
    pub is_generator_late: bool,
    /// A fault limited the rate of requests to brokers: the rate is that limit, but CPU time is as without it.
    pub is_capped: bool,
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

impl SizingMachine {
    /// Whether both can be one machine.
    pub(super) fn is_same(&self, other: &SizingMachine) -> bool {
        self.cpu_model == other.cpu_model
            && self.processors == other.processors
            && MachineRecord::is_same_memory(self.memory_bytes, other.memory_bytes)
    }
}

/// Why a trial says nothing about cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnusableTrial {
    /// Nothing was measured.
    NotMeasured,
    /// Other programs took the CPU.
    OtherPrograms,
    /// The hypervisor took the CPU.
    Hypervisor,
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
    let environment = run.environment.as_ref();
    let base = TrialFacts {
        run_id: summary.run.run_id.clone(),
        release: MeasuredRelease {
            is_embedded: summary
                .target
                .kind
                .is_some_and(|kind| !kind.is_apache_kafka()),
            version: summary.target.version.clone(),
        },
        // The recorded machine is the load generator's. CPU time is only known of brokers on the same one.
        machine: SizingMachine {
            cpu_model: machine.and_then(|machine| machine.cpu_model.clone()),
            processors: machine.and_then(|machine| machine.cpu_count),
            memory_bytes: machine.and_then(|machine| machine.memory_bytes),
        },
        brokers: summary.target.brokers.unwrap_or_default(),
        tls: environment.is_some_and(|one| one.target.tls == Some(true)),
        ..TrialFacts::default()
    };
    let planned = |index: u32| {
        let mut trials = run.plan.iter().flat_map(|plan| &plan.trials);
        trials.find(|planned| planned.index == index)
    };
    let facts = |trial: &TrialSummary| {
        let mut facts = of_trial(&base, planned(trial.index), trial);
        facts.add_evidence(run, trial);
        facts.setup = format!(
            "{} {:?} {} {}",
            facts.brokers, facts.cpu_limit_cores, facts.tls, facts.setup
        );
        facts
    };
    summary.trials.iter().map(facts).collect()
}

fn of_trial(base: &TrialFacts, planned: Option<&Trial>, trial: &TrialSummary) -> TrialFacts {
    let security = planned.and_then(|planned| planned.cluster.security.as_deref());
    let exactly = planned.and_then(|planned| planned.cluster.brokers_exactly());
    let mut facts = TrialFacts {
        name: match trial.name.as_str() {
            "" => trial.scenario.clone(),
            name => format!("{} {name}", trial.scenario),
        },
        setup: planned.map_or_else(|| trial.name.clone(), setup),
        brokers: exactly.unwrap_or(base.brokers),
        partitions: trial.topic.map_or(0, |topic| topic.partitions),
        replication: trial
            .topic
            .map_or(1, |topic| u32::from(topic.replication_factor)),
        tls: security.map_or(base.tls, |security| security.contains("tls")),
        codec: planned.and_then(codec),
        cpu_cores: trial.cpu.target_cores.filter(|cores| *cores > 0.0),
        skew: mean(trial.broker_shares.iter().filter_map(largest_share)),
        has_kept_rate: true,
        is_generator_limited: trial.generator.word == GeneratorState::Limited,
        is_generator_late: matches!(
            trial.generator.word,
            GeneratorState::Late | GeneratorState::Crowded | GeneratorState::Limited
        ),
        is_capped: planned.is_some_and(is_capped),
        ..base.clone()
    };
    facts.is_recompressed = planned.is_some_and(|planned| {
        let topic = planned.topic.config.get("compression.type");
        let topic = topic.filter(|codec| *codec != "producer");
        let own = facts.codec.unwrap_or(CompressionCodec::None);
        topic.is_some_and(|codec| codec != own.name())
    });
    for flow in &trial.flows {
        facts.add(flow);
    }
    facts.unusable = facts.why_unusable(trial);
    facts
}

/// What a trial was planned with, except for the rates of its producers.
fn setup(planned: &Trial) -> String {
    let mut flows = planned.flows.clone();
    for flow in &mut flows {
        if let FlowPlan::Produce(produce) = flow {
            produce.shape = Shape::Max;
            produce.arrivals = Arrivals::Even;
        }
        if let FlowPlan::Echo(echo) = flow {
            echo.produce.shape = Shape::Max;
            echo.produce.arrivals = Arrivals::Even;
        }
    }
    format!("{:?} {:?} {flows:?}", planned.cluster, planned.topic)
}

/// The codec of the first flow that writes.
fn codec(planned: &Trial) -> Option<CompressionCodec> {
    let codec = planned.flows.iter().find_map(|flow| match flow {
        FlowPlan::Produce(produce) => Some(produce.settings.compression.codec),
        FlowPlan::Echo(echo) => Some(echo.produce.settings.compression.codec),
        FlowPlan::Consume(_) => None,
    });
    codec.filter(|codec| *codec != CompressionCodec::None)
}

/// Whether its faults only limit rates, from the start.
fn is_capped(planned: &Trial) -> bool {
    let is_limit = |fault: &Fault| {
        let what = match fault {
            Fault::Requests { what, .. } => Some(what),
            _ => None,
        };
        matches!(what, Some(RequestFault::Capacity(_)))
    };
    let mut faults = planned.faults.iter();
    !planned.faults.is_empty()
        && faults.all(|fault| fault.for_ns.is_none() && is_limit(&fault.kind))
}

/// The largest share of one repeat, times the number of brokers.
fn largest_share(shares: &BrokerShares) -> Option<f64> {
    let parts = shares.brokers.iter().map(|share| share.part);
    let largest = parts.max_by(f64::total_cmp)?;
    Some(largest * shares.brokers.len() as f64)
}

/// Adds two lists element by element.
fn add_repeats(to: &mut Vec<f64>, values: &[f64]) {
    to.resize(to.len().max(values.len()), 0.0);
    for (sum, value) in to.iter_mut().zip(values) {
        *sum += value;
    }
}

impl TrialFacts {
    fn add(&mut self, flow: &FlowSummary) {
        let Some(throughput) = &flow.throughput else {
            return;
        };
        let batching = flow.batching.as_ref();
        let requests = batching.map_or(0.0, |batching| batching.requests_per_s.mean);
        let wire = throughput.wire_bytes_per_s.as_ref().map(|bytes| bytes.mean);
        let logical = &throughput.logical_bytes_per_s;
        match flow.kind {
            FlowKind::Consume => {
                self.out_bytes += wire.unwrap_or(logical.mean);
                self.fetch_requests += requests;
                add_repeats(&mut self.read_bytes_repeats, &logical.values);
            }
            FlowKind::Produce | FlowKind::Echo | FlowKind::Unknown => {
                if flow.kind == FlowKind::Echo {
                    // Its consumers share the partitions, so that each record is read once.
                    self.out_bytes += wire.unwrap_or(logical.mean);
                }
                self.records += throughput.records_per_s.mean;
                self.logical_bytes += logical.mean;
                add_repeats(&mut self.logical_bytes_repeats, &logical.values);
                self.in_bytes += wire.unwrap_or(logical.mean);
                self.produce_requests += requests;
                let batches = batching.and_then(|batching| batching.batches_per_request);
                self.batches += requests * batches.unwrap_or(1.0);
                let ratio = batching.and_then(|batching| batching.compression_ratio);
                self.compression_ratio = self.compression_ratio.or(ratio);
                self.record_bytes = flow.record_bytes.map(f64::from);
                self.is_closed_loop |= flow.closed_loop;
                self.has_kept_rate &= flow.has_kept_rate();
                let response = flow.latencies.get(TimeKind::Response);
                let p99 = response.and_then(|times| times.percentile(Quantile::P99));
                let p99 = p99
                    .filter(|_| !flow.closed_loop)
                    .map(|p99| p99.value_ns as f64);
                self.latency_ns_p99 = self.latency_ns_p99.into_iter().chain(p99).reduce(f64::max);
            }
        }
    }

    /// Adds what samples of the brokers' processes show.
    fn add_evidence(&mut self, run: &RunRead, trial: &TrialSummary) {
        let is_broker = |subject: &Subject| matches!(subject, Subject::Target { .. });
        let mut limits = Vec::new();
        let mut resident = Vec::new();
        for repeat in trial.repeats.iter().filter(|repeat| repeat.measured) {
            let key = RepeatKey {
                trial: trial.index,
                repeat: repeat.repeat,
            };
            let of_brokers = cpu_limits_of(run, key).into_iter();
            let of_brokers = of_brokers.filter(|limit| is_broker(&limit.subject));
            limits.extend(of_brokers.map(|limit| limit.cores));
            let processes = host_of(run, key).processes.into_iter();
            let of_brokers = processes.filter(|process| is_broker(&process.subject));
            let samples = of_brokers.flat_map(|process| process.resident_bytes);
            resident.extend(samples.map(|(_, bytes)| bytes as f64));
        }
        self.cpu_limit_cores = limits.into_iter().reduce(f64::min);
        // All nodes of the embedded cluster share one process.
        let processes = match self.release.is_embedded {
            true => f64::from(self.brokers.max(1)),
            false => 1.0,
        };
        let largest = resident.into_iter().reduce(f64::max);
        self.resident_bytes = largest.map(|bytes| bytes / processes);
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
        } else if trial.has_faults && !self.is_capped {
            Some(UnusableTrial::Faults)
        } else if self.records <= 0.0 {
            Some(UnusableTrial::NoProducers)
        } else if limit == Some(Bottleneck::OtherPrograms) {
            Some(UnusableTrial::OtherPrograms)
        } else if limit == Some(Bottleneck::Hypervisor) {
            Some(UnusableTrial::Hypervisor)
        } else if trial.flows.iter().any(is_warming) {
            Some(UnusableTrial::Warming)
        } else if self.cpu_cores.is_none() {
            Some(UnusableTrial::NoCpu)
        } else {
            None
        }
    }

    /// Bytes of an average record.
    pub(super) fn mean_record_bytes(&self) -> f64 {
        self.record_bytes
            .unwrap_or(self.logical_bytes / self.records)
    }

    /// Bytes that followers fetched from leaders, per second.
    pub(super) fn replicated_bytes(&self) -> f64 {
        self.in_bytes * self.copies()
    }

    /// Followers of each partition.
    pub(super) fn copies(&self) -> f64 {
        f64::from(self.replication.saturating_sub(1))
    }

    /// How often consumers read each byte.
    pub(super) fn fan_out(&self) -> f64 {
        match self.in_bytes > 0.0 {
            true => self.out_bytes / self.in_bytes,
            false => 0.0,
        }
    }

    /// Bytes of requests by bytes of keys, values and headers, without what compression saved: what framing adds.
    pub(super) fn framing(&self) -> f64 {
        match self.in_bytes > 0.0 && self.logical_bytes > 0.0 {
            true => self.in_bytes * self.compression_ratio.unwrap_or(1.0) / self.logical_bytes,
            false => 1.0,
        }
    }

    /// How much more than an equal part the busiest broker led, beyond what the numbers of partitions and brokers
    /// explain; at least 1.
    pub(super) fn own_skew(&self) -> Option<f64> {
        let skew = self.skew? / imbalance(self.partitions, self.brokers);
        Some(skew.max(1.0))
    }

    /// The share of its CPU that the busiest broker used.
    pub(super) fn busiest_part(&self) -> Option<f64> {
        let of_each = self.cpu_cores? / f64::from(self.brokers.max(1));
        Some(of_each * self.skew.unwrap_or(1.0).max(1.0) / self.cores_per_broker()?)
    }

    /// Cores that each broker could use.
    fn cores_per_broker(&self) -> Option<f64> {
        // A node of the embedded cluster is one thread.
        let thread = self.release.is_embedded.then_some(1.0);
        let shared = self.machine.processors;
        let shared = shared.map(|count| f64::from(count) / f64::from(self.brokers.max(1)));
        let limits = [self.cpu_limit_cores, thread, shared];
        limits.into_iter().flatten().reduce(f64::min)
    }
}

/// The largest number of partitions that one broker leads, by the mean: 1.5 with four partitions on three brokers.
pub(super) fn imbalance(partitions: u32, brokers: u32) -> f64 {
    let (partitions, brokers) = (partitions.max(1), brokers.max(1));
    f64::from(partitions.div_ceil(brokers)) * f64::from(brokers) / f64::from(partitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_that_do_not_divide_make_one_broker_busier() {
        assert_eq!(imbalance(12, 3), 1.0);
        assert_eq!(imbalance(4, 3), 1.5);
        assert_eq!(imbalance(1, 3), 3.0);
        assert_eq!(imbalance(0, 0), 1.0);
    }

    #[test]
    fn the_busiest_broker_has_its_own_limit() {
        let facts = TrialFacts {
            brokers: 3,
            partitions: 4,
            skew: Some(1.65),
            cpu_cores: Some(0.6),
            cpu_limit_cores: Some(0.5),
            machine: SizingMachine {
                processors: Some(8),
                ..SizingMachine::default()
            },
            ..TrialFacts::default()
        };
        // 0.2 cores each, 0.33 of the busiest, of 0.5.
        assert!((facts.busiest_part().expect("a part") - 0.66).abs() < 1e-9);
        // Two of four partitions explain 1.5.
        assert!((facts.own_skew().expect("a skew") - 1.1).abs() < 1e-9);
        let embedded = TrialFacts {
            cpu_limit_cores: None,
            release: MeasuredRelease {
                is_embedded: true,
                version: None,
            },
            ..facts
        };
        assert!((embedded.busiest_part().expect("a part") - 0.33).abs() < 1e-9);
    }

    #[test]
    fn framing_is_what_compression_does_not_explain() {
        let facts = TrialFacts {
            logical_bytes: 1_000.0,
            in_bytes: 260.0,
            compression_ratio: Some(4.0),
            out_bytes: 780.0,
            ..TrialFacts::default()
        };
        assert_eq!((facts.framing(), facts.fan_out()), (1.04, 3.0));
    }
}
