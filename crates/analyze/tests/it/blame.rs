//! Whose doing it was: dead and paused brokers, a starved generator, neighbours that take the machine.

use kgauge_analyze::summary::{
    Bottleneck, ClientWait, GeneratorState, GoalStatus, LatenessCause, Summary, TrialSummary,
    WarningKind,
};
use kgauge_results::metrics::{MetricId, Readings};
use kgauge_results::run::{
    BrokerRecord, ClientSample, Event, EventKind, Evidence, EvidenceKind, IdleTime,
    OtherProgramsSample, OutageCause, ProgramUse, RepeatKey, Subject,
};
use kgauge_results::{RecordLateness, Recorder, RunRead};

use crate::made::{CLOSED, MS_NS, Made, PACED, SECOND_NS, closed, plan};
use crate::texts::{self, LimitText};

const KEY: RepeatKey = RepeatKey {
    trial: 0,
    repeat: 0,
};

/// 1,000 records a second for 10 s.
fn short() -> String {
    let stages = "stages: {warm-up: 2 s, hold: 60 s, drain: 5 s}\nrepeats: 3\n";
    let shorter = "stages: {warm-up: 0 s, hold: 10 s, drain: 5 s}\nrepeats: 1\n";
    PACED.replace(stages, shorter)
}

/// What writers did whose records are acked after a millisecond; what `change` makes of the moments of a record: when
/// it was sent, and when it was acked, if at all.
fn paced(
    recorder: &mut Recorder,
    lateness: RecordLateness,
    change: impl Fn(u64) -> (u64, Option<u64>),
) {
    for index in 0..10_000_u64 {
        let intended_ns = index * MS_NS;
        let (sent_ns, acked_ns) = change(intended_ns);
        recorder.scheduled(intended_ns, 1);
        if sent_ns > intended_ns + MS_NS {
            recorder.late_each(&[intended_ns], lateness);
        }
        recorder.sent(sent_ns, 1);
        let end_ns = acked_ns.unwrap_or(15 * SECOND_NS);
        recorder.in_flight(sent_ns, end_ns, end_ns - sent_ns);
        if let Some(acked_ns) = acked_ns {
            recorder.acked(intended_ns, sent_ns, acked_ns, 1, 100);
        }
    }
}

fn evidence(second: u64, subject: Subject, kind: EvidenceKind) -> Evidence {
    Evidence {
        at_unix_ms: 1_000,
        repeat: Some(KEY),
        at_ns: Some(second * SECOND_NS),
        subject,
        kind,
    }
}

/// What each of two processors used in each second, in ms: generator, target and all others by the record; so much is
/// idle.
fn with_machine(run: &mut RunRead, idle_ms: u64, queued_ms: u64) {
    for second in 0..=10 {
        let busy_ns = second * (2_000 - idle_ms) * MS_NS;
        let kinds = [
            (
                Subject::Host,
                EvidenceKind::Idle(IdleTime {
                    values: Readings::from([(MetricId::CpuIdle, second * idle_ms * MS_NS)]),
                }),
            ),
            (
                Subject::Host,
                EvidenceKind::Cpu {
                    user_ns: busy_ns,
                    system_ns: 0,
                },
            ),
            (
                Subject::GeneratorThread { thread: 0 },
                EvidenceKind::RunQueue {
                    waited_ns: second * queued_ms * MS_NS,
                },
            ),
        ];
        let seen = kinds.map(|(subject, kind)| evidence(second, subject, kind));
        run.evidence.extend(seen);
    }
    let programs = OtherProgramsSample {
        span_ns: 10 * SECOND_NS,
        others_ns: 10 * SECOND_NS,
        started_ns: 0,
        programs: vec![ProgramUse {
            name: "rustc".to_owned(),
            cpu_ns: 9 * SECOND_NS,
        }],
    };
    let kind = EvidenceKind::Programs(programs);
    run.evidence.push(evidence(10, Subject::Host, kind));
}

fn trial(run: &RunRead) -> TrialSummary {
    Summary::of(run).trials[0].clone()
}

