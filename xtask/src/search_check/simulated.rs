//! Searches of simulated targets: how often the bracket contains the capacity, and the time beside other searches.

use kgauge_analyze::search::{
    CapacityBounds, GoalWindow, LoadClass, ReadingKind, Search, SearchSettings, SearchStep,
    typical_band,
};
use kgauge_scenario::{Random, derive_seed};

use super::other_searches::{bisection_s, ramping_s};
use crate::say::print_line;

const SEEDS: u64 = 1_000;
const WIDTH: f64 = 0.02;
const WINDOW_S: f64 = 10.0;
/// What a load takes before its first window, and full speed before the search: they count as well.
const SETTLE_S: f64 = 5.0;
const FULL_SPEED_S: f64 = 15.0;
/// The generator's own limit, where a search that knows nothing begins.
const RATE_MAX: f64 = 2e6;
/// How much the capacity of a noisy target differs between windows, on either side.
const NOISE: f64 = 0.05;
/// No search takes more steps.
const STEPS_MAX: usize = 300;

/// What the searches of one kind of target found.
#[derive(Clone, Copy, Debug, Default)]
struct SearchCounts {
    strict: u64,
    typical: u64,
    enclosed: u64,
    seconds: f64,
    of_bisection: f64,
    ramping_arrived: u64,
}

/// Runs the part. True if enough brackets contain the capacity.
pub(super) fn check() -> bool {
    print_line(&format!(
        "simulated targets, {SEEDS} each, width {WIDTH}, windows of {WINDOW_S} s; times with {SETTLE_S} s before each load\n\n\
         | noise | capacity in the strict bracket | in the typical bracket | in bracket or band | mean time | of RFC 2544's bisection | a controller as OpenMessaging Benchmark's arrives within half an hour |\n|---|---|---|---|---|---|---|"
    ));
    let steady = counts(0.0);
    let noisy = counts(NOISE);
    for (noise, found) in [(0.0, steady), (NOISE, noisy)] {
        let of = |count: u64| format!("{:.1} %", 100.0 * count as f64 / SEEDS as f64);
        print_line(&format!(
            "| ±{:.0} % | {} | {} | {} | {:.0} s | {:.2} | {} |",
            100.0 * noise,
            of(found.strict),
            of(found.typical),
            of(found.enclosed),
            found.seconds / SEEDS as f64,
            found.seconds / found.of_bisection,
            of(found.ramping_arrived),
        ));
    }
    // Noise hides the capacity from single windows: what all of them say together is judged.
    steady.strict * 100 >= SEEDS * 95 && noisy.enclosed * 100 >= SEEDS * 90
}

fn counts(noise: f64) -> SearchCounts {
    let mut found = SearchCounts::default();
    for seed in 0..SEEDS {
        let mut draws = Draws::new(derive_seed(seed, "search"));
        let capacity = 1_000f64.powf(1.0 + draws.uniform());
        let mut search = Search::new(settings(capacity, &mut draws));
        let seconds = FULL_SPEED_S + measure(&mut search, capacity, noise, &mut draws);
        let [strict, typical] = ReadingKind::ALL.map(|kind| search.bounds(kind));
        let band = typical_band(search.loads());
        found.strict += u64::from(contains(strict, capacity));
        found.typical += u64::from(contains(typical, capacity));
        let is_in_band = band.is_some_and(|band| band.contains(capacity));
        found.enclosed += u64::from(is_in_band || contains(typical, capacity));
        found.seconds += seconds;
        found.of_bisection += bisection_s(capacity, RATE_MAX, WIDTH);
        found.ramping_arrived += u64::from(ramping_s(capacity, WIDTH).is_some());
    }
    found
}

/// As `kgauge capacity` searches by default; full speed is up to 40 % off the capacity.
fn settings(capacity: f64, draws: &mut Draws) -> SearchSettings {
    SearchSettings {
        rate_first: capacity * (0.6 + 0.8 * draws.uniform()),
        rate_min: 1.0,
        rate_max: RATE_MAX,
        width: WIDTH,
        window_s: WINDOW_S,
        duration_s: 60.0,
        confirm_windows: 6,
        confirms_lower_first: draws.uniform() < 0.5,
    }
}

/// Measures what a search asks for, until it is done. Returns the seconds that it took.
fn measure(search: &mut Search, capacity: f64, noise: f64, draws: &mut Draws) -> f64 {
    let mut seconds = 0.0;
    for _ in 0..STEPS_MAX {
        let step = search.next_step();
        let SearchStep::Measure {
            rate,
            windows: most,
            reading,
            ..
        } = step
        else {
            break;
        };
        seconds += SETTLE_S;
        let mut all = search.loads().windows(rate).to_vec();
        let before = all.len();
        while all.len() - before < most {
            let now = capacity * (1.0 + noise * (2.0 * draws.uniform() - 1.0));
            all.push(GoalWindow {
                duration_s: WINDOW_S,
                kept: rate <= now,
            });
            seconds += WINDOW_S;
            if reading.classify(&all) != LoadClass::Undecided {
                break;
            }
        }
        search.record(step, &all[before..], rate.min(capacity));
    }
    seconds
}

fn contains(bounds: CapacityBounds, rate: f64) -> bool {
    bounds.lower.is_some_and(|lower| lower <= rate)
        && bounds.upper.is_some_and(|upper| rate <= upper)
}

/// Random numbers in order.
pub(super) struct Draws {
    random: Random,
    at: u64,
}

impl Draws {
    pub(super) fn new(seed: u64) -> Draws {
        let random = Random::new(seed);
        Draws { random, at: 0 }
    }

    /// From 0 to 1.
    pub(super) fn uniform(&mut self) -> f64 {
        self.at += 1;
        (-self.random.exponential(self.at)).exp()
    }
}
