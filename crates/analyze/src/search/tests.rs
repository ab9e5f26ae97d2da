//! Searches for the capacity of simulated targets, where it is known.

use super::{
    CapacityBounds, GoalWindow, LoadPurpose, ReadingKind, Search, SearchSettings, SearchStep,
    bisect, typical_band,
};
use crate::statistics::RandomDraws;

/// No search of these tests needs more.
const STEPS_MAX: usize = 200;
const WINDOW_S: f64 = 10.0;
const SEEDS: u64 = 200;

fn settings(rate_first: f64) -> SearchSettings {
    SearchSettings {
        rate_first,
        rate_min: 1.0,
        rate_max: 1e9,
        width: 0.02,
        window_s: WINDOW_S,
        duration_s: 60.0,
        confirm_windows: 6,
        confirms_lower_first: true,
    }
}

/// Measures what a search asks for, until it is done. `keeps(rate)` says whether a window of the target keeps the
/// goals, and `achieves(rate)` what it acks. Returns the seconds of all windows.
fn measure(
    search: &mut Search,
    mut keeps: impl FnMut(f64) -> bool,
    achieves: impl Fn(f64) -> f64,
) -> f64 {
    let mut seconds = 0.0;
    for _ in 0..STEPS_MAX {
        let step = search.next_step();
        if step == SearchStep::Done {
            return seconds;
        }
        seconds += measure_step(search, step, &mut keeps, &achieves);
    }
    panic!("no end after {STEPS_MAX} steps: {:?}", search.loads());
}

/// One step of [`measure`].
fn measure_step(
    search: &mut Search,
    step: SearchStep,
    mut keeps: impl FnMut(f64) -> bool,
    achieves: impl Fn(f64) -> f64,
) -> f64 {
    let SearchStep::Measure { rate, windows, .. } = step else {
        return 0.0;
    };
    let window = |_| GoalWindow {
        duration_s: WINDOW_S,
        kept: keeps(rate),
    };
    let windows: Vec<GoalWindow> = (0..windows).map(window).collect();
    search.record(step, &windows, achieves(rate));
    WINDOW_S * windows.len() as f64
}

/// A capacity from 1,000 to 1,000,000 records/s, and a search that begins within 40 % of it.
fn drawn(seed: u64) -> (f64, Search, RandomDraws) {
    let mut draws = RandomDraws::new(seed);
    let capacity = 1_000f64.powf(1.0 + draws.uniform());
    let first = capacity * (0.6 + 0.8 * draws.uniform());
    (capacity, Search::new(settings(first)), draws)
}

#[test]
fn the_bracket_of_a_steady_target_contains_its_capacity() {
    let mut ratio = 0.0;
    for seed in 0..SEEDS {
        let (capacity, mut search, _) = drawn(seed);
        // Not a round number, so that no load is exactly the capacity.
        let acked = |rate: f64| rate.min(capacity * 0.999);
        let seconds = measure(&mut search, |rate| rate <= capacity, acked);
        for kind in ReadingKind::ALL {
            let bounds = search.bounds(kind);
            assert!(bounds.contains(capacity), "{capacity} not in {bounds:?}");
            assert!(bounds.is_within(0.02), "{bounds:?}");
        }
        let bisection = bisect(2.0 * capacity, 0.02, |rate| rate <= capacity);
        ratio += seconds / bisection.seconds / SEEDS as f64;
    }
    // Bisection does not confirm its ends, has one reading only, and knows twice the capacity here.
    assert!(ratio < 0.7, "{ratio} of the time that bisection takes");
}

#[test]
fn the_readings_and_the_band_of_a_noisy_target_enclose_its_capacity() {
    let (mut enclosed, mut in_order) = (0, 0);
    for seed in 0..SEEDS {
        let (capacity, mut search, mut draws) = drawn(seed);
        let noise = |draws: &mut RandomDraws| 0.95 + 0.1 * draws.uniform();
        let keeps = |rate| rate <= capacity * noise(&mut draws);
        measure(&mut search, keeps, |rate| rate.min(capacity));
        let [strict, typical] = ReadingKind::ALL.map(|kind| search.bounds(kind));
        let band = typical_band(search.loads()).unwrap();
        enclosed += u64::from(band.contains(capacity) || typical.contains(capacity));
        in_order += u64::from(strict.lower <= typical.lower && strict.upper <= typical.upper);
        // No window of it can break below 95 % of the capacity.
        assert!(strict.upper.unwrap() > 0.95 * capacity, "{strict:?}");
    }
    assert!(enclosed >= SEEDS * 90 / 100, "{enclosed} of {SEEDS}");
    assert_eq!(in_order, SEEDS);
}

