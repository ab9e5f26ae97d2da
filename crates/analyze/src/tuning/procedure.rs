//! What a search for better settings does next: a pure function of its plan, its record and its seed.

use kgauge_results::run::{
    TuneArm, TuneChoice, TuneEnd, TuneOption, TunePhase, TunePhaseKind, TuneRecord, VoidCause,
};
use kgauge_scenario::{TunePlan, TunePreset, derive_seed, shuffle};

use super::budget::{PROOF_ARMS, PROOF_MEASURES, TODAY_BLOCKS, TimeFrame};
use super::conditions::{self, CONDITION_BLOCKS};
use super::race::{self, CANDIDATES_MAX};
use super::{design, effects, screened};
use crate::sequential::{PAIRS_MIN, PairDecision, decide};
use crate::statistics::mean;

/// A proof is no longer.
const PROOF_BLOCKS_MAX: u32 = 40;
/// Arms at the second load.
const OTHER_ARMS: u64 = 2;
/// Blocks at the second load, unless conditions need more.
pub(crate) const OTHER_BLOCKS: usize = 3;
/// More blocks at the second load do not wait for conditions.
const OTHER_BLOCKS_MAX: usize = 12;
/// Settings that go from the screening into the race.
const ENTRANTS_MAX: usize = 4;
/// Blocks that a race is expected to take.
const RACE_BLOCKS: usize = 6;

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

/// What comes next. No measurement begins that is not expected to end within the budget.
pub fn next_move(progress: &Progress<'_>) -> TuneMove {
    let Some(phase) = progress.record.phases.last() else {
        return TuneMove::Open(new_phase(TunePhaseKind::Today, vec![Vec::new()], None));
    };
    let trailing = phase.measures.iter().rev();
    let voids: Vec<_> = trailing.map_while(|one| one.void.clone()).collect();
    if voids.len() >= VoidCause::IN_A_ROW_MAX {
        let cause = voids[0].clone();
        return TuneMove::End(TuneEnd::Void { cause });
    }
    let chosen = match (progress.open_arm(phase), phase.kind) {
        (Some((arm, block)), _) => TuneMove::Measure { arm, block },
        (None, TunePhaseKind::Today) => progress.after_today(phase),
        (None, TunePhaseKind::Screening) => progress.after_screening(phase),
        (None, TunePhaseKind::Conditions) => progress.after_conditions(phase),
        (None, TunePhaseKind::Race) => progress.after_race(phase),
        (None, TunePhaseKind::Proof) => progress.after_proof(phase),
        (None, TunePhaseKind::OtherLoad) => progress.after_other_load(phase),
    };
    match chosen {
        TuneMove::Measure { .. } if !progress.time().has_next() => {
            TuneMove::End(progress.out_of_time(phase))
        }
        chosen => chosen,
    }
}

