//! Idempotent producers: duplicates, gaps, fencing, and that nothing of it is forgotten over
//! restarts.

use kgauge_broker::log::{AppendError, AppendInfo, LogConfig, PartitionLog};
use kgauge_wire::record_batch::ProducerState;

use crate::support::{Lab, NOW_MS, append, batch, produced, produced_by};

type Answer = Result<AppendInfo, AppendError>;

fn send(log: &mut PartitionLog, epoch: i16, sequence: i32, records: usize) -> Answer {
    log.append_as_leader(&mut produced_by(5, epoch, sequence, records), 0, NOW_MS)
}

fn appended(answer: Answer) -> i64 {
    let info = answer.unwrap();
    assert!(!info.duplicate);
    info.base_offset
}

fn duplicate(answer: Answer) -> (i64, i64) {
    let info = answer.unwrap();
    assert!(info.duplicate);
    (info.base_offset, info.last_offset)
}

fn out_of_order(answer: Answer) -> i32 {
    match answer.unwrap_err() {
        error @ AppendError::OutOfOrderSequence { expected, .. } => {
            assert_eq!(error.code(), 45);
            expected
        }
        other => panic!("{other}"),
    }
}

#[test]
fn the_last_five_batches_are_known_as_duplicates_and_older_ones_are_out_of_order() {
    let mut log = Lab::in_memory().open();
    append(&mut log, batch(100));
    for number in 0..7 {
        assert_eq!(
            appended(send(&mut log, 0, number * 10, 10)),
            i64::from(100 + number * 10)
        );
    }
    for number in 2..7 {
        let first = i64::from(100 + number * 10);
        assert_eq!(
            duplicate(send(&mut log, 0, number * 10, 10)),
            (first, first + 9)
        );
    }
    assert_eq!(
        out_of_order(send(&mut log, 0, 10, 10)),
        70,
        "the sixth last is forgotten"
    );
    assert_eq!(out_of_order(send(&mut log, 0, 71, 1)), 70, "a gap");
    assert_eq!(
        out_of_order(send(&mut log, 0, 60, 9)),
        70,
        "part of a known batch is no duplicate"
    );
    assert_eq!(log.log_end_offset(), 170);
    assert_eq!(appended(send(&mut log, 0, 70, 1)), 170);
}

#[test]
fn an_unknown_producer_may_begin_anywhere() {
    let mut log = Lab::in_memory().open();
    assert_eq!(appended(send(&mut log, 2, 4321, 1)), 0);
    assert_eq!(appended(send(&mut log, 2, 4322, 1)), 1);
}

#[test]
fn a_new_epoch_begins_at_zero_and_fences_the_old_one() {
    let mut log = Lab::in_memory().open();
    appended(send(&mut log, 3, 0, 5));
    assert_eq!(out_of_order(send(&mut log, 4, 5, 1)), 0);
    assert_eq!(appended(send(&mut log, 4, 0, 5)), 5);
    let error = send(&mut log, 3, 5, 1).unwrap_err();
    assert!(matches!(
        error,
        AppendError::InvalidProducerEpoch {
            epoch: 3,
            current: 4,
            ..
        }
    ));
    assert_eq!(error.code(), 47);
    assert_eq!(
        duplicate(send(&mut log, 4, 0, 5)),
        (5, 9),
        "of this epoch, not of the old one"
    );
}

#[test]
fn sequences_go_on_at_zero_after_the_largest() {
    let mut log = Lab::in_memory().open();
    appended(send(&mut log, 0, i32::MAX - 2, 2));
    assert_eq!(appended(send(&mut log, 0, i32::MAX, 3)), 2);
    assert_eq!(duplicate(send(&mut log, 0, i32::MAX, 3)), (2, 4));
    assert_eq!(out_of_order(send(&mut log, 0, 1, 1)), 2);
    assert_eq!(appended(send(&mut log, 0, 2, 1)), 5);
    let mut log = Lab::in_memory().open();
    appended(send(&mut log, 0, i32::MAX, 1));
    assert_eq!(appended(send(&mut log, 0, 0, 1)), 1);
}

