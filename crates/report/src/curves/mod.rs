//! Which charts a trial gets, and what each of them shows.

mod ab;
mod capacity;
mod cpu;
mod heat;
mod latency;
mod machine;
mod percentile;
mod sweep;
mod throughput;
mod tune;

use kgauge_analyze::statistics::Interval;
use kgauge_analyze::summary::{AbSummary, CapacitySearch, CapacitySummary, TuneSummary};
use kgauge_results::metrics::PanelSection;
use kgauge_results::{SECOND_NS, Stage};

use crate::chart::heat::Heat;
use crate::chart::{
    Axis, AxisMark, AxisUnit, Band, Chart, ChartLine, Dash, LegendEntry, LineStyle, MarkKind, Mean,
    Point, Scale,
};
use crate::text;
use crate::view::{Flow, Sweep, Timeline, TrialView};

/// Which latencies of a trial: those that callers see, or those of closed loops and of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LatencyScope {
    /// Of records that are sent at a rate.
    Callers,
    /// The producer's buffer in a closed loop, and round trips of requests.
    Others,
}

impl LatencyScope {
    fn has(self, flow: &Flow) -> bool {
        flow.has_caller_latency() == (self == LatencyScope::Callers)
    }

    /// The same by the flow's name. What the trial does not know is nothing that callers see.
    fn has_name(self, trial: &TrialView, flow: &str) -> bool {
        let found = trial.flows.iter().find(|one| one.name() == flow);
        found.map_or(self == LatencyScope::Others, |flow| self.has(flow))
    }
}

/// The charts of one trial, in the order of the page.
pub(crate) fn of_trial(trial: &TrialView) -> Vec<Chart> {
    let mut charts: Vec<Chart> = throughput_of_trial(trial).into_iter().collect();
    charts.extend(latencies_of_trial(trial, LatencyScope::Callers));
    charts
}

/// Throughput over time.
pub(crate) fn throughput_of_trial(trial: &TrialView) -> Option<Chart> {
    throughput::chart(trial)
}

/// Latencies over time, and by percentile.
pub(crate) fn latencies_of_trial(trial: &TrialView, scope: LatencyScope) -> Vec<Chart> {
    let mut charts = latency::charts(trial, scope);
    charts.extend(percentile::chart(trial, scope));
    charts
}

/// The charts of a section of panels while a trial ran. CPU belongs to the machine.
pub(crate) fn of_section(trial: &TrialView, section: PanelSection) -> Vec<Chart> {
    let cpu = (section == PanelSection::Machine).then(|| cpu::chart(trial));
    let mut charts: Vec<Chart> = cpu.flatten().into_iter().collect();
    charts.extend(machine::charts(trial, section));
    charts
}

/// The heat maps of one trial, a flow each.
pub(crate) fn heat_of_trial(trial: &TrialView, scope: LatencyScope) -> Vec<Heat> {
    heat::charts(trial, scope)
}

/// The charts of a scenario that varies one number.
pub(crate) fn of_sweep(sweep: &Sweep, id: &str) -> Vec<Chart> {
    sweep::charts(sweep, id)
}

/// The charts of a search.
pub(crate) fn of_search(capacity: &CapacitySummary, search: &CapacitySearch) -> Vec<Chart> {
    capacity::charts(capacity, search)
}

/// The charts of an A/B test.
pub(crate) fn of_ab(test: &AbSummary) -> Vec<Chart> {
    ab::charts(test)
}

/// The charts of a search for better settings.
pub(crate) fn of_tune(search: &TuneSummary) -> Vec<Chart> {
    tune::charts(search)
}

/// A name and the look of its points.
type NamedLine = (String, LineStyle, Vec<Point>);

/// A legend entry and a line for each that has points.
fn grouped(lines: Vec<NamedLine>) -> (Vec<LegendEntry>, Vec<ChartLine>) {
    let with_points = lines
        .into_iter()
        .filter(|(_, _, points)| points.iter().any(|point| point.y.is_some()));
    let numbered = with_points.enumerate();
    let pairs = numbered.map(|(group, (name, look, points))| {
        let line = ChartLine {
            group,
            name: String::new(),
            faint: false,
            points,
        };
        (LegendEntry { name, look }, line)
    });
    pairs.unzip()
}

/// The percentage that a ratio is above 1.
fn percent(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}

/// Differences in per cent that are smaller than the width of interest.
fn equal(width: f64) -> Interval {
    Interval {
        low: percent(1.0 / (1.0 + width)),
        high: percent(1.0 + width),
    }
}

/// The zone of these differences, with its entry in the legend.
fn equal_zone(width: f64, groups: &mut Vec<LegendEntry>) -> Mean {
    groups.push(LegendEntry {
        name: format!("less than {}", text::ab::width(width)),
        look: LineStyle::line(3, Dash::Dotted),
    });
    Mean {
        group: groups.len() - 1,
        value: 0.0,
        interval: Some(equal(width)),
    }
}

