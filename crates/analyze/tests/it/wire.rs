//! What clients hold and what brokers tell: from lines of evidence and slices to series, means and warnings.

use kgauge_analyze::Series;
use kgauge_analyze::series::{client_hold, wire_hold};
use kgauge_analyze::summary::{Summary, WarningKind};
use kgauge_results::RunRead;
use kgauge_results::run::{
    ClientSample, Evidence, EvidenceKind, GroupSample, MissingEvidence, PartitionChange, RepeatKey,
    Subject, TopicReplicasSample, TopicSample,
};

use crate::made::{MS_NS, Made, PACED, SECOND_NS, stalled, whole_closed_run, whole_paced_run};
use crate::texts;

const KEY: RepeatKey = RepeatKey {
    trial: 0,
    repeat: 0,
};

fn see(run: &mut RunRead, second: u64, subject: Subject, kind: EvidenceKind) {
    run.evidence.push(Evidence {
        at_unix_ms: 1_000 + second * 1_000,
        repeat: Some(KEY),
        at_ns: Some(second * SECOND_NS),
        subject,
        kind,
    });
}

const CLUSTER: Subject = Subject::Cluster { broker: None };

/// The topic takes 1,000 records a second.
fn topic(second: u64, under_replicated: u32) -> EvidenceKind {
    EvidenceKind::Topic(TopicSample {
        partitions: 6,
        replicas: 18,
        in_sync: 18 - under_replicated,
        under_replicated,
        log_end_sum: Some(1_000 * second),
        ..TopicSample::default()
    })
}

fn replicas(log_bytes: u64, lag_records: u64) -> EvidenceKind {
    EvidenceKind::Replicas(TopicReplicasSample {
        log_bytes: Some(log_bytes),
        lag_records: Some(lag_records),
        lag_records_max: Some(lag_records / 2),
        ..TopicReplicasSample::default()
    })
}

#[test]
fn batches_and_requests_are_told_by_the_slices() {
    // A batch, of 200 bytes on the wire and one record, in each request; batch.size is 16,384.
    let (_made, run) = whole_paced_run();
    let hold = client_hold(&run, KEY, 0).unwrap();
    let figures = hold.figures;
    assert_eq!(figures.batch_fill_part, Some(200.0 / 16_384.0));
    assert_eq!(figures.records_per_request, Some(1.0));
    assert_eq!(figures.records_per_batch, Some(1.0));
    assert!(
        (figures.requests_per_s - 1_000.0).abs() < 1.0,
        "{figures:?}"
    );
    assert_eq!(
        (figures.throttle_part, figures.buffer_wait_ns_mean),
        (0.0, None)
    );
    // The run has no samples of what producers hold.
    assert_eq!((hold.buffer_part, hold.in_flight_part), (None, None));
    let clients = &Series::of(&run, 0).repeats[0].clients[0];
    assert_eq!((clients.flow, clients.held.len()), (0, 0));
    let tenth = clients.seconds[10];
    assert_eq!(tenth.start_ns, 10 * SECOND_NS);
    assert_eq!(tenth.figures.requests_per_s, 1_000.0);
    // The broker stands still: what is answered then is answered in the next second.
    assert!(clients.seconds[21].figures.requests_per_s > 1_900.0);
}

#[test]
fn a_second_that_a_border_cuts_is_one_and_pauses_are_parts_of_all_clients_time() {
    let mut made = Made::begin(&PACED.replace("warm-up: 2 s", "warm-up: 2500 ms"));
    made.repeat(0, |_, recorder| {
        stalled(recorder);
        // Two pauses in the third second, one on each side of the border.
        recorder.throttled(2_400 * MS_NS, 100 * MS_NS);
        recorder.throttled(2_600 * MS_NS, 150 * MS_NS);
        // Two records wait 10 ms for the buffer.
        recorder.buffer_wait(2_450 * MS_NS, 10 * MS_NS);
        recorder.buffer_wait(2_550 * MS_NS, 10 * MS_NS);
    });
    let run = made.end();
    let seconds = &Series::of(&run, 0).repeats[0].clients[0].seconds;
    let third = seconds[2].figures;
    assert_eq!(seconds[2].start_ns, 2 * SECOND_NS);
    assert_eq!(third.requests_per_s, 1_000.0);
    assert_eq!(third.throttle_part, 0.25);
    assert_eq!(third.buffer_waits_per_s, 2.0);
    let wait_ns = third.buffer_wait_ns_mean.unwrap();
    assert!((wait_ns / 1e7 - 1.0).abs() < 0.002, "{wait_ns}");
    // Of the hold, 60 s of one producer, only the second pause is.
    let hold = client_hold(&run, KEY, 0).unwrap();
    assert!((hold.figures.throttle_part - 0.15 / 60.0).abs() < 1e-9);
}

