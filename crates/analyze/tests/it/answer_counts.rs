//! Answers that are counts and times: what was lost, and for how long nothing was acked.

use kgauge_analyze::Summary;
use kgauge_analyze::answer::{AnswerFacts, RecordMismatch, UncountedCause, UncountedTrial};
use kgauge_analyze::summary::{CountedOnBroker, RepeatOutage, TrialSummary};
use kgauge_results::Recorder;
use kgauge_results::run::{
    Event, EventKind, Evidence, EvidenceKind, PartitionChange, RepeatKey, Subject,
};
use kgauge_scenario::AnswerKind;

use crate::answer::{FAST, only, summary, trial};
use crate::made::{MS_NS, Made, PACED, SECOND_NS, record_one};

fn counted(acked: u64, on_broker: Option<u64>, agrees: Option<bool>) -> CountedOnBroker {
    CountedOnBroker {
        repeat: 0,
        acked,
        indeterminate: 0,
        on_broker,
        agrees,
        possibly_missing: 0,
    }
}

#[test]
fn the_count_check_adds_trials_and_names_those_that_disagree() {
    let of = |index: u32, counts: Vec<CountedOnBroker>| {
        let mut trial = trial(index, "one", &[], &FAST);
        trial.counted = counts;
        trial
    };
    let good = |acked| counted(acked, Some(acked), Some(true));
    let check = summary(vec![of(0, vec![good(100), good(50)]), of(1, vec![good(7)])]);
    let check = check.count_check().unwrap();
    assert!(check.is_good());
    assert_eq!((check.acked, check.on_brokers), (157, 157));
    assert_eq!((check.trials_counted, check.trials), (2, 2));

    let missing = counted(100, Some(88), Some(false));
    let extra = CountedOnBroker {
        repeat: 1,
        indeterminate: 2,
        ..counted(100, Some(105), Some(false))
    };
    let check = summary(vec![of(3, vec![missing, extra])]);
    let check = check.count_check().unwrap();
    assert!(!check.is_good());
    let mismatch = |repeat, records| RecordMismatch {
        trial: 3,
        repeat,
        records,
    };
    assert_eq!(check.missing, [mismatch(0, 12)]);
    assert_eq!(check.extra, [mismatch(1, 3)]);
    assert_eq!((check.records_missing(), check.records_extra()), (12, 3));

    assert_eq!(summary(vec![of(0, Vec::new())]).count_check(), None);
    let mut asks = of(0, vec![good(9)]);
    asks.asks = Some(AnswerKind::Loss);
    let answer = only(vec![asks]);
    assert_eq!(answer.facts.counts().unwrap().acked, 9);
}

#[test]
fn trials_that_cannot_be_counted_have_a_cause() {
    let uncounted = |count: CountedOnBroker, change: fn(&mut TrialSummary)| {
        let mut trial = trial(5, "one", &[], &FAST);
        trial.counted = vec![count];
        change(&mut trial);
        let check = summary(vec![trial]).count_check().unwrap();
        assert!(!check.is_good());
        assert_eq!((check.trials_counted, check.acked), (0, 0));
        check.uncounted
    };
    let expected = |cause| [UncountedTrial { trial: 5, cause }];
    let unknown = counted(9, None, None);
    assert_eq!(
        uncounted(unknown, |_| {}),
        expected(UncountedCause::OffsetsUnknown)
    );
    assert_eq!(
        uncounted(unknown, |trial| trial.repeats[0].outcome = None),
        expected(UncountedCause::NotComplete)
    );
    assert_eq!(
        uncounted(counted(9, Some(9), None), |trial| {
            trial.flows[0].ack.as_mut().unwrap().acks = "0".to_owned();
        }),
        expected(UncountedCause::AcksNone)
    );
    assert_eq!(
        uncounted(counted(9, Some(11), None), |_| {}),
        expected(UncountedCause::OtherClient)
    );
}

/// 1,000 records a second; those that are due from 20 s to 30 s are acked at 30 s.
fn killed(recorder: &mut Recorder) {
    for index in 0..62_000_u64 {
        let intended_ns = index * MS_NS;
        let awake_ns = match (20 * SECOND_NS..30 * SECOND_NS).contains(&intended_ns) {
            true => 30 * SECOND_NS,
            false => intended_ns,
        };
        record_one(recorder, index, intended_ns, intended_ns, awake_ns + MS_NS);
    }
}

