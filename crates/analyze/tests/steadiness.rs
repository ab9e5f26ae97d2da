//! How often the steadiness check is wrong, on made-up series whose truth is known.

use kgauge_analyze::statistics::{
    Better, Steadiness, check, check_logs, check_repeats, trend, warm_up_end,
};

/// Series of each kind.
const SERIES: u64 = 200;
/// Bins of 100 ms in a series: a hold of 40 s.
const BINS: usize = 400;

/// Numbers that look random (SplitMix64), the same in every run.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    fn sign(&mut self) -> f64 {
        if self.uniform() < 0.5 { -1.0 } else { 1.0 }
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Noise of mean 1: each value resembles the one before it by `likeness`.
fn noise(random: &mut Random, bins: usize, likeness: f64, cv: f64) -> Vec<f64> {
    let fresh = cv * (1.0 - likeness * likeness).sqrt();
    let mut last = cv * random.normal();
    let values = (0..bins).map(|_| {
        last = likeness * last + fresh * random.normal();
        1.0 + last
    });
    values.collect()
}

fn any_noise(random: &mut Random, bins: usize) -> Vec<f64> {
    let (likeness, cv) = (random.between(0.0, 0.8), random.between(0.03, 0.12));
    noise(random, bins, likeness, cv)
}

/// Throughput over 40 s of five kinds, each by its name.
fn series(kind: &str, seed: u64) -> Vec<f64> {
    let mut random = Random(seed ^ 0xC0FFEE);
    let values = any_noise(&mut random, BINS);
    let at = |index: usize| index as f64 / BINS as f64;
    let apply = |factor: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let values = values.iter().enumerate();
        let values = values.map(|(index, value)| value.max(0.01) * factor(index) * 1e6);
        values.collect()
    };
    match kind {
        "noise" => apply(&|_| 1.0),
        "sawtooth" => {
            let (depth, phase) = (random.between(0.1, 0.4), random.between(0.0, 50.0));
            apply(&|index| 1.0 - depth * ((index as f64 + phase) / 50.0).fract())
        }
        "transient" => {
            let (depth, bins) = (random.between(0.3, 0.8), random.between(40.0, 120.0));
            apply(&|index| 1.0 - depth * (-(index as f64) / bins).exp())
        }
        "shift" => {
            let height = random.sign() * random.between(0.15, 0.5);
            let border = random.between(0.25, 0.75);
            apply(&|index| {
                if at(index) < border {
                    1.0
                } else {
                    1.0 + height
                }
            })
        }
        "ramp" => {
            let height = random.sign() * random.between(0.25, 0.6);
            apply(&|index| 1.0 + height * at(index))
        }
        other => panic!("no series is called {other}"),
    }
}

fn count(kind: &str, is_counted: impl Fn(Steadiness) -> bool) -> u64 {
    let found = (0..SERIES).map(|seed| check(&series(kind, seed), Better::Higher).steadiness);
    found.filter(|found| is_counted(*found)).count() as u64
}

#[test]
fn a_change_is_called_steady_in_at_most_five_of_a_hundred_series() {
    for kind in ["transient", "shift", "ramp"] {
        let wrong = count(kind, |found| found.is_usable());
        println!("{kind}: {wrong} of {SERIES} called steady or undecided");
        assert!(wrong * 100 <= 5 * SERIES, "{kind}: {wrong} of {SERIES}");
    }
}

#[test]
fn noise_and_regular_flushes_are_called_steady_in_nine_of_ten_series() {
    for kind in ["noise", "sawtooth"] {
        let wrong = count(kind, |found| found != Steadiness::Steady);
        println!("{kind}: {wrong} of {SERIES} not called steady");
        assert!(wrong * 100 <= 10 * SERIES, "{kind}: {wrong} of {SERIES}");
    }
}

#[test]
fn latencies_are_judged_alike_by_their_logarithms() {
    let logs = |kind: &str, seed| -> Vec<f64> {
        let values = series(kind, seed).into_iter();
        // Latency is high where throughput is low, and its noise is twice as large.
        values.map(|value| -2.0 * value.ln()).collect()
    };
    let wrong = |kind: &str, is_wrong: fn(Steadiness) -> bool| {
        let found = (0..SERIES).map(|seed| check_logs(&logs(kind, seed), Better::Lower).steadiness);
        found.filter(|found| is_wrong(*found)).count() as u64
    };
    for kind in ["transient", "shift", "ramp"] {
        let wrong = wrong(kind, Steadiness::is_usable);
        println!("{kind}: {wrong} of {SERIES} called steady or undecided");
        assert!(wrong * 100 <= 5 * SERIES, "{kind}: {wrong} of {SERIES}");
    }
    for kind in ["noise", "sawtooth"] {
        let wrong = wrong(kind, |found| !found.is_usable());
        println!("{kind}: {wrong} of {SERIES} called changing");
        assert!(wrong * 100 <= 10 * SERIES, "{kind}: {wrong} of {SERIES}");
    }
}

