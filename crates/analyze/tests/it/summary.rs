//! Summaries with known answers.

use kgauge_analyze::statistics::Steadiness;
use kgauge_analyze::summary::{
    FlowSteadiness, GeneratorState, GoalStatus, PublishedStatus, RunHeadline, Status, WarningKind,
};
use kgauge_analyze::{Series, Summary};
use kgauge_results::run::{RepeatOutcome, Replication};
use kgauge_results::{Stage, TimeKind};

use crate::made::{
    CLOSED, MS_NS, Made, PACED, SECOND_NS, closed, reader, stalled, whole_closed_run,
    whole_paced_run,
};
use crate::texts;
use kgauge_report::text;

fn near(value: f64, expected: f64, part: f64) {
    assert!(
        (value - expected).abs() <= expected.abs() * part,
        "{value} is not {expected} +- {part}"
    );
}

#[test]
fn a_stall_of_one_second_in_sixty_shows_as_theory_says() {
    let (_made, run) = whole_paced_run();
    let summary = Summary::of(&run);
    let flow = &summary.trials[0].flows[0];
    let response = flow.latencies.get(TimeKind::Response).unwrap();
    assert_eq!(response.count, 3 * 60_000);
    let p = |name: &str| {
        let percentile = response
            .percentiles
            .iter()
            .find(|p| p.name == name)
            .unwrap();
        percentile.value_ns as f64
    };
    // f = 1/60 of the records wait evenly between 0 and 1 s: p99 = 1 s * (1 - 0.01 / f).
    near(p("p99"), 400e6, 0.01);
    near(p("p99.9"), 940e6, 0.01);
    near(p("p50"), 1.001e6, 0.001);
    near(response.max_ns as f64, 1.001e9, 0.001);
    assert_eq!(response.max_at.at_ns, 20 * SECOND_NS);
    assert_eq!(response.max_at.repeat, 0);
    near(response.mean_ns, 1.001e6 + 1e9 / 2.0 / 60.0, 0.001);
    // The service time of a record that was sent into the stall is its response, less the lag.
    let service = flow.latencies.get(TimeKind::Service).unwrap();
    near(service.max_ns as f64, 1.001e9, 0.001);
}

#[test]
fn a_stored_summary_has_the_figures_of_a_list_of_runs() {
    let headline = |run| {
        let stored = serde_json::to_string(&Summary::of(run)).unwrap();
        RunHeadline::of_summary(&stored).unwrap()
    };
    let (_made, run) = whole_paced_run();
    let paced = headline(&run);
    assert_eq!((paced.scenarios, paced.trials), (1, 1));
    let (low, high) = paced.records_per_s.unwrap();
    near(low, 1_000.0, 0.001);
    assert_eq!(low, high);
    near(paced.p99_ns.unwrap().0, 400e6, 0.01);
    let (_made, run) = whole_closed_run();
    let closed = headline(&run);
    near(closed.records_per_s.unwrap().0, 10_000.0, 0.001);
    assert_eq!(
        closed.p99_ns, None,
        "the latency of a closed loop means nothing"
    );
    assert_eq!(closed.steadiness, Steadiness::Steady);
    let mut warming = Summary::of(&run);
    warming.trials[0].flows[0].steadiness = Some(FlowSteadiness {
        verdict: Steadiness::Warming,
        ..FlowSteadiness::default()
    });
    let stored = serde_json::to_string(&warming).unwrap();
    let warming = RunHeadline::of_summary(&stored).unwrap();
    assert_eq!(warming.steadiness, Steadiness::Warming);
    assert_eq!(RunHeadline::of_summary("{}"), None);
}

