//! Answers by the kind of question, at figures with known answers.

use std::sync::LazyLock;

use kgauge_analyze::Summary;
use kgauge_analyze::answer::{
    AnswerDoubt, AnswerDoubtCause, AnswerFacts, CourseDirection, FigureCourse, FigureFinding,
    KeptRates, ScenarioAnswer, TrialEffect,
};
use kgauge_analyze::compare::{FigureKind, UndecidedCause};
use kgauge_analyze::statistics::{Spread, Steadiness, SteadinessCheck};
use kgauge_analyze::summary::{
    Factor, FlowSteadiness, GeneratorState, GoalStatus, RepeatSteadiness, TrialSummary,
};
use kgauge_scenario::{AnswerKind, Comparand};

use crate::made::{whole_closed_run, whole_paced_run};

static CLOSED_SUMMARY: LazyLock<Summary> = LazyLock::new(|| Summary::of(&whole_closed_run().1));
static PACED_SUMMARY: LazyLock<Summary> = LazyLock::new(|| Summary::of(&whole_paced_run().1));

/// A producer at full speed: records per second of each repeat, and nothing else that could differ.
pub(crate) fn trial(
    index: u32,
    scenario: &str,
    factors: &[(&str, &str)],
    rates: &[f64],
) -> TrialSummary {
    let mut trial = CLOSED_SUMMARY.trials[0].clone();
    trial.index = index;
    trial.scenario = scenario.to_owned();
    let factor = |(path, value): &(&str, &str)| Factor {
        path: (*path).to_owned(),
        value: (*value).to_owned(),
    };
    trial.factors = factors.iter().map(factor).collect();
    trial.repeats_measured = u32::try_from(rates.len()).unwrap();
    trial.repeats_planned = trial.repeats_measured.max(1);
    trial.flows.truncate(1);
    trial.flows[0].steadiness = None;
    trial.flows[0].throughput = Spread::of(rates).map(|records_per_s| {
        let mut throughput = trial.flows[0].throughput.clone().unwrap();
        throughput.logical_bytes_per_s = records_per_s.times(100.0).unwrap();
        throughput.wire_bytes_per_s = None;
        throughput.records_per_s = records_per_s;
        throughput
    });
    trial.cpu.generator_threads_ns_per_record = None;
    trial.cpu.target_ns_per_record = None;
    trial.counted.clear();
    trial.published.clear();
    trial.goals.clear();
    trial.warnings.clear();
    trial
}

pub(crate) fn summary(trials: Vec<TrialSummary>) -> Summary {
    Summary {
        trials,
        ..CLOSED_SUMMARY.clone()
    }
}

pub(crate) fn only(trials: Vec<TrialSummary>) -> ScenarioAnswer {
    let mut answers = summary(trials).answers();
    assert_eq!(answers.len(), 1);
    answers.remove(0)
}

pub(crate) const FAST: [f64; 3] = [1_000.0, 1_010.0, 990.0];
const HALF: [f64; 3] = [500.0, 505.0, 495.0];
const ACKS: &str = "writers.settings.acks";
const SIZE: &str = "writers.record.size";

fn comparisons(answer: &ScenarioAnswer) -> &[TrialEffect] {
    match &answer.facts {
        AnswerFacts::Effect { comparisons } => comparisons,
        other => panic!("{other:?}"),
    }
}

