//! The repeats of a trial second by second.

use std::collections::BTreeMap;

use kgauge_analyze::Series;
use kgauge_analyze::series::{CpuSeries, FlowSeries, RepeatSeries};
use kgauge_analyze::summary::{FlowKind, FlowSummary, TrialSummary};
use kgauge_results::folder::SecondRead;
use kgauge_results::metrics::MetricId;
use kgauge_results::run::{RepeatKey, StageSpan};
use kgauge_results::{RunRead, SECOND_NS, TimeKind};

use super::machine::{ChosenDevices, LETTERS_MAX, place_s};
use super::process::name_of;
use crate::clean::cut;
use crate::view::{FlowTimeline, ProcessTimeline, Timeline, TimesAt};

/// Points of a line at most; longer runs are drawn by spans of several seconds.
const POINTS_MAX: u64 = 300;
/// A span shorter than this part of a second gives no rate.
const PART_MIN: f64 = 0.2;
/// Less than this, of a core, is not worth a line.
const LOST_CORES_MIN: f64 = 0.02;
/// Nanoseconds in a second, for shares.
const SECOND: f64 = SECOND_NS as f64;

/// One timeline for each repeat that left anything.
pub(super) fn timelines(run: &RunRead, trial: &TrialSummary) -> Vec<Timeline> {
    let series = Series::of(run, trial.index);
    let repeats = || {
        let repeats = series.repeats.iter();
        repeats.filter(|repeat| !repeat.flows.is_empty())
    };
    let chosen = ChosenDevices::of(repeats().map(|repeat| &repeat.host));
    repeats()
        .map(|repeat| timeline(run, trial, repeat, &chosen))
        .collect()
}

fn timeline(
    run: &RunRead,
    trial: &TrialSummary,
    repeat: &RepeatSeries,
    chosen: &ChosenDevices,
) -> Timeline {
    let ends = repeat.flows.iter().filter_map(|flow| flow.seconds.last());
    let end_ns = ends.map(|second| second.end_ns).max().unwrap_or(0);
    let key = RepeatKey {
        trial: trial.index,
        repeat: repeat.repeat,
    };
    let seconds = end_ns.div_ceil(SECOND_NS);
    let seconds_per_point = seconds_per_point(seconds, longest(run, key));
    let flow_timeline = |flow: &FlowSummary| {
        let series = repeat
            .flows
            .iter()
            .find(|series| series.flow == flow.index)?;
        let kind = kind_of(flow.kind);
        let read = run
            .repeats
            .iter()
            .find(|read| read.key == key)?
            .flows
            .get(&flow.index)?;
        Some(FlowTimeline {
            name: flow.name.clone(),
            kind,
            rates: rates(series, seconds_per_point),
            times: times(kind, &read.seconds, &series.stages, seconds_per_point),
        })
    };
    Timeline {
        repeat: u64::from(repeat.repeat) + 1,
        stages: stages(repeat),
        seconds_per_point,
        flows: trial.flows.iter().filter_map(flow_timeline).collect(),
        processes: processes(repeat),
        machine: super::machine::timeline(&repeat.host, chosen, end_ns),
        traffic: super::machine::traffic(repeat, &trial.flows, end_ns),
        brokers: super::machine::broker_timeline(
            &repeat.brokers,
            &repeat.host.metrics_not_seen,
            end_ns,
        ),
        faults: super::faults::of_repeat(run, key),
        changes: super::faults::changes(run, key),
    }
}

/// How many seconds a point covers: whole spans, where a repeat in progress has merged seconds.
fn seconds_per_point(seconds: u64, longest: u32) -> u64 {
    let least = seconds.div_ceil(POINTS_MAX).max(1);
    least.next_multiple_of(u64::from(longest.max(1)))
}

