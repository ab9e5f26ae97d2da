//! The answer of a search for the highest rate that keeps its goals, and its progress.

use kgauge_analyze::search::CapacityBounds;
use kgauge_analyze::summary::{Bottleneck, CapacityLoad, CapacitySearch, CapacitySummary};
use kgauge_results::run::{LoadReason, MeasuredLoad, SearchEnd, VoidCause};

use super::bottleneck;
use crate::format;

/// `Sustains 412,000 records/s (402 MB/s) with p99 <= 20 ms in all 12 windows of 10 s; broke at 420,000 (2 of 3
/// windows, p99 38 ms).`
pub fn answer(capacity: &CapacitySummary, search: &CapacitySearch) -> String {
    let goals = goals(capacity);
    match (search.strict.lower, search.strict.upper) {
        (Some(lower), Some(upper)) => {
            let broke = format::figure(upper);
            let how = how_it_broke(capacity, search, upper);
            format!(
                "{}; broke at {broke}{how}.",
                sustained(capacity, search, lower)
            )
        }
        (Some(lower), None) => {
            let sustained = sustained(capacity, search, lower);
            match search.end {
                Some(SearchEnd::Found) => format!(
                    "{sustained}. No upper bound: this is the highest rate that was allowed."
                ),
                _ => format!("{sustained}. No rate has broken the goals so far."),
            }
        }
        (None, Some(upper)) => {
            let rate = format::figure(upper);
            let how = how_it_broke(capacity, search, upper);
            match search.end {
                Some(SearchEnd::Found) => format!(
                    "No rate keeps {goals}: even {rate} records/s broke it{how}. Use a weaker \
                     goal."
                ),
                _ => format!(
                    "No rate has kept {goals} so far; the lowest that broke it is {rate} \
                     records/s{how}."
                ),
            }
        }
        (None, None) => match (search.full_speed, &search.end) {
            (Some(rate), Some(SearchEnd::Void { cause })) => format!(
                "No bound was found: every load was void ({}). At full speed, the target acked {} records/s.",
                void_cause(cause),
                format::figure(rate)
            ),
            (Some(rate), _) => format!(
                "No bound was found. At full speed, the target acked {} records/s.",
                format::figure(rate)
            ),
            (None, _) => "The search ended before the first load.".to_owned(),
        },
    }
}

/// `Sustains 412,000 records/s (402 MB/s) with p99 <= 20 ms in all 12 windows of 10 s`.
fn sustained(capacity: &CapacitySummary, search: &CapacitySearch, lower: f64) -> String {
    let bytes = capacity.record_bytes.map(|bytes| bytes * lower / 1e6);
    let bytes = bytes.map_or_else(String::new, |megabytes| {
        format!(" ({} MB/s)", format::short(megabytes))
    });
    let windows = search.load_at(lower).map_or(0, |load| load.windows.len());
    let windows = match windows {
        1 => "in one window".to_owned(),
        count => format!("in all {count} windows"),
    };
    format!(
        "Sustains {} records/s{bytes} with {} {windows} of {} s",
        format::figure(lower),
        goals(capacity),
        format::compact(capacity.window_s),
    )
}

/// ` (2 of 3 windows, p99 38 ms)`.
fn how_it_broke(capacity: &CapacitySummary, search: &CapacitySearch, upper: f64) -> String {
    let Some(load) = search.load_at(upper) else {
        return String::new();
    };
    let windows = format!("{} of {} windows", load.broken(), load.windows.len());
    match (figure_name(capacity), load.value_ns) {
        (Some(name), Some(value_ns)) => {
            format!(" ({windows}, {name} {})", format::nanoseconds(value_ns))
        }
        _ => format!(" ({windows})"),
    }
}

/// The goals that somebody wrote: `p99 <= 20 ms`.
pub(crate) fn goals(capacity: &CapacitySummary) -> String {
    capacity.written_goals().join(" and ")
}

/// The statistic of the figure: `p99` of `writers.latency.p99`.
pub(crate) fn figure_name(capacity: &CapacitySummary) -> Option<&str> {
    let figure = capacity.figure.as_deref()?;
    let (_, metric) = figure.split_once('.')?;
    metric.split_once('.').map(|(_, statistic)| statistic)
}

