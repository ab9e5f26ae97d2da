//! The answer of several trials that no curve joins: what differed between them.

use kgauge_results::compare::times_as_high;
use kgauge_results::summary::{FlowSummary, LatencySummary, TrialSummary};

use super::trial_name;
use crate::format;
use crate::view::{Figure, Flow, LatencyKind, Trial};

/// Rates that differ by less are one rate.
const SAME_RATE_WITHIN: f64 = 0.02;
/// From here on it is said how many times as many they are.
const TIMES_FROM: f64 = 1.05;
/// Times that differ by less are one time, however exactly they are known.
const SAME_TIME_WITHIN: f64 = 0.10;
/// A load that was acked to this part while it lasted was kept: then it says how high the throughput is, and not the target.
const KEPT_PART: f64 = 0.99;

/// A flow in one trial.
#[derive(Clone, Debug)]
struct Point {
    trial: String,
    rate: Figure,
    /// Whether the flow had a rate of its own and kept it.
    kept: bool,
    /// Of a flow with a rate.
    p99: Option<Time>,
}

/// A 99th percentile.
#[derive(Clone, Copy, Debug)]
struct Time {
    name: &'static str,
    ns: f64,
    /// From the spread of the repeats.
    interval: Option<(f64, f64)>,
}

/// Whether two rates are one.
pub(super) fn is_one_rate(one: f64, other: f64) -> bool {
    (one - other).abs() <= SAME_RATE_WITHIN * one.max(other)
}

/// A sentence for each flow.
pub(super) fn sentences(summaries: &[&TrialSummary], trials: &[Trial]) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for flow in trials.iter().flat_map(|trial| &trial.flows) {
        if !names.contains(&flow.name.as_str()) {
            names.push(&flow.name);
        }
    }
    let of_flow = |name: &str| {
        let points = summaries.iter().zip(trials).filter_map(|(summary, trial)| {
            let flow = trial.flows.iter().find(|flow| flow.name == name)?;
            let known = summary.flows.iter().find(|flow| flow.name == name)?;
            Some(Point {
                trial: trial_name(summary),
                rate: flow.rate.clone()?,
                kept: has_kept(known),
                p99: p99(flow, known),
            })
        });
        Some(format!("{name}: {}.", said(points.collect())?))
    };
    names.into_iter().filter_map(of_flow).collect()
}

fn has_kept(flow: &FlowSummary) -> bool {
    let Some(throughput) = flow.throughput.as_ref().filter(|_| flow.shape.is_some()) else {
        return false;
    };
    let wanted = flow.records.scheduled as f64 * KEPT_PART;
    // What piled up in a buffer was acked later.
    let in_hold = throughput.records_per_s.mean * throughput.hold_s;
    !flow.closed_loop && flow.records.skipped == 0 && in_hold >= wanted
}

fn p99(flow: &Flow, known: &FlowSummary) -> Option<Time> {
    let latency = flow.latency().filter(|_| flow.closed.is_none())?;
    let known = match latency.kind {
        LatencyKind::Response => known.latencies.response.as_ref(),
        LatencyKind::EndToEnd => known.latencies.end_to_end.as_ref(),
        _ => return None,
    };
    Some(Time {
        name: latency.kind.name(),
        ns: latency.distribution.at(990_000)?.ns as f64,
        interval: known.and_then(interval),
    })
}

fn interval(latency: &LatencySummary) -> Option<(f64, f64)> {
    let mut percentiles = latency.percentiles.iter();
    let found = percentiles.find(|percentile| percentile.millionths == 990_000)?;
    let spread = found.over_repeats.as_ref()?;
    let interval = spread.ci95?;
    Some((interval.low, interval.high))
}

