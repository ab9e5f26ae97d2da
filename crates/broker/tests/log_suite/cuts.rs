//! Cutting a log at its end and at its start.

use kgauge_broker::log::{LogConfig, LogError, PartitionLog};

use crate::support::{Lab, NOW_MS, append, bases, batch, headers, read_from, spans};

/// Ten batches of three records in segments of two batches, flushed.
fn log_of_ten(lab: &Lab) -> PartitionLog {
    let mut log = lab.open_with(config());
    for _ in 0..10 {
        append(&mut log, batch(3));
    }
    assert_eq!(log.segments().count(), 5);
    log.set_high_watermark(30);
    log
}

fn config() -> LogConfig {
    LogConfig {
        segment_bytes: 2 * batch(3).len() as u32,
        ..LogConfig::default()
    }
}

#[test]
fn a_cut_removes_whole_batches_and_offsets_go_on_from_there() {
    for offset in 0..=31 {
        let mut labs = vec![Lab::in_memory()];
        labs.extend((offset % 7 == 0).then(Lab::on_real_disk));
        for lab in labs {
            let mut log = log_of_ten(&lab);
            let whole = read_from(&mut log, 0);
            let expected_end = (offset / 3 * 3).min(30);
            assert_eq!(log.truncate_to(offset, NOW_MS).unwrap(), expected_end);
            assert_eq!(log.log_end_offset(), expected_end);
            assert_eq!(log.high_watermark(), expected_end);
            let kept = expected_end as usize / 3 * batch(3).len();
            assert_eq!(read_from(&mut log, 0), whole[..kept]);
            assert_eq!(append(&mut log, batch(1)).base_offset, expected_end);
            drop(log);
            let mut log = lab.open_with(config());
            assert_eq!(log.log_end_offset(), expected_end + 1, "after a crash");
            let last = spans(&read_from(&mut log, 0)).pop();
            assert_eq!(last, Some((expected_end, expected_end)));
        }
    }
}

#[test]
fn a_log_may_start_again_at_any_offset() {
    for lab in Lab::both() {
        for start in [1000, 5] {
            let mut log = log_of_ten_or_more(&lab);
            log.truncate_fully_and_start_at(start, NOW_MS).unwrap();
            assert_eq!(
                (log.log_start_offset(), log.log_end_offset()),
                (start, start)
            );
            assert_eq!(append(&mut log, batch(2)).base_offset, start);
            drop(log);
            let mut log = lab.open_with(config());
            assert_eq!(
                (log.log_start_offset(), log.log_end_offset()),
                (start, start + 2)
            );
            assert_eq!(spans(&read_from(&mut log, start)), [(start, start + 1)]);
        }
    }
}

fn log_of_ten_or_more(lab: &Lab) -> PartitionLog {
    let mut log = lab.open_with(config());
    for _ in 0..10 {
        append(&mut log, batch(3));
    }
    log
}

#[test]
fn deleted_records_are_not_served_and_whole_segments_go() {
    for lab in Lab::both() {
        let mut log = log_of_ten(&lab);
        assert_eq!(log.delete_records_before(13).unwrap(), 13);
        assert_eq!(log.log_start_offset(), 13);
        assert_eq!(bases(&log), [12, 18, 24]);
        assert_eq!(spans(&read_from(&mut log, 13))[0], (12, 14));
        assert_eq!(log.delete_records_before(7).unwrap(), 13, "never back");
        drop(log);
        let mut log = lab.open_with(config());
        assert_eq!(log.log_start_offset(), 13, "after a crash");
        log.set_high_watermark(30);
        log.delete_records_before(30).unwrap();
        assert_eq!((log.log_start_offset(), log.log_end_offset()), (30, 30));
        assert_eq!(append(&mut log, batch(1)).base_offset, 30);
    }
}

#[test]
fn records_above_the_high_watermark_cannot_be_deleted() {
    let mut log = log_of_ten(&Lab::in_memory());
    log.set_high_watermark(20);
    for offset in [21, -1] {
        let error = log.delete_records_before(offset).unwrap_err();
        assert!(matches!(
            error,
            LogError::OffsetOutOfRange {
                first: 0,
                last: 20,
                ..
            }
        ));
    }
}

#[test]
fn a_start_beyond_what_a_crash_left_empties_the_log() {
    let lab = Lab::in_memory();
    let mut log = log_of_ten(&lab);
    log.flush().unwrap();
    append(&mut log, batch(3));
    log.set_high_watermark(33);
    log.delete_records_before(32).unwrap();
    drop(log);
    lab.memory()
        .crash(kgauge_broker::storage::Crash::LoseUnflushed);
    let mut log = lab.open_with(config());
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (32, 32));
    append(&mut log, batch(1));
    assert_eq!(headers(&read_from(&mut log, 32)).len(), 1);
}