#[test]
fn the_warm_up_ends_where_the_transient_has_faded() {
    let (mut late, mut far) = (0, 0);
    for seed in 0..SERIES {
        let mut random = Random(seed);
        let bins = random.between(10.0, 30.0);
        let values = any_noise(&mut random, BINS).into_iter().enumerate();
        let values =
            values.map(|(index, value)| value * (1.0 - 0.6 * (-(index as f64) / bins).exp()));
        let values: Vec<f64> = values.collect();
        let cut = warm_up_end(&values);
        let rest = cut.map(|cut| check(&values[cut..], Better::Higher).steadiness);
        late += u64::from(rest.is_some_and(|rest| rest != Steadiness::Steady));
        // What is left of the transient after the cut is at most a tenth.
        let left = cut.map_or(0.0, |cut| 0.6 * (-(cut as f64) / bins).exp());
        far += u64::from(left > 0.15);
        late += u64::from(cut.is_none());
    }
    println!("{far} of {SERIES} with more than 15 % of the level missing after the cut");
    assert!(far * 100 <= 5 * SERIES, "{far} of {SERIES}");
    println!("{late} of {SERIES} without a cut, or not steady after it");
    assert!(late * 100 <= 10 * SERIES, "{late} of {SERIES}");
}

/// Three repeats of one trial, each by its name. `x` is the time in holds.
fn three_repeats(kind: &str, bins: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random(seed ^ 0x5EED);
    let (height, sign) = (random.between(0.3, 0.6), random.sign());
    let width = random.between(0.1, 0.3);
    let wide = random.between(0.7, 2.0);
    let repeats = (0..3).map(|repeat| {
        let mut values = match kind {
            // It changes as slowly as a hold is long.
            "slow noise" => noise(&mut random, bins, 1.0 - 2.0 / bins as f64, 0.15),
            _ => any_noise(&mut random, bins),
        };
        let border = random.between(0.25, 0.75);
        for (index, value) in values.iter_mut().enumerate() {
            let x = index as f64 / bins as f64;
            let factor = match kind {
                "noise" | "slow noise" => 1.0,
                "each transient" => 1.0 - height * (-x / width).exp(),
                "each ramp" => 1.0 + sign * height * x,
                "each jump" if x < border => 1.0,
                "each jump" => 1.0 + sign * height,
                "one transient" => 1.0 - (height + 0.3) * (-(x + f64::from(repeat)) / wide).exp(),
                other => panic!("no repeats are called {other}"),
            };
            *value = value.max(0.01) * factor * 1e6;
        }
        values
    });
    repeats.collect()
}

/// The verdict on three repeats, as that on a flow.
fn verdict(repeats: &[Vec<f64>]) -> Steadiness {
    let together = check_repeats(repeats, Better::Higher);
    let together = together.map_or(Steadiness::Undecided, |check| check.steadiness);
    let means = repeats.iter().map(|values| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, check(values, Better::Higher))
    });
    let trend = trend(&means.collect::<Vec<_>>());
    trend.map_or(together, |_| together.max(Steadiness::Warming))
}

#[test]
fn what_three_repeats_share_is_found_and_what_chance_does_to_one_is_not() {
    // Holds of 2 s and of 40 s.
    for bins in [20, BINS] {
        let count = |kind: &str, is_counted: fn(Steadiness) -> bool| {
            let found = (0..SERIES).map(|seed| verdict(&three_repeats(kind, bins, seed)));
            found.filter(|found| is_counted(*found)).count() as u64
        };
        for kind in ["each transient", "each ramp", "each jump", "one transient"] {
            let wrong = count(kind, Steadiness::is_usable);
            println!("{bins} bins, {kind}: {wrong} of {SERIES} called steady or undecided");
            assert!(wrong * 100 <= 5 * SERIES, "{kind}: {wrong} of {SERIES}");
        }
        // Of three repeats of a noise that hardly changes within one, a quarter goes one way by chance.
        for (kind, percent) in [("noise", 10), ("slow noise", 30)] {
            let wrong = count(kind, |found| !found.is_usable());
            println!("{bins} bins, {kind}: {wrong} of {SERIES} called changing");
            assert!(
                wrong * 100 <= percent * SERIES,
                "{kind}: {wrong} of {SERIES}"
            );
        }
    }
}
