//! What a search for better settings does next: a pure function of its plan, its record and its seed.

use kgauge_results::run::{
    TuneArm, TuneChoice, TuneEnd, TuneOption, TunePhase, TunePhaseKind, TuneRecord,
};
use kgauge_scenario::{Random, TunePlan, derive_seed};

use super::race::{self, CANDIDATES_MAX};
use super::{design, effects, screened};
use crate::sequential::{PAIRS_MIN, PairDecision, decide};

/// Repeats of the settings in force before anything is chosen.
const TODAY_BLOCKS: u32 = 3;
/// A proof is no longer.
const PROOF_BLOCKS_MAX: u32 = 40;
/// Blocks at the second load.
const OTHER_BLOCKS: u32 = 3;
/// Measurements that are void this often in a row end the search.
const VOIDS_MAX: usize = 3;
/// Settings that go from the screening into the race.
const ENTRANTS_MAX: usize = 4;
/// Shares of the budget: until when settings are screened, and until when the race may go on.
pub(super) const SCREENED_BY: f64 = 0.4;
const RACED_BY: f64 = 0.7;
/// Blocks that a race is expected to take.
const RACE_BLOCKS: f64 = 6.0;
/// Pairs that a clear effect needs: seven wins of seven.
const PROOF_BLOCKS: u64 = 7;
/// The arms of a proof.
const PROOF_ARMS: u64 = 3;

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum TuneMove {
    /// Look at what was measured of the settings in force, and choose candidates.
    Choose,
    /// Begin this phase.
    Open(TunePhase),
    /// Measure an arm of the last phase.
    Measure {
        /// The arm's position.
        arm: usize,
        /// The block that it belongs to.
        block: u32,
    },
    /// It is over.
    End(TuneEnd),
}

/// A search for better settings, so far.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What was planned.
    pub plan: &'a TunePlan,
    /// What was measured.
    pub record: &'a TuneRecord,
    /// Decides the order of arms.
    pub seed: u64,
}

/// What comes next.
pub fn next_move(progress: &Progress<'_>) -> TuneMove {
    let Some(phase) = progress.record.phases.last() else {
        return TuneMove::Open(new_phase(TunePhaseKind::Today, vec![Vec::new()], None));
    };
    let trailing = phase.measures.iter().rev();
    let voids: Vec<_> = trailing.map_while(|one| one.void.clone()).collect();
    if voids.len() >= VOIDS_MAX {
        let cause = voids[0].clone();
        return TuneMove::End(TuneEnd::Void { cause });
    }
    if let Some((arm, block)) = progress.open_arm(phase) {
        return TuneMove::Measure { arm, block };
    }
    match phase.kind {
        TunePhaseKind::Today => progress.after_today(phase),
        TunePhaseKind::Screening => progress.after_screening(phase),
        TunePhaseKind::Conditions => progress.after_conditions(phase),
        TunePhaseKind::Race => progress.after_race(phase),
        TunePhaseKind::Proof => progress.after_proof(phase),
        TunePhaseKind::OtherLoad => progress.after_other_load(phase),
    }
}

fn new_phase(kind: TunePhaseKind, arms: Vec<Vec<TuneOption>>, blocks: Option<u32>) -> TunePhase {
    let arm = |options| TuneArm {
        options,
        trial: None,
    };
    TunePhase {
        kind,
        arms: arms.into_iter().map(arm).collect(),
        blocks,
        measures: Vec::new(),
    }
}

/// The logarithms of winner against the settings in force in a proof; positive is better.
pub fn proof_gains(plan: &TunePlan, phase: &TunePhase) -> Vec<f64> {
    let ratios = phase.log_ratios(2, 0).into_iter();
    ratios.map(|ratio| race::sign(plan) * ratio).collect()
}

/// The options of several settings, each with its first value.
fn with_first_values(settings: &[usize]) -> Vec<TuneOption> {
    let option = |setting: &usize| option(*setting, 0);
    settings.iter().map(option).collect()
}

fn option(setting: usize, value: usize) -> TuneOption {
    TuneOption {
        setting: u32::try_from(setting).unwrap_or(u32::MAX),
        value: u32::try_from(value).unwrap_or(u32::MAX),
    }
}

