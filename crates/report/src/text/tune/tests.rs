//! Answers of searches for better settings.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_analyze::statistics::{FigureRatio, Interval};
use kgauge_analyze::summary::{
    Bottleneck, MetricUnit, RacedCandidate, SettingLine, SideEffect, SideFigure, TriedSetting,
};
use kgauge_analyze::tuning::table::{SettingCost, SettingRisk};
use kgauge_results::run::{LeftOutCause, LeftOutSetting};
use kgauge_scenario::{AbKind, SettingScope};

use super::super::ab::tests::{different, test_of};
use super::*;

fn ratio(ratio: f64) -> FigureRatio {
    let interval = Interval {
        low: ratio - 0.01,
        high: ratio + 0.01,
    };
    FigureRatio { ratio, interval }
}

fn tried(name: &str, value: &str, of: f64, effect: SettingEffect) -> TriedSetting {
    TriedSetting {
        name: name.to_owned(),
        scope: SettingScope::Client,
        today: Some("16384".to_owned()),
        value: value.to_owned(),
        untried: Vec::new(),
        ratio: Some(ratio(of)),
        effect,
        cost: Some(SettingCost::ClientMemory),
        risk: Some(SettingRisk::None),
    }
}

/// A search that recommends a batch size.
pub(crate) fn better() -> TuneSummary {
    let line = SettingLine {
        scope: SettingScope::Client,
        names: vec!["batch.size".to_owned()],
        values: vec!["131072".to_owned()],
        today: Some("16384".to_owned()),
        ratio: Some(ratio(1.06)),
        cost: Some(SettingCost::ClientMemory),
        risk: Some(SettingRisk::None),
    };
    let equal = test_of(
        AbKind::Same,
        "writers.throughput",
        &[1.001, 0.999, 1.002, 0.998, 1.0],
    );
    TuneSummary {
        goal: TuneGoal::Throughput,
        preset: None,
        metric: "writers.throughput".to_owned(),
        unit: MetricUnit::RecordsPerSecond,
        more_is_better: true,
        width: 0.03,
        budget_ns: 1_800_000_000_000,
        verdict: TuneVerdict::Better,
        bottleneck: Some(Bottleneck::Buffer),
        settings: vec![
            tried("batch.size", "131072", 1.06, SettingEffect::Helps),
            tried("linger.ms", "20", 1.0, SettingEffect::None),
        ],
        race: Vec::new(),
        winner: Some(TuneWinner {
            changes: vec![line],
            proof: different(),
            aa: equal,
            conditions: vec![ConditionRecord {
                condition: "writers.latency.p99 <= 20 ms".to_owned(),
                required: 2e7,
                unit: MetricUnit::Nanoseconds,
                status: GoalStatus::Held,
                kept: 3,
                repeats: 3,
                median: Some(3.1e6),
                median_today: Some(4e6),
            }],
            elsewhere: vec![SideEffect {
                figure: SideFigure::BrokerCpu,
                second_load: true,
                today: 2_000.0,
                winner: 1_200.0,
                ratio: Some(ratio(0.6)),
            }],
            other_rate: Some(50_000.0),
            generator_limited: false,
        }),
        left_out: vec![LeftOutSetting {
            name: "acks".to_owned(),
            scope: SettingScope::Client,
            cause: LeftOutCause::Durability,
        }],
        phases: Vec::new(),
        end: Some(TuneEnd::Decided),
        missed: None,
        took_s: 600.0,
    }
}

