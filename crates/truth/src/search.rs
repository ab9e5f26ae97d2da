//! Searches of simulated targets with a known capacity: how often the bounds contain it, and the time that this takes
//! next to RFC 2544's bisection and a controller as OpenMessaging Benchmark has one.

use kgauge_analyze::search::{
    GoalWindow, ReadingKind, Search, SearchSettings, SearchStep, bisect, ramping_s, typical_band,
};
use kgauge_analyze::statistics::RandomDraws;
use kgauge_scenario::{Size, derive_seed};

use crate::row::{ExpectedValue, TruthRow, TruthUnit};

const CHECK: &str = "search";
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
/// A search of a steady target takes at most this share of the bisection's time.
const OF_BISECTION_MAX: f64 = 0.5;

/// The searches of one kind of target.
#[derive(Clone, Copy, Debug, Default)]
struct SearchCounts {
    /// Brackets that contain the capacity.
    strict: u64,
    /// Typical brackets, or 95 % bands, that contain it.
    enclosed: u64,
    /// Brackets of the bisection that contain it.
    bisected: u64,
    seconds: f64,
    bisection_s: f64,
    /// Controllers that arrived at the capacity.
    arrived: u64,
}

/// The rows of steady and noisy targets.
pub(crate) fn rows(size: Size) -> Vec<TruthRow> {
    let searches = match size {
        Size::Quick => 200,
        Size::Default | Size::Full => 1_000,
    };
    let (steady, noisy) = (counts(searches, 0.0), counts(searches, NOISE));
    let mut rows = vec![
        at_least("steady, in the bracket", steady.strict, searches, 95),
        ExpectedValue::in_band(
            TruthUnit::Ratio,
            OF_BISECTION_MAX,
            0.0..=OF_BISECTION_MAX,
            format!("at most {OF_BISECTION_MAX}"),
        )
        .row(
            CHECK,
            "steady, time / bisection's",
            Some(steady.of_bisection()),
        ),
        at_least(
            "±5 %, in typical bracket or band",
            noisy.enclosed,
            searches,
            90,
        ),
    ];
    let shown = |figure: String, unit, value| TruthRow::shown(CHECK, figure, unit, value);
    rows.push(shown(
        "±5 %, time / bisection's".to_owned(),
        TruthUnit::Ratio,
        noisy.of_bisection(),
    ));
    for (name, found) in [("steady", steady), ("±5 %", noisy)] {
        let of = |what: &str| format!("{name}, {what}");
        let seconds = found.seconds / searches as f64;
        rows.extend([
            shown(of("seconds of a search"), TruthUnit::Count, seconds),
            shown(
                of("in the bisection's bracket"),
                TruthUnit::Count,
                found.bisected as f64,
            ),
            shown(
                of("controllers that arrive in 30 min"),
                TruthUnit::Count,
                found.arrived as f64,
            ),
        ]);
    }
    rows
}

/// A row of how many searches of all found the capacity.
fn at_least(figure: &str, found: u64, searches: u64, percent: u64) -> TruthRow {
    let least = searches * percent / 100;
    let band = least as f64..=searches as f64;
    let tolerance = format!("at least {least}");
    ExpectedValue::in_band(TruthUnit::Count, searches as f64, band, tolerance).row(
        CHECK,
        figure,
        Some(found as f64),
    )
}

impl SearchCounts {
    fn of_bisection(&self) -> f64 {
        self.seconds / self.bisection_s
    }
}

fn counts(searches: u64, noise: f64) -> SearchCounts {
    let mut found = SearchCounts::default();
    for seed in 0..searches {
        let mut draws = RandomDraws::new(derive_seed(seed, "search"));
        let capacity = 1_000f64.powf(1.0 + draws.uniform());
        let mut search = Search::new(settings(capacity, &mut draws));
        found.seconds += FULL_SPEED_S + measure(&mut search, capacity, noise, &mut draws);
        let [strict, typical] = ReadingKind::ALL.map(|kind| search.bounds(kind));
        found.strict += u64::from(strict.contains(capacity));
        let is_in_band =
            || typical_band(search.loads()).is_some_and(|band| band.contains(capacity));
        found.enclosed += u64::from(typical.contains(capacity) || is_in_band());
        let mut draws = RandomDraws::new(derive_seed(seed, "bisection"));
        let bisected = bisect(RATE_MAX, WIDTH, |rate| {
            rate <= noisy(capacity, noise, &mut draws)
        });
        found.bisection_s += bisected.seconds;
        found.bisected += u64::from((bisected.lower..=bisected.upper).contains(&capacity));
        found.arrived += u64::from(ramping_s(capacity, WIDTH).is_some());
    }
    found
}

/// As `kgauge capacity` searches by default; full speed is up to 40 % off the capacity.
fn settings(capacity: f64, draws: &mut RandomDraws) -> SearchSettings {
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

/// The capacity in one window or trial.
fn noisy(capacity: f64, noise: f64, draws: &mut RandomDraws) -> f64 {
    capacity * (1.0 + noise * (2.0 * draws.uniform() - 1.0))
}

/// Measures what a search asks for, until it is done. Returns the seconds that it took.
fn measure(search: &mut Search, capacity: f64, noise: f64, draws: &mut RandomDraws) -> f64 {
    let mut seconds = 0.0;
    for _ in 0..STEPS_MAX {
        let step = search.next_step();
        let SearchStep::Measure { rate, windows, .. } = step else {
            break;
        };
        let window = |_| GoalWindow {
            duration_s: WINDOW_S,
            kept: rate <= noisy(capacity, noise, draws),
        };
        let windows: Vec<GoalWindow> = (0..windows).map(window).collect();
        seconds += SETTLE_S + WINDOW_S * windows.len() as f64;
        search.record(step, &windows, rate.min(capacity));
    }
    seconds
}