/// What differed between the trials of a flow; `None` without any.
fn said(mut points: Vec<Point>) -> Option<String> {
    points.sort_by(|one, next| one.rate.mean.total_cmp(&next.rate.mean));
    let (low, high) = (points.first()?, points.last()?);
    if points.len() == 1 {
        return Some(format!("{} ({})", rate(low), low.trial));
    }
    let one_rate =
        is_one_rate(low.rate.mean, high.rate.mean) && meet(low.rate.interval, high.rate.interval);
    let load_set = points.iter().all(|point| point.kept);
    if !one_rate && !load_set {
        return Some(from_to(low, high, points.len()));
    }
    let rates = match one_rate {
        true if points.len() == 2 => format!("at {} in both trials", rate(high)),
        true => format!("at {} in all {} trials", rate(high), points.len()),
        false => format!(
            "at rates that the load set, {} records/s ({}) to {} ({})",
            format::figure(low.rate.mean),
            low.trial,
            rate(high),
            high.trial
        ),
    };
    let mut times: Vec<(Time, &str)> = points
        .iter()
        .filter_map(|point| Some((point.p99?, point.trial.as_str())))
        .collect();
    if times.len() < points.len() {
        return Some(format!("no difference was found, {rates}"));
    }
    times.sort_by(|(one, _), (next, _)| one.ns.total_cmp(&next.ns));
    let ((least, least_trial), (most, most_trial)) = (times.first()?, times.last()?);
    let (from, to) = (format::nanoseconds(least.ns), format::nanoseconds(most.ns));
    let is_one_time = most.ns - least.ns <= SAME_TIME_WITHIN * most.ns;
    let told_apart = least
        .interval
        .zip(most.interval)
        .is_none_or(|_| !meet(least.interval, most.interval));
    let name = least.name;
    Some(match (is_one_time, told_apart) {
        (true, _) if from == to => format!("no difference was found, p99 {name} {to} {rates}"),
        (true, _) => format!("no difference was found, p99 {name} {from} to {to} {rates}"),
        (false, true) => {
            format!("p99 {name} from {from} ({least_trial}) to {to} ({most_trial}), {rates}")
        }
        (false, false) => format!(
            "p99 {name} from {from} ({least_trial}) to {to} ({most_trial}), but the repeats differ too much to tell them apart, \
             {rates}"
        ),
    })
}

/// How far apart the lowest and the highest rate of so many trials are, where the repeats tell them apart.
fn from_to(low: &Point, high: &Point, trials: usize) -> String {
    let (least, most) = (&low.rate.values, &high.rate.values);
    let apart = match times_as_high(most, least, trials) {
        Some(times) if times >= TIMES_FROM => format!(", {} times as many", format::short(times)),
        Some(_) => String::new(),
        // Nothing is known of them one by one, or one did nothing at all.
        None if least.is_empty() || most.is_empty() || low.rate.mean <= 0.0 => String::new(),
        None if least.len() == 1 || most.len() == 1 => ", by one repeat of each".to_owned(),
        None => ", but the repeats differ too much to tell them apart".to_owned(),
    };
    format!(
        "from {} ({}) to {} ({}){apart}",
        rate(low),
        low.trial,
        rate(high),
        high.trial
    )
}

fn rate(point: &Point) -> String {
    format!("{} records/s", format::figure(point.rate.mean))
}

