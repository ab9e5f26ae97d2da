//! Offsets by timestamp, record for record.

use kgauge_broker::log::{LogConfig, PartitionLog, TimestampedOffset};
use kgauge_wire::compress::{Codec, Compressor};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

use crate::support::{Lab, NOW_MS, append, batch_at};

fn find(log: &mut PartitionLog, age_ms: i64) -> Option<(i64, i64)> {
    let found = log.offset_for_timestamp(NOW_MS + age_ms).unwrap();
    found.map(|found| (found.timestamp_ms - NOW_MS, found.offset))
}

fn at(ages_ms: &[i64]) -> Vec<u8> {
    batch_at(
        &ages_ms
            .iter()
            .map(|age_ms| NOW_MS + age_ms)
            .collect::<Vec<_>>(),
    )
}

#[test]
fn the_first_record_at_or_after_a_timestamp_is_found_in_order_of_offsets() {
    for lab in Lab::both() {
        let config = LogConfig {
            index_interval_bytes: 1,
            ..LogConfig::default()
        };
        let mut log = lab.open_with(config.clone());
        append(&mut log, at(&[10, 30, 20]));
        append(&mut log, at(&[15, 16]));
        append(&mut log, at(&[40, 50]));
        append(&mut log, at(&[45]));
        for reopened in [false, true] {
            if reopened {
                log.close().unwrap();
                log = lab.open_with(config.clone());
            }
            assert_eq!(find(&mut log, i64::MIN / 2), Some((10, 0)));
            assert_eq!(find(&mut log, 10), Some((10, 0)));
            assert_eq!(find(&mut log, 11), Some((30, 1)));
            assert_eq!(
                find(&mut log, 16),
                Some((30, 1)),
                "not offset 4, which comes later"
            );
            assert_eq!(find(&mut log, 31), Some((40, 5)));
            assert_eq!(find(&mut log, 50), Some((50, 6)));
            assert_eq!(find(&mut log, 51), None);
        }
    }
}

#[test]
fn segments_that_are_too_old_are_passed_over() {
    let config = LogConfig {
        segment_bytes: 200,
        ..LogConfig::default()
    };
    let mut log = Lab::in_memory().open_with(config);
    for age_ms in [0, 10, 90, 20, 30, 100, 40] {
        append(&mut log, at(&[age_ms]));
    }
    assert_eq!(log.segments().count(), 4);
    assert_eq!(find(&mut log, 20), Some((90, 2)));
    assert_eq!(find(&mut log, 91), Some((100, 5)));
    assert_eq!(find(&mut log, 101), None);
}

#[test]
fn records_below_the_logs_start_are_not_found() {
    let mut log = Lab::in_memory().open();
    append(&mut log, at(&[10, 50, 20]));
    append(&mut log, at(&[30]));
    log.set_high_watermark(4);
    log.delete_records_before(2).unwrap();
    assert_eq!(find(&mut log, 0), Some((20, 2)));
    assert_eq!(
        find(&mut log, 25),
        Some((30, 3)),
        "the late record of the first batch is gone"
    );
}

#[test]
fn the_record_with_the_largest_timestamp_is_found() {
    let lab = Lab::in_memory();
    let config = LogConfig {
        segment_bytes: 300,
        ..LogConfig::default()
    };
    let mut log = lab.open_with(config);
    assert_eq!(log.offset_of_max_timestamp().unwrap(), None);
    append(&mut log, batch_at(&[-1]));
    assert_eq!(
        log.offset_of_max_timestamp().unwrap(),
        None,
        "an undated record has none"
    );
    append(&mut log, at(&[10, 50, 50]));
    for _ in 0..10 {
        append(&mut log, at(&[49]));
    }
    log.append_as_leader(&mut at(&[50]), 3, NOW_MS).unwrap();
    let expected = TimestampedOffset {
        timestamp_ms: NOW_MS + 50,
        offset: 2,
        leader_epoch: 0,
    };
    assert_eq!(log.offset_of_max_timestamp().unwrap(), Some(expected));
}

#[test]
fn compressed_batches_are_looked_into() {
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let mut log = Lab::in_memory().open();
        let mut encoder = BatchEncoder::default();
        encoder.start(NOW_MS);
        for age_ms in [0, 10, 20] {
            encoder.append(NOW_MS + age_ms, None, Some(&[b'a'; 200]), &[]);
        }
        let mut compressor = Compressor::new(codec, None).unwrap();
        let bytes = encoder
            .finish_compressed(&ProducerState::NONE, &mut compressor)
            .unwrap();
        append(&mut log, bytes.to_vec());
        assert_eq!(find(&mut log, 5), Some((10, 1)), "{codec:?}");
    }
}
