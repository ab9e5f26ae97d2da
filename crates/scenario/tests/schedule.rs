//! The schedule's promises: exact, monotone, equal for equal seeds, and whole in stripes.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_scenario::{Pacing, Random, Schedule, Shape, Stripe};
use proptest::prelude::*;

fn constant(per_second: f64) -> Shape {
    Shape::Constant { per_second }
}

fn poisson(per_second: f64) -> Shape {
    Shape::Poisson { per_second }
}

/// The first `count` intended times of a stripe, by the cursor.
fn times(shape: Shape, seed: u64, stripe: Stripe, count: usize) -> Vec<u64> {
    let mut schedule = Schedule::new(Pacing::of(&shape), seed, stripe);
    (0..count)
        .map(|_| {
            let now = schedule.peek_ns();
            schedule.advance();
            now
        })
        .collect()
}

#[test]
fn a_constant_rate_is_n_over_rate_rounded_down() {
    let three = times(constant(3.0), 0, Stripe::WHOLE, 7);
    assert_eq!(
        three,
        [
            0,
            333_333_333,
            666_666_666,
            1_000_000_000,
            1_333_333_333,
            1_666_666_666,
            2_000_000_000
        ]
    );
    assert_eq!(
        times(constant(50_000.0), 0, Stripe::WHOLE, 3),
        [0, 20_000, 40_000]
    );
    assert_eq!(
        times(constant(0.5), 0, Stripe::WHOLE, 3),
        [0, 2_000_000_000, 4_000_000_000]
    );
}

#[test]
fn a_billion_records_do_not_drift() {
    // 10^9 records at 3/s end at exactly 10^9 / 3 s; at 821,557/s at 1217.200997617 s.
    let schedule = Schedule::new(Pacing::of(&constant(3.0)), 0, Stripe::WHOLE);
    assert_eq!(
        schedule.intended_ns(3_000_000_000),
        1_000_000_000_000_000_000
    );
    let schedule = Schedule::new(Pacing::of(&constant(821_557.0)), 0, Stripe::WHOLE);
    assert_eq!(schedule.intended_ns(1_000_000_000), 1_217_200_997_617);
    assert_eq!(schedule.intended_ns(821_557_000), 1_000_000_000_000);
}

#[test]
fn the_cursor_agrees_with_the_formula_after_a_million_records() {
    let stripe = Stripe { index: 4, count: 7 };
    let mut schedule = Schedule::new(Pacing::of(&constant(70_001.7)), 0, stripe);
    for n in 0..1_000_000 {
        if n % 9_973 == 0 {
            assert_eq!(schedule.peek_ns(), schedule.intended_ns(n), "record {n}");
        }
        schedule.advance();
    }
}

#[test]
fn full_speed_has_no_schedule() {
    let mut schedule = Schedule::new(Pacing::of(&Shape::Max), 1, Stripe { index: 1, count: 2 });
    assert!(schedule.is_closed_loop());
    schedule.advance();
    assert_eq!((schedule.peek_ns(), schedule.intended_ns(1_000)), (0, 0));
    assert!(!Schedule::new(Pacing::of(&constant(1.0)), 1, Stripe::WHOLE).is_closed_loop());
}

#[test]
fn poisson_arrivals_have_the_rate_and_the_spread_of_a_poisson_process() {
    // 500,000 arrivals at 50k/s last 10 s, give or take 4 standard deviations (1/sqrt(n)).
    let times = times(poisson(50_000.0), 9, Stripe::WHOLE, 500_000);
    let seconds = *times.last().unwrap() as f64 / 1e9;
    assert!(
        (seconds - 10.0).abs() < 4.0 * 10.0 / 500_000f64.sqrt(),
        "{seconds} s"
    );

    // Counts in windows of 1 ms have mean 50 and variance 50 (variance / mean = 1).
    let windows = 9_900;
    let mut counts = vec![0u32; windows];
    for time in times {
        if let Some(count) = counts.get_mut((time / 1_000_000) as usize) {
            *count += 1;
        }
    }
    let mean = counts.iter().map(|&c| f64::from(c)).sum::<f64>() / windows as f64;
    let variance = counts
        .iter()
        .map(|&c| (f64::from(c) - mean).powi(2))
        .sum::<f64>()
        / windows as f64;
    assert!((mean - 50.0).abs() < 0.3, "mean {mean}");
    assert!((variance / mean - 1.0).abs() < 0.06, "variance {variance}");
}

#[test]
fn the_poisson_schedule_never_changes() {
    // Computed by a second program: a change here means that saved plans no longer repeat their runs.
    assert_eq!(
        times(poisson(1_000.0), 42, Stripe::WHOLE, 5),
        [298_992, 2_132_134, 3_410_108, 4_476_667, 7_746_043]
    );
    assert_eq!(Random::new(42).bits(0), 13_679_457_532_755_275_413);
}

#[test]
fn hostile_rates_do_not_panic() {
    for rate in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
        0.0,
        1e300,
        1e-300,
    ] {
        for shape in [constant(rate), poisson(rate)] {
            let mut schedule = Schedule::new(Pacing::of(&shape), 0, Stripe { index: 0, count: 0 });
            schedule.advance();
            schedule.advance();
            assert!(schedule.peek_ns() >= 1);
        }
    }
    let stripe = Stripe {
        index: u32::MAX - 1,
        count: u32::MAX,
    };
    let mut schedule = Schedule::new(Pacing::of(&constant(0.001)), 0, stripe);
    schedule.advance();
    assert_eq!(schedule.intended_ns(u64::MAX), u64::MAX);
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (0.001..1e9f64).prop_map(constant),
        (0.001..1e9f64).prop_map(poisson),
        (1..2_000_000u32).prop_map(|rate| constant(f64::from(rate))),
    ]
}

proptest! {
    #[test]
    fn times_never_decrease(shape in shapes(), seed: u64) {
        let times = times(shape, seed, Stripe::WHOLE, 500);
        prop_assert!(times.is_sorted());
    }

    #[test]
    fn the_stripes_interleave_to_exactly_the_whole(
        shape in shapes(), seed: u64, count in 1..40u32
    ) {
        let per_stripe = 20;
        let whole = times(shape.clone(), seed, Stripe::WHOLE, per_stripe * count as usize);
        let mut merged = vec![0; whole.len()];
        for index in 0..count {
            let stripe = times(shape.clone(), seed, Stripe { index, count }, per_stripe);
            for (n, time) in stripe.into_iter().enumerate() {
                merged[n * count as usize + index as usize] = time;
            }
        }
        prop_assert_eq!(merged, whole);
    }

    #[test]
    fn the_cursor_and_the_formula_agree(
        shape in shapes(), seed: u64, index in 0..9u32, n in 0..200usize
    ) {
        let stripe = Stripe { index, count: 9 };
        let by_cursor = times(shape.clone(), seed, stripe, n + 1)[n];
        prop_assert_eq!(Schedule::new(Pacing::of(&shape), seed, stripe).intended_ns(n as u64), by_cursor);
    }

    #[test]
    fn the_parts_of_a_record_count_add_up(records: u64, count in 1..500u32) {
        let parts = (0..count).map(|index| Stripe { index, count }.records_of(records));
        prop_assert_eq!(parts.map(u128::from).sum::<u128>(), u128::from(records));
    }
}
