//! What retention removes, and what it must not.

use kgauge_broker::log::{LogConfig, PartitionLog, RemovalReason};

use crate::support::{Lab, NOW_MS, append, batch_of_bytes, headers, read_from};

/// Three segments of three batches of 100 bytes, and one batch in the fourth. Batch n is dated n
/// seconds after NOW_MS.
fn log_of_ten(lab: &Lab, config: &LogConfig) -> PartitionLog {
    let mut log = lab.open_with(config.clone());
    for number in 0..10 {
        append(&mut log, batch_of_bytes(100, NOW_MS + number * 1000));
    }
    assert_eq!(log.segments().count(), 4);
    log.set_high_watermark(10);
    log
}

fn config() -> LogConfig {
    LogConfig {
        segment_bytes: 300,
        retention_ms: None,
        ..LogConfig::default()
    }
}

fn removed(log: &mut PartitionLog, now_ms: i64) -> Vec<(i64, u64, RemovalReason)> {
    let removed = log.apply_retention(now_ms).unwrap();
    removed
        .iter()
        .map(|segment| (segment.base_offset, segment.bytes, segment.reason))
        .collect()
}

#[test]
fn the_oldest_segments_go_while_the_rest_is_large_enough() {
    use RemovalReason::Size;
    for lab in Lab::both() {
        let config = LogConfig {
            retention_bytes: Some(401),
            ..config()
        };
        let mut log = log_of_ten(&lab, &config);
        assert_eq!(
            removed(&mut log, NOW_MS),
            [(0, 300, Size)],
            "another would leave 400"
        );
        assert_eq!(log.log_start_offset(), 3);
        assert_eq!(headers(&read_from(&mut log, 3)).len(), 7);
        assert!(
            !lab.names()
                .iter()
                .any(|name| name.starts_with("00000000000000000000"))
        );
        log.set_config(LogConfig {
            retention_bytes: Some(400),
            ..config.clone()
        });
        assert_eq!(removed(&mut log, NOW_MS), [(3, 300, Size)]);
        log.set_config(LogConfig {
            retention_bytes: Some(100),
            ..config.clone()
        });
        assert_eq!(removed(&mut log, NOW_MS), [(6, 300, Size)]);
        drop(log);
        let log = lab.open_with(config);
        assert_eq!(
            (log.log_start_offset(), log.log_end_offset()),
            (9, 10),
            "after a crash"
        );
    }
}

#[test]
fn a_segment_goes_when_its_newest_record_is_too_old() {
    use RemovalReason::Age;
    for lab in Lab::both() {
        let config = LogConfig {
            retention_ms: Some(60_000),
            ..config()
        };
        let mut log = log_of_ten(&lab, &config);
        assert_eq!(
            removed(&mut log, NOW_MS + 62_000),
            [],
            "the newest of the first is 60 s old"
        );
        assert_eq!(removed(&mut log, NOW_MS + 62_001), [(0, 300, Age)]);
        assert_eq!(
            removed(&mut log, NOW_MS + 68_001),
            [(3, 300, Age), (6, 300, Age)]
        );
        assert_eq!(removed(&mut log, NOW_MS + 69_000), []);
        assert_eq!(
            removed(&mut log, NOW_MS + 69_001),
            [(9, 100, Age)],
            "the active one goes too"
        );
        assert_eq!((log.log_start_offset(), log.log_end_offset()), (10, 10));
        assert_eq!(
            removed(&mut log, NOW_MS + 1_000_000),
            [],
            "an empty one stays"
        );
        assert_eq!(
            append(&mut log, batch_of_bytes(100, NOW_MS)).base_offset,
            10
        );
        drop(log);
        let log = lab.open_with(config);
        assert_eq!(
            (log.log_start_offset(), log.log_end_offset()),
            (10, 11),
            "after a crash"
        );
    }
}

#[test]
fn nothing_above_the_high_watermark_goes() {
    let lab = Lab::in_memory();
    let config = LogConfig {
        retention_ms: Some(0),
        retention_bytes: Some(0),
        ..config()
    };
    let mut log = log_of_ten(&lab, &config);
    log.set_high_watermark(5);
    assert_eq!(removed(&mut log, NOW_MS + 1_000_000).len(), 1);
    log.set_high_watermark(9);
    assert_eq!(removed(&mut log, NOW_MS + 1_000_000).len(), 2);
    log.set_high_watermark(10);
    assert_eq!(removed(&mut log, NOW_MS + 1_000_000).len(), 1);
    assert_eq!(log.size_bytes(), 0);
}

#[test]
fn both_limits_work_together() {
    use RemovalReason::{Age, Size};
    let config = LogConfig {
        retention_ms: Some(60_000),
        retention_bytes: Some(400),
        ..config()
    };
    let mut log = log_of_ten(&Lab::in_memory(), &config);
    assert_eq!(
        removed(&mut log, NOW_MS + 62_001),
        [(0, 300, Age), (3, 300, Size)]
    );
}

#[test]
fn a_segment_whose_records_were_all_deleted_goes_once_there_is_another() {
    let mut log = log_of_ten(&Lab::in_memory(), &config());
    log.delete_records_before(10).unwrap();
    assert_eq!(removed(&mut log, NOW_MS), [], "the active one stays");
    log.roll(NOW_MS).unwrap();
    assert_eq!(
        removed(&mut log, NOW_MS),
        [(9, 100, RemovalReason::BelowStart)]
    );
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (10, 10));
}

#[test]
fn undated_segments_age_from_when_they_were_made_or_opened() {
    let lab = Lab::in_memory();
    let config = LogConfig {
        retention_ms: Some(1000),
        ..config()
    };
    let mut log = lab.open_with(config);
    append(&mut log, batch_of_bytes(100, -1));
    log.set_high_watermark(1);
    assert_eq!(removed(&mut log, NOW_MS + 1000), []);
    assert_eq!(removed(&mut log, NOW_MS + 1001).len(), 1);
}
