//! Simulated searches on a noisy machine whose settings have known effects: what they recommend, and what they cost.

use kgauge_results::run::{
    TuneChoice, TuneEnd, TuneMeasure, TuneOption, TunePhase, TunePhaseKind, TuneRecord,
};
use kgauge_scenario::{
    AbMetric, FigureName, Goal, GoalComparison, SettingScope, TuneGoal, TunePlan, TuneSetting,
    TuneValue,
};

use super::procedure::proof_gains;
use super::*;
use crate::sequential::PairDecision;
use crate::statistics::RandomDraws;
use crate::summary::GoalStatus;

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
        set: Vec::new(),
        folder: None,
    }
}

/// Settings of this place, with two values each.
fn choice(scope: SettingScope, settings: usize) -> TuneChoice {
    let value = |setting: usize, value: usize| TuneValue {
        text: value.to_string(),
        changes: vec![(format!("setting{setting}"), value.to_string())],
    };
    let settings = (0..settings).map(|setting| TuneSetting {
        name: format!("setting{setting}"),
        scope,
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
    let mut machine = Machine {
        draws: RandomDraws::new(seed),
        drift: 0.0,
        effect,
    };
    let mut record = TuneRecord::default();
    let mut measure = |_: TunePhaseKind, options: &[TuneOption]| Reading {
        value: machine.measure(options),
        keep: Vec::new(),
        took_ns: STEP_NS,
    };
    go_on(
        &plan(),
        &mut record,
        (seed, settings),
        &mut measure,
        usize::MAX,
    );
    record
}

/// What a simulated repeat shows.
struct Reading {
    value: f64,
    keep: Vec<Option<f64>>,
    took_ns: u64,
}

/// Goes on with a search of that seed and number of settings, until its end or for that many measurements.
fn go_on(
    plan: &TunePlan,
    record: &mut TuneRecord,
    (seed, settings): (u64, usize),
    measure: &mut dyn FnMut(TunePhaseKind, &[TuneOption]) -> Reading,
    measures_max: usize,
) {
    let mut measures = 0;
    for _ in 0..2_000 {
        let progress = Progress { plan, record, seed };
        match next_move(&progress) {
            TuneMove::Choose => {
                let mut choice = choice(plan.scopes[0], settings);
                let shown = &record.phases[0].measures[0].keep;
                choice.conditions_apart = shown.iter().any(Option::is_none);
                fit_to_budget(plan, record, &mut choice);
                record.choice = Some(choice);
            }
            TuneMove::Open(phase) => record.phases.push(phase),
            TuneMove::Measure { .. } if measures == measures_max => return,
            TuneMove::Measure { arm, block } => {
                measures += 1;
                let phase = record.phases.last_mut().unwrap();
                let reading = measure(phase.kind, &phase.arms[arm].options);
                let repeat = u32::try_from(phase.measures.len()).unwrap();
                phase.measures.push(TuneMeasure {
                    arm: u32::try_from(arm).unwrap(),
                    block,
                    repeat,
                    value: Some(reading.value),
                    keep: reading.keep,
                    void: None,
                    took_ns: reading.took_ns,
                });
                record.took_ns += reading.took_ns;
            }
            TuneMove::End(end) => {
                record.end = Some(end);
                return;
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
    (judge_proof(&plan(), proof) == PairDecision::Different && is_better).then(|| {
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

/// A search of one setting whose first value has these ratios to the settings in force in turn; its other value harms.
fn search_with_ratios(ratios: [f64; 2]) -> TuneRecord {
    let mut turn: usize = 0;
    let mut measure = |_: TunePhaseKind, options: &[TuneOption]| {
        let value = match options.first().map(|one| one.value) {
            None => 1.0,
            Some(0) => {
                turn += 1;
                ratios[turn % 2]
            }
            Some(_) => 0.5,
        };
        Reading {
            value,
            keep: Vec::new(),
            took_ns: STEP_NS,
        }
    };
    let plan = TunePlan {
        budget_ns: 500 * STEP_NS,
        ..plan()
    };
    let mut record = TuneRecord::default();
    go_on(&plan, &mut record, (1, 1), &mut measure, usize::MAX);
    record
}

#[test]
fn a_clear_gain_below_the_width_is_not_recommended() {
    let small = search_with_ratios([1.013, 1.027]);
    assert_eq!(recommended(&small), None);
    // Seven pairs show that it gains something; a few more show that it is less than 3 %.
    let proof = small.phase(TunePhaseKind::Proof).unwrap();
    assert!((8..40).contains(&proof.blocks_started()), "{proof:?}");
    assert_eq!(small.end, Some(TuneEnd::Decided));
    let large = search_with_ratios([1.033, 1.047]);
    assert_eq!(recommended(&large), Some(vec![0]));
}

#[test]
fn a_proof_that_had_all_of_its_blocks_does_not_go_on_with_more_time() {
    let open = search_with_ratios([0.98, 1.06]);
    assert_eq!(recommended(&open), None);
    let proof = open.phase(TunePhaseKind::Proof).unwrap();
    assert_eq!(proof.blocks_started(), 40);
    assert_eq!(open.end, Some(TuneEnd::Decided));
    assert!(!open.may_continue());
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
fn no_repeat_begins_that_would_end_after_the_budget() {
    let plan = plan();
    for settings in [1, 4, 11] {
        let mut count = 0;
        let mut measure = |_: TunePhaseKind, _: &[TuneOption]| {
            count += 1;
            Reading {
                // So much noise that only the budget ends the search.
                value: 1.0 + 0.1 * f64::from(count * 7 % 5),
                keep: Vec::new(),
                // Every third repeat needs another cluster; the first one also warms the brokers.
                took_ns: match count {
                    1 => 3 * STEP_NS,
                    count if count % 3 == 0 => 2 * STEP_NS,
                    _ => STEP_NS,
                },
            }
        };
        let mut record = TuneRecord::default();
        go_on(&plan, &mut record, (7, settings), &mut measure, usize::MAX);
        assert!(
            record.took_ns <= plan.budget_ns,
            "{settings}: {}",
            record.took_ns
        );
    }
}

#[test]
fn a_short_budget_keeps_time_for_the_proof() {
    // 40 repeats: 3 for the settings in force and 21 for the proof leave 16.
    let plan = TunePlan {
        budget_ns: 40 * STEP_NS,
        ..plan()
    };
    let mut count = 0.0;
    let mut measure = |_: TunePhaseKind, options: &[TuneOption]| {
        count += 1.0;
        let noise = if count % 2.0 == 0.0 { 1e-3 } else { 0.0 };
        Reading {
            value: noise + if has(options, 1) { 1.2 } else { 1.0 },
            keep: Vec::new(),
            took_ns: STEP_NS,
        }
    };
    let mut record = TuneRecord::default();
    go_on(&plan, &mut record, (3, 7), &mut measure, usize::MAX);
    let choice = record.choice.as_ref().unwrap();
    assert_eq!((choice.settings.len(), choice.left_out.len()), (3, 4));
    assert_eq!(recommended(&record), Some(vec![1]));
    assert!(record.took_ns <= plan.budget_ns);
}

#[test]
fn settings_of_brokers_leave_time_for_the_proof_although_each_needs_another_cluster() {
    let plan = TunePlan {
        budget_ns: 450 * STEP_NS,
        scopes: vec![SettingScope::Broker],
        ..plan()
    };
    let mut count = 0;
    let mut last: Option<Vec<TuneOption>> = None;
    let mut measure = |_: TunePhaseKind, options: &[TuneOption]| {
        count += 1;
        // A cluster takes five repeats to start and to warm up.
        let is_other = last.as_deref() != Some(options);
        last = Some(options.to_vec());
        let gain = if has(options, 1) { 1.2 } else { 1.0 };
        Reading {
            value: gain + f64::from(count % 5) * 1e-3,
            keep: Vec::new(),
            took_ns: if is_other { 6 * STEP_NS } else { STEP_NS },
        }
    };
    let mut record = TuneRecord::default();
    go_on(&plan, &mut record, (3, 3), &mut measure, usize::MAX);
    assert_eq!(recommended(&record), Some(vec![1]));
    assert!(record.took_ns <= plan.budget_ns, "{}", record.took_ns);
    // By the repeats of the settings in force alone, it would be eight blocks.
    let screening = record.phase(TunePhaseKind::Screening).unwrap();
    assert_eq!(screening.blocks, Some(6));
}

#[test]
fn an_interrupted_search_goes_on_without_the_block_that_was_cut_off() {
    let effect = |options: &[TuneOption]| if has(options, 2) { 1.3 } else { 1.0 };
    let mut count = 0;
    let mut measure = |_: TunePhaseKind, options: &[TuneOption]| {
        count += 1;
        Reading {
            value: effect(options) + f64::from(count % 5) * 1e-3,
            keep: Vec::new(),
            took_ns: STEP_NS,
        }
    };
    let plan = plan();
    for cut in [0, 1, 5, 20, 37, 44, 60] {
        let mut record = TuneRecord::default();
        go_on(&plan, &mut record, (11, 5), &mut measure, cut);
        let before = record.measures().count();
        let progress = Progress {
            plan: &plan,
            record: &record,
            seed: 11,
        };
        let mut resumed = to_resume(&progress);
        let kept = resumed.measures().count();
        let arms = record.phases.last().map_or(0, |phase| phase.arms.len());
        assert!(kept <= before && before - kept < arms.max(1), "{cut}");
        let progress = Progress {
            plan: &plan,
            record: &resumed,
            seed: 11,
        };
        assert_eq!(to_resume(&progress), resumed, "nothing more is cut off");
        go_on(&plan, &mut resumed, (11, 5), &mut measure, usize::MAX);
        assert_eq!(recommended(&resumed), Some(vec![2]), "{cut}");
    }
}

#[test]
fn a_search_without_time_goes_on_if_it_gets_more() {
    let mut plan = plan();
    plan.budget_ns = 10 * STEP_NS;
    let mut measure = |_: TunePhaseKind, options: &[TuneOption]| Reading {
        value: if has(options, 0) { 1.5 } else { 1.0 },
        keep: Vec::new(),
        took_ns: STEP_NS,
    };
    let mut record = TuneRecord::default();
    go_on(&plan, &mut record, (1, 3), &mut measure, usize::MAX);
    assert!(matches!(record.end, Some(TuneEnd::BudgetTooShort { .. })));
    assert!(record.may_continue());
    plan.budget_ns = 100 * STEP_NS;
    let progress = Progress {
        plan: &plan,
        record: &record,
        seed: 1,
    };
    let mut resumed = to_resume(&progress);
    assert_eq!(resumed.choice, None, "more time may allow more candidates");
    go_on(&plan, &mut resumed, (1, 3), &mut measure, usize::MAX);
    assert_eq!(recommended(&resumed), Some(vec![0]));
}

/// A plan with the condition `w.latency.p99 <= 20 ms`.
fn plan_with_condition() -> TunePlan {
    TunePlan {
        keep: vec![Goal {
            text: "w.latency.p99 <= 20 ms".to_owned(),
            figure: FigureName::parse("w.latency.p99").unwrap(),
            comparison: GoalComparison::LessOrEqual,
            value: 2e7,
        }],
        budget_ns: 500 * STEP_NS,
        ..plan()
    }
}

/// A search at full speed, which does not show the latency; at the second load it is that of `latency_ms`.
fn search_with_condition(latency_ms: &dyn Fn(&[TuneOption]) -> f64) -> TuneRecord {
    let mut count = 0;
    let mut measure = |kind: TunePhaseKind, options: &[TuneOption]| {
        count += 1;
        let noise = 1.0 + f64::from(count % 5) * 1e-3;
        let is_second = matches!(kind, TunePhaseKind::Conditions | TunePhaseKind::OtherLoad);
        let gain = |setting, gain: f64| if has(options, setting) { gain } else { 1.0 };
        Reading {
            value: noise * gain(0, 1.5) * gain(1, 1.2),
            keep: vec![is_second.then(|| noise * 1e6 * latency_ms(options))],
            took_ns: STEP_NS,
        }
    };
    let mut record = TuneRecord::default();
    let plan = plan_with_condition();
    go_on(&plan, &mut record, (5, 4), &mut measure, usize::MAX);
    record
}

#[test]
fn what_breaks_a_condition_at_the_second_load_does_not_race() {
    let slow = |options: &[TuneOption]| if has(options, 0) { 50.0 } else { 5.0 };
    let record = search_with_condition(&slow);
    assert_eq!(recommended(&record), Some(vec![1]));
    let raced = record.phases.iter();
    let raced = raced.filter(|phase| phase.kind == TunePhaseKind::Race);
    let mut arms = raced.flat_map(|phase| &phase.arms);
    assert!(arms.all(|arm| !has(&arm.options, 0)));
    let (phase, arm) = of_winner(&record, 0).unwrap();
    let values = condition_values(phase, arm, 0);
    assert_eq!(phase.kind, TunePhaseKind::OtherLoad);
    let status = condition_status(&plan_with_condition().keep[0], &values);
    assert_eq!(status, GoalStatus::Held);
}

#[test]
fn settings_in_force_that_break_a_condition_end_the_search_before_its_screening() {
    let record = search_with_condition(&|_| 30.0);
    let kinds: Vec<TunePhaseKind> = record.phases.iter().map(|phase| phase.kind).collect();
    assert_eq!(kinds, [TunePhaseKind::Today, TunePhaseKind::Conditions]);
    assert_eq!(record.end, Some(TuneEnd::ConditionMissed { condition: 0 }));
    assert_eq!(record.measures().count(), 5);
}

#[test]
fn a_condition_at_its_bound_is_measured_more_often_before_the_search_ends() {
    // The winner alternates between 15 and 25 ms.
    let even = std::cell::Cell::new(false);
    let record = search_with_condition(&|options| match options.is_empty() {
        true => 5.0,
        false => {
            even.set(!even.get());
            if even.get() { 15.0 } else { 25.0 }
        }
    });
    let other = record.phase(TunePhaseKind::OtherLoad).unwrap();
    assert_eq!(other.blocks_started(), 12);
    let values = condition_values(other, 1, 0);
    let status = condition_status(&plan_with_condition().keep[0], &values);
    assert_eq!(status, GoalStatus::Undecided);
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