#[test]
fn a_recommendation_has_its_proof_its_lines_and_their_reasons() {
    let search = better();
    assert_eq!(
        answer(&search),
        "Recommended: batch.size=131072. Throughput +5.0 % (95 % interval +3.9 to +6.1 %) in 7 \
         pairs against the settings in force."
    );
    let winner = search.winner.as_ref().unwrap();
    let line = &winner.changes[0];
    assert_eq!(properties(line), ["batch.size=131072"]);
    assert_eq!(
        because(&search, line),
        "was 16384; throughput +6.0 %, +5.0 to +7.0 % in the screening; costs memory of clients"
    );
    assert_eq!(
        elsewhere(winner),
        ["Broker CPU per record at 50,000 records/s: 1.20 µs, was 2.00 µs (−40 %, −41 to −39 %)"]
    );
    let mut with_values = search.clone();
    with_values.settings[1].untried = vec!["100".to_owned(), "200".to_owned()];
    assert_eq!(
        left_out(&with_values),
        [
            "acks: decides what an ack means (--durability-may-change)",
            "linger.ms=100, linger.ms=200: at most 8 candidates race; other values only if the \
             first one clearly helps"
        ]
    );
    assert_eq!(left_out(&search).len(), 1);
    let details = details(&search).join("\n");
    let condition = "Condition writers.latency.p99 <= 20 ms: held, kept in 3 of 3 repeats (median \
                     3.10 ms; with the settings in force 4.00 ms).";
    assert!(details.contains(condition), "{details}");
    assert!(details.contains("false alarms: "), "{details}");
    assert!(!details.contains("the gain may be larger"), "{details}");
    let mut limited = search.clone();
    limited.winner.as_mut().unwrap().generator_limited = true;
    let details = super::details(&limited).join("\n");
    assert!(details.contains("the gain may be larger"), "{details}");
}

#[test]
fn nothing_helps_is_an_answer_and_names_what_is_open() {
    let mut search = better();
    search.winner = None;
    search.verdict = TuneVerdict::NothingHelps;
    search.settings[0].effect = SettingEffect::None;
    assert_eq!(
        answer(&search),
        "Nothing that was tried helps by more than 3 %."
    );
    search.verdict = TuneVerdict::Inconclusive;
    search.race.clear();
    search.settings[0].effect = SettingEffect::Open;
    search.settings[0].ratio = None;
    assert!(search.is_open());
    let text = answer(&search);
    assert!(
        text.contains(
            "The intervals of batch.size=131072 are too wide to rule out a gain of more than 3 %"
        ),
        "{text}"
    );
}

#[test]
fn refusals_name_the_way_out() {
    let mut search = better();
    search.winner = None;
    search.verdict = TuneVerdict::Refused;
    for (end, words) in [
        (TuneEnd::Generator, "load generator is the bottleneck"),
        (TuneEnd::NotSteady, "not steady"),
        (TuneEnd::ConditionMissed { condition: 0 }, "Lower the rate"),
        (
            TuneEnd::BudgetTooShort {
                needed_ns: 90_000_000_000,
            },
            "--budget '2 min'",
        ),
    ] {
        search.end = Some(end);
        let text = answer(&search);
        assert!(
            text.starts_with("Nothing was tried") && text.contains(words),
            "{text}"
        );
    }
}

#[test]
fn a_search_without_candidates_names_the_causes() {
    let mut search = better();
    search.winner = None;
    search.verdict = TuneVerdict::Refused;
    search.end = Some(TuneEnd::NothingToTry);
    let left_out = |name: &str, cause: LeftOutCause| LeftOutSetting {
        name: name.to_owned(),
        scope: SettingScope::Topic,
        cause,
    };
    search.left_out = vec![
        left_out("topic.partitions", LeftOutCause::Target),
        left_out("segment.ms", LeftOutCause::InForce),
    ];
    assert_eq!(
        answer(&search),
        "Nothing was tried: topic.partitions: cannot be changed on this target; segment.ms: \
         already in force."
    );
    search.left_out = vec![left_out("linger.ms", LeftOutCause::OtherBottleneck)];
    let start = "Nothing was tried: no setting may change here that acts on the bottleneck \
                 (producer buffer)";
    assert_eq!(answer(&search), format!("{start}."));
    search.left_out.push(left_out("acks", LeftOutCause::Scope));
    let end = ", and --try leaves out others.";
    assert_eq!(answer(&search), format!("{start}{end}"));
}

#[test]
fn only_a_search_that_may_go_on_names_resume() {
    let mut search = better();
    let winner = search.winner.as_mut().unwrap();
    let small = [1.013, 1.027, 1.013, 1.027, 1.013, 1.027, 1.013, 1.027];
    winner.proof = test_of(AbKind::Settings, "writers.throughput", &small);
    search.verdict = TuneVerdict::Inconclusive;
    let text = answer(&search);
    let start = "Inconclusive: batch.size=131072 is better (throughput +2.0 % (95 % interval +0.8";
    let end = "but it is not clear that the gain is 3 % or more. Use longer repeats.";
    assert!(text.starts_with(start) && text.ends_with(end), "{text}");
    for verdict in [TuneVerdict::Inconclusive, TuneVerdict::ConditionOpen] {
        search.verdict = verdict;
        for (end, is_named) in [(TuneEnd::Decided, false), (TuneEnd::Budget, true)] {
            search.end = Some(end);
            let text = answer(&search) + &details(&search).join(" ");
            assert_eq!(text.contains("--resume"), is_named, "{text}");
        }
    }
}