#[test]
fn records_are_accounted_for_and_throughput_has_its_interval() {
    let (_made, run) = whole_paced_run();
    let summary = Summary::of(&run);
    let trial = &summary.trials[0];
    let flow = &trial.flows[0];
    assert_eq!(flow.records.scheduled, 180_000);
    assert_eq!(flow.records.acked, 180_000);
    assert_eq!(flow.records_all_stages.scheduled, 186_000);
    assert_eq!(flow.records_all_stages.unresolved, 0);
    let throughput = flow.throughput.as_ref().unwrap();
    near(throughput.records_per_s.mean, 1_000.0, 0.000_1);
    assert_eq!(throughput.records_per_s.n, 3);
    assert!(throughput.records_per_s.ci95.is_some());
    near(throughput.logical_mb_per_s, 0.1, 0.000_1);
    near(
        throughput.wire_mib_per_s.unwrap(),
        0.2e6 / 1_048_576.0,
        0.000_1,
    );
    let counted = &trial.counted[0];
    assert_eq!((counted.acked, counted.on_broker), (62_000, Some(62_000)));
    assert_eq!(counted.agrees, Some(true));
    let batching = flow.batching.as_ref().unwrap();
    near(batching.records_per_request, 1.0, 0.0);
    // Half a core over 60,000 records in 60 s.
    let cpu = trial.cpu.generator_threads_ns_per_record.as_ref().unwrap();
    near(cpu.mean, 500_000.0, 0.001);
}

#[test]
fn goals_and_published_figures_get_a_word_and_a_reason() {
    let (_made, run) = whole_paced_run();
    let summary = Summary::of(&run);
    let trial = &summary.trials[0];
    let words = trial.goals.iter().map(|goal| goal.word).collect::<Vec<_>>();
    assert_eq!(words, [GoalStatus::Held, GoalStatus::NotHeld]);
    assert_eq!(
        text::goal::goal(&trial.goals[1]),
        "measured 1,000 records/s (95 % interval 1,000 to 1,000 records/s), goal at least 2,000 \
         records/s"
    );
    let words = trial
        .published
        .iter()
        .map(|figure| figure.word)
        .collect::<Vec<_>>();
    assert_eq!(words, [PublishedStatus::Agrees, PublishedStatus::Higher]);
    for published in &trial.published {
        let target = text::target::sentence(&summary.target);
        let why = text::goal::published(published, &target);
        assert!(why.contains("not Apache Kafka"), "{why}");
    }
    assert_eq!(summary.status, Status::GoalMissed);
    assert_eq!(summary.exit_status, 1);
}

#[test]
fn a_closed_loop_is_named_and_carries_littles_law() {
    let (_made, run) = whole_closed_run();
    let summary = Summary::of(&run);
    let trial = &summary.trials[0];
    let writers = &trial.flows[0];
    assert!(writers.closed_loop);
    let law = writers.little.as_ref().unwrap();
    near(law.in_flight_mean.unwrap(), 100.0, 0.000_1);
    near(law.records_per_s, 10_000.0, 0.000_1);
    near(law.service_mean_ns, 10e6, 0.000_1);
    assert_eq!(law.holds, Some(true));
    let sentence = text::flow::little(law, true);
    assert!(sentence.starts_with("Closed loop:"), "{sentence}");
    assert!(sentence.contains("100 records"), "{sentence}");
    assert!(writers.lateness.is_none());
    let response = writers.latencies.get(TimeKind::Response).unwrap();
    let lag = writers.latencies.get(TimeKind::Lag).unwrap();
    assert_eq!(
        (response.count, lag.count, lag.max_ns),
        (100_000, 100_000, 0)
    );
    assert_eq!(trial.published[0].word, PublishedStatus::NotComparable);

    let readers = &trial.flows[1];
    let throughput = readers.throughput.as_ref().unwrap();
    near(throughput.records_per_s.mean, 5_000.0, 0.000_1);
    near(
        throughput.wire_bytes_per_s.as_ref().unwrap().mean,
        600_000.0,
        0.000_1,
    );
    near(
        readers.batching.as_ref().unwrap().records_per_request,
        50.0,
        0.0,
    );
    assert!(readers.little.is_none() && readers.ack.is_none());
}