/// The record of a search that ended early, as it goes on: without a block that was cut off, because its arms would be
/// measured at other times than the rest of it.
pub fn to_resume(progress: &Progress<'_>) -> TuneRecord {
    let mut record = progress.record.clone();
    record.end = None;
    let open = record
        .phases
        .last()
        .and_then(|phase| progress.open_arm(phase));
    if let (Some((_, block)), Some(phase)) = (open, record.phases.last_mut()) {
        phase.measures.retain(|one| one.block != block);
    }
    // More time may allow more candidates.
    if record.phases.len() == 1 {
        record.choice = None;
    }
    record
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
pub(super) fn proof_gains(plan: &TunePlan, phase: &TunePhase) -> Vec<f64> {
    let ratios = phase.log_ratios(2, 0).into_iter();
    ratios.map(|ratio| race::sign(plan) * ratio).collect()
}

/// What a proof says. A clear gain below the width counts as none, so it stays open: more pairs may show that it is
/// above. What a preset costs has no such bound.
pub(crate) fn judge_proof(plan: &TunePlan, phase: &TunePhase) -> PairDecision {
    let gains = proof_gains(plan, phase);
    let gain = mean(gains.iter().copied()).unwrap_or_default();
    let is_small = (0.0..plan.width.ln_1p()).contains(&gain);
    match decide(&gains, plan.width) {
        PairDecision::Different
            if is_small && !plan.preset.is_some_and(TunePreset::is_of_price) =>
        {
            PairDecision::Open
        }
        decision => decision,
    }
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
            TunePhaseKind::Today
            | TunePhaseKind::Conditions
            | TunePhaseKind::Proof
            | TunePhaseKind::OtherLoad => (0..phase.arms.len()).collect(),
        };
        let number = self.record.phases.len();
        let label = format!("tune phase {number} block {block}");
        shuffle(&mut arms, derive_seed(self.seed, &label));
        arms
    }

    fn choice(&self) -> TuneChoice {
        self.record.choice.clone().unwrap_or_default()
    }

    fn time(&self) -> TimeFrame {
        let choice = self.record.choice.as_ref();
        let settings = choice.map(|choice| choice.settings.as_slice());
        TimeFrame::of(self.plan, self.record, settings.unwrap_or_default())
    }

    /// What a search is that has no time for its next measurement.
    fn out_of_time(&self, phase: &TunePhase) -> TuneEnd {
        let is_open = self.is_open(phase.kind);
        match phase.kind {
            TunePhaseKind::Today => {
                let blocks = TODAY_BLOCKS.saturating_sub(phase.blocks_started());
                self.too_short(u64::from(blocks) + PROOF_MEASURES)
            }
            TunePhaseKind::OtherLoad if !is_open => TuneEnd::Decided,
            TunePhaseKind::Screening
            | TunePhaseKind::Conditions
            | TunePhaseKind::Race
            | TunePhaseKind::Proof
            | TunePhaseKind::OtherLoad => TuneEnd::Budget,
        }
    }

    /// Whether a phase still has to show that the winner keeps a condition. Nobody asks that of a winner that is worse.
    fn is_open(&self, kind: TunePhaseKind) -> bool {
        let proof = self.record.phase(TunePhaseKind::Proof);
        let gains = proof.map_or_else(Vec::new, |proof| proof_gains(self.plan, proof));
        let is_better = gains.iter().sum::<f64>() > 0.0;
        is_better && conditions::is_open_in(self.plan, self.record, kind)
    }

    fn too_short(&self, measures: u64) -> TuneEnd {
        TuneEnd::BudgetTooShort {
            needed_ns: self.time().needed_ns(measures),
        }
    }

    /// The end of a search whose settings in force break a condition.
    fn missed(&self, phase: &TunePhase) -> Option<TuneMove> {
        let condition = conditions::broken(self.plan, self.record, phase, 0)?;
        let condition = u32::try_from(condition).ok()?;
        Some(TuneMove::End(TuneEnd::ConditionMissed { condition }))
    }

    fn after_today(&self, phase: &TunePhase) -> TuneMove {
        if phase.blocks_started() < TODAY_BLOCKS {
            return self.next_block(phase);
        }
        let Some(choice) = &self.record.choice else {
            return self.missed(phase).unwrap_or(TuneMove::Choose);
        };
        if choice.settings.is_empty() {
            return TuneMove::End(TuneEnd::NothingToTry);
        }
        if !self.time().has(PROOF_MEASURES) {
            return TuneMove::End(self.too_short(PROOF_MEASURES));
        }
        match choice.conditions_apart {
            true => self.open_conditions(Vec::new()),
            false => self.open_first_trials(choice),
        }
    }

    /// The first phase with changed settings: a screening, if there is more than one to tell apart.
    fn open_first_trials(&self, choice: &TuneChoice) -> TuneMove {
        let settings = choice.settings.len();
        let all: Vec<usize> = (0..settings).collect();
        if self.plan.preset.is_some() {
            return self.open_candidates(vec![with_first_values(&all)]);
        }
        if let [only] = choice.settings.as_slice() {
            let values = (0..only.values.len()).take(CANDIDATES_MAX);
            return self.open_candidates(values.map(|value| vec![option(0, value)]).collect());
        }
        let arms = design::screening(settings).into_iter().map(|row| {
            let is_new = |setting: &usize| row.get(*setting) == Some(&true);
            with_first_values(&all.iter().copied().filter(is_new).collect::<Vec<_>>())
        });
        let blocks = self.time().screening_blocks(design::rows_for(settings));
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
            let setting = choice.settings.get(*strong);
            for value in 1..setting.map_or(0, |setting| setting.values.len()) {
                let others = clear.iter().filter(|one| *one != strong).copied();
                let mut options = with_first_values(&others.collect::<Vec<_>>());
                options.push(option(*strong, value));
                add(options);
            }
        }
        let arms = self.time().measures_before_proof() / RACE_BLOCKS;
        found.truncate(arms.saturating_sub(1).clamp(1, CANDIDATES_MAX));
        found
    }

    /// Begins the race of candidates, or what comes before it.
    fn open_candidates(&self, candidates: Vec<Vec<TuneOption>>) -> TuneMove {
        match self.choice().conditions_apart {
            true => self.open_conditions(candidates),
            false => open_race(candidates),
        }
    }

    /// Judges conditions at the second load: of the settings in force alone at first, then of candidates.
    fn open_conditions(&self, candidates: Vec<Vec<TuneOption>>) -> TuneMove {
        let arms = std::iter::once(Vec::new()).chain(candidates).collect();
        let blocks = Some(CONDITION_BLOCKS);
        TuneMove::Open(new_phase(TunePhaseKind::Conditions, arms, blocks))
    }

    fn after_conditions(&self, phase: &TunePhase) -> TuneMove {
        if phase.blocks_started() < CONDITION_BLOCKS {
            return self.next_block(phase);
        }
        if phase.arms.len() == 1 {
            let begin = || self.open_first_trials(&self.choice());
            return self.missed(phase).unwrap_or_else(begin);
        }
        let keeps_all =
            |arm: &usize| conditions::broken(self.plan, self.record, phase, *arm).is_none();
        let keeping = (1..phase.arms.len()).filter(keeps_all);
        let candidates: Vec<_> = keeping.map(|arm| phase.arms[arm].options.clone()).collect();
        match candidates.is_empty() {
            true => TuneMove::End(TuneEnd::Decided),
            false => open_race(candidates),
        }
    }

    fn after_race(&self, phase: &TunePhase) -> TuneMove {
        let state = race::race(self.plan, phase);
        let arms = 1 + state.racing().count();
        let time = self.time();
        let is_late = state.blocks as usize >= PAIRS_MIN && time.measures_before_proof() < arms;
        if !state.is_over() && !is_late {
            return match time.has(arms as u64) {
                true => self.next_block(phase),
                false => TuneMove::End(TuneEnd::Budget),
            };
        }
        match state.winner(self.plan, phase) {
            Some(arm) => open_proof(phase.arms[arm].options.clone()),
            None => TuneMove::End(TuneEnd::Decided),
        }
    }

    fn after_proof(&self, phase: &TunePhase) -> TuneMove {
        let has_apart = self.choice().conditions_apart;
        // A winner whose conditions nobody could judge would be no answer.
        let other_load = match has_apart {
            true => OTHER_ARMS * OTHER_BLOCKS as u64,
            false => 0,
        };
        let has_blocks = phase.blocks_started() < PROOF_BLOCKS_MAX;
        let can_go_on = has_blocks && self.time().has(PROOF_ARMS + other_load);
        let is_open = self.is_open(phase.kind);
        match judge_proof(self.plan, phase) {
            PairDecision::Open if can_go_on => self.next_block(phase),
            PairDecision::Open if has_blocks => TuneMove::End(TuneEnd::Budget),
            // More time would bring no more pairs.
            PairDecision::Open | PairDecision::Equal => TuneMove::End(TuneEnd::Decided),
            PairDecision::Different if is_open && can_go_on => self.next_block(phase),
            PairDecision::Different if self.time().has(OTHER_ARMS) => {
                let winner = phase.arms.last().map(|arm| arm.options.clone());
                let arms = vec![Vec::new(), winner.unwrap_or_default()];
                TuneMove::Open(new_phase(TunePhaseKind::OtherLoad, arms, None))
            }
            PairDecision::Different => TuneMove::End(match is_open || has_apart {
                true => TuneEnd::Budget,
                false => TuneEnd::Decided,
            }),
        }
    }

    fn after_other_load(&self, phase: &TunePhase) -> TuneMove {
        let started = phase.blocks_started();
        let is_open = self.is_open(phase.kind);
        let blocks = match is_open {
            true => OTHER_BLOCKS_MAX,
            false => OTHER_BLOCKS,
        };
        match ((started as usize) < blocks, self.time().has(OTHER_ARMS)) {
            (true, true) => self.next_block(phase),
            (true, false) if is_open => TuneMove::End(TuneEnd::Budget),
            (true, false) | (false, _) => TuneMove::End(TuneEnd::Decided),
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
