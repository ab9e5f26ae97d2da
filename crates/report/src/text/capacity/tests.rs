//! The sentences about a search, and the search that other tests of reports show.

use kgauge_analyze::statistics::Spread;
use kgauge_analyze::summary::{BrokenGoal, CapacitySetup, CapacityStep, CapacityWindow};

use super::*;

const MS: f64 = 1e6;

fn load(rate: f64, values_ms: &[f64], limit_ms: f64) -> CapacityLoad {
    let windows = values_ms.iter().map(|value| CapacityWindow {
        kept: *value <= limit_ms,
        value_ns: Some(value * MS),
    });
    let windows: Vec<CapacityWindow> = windows.collect();
    let is_held = windows.iter().all(|window| window.kept);
    let broken = values_ms.iter().filter(|value| **value > limit_ms);
    let broken: Vec<&f64> = broken.collect();
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
        broke_most: (!is_held).then(|| BrokenGoal {
            goal: "p99 <= 20 ms".to_owned(),
            figure: Some("writers.latency.p99".to_owned()),
            value_ns: Some(broken[broken.len() / 2] * MS),
        }),
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
         broke at 420,000 (2 of 3 windows, p99 40.0 ms)."
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
}

#[test]
fn a_search_that_its_budget_ended_names_what_is_missing() {
    let capacity = capacity();
    let mut search = capacity.searches[0].clone();
    search.end = Some(SearchEnd::Budget);
    let text = cost(&capacity, &search, true);
    assert!(
        text.ends_with("before it had confirmed both bounds; --resume continues it."),
        "{text}"
    );
    for step in &mut search.steps {
        step.reason = LoadReason::Confirm;
    }
    let text = cost(&capacity, &search, true);
    assert!(
        text.contains("before it had narrowed the typical"),
        "{text}"
    );
    search.is_narrow = false;
    let text = cost(&capacity, &search, false);
    assert!(text.ends_with("before it had bounds within 2 %."), "{text}");
}

#[test]
fn the_goal_that_broke_is_named() {
    let mut capacity = capacity();
    let load = capacity.searches[0].loads.last_mut().unwrap();
    let most = load.broke_most.as_mut().unwrap();
    most.figure = Some("audit.latency.p99".to_owned());
    let text = answer(&capacity, &capacity.searches[0]);
    assert!(
        text.ends_with("(2 of 3 windows, audit.latency.p99 40.0 ms)."),
        "{text}"
    );
    let load = capacity.searches[0].loads.last_mut().unwrap();
    load.broke_most = Some(BrokenGoal {
        goal: "the offered rate is reached".to_owned(),
        figure: None,
        value_ns: None,
    });
    let text = answer(&capacity, &capacity.searches[0]);
    assert!(
        text.ends_with("(2 of 3 windows, not kept: the offered rate is reached)."),
        "{text}"
    );
}

#[test]
fn a_rate_that_kept_the_goals_is_named_before_it_is_confirmed() {
    let mut capacity = capacity();
    capacity.searches[0].strict.lower = None;
    capacity.searches[0].end = None;
    let text = answer(&capacity, &capacity.searches[0]);
    assert_eq!(
        text,
        "Not yet confirmed: 412,000 records/s (412 MB/s) with p99 <= 20 ms in all 3 windows of \
         10 s; broke at 420,000 (2 of 3 windows, p99 40.0 ms)."
    );
    // Nothing has broken, because the generator was too slow for more.
    let search = &mut capacity.searches[0];
    search.strict.upper = None;
    let cause = VoidCause::Generator;
    search.end = Some(SearchEnd::Void { cause });
    search.steps[2].rate = 641_000.0;
    let text = answer(&capacity, &capacity.searches[0]);
    assert!(text.starts_with("Not yet confirmed: 412,000"), "{text}");
    let advice = "No rate has broken the goals so far. At 641,000 records/s, the load generator \
                  was the bottleneck: use --agents to offer more, or --max-rate to stay below.";
    assert!(text.ends_with(advice), "{text}");
    let text = cost(&capacity, &capacity.searches[0], true);
    assert!(!text.contains("--resume"), "{text}");
}

#[test]
fn a_lower_rate_that_broke_the_goals_contradicts_the_answer() {
    let mut capacity = capacity();
    let search = &mut capacity.searches[0];
    search.loads[3] = load(370_800.0, &[44.0], 20.0);
    let text = answer(&capacity, &capacity.searches[0]);
    assert!(text.starts_with("Sustains 412,000 records/s"), "{text}");
    assert!(
        text.ends_with(
            "Contradicted: 370,800 records/s, a lower rate, broke the goals (1 of 1 window, \
             p99 44.0 ms)."
        ),
        "{text}"
    );
}

#[test]
fn searches_without_a_lower_bound_are_counted() {
    let mut capacity = capacity();
    capacity.over_searches = Spread::of(&[412_000.0, 414_000.0]);
    let search = capacity.searches[0].clone();
    capacity.searches = vec![search; 3];
    let text = over_searches(&capacity).unwrap();
    assert!(
        text.starts_with("2 of 3 searches found a lower bound: 413,000 records/s"),
        "{text}"
    );
    capacity.searches.pop();
    let text = over_searches(&capacity).unwrap();
    assert!(text.starts_with("2 searches: 413,000 records/s"), "{text}");
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
        "412 k/s kept the goals in 0 of 0 windows; bounds so far 400 k/s to 420 k/s"
    );
    load.void = Some(VoidCause::LeadersMoved { partitions: 2 });
    assert_eq!(
        judged(&load, strict),
        "412 k/s is void (leaders of 2 partitions moved) and measured again"
    );
}
