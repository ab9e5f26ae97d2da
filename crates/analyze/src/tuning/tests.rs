//! Simulated searches on a noisy machine whose settings have known effects: what they recommend, and what they cost.

use kgauge_results::run::{
    TuneChoice, TuneEnd, TuneMeasure, TuneOption, TunePhase, TunePhaseKind, TuneRecord,
};
use kgauge_scenario::{
    AbMetric, FigureName, SettingScope, TuneGoal, TunePlan, TuneSetting, TuneValue,
};

use super::*;
use crate::sequential::{PairDecision, decide};
use crate::statistics::draws::RandomDraws;

/// A measurement with its topic and warm-up.
const STEP_NS: u64 = 15_000_000_000;
const SETTINGS: usize = 7;

fn plan() -> TunePlan {
    TunePlan {
        goal: TuneGoal::Throughput,
        metric: AbMetric::OfFlow(FigureName::parse("writers.throughput").unwrap()),
        width: 0.03,
        budget_ns: 30 * 60 * 1_000_000_000,
        keep: Vec::new(),
        scopes: vec![SettingScope::Client],
        durability_may_change: false,
        preset: None,
        own: Vec::new(),
    }
}

fn choice(settings: usize) -> TuneChoice {
    let value = |setting: usize, value: usize| TuneValue {
        text: value.to_string(),
        changes: vec![(format!("setting{setting}"), value.to_string())],
    };
    let settings = (0..settings).map(|setting| TuneSetting {
        name: format!("setting{setting}"),
        scope: SettingScope::Client,
        today: None,
        values: (0..2).map(|index| value(setting, index)).collect(),
    });
    TuneChoice {
        settings: settings.collect(),
        ..TuneChoice::default()
    }
}

/// A machine whose speed drifts, whose repeats differ by 2 %, and on which other programs take 10 % of one repeat in
/// thirty.
struct Machine<'a> {
    draws: RandomDraws,
    drift: f64,
    effect: &'a dyn Fn(&[TuneOption]) -> f64,
}

impl Machine<'_> {
    fn measure(&mut self, options: &[TuneOption]) -> f64 {
        self.drift = 0.9 * self.drift + 0.02 * self.draws.normal();
        let is_hit = self.draws.uniform() < 1.0 / 30.0;
        let noise = 0.02 * self.draws.normal() - if is_hit { 0.10 } else { 0.0 };
        100_000.0 * (self.drift + noise + (self.effect)(options)).exp()
    }
}

/// A whole search. Its answer is in the record.
fn search(seed: u64, settings: usize, effect: &dyn Fn(&[TuneOption]) -> f64) -> TuneRecord {
    let plan = plan();
    let mut machine = Machine {
        draws: RandomDraws::new(seed),
        drift: 0.0,
        effect,
    };
    let mut record = TuneRecord::default();
    for _ in 0..2_000 {
        let progress = Progress {
            plan: &plan,
            record: &record,
            seed,
        };
        match next_move(&progress) {
            TuneMove::Choose => record.choice = Some(choice(settings)),
            TuneMove::Open(phase) => record.phases.push(phase),
            TuneMove::Measure { arm, block } => {
                let phase = record.phases.last_mut().unwrap();
                let value = machine.measure(&phase.arms[arm].options);
                let repeat = u32::try_from(phase.measures.len()).unwrap();
                phase.measures.push(TuneMeasure {
                    arm: u32::try_from(arm).unwrap(),
                    block,
                    repeat,
                    value: Some(value),
                    keep: Vec::new(),
                    void: None,
                    took_ns: STEP_NS,
                });
                record.took_ns += STEP_NS;
            }
            TuneMove::End(end) => {
                record.end = Some(end);
                return record;
            }
        }
    }
    panic!("the search has no end");
}

/// The settings that a proof recommends.
fn recommended(record: &TuneRecord) -> Option<Vec<u32>> {
    let proof: &TunePhase = record.phase(TunePhaseKind::Proof)?;
    let gains = proof_gains(&plan(), proof);
    let is_better = gains.iter().sum::<f64>() > 0.0;
    (decide(&gains, 0.03) == PairDecision::Different && is_better).then(|| {
        proof.arms[2]
            .options
            .iter()
            .map(|one| one.setting)
            .collect()
    })
}

fn has(options: &[TuneOption], setting: u32) -> bool {
    options.iter().any(|one| one.setting == setting)
}

#[test]
fn a_planted_winner_is_found_in_nineteen_searches_of_twenty() {
    let effect = |options: &[TuneOption]| match has(options, 3) {
        true => 0.15,
        false => 0.0,
    };
    let found = (0..100).filter(|seed| {
        let record = search(*seed, SETTINGS, &effect);
        recommended(&record).is_some_and(|settings| settings.contains(&3))
    });
    let found = found.count();
    assert!(found >= 95, "{found} of 100");
}

