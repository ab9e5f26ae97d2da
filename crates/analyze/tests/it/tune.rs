//! What the summary makes of a recorded search for better settings.

use kgauge_analyze::Summary;
use kgauge_analyze::summary::{
    GoalStatus, RacePlace, SettingEffect, SideFigure, Status, TuneSummary, TuneVerdict,
};
use kgauge_results::RunRead;
use kgauge_results::run::{
    ClientSample, Evidence, EvidenceKind, RepeatKey, Subject, TuneArm, TuneChoice, TuneEnd,
    TuneMeasure, TuneOption, TunePhase, TunePhaseKind, TuneRecord,
};
use kgauge_scenario::{
    Scenario, SettingScope, Size, TuneOptions, TunePlan, TunePreset, TuneSetting, TuneValue,
};

use crate::made::{Made, plan};

const TUNED: &str = "\
kgauge: 1
name: tuned
question: Which settings help?
topic: {partitions: 2}
flows:
  - {name: writers, kind: produce, shape: max, record: {size: 1 kB}}
stages: {hold: 10 s}
";

/// Settings `linger.ms=20` and `batch.size=65536`.
fn choice() -> TuneChoice {
    let setting = |name: &str, value: &str| TuneSetting {
        name: name.to_owned(),
        scope: SettingScope::Client,
        today: None,
        values: vec![TuneValue::of(vec![(name.to_owned(), value.to_owned())])],
    };
    TuneChoice {
        settings: vec![setting("linger.ms", "20"), setting("batch.size", "65536")],
        ..TuneChoice::default()
    }
}

fn option(setting: u32) -> Vec<TuneOption> {
    vec![TuneOption { setting, value: 0 }]
}

/// A phase with one row of values per block, in the order of its arms; each may have the figure of a condition.
fn phase(
    kind: TunePhaseKind,
    arms: Vec<Vec<TuneOption>>,
    blocks: &[Vec<(f64, Option<f64>)>],
) -> TunePhase {
    let measures = (0..).zip(blocks).flat_map(|(block, values)| {
        (0..)
            .zip(values)
            .map(move |(arm, (value, keep))| TuneMeasure {
                arm,
                block,
                repeat: block,
                value: Some(*value),
                keep: vec![*keep],
                void: None,
                took_ns: 1_000_000_000,
            })
    });
    TunePhase {
        kind,
        arms: arms
            .into_iter()
            .map(|options| TuneArm {
                options,
                trial: Some(0),
            })
            .collect(),
        blocks: None,
        measures: measures.collect(),
    }
}

/// Values without the figure of a condition.
fn plain(values: &[f64]) -> Vec<(f64, Option<f64>)> {
    values.iter().map(|value| (*value, None)).collect()
}

/// A screening of both settings in two blocks of four rows; `noise` is added to every other value.
fn screening(noise: f64) -> TunePhase {
    let rows = kgauge_analyze::tuning::design::screening(2);
    let arms = rows.iter().map(|row| {
        let new = (0..).zip(row).filter(|(_, is_new)| **is_new);
        new.map(|(setting, _)| TuneOption { setting, value: 0 })
            .collect()
    });
    let mut measures = Vec::new();
    for (arm, _) in rows.iter().enumerate() {
        measures.push(TuneMeasure {
            arm: u32::try_from(arm).unwrap(),
            block: u32::try_from(arm / 4).unwrap(),
            repeat: 0,
            value: Some(100.0 + if arm % 3 == 0 { noise } else { 0.0 }),
            keep: Vec::new(),
            void: None,
            took_ns: 1,
        });
    }
    TunePhase {
        measures,
        ..phase(TunePhaseKind::Screening, arms.collect(), &[])
    }
}

/// The proof of a setting whose ratio to the settings in force is this one, and of an A/A arm with that ratio.
fn proof(setting: u32, ratio: f64, equal: f64) -> TunePhase {
    let arms = vec![Vec::new(), Vec::new(), option(setting)];
    let blocks: Vec<_> = (0..8)
        .map(|block| {
            let level = 100.0 + f64::from(block % 3);
            let noise = 1.0 + f64::from(block % 2) * 1e-3;
            plain(&[level, level * equal * noise, level * ratio * noise])
        })
        .collect();
    phase(TunePhaseKind::Proof, arms, &blocks)
}

