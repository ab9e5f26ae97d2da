//! The sentences of answers, by the kind of question.

use kgauge_analyze::Summary;
use kgauge_analyze::statistics::{Spread, Steadiness, SteadinessCheck};
use kgauge_analyze::summary::{
    Bottleneck, CountedOnBroker, Factor, FlowKind, FlowSteadiness, LimitFact, LimitVerdict,
    RepeatOutage, RepeatSteadiness, TrialSummary,
};
use kgauge_report::summary_json;
use kgauge_report::text::{answer, count_check};
use kgauge_results::run::RepeatOutcome;
use kgauge_scenario::{AnswerKind, Comparand};
use serde_json::Value;

use crate::shared::complete;

pub(crate) const ACKS: &str = "writers.settings.acks";
const SIZE: &str = "writers.record.size";
pub(crate) const FAST: [f64; 3] = [1_000.0, 1_010.0, 990.0];
pub(crate) const HALF: [f64; 3] = [500.0, 505.0, 495.0];
const SECOND_NS: u64 = 1_000_000_000;

/// A producer at full speed: records per second of each repeat, and nothing else that could differ.
pub(crate) fn trial(
    index: u32,
    scenario: &str,
    factors: &[(&str, &str)],
    rates: &[f64],
) -> TrialSummary {
    let made = complete();
    let mut trials = made.summary.trials.iter();
    let sizes = trials.find(|trial| trial.scenario == "message-size");
    let mut trial = sizes.unwrap().clone();
    trial.index = index;
    trial.scenario = scenario.to_owned();
    trial.name.clear();
    let factor = |(path, value): &(&str, &str)| Factor {
        path: (*path).to_owned(),
        value: (*value).to_owned(),
    };
    trial.factors = factors.iter().map(factor).collect();
    trial.repeats_measured = u32::try_from(rates.len()).unwrap();
    let flow = &mut trial.flows[0];
    flow.steadiness = None;
    let throughput = flow.throughput.take();
    flow.throughput = Spread::of(rates).zip(throughput).map(|(rate, mut known)| {
        known.logical_bytes_per_s = rate.times(100.0).unwrap();
        known.logical_mb_per_s = known.logical_bytes_per_s.mean / 1e6;
        known.wire_bytes_per_s = None;
        known.records_per_s = rate;
        known
    });
    trial.cpu.generator_threads_ns_per_record = None;
    trial.cpu.target_ns_per_record = None;
    trial.limit = None;
    trial.counted.clear();
    trial.goals.clear();
    trial.warnings.clear();
    trial
}

fn summary(trials: Vec<TrialSummary>) -> Summary {
    Summary {
        trials,
        ..complete().summary.clone()
    }
}

/// The answer to the question of the last scenario.
pub(crate) fn last(trials: Vec<TrialSummary>) -> String {
    let summary = summary(trials);
    let answers = summary.answers();
    let text = answer::sentence(answers.last().unwrap(), &summary);
    assert!(text.chars().count() <= 240, "{text}");
    text
}

/// Trials of rising sizes with these rates, each known to 1 %.
fn of_sizes(rates: &[f64]) -> String {
    let sizes = ["10 B", "100 B", "1 kB", "10 kB"];
    let trials = rates.iter().zip(sizes).zip(0..);
    let trials = trials.map(|((rate, size), index)| {
        let repeats = [*rate, rate * 1.01, rate * 0.99];
        trial(index, "sizes", &[(SIZE, size)], &repeats)
    });
    last(trials.collect())
}

#[test]
fn how_much_is_a_figure_with_its_interval() {
    assert_eq!(
        last(vec![trial(0, "one", &[], &FAST)]),
        "1 producer wrote 1,000 records/s (±2.5 %, 0.100 MB/s)."
    );
    assert_eq!(
        last(vec![trial(0, "one", &[], &[1_000.0])]),
        "Inconclusive, one repeat (use --repeat 5): 1 producer wrote 1,000 records/s (0.100 MB/s)."
    );
    let several = [("10 B", FAST), ("1 kB", HALF)].iter().zip(0..);
    let several = several.map(|((size, rates), index)| {
        let mut trial = trial(index, "sizes", &[(SIZE, *size)], rates);
        trial.asks = Some(AnswerKind::HowMuch);
        trial
    });
    assert_eq!(
        last(several.collect()),
        "10 B: 1,000 records/s (±2.5 %); 1 kB: 500.0 records/s (±2.5 %)."
    );
}

