//! The answer of a search for the highest rate that keeps its goals, and its progress.

use kgauge_analyze::search::CapacityBounds;
use kgauge_analyze::summary::{
    Bottleneck, CapacityLoad, CapacitySearch, CapacitySummary, LoadVerdict,
};
use kgauge_results::run::{LoadReason, MeasuredLoad, SearchEnd, VoidCause};

use super::bottleneck;
use crate::format;

/// `Sustains 412,000 records/s (402 MB/s) with p99 <= 20 ms in all 12 windows of 10 s; broke at 420,000 (2 of 3
/// windows, p99 38 ms).`
pub fn answer(capacity: &CapacitySummary, search: &CapacitySearch) -> String {
    let parts = [
        Some(bounds(capacity, search)),
        contradiction(capacity, search),
        generator_limit(search),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Both bounds, or why one is missing.
fn bounds(capacity: &CapacitySummary, search: &CapacitySearch) -> String {
    let goals = goals(capacity);
    let lower = search.strict.lower.or(search.unconfirmed());
    match (lower, search.strict.upper) {
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

/// `Contradicted: 370,000 records/s, a lower rate, broke the goals (1 of 1 window, p99 44 ms).` Only loads of the curve
/// can break the goals below the lower bound.
pub(crate) fn contradiction(capacity: &CapacitySummary, search: &CapacitySearch) -> Option<String> {
    let lower = search.strict.lower?;
    let is_below = |load: &&CapacityLoad| load.rate < lower && load.held == LoadVerdict::Broke;
    let load = search.loads.iter().find(is_below)?;
    Some(format!(
        "Contradicted: {} records/s, a lower rate, broke the goals{}.",
        format::figure(load.rate),
        how_it_broke(capacity, search, load.rate)
    ))
}

/// What to do if the search ended because the load generator was the bottleneck.
fn generator_limit(search: &CapacitySearch) -> Option<String> {
    let last = search
        .steps
        .last()
        .filter(|_| is_limited_by_generator(search))?;
    Some(format!(
        "At {} records/s, the load generator was the bottleneck: use --agents to offer more, or \
         --max-rate to stay below.",
        format::figure(last.rate)
    ))
}

fn is_limited_by_generator(search: &CapacitySearch) -> bool {
    let cause = VoidCause::Generator;
    search.end == Some(SearchEnd::Void { cause })
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
    let what = match search.strict.lower {
        Some(_) => "Sustains",
        None => "Not yet confirmed:",
    };
    format!(
        "{what} {} records/s{bytes} with {} {windows} of {} s",
        format::figure(lower),
        goals(capacity),
        format::compact(capacity.window_s),
    )
}

/// ` (2 of 3 windows, p99 38 ms)`: of the goal that most windows broke, the median over these windows.
fn how_it_broke(capacity: &CapacitySummary, search: &CapacitySearch, rate: f64) -> String {
    let Some(load) = search.load_at(rate) else {
        return String::new();
    };
    let windows = format::counted(load.windows.len() as u64, "window");
    let windows = format!("{} of {windows}", load.broken());
    let Some(broken) = &load.broke_most else {
        return format!(" ({windows})");
    };
    match (&broken.figure, broken.value_ns) {
        (Some(figure), Some(value_ns)) => {
            let is_plain = capacity.flows.len() == 1 && capacity.figure.as_ref() == Some(figure);
            let name = figure_name(capacity).filter(|_| is_plain);
            let value = format::nanoseconds(value_ns);
            format!(" ({windows}, {} {value})", name.unwrap_or(figure))
        }
        _ => format!(" ({windows}, not kept: {})", broken.goal),
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
    // A search that the generator limited would end in the same way again.
    let go_on = match can_resume && !is_limited_by_generator(search) {
        true => "; --resume continues it",
        false => "",
    };
    let end = match &search.end {
        Some(SearchEnd::Found) => String::new(),
        Some(SearchEnd::Budget) => {
            let missing = missing(capacity, search);
            format!(" The budget ended the search before it had {missing}{go_on}.")
        }
        Some(SearchEnd::Void { cause }) => {
            let cause = void_cause(cause);
            format!(" The search ended early: one load was void several times ({cause}){go_on}.")
        }
        None => format!(" The search did not end{go_on}."),
    };
    format!("{trials}{void}, {took}.{end}")
}

/// What a search that its budget ended had not found.
fn missing(capacity: &CapacitySummary, search: &CapacitySearch) -> String {
    let CapacityBounds { lower, upper } = search.strict;
    let is_confirmed = |bound: &f64| {
        let mut steps = search.steps.iter().filter(|step| step.void.is_none());
        steps.any(|step| step.rate == *bound && step.reason == LoadReason::Confirm)
    };
    if !search.is_narrow {
        let width = format::without_zeros(&format::percent(capacity.width));
        format!("bounds within {width}")
    } else if !lower.iter().chain(&upper).all(is_confirmed) {
        "confirmed both bounds".to_owned()
    } else {
        "narrowed the typical capacity".to_owned()
    }
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
    let all = capacity.searches.len();
    let searches = match spread.n as usize == all {
        true => format!("{all} searches"),
        false => format!("{} of {all} searches found a lower bound", spread.n),
    };
    Some(format!("{searches}: {mean} records/s{interval}."))
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

/// A judged load while the search goes on: `412 k/s kept the goals in 6 of 6 windows; bounds so far 400 k/s to 420
/// k/s`.
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
        (Some(lower), Some(upper)) => format!("bounds so far {} to {}", rate(lower), rate(upper)),
        (Some(lower), None) => format!("lower bound so far {}", rate(lower)),
        (None, Some(upper)) => format!("upper bound so far {}", rate(upper)),
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
pub(crate) mod tests;