#[test]
fn what_producers_hold_is_the_mean_of_all_looks() {
    let (_made, mut run) = whole_paced_run();
    // 20 looks a second at a producer that has 1,000 bytes: 250 of them in use in the warm-up, 500 in the hold; and 3
    // of 5 requests under way.
    for second in 0..=62_u64 {
        let (early, late) = (second.min(2), second.saturating_sub(2));
        let look = ClientSample {
            looks: 20 * second,
            buffer_bytes_sum: 20 * (250 * early + 500 * late),
            buffer_bytes_allowed_sum: 20_000 * second,
            requests_in_flight_sum: 60 * second,
            requests_allowed_sum: 100 * second,
            ..ClientSample::default()
        };
        see(
            &mut run,
            second,
            Subject::Flow { flow: 0 },
            EvidenceKind::Client(look),
        );
    }
    let hold = client_hold(&run, KEY, 0).unwrap();
    assert!((hold.buffer_part.unwrap() - 0.5).abs() < 1e-9, "{hold:?}");
    assert!(
        (hold.in_flight_part.unwrap() - 0.6).abs() < 1e-9,
        "{hold:?}"
    );
    let held = &Series::of(&run, 0).repeats[0].clients[0].held;
    assert_eq!(held.len(), 62);
    assert_eq!((held[0].buffer_part, held[61].buffer_part), (0.25, 0.5));
    assert_eq!(held[5].in_flight_mean, 3.0);
}

#[test]
fn counters_that_are_hostile_make_no_point() {
    let (_made, mut run) = whole_paced_run();
    let flow = Subject::Flow { flow: 0 };
    let looks = [u64::MAX, 7, 7, u64::MAX];
    for (second, count) in (3..).zip(looks) {
        let look = ClientSample {
            looks: count,
            buffer_bytes_sum: count,
            ..ClientSample::default()
        };
        see(&mut run, second, flow.clone(), EvidenceKind::Client(look));
        let subject = Subject::Cluster {
            broker: Some(i32::MIN),
        };
        see(&mut run, second, subject, replicas(count, count));
        see(&mut run, second, CLUSTER, topic(second, 9));
    }
    let series = Series::of(&run, 0);
    let repeat = &series.repeats[0];
    // From 7 looks to all: there is a rise, and nothing that was allowed.
    assert_eq!(repeat.clients[0].held.len(), 1);
    assert_eq!(repeat.clients[0].held[0].buffer_part, 0.0);
    assert_eq!(repeat.wire.brokers[0].growth.len(), 2);
    assert!(
        wire_hold(&run, KEY)
            .unwrap()
            .lag_records_mean
            .unwrap()
            .is_finite()
    );
}

#[test]
fn consumers_are_told_by_their_fetches() {
    let (_made, run) = whole_closed_run();
    let readers = client_hold(&run, KEY, 1).unwrap().figures;
    assert_eq!(readers.fetches_per_s, 100.0);
    assert_eq!(readers.records_per_fetch, Some(50.0));
    assert_eq!(
        (readers.batch_fill_part, readers.requests_per_s),
        (None, 0.0)
    );
}

