//! A flow that did none of its work, or lost connections over it, makes a failed run that names it.

use kgauge_analyze::Summary;
use kgauge_analyze::summary::{Bottleneck, Status, WarningKind};
use kgauge_results::run::{ConnectionRecord, RepeatRecord};

use crate::made::{CLOSED, Made, closed, reader};
use crate::texts;

/// A writer whose records were all acked, and a reader: with these records, and these connections of both.
fn summary(reads: bool, writers: ConnectionRecord, readers: ConnectionRecord) -> Summary {
    let mut made = Made::begin(CLOSED);
    made.repeat_with(
        0,
        |flow, recorder| match flow {
            0 => closed(recorder),
            _ if reads => reader(recorder),
            _ => {}
        },
        |record: &mut RepeatRecord| {
            record.topics.clear();
            record.flows[0].connections = Some(writers);
            record.flows[1].connections = Some(readers);
        },
    );
    Summary::of(&made.end())
}

const WHOLE: ConnectionRecord = ConnectionRecord {
    lost: 0,
    timed_out: 0,
    malformed: 0,
};

#[test]
fn a_reader_that_reads_all_of_it_over_whole_connections_is_good() {
    let summary = summary(true, WHOLE, WHOLE);
    assert_eq!((summary.status, summary.exit_status), (Status::Good, 0));
    let trial = &summary.trials[0];
    assert!(trial.flows.iter().all(|flow| !flow.did_no_work));
    assert!(texts::warnings(trial, WarningKind::NoWorkDone).is_empty());
    assert!(trial.limit.is_some());
}

#[test]
fn a_reader_that_reads_nothing_of_what_was_acked_fails_the_run_and_has_no_bottleneck() {
    let summary = summary(false, WHOLE, WHOLE);
    assert_eq!(summary.exit_status, 1);
    let trial = &summary.trials[0];
    assert!(trial.flows[1].did_no_work && !trial.flows[0].did_no_work);
    assert_eq!(
        texts::warnings(trial, WarningKind::NoWorkDone),
        ["readers: read none of the existing records."]
    );
    let limit = trial.limit.as_ref().map(|limit| limit.word);
    assert_eq!(limit, Some(Bottleneck::Undecided));
}

#[test]
fn answers_that_cannot_be_read_fail_the_run_whoever_got_them() {
    let broken = ConnectionRecord {
        lost: 19,
        timed_out: 0,
        malformed: 19,
    };
    let summary = summary(true, WHOLE, broken);
    assert_eq!(summary.exit_status, 1);
    assert_eq!(
        texts::warnings(&summary.trials[0], WarningKind::ConnectionsBroken),
        ["readers: 19 connections to brokers broke, 19 because a response was malformed."]
    );
}

#[test]
fn a_lost_connection_fails_the_run_of_a_reader_and_not_that_of_a_writer() {
    let lost = ConnectionRecord {
        lost: 1,
        timed_out: 1,
        malformed: 0,
    };
    assert_eq!(summary(true, lost, WHOLE).exit_status, 0);
    let of_reader = summary(true, WHOLE, lost);
    assert_eq!(of_reader.exit_status, 1);
    assert_eq!(
        texts::warnings(&of_reader.trials[0], WarningKind::ConnectionsBroken),
        [
            "readers: 1 connection to brokers broke, 1 because no response arrived within \
             request.timeout.ms."
        ]
    );
}
