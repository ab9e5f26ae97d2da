//! The bounds that a recorded search has.

use kgauge_analyze::Summary;
use kgauge_analyze::search::CapacityBounds;
use kgauge_analyze::summary::{LoadVerdict, Status};
use kgauge_results::run::{
    GoalReading, JudgedWindow, LoadReason, MeasuredLoad, SearchEnd, SearchRecord, SearchRun,
    SearchStart, VoidCause,
};

use crate::made::Made;

const SEARCHED: &str = "\
kgauge: 1
name: searched
question: How much?
topic: {partitions: 2}
flows:
  - {name: writers, kind: produce, shape: max, record: {size: 1 kB}}
search: {goals: [p99 <= 20 ms], window: 10 s, duration: 20 s}
";

fn load(rate: f64, reason: LoadReason, values_ms: &[f64]) -> MeasuredLoad {
    let reading = |kept: bool, value: Option<f64>| GoalReading { kept, value };
    let windows = values_ms.iter().map(|value| {
        let kept = *value <= 20.0;
        let others = [reading(true, Some(0.0)); 2];
        let first = reading(kept, Some(value * 1e6));
        JudgedWindow {
            length_ns: 10_000_000_000,
            kept,
            goals: [first].into_iter().chain(others).collect(),
        }
    });
    MeasuredLoad {
        trial: 0,
        rate,
        reason,
        windows: windows.collect(),
        achieved: rate,
        void: None,
    }
}

fn summary(loads: Vec<MeasuredLoad>) -> Summary {
    summary_of(loads, SearchEnd::Found)
}

fn summary_of(loads: Vec<MeasuredLoad>, end: SearchEnd) -> Summary {
    let mut made = Made::begin(SEARCHED);
    let run = SearchRun {
        trial: 0,
        repeat: 0,
        start: Some(SearchStart {
            full_speed: 1_000.0,
            confirms_lower_first: true,
        }),
        loads,
        end: Some(end),
        took_ns: 90_000_000_000,
    };
    let record = SearchRecord {
        searches: vec![run],
    };
    made.folder.write_search(&record).unwrap();
    Summary::of(&made.end())
}

#[test]
fn bounds_follow_from_the_windows_that_count() {
    let void = MeasuredLoad {
        void: Some(VoidCause::OtherPrograms),
        ..load(980.0, LoadReason::Narrow, &[90.0])
    };
    let summary = summary(vec![
        load(1_000.0, LoadReason::Bracket, &[30.0]),
        void,
        load(980.0, LoadReason::Narrow, &[10.0, 12.0]),
        load(980.0, LoadReason::Confirm, &[11.0, 13.0]),
        load(1_000.0, LoadReason::Confirm, &[35.0, 19.0]),
        load(490.0, LoadReason::Curve, &[3.0]),
    ]);
    assert_eq!(summary.status, Status::Good);
    let capacity = &summary.capacities[0];
    assert_eq!(capacity.goals, ["p99 <= 20 ms"]);
    assert_eq!(capacity.figure.as_deref(), Some("writers.latency.p99"));
    let search = &capacity.searches[0];
    let bounds = CapacityBounds {
        lower: Some(980.0),
        upper: Some(1_000.0),
    };
    assert_eq!((search.strict, search.is_narrow), (bounds, true));
    assert_eq!(search.trials(), (7, 1));
    let held = search.load_at(980.0).unwrap();
    assert_eq!((held.held, held.windows.len()), (LoadVerdict::Held, 4));
    let broke = search.load_at(1_000.0).unwrap();
    assert_eq!((broke.held, broke.broken()), (LoadVerdict::Broke, 2));
    assert_eq!(broke.broken_goals, ["p99 <= 20 ms"]);
    assert_eq!(search.load_at(490.0).unwrap().value_ns, Some(3e6));
}

#[test]
fn a_goal_that_no_rate_keeps_is_missed_and_a_search_without_bounds_is_inconclusive() {
    let status = |loads| summary(loads).status;
    let broken = load(1_000.0, LoadReason::Bracket, &[30.0]);
    assert_eq!(status(vec![broken.clone()]), Status::GoalMissed);
    let early = summary_of(vec![broken], SearchEnd::Budget);
    assert_eq!(early.status, Status::GoalUndecided, "a lower rate may hold");
    assert_eq!(status(Vec::new()), Status::GoalUndecided);
}