#[test]
fn an_ack_is_explained() {
    let (_made, run) = whole_paced_run();
    let summary = Summary::of(&run);
    let ack = summary.trials[0].flows[0].ack.as_ref().unwrap();
    let (promise, followers) = text::flow::ack(ack);
    assert_eq!(
        promise,
        "acks=all: acked by the leader, the only replica (flushing left to the operating system)."
    );
    assert_eq!(followers, "There are no followers.");
}

#[test]
fn failed_sends_make_a_failed_run_and_are_told_by_code() {
    let mut made = Made::begin(PACED);
    for repeat in 0..3 {
        made.repeat_with(
            repeat,
            |_, recorder| {
                stalled(recorder);
                recorder.scheduled(30 * SECOND_NS, 5);
                recorder.failed(30 * SECOND_NS, 31 * SECOND_NS, 3, 7);
                recorder.indeterminate(30 * SECOND_NS, 31 * SECOND_NS, 2, -101);
            },
            |record| record.topics[0].partitions[0].end_after = Some(31_012),
        );
    }
    let summary = Summary::of(&made.end());
    assert_eq!(
        (summary.status, summary.exit_status),
        (Status::SendsFailed, 1)
    );
    let trial = &summary.trials[0];
    let flow = &trial.flows[0];
    assert_eq!((flow.records.failed, flow.records.indeterminate), (9, 6));
    assert_eq!(flow.records.unresolved, 0);
    let names = flow
        .errors
        .iter()
        .map(|error| (error.name.as_str(), error.records));
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            ("REQUEST_TIMED_OUT", 9),
            ("disconnected before the answer", 6)
        ]
    );
    // Two more than acked, and two are in doubt.
    assert_eq!(trial.counted[0].agrees, Some(true));
}

#[test]
fn records_of_unknown_outcome_may_stand_in_for_missing_ones() {
    // Acked are all but two, of which nobody knows; the first partition began at offset 10.
    for (end, possibly_missing) in [(31_012, 0), (31_011, 1), (31_010, 2)] {
        let mut made = Made::begin(PACED);
        made.repeat_with(
            0,
            |_, recorder| {
                stalled(recorder);
                recorder.scheduled(30 * SECOND_NS, 2);
                recorder.indeterminate(30 * SECOND_NS, 31 * SECOND_NS, 2, -101);
            },
            |record| record.topics[0].partitions[0].end_after = Some(end),
        );
        let summary = Summary::of(&made.end());
        let counted = &summary.trials[0].counted[0];
        assert_eq!(counted.agrees, Some(true), "{end}");
        assert_eq!(counted.possibly_missing, possibly_missing, "{end}");
        let check = summary.count_check().unwrap();
        assert!(check.is_good());
        assert_eq!(check.is_proof(), possibly_missing == 0, "{end}");
    }
}

#[test]
fn brokers_that_count_fewer_records_than_were_acked_are_an_alarm() {
    let mut made = Made::begin(PACED);
    for repeat in 0..3 {
        made.repeat_with(
            repeat,
            |_, recorder| stalled(recorder),
            |record| record.topics[0].partitions[0].end_after = Some(31_009),
        );
    }
    let summary = Summary::of(&made.end());
    assert_eq!(summary.status, Status::SendsFailed);
    let warning = &summary.trials[0].warnings[0];
    assert_eq!(warning.kind(), WarningKind::CountsDisagree);
    assert_eq!(
        text::warning::with_flow(warning, Some(&summary.trials[0])),
        "Repeat 1: 62,000 records acked, but the brokers count 61,999 records."
    );
}