impl Progress<'_> {
    /// The arm that the block in progress still needs, in its random order.
    fn open_arm(&self, phase: &TunePhase) -> Option<(usize, u32)> {
        let block = phase.blocks_started().checked_sub(1)?;
        let missing = |arm: &usize| phase.value(*arm, block).is_none();
        let arm = self.block_order(phase, block).into_iter().find(missing)?;
        Some((arm, block))
    }

    /// The first arm of the next block.
    fn next_block(&self, phase: &TunePhase) -> TuneMove {
        let block = phase.blocks_started();
        match self.block_order(phase, block).first() {
            Some(arm) => TuneMove::Measure { arm: *arm, block },
            None => TuneMove::End(TuneEnd::NothingToTry),
        }
    }

    fn block_order(&self, phase: &TunePhase, block: u32) -> Vec<usize> {
        let mut arms: Vec<usize> = match phase.kind {
            TunePhaseKind::Screening => {
                let rows = phase.arms.len() / 2;
                let first = effects::arms_start(block, rows);
                (first..first + rows).collect()
            }
            TunePhaseKind::Race => {
                let state = race::race(self.plan, phase);
                // A block in progress has the candidates that raced when it began.
                let racing = state.racing().map(|one| one.arm);
                std::iter::once(0).chain(racing).collect()
            }
            _ => (0..phase.arms.len()).collect(),
        };
        let number = self.record.phases.len();
        let label = format!("tune phase {number} block {block}");
        let random = Random::new(derive_seed(self.seed, &label));
        for last in (1..arms.len()).rev() {
            let bits = random.bits(last as u64);
            let chosen = (u128::from(bits) * (last as u128 + 1)) >> 64;
            arms.swap(last, chosen as usize);
        }
        arms
    }

    fn choice(&self) -> TuneChoice {
        self.record.choice.clone().unwrap_or_default()
    }

    /// The mean time of a measurement.
    fn step_ns(&self) -> u64 {
        let measures = self.record.phases.iter().flat_map(|phase| &phase.measures);
        let (count, total) = measures.fold((0_u64, 0_u64), |(count, total), one| {
            (count + 1, total.saturating_add(one.took_ns))
        });
        total / count.max(1)
    }

    /// Whether this many more measurements end before a share of the budget.
    fn has_time(&self, measures: u64, by: f64) -> bool {
        let end_ns = self.record.took_ns as f64 + measures as f64 * self.step_ns() as f64;
        end_ns <= by * self.plan.budget_ns as f64
    }

    fn after_today(&self, phase: &TunePhase) -> TuneMove {
        if phase.blocks_started() < TODAY_BLOCKS {
            return self.next_block(phase);
        }
        let Some(choice) = &self.record.choice else {
            if let Some(condition) = race::broken_today(self.plan, phase) {
                return TuneMove::End(TuneEnd::ConditionMissed { condition });
            }
            return TuneMove::Choose;
        };
        let settings = choice.settings.len();
        if settings == 0 {
            return TuneMove::End(TuneEnd::NothingToTry);
        }
        let proof = PROOF_ARMS * PROOF_BLOCKS;
        if !self.has_time(proof, 1.0) {
            let needed_ns = self.record.took_ns + proof * self.step_ns() * 11 / 10;
            return TuneMove::End(TuneEnd::BudgetTooShort { needed_ns });
        }
        let all: Vec<usize> = (0..settings).collect();
        if self.plan.preset.is_some() {
            return self.open_candidates(vec![with_first_values(&all)]);
        }
        if settings == 1 {
            let values = 0..choice.settings[0].values.len();
            return self.open_candidates(values.map(|value| vec![option(0, value)]).collect());
        }
        let arms = design::screening(settings).into_iter().map(|row| {
            let is_new = |setting: &usize| row.get(*setting) == Some(&true);
            with_first_values(&all.iter().copied().filter(is_new).collect::<Vec<_>>())
        });
        let rows = design::rows_for(settings) as u64;
        // More blocks narrow the intervals; two are needed to keep settings and pairs of them apart.
        let blocks = match self.has_time(4 * rows, SCREENED_BY) {
            true => 4,
            false => 2,
        };
        TuneMove::Open(new_phase(
            TunePhaseKind::Screening,
            arms.collect(),
            Some(blocks),
        ))
    }

    fn after_screening(&self, phase: &TunePhase) -> TuneMove {
        if phase.blocks_started() < phase.blocks.unwrap_or(2) {
            return self.next_block(phase);
        }
        let candidates = self.race_candidates(phase);
        match candidates.is_empty() {
            true => TuneMove::End(TuneEnd::Decided),
            false => self.open_candidates(candidates),
        }
    }

    /// Combinations of the settings that may help, the most promising first.
    fn race_candidates(&self, phase: &TunePhase) -> Vec<Vec<TuneOption>> {
        let choice = self.choice();
        let mut effects = screened(phase, choice.settings.len(), race::sign(self.plan));
        effects.retain(|one| one.gain > 0.0 && one.interval.high > self.plan.width.ln_1p());
        effects.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        effects.truncate(ENTRANTS_MAX);
        let clear = effects.iter().filter(|one| one.interval.low > 0.0);
        let clear: Vec<usize> = clear.map(|one| one.setting).collect();
        let mut found: Vec<Vec<TuneOption>> = Vec::new();
        let mut add = |mut options: Vec<TuneOption>| {
            options.sort_unstable();
            if !options.is_empty() && !found.contains(&options) {
                found.push(options);
            }
        };
        add(with_first_values(&clear));
        for one in &effects {
            add(with_first_values(&[one.setting]));
        }
        // Other values, in the place of the first one.
        for strong in clear.iter().take(2) {
            let values = choice
                .settings
                .get(*strong)
                .map_or(0, |one| one.values.len());
            for value in 1..values {
                let mut options = with_first_values(&clear);
                let position = options
                    .iter()
                    .position(|one| one.setting as usize == *strong);
                if let Some(position) = position {
                    options[position] = option(*strong, value);
                }
                add(options);
            }
        }
        let left_ns = RACED_BY * self.plan.budget_ns as f64 - self.record.took_ns as f64;
        let per_block = left_ns / (RACE_BLOCKS * self.step_ns().max(1) as f64);
        let fitting = (per_block - 1.0).max(1.0) as usize;
        found.truncate(fitting.min(CANDIDATES_MAX));
        found
    }

    /// Begins the race of candidates, or what comes before it or in its place.
    fn open_candidates(&self, candidates: Vec<Vec<TuneOption>>) -> TuneMove {
        match self.choice().conditions_apart {
            true => {
                let arms = std::iter::once(Vec::new()).chain(candidates).collect();
                TuneMove::Open(new_phase(TunePhaseKind::Conditions, arms, None))
            }
            false => open_race(candidates),
        }
    }

    fn after_conditions(&self, phase: &TunePhase) -> TuneMove {
        if phase.blocks_started() == 0 {
            return self.next_block(phase);
        }
        if let Some(condition) = race::broken_today(self.plan, phase) {
            return TuneMove::End(TuneEnd::ConditionMissed { condition });
        }
        let arms = 1..phase.arms.len();
        let keeping = arms.filter(|arm| race::keeps_all(self.plan, phase, *arm));
        let candidates: Vec<_> = keeping.map(|arm| phase.arms[arm].options.clone()).collect();
        match candidates.is_empty() {
            true => TuneMove::End(TuneEnd::Decided),
            false => open_race(candidates),
        }
    }

    fn after_race(&self, phase: &TunePhase) -> TuneMove {
        let state = race::race(self.plan, phase);
        let next = 1 + state.racing().count() as u64;
        let is_late = state.blocks as usize >= PAIRS_MIN && !self.has_time(next, RACED_BY);
        if !state.is_over() && !is_late && self.has_time(next, 1.0) {
            return self.next_block(phase);
        }
        match state.winner(self.plan, phase) {
            Some(arm) => open_proof(phase.arms[arm].options.clone()),
            None => TuneMove::End(TuneEnd::Decided),
        }
    }

    fn after_proof(&self, phase: &TunePhase) -> TuneMove {
        let gains = proof_gains(self.plan, phase);
        let decision = decide(&gains, self.plan.width);
        if decision == PairDecision::Open {
            let goes_on =
                phase.blocks_started() < PROOF_BLOCKS_MAX && self.has_time(PROOF_ARMS, 1.0);
            return match goes_on {
                true => self.next_block(phase),
                false => TuneMove::End(TuneEnd::Budget),
            };
        }
        let has_moved = decision == PairDecision::Different;
        match has_moved && self.has_time(2, 1.0) {
            true => {
                let winner = phase.arms.last().map(|arm| arm.options.clone());
                let arms = vec![Vec::new(), winner.unwrap_or_default()];
                TuneMove::Open(new_phase(TunePhaseKind::OtherLoad, arms, None))
            }
            false => TuneMove::End(TuneEnd::Decided),
        }
    }

    fn after_other_load(&self, phase: &TunePhase) -> TuneMove {
        let started = phase.blocks_started();
        match started < OTHER_BLOCKS && (started == 0 || self.has_time(2, 1.0)) {
            true => self.next_block(phase),
            false => TuneMove::End(TuneEnd::Decided),
        }
    }
}

/// A single candidate needs no race.
fn open_race(candidates: Vec<Vec<TuneOption>>) -> TuneMove {
    match <[_; 1]>::try_from(candidates) {
        Ok([only]) => open_proof(only),
        Err(candidates) => {
            let arms = std::iter::once(Vec::new()).chain(candidates).collect();
            TuneMove::Open(new_phase(TunePhaseKind::Race, arms, None))
        }
    }
}

/// The settings in force, the same again, and the winner.
fn open_proof(winner: Vec<TuneOption>) -> TuneMove {
    let arms = vec![Vec::new(), Vec::new(), winner];
    TuneMove::Open(new_phase(TunePhaseKind::Proof, arms, None))
}