fn kinds(trial: &TrialSummary) -> Vec<WarningKind> {
    trial
        .warnings
        .iter()
        .map(|warning| warning.kind())
        .collect()
}

/// A broker that does not answer from 4 s on.
fn with_dead_broker(scenario: &str) -> (Made, RunRead) {
    let mut made = Made::begin(scenario);
    made.repeat(0, |_, recorder| {
        paced(recorder, RecordLateness::Waited, |at_ns| {
            let acked_ns = (at_ns < 4 * SECOND_NS).then_some(at_ns + MS_NS);
            (at_ns, acked_ns)
        });
    });
    let run = made.end();
    (made, run)
}

fn outage(back_s: Option<u64>) -> Vec<Event> {
    let event = |at_s: u64, kind| Event {
        at_unix_ms: 1_000,
        repeat: Some(KEY),
        at_ns: Some(at_s * SECOND_NS),
        kind,
    };
    let address = "127.0.0.1:9092".to_owned();
    let mut events = vec![event(
        6,
        EventKind::BrokerUnreachable {
            broker: 0,
            address: address.clone(),
            since_ns: 4 * SECOND_NS,
            cause: OutageCause::Unconnected,
            partitions: 2,
            partitions_without_leader: Some(2),
        },
    )];
    events.extend(back_s.map(|back_s| {
        let back = EventKind::BrokerBack {
            broker: 0,
            address,
            since_ns: 4 * SECOND_NS,
        };
        event(back_s, back)
    }));
    events
}

#[test]
fn a_dead_broker_is_named_and_neither_generator_nor_processors_are_blamed() {
    let (_made, mut run) = with_dead_broker(&short());
    run.events.extend(outage(None));
    // The machine is full of other programs too: that is not why nothing was acked.
    with_machine(&mut run, 20, 0);
    let trial = trial(&run);
    let limit = LimitText::of(&trial);
    assert_eq!(limit.word, Bottleneck::Broker, "{limit:?}");
    assert_eq!(
        limit.sentence,
        "Bottleneck: an outage (broker 0 at 127.0.0.1:9092 did not respond for 6.00 s of 10.0 s \
         (connections failed))."
    );
    assert_eq!(trial.generator.word, GeneratorState::Fine);
    let kinds = kinds(&trial);
    assert!(kinds.contains(&WarningKind::BrokerOutage), "{kinds:?}");
    // Nothing was steady, and no longer hold would make it so.
    assert!(!kinds.contains(&WarningKind::LittlesLawBroken), "{kinds:?}");
}

#[test]
fn an_outage_with_two_symptoms_counts_once() {
    let (_made, mut run) = with_dead_broker(&short());
    // First connections fail, then they open but nothing arrives; the broker answers again 2 s before the hold's end.
    let mut events = outage(None);
    let mut second = events[0].clone();
    if let EventKind::BrokerUnreachable {
        since_ns, cause, ..
    } = &mut second.kind
    {
        (*since_ns, *cause) = (5 * SECOND_NS, OutageCause::Silent);
    }
    second.at_ns = Some(7 * SECOND_NS);
    events.push(second);
    let mut back = outage(Some(8)).remove(1);
    if let EventKind::BrokerBack { since_ns, .. } = &mut back.kind {
        *since_ns = 5 * SECOND_NS;
    }
    events.push(back);
    run.events.extend(events);
    let trial = trial(&run);
    assert_eq!(
        LimitText::of(&trial).sentence,
        "Bottleneck: an outage (broker 0 at 127.0.0.1:9092 did not respond for 4.00 s of 10.0 s \
         (connections failed))."
    );
    let outages = kinds(&trial);
    let outages = outages
        .iter()
        .filter(|kind| **kind == WarningKind::BrokerOutage);
    assert_eq!(outages.count(), 1);
}