/// Whether two intervals have something in common; true where one is not known.
fn meet(one: Option<(f64, f64)>, other: Option<(f64, f64)>) -> bool {
    let (Some((low, high)), Some((other_low, other_high))) = (one, other) else {
        return true;
    };
    low <= other_high && other_low <= high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trial with a rate, half of its interval, and of a flow with a schedule its p99 with half of its interval.
    fn point(trial: &str, mean: f64, half: f64, kept: bool, p99_ms: Option<(f64, f64)>) -> Point {
        let ns = |ms: f64| ms * 1e6;
        Point {
            trial: trial.to_owned(),
            rate: Figure {
                mean,
                interval: (half > 0.0).then_some((mean - half, mean + half)),
                values: Vec::new(),
            },
            kept,
            p99: p99_ms.map(|(ms, half)| Time {
                name: "response",
                ns: ns(ms),
                interval: (half > 0.0).then_some((ns(ms - half), ns(ms + half))),
            }),
        }
    }

    fn of(points: &[Point]) -> String {
        said(points.to_vec()).unwrap()
    }

    #[test]
    fn a_rate_that_was_kept_is_no_answer_what_it_cost_is() {
        let points = [
            point("linger.ms = 0", 33_330.4, 3.0, true, Some((4.5, 0.2))),
            point("linger.ms = 5", 33_330.1, 3.0, true, Some((1.2, 0.2))),
        ];
        assert_eq!(
            of(&points),
            "p99 response from 1.20 ms (linger.ms = 5) to 4.50 ms (linger.ms = 0), at 33,330 records/s in both trials"
        );
    }

    #[test]
    fn times_that_are_alike_or_too_uncertain_are_no_difference() {
        let with = |p99: (f64, f64), other: (f64, f64)| {
            of(&[
                point("a", 1_000.0, 0.0, true, Some(p99)),
                point("b", 1_000.0, 0.0, true, Some(other)),
            ])
        };
        let rates = "at 1,000 records/s in both trials";
        let alike = with((1.00, 0.0), (1.11, 0.0));
        assert_eq!(
            alike,
            format!("no difference was found, p99 response 1.00 ms to 1.11 ms {rates}")
        );
        let same = with((1.0, 0.0), (1.0, 0.0));
        assert_eq!(
            same,
            format!("no difference was found, p99 response 1.00 ms {rates}")
        );
        let more = with((1.00, 0.0), (1.12, 0.0));
        assert_eq!(
            more,
            format!("p99 response from 1.00 ms (a) to 1.12 ms (b), {rates}")
        );
        let unsure = with((1.0, 0.5), (2.0, 0.6));
        assert!(
            unsure.contains("but the repeats differ too much to tell them apart"),
            "{unsure}"
        );
        let sure = with((1.0, 0.4), (2.0, 0.5));
        assert_eq!(
            sure,
            format!("p99 response from 1.00 ms (a) to 2.00 ms (b), {rates}")
        );
    }

    #[test]
    fn rates_of_loops_that_are_alike_are_said_once() {
        let points = [
            point("a", 33_330.1, 40.0, false, None),
            point("b", 33_333.9, 40.0, false, None),
        ];
        assert_eq!(
            of(&points),
            "no difference was found, at 33,330 records/s in both trials"
        );
        // Little, but beyond what the repeats differ.
        let points = [
            point("a", 33_000.0, 40.0, false, None),
            point("b", 33_300.0, 40.0, false, None),
        ];
        assert_eq!(
            of(&points),
            "from 33,000 records/s (a) to 33,300 records/s (b)"
        );
    }

    #[test]
    fn rates_that_the_load_did_not_set_are_the_answer() {
        let points = [
            point("a", 1_000.0, 0.0, true, Some((1.0, 0.0))),
            point("b", 800.0, 0.0, false, Some((9_000.0, 0.0))),
        ];
        assert_eq!(
            of(&points),
            "from 800.0 records/s (b) to 1,000 records/s (a)"
        );
    }

    #[test]
    fn rates_that_differ_because_they_were_asked_for_are_no_finding() {
        let points = [
            point("a", 1_000.0, 0.0, true, Some((1.0, 0.0))),
            point("b", 5_000.0, 0.0, true, Some((3.0, 0.0))),
        ];
        assert_eq!(
            of(&points),
            "p99 response from 1.00 ms (a) to 3.00 ms (b), at rates that the load set, 1,000 records/s (a) to 5,000 \
             records/s (b)"
        );
    }

    #[test]
    fn rates_that_the_repeats_tell_apart_say_how_far() {
        let of_values = |tls: &[f64], plaintext: &[f64]| {
            let mut points = [
                point("tls", 3_000_000.0, 0.0, false, None),
                point("plaintext", 5_310_000.0, 0.0, false, None),
            ];
            points[0].rate.values = tls.to_vec();
            points[1].rate.values = plaintext.to_vec();
            of(&points)
        };
        let from_to = "from 3,000,000 records/s (tls) to 5,310,000 records/s (plaintext)";
        assert_eq!(
            of_values(&[2.9e6, 3e6, 3.1e6], &[5.21e6, 5.31e6, 5.41e6]),
            format!("{from_to}, 1.77 times as many")
        );
        assert_eq!(
            of_values(&[1e6, 3e6, 5e6], &[3.31e6, 5.31e6, 7.31e6]),
            format!("{from_to}, but the repeats differ too much to tell them apart")
        );
        // A single repeat of each says nothing of its spread.
        assert_eq!(
            of_values(&[3e6], &[5.31e6]),
            format!("{from_to}, by one repeat of each")
        );
    }

    #[test]
    fn one_measured_trial_is_named() {
        let points = [point("a", 1_000.0, 0.0, true, None)];
        assert_eq!(of(&points), "1,000 records/s (a)");
        assert_eq!(said(Vec::new()), None);
    }
}
