//! A heat map for each flow that has times: when on the horizontal axis, how long on the vertical one.

use super::LatencyScope;
use crate::chart::heat::Heat;
use crate::chart::{Axis, AxisUnit, Chart, Scale};
use crate::format;
use crate::view::{HeatMap, TrialView};

/// The heat maps of a trial.
pub(super) fn charts(trial: &TrialView, scope: LatencyScope) -> Vec<Heat> {
    let maps = trial.heat.iter().enumerate();
    let maps = maps.filter(|(_, map)| scope.has_name(trial, &map.flow));
    maps.map(|(index, map)| heat(trial, index, map)).collect()
}

fn heat(trial: &TrialView, index: usize, map: &HeatMap) -> Heat {
    let (low, high) = (map.borders_ns.first(), map.borders_ns.last());
    let scale = Scale::Log {
        low: low.copied().unwrap_or(1.0),
        high: high.copied().unwrap_or(10.0),
    };
    let name = map.kind.title();
    let mut title = format!("{} heat map", format::capital(name));
    if trial.heat.len() > 1 {
        title = format!("{title}: {}", map.flow);
    }
    let counted = map.kind.counted();
    let each = match map.seconds_per_column {
        1 => "second".to_owned(),
        seconds => format!("{seconds} s"),
    };
    let repeats = match map.repeats {
        0 | 1 => String::new(),
        repeats => format!(", {repeats} repeats merged"),
    };
    Heat {
        frame: Chart {
            id: format!("{}-heat-{}", trial.id, index + 1),
            title,
            subtitle: format!("colour: {counted} per {each} by latency{repeats}; log axis"),
            x: super::time_axis(&trial.timelines),
            y: Axis::new(name, scale, AxisUnit::Nanoseconds),
            bands: super::bands(&trial.timelines),
            marks: super::marks(&trial.timelines),
            notes: notes(trial, map),
            ..Chart::default()
        },
        counted,
        seconds_per_column: map.seconds_per_column,
        borders: map.borders_ns.clone(),
        counts: map.counts.clone(),
    }
}

fn notes(trial: &TrialView, map: &HeatMap) -> Vec<String> {
    let mut notes = Vec::new();
    if map.kind.is_headline() {
        notes.push("Records are plotted at their intended send time.".to_owned());
    }
    let flow = trial.flows.iter().find(|flow| flow.name() == map.flow);
    notes.extend(flow.and_then(|flow| Some(flow.late()?.sentence)));
    if flow.is_some_and(|flow| flow.summary.closed_loop) {
        notes.push(super::latency::CLOSED.to_owned());
    }
    notes
}
