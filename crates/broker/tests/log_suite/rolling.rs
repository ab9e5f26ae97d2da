//! When a new segment begins, and that readers do not notice.

use kgauge_broker::log::LogConfig;

use crate::support::{
    Lab, NOW_MS, append, bases, batch, batch_at, batch_of_bytes, headers, read_from, read_once,
};

#[test]
fn a_segment_is_filled_to_its_last_byte_and_not_beyond() {
    for lab in Lab::both() {
        let config = LogConfig {
            segment_bytes: 300,
            ..LogConfig::default()
        };
        let mut log = lab.open_with(config);
        for _ in 0..7 {
            append(&mut log, batch_of_bytes(100, NOW_MS));
        }
        assert_eq!(bases(&log), [0, 3, 6]);
        assert_eq!(
            log.segments().map(|(_, bytes)| bytes).collect::<Vec<_>>(),
            [300, 300, 100]
        );
        assert_eq!(log.size_bytes(), 700);
        for offset in 0..7 {
            assert_eq!(
                headers(&read_once(&mut log, offset, 1))[0].base_offset,
                offset
            );
        }
        assert_eq!(
            headers(&read_once(&mut log, 1, usize::MAX)).len(),
            2,
            "one segment at a time"
        );
        assert_eq!(headers(&read_from(&mut log, 0)).len(), 7);
    }
}

#[test]
fn a_batch_much_newer_than_the_segments_first_begins_a_new_one() {
    let config = LogConfig {
        segment_ms: 1000,
        ..LogConfig::default()
    };
    let mut log = Lab::in_memory().open_with(config);
    for age_ms in [0, 1000, 500, 1001, 1500, 2001, 2002] {
        append(&mut log, batch_at(&[NOW_MS + age_ms]));
    }
    assert_eq!(
        bases(&log),
        [0, 3, 6],
        "1001 is too new for 0, 2002 for 1001"
    );
}

#[test]
fn undated_batches_age_by_the_clock() {
    let config = LogConfig {
        segment_ms: 1000,
        ..LogConfig::default()
    };
    let mut log = Lab::in_memory().open_with(config);
    for now_ms in [NOW_MS, NOW_MS + 1000, NOW_MS + 1001] {
        log.append_as_leader(&mut batch_at(&[-1]), 0, now_ms)
            .unwrap();
    }
    assert_eq!(bases(&log), [0, 2]);
}

#[test]
fn a_full_index_begins_a_new_segment() {
    let config = LogConfig {
        index_interval_bytes: 1,
        segment_index_bytes: 36,
        ..LogConfig::default()
    };
    let mut log = Lab::in_memory().open_with(config);
    for age_ms in 0..6 {
        append(&mut log, batch_at(&[NOW_MS + age_ms]));
    }
    // The first batch has no entry; three entries of 12 bytes fill the time index.
    assert_eq!(bases(&log), [0, 4]);
}

#[test]
fn an_offset_too_far_from_the_base_begins_a_new_segment() {
    let config = LogConfig {
        gaps: kgauge_broker::log::Gaps::Allowed,
        ..LogConfig::default()
    };
    let lab = Lab::in_memory();
    let mut log = lab.open_with(config.clone());
    let mut bytes = batch(1);
    for base_offset in [0_i64, i64::from(i32::MAX), i64::from(i32::MAX) + 1] {
        bytes[..8].copy_from_slice(&base_offset.to_be_bytes());
        log.append_as_follower(&bytes, NOW_MS).unwrap();
    }
    assert_eq!(bases(&log), [0, i64::from(i32::MAX) + 1]);
    drop(log);
    let mut log = lab.open_with(config);
    assert_eq!(headers(&read_from(&mut log, 1)).len(), 2, "after the gap");
}

#[test]
fn rolling_by_hand_an_empty_segment_changes_nothing() {
    let mut log = Lab::in_memory().open();
    log.roll(NOW_MS).unwrap();
    assert_eq!(bases(&log), [0]);
    append(&mut log, batch(2));
    log.roll(NOW_MS).unwrap();
    log.roll(NOW_MS).unwrap();
    assert_eq!(bases(&log), [0, 2]);
    assert_eq!(append(&mut log, batch(1)).base_offset, 2);
}