fn summary(options: &TuneOptions, record: TuneRecord) -> Summary {
    summary_with(options, record, |_| {})
}

/// The summary of a run that is changed after it was read.
fn summary_with(
    options: &TuneOptions,
    record: TuneRecord,
    change: impl FnOnce(&mut RunRead),
) -> Summary {
    let mut made = Made::begin(TUNED);
    let scenario = Scenario::parse("tuned.yaml", TUNED).unwrap();
    let trial = scenario.trials(Size::Default).remove(0);
    let mut plan = plan(TUNED);
    plan.tune = Some(TunePlan::new(options, &trial).unwrap());
    made.folder.write_plan(&plan).unwrap();
    made.folder.write_tune(&record).unwrap();
    let mut run = made.end();
    change(&mut run);
    Summary::of(&run)
}

fn search(options: &TuneOptions, phases: Vec<TunePhase>, end: TuneEnd) -> TuneSummary {
    let record = TuneRecord {
        choice: Some(choice()),
        phases,
        end: Some(end),
        took_ns: 60_000_000_000,
    };
    summary(options, record).tune.unwrap()
}

fn decided(phases: Vec<TunePhase>) -> TuneSummary {
    search(&TuneOptions::default(), phases, TuneEnd::Decided)
}

#[test]
fn intervals_that_are_too_wide_are_no_answer_and_narrow_ones_are() {
    let narrow = decided(vec![screening(0.1)]);
    assert_eq!(narrow.verdict, TuneVerdict::NothingHelps);
    let effects: Vec<SettingEffect> = narrow.settings.iter().map(|one| one.effect).collect();
    assert_eq!(effects, [SettingEffect::None; 2]);
    let wide = decided(vec![screening(9.0)]);
    assert_eq!(wide.verdict, TuneVerdict::Inconclusive);
    assert_eq!(wide.open_settings().count(), 2);
}

#[test]
fn a_proof_decides_unless_its_equal_settings_differ() {
    let better = decided(vec![screening(0.1), proof(1, 1.2, 1.0)]);
    assert_eq!(better.verdict, TuneVerdict::Better);
    let winner = better.winner.as_ref().unwrap();
    assert_eq!(winner.changes[0].names, ["batch.size"]);
    assert_eq!(
        decided(vec![proof(1, 0.8, 1.0)]).verdict,
        TuneVerdict::Worse
    );
    assert_eq!(
        decided(vec![proof(1, 1.2, 1.1)]).verdict,
        TuneVerdict::FalseAlarm
    );
}

#[test]
fn a_clear_gain_below_the_width_is_no_recommendation() {
    // 8 of 8 pairs are better. The first mean is 2.0 % with an interval of 0.8 to 3.2 %, the other one is 4.0 %.
    let of_ratios = |ratios: [f64; 2]| {
        let blocks = (0..8_usize).map(|block| plain(&[100.0, 100.0, 100.0 * ratios[block % 2]]));
        let blocks: Vec<_> = blocks.collect();
        let arms = vec![Vec::new(), Vec::new(), option(1)];
        phase(TunePhaseKind::Proof, arms, &blocks)
    };
    let small = decided(vec![of_ratios([1.013, 1.027])]);
    assert_eq!(small.verdict, TuneVerdict::Inconclusive);
    let large = decided(vec![of_ratios([1.033, 1.047])]);
    assert_eq!(large.verdict, TuneVerdict::Better);
    // A preset that is chosen for its promise costs nothing then.
    let options = TuneOptions {
        preset: Some(TunePreset::Durability),
        durability_may_change: true,
        ..TuneOptions::default()
    };
    let phases = vec![of_ratios([1.013, 1.027])];
    let price = search(&options, phases, TuneEnd::Decided);
    assert_eq!(price.verdict, TuneVerdict::Better);
}

