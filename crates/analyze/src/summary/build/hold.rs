//! What was measured of a flow in the hold stages: the figures' raw material.

use std::sync::LazyLock;

use kgauge_scenario::FlowPlan;

use crate::statistics::Spread;
use crate::summary::FlowKind;
use kgauge_results::folder::{FlowRead, RepeatRead};
use kgauge_results::histogram::Histogram;
use kgauge_results::run::RepeatOutcome;
use kgauge_results::slice::{Slice, SliceKey, TimeKind};
use kgauge_results::stage::{SECOND_NS, Stage};

/// The repeats of one trial that figures are made from.
pub(super) struct MeasuredRepeats<'a> {
    /// All repeats that were started, in order: failures in any of them are reported.
    pub(super) attempts: Vec<&'a RepeatRead>,
    /// Those that figures are made from, in order.
    pub(super) repeats: Vec<&'a RepeatRead>,
    /// True if none is complete, so that `repeats` has incomplete ones.
    pub(super) partial: bool,
}

impl<'a> MeasuredRepeats<'a> {
    /// The complete repeats; if there is none, those that got as far as a hold stage.
    pub(super) fn of(attempts: Vec<&'a RepeatRead>) -> MeasuredRepeats<'a> {
        let has_hold = |repeat: &&&'a RepeatRead| {
            let mut seen = repeat.flows.values();
            let planned = repeat.record.iter().flat_map(|record| &record.flows);
            let mut planned = planned.filter_map(|flow| flow.stage(Stage::Hold));
            seen.any(|flow| flow.hold().is_some()) || planned.any(|span| span.length_ns() > 0)
        };
        let complete = |repeat: &&&'a RepeatRead| {
            let record = repeat.record.as_ref();
            record.is_some_and(|record| record.outcome == RepeatOutcome::Complete)
        };
        let with_hold = attempts
            .iter()
            .filter(has_hold)
            .copied()
            .collect::<Vec<_>>();
        let whole = with_hold
            .iter()
            .filter(complete)
            .copied()
            .collect::<Vec<_>>();
        let partial = whole.is_empty() && !with_hold.is_empty();
        MeasuredRepeats {
            attempts,
            repeats: if partial { with_hold } else { whole },
            partial,
        }
    }

    /// What was measured of one flow, a repeat each; repeats without a hold of it are left out.
    pub(super) fn holds(&self, flow: u16) -> Vec<FlowHold<'a>> {
        let holds = self
            .repeats
            .iter()
            .filter_map(|repeat| FlowHold::of(repeat, flow));
        holds.collect()
    }
}

/// One flow's hold stage in one repeat.
#[derive(Clone, Copy)]
pub(super) struct FlowHold<'a> {
    pub(super) repeat: u32,
    pub(super) length_ns: u64,
    pub(super) slice: &'a Slice,
}

impl<'a> FlowHold<'a> {
    pub(super) fn of(repeat: &'a RepeatRead, flow: u16) -> Option<FlowHold<'a>> {
        let read = repeat.flows.get(&flow);
        let recorded_ns = recorded_ns(repeat, flow);
        // A flow that had a hold and recorded nothing in it did nothing: that is a figure too.
        let nothing = recorded_ns.map(|_| &*NOTHING);
        let length_ns = recorded_ns.or_else(|| seen_ns(read?))?;
        (length_ns > 0).then_some(FlowHold {
            repeat: repeat.key.repeat,
            length_ns,
            slice: read.and_then(FlowRead::hold).or(nothing)?,
        })
    }

    pub(super) fn seconds(&self) -> f64 {
        self.length_ns as f64 / SECOND_NS as f64
    }

    /// Records acked or read.
    pub(super) fn records(&self, kind: FlowKind) -> u64 {
        let counts = &self.slice.counts;
        match kind {
            FlowKind::Produce | FlowKind::Echo => counts.records_acked,
            FlowKind::Consume => counts.records_consumed,
            FlowKind::Unknown => counts.records_acked.max(counts.records_consumed),
        }
    }
}

static NOTHING: LazyLock<Slice> = LazyLock::new(|| {
    Slice::new(SliceKey {
        flow: 0,
        stage: Stage::Hold,
        second: 0,
    })
});

/// The length of a flow's hold as the record of the repeat has it.
fn recorded_ns(repeat: &RepeatRead, flow: u16) -> Option<u64> {
    let record = repeat.record.as_ref()?.flows.get(usize::from(flow))?;
    record.stage(Stage::Hold).map(|span| span.length_ns())
}

/// Where the record of a repeat is missing: the whole seconds in which its hold was seen.
fn seen_ns(read: &FlowRead) -> Option<u64> {
    let mut seen = read
        .seconds
        .iter()
        .filter(|second| second.stage == Stage::Hold);
    let first = seen.next()?;
    let last = seen.next_back().unwrap_or(first);
    Some(last.end_ns().saturating_sub(first.start_ns()))
}

/// What a flow does, and `Unknown` without a plan.
pub(super) fn kind_of(plan: Option<&FlowPlan>) -> FlowKind {
    match plan {
        Some(FlowPlan::Produce(_)) => FlowKind::Produce,
        Some(FlowPlan::Consume(_)) => FlowKind::Consume,
        Some(FlowPlan::Echo(_)) => FlowKind::Echo,
        None => FlowKind::Unknown,
    }
}

/// One distribution over all repeats.
pub(super) fn merged(holds: &[FlowHold<'_>], kind: TimeKind) -> Histogram {
    let mut sum = Histogram::new();
    for hold in holds {
        sum.add(hold.slice.times(kind));
    }
    sum
}

/// A figure of each repeat, and its spread.
pub(super) fn spread(
    holds: &[FlowHold<'_>],
    figure: impl Fn(&FlowHold<'_>) -> f64,
) -> Option<Spread> {
    Spread::of(&holds.iter().map(figure).collect::<Vec<_>>())
}
