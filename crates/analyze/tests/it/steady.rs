//! Figures of a system that was still changing.

use kgauge_analyze::Summary;
use kgauge_analyze::answer::AnswerDoubtCause;
use kgauge_analyze::statistics::Steadiness;
use kgauge_analyze::summary::{GoalStatus, PublishedStatus, WarningKind};
use kgauge_results::PaceSeries;
use kgauge_results::folder::RunRead;
use kgauge_results::run::{Event, EventKind, OutageCause, RepeatKey};

use crate::made::{MS_NS, Made, PACED, SECOND_NS};

/// Three repeats; each has so many records per tenth of a second, `factor` times as many at the end as at the start.
fn run(records_per_bin: [u64; 3], factor: f64) -> Summary {
    run_of(PACED, records_per_bin, factor)
}

fn run_of(scenario: &str, records_per_bin: [u64; 3], factor: f64) -> Summary {
    // A little noise: a series without any would be suspicious.
    run_with(
        scenario,
        records_per_bin,
        |bin, records| {
            let grown = 1.0 + (factor - 1.0) * bin as f64 / 620.0;
            (records as f64 * grown) as u64 + bin % 3
        },
        |_| {},
    )
}

/// Three repeats with so many records in each tenth of a second, from the repeat's own number.
fn run_with(
    scenario: &str,
    records_per_bin: [u64; 3],
    in_bin: impl Fn(u64, u64) -> u64,
    change: impl Fn(&mut PaceSeries),
) -> Summary {
    Summary::of(&read_with(scenario, records_per_bin, in_bin, change))
}

fn read_with(
    scenario: &str,
    records_per_bin: [u64; 3],
    in_bin: impl Fn(u64, u64) -> u64,
    change: impl Fn(&mut PaceSeries),
) -> RunRead {
    let mut made = Made::begin(scenario);
    for (repeat, records) in records_per_bin.into_iter().enumerate() {
        let repeat = repeat as u32;
        let load = |_: usize, recorder: &mut kgauge_results::Recorder| {
            for second in 2..62 {
                let at_ns = second * SECOND_NS;
                recorder.scheduled(at_ns, records);
                recorder.sent(at_ns, records);
                recorder.acked(at_ns, at_ns, at_ns + MS_NS, records, 100 * records);
            }
        };
        made.repeat_with(repeat, load, |record| {
            let mut pace = PaceSeries::default();
            for bin in 0..620_u64 {
                pace.note(bin * 100 * MS_NS, in_bin(bin, records), 5 * MS_NS);
            }
            change(&mut pace);
            record.flows[0].pace = Some(pace);
        });
    }
    made.end()
}

fn kinds(summary: &Summary) -> Vec<WarningKind> {
    let warnings = summary.trials[0].warnings.iter();
    warnings.map(|warning| warning.kind()).collect()
}

#[test]
fn a_level_load_is_steady_and_compared() {
    let summary = run([1_000, 1_010, 990], 1.0);
    let flow = &summary.trials[0].flows[0];
    let steadiness = flow.steadiness.as_ref().unwrap();
    assert_eq!(steadiness.verdict, Steadiness::Steady, "{steadiness:?}");
    assert_eq!(steadiness.repeats[0].warm_up_ns, 2 * SECOND_NS);
    assert!(!steadiness.repeats[0].limit_reached);
    assert!(!kinds(&summary).contains(&WarningKind::NotSteady));
    assert!(summary.trials[0].published[0].ratio.is_some());
}

#[test]
fn a_load_that_grows_while_it_is_measured_is_no_result() {
    let summary = run([1_000, 1_010, 990], 2.0);
    let trial = &summary.trials[0];
    let steadiness = trial.flows[0].steadiness.as_ref().unwrap();
    assert_eq!(steadiness.verdict, Steadiness::Warming);
    assert!(kinds(&summary).contains(&WarningKind::NotSteady));
    for published in &trial.published {
        assert_eq!(published.word, PublishedStatus::NotComparable);
        assert_eq!(published.ratio, None);
    }
}

