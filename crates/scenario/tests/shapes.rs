//! Rates that change, against answers worked out on paper.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::f64::consts::PI;

use kgauge_scenario::{Arrivals, Pacing, RateStep, Schedule, Shape, Stripe, Trace};
use proptest::prelude::*;

const SECOND_NS: u64 = 1_000_000_000;

fn seconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn ramp(from_per_second: f64, to_per_second: f64, over_s: u64) -> Shape {
    Shape::Ramp {
        from_per_second,
        to_per_second,
        over_ns: over_s * SECOND_NS,
    }
}

fn wave(per_second: f64, amplitude_per_second: f64, period_s: u64) -> Shape {
    Shape::Wave {
        per_second,
        amplitude_per_second,
        period_ns: period_s * SECOND_NS,
    }
}

fn burst() -> Shape {
    Shape::Burst {
        per_second: 10.0,
        burst_per_second: 100.0,
        every_ns: 10 * SECOND_NS,
        burst_ns: SECOND_NS,
    }
}

fn steps(steps: &[(f64, u64)]) -> Shape {
    let step = |&(per_second, length_s): &(f64, u64)| RateStep {
        per_second,
        length_ns: length_s * SECOND_NS,
    };
    let steps = steps.iter().map(step).collect();
    Shape::Step { steps }
}

fn replay(trace: Trace) -> Shape {
    let file = "trace.txt".to_owned();
    Shape::Replay { file, trace }
}

fn schedule(shape: &Shape) -> Schedule {
    Schedule::new(Pacing::of(shape), 0, Stripe::WHOLE)
}

/// Checks when records are due: (record, expected ns), off by at most one.
fn assert_due(shape: &Shape, expected: &[(u64, u64)]) {
    let schedule = schedule(shape);
    for &(n, expected_ns) in expected {
        let due_ns = schedule.intended_ns(n);
        assert!(
            due_ns.abs_diff(expected_ns) <= 1,
            "record {n}: {due_ns}, not {expected_ns}"
        );
    }
}

#[test]
fn a_ramp_from_nothing_is_a_square_root() {
    // 0 to 1,000/s in 10 s: the slope is 100/s per second, record n is due at sqrt(2 n / slope),
    // and 5,000 records are sent at 10 s. Then 1,000/s go on.
    let shape = ramp(0.0, 1_000.0, 10);
    let root = |n: u64| (n, seconds((2.0 * n as f64 / 100.0).sqrt()));
    assert_due(&shape, &[(0, 0), root(1), root(2), root(4_321)]);
    assert_due(
        &shape,
        &[
            (50, SECOND_NS),
            (200, 2 * SECOND_NS),
            (5_000, 10 * SECOND_NS),
            (6_000, 11 * SECOND_NS),
        ],
    );
    assert!((shape.records_before(10 * SECOND_NS, 0) - 5_000.0).abs() < 1e-6);
}

#[test]
fn ramps_rise_and_fall_between_any_two_rates() {
    // 100 t + 10 t^2 is 750 at 5 s and 2,000 at 10 s.
    let rising = ramp(100.0, 300.0, 10);
    assert_due(&rising, &[(750, 5 * SECOND_NS), (2_000, 10 * SECOND_NS)]);
    // 100 t - 5 t^2 is 180 at 2 s, 499 at 10 - sqrt(0.2) s, and never 501.
    let falling = ramp(100.0, 0.0, 10);
    let last = seconds(10.0 - 0.2_f64.sqrt());
    assert_due(
        &falling,
        &[(180, 2 * SECOND_NS), (499, last), (501, u64::MAX)],
    );
}

#[test]
fn a_ramp_of_a_day_is_exact_to_the_nanosecond() {
    // 0 to 1M/s in 24 h: half of the time is a quarter of the records, 1.08 * 10^10.
    let shape = ramp(0.0, 1e6, 86_400);
    assert_due(
        &shape,
        &[
            (10_800_000_000, 43_200 * SECOND_NS),
            (43_200_000_000, 86_400 * SECOND_NS),
        ],
    );
}