#[test]
fn consumers_kept_up_fell_behind_or_read_a_backlog() {
    let of = |records_max: f64, grows: bool| {
        let mut readers = trial(0, "one", &[], &FAST);
        let flow = &mut readers.flows[0];
        flow.kind = FlowKind::Consume;
        let lag = LimitFact::ConsumerLag {
            flow: flow.name.clone(),
            records_mean: records_max / 2.0,
            records_max,
            grows,
        };
        readers.limit = Some(LimitVerdict {
            word: Bottleneck::Load,
            evidence: vec![lag],
            candidates: Vec::new(),
            faults: 0,
            outage: None,
            idle_flow: None,
        });
        last(vec![readers])
    };
    for (records_max, grows, start) in [
        (
            310.0,
            false,
            "1 consumer kept up: 1,000 records/s (±2.5 %, ",
        ),
        (
            310.0,
            true,
            "1 consumer fell behind: 1,000 records/s (±2.5 %, ",
        ),
        (90_000.0, false, "1 consumer read 1,000 records/s (±2.5 %, "),
    ] {
        let text = of(records_max, grows);
        assert!(text.starts_with(start), "{text}");
    }
}

#[test]
fn an_effect_is_a_ratio_with_its_interval_against_the_other_trial() {
    let both = |base: &[f64], other: &[f64]| {
        vec![
            trial(0, "one", &[(ACKS, "1")], base),
            trial(1, "one", &[(ACKS, "all")], other),
        ]
    };
    assert_eq!(
        last(both(&FAST, &HALF)),
        "Acks all against 1: records/s 1,000 → 500.0 (−50 %, −51 to −49 %)."
    );
    assert_eq!(
        last(both(&HALF, &FAST)),
        "Acks all against 1: records/s 500.0 → 1,000 (2.00×, 1.95 to 2.05×)."
    );
    let noisy = last(both(&[100.0, 130.0, 80.0], &[120.0, 95.0, 150.0]));
    let start = "Acks all against 1: no difference found in records/s, 103.3 → 121.7 (+";
    assert!(noisy.starts_with(start), "{noisy}");
    assert!(
        noisy.contains(" or more would have been detected"),
        "{noisy}"
    );
    assert_eq!(
        last(both(&[100.0], &[50.0])),
        "Inconclusive, one repeat each (use --repeat 5): acks all against 1: records/s 100.0 → 50.00."
    );
    assert_eq!(
        last(both(&FAST, &[0.0, 0.0, 0.0])),
        "Inconclusive, a repeat did nothing: acks all against 1: records/s 1,000 → 0."
    );
}

#[test]
fn an_effect_without_a_base_shows_the_figures_and_says_what_is_missing() {
    let mut two = trial(1, "two", &[], &HALF);
    two.against = Some(Comparand {
        scenario: Some("one".to_owned()),
        factor: None,
    });
    let one = trial(0, "one", &[], &FAST);
    assert_eq!(
        last(vec![one.clone(), two.clone()]),
        "Two against one: records/s 1,000 → 500.0 (−50 %, −51 to −49 %)."
    );
    assert_eq!(
        last(vec![two.clone()]),
        "1 producer wrote 500.0 records/s (±2.5 %, 0.0500 MB/s). Nothing to compare with: one is \
         not part of this run."
    );
    let mut warming = one.clone();
    warming.flows[0].steadiness = Some(
        FlowSteadiness {
            throughput_over_repeats: Some(0.4),
            ..FlowSteadiness::default()
        }
        .judged(),
    );
    assert_eq!(
        last(vec![warming, two.clone()]),
        "one: 1,000 records/s (±2.5 %); two: 500.0 records/s (±2.5 %). Not compared: one was not \
         steady."
    );
    let mut unmeasured = one;
    unmeasured.repeats_measured = 0;
    assert_eq!(
        last(vec![unmeasured, two]),
        "1 producer wrote 500.0 records/s (±2.5 %, 0.0500 MB/s). Not compared: one was not \
         measured."
    );
}

