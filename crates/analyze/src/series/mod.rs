//! Series for charts: one trial second by second.

use kgauge_results::folder::{FlowRead, RepeatRead, RunRead};
use kgauge_results::run::{Event, Evidence, FlowRecord, RepeatKey, StageSpan, Subject};
use kgauge_results::slice::Counts;
use kgauge_results::stage::{SECOND_NS, Stage};
use kgauge_scenario::Stages;

mod broker;
mod clients;
mod cpu;
mod cpu_limit;
mod curve;
mod host;
mod mean;
mod metrics;
mod replicas;
mod samples_by_thing;

pub use broker::{BrokerPoint, BrokerSeries, ListenerPoint};
pub use clients::{
    ClientFigures, ClientHold, ClientSecond, ClientSeries, HeldPoint, WaitShares, client_hold,
};
pub use cpu::CpuPoint;
pub(crate) use cpu::{CpuHold, programs_of};
pub use cpu_limit::{CpuLimitPoint, CpuLimitSeries};
pub use curve::CurvePoint;
pub(crate) use curve::{curve_ns, curve_quantiles};
pub use host::{DiskSeries, HostSeries, MemoryPoint, NetworkSeries, PressureSeries, ProcessSeries};
pub use metrics::MetricPoint;
pub use replicas::{
    BrokerReplicas, ChangePoint, GroupSeries, GrowthPoint, ReplicasPoint, TopicPoint, WireHold,
    WireSeries, lag_grows, wire_hold,
};

/// All that charts of one trial need.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Position of the trial in the plan.
    pub trial: u32,
    /// Its repeats, in order.
    pub repeats: Vec<RepeatSeries>,
}

/// One repeat over time.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatSeries {
    /// From 0.
    pub repeat: u32,
    /// Its flows, those that recorded anything.
    pub flows: Vec<FlowSeries>,
    /// CPU of processes and threads.
    pub cpu: Vec<CpuSeries>,
    /// The machine, and what processes used of it beside CPU.
    pub host: HostSeries,
    /// The brokers' own metrics.
    pub brokers: Vec<BrokerSeries>,
    /// kgauge's own clients, flow by flow.
    pub clients: Vec<ClientSeries>,
    /// The run's topic, as brokers reported it.
    pub wire: WireSeries,
    /// What happened meanwhile.
    pub events: Vec<Event>,
}

/// One flow over time.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSeries {
    /// Index in the trial.
    pub flow: u16,
    /// Its stages as they were; of a run that was cut short as far as its seconds tell.
    pub stages: Vec<StageSpan>,
    /// Second by second, ascending; seconds without any sample inside a stage are in it. A
    /// second that a border cuts stands once for each stage.
    pub seconds: Vec<SecondPoint>,
}

/// A second (or the part of it that belongs to a stage) of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondPoint {
    /// The stage.
    pub stage: Stage,
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// Records acked or read a second.
    pub records_per_s: f64,
    /// Logical bytes a second of them.
    pub logical_bytes_per_s: f64,
    /// Wire bytes a second.
    pub wire_bytes_per_s: f64,
    /// Mean number of records handed over and not yet answered.
    pub in_flight_mean: f64,
    /// What was counted.
    pub counts: Counts,
}

/// CPU of one process or thread over time.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuSeries {
    /// Whose.
    pub subject: Subject,
    /// How much of it.
    pub points: Vec<CpuPoint>,
}

impl Series {
    /// The series of one trial.
    pub fn of(run: &RunRead, trial: u32) -> Series {
        let repeats = run.repeats_of(trial).collect::<Vec<_>>();
        Series {
            trial,
            repeats: repeats
                .iter()
                .map(|repeat| repeat_series(run, repeat))
                .collect(),
        }
    }
}

/// The limits on the CPU time of processes during one repeat.
pub(crate) fn cpu_limits_of(run: &RunRead, key: RepeatKey) -> Vec<CpuLimitSeries> {
    let evidence = run.evidence.iter();
    let evidence: Vec<&Evidence> = evidence.filter(|seen| seen.repeat == Some(key)).collect();
    cpu_limit::series_of(&evidence)
}

/// CPU of processes and threads, from evidence.
pub(crate) fn cpu_series_of(evidence: &[&Evidence]) -> Vec<CpuSeries> {
    cpu::series_of(evidence)
}

/// What the machine's processors did from one moment of a repeat to another.
pub(crate) fn cpu_hold(run: &RunRead, key: RepeatKey, start_ns: u64, end_ns: u64) -> CpuHold {
    CpuHold::of(&evidence_of(run, key), start_ns, end_ns)
}

/// What the machine did during one repeat.
pub(crate) fn host_of(run: &RunRead, key: RepeatKey) -> HostSeries {
    host::series_of(&evidence_of(run, key))
}

/// kgauge's own clients during one repeat, flow by flow.
pub(crate) fn client_series_of(run: &RunRead, repeat: &RepeatRead) -> Vec<ClientSeries> {
    clients::series_of(run, repeat, &evidence_of(run, repeat.key))
}

/// The brokers' own metrics during one repeat.
pub(crate) fn brokers_of(run: &RunRead, key: RepeatKey) -> Vec<BrokerSeries> {
    broker::series_of(&evidence_of(run, key))
}