/// A moment of a repeat on the time axis.
fn seconds(ns: u64) -> f64 {
    ns as f64 / SECOND_NS as f64
}

/// The time axis that all repeats share.
fn time_axis(timelines: &[Timeline]) -> Axis {
    let ends = timelines.iter().flat_map(|timeline| {
        let stages = timeline.stages.iter().map(|stage| seconds(stage.end_ns));
        let rates = timeline.flows.iter().filter_map(|flow| flow.rates.last());
        stages.chain(rates.map(|(at_s, _)| *at_s))
    });
    let high = ends.fold(1.0, f64::max);
    Axis::new(
        "time (s)",
        Scale::Linear { low: 0.0, high },
        AxisUnit::Seconds,
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
            from: seconds(stage.start_ns),
            to: seconds(stage.end_ns),
            label: stage.stage.as_str().to_owned(),
            measured: stage.stage == Stage::Hold,
        })
        .collect()
}

/// Moments that are marked at most: more lines would hide the curves.
const MARKS_MAX: usize = 24;

/// What is marked of the first repeat, in the order of time: faults, then how the cluster changed.
fn moments(timelines: &[Timeline]) -> Vec<(f64, MarkKind, &str)> {
    let first = timelines.first();
    let faults = first.map_or(&[][..], |first| &first.faults);
    let changes = first.map_or(&[][..], |first| &first.changes);
    let faults = faults.iter().map(|fault| {
        let what = if fault.begins {
            MarkKind::Begins
        } else {
            MarkKind::Ends
        };
        (fault.at_s, what, fault.words.as_str())
    });
    let changes = changes
        .iter()
        .map(|change| (change.at_s, MarkKind::Changes, change.words.as_str()));
    // Each of the two gets its marks, however many the other has.
    let mut moments: Vec<_> = faults.take(MARKS_MAX).collect();
    moments.extend(changes.take(MARKS_MAX));
    moments.sort_by(|one, next| one.0.total_cmp(&next.0));
    moments
}

/// The faults of the first repeat, and when leaders or in-sync replicas changed in it. Faults of others begin at the
/// same times, but may strike other nodes; the list of events has all of them.
fn marks(timelines: &[Timeline]) -> Vec<AxisMark> {
    let moments = moments(timelines).into_iter().enumerate();
    moments
        .map(|(index, (at, what, _))| AxisMark {
            at,
            number: index + 1,
            what,
        })
        .collect()
}

/// The marks in words: a sentence on faults, and one on what changed.
fn mark_notes(timelines: &[Timeline]) -> Vec<String> {
    let Some(first) = timelines.first() else {
        return Vec::new();
    };
    let moments = moments(timelines);
    let sentence = |name: &str, all: usize, is_one: fn(MarkKind) -> bool| {
        let numbered = moments.iter().enumerate();
        let shown = numbered.filter(|(_, (_, what, _))| is_one(*what));
        let shown: Vec<String> = shown
            .map(|(index, (at_s, what, words))| {
                let way = match what {
                    MarkKind::Ends => ", ended",
                    MarkKind::Begins | MarkKind::Changes => "",
                };
                format!("{} at {at_s:.2} s, {words}{way}", index + 1)
            })
            .collect();
        let whose = match timelines.len() {
            1 => name.to_owned(),
            _ => format!("{name} of the first repeat"),
        };
        let more = match all > shown.len() {
            true => "; see the event list for more",
            false => "",
        };
        (!shown.is_empty()).then(|| format!("{whose}: {}{more}.", shown.join("; ")))
    };
    let faults = sentence("Faults", first.faults.len(), |what| {
        what != MarkKind::Changes
    });
    let changes = sentence("Cluster changes", first.changes.len(), |what| {
        what == MarkKind::Changes
    });
    faults.into_iter().chain(changes).collect()
}

/// Whether any repeat's stages end visibly elsewhere than the first one's.
fn stages_differ(timelines: &[Timeline]) -> bool {
    let ends = |timeline: &Timeline| -> Vec<f64> {
        let stages = timeline.stages.iter();
        stages.map(|stage| seconds(stage.end_ns)).collect()
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

/// The lines of a group: one per repeat that has points. The first repeat is drawn last, so that it lies above the
/// faint ones. `points` receives the repeat's position, too.
fn repeat_lines(
    timelines: &[Timeline],
    group: usize,
    points: impl Fn(usize, &Timeline) -> Option<Vec<Point>>,
) -> Vec<ChartLine> {
    let repeats = timelines.iter().enumerate().rev();
    let lines = repeats.filter_map(|(index, timeline)| {
        Some(ChartLine {
            group,
            name: repeat_name(timelines, timeline.repeat),
            faint: index > 0,
            points: points(index, timeline)?,
        })
    });
    lines.collect()
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
        None | Some(0 | 1) => "per second".to_owned(),
        Some(seconds) => format!("worst second of each {seconds} s"),
    }
}
