//! One outcome of all agents' loads.

use kgauge_load::{FlowOutcome, LoadOutcome, Totals};
use kgauge_results::PaceSeries;

use super::progress::{ReportedProgress, first_outages};
use super::record::{AgentState, RepeatTrack};
use crate::protocol::AgentOutcome;

/// What is known of a repeat besides the outcomes.
pub(super) struct MergeContext<'a> {
    /// The flows' names.
    pub(super) names: Vec<String>,
    /// Flows have record counts that end the hold.
    pub(super) is_counted: bool,
    /// When the hold was to begin.
    pub(super) hold_start_ns: u64,
    /// Now.
    pub(super) now_ns: u64,
    /// For agents without an outcome.
    pub(super) progress: &'a ReportedProgress,
}

/// Adds all of them. An agent that was lost counts with its last report.
pub(super) fn merge(track: &RepeatTrack, context: MergeContext<'_>) -> LoadOutcome {
    let MergeContext {
        names,
        is_counted,
        hold_start_ns,
        now_ns,
        progress,
    } = context;
    let ended = || track.states().filter_map(AgentState::outcome);
    let loads = || ended().map(|outcome| &outcome.load);
    let cut_short = track.states().enumerate();
    let cut_short = cut_short.filter(|(_, state)| state.is_cut_short());
    let cut_short: Vec<usize> = cut_short.map(|(index, _)| index).collect();
    let is_stopped_early = track
        .states()
        .any(|state| matches!(state, AgentState::NotStarted));
    let end_ns = match cut_short.is_empty() {
        true => loads().map(|load| load.end_ns).max().unwrap_or(now_ns),
        false => now_ns,
    };
    // An agent without clients ends at once, and knows no borders.
    let latest = |of: fn(&LoadOutcome) -> u64| loads().map(of).max();
    let hold_start_ns = latest(|load| load.hold_start_ns).unwrap_or(hold_start_ns.min(end_ns));
    let counted = ended().filter_map(|outcome| outcome.counts_done_ns);
    let hold_end_ns = match is_counted.then(|| counted.max()).flatten() {
        Some(done_ns) if done_ns > 0 => done_ns,
        _ => latest(|load| load.hold_end_ns).unwrap_or(end_ns),
    };
    let threads =
        |of: fn(&LoadOutcome) -> &Vec<u64>| loads().flat_map(of).copied().collect::<Vec<u64>>();
    let mut with_clients = loads().filter(|load| !load.worker_hold_cpu_ns.is_empty());
    LoadOutcome {
        flows: names
            .into_iter()
            .enumerate()
            .map(|(flow, name)| flow_of((flow, name), ended(), &cut_short, progress))
            .collect(),
        hold_start_ns,
        hold_end_ns: hold_end_ns.min(end_ns),
        end_ns,
        worker_hold_cpu_ns: threads(|load| &load.worker_hold_cpu_ns),
        worker_hold_spun_ns: threads(|load| &load.worker_hold_spun_ns),
        worker_hold_gave_way_ns: threads(|load| &load.worker_hold_gave_way_ns),
        feeding_hold_cpu_ns: 0,
        drivers: Vec::new(),
        driver_trouble: None,
        abandoned: loads().any(|load| load.abandoned),
        interrupted: is_stopped_early || loads().any(|load| load.interrupted),
        broken: loads().any(|load| load.broken),
        outages: first_outages(loads().flat_map(|load| &load.outages)),
        is_target_gone: with_clients.clone().next().is_some()
            && with_clients.all(|load| load.is_target_gone),
        incidents_dropped: loads().fold(0, |sum, load| {
            u64::saturating_add(sum, load.incidents_dropped)
        }),
    }
}

fn flow_of<'a>(
    (flow, name): (usize, String),
    ended: impl Iterator<Item = &'a AgentOutcome>,
    cut_short: &[usize],
    progress: &ReportedProgress,
) -> FlowOutcome {
    let mut sum = FlowOutcome {
        name,
        totals: Totals::default(),
        pace: PaceSeries::default(),
        group: None,
        members: Vec::new(),
        copy: None,
        transactions: None,
    };
    for part in ended.filter_map(|outcome| outcome.load.flows.get(flow)) {
        sum.totals = sum.totals.plus(&part.totals);
        sum.pace.add(&part.pace);
        sum.group = match (sum.group, part.group) {
            (Some(sum), Some(part)) => Some(sum.plus(part)),
            (known, part) => known.or(part),
        };
        sum.members.extend_from_slice(&part.members);
        sum.transactions = sum.transactions.or(part.transactions);
    }
    sum.members.sort_unstable_by_key(|member| member.consumer);
    for agent in cut_short.iter().filter_map(|index| progress.agent(*index)) {
        if let Some(part) = agent.load.as_ref().and_then(|load| load.flows.get(flow)) {
            sum.totals = sum.totals.plus(part);
        }
    }
    sum
}