/// `Typical windows hold up to 431,000 records/s (95 % interval 425,000 to 438,000).`
pub(crate) fn typical(search: &CapacitySearch) -> Option<String> {
    let lower = search.typical.lower?;
    let band = search.typical_band.map_or_else(String::new, |band| {
        let (low, high) = (format::figure(band.low), format::figure(band.high));
        format!("; half of the windows break between {low} and {high} (95 % interval)")
    });
    Some(format!(
        "Typical: {} records/s with at least half of the windows keeping the goals{band}.",
        format::figure(lower)
    ))
}

/// What limited the target at the upper bound.
pub(crate) fn limit(search: &CapacitySearch) -> Option<String> {
    let upper = search.load_at(search.strict.upper?)?;
    let words = match search.bottleneck? {
        Bottleneck::Load => format!(
            "none found; the target acked all records, but {} was broken",
            upper.broken_goals.first().map_or("a goal", String::as_str)
        ),
        word => bottleneck::name(word).to_owned(),
    };
    Some(format!("Bottleneck at the upper bound: {words}."))
}

/// `17 trials (2 void: leaders moved), 9 min 20 s.` and why the search ended early, if so; `can_resume`: whether
/// its run can be resumed.
pub(crate) fn cost(
    capacity: &CapacitySummary,
    search: &CapacitySearch,
    can_resume: bool,
) -> String {
    let (trials, void) = search.trials();
    let void = match void {
        0 => String::new(),
        count => {
            let causes = search.steps.iter().filter_map(|step| step.void.as_ref());
            format!(" ({count} void: {})", void_causes(causes))
        }
    };
    let trials = format::counted(trials as u64, "trial");
    let took = format::span((search.took_s * 1e9) as u64);
    let width = format::without_zeros(&format::percent(capacity.width));
    let go_on = match can_resume {
        true => "; --resume continues it",
        false => "",
    };
    let end = match &search.end {
        Some(SearchEnd::Found) => String::new(),
        Some(SearchEnd::Budget) => {
            format!(" The budget ended the search before it had bounds within {width}{go_on}.")
        }
        Some(SearchEnd::Void { cause }) => {
            let cause = void_cause(cause);
            format!(" The search ended early: one load was void several times ({cause}){go_on}.")
        }
        None => format!(" The search did not end{go_on}."),
    };
    format!("{trials}{void}, {took}.{end}")
}

/// `Records of 1.00 kB, acks=all, 1 producer, 6 partitions, 3 replicas, lz4.`
pub(crate) fn setup(capacity: &CapacitySummary) -> String {
    let setup = &capacity.setup;
    let size = capacity.record_bytes.map(|bytes| {
        let bytes = format::decimal_bytes(bytes);
        format!("records of {}", format::without_zeros(&bytes))
    });
    let compression = (setup.compression != "none").then(|| setup.compression.clone());
    let parts = [
        size,
        Some(format!("acks={}", setup.acks)),
        Some(format::counted(setup.producers.into(), "producer")),
        Some(format::counted(setup.partitions.into(), "partition")),
        Some(format::counted(setup.replication_factor.into(), "replica")),
        compression,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}.", format::capital(&parts.join(", ")))
}

/// `3 searches: 412,000 records/s (95 % interval 405,000 to 419,000).`
pub(crate) fn over_searches(capacity: &CapacitySummary) -> Option<String> {
    let spread = capacity.over_searches.as_ref()?;
    let interval = spread.ci95.map_or_else(String::new, |ends| {
        let (low, high) = (format::figure(ends.low), format::figure(ends.high));
        format!(" (95 % interval {low} to {high})")
    });
    let mean = format::figure(spread.mean);
    Some(format!(
        "{} searches: {mean} records/s{interval}.",
        spread.n
    ))
}

