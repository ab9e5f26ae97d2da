//! A race of candidates against the settings in force. Candidates leave it as soon as that is clear.
//!
//! The tests hold after any number of looks. Each of the `k` candidates has confidence sequences at the level
//! `ALPHA / k` (Bonferroni): one against the settings in force, one against each other candidate. So all intervals
//! against the settings in force hold together with 95 %. The best candidate leaves by mistake in at most 5 % of races:
//! it can fall behind one of `k - 1` others, or below the width, each with a probability of at most `ALPHA / k`. The
//! leader is chosen by the data, which the sum over all others allows for.

use kgauge_results::run::TunePhase;
use kgauge_scenario::TunePlan;

use super::conditions;
use crate::sequential::{ALPHA, PAIRS_MIN};
use crate::statistics::{Interval, anytime_interval, mean};

/// More candidates do not race.
pub const CANDIDATES_MAX: usize = 8;
/// A race is no longer.
pub(super) const BLOCKS_MAX: u32 = 12;

/// A race after its complete blocks. Arm 0 is the settings in force.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceState {
    /// The number of complete blocks.
    pub blocks: u32,
    /// Where the candidates are, in the order of the arms; arm 0 is left out.
    pub candidates: Vec<RaceCandidate>,
}

/// A candidate of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceCandidate {
    /// Its arm.
    pub arm: usize,
    /// The mean gain against the settings in force, as a logarithm; absent before a block is complete.
    pub gain: Option<f64>,
    /// Its interval, valid after any number of blocks, all candidates together.
    pub interval: Option<Interval>,
    /// Why it left, if so.
    pub out: Option<RaceExit>,
}

/// Why a candidate left a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceExit {
    /// It does not gain more than the width.
    NoGain,
    /// Another one gains more.
    Behind,
    /// It breaks a condition.
    Condition,
}

/// Reads a race as it was after each block.
pub fn race(plan: &TunePlan, phase: &TunePhase) -> RaceState {
    let arms = 1..phase.arms.len();
    let mut state = RaceState {
        blocks: 0,
        candidates: arms
            .map(|arm| RaceCandidate {
                arm,
                gain: None,
                interval: None,
                out: None,
            })
            .collect(),
    };
    for block in 0..phase.blocks_started() {
        let mut racing = state.candidates.iter().filter(|one| one.out.is_none());
        let is_complete = phase.value(0, block).is_some()
            && racing.all(|one| phase.value(one.arm, block).is_some());
        if !is_complete {
            break;
        }
        state.blocks = block + 1;
        state.judge(plan, phase);
    }
    state
}

impl RaceState {
    fn judge(&mut self, plan: &TunePlan, phase: &TunePhase) {
        let sign = sign(plan);
        let alpha = ALPHA / self.candidates.len().max(1) as f64;
        let blocks = self.blocks;
        let gains = |arm: usize, to: usize| -> Vec<f64> {
            let ratio =
                |block| Some(sign * (phase.value(arm, block)? / phase.value(to, block)?).ln());
            (0..blocks).filter_map(ratio).collect()
        };
        for one in self.candidates.iter_mut().filter(|one| one.out.is_none()) {
            let values = gains(one.arm, 0);
            one.gain = mean(values.iter().copied());
            one.interval = anytime_interval(&values, alpha);
            if conditions::is_missed(plan, phase, one.arm) {
                one.out = Some(RaceExit::Condition);
            }
        }
        if (blocks as usize) < PAIRS_MIN {
            return;
        }
        let Some(leader) = self.leader().map(|leader| leader.arm) else {
            return;
        };
        let is_below = |values: &[f64], bound: f64| {
            let interval = anytime_interval(values, alpha);
            interval.is_some_and(|interval| interval.high < bound)
        };
        for one in self.candidates.iter_mut().filter(|one| one.out.is_none()) {
            if is_below(&gains(one.arm, 0), plan.width.ln_1p()) {
                one.out = Some(RaceExit::NoGain);
            } else if one.arm != leader && is_below(&gains(one.arm, leader), 0.0) {
                one.out = Some(RaceExit::Behind);
            }
        }
    }

    /// Those that have not left.
    pub(crate) fn racing(&self) -> impl Iterator<Item = &RaceCandidate> {
        self.candidates.iter().filter(|one| one.out.is_none())
    }

    fn leader(&self) -> Option<&RaceCandidate> {
        let gain = |one: &&RaceCandidate| one.gain.unwrap_or(f64::NEG_INFINITY);
        self.racing().max_by(|a, b| gain(a).total_cmp(&gain(b)))
    }

    /// Whether more blocks would change nothing: a single candidate has nobody to race, and the proof judges it.
    pub(super) fn is_over(&self) -> bool {
        self.racing().count() <= 1 || self.blocks >= BLOCKS_MAX
    }

    /// The arm that goes into the proof: the one with the fewest changes among those that gain as much as the leader,
    /// but for half of the width. `None` if no one gains anything.
    pub(super) fn winner(&self, plan: &TunePlan, phase: &TunePhase) -> Option<usize> {
        let best = self.leader()?.gain?;
        let near = |one: &&RaceCandidate| {
            one.gain
                .is_some_and(|gain| gain > 0.0 && gain >= best - plan.width.ln_1p() / 2.0)
        };
        let changes =
            |one: &RaceCandidate| phase.arms.get(one.arm).map_or(0, |arm| arm.options.len());
        let order = |a: &&RaceCandidate, b: &&RaceCandidate| {
            let by_gain = b
                .gain
                .unwrap_or_default()
                .total_cmp(&a.gain.unwrap_or_default());
            changes(a).cmp(&changes(b)).then(by_gain)
        };
        self.racing().filter(near).min_by(order).map(|one| one.arm)
    }
}

/// 1 if more is better, otherwise -1.
pub fn sign(plan: &TunePlan) -> f64 {
    match plan.metric.more_is_better() {
        true => 1.0,
        false => -1.0,
    }
}