#[test]
fn after_an_outage_neither_warm_up_nor_hold_is_to_blame() {
    let growing = |bin: u64, records: u64| records + 2 * bin;
    let mut read = read_with(PACED, [1_000, 1_010, 990], growing, |_| {});
    let of = |read: &RunRead| {
        let summary = Summary::of(read);
        let answers = summary.answers();
        let doubts = answers[0].doubts.iter().map(|doubt| doubt.cause);
        (kinds(&summary), doubts.collect::<Vec<_>>())
    };
    let (warnings, doubts) = of(&read);
    assert!(warnings.contains(&WarningKind::NotSteady), "{warnings:?}");
    assert!(doubts.contains(&AnswerDoubtCause::NotSteady), "{doubts:?}");
    read.events.push(Event {
        at_unix_ms: 1_000,
        repeat: Some(RepeatKey {
            trial: 0,
            repeat: 1,
        }),
        at_ns: Some(20 * SECOND_NS),
        kind: EventKind::BrokerUnreachable {
            broker: 0,
            address: "127.0.0.1:9092".to_owned(),
            since_ns: 18 * SECOND_NS,
            cause: OutageCause::Silent,
            partitions: 2,
            partitions_without_leader: None,
        },
    });
    let (warnings, doubts) = of(&read);
    assert!(warnings.contains(&WarningKind::BrokerOutage));
    assert!(!warnings.contains(&WarningKind::NotSteady), "{warnings:?}");
    assert!(
        doubts.contains(&AnswerDoubtCause::BrokerOutage),
        "{doubts:?}"
    );
    assert!(!doubts.contains(&AnswerDoubtCause::NotSteady), "{doubts:?}");
}

#[test]
fn a_rate_that_falls_when_the_first_client_is_done_is_no_change_of_the_target() {
    // Of three clients one is done after 40 s: a third fewer records from then on.
    let verdict = |first_done_ns: Option<u64>| {
        let falling = |bin: u64, records: u64| match bin {
            0..400 => records + bin % 3,
            _ => records * 2 / 3 + bin % 3,
        };
        let change = |pace: &mut PaceSeries| pace.first_done_ns = first_done_ns;
        let summary = run_with(PACED, [1_000, 1_010, 990], falling, change);
        let flow = &summary.trials[0].flows[0];
        flow.steadiness
            .as_ref()
            .map(|steadiness| steadiness.verdict)
    };
    assert_eq!(verdict(Some(40 * SECOND_NS)), Some(Steadiness::Steady));
    let unexplained = verdict(None);
    assert!(
        unexplained.is_some_and(|verdict| !verdict.is_usable()),
        "{unexplained:?}"
    );
    // A time before the hold leaves nothing to judge.
    assert_eq!(verdict(Some(SECOND_NS)), Some(Steadiness::Undecided));
}

#[test]
fn a_goal_is_held_only_if_the_change_could_not_break_it() {
    // 1 ms was measured, and the throughput nearly doubled meanwhile.
    let word = |goal: &str, factor: f64| {
        let scenario = PACED.replace("<= 450 ms", goal);
        run_of(&scenario, [1_000, 1_010, 990], factor).trials[0].goals[0].word
    };
    assert_eq!(word("<= 450 ms", 2.0), GoalStatus::Held);
    assert_eq!(word("<= 1200 us", 2.0), GoalStatus::Undecided);
    assert_eq!(word("<= 1200 us", 1.0), GoalStatus::Held);
    assert_eq!(word("<= 800 us", 2.0), GoalStatus::NotHeld);
}

#[test]
fn repeats_that_each_beat_the_one_before_are_a_system_that_warms_up() {
    let summary = run([210, 382, 1_342], 1.0);
    let steadiness = summary.trials[0].flows[0].steadiness.as_ref().unwrap();
    assert_eq!(steadiness.verdict, Steadiness::Warming);
    // From 210 to 1,342: 539 % more. The noise adds one record per bin on average.
    let change = steadiness.throughput_over_repeats.unwrap();
    assert!((5.3..5.4).contains(&change), "{change}");
    assert!(kinds(&summary).contains(&WarningKind::NotSteady));
}