/// Why a load does not count.
pub(crate) fn void_cause(cause: &VoidCause) -> String {
    match cause {
        VoidCause::LeadersMoved { partitions } => {
            let partitions = format::counted((*partitions).into(), "partition");
            format!("leaders of {partitions} moved")
        }
        VoidCause::Generator => "the load generator was the bottleneck".to_owned(),
        VoidCause::OtherPrograms => "other load on the host".to_owned(),
        VoidCause::Hypervisor => "the hypervisor took CPU".to_owned(),
        VoidCause::Failed { why } => format!("failed: {why}"),
    }
}

/// The reasons of several, each once.
pub(super) fn void_causes<'a>(causes: impl Iterator<Item = &'a VoidCause>) -> String {
    let mut known: Vec<String> = Vec::new();
    for cause in causes.map(void_cause) {
        if !known.contains(&cause) {
            known.push(cause);
        }
    }
    known.join(", ")
}

/// A judged load while the search goes on: `412 k/s kept the goals in 6 of 6 windows; bounds 400 k/s to 420 k/s`.
pub fn judged(load: &MeasuredLoad, strict: CapacityBounds) -> String {
    let rate = format::thousands(load.rate);
    if let Some(cause) = &load.void {
        return format!(
            "{rate}/s is void ({}) and measured again",
            void_cause(cause)
        );
    }
    let kept = load.windows.iter().filter(|window| window.kept).count();
    let windows = format::counted(load.windows.len() as u64, "window");
    let what = match load.reason {
        LoadReason::Curve => String::new(),
        LoadReason::Bracket | LoadReason::Narrow | LoadReason::Confirm => {
            format!("; {}", between(strict))
        }
    };
    format!("{rate}/s kept the goals in {kept} of {windows}{what}")
}

fn between(CapacityBounds { lower, upper }: CapacityBounds) -> String {
    let rate = |rate: f64| format!("{}/s", format::thousands(rate));
    match (lower, upper) {
        (Some(lower), Some(upper)) => format!("bounds {} to {}", rate(lower), rate(upper)),
        (Some(lower), None) => format!("lower bound {}", rate(lower)),
        (None, Some(upper)) => format!("upper bound {}", rate(upper)),
        (None, None) => "no bound so far".to_owned(),
    }
}