#[test]
fn seconds_without_an_ack_are_an_outage_though_nobody_noticed_one() {
    let (_made, run) = with_dead_broker(&short());
    let limit = texts::limit(&run);
    assert_eq!(limit.word, Bottleneck::Broker, "{limit:?}");
    // The last ack came at the very beginning of the fifth second.
    assert_eq!(
        limit.sentence,
        "Bottleneck: an outage (the target did not respond for 5.00 s of 10.0 s)."
    );
}

#[test]
fn an_outage_that_the_scenario_made_is_its_own_doing() {
    let (_made, mut run) = with_dead_broker(&short());
    run.events.extend(outage(None));
    let faults = "repeats: 1\nfaults:\n  - {at: 4 s, node: 1, crash: true, restart-after: 1 s}\n";
    run.plan = Some(plan(&short().replace("repeats: 1\n", faults)));
    let trial = trial(&run);
    let limit = LimitText::of(&trial);
    assert_eq!(limit.word, Bottleneck::Broker, "{limit:?}");
    let sentence = limit.sentence;
    assert!(
        sentence.starts_with("Bottleneck: the fault that the scenario injected (broker 0"),
        "{sentence}"
    );
    let kinds = kinds(&trial);
    assert!(!kinds.contains(&WarningKind::LittlesLawBroken), "{kinds:?}");
}

#[test]
fn a_rate_that_was_not_kept_under_faults_is_the_targets_or_theirs() {
    let mut made = Made::begin(&short());
    made.repeat(0, |_, recorder| {
        paced(recorder, RecordLateness::Waited, |at_ns| {
            // Half of the rate, evenly: answers come, and ever later.
            (at_ns, Some(2 * at_ns + MS_NS))
        });
    });
    let mut run = made.end();
    with_machine(&mut run, 1_000, 0);
    let faults = "repeats: 1\nfaults:\n  - {at: start, node: all, api: produce, delay: 50 ms}\n";
    run.plan = Some(plan(&short().replace("repeats: 1\n", faults)));
    let limit = texts::limit(&run);
    assert_eq!(limit.word, Bottleneck::Target, "{limit:?}");
    assert!(
        limit
            .sentence
            .ends_with("The injected faults may be the cause.")
    );
}

#[test]
fn an_outage_that_was_made_up_for_limited_nothing_for_good() {
    let mut made = Made::begin(&short());
    made.repeat(0, |_, recorder| {
        paced(recorder, RecordLateness::Waited, |at_ns| {
            let is_out = (4 * SECOND_NS..7 * SECOND_NS).contains(&at_ns);
            let acked_ns = if is_out { 7 * SECOND_NS } else { at_ns };
            (at_ns, Some(acked_ns + MS_NS))
        });
    });
    let mut run = made.end();
    run.events.extend(outage(Some(7)));
    let limit = texts::limit(&run);
    assert_eq!(limit.word, Bottleneck::Load, "{limit:?}");
    let sentence = limit.sentence;
    assert!(sentence.starts_with("No lasting bottleneck"), "{sentence}");
    assert!(
        sentence.contains("broker 0 at 127.0.0.1:9092 did not respond for 3.00 s"),
        "{sentence}"
    );
}

/// Every tenth record is 5 ms late.
fn late(lateness: RecordLateness) -> (Made, RunRead) {
    late_and_skipped(lateness, 0)
}

/// The same, and so many records besides that were too late to be sent.
fn late_and_skipped(lateness: RecordLateness, records: u64) -> (Made, RunRead) {
    let mut made = Made::begin(&short());
    made.repeat(0, |_, recorder| {
        paced(recorder, lateness, |at_ns| {
            let is_late = (at_ns / MS_NS).is_multiple_of(10);
            let sent_ns = at_ns + if is_late { 5 * MS_NS } else { 10 };
            (sent_ns, Some(sent_ns + MS_NS))
        });
        let last_ns = 9_999 * MS_NS;
        recorder.scheduled(last_ns, records);
        match lateness {
            RecordLateness::HadRoom => recorder.skipped(last_ns, records),
            RecordLateness::Waited => recorder.skipped_waiting(last_ns, records),
        }
    });
    let run = made.end();
    (made, run)
}