#[test]
fn a_latency_knee_far_below_full_speed_is_found() {
    let mut search = Search::new(settings(1e6));
    // The target acks everything; only the latency breaks the goal.
    measure(&mut search, |rate| rate <= 123_456.0, |rate| rate);
    assert!(search.bounds(ReadingKind::Strict).contains(123_456.0));
}

#[test]
fn a_target_that_holds_at_the_highest_rate_has_no_upper_bound() {
    let limits = SearchSettings {
        rate_max: 50_000.0,
        ..settings(40_000.0)
    };
    let mut search = Search::new(limits);
    measure(&mut search, |_| true, |rate| rate);
    let CapacityBounds { lower, upper } = search.bounds(ReadingKind::Strict);
    assert_eq!((lower, upper), (Some(50_000.0), None));
}

#[test]
fn a_goal_that_no_rate_keeps_has_no_lower_bound() {
    let limits = SearchSettings {
        rate_min: 10.0,
        ..settings(40_000.0)
    };
    let mut search = Search::new(limits);
    measure(&mut search, |_| false, |rate| rate);
    let CapacityBounds { lower, upper } = search.bounds(ReadingKind::Strict);
    assert_eq!((lower, upper), (None, Some(10.0)));
}

#[test]
fn a_broken_window_while_an_end_is_confirmed_reopens_the_search() {
    let mut search = Search::new(settings(1_000.0));
    let mut confirmed = None;
    for _ in 0..STEPS_MAX {
        let step = search.next_step();
        let SearchStep::Measure { rate, purpose, .. } = step else {
            break;
        };
        let is_first = purpose == LoadPurpose::Confirm && confirmed.is_none();
        if is_first {
            confirmed = search.bounds(ReadingKind::Strict).lower;
            assert_eq!(confirmed, Some(rate));
        }
        let keeps = |rate: f64| rate <= 900.0 && !is_first;
        measure_step(&mut search, step, keeps, |rate| rate.min(900.0));
    }
    let lower = search.bounds(ReadingKind::Strict).lower;
    assert!(lower < confirmed, "{lower:?} after {confirmed:?}");
}

#[test]
fn a_new_rate_gets_one_window_before_it_gets_many() {
    let (capacity, mut search, _) = drawn(3);
    for _ in 0..STEPS_MAX {
        let step = search.next_step();
        let SearchStep::Measure {
            rate,
            windows,
            purpose,
            ..
        } = step
        else {
            break;
        };
        let is_new = search.loads().at(rate).is_none();
        assert!(!is_new || windows <= 2, "{windows} windows at {rate}");
        assert!(!is_new || purpose != LoadPurpose::Confirm);
        let keeps = |rate| rate <= capacity;
        measure_step(&mut search, step, keeps, |rate| rate.min(capacity));
    }
    assert_eq!(search.next_step(), SearchStep::Done);
}

#[test]
fn a_rate_that_kept_the_goals_in_one_window_is_a_lower_bound_so_far() {
    let mut search = Search::new(settings(400_000.0));
    let windows = |kept: &[bool]| -> Vec<GoalWindow> {
        let window = |kept: &bool| GoalWindow {
            duration_s: WINDOW_S,
            kept: *kept,
        };
        kept.iter().map(window).collect()
    };
    let bounds = |lower, upper| CapacityBounds { lower, upper };
    search.replay(400_000.0, false, &windows(&[false]), 390_000.0);
    assert_eq!(search.bounds_so_far(), bounds(None, Some(400_000.0)));
    search.replay(390_000.0, false, &windows(&[true]), 390_000.0);
    let first = bounds(Some(390_000.0), Some(400_000.0));
    assert_eq!(search.bounds_so_far(), first);
    assert_eq!(search.bounds(ReadingKind::Strict).lower, None);
    // Two windows, which the second of three levels asks for, count for more than one.
    search.replay(380_000.0, false, &windows(&[true; 2]), 380_000.0);
    assert_eq!(search.bounds_so_far().lower, Some(380_000.0));
    // A load that held for the final duration is a bound of the search.
    search.replay(370_000.0, false, &windows(&[true; 6]), 370_000.0);
    assert_eq!(search.bounds_so_far(), search.bounds(ReadingKind::Strict));
    assert_eq!(search.bounds_so_far().lower, Some(370_000.0));
}

#[test]
fn a_search_goes_on_from_its_recorded_steps() {
    let (capacity, mut search, _) = drawn(7);
    let mut replayed = search.clone();
    for _ in 0..5 {
        let step = search.next_step();
        assert_eq!(replayed.next_step(), step);
        for search in [&mut search, &mut replayed] {
            let keeps = |rate| rate <= capacity;
            measure_step(search, step, keeps, |rate| rate.min(capacity));
        }
    }
    assert_eq!(search, replayed);
}