/// The value of a load in a table: `38.0 ms ✗` if windows broke the goals.
pub(crate) fn value(load: &CapacityLoad) -> String {
    let value = load
        .value_ns
        .map_or_else(|| format::NOTHING.to_owned(), format::nanoseconds);
    match load.broken() {
        0 => value,
        _ => format!("{value} ✗"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use kgauge_analyze::summary::{CapacitySetup, CapacityStep, CapacityWindow, LoadVerdict};

    use super::*;

    const MS: f64 = 1e6;

    fn load(rate: f64, values_ms: &[f64], limit_ms: f64) -> CapacityLoad {
        let windows = values_ms.iter().map(|value| CapacityWindow {
            kept: *value <= limit_ms,
            value_ns: Some(value * MS),
        });
        let windows: Vec<CapacityWindow> = windows.collect();
        let is_held = windows.iter().all(|window| window.kept);
        CapacityLoad {
            rate,
            held: match is_held {
                true => LoadVerdict::Held,
                false => LoadVerdict::Broke,
            },
            value_ns: Some(values_ms[values_ms.len() / 2] * MS),
            broken_goals: match is_held {
                true => Vec::new(),
                false => vec!["p99 <= 20 ms".to_owned()],
            },
            windows,
            trial: 3,
        }
    }

    /// A search that found its bounds.
    pub(crate) fn capacity() -> CapacitySummary {
        let bounds = |lower, upper| CapacityBounds {
            lower: Some(lower),
            upper: Some(upper),
        };
        let strict = bounds(412_000.0, 420_000.0);
        let step = |trial: u32, rate: f64, broken: u32, void: Option<VoidCause>| CapacityStep {
            trial,
            rate,
            reason: LoadReason::Narrow,
            windows: 3,
            broken,
            value_ns: Some(25.0 * MS),
            void,
            strict,
        };
        CapacitySummary {
            trial: 0,
            scenario: "capacity".to_owned(),
            name: String::new(),
            factors: Vec::new(),
            flows: vec!["writers".to_owned()],
            goals: vec!["p99 <= 20 ms".to_owned()],
            added_goals: vec!["writers.failed <= 0".to_owned()],
            figure: Some("writers.latency.p99".to_owned()),
            limit_ns: Some(20.0 * MS),
            width: 0.02,
            window_s: 10.0,
            record_bytes: Some(1_000.0),
            setup: CapacitySetup {
                partitions: 6,
                replication_factor: 3,
                producers: 1,
                acks: "all".to_owned(),
                compression: "lz4".to_owned(),
            },
            searches: vec![CapacitySearch {
                repeat: 0,
                full_speed: Some(500_000.0),
                strict,
                typical: bounds(431_000.0, 439_000.0),
                typical_band: None,
                is_narrow: true,
                bottleneck: Some(Bottleneck::Disk),
                loads: vec![
                    load(41_200.0, &[3.1], 20.0),
                    load(206_000.0, &[4.0], 20.0),
                    load(309_000.0, &[6.2], 20.0),
                    load(370_800.0, &[11.0], 20.0),
                    load(412_000.0, &[17.0, 18.0, 19.0], 20.0),
                    load(420_000.0, &[19.0, 38.0, 40.0], 20.0),
                ],
                steps: vec![
                    step(1, 420_000.0, 2, None),
                    step(2, 412_000.0, 0, Some(VoidCause::OtherPrograms)),
                    step(3, 412_000.0, 0, None),
                ],
                end: Some(SearchEnd::Found),
                took_s: 560.0,
            }],
            over_searches: None,
        }
    }

    #[test]
    fn the_answer_has_both_bounds_and_what_they_rest_on() {
        let capacity = capacity();
        let search = &capacity.searches[0];
        assert_eq!(
            answer(&capacity, search),
            "Sustains 412,000 records/s (412 MB/s) with p99 <= 20 ms in all 3 windows of 10 s; \
             broke at 420,000 (2 of 3 windows, p99 38.0 ms)."
        );
        assert_eq!(
            limit(search).unwrap(),
            "Bottleneck at the upper bound: disk."
        );
        assert_eq!(
            setup(&capacity),
            "Records of 1 kB, acks=all, 1 producer, 6 partitions, 3 replicas, lz4."
        );
        assert_eq!(
            cost(&capacity, search, true),
            "4 trials (1 void: other load on the host), 9 min 20 s."
        );
        let ended_by_budget = CapacitySearch {
            end: Some(SearchEnd::Budget),
            ..search.clone()
        };
        let text = cost(&capacity, &ended_by_budget, true);
        assert!(
            text.ends_with("before it had bounds within 2 %; --resume continues it."),
            "{text}"
        );
    }

    #[test]
    fn a_missing_bound_is_named() {
        let mut capacity = capacity();
        capacity.searches[0].strict.upper = None;
        let text = answer(&capacity, &capacity.searches[0]);
        assert!(
            text.ends_with("No upper bound: this is the highest rate that was allowed."),
            "{text}"
        );
        capacity.searches[0].strict = CapacityBounds {
            lower: None,
            upper: Some(420_000.0),
        };
        let text = answer(&capacity, &capacity.searches[0]);
        assert!(
            text.starts_with("No rate keeps p99 <= 20 ms: even 420,000"),
            "{text}"
        );
        capacity.searches[0].strict.upper = None;
        let text = answer(&capacity, &capacity.searches[0]);
        assert!(text.starts_with("No bound was found."), "{text}");
    }

    #[test]
    fn progress_shows_the_bounds_closing_in() {
        let strict = CapacityBounds {
            lower: Some(400_000.0),
            upper: Some(420_000.0),
        };
        let mut load = MeasuredLoad {
            trial: 1,
            rate: 412_000.0,
            reason: LoadReason::Narrow,
            windows: Vec::new(),
            achieved: 412_000.0,
            void: None,
        };
        assert_eq!(
            judged(&load, strict),
            "412 k/s kept the goals in 0 of 0 windows; bounds 400 k/s to 420 k/s"
        );
        load.void = Some(VoidCause::LeadersMoved { partitions: 2 });
        assert_eq!(
            judged(&load, strict),
            "412 k/s is void (leaders of 2 partitions moved) and measured again"
        );
    }
}
