//! Full and failing disks: what is an error, what ends the log, what survives.

use std::io::ErrorKind;

use kgauge_broker::log::{AppendError, LogConfig, LogError, PartitionLog};
use kgauge_broker::storage::{Crash, DiskFault, Operation};

use crate::support::{Lab, NOW_MS, append, batch, headers, read_from};

fn try_append(log: &mut PartitionLog) -> Result<i64, AppendError> {
    log.append_as_leader(&mut batch(1), 0, NOW_MS)
        .map(|info| info.base_offset)
}

#[test]
fn a_full_disk_refuses_the_append_and_leaves_the_log_whole() {
    let one = batch(1).len() as u64;
    for missing in 1..=one {
        let lab = Lab::in_memory();
        let mut log = lab.open();
        append(&mut log, batch(1));
        lab.memory().set_capacity(Some(2 * one - missing));
        let error = try_append(&mut log).unwrap_err();
        assert_eq!(error.code(), 56, "KAFKA_STORAGE_ERROR");
        let AppendError::Log(error) = error else {
            panic!("{error}")
        };
        assert!(error.is_disk_full(), "{error}");
        assert_eq!(
            lab.file("00000000000000000000.log").unwrap().len() as u64,
            one
        );
        assert_eq!(headers(&read_from(&mut log, 0)).len(), 1, "reading goes on");
        lab.memory().set_capacity(None);
        assert_eq!(
            try_append(&mut log).unwrap(),
            1,
            "and appending, once there is room"
        );
        drop(log);
        assert_eq!(lab.open().log_end_offset(), 2);
    }
}

#[test]
fn what_a_failed_write_left_never_comes_back() {
    for seed in 0..30 {
        let lab = Lab::in_memory();
        let mut log = lab.open();
        append(&mut log, batch(1));
        let capacity = lab.memory().used_bytes() + 10;
        lab.memory().set_capacity(Some(capacity));
        assert!(try_append(&mut log).is_err());
        lab.memory().set_capacity(None);
        log.flush().unwrap();
        log.roll(NOW_MS).unwrap();
        append(&mut log, batch(1));
        log.flush().unwrap();
        log.checkpoint().unwrap();
        append(&mut log, batch(1));
        drop(log);
        lab.memory().crash(Crash::Random { seed });
        let mut log = lab.open();
        assert!(log.log_end_offset() >= 2, "seed {seed}");
        let batches = headers(&read_from(&mut log, 0)).len();
        assert_eq!(batches as i64, log.log_end_offset(), "seed {seed}");
    }
}

#[test]
fn a_roll_on_a_full_disk_may_be_tried_again() {
    let lab = Lab::in_memory();
    let config = LogConfig {
        segment_bytes: 150,
        ..LogConfig::default()
    };
    let mut log = lab.open_with(config);
    append(&mut log, batch(1));
    append(&mut log, batch(1));
    lab.memory().set_capacity(Some(lab.memory().used_bytes()));
    assert!(try_append(&mut log).is_err());
    lab.memory().set_capacity(None);
    assert_eq!(try_append(&mut log).unwrap(), 2);
    assert_eq!(headers(&read_from(&mut log, 0)).len(), 3);
}

#[test]
fn retention_makes_room_on_a_full_disk() {
    let lab = Lab::in_memory();
    let config = LogConfig {
        segment_bytes: 150,
        retention_ms: Some(0),
        ..LogConfig::default()
    };
    let mut log = lab.open_with(config.clone());
    for _ in 0..7 {
        append(&mut log, batch(1));
    }
    log.set_high_watermark(7);
    lab.memory().set_capacity(Some(0));
    let removed = log.apply_retention(NOW_MS + 1).unwrap();
    assert_eq!(
        removed.len(),
        3,
        "all but the active one, for which there is no successor"
    );
    assert_eq!(log.log_start_offset(), 6);
    lab.memory().set_capacity(None);
    assert_eq!(log.apply_retention(NOW_MS + 1).unwrap().len(), 1);
    drop(log);
    let log = lab.open_with(config);
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (7, 7));
}

fn is_dead(log: &mut PartitionLog) -> bool {
    let dead = |error: &LogError| matches!(error, LogError::Dead { .. });
    let append = matches!(try_append(log), Err(AppendError::Log(error)) if dead(&error));
    let flush = log.flush().is_err_and(|error| dead(&error));
    let checkpoint = log.checkpoint().is_err_and(|error| dead(&error));
    let retention = log.apply_retention(NOW_MS).is_err_and(|error| dead(&error));
    let cut = log.truncate_to(0, NOW_MS).is_err_and(|error| dead(&error));
    let lookup = log.offset_for_timestamp(0).is_err_and(|error| dead(&error));
    let roll = log.roll(NOW_MS).is_err_and(|error| dead(&error));
    let all = [append, flush, checkpoint, retention, cut, lookup, roll];
    assert!(all == [true; 7] || all == [false; 7], "{all:?}");
    log.dead().is_some() && append
}