#[test]
fn a_generator_without_cpu_to_spare_is_the_limit() {
    let mut made = Made::begin(CLOSED);
    made.repeat_with(
        0,
        |flow, recorder| match flow {
            0 => closed(recorder),
            _ => reader(recorder),
        },
        |record| {
            record.topics.clear();
            let cpu = record.cpu.as_mut().unwrap();
            cpu.generator_thread_ns_max = cpu.span_ns * 97 / 100;
        },
    );
    let summary = Summary::of(&made.end());
    let trial = &summary.trials[0];
    assert_eq!(trial.generator.word, GeneratorState::Limited);
    let kinds = trial
        .warnings
        .iter()
        .map(|warning| warning.kind())
        .collect::<Vec<_>>();
    assert_eq!(kinds[0], WarningKind::GeneratorLimited);
}

#[test]
fn a_core_that_spins_between_sends_is_no_limit_of_the_generator() {
    let mut made = Made::begin(PACED);
    made.repeat_with(
        0,
        |_, recorder| stalled(recorder),
        |record| {
            let cpu = record.cpu.as_mut().unwrap();
            // A whole core: a tenth of it for 60,000 records in 60 s, the rest spun away.
            cpu.generator_threads_ns = cpu.span_ns / 10;
            cpu.generator_thread_ns_max = cpu.span_ns / 10;
            cpu.generator_spun_ns = Some(cpu.span_ns * 9 / 10);
            cpu.generator_process_ns = Some(cpu.span_ns);
        },
    );
    let summary = Summary::of(&made.end());
    let trial = &summary.trials[0];
    assert_eq!(trial.generator.word, GeneratorState::Fine);
    near(trial.cpu.generator_thread_use_max.unwrap(), 0.1, 1e-6);
    near(trial.cpu.generator_cores.unwrap(), 1.0, 1e-6);
    near(trial.cpu.generator_spun_cores.unwrap(), 0.9, 1e-6);
    // 0.1 cores over 1,000 records a second.
    for per_record in [
        &trial.cpu.generator_threads_ns_per_record,
        &trial.cpu.generator_process_ns_per_record,
    ] {
        near(per_record.as_ref().unwrap().mean, 100_000.0, 0.001);
    }
    let evidence = text::generator::evidence(trial).join(" ");
    assert!(evidence.contains("used 10 % of a core"), "{evidence}");
    assert!(
        evidence.contains("busy-waited for 90 % of a core"),
        "{evidence}"
    );
}

#[test]
fn a_late_generator_accuses_itself_unless_its_buffer_was_full() {
    let word = |blocked: bool| {
        let mut made = Made::begin(PACED);
        made.repeat(0, |_, recorder| {
            for index in 0..60_000_u64 {
                let intended_ns = 2 * SECOND_NS + index * MS_NS;
                // Every tenth record is 5 ms late.
                let late_ns = if index % 10 == 0 { 5 * MS_NS } else { 10 };
                let sent_ns = intended_ns + late_ns;
                recorder.acked(intended_ns, sent_ns, sent_ns + MS_NS, 1, 100);
                recorder.scheduled(intended_ns, 1);
                if blocked && index % 10 == 0 {
                    recorder.buffer_wait(sent_ns, 5 * MS_NS);
                }
            }
        });
        Summary::of(&made.end()).trials[0].generator.word
    };
    assert_eq!(word(false), GeneratorState::Late);
    assert_eq!(word(true), GeneratorState::Fine);
}

#[test]
fn a_flow_that_did_nothing_in_its_hold_has_a_throughput_of_zero() {
    let mut made = Made::begin(CLOSED);
    made.repeat(0, |flow, recorder| {
        if flow == 0 {
            closed(recorder);
        }
    });
    let summary = Summary::of(&made.end());
    let readers = &summary.trials[0].flows[1];
    assert_eq!(readers.throughput.as_ref().unwrap().records_per_s.mean, 0.0);
    assert!(readers.batching.is_none());
}