#[test]
fn a_winner_that_gains_nothing_rules_out_no_other_candidate() {
    let equal = decided(vec![screening(0.1), proof(1, 1.0, 1.0)]);
    assert_eq!(equal.verdict, TuneVerdict::NothingHelps);
    let open = decided(vec![screening(9.0), proof(1, 1.0, 1.0)]);
    assert_eq!(open.verdict, TuneVerdict::Inconclusive);
    let names: Vec<&str> = open.open_settings().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["linger.ms"]);
}

#[test]
fn settings_of_a_preset_are_not_measured_alone() {
    let options = TuneOptions {
        preset: Some(TunePreset::Throughput),
        ..TuneOptions::default()
    };
    let mut of_both = proof(1, 1.0, 1.0);
    of_both.arms[2].options.extend(option(0));
    let preset = search(&options, vec![of_both], TuneEnd::Decided);
    assert_eq!(preset.verdict, TuneVerdict::NothingHelps);
    let effects: Vec<SettingEffect> = preset.settings.iter().map(|one| one.effect).collect();
    assert_eq!(effects, [SettingEffect::NotAlone; 2]);
    // The only setting of a search has the effect that the proof shows.
    let single = decided(vec![proof(0, 1.2, 1.0)]);
    let linger = single.settings.iter().find(|one| one.name == "linger.ms");
    assert_eq!(linger.unwrap().effect, SettingEffect::Helps);
}

#[test]
fn values_that_had_no_turn_are_not_tried() {
    let mut choice = choice();
    for value in ["100", "200"] {
        let change = ("linger.ms".to_owned(), value.to_owned());
        choice.settings[0].values.push(TuneValue::of(vec![change]));
    }
    let mut race = phase(
        TunePhaseKind::Race,
        vec![
            Vec::new(),
            vec![TuneOption {
                setting: 0,
                value: 2,
            }],
        ],
        &[plain(&[100.0, 100.0])],
    );
    let record = |race: TunePhase| TuneRecord {
        choice: Some(choice.clone()),
        phases: vec![screening(0.1), race],
        end: Some(TuneEnd::Budget),
        took_ns: 1,
    };
    let untried = |race: &TunePhase| {
        let found = summary(&TuneOptions::default(), record(race.clone()));
        let mut settings = found.tune.unwrap().settings.into_iter();
        let of_linger = |one: kgauge_analyze::summary::TriedSetting| {
            (one.name == "linger.ms").then_some(one.untried)
        };
        settings.find_map(of_linger).unwrap()
    };
    assert_eq!(untried(&race), ["100"]);
    // An arm that was never measured tries nothing.
    race.measures.pop();
    assert_eq!(untried(&race), ["100", "200"]);
}

#[test]
fn of_a_single_setting_at_most_eight_values_are_tried() {
    let values = (1..=10).map(|value| {
        let change = ("linger.ms".to_owned(), value.to_string());
        TuneValue::of(vec![change])
    });
    let mut choice = choice();
    choice.settings.truncate(1);
    choice.settings[0].values = values.collect();
    let record = TuneRecord {
        choice: Some(choice),
        phases: Vec::new(),
        end: Some(TuneEnd::Budget),
        took_ns: 1,
    };
    let found = summary(&TuneOptions::default(), record).tune.unwrap();
    assert_eq!(found.settings[0].value, "1, 2, 3, 4, 5, 6, 7, 8");
    assert_eq!(found.settings[0].untried, ["9", "10"]);
}