#[test]
fn a_trial_that_is_compared_is_not_called_left_out() {
    let warming = || {
        Some(
            FlowSteadiness {
                throughput_over_repeats: Some(0.4),
                ..FlowSteadiness::default()
            }
            .judged(),
        )
    };
    let goals = [("baseline", FAST), ("latency", HALF), ("durability", HALF)];
    let mut trials: Vec<TrialSummary> = goals
        .iter()
        .zip(0..)
        .map(|((name, rates), index)| {
            let mut trial = trial(index, "goals", &[("listed", name)], rates);
            trial.against = Some(Comparand {
                scenario: None,
                factor: Some(("listed".to_owned(), "baseline".to_owned())),
            });
            trial
        })
        .collect();
    trials[1].flows[0].steadiness = warming();
    assert_eq!(
        last(trials.clone()),
        "Durability against baseline: records/s 1,000 → 500.0 (−50 %, −51 to −49 %). Left out \
         because the target was not steady: latency."
    );
    // Of the base, another flow is unsteady.
    let mut readers = trials[0].flows[0].clone();
    readers.name = "readers".to_owned();
    readers.steadiness = warming();
    trials[0].flows.push(readers);
    let text = last(trials);
    assert!(text.ends_with("not steady: latency."), "{text}");
}

#[test]
fn several_effects_are_a_list_against_what_they_share() {
    let codec = "writers.settings.compression.type";
    let rates = [("none", FAST), ("lz4", FAST), ("gzip", HALF)];
    let trials = rates.iter().zip(0..).map(|((name, rates), index)| {
        let mut trial = trial(index, "codecs", &[(codec, *name)], rates);
        trial.against = Some(Comparand {
            scenario: None,
            factor: Some((codec.to_owned(), "none".to_owned())),
        });
        trial
    });
    let text = last(trials.collect());
    let start = "Records/s against none: lz4 no difference; gzip −50 %, −51 to −49 % (";
    assert!(text.starts_with(start), "{text}");
    assert!(
        text.ends_with(" or more would have been detected)."),
        "{text}"
    );
}

#[test]
fn a_trend_is_a_course_over_all_trials() {
    assert_eq!(
        of_sizes(&[100.0, 200.0, 400.0, 401.0]),
        "Records/s rise from 100.0 at 10 B to 401.0 at 10 kB (4.01×), no gain found beyond 1 kB."
    );
    assert_eq!(
        of_sizes(&[400.0, 200.0, 100.0]),
        "Records/s fall from 400.0 at 10 B to 100.0 at 1 kB (−75 %)."
    );
    assert_eq!(
        of_sizes(&[100.0, 400.0, 200.0]),
        "Records/s peak with 400.0 at 100 B; 100.0 at 10 B, 200.0 at 1 kB."
    );
    let flat = of_sizes(&[100.0, 100.1, 100.2]);
    let start = "No change found over 3 values of record.size: records/s 100.0 to 100.2 (";
    assert!(flat.starts_with(start), "{flat}");
}

#[test]
fn a_trend_over_time_says_how_far_the_rate_moved() {
    let of_flow = |kind: FlowKind, rates: &[f64], verdict: Steadiness, change: f64| {
        let mut alone = trial(0, "one", &[], rates);
        alone.asks = Some(AnswerKind::Trend);
        let throughput = SteadinessCheck {
            steadiness: verdict,
            change,
            detectable: 0.1,
        };
        alone.flows[0].steadiness = Some(FlowSteadiness {
            verdict,
            repeats: vec![RepeatSteadiness {
                warm_up_ns: 0,
                limit_reached: false,
                throughput,
                latency: None,
                compiling: None,
            }],
            ..FlowSteadiness::default()
        });
        alone.flows[0].kind = kind;
        alone.flows[0].throughput.as_mut().unwrap().hold_s = 30.0 * rates.len() as f64;
        last(vec![alone])
    };
    let of = |verdict, change| of_flow(FlowKind::Produce, &[1_000_000.0], verdict, change);
    assert_eq!(
        of(Steadiness::Steady, 0.01),
        "No change found in records/s while 3.00 GB were written in 30.0 s; 10 % or more would \
         have been detected."
    );
    assert_eq!(
        of(Steadiness::Slowing, -0.12),
        "Records/s fell by 12 % while 3.00 GB were written in 30.0 s."
    );
    assert_eq!(
        of(Steadiness::Shifting, 0.2),
        "Inconclusive: records/s shifted between levels while 3.00 GB were written in 30.0 s (use \
         a longer hold)."
    );
    // What three repeats wrote went into three topics.
    let of_three = |kind, verdict, change| of_flow(kind, &[1_000_000.0; 3], verdict, change);
    assert_eq!(
        of_three(FlowKind::Produce, Steadiness::Steady, 0.01),
        "No change found in records/s while 3.00 GB were written in 30.0 s per repeat; 10 % or \
         more would have been detected."
    );
    assert_eq!(
        of_three(FlowKind::Consume, Steadiness::Slowing, -0.12),
        "Records/s fell by up to 12 % while 3.00 GB were read in 30.0 s per repeat."
    );
}

