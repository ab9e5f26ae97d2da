//! Which charts a trial gets, and what each of them shows.

mod cpu;
mod heat;
mod latency;
mod machine;
mod percentile;
mod sweep;
mod throughput;

use crate::chart::heat::Heat;
use crate::chart::{Axis, Band, Chart, Mark, Scale, Unit};
use crate::view::{Panel, Sweep, Timeline, Trial};

/// The charts of one trial, in the order of the page.
pub(crate) fn of_trial(trial: &Trial) -> Vec<Chart> {
    let mut charts = Vec::new();
    charts.extend(throughput::chart(trial));
    charts.extend(latency::charts(trial));
    charts.extend(percentile::chart(trial));
    charts.extend(cpu::chart(trial));
    charts
}

/// The charts of the machine while a trial ran.
pub(crate) fn of_machine(trial: &Trial) -> Vec<Chart> {
    machine::charts(trial, &Panel::ALL)
}

/// The charts of what brokers told of themselves meanwhile.
pub(crate) fn of_brokers(trial: &Trial) -> Vec<Chart> {
    machine::charts(trial, &Panel::OF_BROKERS)
}

/// The heat maps of one trial, a flow each.
pub(crate) fn heat_of_trial(trial: &Trial) -> Vec<Heat> {
    heat::charts(trial)
}

/// The charts of a scenario that varies one number.
pub(crate) fn of_sweep(sweep: &Sweep, id: &str) -> Vec<Chart> {
    sweep::charts(sweep, id)
}

/// The time axis that all repeats share.
fn time_axis(timelines: &[Timeline]) -> Axis {
    let ends = timelines.iter().flat_map(|timeline| {
        let stages = timeline.stages.iter().map(|stage| stage.to_s);
        let rates = timeline.flows.iter().filter_map(|flow| flow.rates.last());
        stages.chain(rates.map(|(at_s, _)| *at_s))
    });
    let high = ends.fold(1.0, f64::max);
    Axis::new(
        "time since the repeat began",
        Scale::Linear { low: 0.0, high },
        Unit::Seconds,
    )
}

/// The stages of the first repeat. Repeats of one plan have the same stages; where a stage ends by
/// count and not by time they differ, and the notes say so ([`stages_differ`]).
fn bands(timelines: &[Timeline]) -> Vec<Band> {
    let Some(first) = timelines.first() else {
        return Vec::new();
    };
    first
        .stages
        .iter()
        .map(|stage| Band {
            from: stage.from_s,
            to: stage.to_s,
            label: stage.name.clone(),
            measured: stage.measured,
        })
        .collect()
}

/// Faults that are marked at most: more lines would hide the curves.
const MARKS_MAX: usize = 24;

/// The faults of the first repeat. Those of others begin at the same times, but may strike other
/// nodes; all of them stand in the list of events.
fn marks(timelines: &[Timeline]) -> Vec<Mark> {
    let first = timelines.first();
    let faults = first.map_or(&[][..], |first| &first.faults);
    let marks = faults.iter().enumerate().take(MARKS_MAX);
    marks
        .map(|(index, fault)| Mark {
            at: fault.at_s,
            number: index + 1,
            begins: fault.begins,
        })
        .collect()
}

/// The marks in words.
fn fault_notes(timelines: &[Timeline]) -> Option<String> {
    let first = timelines.first()?;
    let (begin, end) = ("", ", ended");
    let words = |(index, fault): (usize, &crate::view::FaultAt)| {
        let way = if fault.begins { begin } else { end };
        format!("{} at {:.2} s, {}{way}", index + 1, fault.at_s, fault.words)
    };
    let shown = first.faults.iter().enumerate().take(MARKS_MAX);
    let shown: Vec<String> = shown.map(words).collect();
    if shown.is_empty() {
        return None;
    }
    let whose = match timelines.len() {
        1 => "Faults",
        _ => "Faults of the first repeat",
    };
    let more = match first.faults.len() > shown.len() {
        true => "; more in the list of events",
        false => "",
    };
    Some(format!("{whose}: {}{more}.", shown.join("; ")))
}

/// Whether any repeat's stages end visibly elsewhere than the first one's.
fn stages_differ(timelines: &[Timeline]) -> bool {
    let ends = |timeline: &Timeline| -> Vec<f64> {
        timeline.stages.iter().map(|stage| stage.to_s).collect()
    };
    let Some((first, others)) = timelines.split_first() else {
        return false;
    };
    let first = ends(first);
    others.iter().map(ends).any(|other| {
        let far = |(one, next): (&f64, &f64)| (one - next).abs() > 0.05 * one.max(*next);
        other.len() != first.len() || first.iter().zip(&other).any(far)
    })
}

/// Names of the flows that any repeat has, in order.
fn flow_names(timelines: &[Timeline]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for flow in timelines.iter().flat_map(|timeline| &timeline.flows) {
        if !names.contains(&flow.name.as_str()) {
            names.push(&flow.name);
        }
    }
    names
}

/// `repeat 2`, or nothing where there is one repeat only.
fn repeat_name(timelines: &[Timeline], repeat: u64) -> String {
    match timelines.len() {
        1 => String::new(),
        _ => format!("repeat {repeat}"),
    }
}

/// `each second`, `each 10 s`.
fn each_point(timelines: &[Timeline]) -> String {
    match timelines
        .iter()
        .map(|timeline| timeline.seconds_per_point)
        .max()
    {
        None | Some(0 | 1) => "each second".to_owned(),
        Some(seconds) => format!("the worst second of each {seconds} s"),
    }
}