/// Twelve batches of one record over several segments, the last five known.
fn twelve(lab: &Lab) -> PartitionLog {
    let mut log = lab.open_with(small_segments());
    for sequence in 0..12 {
        appended(send(&mut log, 0, sequence, 1));
    }
    assert!(log.segments().count() > 3);
    log
}

fn small_segments() -> LogConfig {
    LogConfig {
        segment_bytes: 250,
        ..LogConfig::default()
    }
}

fn knows_the_last_five(log: &mut PartitionLog, what: &str) {
    for sequence in 7..12 {
        let offset = i64::from(sequence);
        assert_eq!(
            duplicate(send(log, 0, sequence, 1)),
            (offset, offset),
            "{what}"
        );
    }
    assert_eq!(out_of_order(send(log, 0, 6, 1)), 12, "{what}");
    assert_eq!(log.log_end_offset(), 12, "{what}");
}

#[test]
fn the_last_five_are_known_after_a_close_after_a_crash_and_without_snapshots() {
    for lab in Lab::both() {
        twelve(&lab).close().unwrap();
        knows_the_last_five(&mut lab.open_with(small_segments()), "closed");
    }
    let lab = Lab::in_memory();
    drop(twelve(&lab));
    knows_the_last_five(&mut lab.open_with(small_segments()), "crashed");
    let lab = Lab::in_memory();
    twelve(&lab).close().unwrap();
    for name in lab
        .names()
        .iter()
        .filter(|name| name.ends_with(".snapshot"))
    {
        lab.put(name, b"not a snapshot");
    }
    knows_the_last_five(
        &mut lab.open_with(small_segments()),
        "all snapshots damaged",
    );
}

#[test]
fn snapshots_that_no_segment_needs_are_removed() {
    let lab = Lab::in_memory();
    twelve(&lab).close().unwrap();
    let mut log = lab.open_with(small_segments());
    appended(send(&mut log, 0, 12, 1));
    drop(log);
    drop(lab.open_with(small_segments()));
    let snapshots = |name: &&String| name.ends_with(".snapshot");
    let names = lab.names();
    let kept: Vec<&str> = names
        .iter()
        .filter(snapshots)
        .map(|name| &name[18..20])
        .collect();
    assert_eq!(
        kept,
        ["03", "06", "09", "12"],
        "one for each segment, 12 is also the last close"
    );
}

#[test]
fn a_cut_takes_the_producer_back() {
    let lab = Lab::in_memory();
    let mut log = twelve(&lab);
    log.truncate_to(8, NOW_MS).unwrap();
    assert_eq!(out_of_order(send(&mut log, 0, 9, 1)), 8);
    assert_eq!(duplicate(send(&mut log, 0, 3, 1)), (3, 3), "known again");
    assert_eq!(appended(send(&mut log, 0, 8, 1)), 8);
    log.truncate_fully_and_start_at(50, NOW_MS).unwrap();
    assert_eq!(appended(send(&mut log, 0, 777, 1)), 50, "unknown now");
}

#[test]
fn silent_producers_are_forgotten() {
    let lab = Lab::in_memory();
    let config = LogConfig {
        producer_id_expiration_ms: 1000,
        ..LogConfig::default()
    };
    let mut log = lab.open_with(config.clone());
    let dated = |id, timestamp_ms| {
        let producer = ProducerState {
            id,
            epoch: 0,
            base_sequence: 0,
            transactional: false,
        };
        produced(&[timestamp_ms], &producer, b"v")
    };
    append(&mut log, dated(1, NOW_MS - 1000));
    append(&mut log, dated(2, NOW_MS - 999));
    log.apply_retention(NOW_MS).unwrap();
    assert_eq!(
        log.producers().iter().map(|(id, _)| id).collect::<Vec<_>>(),
        [2]
    );
    log.close().unwrap();
    let log = lab.open_with(config.clone());
    assert_eq!(log.producers().len(), 1);
    log.close().unwrap();
    let log = lab.open_with(LogConfig {
        producer_id_expiration_ms: 999,
        ..config
    });
    assert!(log.producers().is_empty());
}