#[test]
fn steps_hold_their_rates_and_nothing_is_sent_in_a_pause() {
    let shape = steps(&[(100.0, 10), (0.0, 5), (200.0, 1)]);
    assert_due(
        &shape,
        &[
            (999, seconds(9.99)),
            (1_000, 15 * SECOND_NS),
            (1_001, seconds(15.005)),
            // The last rate holds on.
            (2_000, 20 * SECOND_NS),
        ],
    );
    assert_eq!(shape.records_before(12 * SECOND_NS, 0), 1_000.0);
}

#[test]
fn a_wave_adds_up_to_its_mean() {
    let shape = wave(100.0, 100.0, 10);
    // Whole periods have the mean; half a one has 100 * 5 + 100 * 10 / pi = 818.31.
    assert_due(&shape, &[(1_000, 10 * SECOND_NS), (7_000, 70 * SECOND_NS)]);
    assert!((shape.records_before(5 * SECOND_NS, 0) - 818.309_886).abs() < 1e-6);
    // At any due time the integral is the record's number.
    let schedule = schedule(&shape);
    for n in (1..3_000).step_by(7) {
        let at = schedule.intended_ns(n) as f64 / 1e9;
        let sum = 100.0 * at + 100.0 * 10.0 / (2.0 * PI) * (1.0 - (2.0 * PI * at / 10.0).cos());
        assert!((sum - n as f64).abs() < 1e-6, "record {n}: {sum}");
    }
}

#[test]
fn bursts_come_at_the_end_of_each_period() {
    // 9 s at 10/s and 1 s at 100/s: 190 a period.
    let shape = burst();
    assert_due(
        &shape,
        &[
            (0, 0),
            (90, 9 * SECOND_NS),
            (91, seconds(9.01)),
            (190, 10 * SECOND_NS),
            (190 + 95, seconds(19.05)),
            (190_000, 10_000 * SECOND_NS),
        ],
    );
    assert_eq!(shape.records_before(20 * SECOND_NS, 0), 380.0);
    assert_eq!(shape.per_second_max(), Some(100.0));
}

#[test]
fn a_trace_is_repeated_and_then_it_is_over() {
    let times = replay(Trace::Times([5, 5, 700, 1_000_000_000].into()));
    assert_due(
        &times,
        &[(0, 5), (1, 5), (2, 700), (3, SECOND_NS), (4, u64::MAX)],
    );
    let rates = replay(Trace::Rates([2.0, 0.0, 4.0].into()));
    let quarter = SECOND_NS / 4;
    assert_due(
        &rates,
        &[
            (0, 0),
            (1, SECOND_NS / 2),
            (2, 2 * SECOND_NS),
            (5, 2 * SECOND_NS + 3 * quarter),
            (6, u64::MAX),
        ],
    );
}

#[test]
fn in_the_warm_up_the_rate_is_the_first_one() {
    let due = |shape: &Shape, n: u64| {
        let pace = Pacing {
            shape,
            arrivals: Arrivals::Even,
            warm_up_ns: 2 * SECOND_NS,
        };
        Schedule::new(pace, 0, Stripe::WHOLE).intended_ns(n)
    };
    // Nothing for 2 s; then as above.
    let from_nothing = ramp(0.0, 1_000.0, 10);
    assert_eq!(
        (due(&from_nothing, 0), due(&from_nothing, 50)),
        (2 * SECOND_NS, 3 * SECOND_NS)
    );
    // 200 in 2 s, then 100 t + 10 t^2.
    let rising = ramp(100.0, 300.0, 10);
    assert_eq!(
        (due(&rising, 199), due(&rising, 950)),
        (seconds(1.99), 7 * SECOND_NS)
    );
    let trace = replay(Trace::Times([7].into()));
    assert_eq!(due(&trace, 0), 2 * SECOND_NS + 7);
    assert_eq!(due(&burst(), 19), seconds(1.9));
}

