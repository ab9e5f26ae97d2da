//! Do the intervals of ratios hold the truth where runs differ by more than their repeats? Runs are drawn with a speed
//! of their own. `docs/decisions/intervals.md` has the figures; they stand in the words with which the tests would
//! fail.

use super::holm::adjusted;
use super::welch::{self, RunSpread, ratio};
use crate::statistics::RandomDraws;

/// Drawn comparisons for each figure of the table: known to 0.3 of a hundred at 95, or to 1 in a build that is not
/// optimised.
const DRAWS: u32 = if cfg!(debug_assertions) { 500 } else { 4_000 };
/// What repeats of one run differ by.
const WITHIN: f64 = 0.02;
/// What is assumed between runs.
const ASSUMED: f64 = 0.015;

impl RandomDraws {
    /// The repeats of one run, whose speed is drawn first.
    fn run(&mut self, repeats: usize, between: f64, speed: f64) -> Vec<f64> {
        let own = self.normal() * between;
        let one = |_| speed * (own + self.normal() * WITHIN).exp();
        (0..repeats).map(one).collect()
    }

    /// So many runs of a side.
    fn side(&mut self, runs: usize, repeats: usize, between: f64, speed: f64) -> Vec<Vec<f64>> {
        (0..runs)
            .map(|_| self.run(repeats, between, speed))
            .collect()
    }
}

fn slices(side: &[Vec<f64>]) -> Vec<&[f64]> {
    side.iter().map(Vec::as_slice).collect()
}

/// How often, of a hundred, the interval holds the true ratio of 1.
fn covered(runs: usize, repeats: usize, truth: f64, counted: RunSpread) -> f64 {
    let mut source =
        RandomDraws::new(runs as u64 * 1_000 + repeats as u64 * 10 + (truth * 1e3) as u64);
    let held = (0..DRAWS).filter(|_| {
        let ours = source.side(runs, repeats, truth, 1.0);
        let theirs = source.side(runs, repeats, truth, 1.0);
        let found = ratio(&slices(&ours), &slices(&theirs), counted, 0.0).unwrap();
        found.interval.contains(1.0)
    });
    100.0 * held.count() as f64 / f64::from(DRAWS)
}

/// How often, of a hundred, a tenth less is found among so many figures of which the others are equal.
fn found_cut(runs: usize, figures: usize, truth: f64, counted: RunSpread) -> f64 {
    let mut source = RandomDraws::new(figures as u64);
    let found = (0..DRAWS).filter(|_| {
        let chance = |figure| {
            let speed = if figure == 0 { 0.9 } else { 1.0 };
            let ours = source.side(runs, 5, truth, speed);
            let theirs = source.side(runs, 5, truth, 1.0);
            let found = ratio(&slices(&ours), &slices(&theirs), counted, 0.0);
            found.unwrap().p
        };
        let chances: Vec<f64> = (0..figures).map(chance).collect();
        adjusted(&chances)[0] < welch::ALPHA
    });
    100.0 * found.count() as f64 / f64::from(DRAWS)
}

#[test]
fn what_is_assumed_between_runs_restores_the_level_and_what_is_not_loses_it() {
    for repeats in [3, 5, 10] {
        let row = |truth| {
            let none = covered(1, repeats, truth, RunSpread::Assumed(0.0));
            let assumed = covered(1, repeats, truth, RunSpread::Assumed(ASSUMED));
            let measured = covered(3, repeats, truth, RunSpread::Measured);
            [none, assumed, measured]
        };
        let rows = [0.0, ASSUMED, 2.0 * ASSUMED].map(row);
        // Without a spread between runs the interval is rather too wide. Three standard errors are 3.
        assert!(
            rows[0].iter().all(|held| *held >= 92.0),
            "{repeats}: {rows:?}"
        );
        assert!(rows[1][1] >= 92.0, "as assumed, {repeats}: {rows:?}");
        assert!(
            rows[1][0] < rows[1][1] && rows[2][0] < 82.0,
            "{repeats}: {rows:?}"
        );
        // Twice what is assumed: more wrong than it says, and less than without.
        assert!(rows[2][1] > rows[2][0] + 5.0, "{repeats}: {rows:?}");
        // Measured it holds whatever the truth is.
        for row in rows {
            assert!(row[2] >= 92.0, "{repeats}: {rows:?}");
        }
    }
}

#[test]
fn a_tenth_less_is_found_all_the_same() {
    let row = |figures| {
        [0.0, ASSUMED, 2.0 * ASSUMED].map(|truth| {
            let single = found_cut(1, figures, truth, RunSpread::Assumed(ASSUMED));
            let [three, five] =
                [3, 5].map(|runs| found_cut(runs, figures, truth, RunSpread::Measured));
            [single, three, five]
        })
    };
    let found = [5, 20].map(row);
    // Among the five figures of one flow, in 19 of 20 even where runs differ by as much as is assumed. Three standard
    // errors are 3.
    assert!(
        found[0][0][0] >= 95.0 && found[0][1][0] >= 91.0,
        "{found:?}"
    );
    // Among many, and in five runs that differ by twice as much, less often.
    assert!(found[1][0][0] >= 92.0, "{found:?}");
    assert!(
        found[0][1][2] > found[0][1][1],
        "more runs find more: {found:?}"
    );
}