fn main_course(answer: &ScenarioAnswer) -> &FigureCourse {
    match &answer.facts {
        AnswerFacts::Trend { figures, .. } | AnswerFacts::Best { figures } => {
            FigureCourse::main_of(figures).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_single_trial_tells_how_much() {
    let answer = only(vec![trial(0, "one", &[], &FAST)]);
    let AnswerFacts::HowMuch { figures } = &answer.facts else {
        panic!("{answer:?}");
    };
    // The latency of a closed loop is that of its own buffer.
    let kinds: Vec<FigureKind> = figures.iter().map(|one| one.figure).collect();
    assert_eq!(kinds, [FigureKind::Throughput, FigureKind::ThroughputBytes]);
    assert_eq!(figures[0].value, 1_000.0);
    assert!(figures[0].interval.unwrap().contains(1_000.0));
    assert!(answer.doubts.is_empty());
}

#[test]
fn of_two_trials_the_second_is_compared_with_the_first() {
    let answer = only(vec![
        trial(0, "one", &[(ACKS, "1")], &FAST),
        trial(1, "one", &[(ACKS, "all")], &HALF),
    ]);
    let [effect] = comparisons(&answer) else {
        panic!("{answer:?}");
    };
    assert_eq!((effect.trial, effect.base), (1, Some(0)));
    let main = effect.main().unwrap();
    assert_eq!(main.figure, FigureKind::Throughput);
    assert_eq!((main.base, main.value), (1_000.0, 500.0));
    assert_eq!(main.finding, FigureFinding::Differs);
    assert!((main.ratio.unwrap() - 0.5).abs() < 1e-9);
    let ends = main.ratio_interval.unwrap();
    assert!(ends.contains(0.5) && ends.high < 0.55, "{ends:?}");
}

#[test]
fn what_chance_explains_is_no_difference_with_what_would_have_shown() {
    let answer = only(vec![
        trial(0, "one", &[(ACKS, "1")], &[100.0, 130.0, 80.0]),
        trial(1, "one", &[(ACKS, "all")], &[120.0, 95.0, 150.0]),
    ]);
    let main = comparisons(&answer)[0].main().unwrap();
    let FigureFinding::NoDifference {
        detectable,
        more_needed,
    } = main.finding
    else {
        panic!("{main:?}");
    };
    assert!(detectable > 0.5, "{detectable}");
    assert!(more_needed.unwrap().repeats > Some(3));
    assert!(main.ratio_interval.unwrap().contains(1.0));
}

#[test]
fn one_repeat_zero_unsteady_and_missing_trials_answer_nothing() {
    let effect = |base: &[f64], other: &[f64], change: fn(&mut TrialSummary)| {
        let mut trials = vec![
            trial(0, "one", &[(ACKS, "1")], base),
            trial(1, "one", &[(ACKS, "all")], other),
        ];
        change(&mut trials[1]);
        let answer = only(trials);
        let effect = comparisons(&answer)[0].clone();
        let finding = effect.main().map(|main| main.finding);
        (finding, answer.doubts)
    };
    let doubt = |cause: AnswerDoubtCause, trials: &[u32]| AnswerDoubt {
        cause,
        trials: trials.to_vec(),
    };
    let undecided = |cause| Some(FigureFinding::Undecided { cause });

    let (finding, doubts) = effect(&[100.0], &[50.0], |_| {});
    assert_eq!(finding, undecided(UndecidedCause::OneRepeat));
    assert_eq!(doubts, [doubt(AnswerDoubtCause::OneRepeat, &[0, 1])]);

    let (finding, _) = effect(&FAST, &[0.0, 0.0, 0.0], |_| {});
    assert_eq!(finding, undecided(UndecidedCause::Zero));

    let (finding, doubts) = effect(&FAST, &HALF, |trial| {
        trial.flows[0].steadiness = Some(steadiness(Steadiness::Slowing, -0.3));
    });
    assert_eq!(finding, None);
    assert_eq!(doubts, [doubt(AnswerDoubtCause::NotSteady, &[1])]);

    // The throughput was steady, and it is what the answer rests on.
    let (finding, doubts) = effect(&FAST, &HALF, |trial| {
        let mut changing = steadiness(Steadiness::Steady, 0.0);
        changing.latency_over_repeats = Some(0.5);
        trial.flows[0].steadiness = Some(changing.judged());
        assert!(!trial.flows[0].is_usable());
    });
    assert_eq!(finding, Some(FigureFinding::Differs));
    assert_eq!(doubts, []);

    let (finding, doubts) = effect(&FAST, &[], |_| {});
    assert_eq!(finding, None);
    assert_eq!(doubts, [doubt(AnswerDoubtCause::NotMeasured, &[1])]);
}

fn steadiness(verdict: Steadiness, change: f64) -> FlowSteadiness {
    let throughput = SteadinessCheck {
        steadiness: verdict,
        change,
        detectable: 0.05,
    };
    FlowSteadiness {
        verdict,
        repeats: vec![RepeatSteadiness {
            warm_up_ns: 0,
            limit_reached: false,
            throughput,
            latency: None,
            compiling: None,
        }],
        ..FlowSteadiness::default()
    }
}

#[test]
fn a_named_scenario_is_the_base_and_may_be_missing() {
    let against = |scenario: &str, factor: Option<(&str, &str)>| {
        let factor = factor.map(|(path, value)| (path.to_owned(), value.to_owned()));
        Some(Comparand {
            scenario: Some(scenario.to_owned()),
            factor,
        })
    };
    let mut other = trial(2, "two", &[], &HALF);
    other.against = against("one", Some((SIZE, "1 kB")));
    let bases = vec![
        trial(0, "one", &[(SIZE, "100 B")], &HALF),
        trial(1, "one", &[(SIZE, "1 kB")], &FAST),
    ];
    let answers = summary([bases.clone(), vec![other.clone()]].concat()).answers();
    let [effect] = comparisons(&answers[1]) else {
        panic!("{answers:?}");
    };
    assert_eq!(effect.base, Some(1));
    assert_eq!(effect.main().unwrap().finding, FigureFinding::Differs);
    // Without a value two trials could be meant.
    other.against = against("one", None);
    let answers = summary([bases, vec![other.clone()]].concat()).answers();
    assert_eq!(comparisons(&answers[1])[0].base, None);
    // `--only` left it out.
    let answer = only(vec![other]);
    let [effect] = comparisons(&answer) else {
        panic!("{answer:?}");
    };
    assert_eq!((effect.base, effect.figures.len()), (None, 0));
}

#[test]
fn pairs_differ_only_in_what_is_compared() {
    let brokers = "target.brokers";
    let factors = [
        [(brokers, "3"), (ACKS, "1")],
        [(brokers, "3"), (ACKS, "all")],
        [(brokers, "6"), (ACKS, "1")],
        [(brokers, "6"), (ACKS, "all")],
    ];
    let rates = [FAST, HALF, HALF, HALF];
    let trials = factors
        .iter()
        .zip(rates)
        .zip(0..)
        .map(|((factors, rates), index)| {
            let mut trial = trial(index, "one", factors, &rates);
            trial.against = Some(Comparand {
                scenario: None,
                factor: Some((ACKS.to_owned(), "1".to_owned())),
            });
            trial
        });
    let answer = only(trials.collect());
    let pairs: Vec<(u32, Option<u32>)> = comparisons(&answer)
        .iter()
        .map(|one| (one.trial, one.base))
        .collect();
    assert_eq!(pairs, [(1, Some(0)), (3, Some(2))]);
    let differs = comparisons(&answer)
        .iter()
        .map(|one| one.main().unwrap().finding == FigureFinding::Differs);
    assert_eq!(differs.collect::<Vec<bool>>(), [true, false]);
}

/// Trials of rising sizes with these rates, each known to 1 %.
fn of_sizes(rates: &[f64]) -> ScenarioAnswer {
    let sizes = ["10 B", "100 B", "1 kB", "10 kB", "100 kB"];
    let trials = rates.iter().zip(sizes).zip(0..);
    let trials = trials.map(|((rate, size), index)| {
        let repeats = [*rate, rate * 1.01, rate * 0.99];
        trial(index, "sizes", &[(SIZE, size)], &repeats)
    });
    only(trials.collect())
}

#[test]
fn the_values_of_one_setting_make_a_trend_over_all_trials() {
    let answer = of_sizes(&[100.0, 200.0, 400.0, 401.0, 402.0]);
    assert_eq!(answer.facts.kind(), AnswerKind::Trend);
    let course = main_course(&answer);
    assert_eq!(course.direction, Some(CourseDirection::Rises));
    assert_eq!((course.best, course.worst), (Some(4), Some(0)));
    assert!((course.times.unwrap() - 4.02).abs() < 0.01, "{course:?}");
    // From the third value on nothing was gained.
    assert_eq!(course.knee, Some(2));

    let peak = of_sizes(&[100.0, 200.0, 400.0, 300.0, 150.0]);
    assert_eq!(main_course(&peak).direction, Some(CourseDirection::Peaks));
    assert_eq!(main_course(&peak).best, Some(2));
    let fall = of_sizes(&[400.0, 300.0, 200.0]);
    assert_eq!(main_course(&fall).direction, Some(CourseDirection::Falls));
    let dip = of_sizes(&[400.0, 100.0, 200.0]);
    assert_eq!(main_course(&dip).direction, Some(CourseDirection::Dips));

    let flat = of_sizes(&[100.0, 100.1, 100.2]);
    let course = main_course(&flat);
    assert!(
        matches!(course.finding, FigureFinding::NoDifference { detectable, .. } if detectable < 0.1),
        "{course:?}"
    );
    assert_eq!((course.direction, course.best), (None, None));
}

#[test]
fn points_of_a_trend_are_in_the_order_of_the_setting() {
    let sizes = ["1 kB", "10 B", "100 B"];
    let trials = sizes.iter().zip(0..).map(|(size, index)| {
        let rate = 100.0 * f64::from(index + 1);
        let repeats = [rate, rate * 1.01, rate * 0.99];
        trial(index, "sizes", &[(SIZE, *size)], &repeats)
    });
    let answer = only(trials.collect());
    let points = main_course(&answer).points.iter();
    let order: Vec<u32> = points.map(|point| point.trial).collect();
    assert_eq!(order, [1, 2, 0]);
}

/// An open loop whose rate was kept, or missed by half.
fn paced(index: u32, rate: &str, is_kept: bool, p99_ms: f64) -> TrialSummary {
    let mut trial = PACED_SUMMARY.trials[0].clone();
    trial.index = index;
    trial.factors = vec![Factor {
        path: "writers.shape.constant".to_owned(),
        value: rate.to_owned(),
    }];
    trial.cpu.generator_threads_ns_per_record = None;
    trial.cpu.target_ns_per_record = None;
    trial.warnings.clear();
    let flow = &mut trial.flows[0];
    flow.steadiness = None;
    if !is_kept {
        flow.records.scheduled *= 2;
    }
    let times = flow.latencies.get_mut(kgauge_results::TimeKind::Response);
    for percentile in &mut times.unwrap().percentiles {
        percentile.few = false;
        percentile.value_ns = (p99_ms * 1e6) as u64;
        let each = [0.98, 1.0, 1.02].map(|part| part * p99_ms * 1e6);
        percentile.over_repeats = Spread::of_time(&each, p99_ms * 1e6);
    }
    let status = if p99_ms < 20.0 {
        GoalStatus::Held
    } else {
        GoalStatus::NotHeld
    };
    for goal in &mut trial.goals {
        goal.word = status;
    }
    trial
}

#[test]
fn a_sweep_over_rates_shows_latency_and_which_rates_were_kept() {
    let answer = only(vec![
        paced(0, "5k/s", true, 2.0),
        paced(1, "10k/s", true, 3.0),
        paced(2, "20k/s", true, 15.0),
        paced(3, "40k/s", false, 90.0),
    ]);
    let AnswerFacts::Trend {
        figures,
        kept_rates,
        ..
    } = &answer.facts
    else {
        panic!("{answer:?}");
    };
    let is_rate = |figure: &FigureCourse| figure.figure == FigureKind::Throughput;
    assert!(!figures.iter().any(is_rate), "it follows the setting");
    let course = main_course(&answer);
    assert_eq!(course.figure, FigureKind::LatencyP99);
    assert_eq!(course.direction, Some(CourseDirection::Rises));
    // The last one within twice the best.
    assert_eq!(course.knee, Some(1));
    let expected = KeptRates {
        up_to: Some(2),
        missed_at: Some(3),
    };
    assert_eq!(*kept_rates, Some(expected));
    let goals: Vec<GoalStatus> = answer.goals.iter().map(|goals| goals.status).collect();
    let [held, missed] = [GoalStatus::Held, GoalStatus::NotHeld];
    assert_eq!(goals, [held, held, held, missed]);

    // A rate that the generator did not offer says nothing about the target.
    let mut late = paced(1, "40k/s", false, 90.0);
    late.generator.word = GeneratorState::Limited;
    let answer = only(vec![
        paced(0, "5k/s", true, 2.0),
        late,
        paced(2, "80k/s", false, 99.0),
    ]);
    let AnswerFacts::Trend { kept_rates, .. } = &answer.facts else {
        panic!("{answer:?}");
    };
    let kept = kept_rates.as_ref().unwrap();
    assert_eq!((kept.up_to, kept.missed_at), (Some(0), None));
}

#[test]
fn a_trend_of_one_trial_is_over_the_time_of_a_repeat() {
    let mut alone = trial(0, "one", &[], &FAST);
    alone.asks = Some(AnswerKind::Trend);
    alone.flows[0].steadiness = Some(steadiness(Steadiness::Slowing, -0.12));
    alone.flows[0].throughput.as_mut().unwrap().hold_s = 45.0;
    let answer = only(vec![alone]);
    let AnswerFacts::Trend { over_time, .. } = &answer.facts else {
        panic!("{answer:?}");
    };
    assert_eq!(over_time[0].check.change, -0.12);
    // 1,000 records of 100 bytes a second, in each of three repeats.
    assert_eq!((over_time[0].repeats, over_time[0].seconds), (3, 15.0));
    assert!((over_time[0].bytes - 1_500_000.0).abs() < 1e-6);
}

#[test]
fn the_best_of_names_has_a_lead_or_neighbours() {
    let codec = "writers.settings.compression.type";
    let of = |rates: [f64; 3]| {
        let codecs = ["none", "lz4", "gzip"];
        let trials = rates.iter().zip(codecs).zip(0..);
        let trials = trials.map(|((rate, codec_name), index)| {
            let repeats = [*rate, rate * 1.01, rate * 0.99];
            trial(index, "codecs", &[(codec, codec_name)], &repeats)
        });
        only(trials.collect())
    };
    let clear = of([200.0, 300.0, 100.0]);
    assert_eq!(clear.facts.kind(), AnswerKind::Best);
    let course = main_course(&clear);
    assert_eq!((course.best, course.worst), (Some(1), Some(2)));
    let lead = course.lead.unwrap();
    assert_eq!(lead.trial, 0);
    assert!((lead.ratio - 1.5).abs() < 1e-9 && lead.interval.low > 1.4);
    assert!(course.beside_best.is_empty() && course.direction.is_none());
    let close = of([299.0, 300.0, 100.0]);
    assert_eq!(main_course(&close).beside_best, [0]);
}

#[test]
fn what_trials_cannot_give_is_answered_as_they_can() {
    let asked = |kind: AnswerKind, values: &[&str]| {
        let trials = values.iter().zip(0..).map(|(value, index)| {
            let mut trial = trial(index, "one", &[(ACKS, *value)], &FAST);
            trial.asks = Some(kind);
            trial
        });
        only(trials.collect()).facts.kind()
    };
    assert_eq!(asked(AnswerKind::Best, &["1"]), AnswerKind::HowMuch);
    assert_eq!(asked(AnswerKind::Effect, &["1"]), AnswerKind::HowMuch);
    assert_eq!(
        asked(AnswerKind::Trend, &["0", "1", "all"]),
        AnswerKind::Best
    );
    assert_eq!(
        asked(AnswerKind::HowMuch, &["1", "all"]),
        AnswerKind::HowMuch
    );
    assert_eq!(asked(AnswerKind::Loss, &["1", "all"]), AnswerKind::Loss);
}

#[test]
fn questions_are_answered_in_the_order_of_the_plan() {
    let answers = summary(vec![
        trial(0, "b", &[], &FAST),
        trial(1, "a", &[], &FAST),
        trial(2, "b", &[], &HALF),
    ])
    .answers();
    let found: Vec<(&str, &[u32])> = answers
        .iter()
        .map(|one| (one.scenario.as_str(), one.trials.as_slice()))
        .collect();
    assert_eq!(found, [("b", &[0, 2][..]), ("a", &[1][..])]);
}