#[test]
fn followers_that_lag_are_a_warning() {
    let mut made = Made::begin(PACED);
    for repeat in 0..3 {
        made.repeat_with(
            repeat,
            |_, recorder| stalled(recorder),
            |record| {
                record.topics[0].facts.replication_factor = 3;
                record.replication = Some(Replication::Behind {
                    waited_ns: 5 * SECOND_NS,
                    records_missing_max: 70_000,
                });
            },
        );
    }
    let summary = Summary::of(&made.end());
    let behind = texts::warnings(&summary.trials[0], WarningKind::FollowersBehind);
    assert!(behind[0].contains("up to 70,000 records were missing"));
}

#[test]
fn a_failed_repeat_does_not_count_but_is_not_forgotten() {
    let mut made = Made::begin(PACED);
    made.repeat(0, |_, recorder| stalled(recorder));
    made.repeat_with(
        1,
        |_, recorder| recorder.failed(3 * SECOND_NS, 4 * SECOND_NS, 8, 7),
        |record| {
            record.outcome = RepeatOutcome::Failed {
                why: "the broker went away".to_owned(),
            };
        },
    );
    let summary = Summary::of(&made.end());
    assert_eq!((summary.status, summary.exit_status), (Status::Failed, 3));
    let trial = &summary.trials[0];
    assert_eq!((trial.repeats_planned, trial.repeats_measured), (3, 1));
    assert_eq!(trial.repeats.len(), 2);
    assert_eq!(trial.flows[0].records.failed, 0);
    assert_eq!(trial.flows[0].records_all_stages.failed, 8);
    let kinds = trial.warnings.iter().map(|warning| warning.kind());
    let kinds = kinds.collect::<Vec<_>>();
    assert!(kinds.contains(&WarningKind::RepeatsMissing));
    assert!(kinds.contains(&WarningKind::SingleRepeat));
}

#[test]
fn the_summary_of_a_folder_is_the_same_byte_for_byte() {
    let (made, run) = whole_paced_run();
    let first = serde_json::to_vec(&Summary::of(&run)).unwrap();
    let second = serde_json::to_vec(&Summary::of(&made.read())).unwrap();
    assert!(first == second);
}

#[test]
fn a_series_shows_the_stall_as_seconds_without_acks() {
    let (_made, run) = whole_paced_run();
    let series = Series::of(&run, 0);
    let repeat = &series.repeats[0];
    let flow = &repeat.flows[0];
    let hold = flow
        .seconds
        .iter()
        .filter(|second| second.stage == Stage::Hold);
    let hold = hold.collect::<Vec<_>>();
    assert_eq!(hold.len(), 60);
    let rate = |second: u64| {
        let point = hold
            .iter()
            .find(|point| point.start_ns == second * SECOND_NS);
        point.unwrap().records_per_s
    };
    near(rate(10), 1_000.0, 0.01);
    assert!(rate(20) < 10.0, "{}", rate(20));
    near(rate(21), 2_000.0, 0.01);
    let stalled = hold[18];
    assert_eq!(stalled.start_ns, 20 * SECOND_NS);
    let read = run.repeats[0].flows[&0].seconds.iter();
    let mut read = read.filter(|second| second.stage == Stage::Hold && second.second == 20);
    let times = &read.next().unwrap().times[&TimeKind::Response];
    near(times.p50_ns as f64, 0.5e9, 0.01);
    near(stalled.in_flight_mean, 500.0, 0.01);
    let cpu = &repeat.cpu[0].points;
    assert_eq!(cpu.len(), 2);
    near(cpu[0].user_cores, 0.5, 0.0);
}

#[test]
fn what_must_be_known_of_the_target_is_a_warning() {
    let mut made = Made::begin(PACED);
    let summary = Summary::of(&made.end());
    let note = summary
        .warnings
        .iter()
        .find(|warning| warning.kind() == WarningKind::TargetNote);
    let text = text::warning::with_flow(note.unwrap(), None);
    assert_eq!(
        text,
        "Brokers were not warmed before the first trial (warming=off)."
    );
}