/// The longest span of a repeat's seconds.
fn longest(run: &RunRead, key: RepeatKey) -> u32 {
    let repeats = run.repeats.iter().filter(|read| read.key == key);
    let flows = repeats.flat_map(|read| read.flows.values());
    let seconds = flows.flat_map(|flow| &flow.seconds);
    seconds.map(|second| second.seconds).max().unwrap_or(1)
}

/// The stages of the first flow that has any; all flows of a trial share their clock.
fn stages(repeat: &RepeatSeries) -> Vec<StageSpan> {
    let flow = repeat.flows.iter().find(|flow| !flow.stages.is_empty());
    flow.map_or_else(Vec::new, |flow| flow.stages.clone())
}

/// The time that a flow's tables and curves show.
pub(super) fn kind_of(kind: FlowKind) -> TimeKind {
    match kind {
        FlowKind::Consume => TimeKind::FetchRoundTrip,
        FlowKind::Echo => TimeKind::EndToEnd,
        FlowKind::Produce | FlowKind::Unknown => TimeKind::Response,
    }
}

/// Records per second of each span of `per_point` seconds: counts add, so this is exact. Parts of a
/// second that a stage's border cuts are put together again, or a drain of a millisecond would be a
/// spike.
fn rates(series: &FlowSeries, per_point: u64) -> Vec<(f64, f64)> {
    let mut spans = BTreeMap::<u64, (u64, u64)>::new();
    for second in &series.seconds {
        let records = second.counts.records_acked + second.counts.records_consumed;
        let length_ns = second.end_ns - second.start_ns;
        let span = spans
            .entry(second.start_ns / SECOND_NS / per_point)
            .or_default();
        *span = (span.0 + records, span.1 + length_ns);
    }
    let rate = |(index, (records, length_ns)): (u64, (u64, u64))| {
        let length_s = length_ns as f64 / SECOND;
        let middle_s = (index * per_point) as f64 + length_s / 2.0;
        (length_s >= PART_MIN).then(|| (middle_s, records as f64 / length_s))
    };
    spans.into_iter().filter_map(rate).collect()
}

/// Median, p99 and largest time. Of several seconds the worst is shown: percentiles do not add.
fn times(
    kind: TimeKind,
    seconds: &[SecondRead],
    spans: &[StageSpan],
    per_point: u64,
) -> Vec<TimesAt> {
    let mut points: Vec<((u64, kgauge_results::Stage), TimesAt)> = Vec::new();
    for second in seconds {
        let Some(times) = second.times.get(&kind) else {
            continue;
        };
        let (from_s, to_s) = part(second, spans);
        let at = TimesAt {
            at_s: (from_s + to_s) / 2.0,
            p50_ns: times.p50_ns,
            p99_ns: times.p99_ns,
            max_ns: times.max_ns,
        };
        let key = (u64::from(second.second) / per_point, second.stage);
        match points.last_mut() {
            Some((last, point)) if *last == key && per_point > 1 => {
                point.p50_ns = point.p50_ns.max(at.p50_ns);
                point.p99_ns = point.p99_ns.max(at.p99_ns);
                point.max_ns = point.max_ns.max(at.max_ns);
            }
            _ => points.push((key, at)),
        }
    }
    points.into_iter().map(|(_, point)| point).collect()
}

/// From when to when a slice's second lies in its stage.
fn part(second: &SecondRead, spans: &[StageSpan]) -> (f64, f64) {
    let (mut from_ns, mut to_ns) = (second.start_ns(), second.end_ns());
    if let Some(span) = spans.iter().find(|span| span.stage == second.stage) {
        from_ns = from_ns.max(span.start_ns);
        to_ns = to_ns.min(span.end_ns).max(from_ns);
    }
    (from_ns as f64 / SECOND, to_ns as f64 / SECOND)
}