/// The run of a scenario with faults, of one repeat with these events.
fn with_fault(fault: &str, events: &[(u64, EventKind)], moves: &[(u64, Option<i32>)]) -> Summary {
    let scenario = PACED.replace("repeats: 3", "repeats: 1");
    let mut made = Made::begin(&format!("{scenario}faults:\n  - {fault}\n"));
    made.repeat(0, |_, recorder| killed(recorder));
    let key = RepeatKey {
        trial: 0,
        repeat: 0,
    };
    for (at_ns, kind) in events {
        let event = Event {
            at_unix_ms: 1_000,
            repeat: Some(key),
            at_ns: Some(*at_ns),
            kind: kind.clone(),
        };
        made.folder.events().write(&event).unwrap();
    }
    for (at_ns, leader) in moves {
        let change = PartitionChange {
            topic: "kgauge-r1".to_owned(),
            leader_before: Some(1),
            leader: *leader,
            ..PartitionChange::default()
        };
        let evidence = Evidence {
            at_unix_ms: 1_000,
            repeat: Some(key),
            at_ns: Some(*at_ns),
            subject: Subject::Cluster { broker: None },
            kind: EvidenceKind::Partition(change),
        };
        made.folder.evidence().write(&evidence).unwrap();
    }
    Summary::of(&made.end())
}

fn fault_event() -> EventKind {
    EventKind::Fault {
        text: "node 1: kill".to_owned(),
        active: true,
        entry: Some(0),
        nodes: vec![1],
        bytes_lost: None,
        requests: None,
        records: None,
        stalls: Vec::new(),
    }
}

const KILL: &str = "{at: 18 s, node: 1, kill: true, restart-after: 5 s}";

#[test]
fn the_time_without_acks_is_from_the_fault_to_the_first_answer() {
    let fault_ns = 20 * SECOND_NS;
    let back = EventKind::BrokerBack {
        broker: 1,
        address: "127.0.0.1:9092".to_owned(),
        since_ns: fault_ns,
    };
    let events = [(fault_ns, fault_event()), (30 * SECOND_NS + MS_NS, back)];
    let moves = [(25 * SECOND_NS, None), (31 * SECOND_NS, Some(2))];
    let found = with_fault(KILL, &events, &moves);
    let expected = RepeatOutage {
        repeat: 0,
        fault_ns,
        // The last ack came 1 ms after the fault.
        without_acks_ns: 10 * SECOND_NS,
        is_exact: true,
        has_recovered: true,
        new_leaders_ns: Some(11 * SECOND_NS),
        longest_response_ns: found.trials[0].outages[0].longest_response_ns,
    };
    assert_eq!(found.trials[0].outages, [expected]);
    // Histograms are exact to a thousandth.
    let longest = expected.longest_response_ns.unwrap() as f64;
    assert!((longest / 10.001e9 - 1.0).abs() < 0.002, "{longest}");
    let answer = found.answers().remove(0);
    let AnswerFacts::Outage {
        outage: Some(outage),
        ..
    } = &answer.facts
    else {
        panic!("{answer:?}");
    };
    let [outage] = outage.as_slice() else {
        panic!("{outage:?}");
    };
    assert_eq!(outage.without_acks_ns.mean, 10e9);
    assert_eq!((outage.is_exact, outage.not_recovered), (true, 0));
    assert_eq!(outage.new_leaders_ns.as_ref().unwrap().mean, 11e9);
}

#[test]
fn each_trial_has_its_own_time_without_acks() {
    let outage = |repeat: u32, seconds: u64| RepeatOutage {
        repeat,
        fault_ns: 20 * SECOND_NS,
        without_acks_ns: seconds * SECOND_NS,
        is_exact: true,
        has_recovered: true,
        new_leaders_ns: None,
        longest_response_ns: None,
    };
    let of = |index: u32, acks: &str, seconds: u64| {
        let factors = [("writers.settings.acks", acks)];
        let mut trial = trial(index, "one", &factors, &FAST);
        trial.asks = Some(AnswerKind::Outage);
        trial.outages = vec![outage(0, seconds), outage(1, seconds)];
        trial
    };
    let answer = only(vec![of(0, "1", 2), of(1, "all", 10)]);
    let AnswerFacts::Outage {
        outage: Some(outages),
        ..
    } = &answer.facts
    else {
        panic!("{answer:?}");
    };
    let times = outages
        .iter()
        .map(|one| (one.trial, one.without_acks_ns.mean));
    assert_eq!(times.collect::<Vec<_>>(), [(0, 2e9), (1, 10e9)]);
}

#[test]
fn without_a_sign_of_the_first_answer_the_time_is_known_to_the_second() {
    let found = with_fault(KILL, &[(20 * SECOND_NS + MS_NS, fault_event())], &[]);
    let outage = found.trials[0].outages[0];
    assert_eq!(outage.without_acks_ns, 10 * SECOND_NS - MS_NS);
    assert!(!outage.is_exact && outage.has_recovered);
    assert_eq!(outage.new_leaders_ns, None);
}

#[test]
fn faults_of_requests_are_no_outage() {
    let slow = "{at: 18 s, node: 1, delay: 5 ms}";
    let found = with_fault(slow, &[(20 * SECOND_NS, fault_event())], &[]);
    assert!(found.trials[0].outages.is_empty());
    assert_eq!(found.answers()[0].facts.kind(), AnswerKind::HowMuch);
}
