//! The time of a search for better settings: what still fits into its budget.

use kgauge_results::run::{LeftOutCause, LeftOutSetting, TuneChoice, TuneRecord};
use kgauge_scenario::{SettingScope, TunePlan, TuneSetting};

use super::design;

/// Repeats of the settings in force before anything is chosen.
pub(super) const TODAY_BLOCKS: u32 = 3;
/// The arms of a proof.
pub(super) const PROOF_ARMS: u64 = 3;
/// Blocks that a clear effect needs: seven wins of seven.
const PROOF_BLOCKS: u64 = 7;
/// Measurements of the shortest proof.
pub(super) const PROOF_MEASURES: u64 = PROOF_ARMS * PROOF_BLOCKS;
/// Repeats of the shortest search that can recommend anything.
pub const REPEATS_MIN: u64 = TODAY_BLOCKS as u64 + PROOF_MEASURES;
/// Of the budget, the share that is kept for the proof, unless its blocks need more.
const PROOF_PART: f64 = 0.3;
/// Of the time before the proof, the share of the screening.
const SCREENING_PART: f64 = 0.6;
/// More pairs of blocks of a screening would only narrow intervals that are narrow already.
const BLOCK_PAIRS_MAX: usize = 4;
/// How many of the last measurements show how long the next one may take.
const RECENT: usize = 10;

/// The time of a search, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeFrame {
    budget: f64,
    took: f64,
    /// The mean time of a measurement.
    step: f64,
    /// The longest of the last measurements.
    longest: f64,
}

impl TimeFrame {
    /// That of a search which tries these settings.
    pub(super) fn of(plan: &TunePlan, record: &TuneRecord, settings: &[TuneSetting]) -> TimeFrame {
        let times: Vec<f64> = record.measures().map(|one| one.took_ns as f64).collect();
        // The first one also warms the brokers.
        let later = match times.as_slice() {
            [_, later @ ..] if !later.is_empty() => later,
            all => all,
        };
        let recent = later.iter().rev().take(RECENT);
        let mean = later.iter().sum::<f64>() / later.len().max(1) as f64;
        // All that was measured of the settings in force ran on one cluster. Other settings of brokers need another
        // one, which has to be warmed like the first.
        let mut arms = record.phases.iter().flat_map(|phase| &phase.arms);
        let is_first_cluster = arms.all(|arm| arm.options.is_empty());
        let needs_others = settings.iter().any(|one| one.scope == SettingScope::Broker);
        let step = match times.first() {
            Some(first) if is_first_cluster && needs_others => mean.max(*first),
            _ => mean,
        };
        TimeFrame {
            budget: plan.budget_ns as f64,
            took: record.took_ns as f64,
            step,
            longest: recent.copied().fold(0.0, f64::max),
        }
    }

    /// Whether the next measurement ends within the budget, even if it takes as long as the longest of the last ones.
    pub(super) fn has_next(&self) -> bool {
        self.took + self.longest <= self.budget
    }

    /// Whether this many more measurements end within the budget, if they take as long as those so far.
    pub(super) fn has(&self, measures: u64) -> bool {
        self.took + measures as f64 * self.step <= self.budget
    }

    /// How many more measurements end before the time of the proof begins.
    pub(super) fn measures_before_proof(&self) -> usize {
        self.measures_until(self.proof_start())
    }

    /// How many more measurements end within the time of the screening.
    fn screening_measures(&self) -> usize {
        self.measures_until(SCREENING_PART * self.proof_start())
    }

    /// The number of blocks of a screening with this many rows. Two are needed to keep settings and pairs of them
    /// apart; more narrow the intervals.
    pub(super) fn screening_blocks(&self, rows: usize) -> u32 {
        let pairs = self.screening_measures() / (2 * rows.max(1));
        u32::try_from(2 * pairs.clamp(1, BLOCK_PAIRS_MAX)).unwrap_or(2)
    }

    /// A budget in which this many more measurements end, with a tenth to spare.
    pub(super) fn needed_ns(&self, measures: u64) -> u64 {
        (self.took + 1.1 * measures as f64 * self.step) as u64
    }

    fn proof_start(&self) -> f64 {
        let proof = (PROOF_PART * self.budget).max(PROOF_MEASURES as f64 * self.step);
        (self.budget - proof).max(0.0)
    }

    fn measures_until(&self, end: f64) -> usize {
        ((end - self.took) / self.step.max(1.0)).max(0.0) as usize
    }
}

/// Leaves out what the budget has no time to screen; the most promising settings stay.
pub fn fit_to_budget(plan: &TunePlan, record: &TuneRecord, choice: &mut TuneChoice) {
    if plan.preset.is_some() {
        return;
    }
    let fits = |count: &usize| {
        let settings = choice.settings.get(..*count).unwrap_or_default();
        let measures = TimeFrame::of(plan, record, settings).screening_measures();
        *count == 1 || 2 * design::rows_for(*count) <= measures
    };
    let most = choice.settings.len().min(design::SCREENED_MAX);
    let count = (1..=most).rev().find(fits).unwrap_or(0);
    for setting in choice.settings.split_off(count) {
        choice.left_out.push(LeftOutSetting {
            name: setting.name,
            scope: setting.scope,
            cause: LeftOutCause::Budget,
        });
    }
}