/// Those that are drawn, and what the machine's processors lost to disks and to the hypervisor, where that is anything.
fn processes(repeat: &RepeatSeries) -> Vec<ProcessTimeline> {
    let mut processes: Vec<ProcessTimeline> = repeat.cpu.iter().filter_map(process).collect();
    let mut lost = |name: &str, metric: MetricId| {
        let points =
            repeat.host.idle.iter().filter_map(|point| {
                Some((middle_s(point.start_ns, point.end_ns), point.get(metric)?))
            });
        let cores: Vec<(f64, f64)> = points.collect();
        if cores.iter().any(|(_, cores)| *cores > LOST_CORES_MIN) {
            let name = name.to_owned();
            processes.push(ProcessTimeline { name, cores });
        }
    };
    lost("iowait", MetricId::CpuIowait);
    lost("stolen", MetricId::CpuStolen);
    processes
}

/// Cores in use by a process or the machine; single threads would crowd the chart.
fn process(series: &CpuSeries) -> Option<ProcessTimeline> {
    let name = cut(&name_of(&series.subject)?, LETTERS_MAX);
    let cores = series.points.iter().map(|point| {
        let middle_s = middle_s(point.start_ns, point.end_ns);
        (middle_s, point.user_cores + point.system_cores)
    });
    let cores: Vec<(f64, f64)> = cores.collect();
    (!cores.is_empty()).then_some(ProcessTimeline { name, cores })
}

/// The middle of a span, on the grid that all repeats share.
fn middle_s(start_ns: u64, end_ns: u64) -> f64 {
    place_s((start_ns as f64 + end_ns as f64) / 2.0 / SECOND)
}

#[cfg(test)]
mod tests {
    use kgauge_analyze::series::SecondPoint;
    use kgauge_results::{Counts, Stage};

    use super::*;

    /// A flow of 100 records in each second; a border of stages cuts the second second at 1.25 s.
    fn series(seconds: u64) -> FlowSeries {
        let point = |stage, start_ns, end_ns, records| SecondPoint {
            stage,
            start_ns,
            end_ns,
            records_per_s: 0.0,
            logical_bytes_per_s: 0.0,
            wire_bytes_per_s: 0.0,
            in_flight_mean: 0.0,
            counts: Counts {
                records_acked: records,
                ..Counts::default()
            },
        };
        let quarter = SECOND_NS / 4;
        let mut points = vec![
            point(Stage::WarmUp, 0, SECOND_NS, 100),
            point(Stage::WarmUp, SECOND_NS, SECOND_NS + quarter, 90),
            point(Stage::Hold, SECOND_NS + quarter, 2 * SECOND_NS, 10),
        ];
        points.extend((2..seconds).map(|second| {
            point(
                Stage::Hold,
                second * SECOND_NS,
                (second + 1) * SECOND_NS,
                100,
            )
        }));
        let end_ns = seconds * SECOND_NS;
        points.push(point(Stage::Drain, end_ns, end_ns + SECOND_NS / 1000, 7));
        FlowSeries {
            flow: 0,
            stages: Vec::new(),
            seconds: points,
        }
    }

    #[test]
    fn a_second_that_a_border_cuts_is_put_together_again() {
        let rates = rates(&series(4), 1);
        assert_eq!(
            rates,
            [(0.5, 100.0), (1.5, 100.0), (2.5, 100.0), (3.5, 100.0)]
        );
    }

    #[test]
    fn points_are_of_whole_spans_and_never_too_many() {
        assert_eq!(seconds_per_point(300, 1), 1);
        assert_eq!(seconds_per_point(301, 1), 2);
        // 2,401 s are nine a point; of spans of ten seconds there is one.
        assert_eq!(seconds_per_point(2_401, 10), 10);
        assert_eq!(seconds_per_point(28_800, 60), 120);
        assert_eq!(seconds_per_point(0, 0), 1);
    }

    #[test]
    fn a_long_run_is_drawn_by_spans_whose_rates_are_exact() {
        let rates = rates(&series(20), 10);
        assert_eq!(rates, [(5.0, 100.0), (15.0, 100.0)]);
    }
}