#[test]
fn records_that_waited_for_room_are_the_targets_doing_by_what_was_waited_for() {
    let waiting = |of: fn(u64) -> ClientSample| {
        let (_made, mut run) = late(RecordLateness::Waited);
        run.evidence.extend((0..=10).map(|second| {
            let look = ClientSample {
                looks: 20 * second,
                looks_waiting: 10 * second,
                ..of(second)
            };
            evidence(
                second,
                Subject::Flow { flow: 0 },
                EvidenceKind::Client(look),
            )
        }));
        let trial = trial(&run);
        assert_eq!(trial.generator.word, GeneratorState::Fine);
        assert!(!kinds(&trial).contains(&WarningKind::GeneratorLate));
        let lateness = trial.flows[0].lateness.unwrap();
        assert_eq!(lateness.waiting_time_part, 0.5);
        lateness.blame
    };
    let target = |waited_for| LatenessCause::Target { waited_for };
    assert_eq!(
        waiting(|_| ClientSample::default()),
        target(ClientWait::Response)
    );
    let unconnected = |second| ClientSample {
        looks_unconnected: 9 * second,
        ..ClientSample::default()
    };
    assert_eq!(waiting(unconnected), target(ClientWait::Connection));
    let leaderless = |second| ClientSample {
        looks_leaderless: 6 * second,
        ..ClientSample::default()
    };
    assert_eq!(waiting(leaderless), target(ClientWait::Leader));
    let throttled = |second| ClientSample {
        looks_throttled: 6 * second,
        ..ClientSample::default()
    };
    assert_eq!(waiting(throttled), target(ClientWait::Throttle));
}

#[test]
fn a_generator_with_room_and_free_processors_accuses_itself() {
    let (_made, mut run) = late(RecordLateness::HadRoom);
    with_machine(&mut run, 1_000, 0);
    let trial = trial(&run);
    assert_eq!(trial.generator.word, GeneratorState::Late);
    assert_eq!(
        trial.generator.blame,
        LatenessCause::Generator { is_busy: false }
    );
    assert!(kinds(&trial).contains(&WarningKind::GeneratorLate));
    // All was acked: but "in time" it was not.
    let limit = LimitText::of(&trial);
    assert_eq!(limit.word, Bottleneck::Load);
    assert_eq!(
        limit.sentence,
        "No throughput bottleneck: all records due were acked, but some were sent late. Cause: \
         the generator."
    );
}

#[test]
fn skipped_records_blame_and_remedy_follow_their_cause() {
    let found = |lateness, queued_ms| {
        let (_made, mut run) = late_and_skipped(lateness, 500);
        with_machine(&mut run, if queued_ms > 0 { 100 } else { 1_000 }, queued_ms);
        let trial = trial(&run);
        let mut warnings = trial.warnings.iter();
        let skipped = warnings.find(|one| one.kind() == WarningKind::RecordsSkipped);
        let skipped = skipped.unwrap();
        let text = kgauge_report::text::warning::with_flow(skipped, Some(&trial));
        let remedy = kgauge_report::text::warning::remedy(&skipped.finding);
        (text, remedy)
    };
    let because = |cause: &str| {
        format!("writers: 500 records skipped because they were too late. Cause: {cause}.")
    };
    let (text, remedy) = found(RecordLateness::Waited, 0);
    assert_eq!(text, because("the target: the client's buffer was full"));
    assert_eq!(
        remedy,
        "The target did not sustain the offered load; lower the rate."
    );
    let (text, remedy) = found(RecordLateness::HadRoom, 0);
    assert_eq!(text, because("the generator"));
    assert!(remedy.starts_with("Check what stopped kgauge"), "{remedy}");
    let (text, remedy) = found(RecordLateness::HadRoom, 80);
    assert_eq!(text, because("other load on this host, which took CPU"));
    assert_eq!(
        remedy,
        "Stop it or use an idle host, and rerun. A lower rate does not help."
    );
}