#[test]
fn memory_is_that_of_producers_and_not_of_processes_that_both_sides_share() {
    let mut of_winner = proof(1, 1.2, 1.0);
    of_winner.arms[2].trial = Some(1);
    let record = TuneRecord {
        choice: Some(choice()),
        phases: vec![of_winner],
        end: Some(TuneEnd::Decided),
        took_ns: 1,
    };
    // 20 samples of a producer in a second, with 1,000 bytes, or 4,000 with the winner's settings.
    let add = |run: &mut RunRead| {
        for (trial, bytes) in [(0, 1_000), (1, 4_000)] {
            for (repeat, second) in (0..8).flat_map(|repeat| [(repeat, 0), (repeat, 1)]) {
                let sample = ClientSample {
                    looks: 20 * second,
                    buffer_bytes_sum: 20 * second * bytes,
                    ..ClientSample::default()
                };
                let memory = EvidenceKind::Memory {
                    resident_bytes: 1_000_000 * u64::from(trial + 1),
                };
                let seen = [
                    (Subject::Flow { flow: 0 }, EvidenceKind::Client(sample)),
                    (Subject::Target { broker: None }, memory),
                ];
                run.evidence.extend(seen.map(|(subject, kind)| Evidence {
                    at_unix_ms: 1_000,
                    repeat: Some(RepeatKey { trial, repeat }),
                    at_ns: Some(second * 1_000_000_000),
                    subject,
                    kind,
                }));
            }
        }
    };
    let found = summary_with(&TuneOptions::default(), record, add);
    let elsewhere = found.tune.unwrap().winner.unwrap().elsewhere;
    let [memory] = elsewhere.as_slice() else {
        panic!("{elsewhere:?}");
    };
    assert_eq!(memory.figure, SideFigure::ClientMemory);
    assert_eq!((memory.today, memory.winner), (1_000.0, 4_000.0));
    assert!((memory.ratio.unwrap().ratio - 4.0).abs() < 1e-9);
}

/// A search with the condition `p99 <= 20 ms`, whose second load has these values of the winner, in milliseconds.
fn with_condition(values_ms: &[f64]) -> TuneSummary {
    let options = TuneOptions {
        keep: vec!["p99 <= 20 ms".to_owned()],
        ..TuneOptions::default()
    };
    let today = phase(TunePhaseKind::Today, vec![Vec::new()], &[plain(&[100.0])]);
    let blocks: Vec<_> = values_ms
        .iter()
        .map(|value| vec![(100.0, Some(3e6)), (100.0, Some(value * 1e6))])
        .collect();
    let other = phase(
        TunePhaseKind::OtherLoad,
        vec![Vec::new(), option(1)],
        &blocks,
    );
    let conditions = phase(
        TunePhaseKind::Conditions,
        vec![Vec::new(), option(0), option(1)],
        &[plain(&[1.0, 1.0, 1.0])],
    );
    let phases = vec![today, conditions, proof(1, 1.2, 1.0), other];
    search(&options, phases, TuneEnd::Decided)
}

#[test]
fn a_recommendation_needs_conditions_that_are_clearly_kept() {
    for (values_ms, verdict, status) in [
        (&[5.0, 5.1, 4.9][..], TuneVerdict::Better, GoalStatus::Held),
        (
            &[15.0, 25.0, 18.0],
            TuneVerdict::ConditionOpen,
            GoalStatus::Undecided,
        ),
        (
            &[50.0, 51.0, 49.0],
            TuneVerdict::ConditionBroken,
            GoalStatus::NotHeld,
        ),
        (&[], TuneVerdict::ConditionOpen, GoalStatus::NotMeasured),
    ] {
        let found = with_condition(values_ms);
        assert_eq!(found.verdict, verdict, "{values_ms:?}");
        let condition = &found.winner.as_ref().unwrap().conditions[0];
        assert_eq!(condition.status, status, "{values_ms:?}");
        assert_eq!(condition.repeats as usize, values_ms.len());
        // The other candidate broke the condition before the race.
        assert_eq!(found.race[0].place, RacePlace::BreaksCondition);
        assert_eq!(found.race[0].changes[0].names, ["linger.ms"]);
    }
}

#[test]
fn the_status_of_a_run_is_that_of_the_answer() {
    let status = |phases, end| {
        let record = TuneRecord {
            choice: Some(choice()),
            phases,
            end: Some(end),
            took_ns: 1,
        };
        summary(&TuneOptions::default(), record).status
    };
    assert_eq!(
        status(vec![proof(1, 1.2, 1.0)], TuneEnd::Decided),
        Status::Good
    );
    assert_eq!(
        status(vec![screening(0.1)], TuneEnd::Decided),
        Status::Good,
        "nothing helps is an answer"
    );
    let undecided = status(vec![screening(9.0)], TuneEnd::Decided);
    assert_eq!(undecided, Status::GoalUndecided);
    assert_eq!(
        status(Vec::new(), TuneEnd::NothingToTry),
        Status::GoalUndecided
    );
}