#[test]
fn poisson_arrivals_follow_the_rate() {
    let shape = ramp(0.0, 1_000.0, 100);
    let pace = Pacing {
        arrivals: Arrivals::Poisson,
        ..Pacing::of(&shape)
    };
    let mut schedule = Schedule::new(pace, 3, Stripe::WHOLE);
    // The second half has three quarters of the 50,000 records.
    let (mut first, mut second) = (0.0, 0.0);
    while schedule.peek_ns() < 100 * SECOND_NS {
        match schedule.peek_ns() < 50 * SECOND_NS {
            true => first += 1.0,
            false => second += 1.0,
        }
        schedule.advance();
    }
    // Five standard deviations are 5 * sqrt(n).
    assert!(
        (first - 12_500.0_f64).abs() < 5.0 * 12_500_f64.sqrt(),
        "{first}"
    );
    assert!(
        (second - 37_500.0_f64).abs() < 5.0 * 37_500_f64.sqrt(),
        "{second}"
    );
    assert_ne!(first + second, 50_000.0, "a Poisson process is never exact");
}

fn shapes() -> impl Strategy<Value = Shape> {
    let rate = 0.5..1e6f64;
    prop_oneof![
        (rate.clone(), rate.clone(), 1..1_000u64).prop_map(|(from, to, s)| ramp(from, to, s)),
        (rate.clone(), 0.0..1.0f64, 1..100u64).prop_map(|(mean, part, s)| wave(
            mean,
            mean * part,
            s
        )),
        prop::collection::vec((rate.clone(), 1..5u64), 1..6).prop_map(|list| steps(&list)),
        (rate.clone(), rate).prop_map(|(base, burst)| Shape::Burst {
            per_second: base,
            burst_per_second: burst,
            every_ns: 3_000_000,
            burst_ns: 1_000_000,
        }),
    ]
}

fn times(shape: &Shape, arrivals: Arrivals, stripe: Stripe, count: usize) -> Vec<u64> {
    let pace = Pacing {
        arrivals,
        warm_up_ns: 1_000_000,
        shape,
    };
    let mut schedule = Schedule::new(pace, 11, stripe);
    let next = |_| {
        let now_ns = schedule.peek_ns();
        schedule.advance();
        now_ns
    };
    (0..count).map(next).collect()
}

proptest! {
    #[test]
    fn times_never_decrease_and_the_stripes_make_the_whole(
        shape in shapes(), is_poisson: bool, count in 1..9u32
    ) {
        let arrivals = if is_poisson { Arrivals::Poisson } else { Arrivals::Even };
        let each = 30;
        let whole = times(&shape, arrivals, Stripe::WHOLE, each * count as usize);
        prop_assert!(whole.is_sorted());
        let mut merged = vec![0; whole.len()];
        for index in 0..count {
            let stripe = times(&shape, arrivals, Stripe { index, count }, each);
            for (n, time) in stripe.into_iter().enumerate() {
                merged[n * count as usize + index as usize] = time;
            }
        }
        prop_assert_eq!(merged, whole);
    }

    #[test]
    fn the_cursor_and_the_formula_agree(
        shape in shapes(), is_poisson: bool, index in 0..9u32, n in 0..100usize
    ) {
        let arrivals = if is_poisson { Arrivals::Poisson } else { Arrivals::Even };
        let stripe = Stripe { index, count: 9 };
        let by_cursor = times(&shape, arrivals, stripe, n + 1)[n];
        let pace = Pacing { arrivals, warm_up_ns: 1_000_000, shape: &shape };
        prop_assert_eq!(Schedule::new(pace, 11, stripe).intended_ns(n as u64), by_cursor);
    }

    #[test]
    fn the_sum_of_the_rate_and_its_inverse_agree(shape in shapes(), n in 1..1_000_000u64) {
        let due_ns = schedule(&shape).intended_ns(n);
        // Before it is due fewer than n records are, and a nanosecond later it is among them: give
        // or take what a record takes at most in two nanoseconds.
        prop_assert!(shape.records_before(due_ns.saturating_sub(1), 0) <= n as f64 + 1e-2);
        prop_assert!(shape.records_before(due_ns + 2, 0) >= n as f64 - 1e-2);
    }
}