#[test]
fn a_failed_flush_ends_the_log_and_is_never_tried_again() {
    let lab = Lab::in_memory();
    let mut log = lab.open();
    append(&mut log, batch(1));
    lab.memory().inject(DiskFault::once(
        Operation::SyncData,
        ".log",
        ErrorKind::Other,
    ));
    let error = log.flush().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("cannot flush data/topic-0/00000000000000000000.log")
    );
    assert!(is_dead(&mut log), "though the disk works again");
    assert_eq!(log.flushed_offset(), 0);
    drop(log);
    assert_eq!(
        lab.open().log_end_offset(),
        1,
        "opened anew it serves what is there"
    );
}

#[test]
fn an_append_that_must_flush_fails_with_the_flush() {
    let lab = Lab::in_memory();
    let mut log = lab.open_with(LogConfig {
        flush_messages: Some(1),
        ..LogConfig::default()
    });
    append(&mut log, batch(1));
    assert_eq!(log.flushed_offset(), 1);
    lab.memory()
        .inject(DiskFault::once(Operation::SyncData, "", ErrorKind::Other));
    assert!(try_append(&mut log).is_err());
    assert!(is_dead(&mut log));
}

#[test]
fn a_write_error_other_than_a_full_disk_ends_the_log() {
    let lab = Lab::in_memory();
    let mut log = lab.open();
    append(&mut log, batch(1));
    lab.memory()
        .inject(DiskFault::once(Operation::Write, ".log", ErrorKind::Other));
    assert!(try_append(&mut log).is_err());
    assert!(is_dead(&mut log));
}

#[test]
fn a_full_disk_that_cannot_be_tidied_ends_the_log() {
    let lab = Lab::in_memory();
    let mut log = lab.open();
    append(&mut log, batch(1));
    lab.memory()
        .set_capacity(Some(lab.memory().used_bytes() + 1));
    lab.memory().inject(DiskFault::once(
        Operation::Truncate,
        ".log",
        ErrorKind::Other,
    ));
    assert!(try_append(&mut log).is_err());
    assert!(is_dead(&mut log));
}

#[test]
fn flushes_come_when_they_are_asked_for() {
    let lab = Lab::in_memory();
    let mut log = lab.open_with(LogConfig {
        flush_messages: Some(5),
        flush_ms: Some(1000),
        ..LogConfig::default()
    });
    append(&mut log, batch(3));
    assert_eq!(log.flushed_offset(), 0);
    assert!(!log.flush_due(NOW_MS + 999));
    assert!(log.flush_due(NOW_MS + 1000));
    append(&mut log, batch(2));
    assert_eq!(log.flushed_offset(), 5, "flush.messages");
    assert!(!log.flush_due(NOW_MS + 1_000_000), "nothing is unflushed");
    append(&mut log, batch(1));
    log.roll(NOW_MS).unwrap();
    assert!(
        log.flush_due(NOW_MS),
        "a closed segment is flushed without being asked"
    );
}

#[test]
fn what_a_flush_beside_the_appends_promised_survives() {
    let lab = Lab::in_memory();
    let mut log = lab.open();
    append(&mut log, batch(3));
    let job = log.begin_flush().unwrap().unwrap();
    append(&mut log, batch(2));
    let done = job.run();
    assert_eq!(log.flushed_offset(), 0);
    log.finish_flush(done).unwrap();
    assert_eq!(log.flushed_offset(), 3, "the later batch is not promised");
    drop(log);
    lab.memory().crash(Crash::LoseUnflushed);
    assert!(lab.open().log_end_offset() >= 3);
}

#[test]
fn a_flush_begun_before_a_cut_promises_nothing_after_it() {
    let lab = Lab::in_memory();
    let mut log = lab.open();
    append(&mut log, batch(3));
    let job = log.begin_flush().unwrap().unwrap();
    log.truncate_to(0, NOW_MS).unwrap();
    append(&mut log, batch(3));
    log.finish_flush(job.run()).unwrap();
    assert_eq!(log.flushed_offset(), 0);
}

#[test]
fn a_torn_last_write_is_cut_away() {
    for bytes_kept in 0..batch(2).len() {
        let lab = Lab::in_memory();
        let mut log = lab.open();
        append(&mut log, batch(1));
        append(&mut log, batch(2));
        drop(log);
        lab.memory().crash(Crash::TearLastWrite { bytes_kept });
        assert_eq!(lab.open().log_end_offset(), 1, "{bytes_kept} bytes kept");
    }
}

#[test]
fn handles_of_a_crashed_disk_are_dead() {
    let lab = Lab::in_memory();
    let mut log = lab.open();
    append(&mut log, batch(1));
    lab.memory().crash(Crash::KeepEverything);
    assert!(try_append(&mut log).is_err());
    assert_eq!(lab.open().log_end_offset(), 1);
}