#[test]
fn settings_that_do_nothing_are_left_alone_in_nineteen_searches_of_twenty() {
    let left_alone = (0..100).filter(|seed| {
        let record = search(1_000 + seed, SETTINGS, &|_| 0.0);
        recommended(&record).is_none()
    });
    let left_alone = left_alone.count();
    assert!(left_alone >= 95, "{left_alone} of 100");
}

#[test]
fn what_helps_only_together_with_another_setting_is_found() {
    let effect = |options: &[TuneOption]| match has(options, 1) && has(options, 4) {
        true => 0.30,
        false => 0.0,
    };
    let found = (0..40).filter(|seed| {
        let record = search(2_000 + seed, SETTINGS, &effect);
        recommended(&record).is_some_and(|found| found.contains(&1) && found.contains(&4))
    });
    let found = found.count();
    assert!(found >= 36, "{found} of 40");
}

#[test]
fn a_search_keeps_to_its_budget_and_repeats_itself() {
    let effect = |options: &[TuneOption]| if has(options, 0) { 0.04 } else { 0.0 };
    for seed in 0..20 {
        let record = search(seed, 11, &effect);
        assert!(record.took_ns <= plan().budget_ns, "{}", record.took_ns);
        assert_eq!(search(seed, 11, &effect), record);
        assert!(matches!(
            record.end,
            Some(TuneEnd::Decided | TuneEnd::Budget)
        ));
        let racing = record.phase(TunePhaseKind::Race);
        assert!(racing.is_none_or(|race| race.arms.len() <= CANDIDATES_MAX + 1));
    }
}

#[test]
fn a_single_setting_goes_straight_into_the_race_of_its_values() {
    let record = search(5, 1, &|options| {
        options
            .first()
            .map_or(0.0, |one| 0.2 * f64::from(one.value))
    });
    assert!(record.phase(TunePhaseKind::Screening).is_none());
    let proof = record.phase(TunePhaseKind::Proof).unwrap();
    assert_eq!(
        proof.arms[2].options,
        [TuneOption {
            setting: 0,
            value: 1
        }]
    );
    assert!(proof.arms[0].options.is_empty() && proof.arms[1].options.is_empty());
}

#[test]
fn a_budget_that_is_too_short_names_one_that_suffices() {
    let mut plan = plan();
    plan.budget_ns = 5 * STEP_NS;
    let mut record = search(1, 1, &|_| 0.0);
    record.phases.truncate(1);
    record.took_ns = 3 * STEP_NS;
    let progress = Progress {
        plan: &plan,
        record: &record,
        seed: 1,
    };
    let TuneMove::End(TuneEnd::BudgetTooShort { needed_ns }) = next_move(&progress) else {
        panic!("{:?}", next_move(&progress));
    };
    assert!(needed_ns >= 24 * STEP_NS);
}

#[test]
fn a_search_is_cheaper_than_a_grid_and_more_right_than_random_search() {
    let effect = |options: &[TuneOption]| match has(options, 3) {
        true => 0.15,
        false => 0.0,
    };
    let (mut measures, mut exact) = (0, 0);
    for seed in 0..40 {
        let record = search(seed, SETTINGS, &effect);
        measures += record
            .phases
            .iter()
            .map(|phase| phase.measures.len())
            .sum::<usize>();
        exact += usize::from(recommended(&record).is_some_and(|settings| settings == [3]));
    }
    let measures = measures / 40;
    // The best of single measurements: of all combinations, or of as many random ones as the search has measured.
    let combination = |index: u32| -> Vec<TuneOption> {
        let settings = (0..SETTINGS as u32).filter(|setting| index >> setting & 1 == 1);
        settings
            .map(|setting| TuneOption { setting, value: 0 })
            .collect()
    };
    let best = |seed: u64, indices: &mut dyn Iterator<Item = u32>| {
        let mut machine = Machine {
            draws: RandomDraws::new(seed),
            drift: 0.0,
            effect: &effect,
        };
        let measured = indices.map(|index| (machine.measure(&combination(index)), index));
        measured
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, index)| index)
    };
    let grid = 1_u32 << SETTINGS;
    let is_exact = |index: Option<u32>| index == Some(1 << 3);
    let of_grid = (0..40)
        .filter(|seed| is_exact(best(*seed, &mut (0..grid))))
        .count();
    let of_random = (0..40).filter(|seed| {
        let mut draws = RandomDraws::new(seed + 500);
        let random = (0..measures).map(|_| (draws.uniform() * f64::from(grid)) as u32);
        is_exact(best(*seed, &mut random.collect::<Vec<_>>().into_iter()))
    });
    let of_random = of_random.count();
    eprintln!(
        "search: {measures} measurements, exactly the planted setting in {exact} of 40; grid: {grid}, \
         {of_grid}; random search: {measures}, {of_random}"
    );
    assert!(measures < grid as usize, "{measures}");
    assert!(
        exact >= 36 && exact > of_grid && exact > of_random,
        "{exact}, {of_grid}, {of_random}"
    );
}
