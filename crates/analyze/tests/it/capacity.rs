//! The bounds that a recorded search has.

use kgauge_analyze::compare::{AgainstReason, DifferenceVerdict, FigureKind};
use kgauge_analyze::search::CapacityBounds;
use kgauge_analyze::summary::{LoadVerdict, Status};
use kgauge_analyze::{RunToCompare, Summary, compare};
use kgauge_results::RunRead;
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
    Summary::of(&run_of(loads, end))
}

fn run_of(loads: Vec<MeasuredLoad>, end: SearchEnd) -> RunRead {
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
    made.end()
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
    // Of the windows with 30, 35 and 19 ms, two broke the goal.
    let most = broke.broke_most.as_ref().unwrap();
    assert_eq!((&*most.goal, most.value_ns), ("p99 <= 20 ms", Some(35e6)));
    assert_eq!(most.figure.as_deref(), Some("writers.latency.p99"));
    assert_eq!(held.broke_most, None);
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

#[test]
fn a_search_that_ended_early_has_the_rate_that_kept_the_goals_so_far() {
    let loads = || {
        vec![
            load(1_000.0, LoadReason::Bracket, &[30.0]),
            load(950.0, LoadReason::Narrow, &[10.0]),
        ]
    };
    let early = summary_of(loads(), SearchEnd::Budget);
    let search = &early.capacities[0].searches[0];
    assert_eq!(
        (search.strict.lower, search.unconfirmed()),
        (None, Some(950.0))
    );
    assert_eq!(search.steps[0].strict.lower, None);
    assert_eq!(search.steps[1].strict.lower, Some(950.0));
    assert_eq!(early.status, Status::GoalUndecided);
    // The second window makes it a bound.
    let confirmed = load(950.0, LoadReason::Narrow, &[11.0]);
    let later = summary_of([loads(), vec![confirmed]].concat(), SearchEnd::Budget);
    let search = &later.capacities[0].searches[0];
    assert_eq!(
        (search.strict.lower, search.unconfirmed()),
        (Some(950.0), None)
    );
}

#[test]
fn the_goal_that_most_windows_broke_is_named() {
    let mut loads = vec![load(1_000.0, LoadReason::Bracket, &[30.0, 10.0, 12.0])];
    for window in &mut loads[0].windows {
        let last = window.goals.last_mut().unwrap();
        *last = GoalReading {
            kept: false,
            value: Some(0.9),
        };
        window.kept = false;
    }
    let summary = summary(loads);
    let load = summary.capacities[0].searches[0].load_at(1_000.0).unwrap();
    let most = load.broke_most.as_ref().unwrap();
    assert_eq!(load.broken_goals.first().unwrap(), "p99 <= 20 ms");
    assert_eq!(load.broken_goals.last(), Some(&most.goal));
    assert_eq!((&most.figure, most.value_ns), (&None, None));
}

#[test]
fn capacities_are_compared_by_their_bounds() {
    let run = |scale: f64| {
        let loads = vec![
            load(scale * 1_000.0, LoadReason::Bracket, &[30.0]),
            load(scale * 980.0, LoadReason::Narrow, &[10.0, 12.0]),
            load(scale * 490.0, LoadReason::Curve, &[3.0]),
        ];
        run_of(loads, SearchEnd::Found)
    };
    let (before, after) = (run(1.0), run(1.2));
    let (of_before, of_after) = (Summary::of(&before), Summary::of(&after));
    let sides = [(&before, &of_before), (&after, &of_after)];
    let sides = sides.map(|(run, summary)| RunToCompare { run, summary });
    let comparison = compare(&sides, 0).unwrap();
    let figures: Vec<FigureKind> = comparison.rows.iter().map(|row| row.figure).collect();
    // Nothing else: the loads of two searches are at different rates.
    assert_eq!(figures, [FigureKind::Capacity, FigureKind::CapacityTypical]);
    let row = &comparison.rows[0];
    assert_eq!(row.flow.as_deref(), Some("p99 <= 20 ms"));
    assert_eq!(row.cells[1].estimate, Some(1_176.0));
    let bounds = CapacityBounds {
        lower: Some(1_176.0),
        upper: Some(1_200.0),
    };
    assert_eq!(row.cells[1].bounds, [bounds]);
    let against = row.cells[1].against.as_ref().unwrap();
    assert_eq!(against.word, DifferenceVerdict::Faster);
    let (ratio, interval) = (against.ratio.unwrap(), against.interval.unwrap());
    assert!((ratio - 1.2).abs() < 1e-9, "{ratio}");
    // Brackets of ln(1000/980) = 0.0202 and 3 % between runs: sqrt(2 (0.0202^2 / 12 + ln(1.03)^2)) = 0.0426, times
    // 1.96, and the 0.1 % that counts as none.
    let half = (interval.high / ratio).ln();
    assert!((half - 0.0845).abs() < 5e-4, "{half}");
    // One broken window of two is not more than half, so that the typical reading has no upper bound.
    let typical = comparison.rows[1].cells[1].against.as_ref().unwrap();
    assert_eq!(typical.word, DifferenceVerdict::Undecided);
    assert!(matches!(typical.reason, AgainstReason::WideBounds { .. }));
}