#[test]
fn the_best_is_named_with_its_lead_or_its_equals() {
    let codec = "writers.settings.compression.type";
    let of = |rates: [f64; 3]| {
        let trials = rates.iter().zip(["none", "lz4", "gzip"]).zip(0..);
        let trials = trials.map(|((rate, name), index)| {
            let repeats = [*rate, rate * 1.01, rate * 0.99];
            trial(index, "codecs", &[(codec, name)], &repeats)
        });
        last(trials.collect())
    };
    assert_eq!(
        of([200.0, 300.0, 100.0]),
        "Best: lz4 with records/s 300.0 (±2.5 %), 50 % ahead of none, 3.00× from the worst (gzip)."
    );
    assert_eq!(
        of([299.9, 300.0, 100.0]),
        "Best: lz4 with records/s 300.0 (±2.5 %), indistinguishable from none, 3.00× from the worst \
         (gzip)."
    );
    let none = of([100.0, 100.1, 100.2]);
    let start = "No difference found between 3 trials: records/s 100.0 to 100.2 (";
    assert!(none.starts_with(start), "{none}");
}

fn counted(acked: u64, on_broker: Option<u64>, agrees: Option<bool>) -> CountedOnBroker {
    CountedOnBroker {
        repeat: 1,
        acked,
        indeterminate: 0,
        on_broker,
        agrees,
        possibly_missing: 0,
    }
}

#[test]
fn loss_is_a_count() {
    let of = |count: CountedOnBroker| {
        let mut trial = trial(0, "one", &[], &FAST);
        trial.asks = Some(AnswerKind::Loss);
        trial.counted = vec![count];
        last(vec![trial])
    };
    assert_eq!(
        of(counted(45_104, Some(45_104), Some(true))),
        "Nothing lost: all 45,104 acked records are on the brokers."
    );
    // 120 sends were retried without idempotence, and 8 of them are on the brokers twice: or more are, and as many
    // others are lost.
    let unproven = CountedOnBroker {
        possibly_missing: 112,
        ..counted(45_104, Some(45_112), Some(true))
    };
    assert_eq!(
        of(unproven),
        "At least 44,992 of 45,104 acked records are on the brokers (after retries and unknown \
         outcomes a count cannot prove more: use --verify)."
    );
    assert_eq!(
        of(counted(45_104, Some(45_092), Some(false))),
        "12 of 45,104 acked records are missing on the brokers (one, repeat 2: 12)."
    );
    assert_eq!(
        of(counted(45_104, Some(45_107), Some(false))),
        "3 records on the brokers beyond those acked, such as duplicates (one, repeat 2: 3)."
    );
    // What one trial cannot show, the other does not prove.
    let trials = ["0", "all"].into_iter().zip(0..).map(|(acks, index)| {
        let mut trial = trial(index, "one", &[(ACKS, acks)], &FAST);
        trial.asks = Some(AnswerKind::Loss);
        trial.flows[0].ack.as_mut().unwrap().acks = acks.to_owned();
        let is_counted = acks == "all";
        trial.counted = vec![counted(100, Some(100), is_counted.then_some(true))];
        trial
    });
    assert_eq!(
        last(trials.collect()),
        "All 100 acked records are on the brokers; not counted: 1 trial (acks=0)."
    );
}

