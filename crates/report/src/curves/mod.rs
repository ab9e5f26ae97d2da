//! Which charts a trial gets, and what each of them shows.

mod cpu;
mod latency;
mod percentile;
mod sweep;
mod throughput;

use crate::chart::{Axis, Band, Chart, Scale, Unit};
use crate::view::{Sweep, Timeline, Trial};

/// The charts of one trial, in the order of the page.
pub(crate) fn of_trial(trial: &Trial) -> Vec<Chart> {
    let mut charts = Vec::new();
    charts.extend(throughput::chart(trial));
    charts.extend(latency::charts(trial));
    charts.extend(percentile::chart(trial));
    charts.extend(cpu::chart(trial));
    charts
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