/// The paced run, with samples of the topic and of three brokers each second.
fn asked(lag: impl Fn(u64) -> u64, under_replicated: impl Fn(u64) -> u32) -> (Made, RunRead) {
    let (made, mut run) = whole_paced_run();
    for second in 0..=62 {
        see(
            &mut run,
            second,
            CLUSTER,
            topic(second, under_replicated(second)),
        );
        for id in 1..=3 {
            let lag = if id == 2 { lag(second) } else { 0 };
            let subject = Subject::Cluster { broker: Some(id) };
            see(&mut run, second, subject, replicas(second * 5_000_000, lag));
        }
    }
    (made, run)
}

fn health(run: &RunRead) -> Vec<(WarningKind, String)> {
    let kinds = [
        WarningKind::UnderReplicated,
        WarningKind::LeadersMoved,
        WarningKind::FollowersFallBehind,
    ];
    let trial = &Summary::of(run).trials[0];
    let of_kind = |kind| {
        let texts = texts::warnings(trial, kind).into_iter();
        texts.map(move |text| (kind, text))
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

#[test]
fn a_healthy_cluster_is_no_reason_to_warn() {
    let (_made, run) = asked(|_| 100, |_| 0);
    let hold = wire_hold(&run, KEY).unwrap();
    assert_eq!((hold.looks, hold.under_replicated_max), (61, 0));
    assert_eq!(hold.lag_records_mean, Some(100.0));
    assert_eq!(hold.lag_records_max, Some(50));
    assert_eq!(hold.lag_grows, Some(false));
    assert_eq!(health(&run), []);
    let wire = &Series::of(&run, 0).repeats[0].wire;
    assert_eq!(wire.brokers.len(), 3);
    let growth = &wire.brokers[0].growth;
    assert_eq!((growth.len(), growth[30].bytes_per_s), (62, 5_000_000.0));
}

#[test]
fn partitions_without_their_replicas_in_the_hold_are_warned_of_and_those_before_are_not() {
    let (_made, run) = asked(|_| 0, |second| u32::from(second < 2) * 6);
    assert_eq!(health(&run), []);
    // 6 of the 61 looks.
    let (_made, run) = asked(|_| 0, |second| u32::from((30..36).contains(&second)) * 4);
    let expected = "Repeat 1: up to 4 partitions under-replicated, in 9.8 % of the samples during \
                    the hold.";
    assert_eq!(
        health(&run),
        [(WarningKind::UnderReplicated, expected.to_owned())]
    );
}

#[test]
fn leaders_that_move_by_themselves_are_warned_of_and_those_of_a_fault_are_not() {
    let change = || {
        EvidenceKind::Partition(PartitionChange {
            partition: 3,
            leader_before: Some(1),
            leader: Some(2),
            in_sync_before: vec![1, 2, 3],
            in_sync: vec![1, 2, 3],
            ..PartitionChange::default()
        })
    };
    let (_made, mut run) = asked(|_| 0, |_| 0);
    see(&mut run, 10, CLUSTER, change());
    let expected = "Repeat 1: leaders changed unexpectedly during the hold: 1 leader moved.";
    assert_eq!(
        health(&run),
        [(WarningKind::LeadersMoved, expected.to_owned())]
    );
    let fault = format!("{PACED}faults:\n  - {{at: 3 s, node: 1, restart: true}}\n");
    let mut made = Made::begin(&fault);
    made.repeat(0, |_, recorder| stalled(recorder));
    let mut run = made.end();
    see(&mut run, 10, CLUSTER, topic(10, 6));
    see(&mut run, 10, CLUSTER, change());
    assert_eq!(wire_hold(&run, KEY).unwrap().changes.leaders_moved, 1);
    assert_eq!(health(&run), []);
}

#[test]
fn a_follower_that_falls_behind_is_warned_of() {
    // 200 more records a second, where the topic takes 1,000.
    let (_made, run) = asked(|second| 200 * second, |_| 0);
    let expected = "Repeat 1: followers fell further behind throughout the hold, by up to 6,200 \
                    records.";
    assert_eq!(
        health(&run),
        [(WarningKind::FollowersFallBehind, expected.to_owned())]
    );
    // So slowly it does not matter within a minute.
    let (_made, run) = asked(|second| 10 * second, |_| 0);
    assert_eq!(health(&run), []);
}

#[test]
fn a_broker_that_rests_does_not_make_the_lag_fall() {
    let (_made, mut run) = asked(|_| 100, |_| 0);
    let before = wire_hold(&run, KEY).unwrap();
    // From the 30th second on broker 2, which has all the lag, answers one look in five.
    let rest = |seen: &mut Evidence| {
        let rests = seen.at_ns.is_some_and(|at_ns| {
            let second = at_ns / SECOND_NS;
            second >= 30 && !second.is_multiple_of(5)
        });
        let EvidenceKind::Replicas(look) = &mut seen.kind else {
            return;
        };
        if rests {
            // The others follow partitions that it leads, too.
            look.lag_unknown = 2;
            if seen.subject == (Subject::Cluster { broker: Some(2) }) {
                (look.lag_records, look.lag_records_max) = (None, None);
            }
        }
    };
    run.evidence.iter_mut().for_each(rest);
    let after = wire_hold(&run, KEY).unwrap();
    assert_eq!(after.lag_records_mean, before.lag_records_mean);
    let repeat = &Series::of(&run, 0).repeats[0];
    let lag = repeat.wire.lag(0, u64::MAX);
    // 30 looks before, and 30, 35, ..., 60.
    assert_eq!((lag.len(), lag[36]), (37, (60 * SECOND_NS, 100)));
    // A run of before does not count followers: one that follows and tells nothing is enough.
    for seen in &mut run.evidence {
        if let EvidenceKind::Replicas(look) = &mut seen.kind {
            (look.lag_unknown, look.follows) = (0, 4);
        }
    }
    let repeat = &Series::of(&run, 0).repeats[0];
    assert_eq!(repeat.wire.lag(0, u64::MAX), lag);
}

#[test]
fn what_brokers_do_not_tell_is_not_told_of_the_machine() {
    let (_made, mut run) = whole_paced_run();
    let not_seen = MissingEvidence {
        what: "how long the logs are".to_owned(),
        why: "too old".to_owned(),
    };
    let kind = EvidenceKind::NotSeen(not_seen.clone());
    see(&mut run, 0, CLUSTER, kind.clone());
    see(&mut run, 1, CLUSTER, kind);
    let group = GroupSample {
        group: "g".to_owned(),
        lag_records: 7,
        partitions: 2,
        lag_unknown: 0,
    };
    see(&mut run, 1, CLUSTER, EvidenceKind::Group(group.clone()));
    // A leader does not answer: what is behind there is not known, and the rest is no sum.
    let partly = GroupSample {
        lag_records: 3,
        partitions: 1,
        lag_unknown: 1,
        ..group
    };
    see(&mut run, 2, CLUSTER, EvidenceKind::Group(partly));
    let repeat = &Series::of(&run, 0).repeats[0];
    assert_eq!(repeat.wire.not_seen, [not_seen]);
    assert_eq!(repeat.host.not_seen, []);
    assert_eq!(repeat.wire.groups[0].lag_records, [(SECOND_NS, 7)]);
    // There are no samples of the topic.
    assert_eq!(wire_hold(&run, KEY), None);
}

#[test]
fn lines_read_back_as_they_were_written() {
    let kinds = [
        topic(3, 1),
        replicas(5, 6),
        EvidenceKind::Client(ClientSample {
            looks: 3,
            ..ClientSample::default()
        }),
        EvidenceKind::Partition(PartitionChange::default()),
        EvidenceKind::Group(GroupSample::default()),
    ];
    for kind in kinds {
        let evidence = Evidence {
            at_unix_ms: 1,
            repeat: Some(KEY),
            at_ns: Some(2),
            subject: Subject::Cluster { broker: Some(1) },
            kind,
        };
        let line = serde_json::to_string(&evidence).unwrap();
        let read: Evidence = serde_json::from_str(&line).unwrap();
        assert_eq!(read, evidence, "{line}");
    }
}