fn evidence_of(run: &RunRead, key: RepeatKey) -> Vec<&Evidence> {
    let evidence = run.evidence.iter();
    evidence.filter(|seen| seen.repeat == Some(key)).collect()
}

fn repeat_series(run: &RunRead, repeat: &RepeatRead) -> RepeatSeries {
    let trials = run.plan.iter().flat_map(|plan| &plan.trials);
    let mut trials = trials.filter(|trial| trial.index == repeat.key.trial);
    let planned = trials.next().map(|trial| trial.stages);
    let flows = repeat.flows.iter().map(|(index, flow)| {
        let records = repeat.record.as_ref().map(|record| &record.flows);
        let record = records.and_then(|flows| flows.get(usize::from(*index)));
        flow_series(*index, flow, record, planned)
    });
    let events = run
        .events
        .iter()
        .filter(|event| event.repeat == Some(repeat.key));
    let evidence = evidence_of(run, repeat.key);
    RepeatSeries {
        repeat: repeat.key.repeat,
        flows: flows.collect(),
        cpu: cpu::series_of(&evidence),
        host: host::series_of(&evidence),
        brokers: broker::series_of(&evidence),
        clients: clients::series_of(run, repeat, &evidence),
        wire: replicas::series_of(&evidence),
        events: events.cloned().collect(),
    }
}

fn flow_series(
    index: u16,
    flow: &FlowRead,
    record: Option<&FlowRecord>,
    planned: Option<Stages>,
) -> FlowSeries {
    let stages = match record {
        Some(record) if !record.stages.is_empty() => record.stages.clone(),
        _ => stages_seen(flow, planned),
    };
    let mut seconds = Vec::with_capacity(flow.seconds.len());
    for span in &stages {
        fill_stage(*span, flow, &mut seconds);
    }
    FlowSeries {
        flow: index,
        stages,
        seconds,
    }
}

/// Where no record has the borders: whole seconds from the first to the last sample. Where two stages share a second,
/// the plan has the border within it.
fn stages_seen(flow: &FlowRead, planned: Option<Stages>) -> Vec<StageSpan> {
    let mut stages: Vec<StageSpan> = Vec::new();
    for stage in Stage::ALL {
        let mut seen = flow.seconds.iter().filter(|second| second.stage == stage);
        let Some(first) = seen.next() else {
            continue;
        };
        let last = seen.next_back().unwrap_or(first);
        let mut start_ns = first.start_ns();
        if let Some(before) = stages.last_mut()
            && let Some(border_ns) = planned.and_then(|planned| border_before(stage, planned))
            && (start_ns..before.end_ns).contains(&border_ns)
        {
            (before.end_ns, start_ns) = (border_ns, border_ns);
        }
        stages.push(StageSpan {
            stage,
            start_ns,
            end_ns: last.end_ns(),
        });
    }
    stages
}

/// Where a stage is planned to begin; `None` where that is not known before it has.
fn border_before(stage: Stage, planned: Stages) -> Option<u64> {
    match stage {
        Stage::WarmUp => None,
        Stage::Hold => Some(planned.warm_up_ns),
        Stage::Drain => Some(planned.warm_up_ns.saturating_add(planned.hold_ns?)),
    }
}

/// Points for each second of a stage, the empty ones too: a stall is a row of zeros, not a gap.
fn fill_stage(span: StageSpan, flow: &FlowRead, points: &mut Vec<SecondPoint>) {
    let known = flow
        .seconds
        .iter()
        .filter(|second| second.stage == span.stage);
    let known = known.collect::<Vec<_>>();
    // What was seen bounds what is filled: a damaged record cannot make millions of points.
    let Some(seen_end) = known.last().map(|last| last.second + last.seconds) else {
        return;
    };
    let mut known = known.into_iter().peekable();
    let first = u32::try_from(span.start_ns / SECOND_NS).unwrap_or(u32::MAX);
    let first = first.min(known.peek().map_or(first, |second| second.second));
    let mut second = first;
    while second < seen_end {
        let found = known.next_if(|found| found.second == second);
        let start_ns = (u64::from(second) * SECOND_NS).max(span.start_ns);
        second += found.map_or(1, |found| found.seconds.max(1));
        let end_ns = (u64::from(second) * SECOND_NS).min(span.end_ns);
        let counts = found.map(|found| found.counts).unwrap_or_default();
        // A sample outside its recorded stage is still shown, as of a whole second.
        let length_ns = end_ns.checked_sub(start_ns).filter(|length| *length > 0);
        let seconds = length_ns.unwrap_or(SECOND_NS) as f64 / SECOND_NS as f64;
        // A flow does one of the two.
        let rate = |sent: u64, read: u64| sent.saturating_add(read) as f64 / seconds;
        points.push(SecondPoint {
            stage: span.stage,
            start_ns,
            end_ns: end_ns.max(start_ns),
            records_per_s: rate(counts.records_acked, counts.records_consumed),
            logical_bytes_per_s: rate(counts.logical_bytes_acked, counts.logical_bytes_consumed),
            wire_bytes_per_s: rate(counts.wire_bytes_sent, counts.wire_bytes_consumed),
            in_flight_mean: counts.in_flight_record_ns as f64 / (seconds * SECOND_NS as f64),
            counts,
        });
    }
}