#[test]
fn other_candidates_that_are_open_leave_the_search_open() {
    let mut search = better();
    let equal = [1.001, 0.999, 1.002, 0.998, 1.0];
    let winner = search.winner.as_mut().unwrap();
    winner.proof = test_of(AbKind::Settings, "writers.throughput", &equal);
    search.verdict = TuneVerdict::NothingHelps;
    assert!(!search.is_open());
    let text = answer(&search);
    let start = "Nothing helps by more than 3 %. The best candidate was batch.size=131072. ";
    assert!(text.starts_with(start), "{text}");
    search.settings[1].ratio = Some(ratio(1.03));
    assert!(search.is_open());
    search.verdict = TuneVerdict::Inconclusive;
    let text = answer(&search);
    let open = "The intervals of linger.ms=20 are too wide to rule out a gain of more than 3 %.";
    assert!(text.contains(open), "{text}");
}

#[test]
fn a_condition_that_is_not_clear_is_no_recommendation() {
    let mut search = better();
    search.verdict = TuneVerdict::ConditionOpen;
    let winner = search.winner.as_mut().unwrap();
    winner.conditions[0].status = GoalStatus::Undecided;
    let text = answer(&search);
    assert!(
        text.contains("20 ms: inconclusive, kept in 3 of 3 repeats"),
        "{text}"
    );
    search.verdict = TuneVerdict::ConditionBroken;
    let winner = search.winner.as_mut().unwrap();
    winner.conditions[0].status = GoalStatus::NotHeld;
    let text = answer(&search);
    assert!(
        text.contains("misses a condition: writers.latency.p99 <= 20 ms: missed"),
        "{text}"
    );
    assert!(!search.has_lines());
}

#[test]
fn candidates_that_miss_a_condition_are_named_where_nothing_else_helps() {
    let mut search = better();
    let winner = search.winner.take().unwrap();
    search.settings.clear();
    search.verdict = TuneVerdict::NothingHelps;
    search.race = vec![RacedCandidate {
        trial: None,
        changes: winner.changes,
        ratio: None,
        place: RacePlace::BreaksCondition,
    }];
    assert!(!search.is_open());
    assert_eq!(
        answer(&search),
        "Nothing that keeps the conditions helps by more than 3 %; 1 candidate missed one."
    );
}

#[test]
fn a_preset_of_durability_shows_its_price_and_one_of_throughput_what_it_brings() {
    let mut search = better();
    search.preset = Some(TunePreset::Throughput);
    let start = "The preset for throughput is better: throughput +5.0 % (95 % interval";
    assert!(answer(&search).starts_with(start), "{}", answer(&search));
    search.preset = Some(TunePreset::Durability);
    let slower = [0.8, 0.81, 0.79, 0.8, 0.805, 0.795, 0.8];
    let winner = search.winner.as_mut().unwrap();
    winner.proof = test_of(AbKind::Settings, "writers.throughput", &slower);
    search.verdict = TuneVerdict::Worse;
    let text = answer(&search);
    assert!(
        text.starts_with("The preset for durability has a price: throughput −20 %"),
        "{text}"
    );
    assert!(
        text.ends_with("It sets batch.size=131072.") && search.has_lines(),
        "{text}"
    );
    search.preset = Some(TunePreset::Throughput);
    assert!(answer(&search).starts_with("Not recommended: batch.size=131072. Throughput −20 %"));
}

#[test]
fn a_partitioner_that_kafka_names_otherwise_is_a_line_that_clients_understand() {
    let mut search = better();
    let line = &mut search.winner.as_mut().unwrap().changes[0];
    line.names = vec!["partitioner".to_owned()];
    line.values = vec!["sticky".to_owned()];
    assert!(properties(line)[0].starts_with("# remove partitioner.class"));
    assert_eq!(names(std::slice::from_ref(line)), "partitioner=sticky");
}