#[test]
fn a_goal_is_not_missed_by_a_delay_of_others_than_the_target() {
    // Records take 1 ms from their send, and every tenth was sent 5 ms late.
    let judged = |lateness, goal: &str| {
        let (_made, mut run) = late(lateness);
        with_machine(&mut run, 1_000, 0);
        run.plan = Some(plan(&short().replace("<= 450 ms", goal)));
        trial(&run).goals[0].clone()
    };
    let found = judged(RecordLateness::HadRoom, "<= 3 ms");
    assert_eq!(found.word, GoalStatus::Undecided);
    let by_generator = LatenessCause::Generator { is_busy: false };
    assert_eq!(found.delayed_by, Some(by_generator));
    let text = kgauge_report::text::goal::goal(&found);
    let reason = "; inconclusive because records were sent late (cause: the generator)";
    assert!(text.ends_with(reason), "{text}");
    // Held in spite of the delay, missed because of the target, and missed without the delay too.
    for (lateness, goal, word) in [
        (RecordLateness::HadRoom, "<= 450 ms", GoalStatus::Held),
        (RecordLateness::Waited, "<= 3 ms", GoalStatus::NotHeld),
        (RecordLateness::HadRoom, "<= 500 us", GoalStatus::NotHeld),
    ] {
        let found = judged(lateness, goal);
        assert_eq!((found.word, found.delayed_by), (word, None), "{goal}");
    }
}

#[test]
fn neighbours_that_keep_the_generator_from_its_processor_are_named() {
    let (_made, mut run) = late(RecordLateness::HadRoom);
    // Ready to run and without a processor for 6 % of the time: that explains 10 % of late records.
    with_machine(&mut run, 100, 60);
    let trial = trial(&run);
    assert_eq!(trial.generator.word, GeneratorState::Crowded);
    let LatenessCause::OtherPrograms { cores } = trial.generator.blame else {
        panic!("{:?}", trial.generator.blame);
    };
    // 1.9 busy, of which the generator used 0.6 and the target 0.2.
    assert!((cores - 1.1).abs() < 1e-9, "{cores}");
    let warnings = texts::warnings(&trial, WarningKind::OtherPrograms);
    let shares = "the generator used 0.60, the target 0.20, other programs 1.10 (mostly rustc), \
                  0.10 were idle.";
    assert!(warnings[0].contains(shares), "{warnings:?}");
    assert!(!kinds(&trial).contains(&WarningKind::GeneratorLate));
}

#[test]
fn a_flow_that_did_nothing_names_no_bottleneck() {
    let mut made = Made::begin(CLOSED);
    made.repeat_with(
        0,
        |flow, recorder| {
            if flow == 0 {
                closed(recorder);
            }
        },
        |record| record.topics.clear(),
    );
    let mut run = made.end();
    with_machine(&mut run, 20, 0);
    let limit = texts::limit(&run);
    assert_eq!(limit.word, Bottleneck::Undecided, "{limit:?}");
    assert_eq!(
        limit.sentence,
        "Bottleneck: undetermined; readers did nothing during the hold."
    );
}

#[test]
fn brokers_that_share_fewer_processors_than_they_are_come_first() {
    let (_made, mut run) = late(RecordLateness::Waited);
    let target = &mut run.environment.as_mut().unwrap().target;
    let broker = |id: i32| BrokerRecord {
        id,
        ..target.brokers[0].clone()
    };
    target.brokers = vec![broker(0), broker(1)];
    let first = |run: &RunRead| Summary::of(run).warnings[0].clone();
    assert_ne!(first(&run).kind(), WarningKind::CoresShared);
    let target = &mut run.environment.as_mut().unwrap().target;
    target.brokers.push(target.brokers[0].clone());
    let warning = first(&run);
    assert_eq!(warning.kind(), WarningKind::CoresShared);
    assert_eq!(
        kgauge_report::text::warning::with_flow(&warning, None),
        "3 brokers and the load generator shared 2 processors: the figures do not carry over to 3 \
         machines."
    );
    let target = &mut run.environment.as_mut().unwrap().target;
    target.same_machine = Some(false);
    assert_ne!(first(&run).kind(), WarningKind::CoresShared);
}