#[test]
fn an_outage_is_a_time_and_a_count() {
    let of = |outage: RepeatOutage| {
        let mut trial = trial(0, "one", &[], &FAST);
        trial.outages = vec![outage];
        trial.counted = vec![counted(130_000, Some(130_000), Some(true))];
        last(vec![trial])
    };
    let outage = RepeatOutage {
        repeat: 0,
        fault_ns: 11 * SECOND_NS,
        without_acks_ns: 7_810_000_000,
        is_exact: true,
        has_recovered: true,
        new_leaders_ns: Some(8 * SECOND_NS),
        longest_response_ns: Some(8_560_000_000),
    };
    assert_eq!(
        of(outage),
        "No acks for 7.81 s after the fault, new leaders after 8.00 s; all 130,000 acked records \
         are on the brokers; slowest ack after 8.56 s."
    );
    let short = RepeatOutage {
        without_acks_ns: 0,
        new_leaders_ns: None,
        longest_response_ns: Some(640_000_000),
        ..outage
    };
    assert_eq!(
        of(short),
        "After the fault, acks never stopped for a whole second; all 130,000 acked records are on \
         the brokers; slowest ack after 640 ms."
    );
    let endless = RepeatOutage {
        is_exact: false,
        has_recovered: false,
        new_leaders_ns: None,
        longest_response_ns: None,
        ..outage
    };
    assert!(of(endless).starts_with("No acks for about 7.81 s after the fault, until the end; "));
    let trials = [("1", short), ("all", outage)].into_iter().zip(0..);
    let trials = trials.map(|((acks, outage), index)| {
        let mut trial = trial(index, "one", &[(ACKS, acks)], &FAST);
        trial.asks = Some(AnswerKind::Outage);
        trial.outages = vec![outage];
        trial
    });
    assert_eq!(
        last(trials.collect()),
        "After the fault, no acks for 7.81 s with acks all; acks never stopped for a whole second \
         with acks 1; slowest ack after 8.56 s."
    );
}

#[test]
fn trials_without_figures_are_left_out_with_their_reason() {
    let mut trials = vec![
        trial(0, "one", &[(ACKS, "0")], &HALF),
        trial(1, "one", &[(ACKS, "1")], &FAST),
        trial(2, "one", &[(ACKS, "all")], &[]),
    ];
    trials[2].not_measured = Some("it needs Apache Kafka.".to_owned());
    let text = last(trials.clone());
    assert!(
        text.ends_with(" all: Not measured: it needs Apache Kafka."),
        "{text}"
    );
    for trial in &mut trials {
        trial.repeats_measured = 0;
        trial.repeats[0].outcome = Some(RepeatOutcome::Interrupted);
    }
    assert_eq!(last(trials), "Not measured: interrupted.");
}

#[test]
fn the_count_check_covers_all_trials() {
    let of = |counts: Vec<CountedOnBroker>| {
        let trials = counts.into_iter().zip(0..).map(|(count, index)| {
            let mut trial = trial(index, "one", &[], &FAST);
            trial.counted = vec![count];
            trial
        });
        let summary = summary(trials.collect());
        let check = summary.count_check().unwrap();
        count_check::sentence(&check, &summary)
    };
    let good = counted(100, Some(100), Some(true));
    assert_eq!(of(vec![good]), "All 100 acked records are on the brokers.");
    assert_eq!(
        of(vec![good, good]),
        "All 200 acked records are on the brokers (2 of 2 trials)."
    );
    let unknown = counted(9, Some(11), None);
    assert_eq!(
        of(vec![good, unknown]),
        "All 100 acked records are on the brokers (1 of 2 trials). Not counted: 1 trial (a client \
         that does not report retries)."
    );
    assert_eq!(
        of(vec![unknown]),
        "Records on the brokers were not counted: 1 trial (a client that does not report retries)."
    );
}

#[test]
fn the_summary_has_answers_with_their_kind_and_text() {
    let made = complete();
    let json = serde_json::to_value(summary_json(&made.summary).unwrap()).unwrap();
    let answers = json["answers"].as_array().unwrap();
    let kinds: Vec<&Value> = answers.iter().map(|answer| &answer["kind"]).collect();
    assert_eq!(kinds, ["how-much", "trend", "how-much"]);
    for answer in answers {
        assert!(answer["text"].as_str().unwrap().ends_with('.'), "{answer}");
    }
    let check = &json["count_check"];
    assert_eq!(check["acked"], check["on_brokers"]);
    assert!(
        check["text"].as_str().unwrap().starts_with("All "),
        "{check}"
    );
}
